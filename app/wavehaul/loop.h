/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_LOOP_H
#define WH_APP_LOOP_H

/*
 * Processes on cores. A process is a function that is polled with the time that its loop read
 * once in the round, and says how much work it did. An lcore runs a list of them in order.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define WH_LOOP_PROCESSES_MAX 16

struct wh_process {
	const char *name;
	int32_t (*poll)(void *state, uint64_t now_tsc);
	void *state;
};

struct wh_loop {
	const _Atomic bool *stop;
	uint32_t processes;
	struct wh_process process[WH_LOOP_PROCESSES_MAX];
};

/* "NAME: process, process": what runs where. */
void wh_loop_print(const struct wh_loop *loop, const char *name, FILE *to);

void wh_loop_add(struct wh_loop *loop, const char *name,
	int32_t (*poll)(void *state, uint64_t now_tsc), void *state);

/* Until *stop; `loop` is a struct wh_loop. Returns 0: the signature of an lcore function. */
int wh_loop_run(void *loop);

#endif
