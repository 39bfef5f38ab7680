/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_LOOP_H
#define WH_APP_LOOP_H

/*
 * Processes on cores. A process is a function that is polled with the time that its loop read
 * once in the round, and says how much work it did. An lcore runs a list of them in order.
 *
 * A loop that may nap does so after WH_LOOP_QUIET_S seconds of next to no work: it sleeps between
 * rounds, short enough that no packet waits for as much as a millisecond, and is awake again with
 * the first round that brings more than a trickle.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/meter.h"

#define WH_LOOP_PROCESSES_MAX 64
#define WH_LOOP_QUIET_S       4 /* and the rest of the second in which it fell quiet */

/*
 * A sleep takes some 50 us more than asked for, and 20 us of the CPU, on slow virtual machines 35:
 * 2 to 4 % of it. Only packets have to be answered within a millisecond; whoever works on files is
 * asked for by packets, and much rarer.
 */
#define WH_LOOP_PACKET_NAP_US 850
#define WH_LOOP_WORK_NAP_US   4000

/* Work in a second that is next to none: states of idle connections, ARP. */
#define WH_LOOP_TRICKLE 500

/* Work in one round that ends a nap at once. */
#define WH_LOOP_WAKE 8

struct wh_process {
	const char *name;
	int32_t (*poll)(void *state, uint64_t now_tsc);
	void *state;
};

struct wh_loop {
	const _Atomic bool *stop;
	uint64_t hz;     /* 0: never naps */
	uint32_t nap_us; /* of one that may */
	uint32_t processes;
	struct wh_process process[WH_LOOP_PROCESSES_MAX];

	/* Written by the loop's core only. */
	struct wh_meter meter;
	uint64_t turns;
	uint64_t busy_tsc;  /* in rounds with work */
	uint64_t total_tsc; /* since it began */
	uint64_t naps;
	uint64_t second_tsc; /* when the second being counted ends */
	uint64_t second_work;
	uint32_t quiet_s;
};

/* "NAME: process, process": what runs where. */
void wh_loop_print(const struct wh_loop *loop, const char *name, FILE *to);

void wh_loop_add(struct wh_loop *loop, const char *name,
	int32_t (*poll)(void *state, uint64_t now_tsc), void *state);

/* Until *stop; `loop` is a struct wh_loop. Returns 0: the signature of an lcore function. */
int wh_loop_run(void *loop);

#endif
