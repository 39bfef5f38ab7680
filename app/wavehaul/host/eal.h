/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Starts DPDK's environment with arguments derived from the machine: hugepages if enough are free
 * (--in-memory, which needs no rights), else ordinary memory (--no-huge); the named CPUs; no PCI
 * device but the named one.
 */

#include <stdbool.h>
#include <stdint.h>

#include "cli/settings.h"
#include "port/spec.h"

/* Memory of EAL, its heap's overhead and drivers, beside the pools. */
#define WH_EAL_OWN_BYTES (UINT64_C(48) << 20)

struct wh_eal_config {
	uint64_t memory_bytes;      /* of all the caller's pools, with hugepages */
	uint64_t small_pages_bytes; /* the same without hugepages */
	const char *option;         /* the option that determines part of it */
	uint64_t option_bytes;      /* that part's size */
	bool no_huge;               /* do not use hugepages, even if there are enough */
	int node;                   /* hugepages of this NUMA node, if it has enough; -1: any */
	bool take_now;              /* reserve all memory at the start, and none later */
	bool one_file;              /* each kind of page in one file, as vhost-user peers need it */
	bool physical;              /* a device wants physical addresses: root, and hugepages */
	struct wh_cpu_list cpus;    /* an lcore on each, numbered from 0; the first is the main */
	struct wh_port_argument device[WH_PORTS_MAX]; /* option NULL: none */
	const char *extra; /* value of --eal: more arguments, separated by blanks; NULL: none */
	bool verbose;
};

struct wh_eal_found {
	bool hugepages;
	uint32_t lcores; /* lcore i is on cpus.cpu[i]; 0 is the main one */
	uint64_t hz;     /* of the TSC; do not use rte_get_tsc_hz (tsc.h) */
};

/* The most that pools may use of the free 2 MiB pages, beside EAL's own part. */
uint64_t wh_eal_hugepage_room_bytes(void);

/* The number of free hugepages that a start with this much memory needs. */
uint64_t wh_eal_hugepages_for(uint64_t memory_bytes);

/* 0, or a negative errno after one sentence on stderr that says what to do. */
int wh_eal_start(const struct wh_eal_config *config, struct wh_eal_found *found);
void wh_eal_stop(void);
