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
 *
 * Who polls is never idle to the kernel, which lets two on one CPU alternate by its own slices of
 * milliseconds: either sends and hears in gusts then. So a loop that finds the CPU to have been
 * another's hands it on by itself: after each round without work, and after a while of rounds with
 * work. One who does not hand it back is left alone for a time.
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

/* A round of more than this has had the CPU taken away. */
#define WH_LOOP_AWAY_US 1000

/* So many times that the CPU counts as shared then. */
#define WH_LOOP_SHARED 30000

/* In that time a shared CPU is handed on so often, whatever there is to do. */
#define WH_LOOP_HAND_ONS 20

/*
 * One that came back late is kept for a part of that time, so that two who do so find each other
 * again; or for so many times it, when it came back late so often in a row: others do not poll.
 */
#define WH_LOOP_KEEPS      2
#define WH_LOOP_LATE       8
#define WH_LOOP_KEEPS_LONG 1000

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
	uint64_t hz;       /* 0: never naps */
	uint32_t nap_us;   /* of one that may */
	uint64_t away_tsc; /* WH_LOOP_AWAY_US; 0: the CPU is never handed on */
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
	uint64_t hand_ons;    /* of the CPU, to who else polls on it */
	uint64_t shared_tsc;  /* until then it is shared; 0: it is not */
	uint64_t hand_on_tsc; /* when it is handed on, whatever there is to do */
	uint64_t keep_tsc;    /* until then it is not */
	uint32_t late;        /* it came back, so often in a row */
};

/* "NAME: process, process": what runs where. */
void wh_loop_print(const struct wh_loop *loop, const char *name, FILE *to);

void wh_loop_add(struct wh_loop *loop, const char *name,
	int32_t (*poll)(void *state, uint64_t now_tsc), void *state);

/* Until *stop; `loop` is a struct wh_loop. Returns 0: the signature of an lcore function. */
int wh_loop_run(void *loop);

#endif
