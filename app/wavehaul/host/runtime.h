/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * A loop on each of the process's cores, on lcores of DPDK, which is started once, or on threads
 * of our own where no port needs DPDK. Hosts (host.h), one for each port, are opened on it and add
 * their tasks to its loops.
 *
 *   wh_runtime_start  starts DPDK or the threads; the loops are empty
 *   wh_runtime_run    runs all loops, including the main core's, until wh_runtime_stop
 *   wh_runtime_close  after all hosts on it are closed
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "host/cores.h"
#include "host/eal.h"
#include "host/loop.h"
#include "host/sockets/loop_threads.h"

struct wh_runtime {
	bool started;
	bool verbose;
	uint64_t hz;
	bool dpdk;
	struct wh_eal_found eal; /* with DPDK */
	struct wh_loop_threads threads;
	struct wh_cores cores;
	struct wh_loop *loop; /* loop[i] is of cores.core[i] */
	struct wh_loop_bell bell;
	_Atomic bool stop;
};

/*
 * Starts an lcore on each of the cores; fills in eal->cpus. eal NULL: a thread on each, without
 * DPDK. 0, or a negative errno after one sentence on stderr.
 */
int wh_runtime_start(struct wh_runtime *runtime, const struct wh_cores *cores, bool verbose,
	struct wh_eal_config *eal);

/* The loop of the core that sends (`sends`) or receives for the queue. */
struct wh_loop *wh_runtime_loop_of(struct wh_runtime *runtime, uint32_t queue, bool sends);

/* The loop of the core that does the receivers' bookkeeping of that queue; NULL: who receives. */
struct wh_loop *wh_runtime_books_of(struct wh_runtime *runtime, uint32_t queue);

/*
 * Adds a task to the loop of worker number `worker` (modulo their number); returns the core's
 * number. Call before wh_runtime_run.
 */
uint32_t wh_runtime_add(struct wh_runtime *runtime, uint32_t worker, const char *name,
	int32_t (*poll)(void *state, uint64_t now_tsc), void *state);

/*
 * For a process that waits for others: its loops nap until they have work, and longer while it has
 * no sessions. Before _run.
 */
void wh_runtime_begin_quiet(struct wh_runtime *runtime, const _Atomic uint32_t *sessions);

void wh_runtime_run(struct wh_runtime *runtime);

static inline void wh_runtime_stop(struct wh_runtime *runtime)
{
	atomic_store_explicit(&runtime->stop, true, memory_order_release);
}

/* Does nothing if it has not been started. */
void wh_runtime_close(struct wh_runtime *runtime);

/* Sum of all cores, by task, estimated from the meters' samples. */
void wh_runtime_cycles(const struct wh_runtime *runtime, uint64_t cycles[WH_METER_TASKS]);
