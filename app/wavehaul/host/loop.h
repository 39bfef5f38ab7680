/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Tasks on cores. A task is a function that is polled with the time that its loop reads once a
 * round, and returns how much work it did. An lcore runs a list of them in order.
 *
 * A loop that may nap does so after WH_LOOP_QUIET_S seconds with almost no work: it sleeps between
 * rounds, so briefly that no packet of a session waits for a millisecond. The first round with
 * WH_LOOP_WAKE work ends that. A server naps sooner, WH_LOOP_IDLE_US after its last session.
 *
 * The kernel never sees a polling process as idle, and lets two of them on one CPU alternate by its
 * own time slices of milliseconds: each then sends and receives in bursts. So a loop that notices
 * that the CPU is shared yields it by itself: after each round without work, and after some time of
 * rounds with work. If the other process does not yield it back, this one stops yielding for a
 * time.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include "base/meter.h"

#define WH_LOOP_TASKS_MAX 64

/*
 * The first second counted is the one in which the loop became quiet, so at least one whole quiet
 * second passes.
 */
#define WH_LOOP_QUIET_S 2

/*
 * A sleep takes some 50 us longer than asked for. It costs 20 us of the CPU, on slow virtual
 * machines 35: 2 to 4 % of a nap. Only packets must be answered within a millisecond. Work on files
 * is requested by packets, and much more rarely.
 */
#define WH_LOOP_PACKET_NAP_US 850
#define WH_LOOP_WORK_NAP_US   4000

/*
 * A server without sessions naps longer after a time without any work, since the first packet of a
 * session may wait; ARP and what else is broadcast wakes it for that time. Whoever finds work after
 * a nap wakes the other loops: so that packet waits for one of them, not for each in turn.
 */
#define WH_LOOP_IDLE_NAP_US 20000
#define WH_LOOP_IDLE_US     100000

struct wh_loop_bell {
	_Atomic uint32_t rung;   /* a futex of the loops that wait */
	_Atomic uint32_t asleep; /* of them, waiting or about to */
};

/* A round longer than this: the CPU was taken away. */
#define WH_LOOP_AWAY_US 1000

/* The CPU then counts as shared for this many times WH_LOOP_AWAY_US. */
#define WH_LOOP_SHARED 30000

/* In WH_LOOP_AWAY_US a shared CPU is yielded this often, even with work to do. */
#define WH_LOOP_YIELDS 20

/*
 * A loop that gets the CPU back later than WH_LOOP_AWAY_US keeps it for WH_LOOP_AWAY_US /
 * WH_LOOP_KEEPS, so that two such loops synchronise again. At each WH_LOOP_LATEth late return in a
 * row the other process evidently does not poll: then the loop keeps the CPU for WH_LOOP_AWAY_US *
 * WH_LOOP_KEEPS_LONG.
 */
#define WH_LOOP_KEEPS      2
#define WH_LOOP_LATE       8
#define WH_LOOP_KEEPS_LONG 1000

/* A second with no more work than this is quiet: reports of idle sessions, ARP. */
#define WH_LOOP_TRICKLE 500

/* Work in one round that ends napping at once. */
#define WH_LOOP_WAKE 8

struct wh_task {
	const char *name;
	int32_t (*poll)(void *state, uint64_t now_tsc);
	void *state;
};

struct wh_loop {
	const _Atomic bool *stop;
	uint64_t hz;     /* 0: never naps */
	uint32_t nap_us; /* length of a nap, if it may nap */
	/* While it is 0, naps may be of WH_LOOP_IDLE_NAP_US; NULL: never. */
	const _Atomic uint32_t *sessions;
	struct wh_loop_bell *bell; /* of all loops, with `sessions` */
	uint64_t away_tsc;         /* WH_LOOP_AWAY_US; 0: the CPU is never yielded */
	bool urgent; /* goes before all other processes of its CPU, if that is permitted */
	uint32_t tasks;
	struct wh_task task[WH_LOOP_TASKS_MAX];

	/* Written by the loop's core only. */
	clockid_t cpu_clock; /* of its thread; set before the first turn */
	struct wh_meter meter;
	uint64_t turns;
	uint64_t busy_tsc;  /* in rounds with work */
	uint64_t total_tsc; /* since the start */
	uint64_t naps;
	uint64_t second_tsc; /* end of the second being counted */
	uint64_t second_work;
	uint32_t quiet_s;
	uint64_t worked_tsc; /* of the last round with work */
	bool occupied;       /* it has had sessions since it was left */
	bool left;           /* by its last session, and not much has happened since */
	uint64_t yields;     /* how often the CPU was yielded to other polling processes */
	uint64_t shared_tsc; /* the CPU counts as shared until then; 0: it does not */
	uint64_t yield_tsc;  /* time of the next yield, even with work to do */
	uint64_t keep_tsc;   /* no yield before then */
	uint32_t late;       /* successive late returns of the CPU */
};

/* The clock itself, for what must know the time within a round. */
uint64_t wh_loop_read_tsc(void);

/* Prints "NAME: task, task". */
void wh_loop_print(const struct wh_loop *loop, const char *name, FILE *to);

void wh_loop_add(struct wh_loop *loop, const char *name,
	int32_t (*poll)(void *state, uint64_t now_tsc), void *state);

/*
 * As after quiet seconds: the loop naps from its first round without work on, until it has some,
 * and longer while there are no sessions. Only for a loop that may nap, before it runs.
 */
void wh_loop_begin_quiet(
	struct wh_loop *loop, const _Atomic uint32_t *sessions, struct wh_loop_bell *bell);

/* From any thread that has work for one of the loops: those that nap without sessions wake. */
void wh_loop_ring(struct wh_loop *loop);

/* Runs until *stop; `loop` is a struct wh_loop. Returns 0: the signature of an lcore function. */
int wh_loop_run(void *loop);
