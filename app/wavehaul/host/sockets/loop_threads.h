/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * A thread on each core for the loops of a process without DPDK. Port `udp` needs none, and saves
 * what it takes to start: EAL loads all drivers, and sleeps for 100 ms to measure the TSC.
 */

#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>

#include "host/cores.h"
#include "host/loop.h"

struct wh_loop_threads;

struct wh_loop_thread {
	struct wh_loop_threads *all;
	struct wh_loop *loop;
	pthread_t thread;
};

struct wh_loop_threads {
	const struct wh_cores *cores;
	struct wh_loop *loop;
	uint32_t count; /* beside the main thread, which runs loop[0] */
	struct wh_loop_thread thread[WH_SETTINGS_CPUS_MAX];
	sem_t run;
	bool abandoned; /* they end without having run */
};

/*
 * Starts all threads but the main one; they wait. 0, or a negative errno: the system has none left.
 */
int wh_loop_threads_start(
	struct wh_loop_threads *threads, struct wh_loop *loop, const struct wh_cores *cores);

/* Runs all loops, each on its core, until their stop is set. */
void wh_loop_threads_run(struct wh_loop_threads *threads);

/* Ends threads that did not run. Does nothing after wh_loop_threads_run. */
void wh_loop_threads_end(struct wh_loop_threads *threads);
