/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Facts about a machine that several of the doctor's checks need, read once from the kernel's files
 * below a root.
 */

#include <sched.h>
#include <stdbool.h>
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

#define WH_NIC_ADDRESS_MAX 13 /* "0000:3b:00.0" */

struct wh_nic {
	char address[WH_NIC_ADDRESS_MAX];
	uint16_t vendor;
	uint16_t device;
	char driver[32]; /* "": none */
	int64_t node;    /* -1: only one, or unknown */
	enum wh_nic_holder holder;
	bool verbs; /* its kernel driver offers InfiniBand verbs, as mlx5 in place needs */

	/* The kernel's first network interface on it; "": none here. */
	char interface[32];
	uint32_t interfaces;
	char upper[32]; /* a bond, bridge or VLAN that one of them is part of; "": none */
	bool routes;
	bool default_route;
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

/* vfio-pci has a NIC, or must get one because no other is ready. */
bool wh_machine_needs_vfio(const struct wh_machine *machine);

bool wh_interface_has_default_route(const char *root, const char *interface);

/* For wh_machine_look: only the NICs, below machine->root. */
void wh_machine_look_for_nics(struct wh_machine *machine);
