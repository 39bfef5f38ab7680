/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Facts about a machine that several of the doctor's checks need, read once from the kernel's files
 * below a root.
 */

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Which driver has a NIC, and so what DPDK can do with it. */
enum wh_nic_holder {
	WH_NIC_VFIO,     /* vfio-pci: usable by DPDK */
	WH_NIC_UIO,      /* a uio driver: usable by DPDK, but without protection by an IOMMU */
	WH_NIC_IN_PLACE, /* a kernel driver beside which DPDK works */
	WH_NIC_SYSTEM,   /* a kernel driver, and the system needs it: must not be touched */
	WH_NIC_KERNEL,   /* a kernel driver; DPDK has its own driver for it */
	WH_NIC_NOBODY,   /* no driver */
	WH_NIC_FOREIGN,  /* DPDK has no driver for it */
};

#define WH_NIC_ADDRESS_MAX  13 /* "0000:3b:00.0" */
#define WH_SESSION_TEXT_MAX 80

struct wh_nic {
	char address[WH_NIC_ADDRESS_MAX];
	uint16_t vendor;
	uint16_t device;
	char driver[32]; /* "": none */
	int64_t node;    /* -1: only one, or unknown */
	int64_t group;   /* its IOMMU group: those devices belong to one program; -1: no IOMMU */
	char mates[80];  /* other devices of the group that no program can get; "": none */
	enum wh_nic_holder holder;
	bool verbs; /* its kernel driver offers InfiniBand verbs, as mlx5 in place needs */

	/* The kernel's first network interface on it; "": none here. */
	char interface[32];
	uint32_t interfaces;
	char upper[32]; /* a bond, bridge or VLAN that one of them is part of; "": none */
	bool routes;
	bool default_route;
	char session[WH_SESSION_TEXT_MAX]; /* somebody who is connected through one; "": nobody */
	bool link;
	int64_t speed_mbps; /* 0: unknown */
	int64_t mtu_bytes;  /* 0: unknown */
};

struct wh_machine {
	const char *root;
	bool live;      /* this machine, not a copied tree */
	bool superuser; /* the process runs as root */
	bool may_lock;  /* it may lock memory without limit (CAP_IPC_LOCK) */
	bool virtual;   /* in a virtual machine */
	char vendor[32];
	char model[128];
	char flags[8192]; /* of the first CPU, each with a blank before and after it */
	char kernel[128]; /* its release */
	cpu_set_t cpus;   /* usable by this process */
	cpu_set_t nodes;
	struct wh_nic *nic; /* sorted by address */
	uint32_t nics;

	/* Needs of the demo with its defaults. */
	uint64_t demo_pool_bytes; /* of hugepages */
	uint64_t demo_file_bytes; /* in a folder for temporary files */
};

void wh_machine_look(struct wh_machine *machine, const char *root);
void wh_machine_free(struct wh_machine *machine);

bool wh_machine_flag(const struct wh_machine *machine, const char *flag);

/* DPDK can use it as it is. */
bool wh_nic_ready(const struct wh_nic *nic);
bool wh_machine_has_ready_nic(const struct wh_machine *machine);

/* vfio works without an IOMMU where it is told to accept that this is unsafe. */
#define WH_NOIOMMU_KNOB "/sys/module/vfio/parameters/enable_unsafe_noiommu_mode"
bool wh_machine_noiommu_mode(const struct wh_machine *machine);

/* vfio-pci if an IOMMU keeps the NIC to its memory, or vfio does without; else uio_pci_generic. */
const char *wh_nic_driver(const struct wh_machine *machine, const struct wh_nic *nic);

/* A module of the running kernel; THERE: it can be loaded. */
enum wh_module {
	WH_MODULE_MISSING = 0,
	WH_MODULE_THERE,
	WH_MODULE_LOADED,
	WH_MODULE_BUILT_IN,
};

enum wh_module wh_machine_module(const struct wh_machine *machine, const char *name);

/* vfio-pci has a NIC, or must get one because no other is ready. */
bool wh_machine_needs_vfio(const struct wh_machine *machine);

/* NULL: no such NIC. The domain 0000 may be left out. */
const struct wh_nic *wh_machine_nic(const struct wh_machine *machine, const char *address);

/*
 * The next NIC of its IOMMU group, after the last one or NULL, that is not DPDK's and has a driver;
 * NULL: none.
 */
const struct wh_nic *wh_nic_mate(
	const struct wh_machine *machine, const struct wh_nic *nic, const struct wh_nic *last);

/* What a program opens to have it: "/dev/vfio/7"; "": unknown. */
#define WH_NIC_FILE_MAX 64
void wh_nic_file(const char *root, const struct wh_nic *nic, char path[WH_NIC_FILE_MAX]);

/* The process that has a NIC of DPDK's open, as "NAME (process 812)"; false: none is seen. */
bool wh_nic_user(const char *root, const struct wh_nic *nic, char *text, size_t room);

/* For wh_machine_look: only the NICs, below machine->root. */
void wh_machine_look_for_nics(struct wh_machine *machine);
