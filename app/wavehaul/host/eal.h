/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_EAL_H
#define WH_APP_EAL_H

/*
 * Starting DPDK's environment with arguments derived from the machine: hugepages when enough are
 * free (--in-memory, which needs no rights), else ordinary memory (--no-huge); the CPUs named; no
 * PCI device but the one named.
 */

#include <stdbool.h>
#include <stdint.h>

#include "cli/settings.h"
#include "port/spec.h"

/* What EAL, its heap's overhead and drivers take beside the pools. */
#define WH_EAL_OWN_BYTES (UINT64_C(48) << 20)

#define WH_EAL_DEVICES_MAX 2

struct wh_eal_config {
	uint64_t memory_bytes;      /* that the caller's pools take together ... */
	uint64_t small_pages_bytes; /* ... and without hugepages */
	const char *option;         /* that says how much of it ... */
	uint64_t option_bytes;      /* ... is so much */
	bool no_huge;               /* leave them alone, though there may be enough */
	bool take_now;              /* keep that memory from the start: none is asked for later */
	bool one_file;              /* its pages in one file each, as vhost-user peers want them */
	struct wh_cpu_list cpus;    /* an lcore on each, numbered from 0, the first the main one */
	struct wh_port_argument device[WH_EAL_DEVICES_MAX]; /* option NULL: none */
	const char *extra; /* of --eal: more arguments, blank-separated; NULL: none */
	bool verbose;
};

struct wh_eal_found {
	bool hugepages;
	uint32_t lcores; /* lcore i is on cpus.cpu[i], 0 is the main one */
	uint64_t hz;     /* of the TSC; rte_get_tsc_hz is not to be asked (tsc.h) */
};

/* What pools may take of the free pages of 2 MiB, beside what EAL takes for itself. */
uint64_t wh_eal_hugepage_room_bytes(void);

/* How many free hugepages a start with so much memory takes. */
uint64_t wh_eal_hugepages_for(uint64_t memory_bytes);

/* 0, or a negative errno after one sentence on stderr that says what to do. */
int wh_eal_start(const struct wh_eal_config *config, struct wh_eal_found *found);
void wh_eal_stop(void);

#endif
