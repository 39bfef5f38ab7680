/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Assignment of CPUs. A CPU has at most one lcore and one loop; a queue has a receiving and a
 * sending core, maybe the same; workers run jobs and file I/O. Roles that the operator does not
 * assign are derived from the CPUs that the process may use. Those of the NIC's NUMA node come
 * first, and no others are taken if they suffice for a worker and both cores of each queue:
 *
 *   1 CPU      does everything
 *   more       the first is a worker. Of the others each queue gets one that receives and then, as
 *              far as there are enough, one that sends; otherwise its receiving CPU sends, too. If
 *              there are more queues than other CPUs, these share the queues. Of the rest up to
 *              WH_CORES_WORKERS for each queue are workers: a core that works polls, so that the
 *              others stay with the system.
 *
 * The bookkeeping of receivers is done where packets are received, unless the operator assigns CPUs
 * to it: then queue i has the i-th of them, modulo their number, beside whatever else it does.
 */

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

#include "host/host_settings.h"
#include "port/port.h"

/* A transfer does not poll on every CPU of a large machine unless the operator names them. */
#define WH_CORES_WORKERS 8

struct wh_core {
	uint16_t cpu;
	bool works;
	uint16_t receives; /* bit i: queue i */
	uint16_t sends;
	uint16_t books; /* keeps the books of what others receive */
};

struct wh_cores {
	uint32_t count;
	struct wh_core core[WH_SETTINGS_CPUS_MAX]; /* [0] works, and is the main lcore */
};

/*
 * The CPUs on which this process may run, and those of them from which roles are chosen: the ones
 * near the NIC, then the others, both ascending, as many as a list has room for.
 */
struct wh_cores_allowed {
	cpu_set_t set;
	struct wh_cpu_list cpus;
	uint32_t near;
};

/* `near` is a set of CPUs; NULL: none. */
void wh_cores_allowed(const cpu_set_t *near, struct wh_cores_allowed *allowed);

/* 0, or -EINVAL and a sentence in `why`: a named CPU is not allowed. */
int wh_cores_place(const struct wh_host_settings *settings, const struct wh_cores_allowed *allowed,
	struct wh_cores *cores, char *why, size_t why_bytes);

/* Whether the core that sends for `queue` does nothing else. */
bool wh_cores_sends_alone(const struct wh_cores *cores, uint32_t queue);
