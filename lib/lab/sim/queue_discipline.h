/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* The interface between queue.c and the disciplines. */

#include "lab/sim/queue.h"

/* Context of a call: time, random numbers and the callback for drops. */
struct wh_sim_queue_call {
	uint64_t now_ps;
	struct wh_prng *prng; /* put only */
	wh_sim_dropper drop;
	void *context;
};

struct wh_sim_queue_discipline {
	const char *name;
	void (*init)(struct wh_sim_queue *queue, uint64_t rate_bps, uint64_t delay_ps);
	void (*put)(struct wh_sim_queue *queue, const struct wh_sim_queue_call *call,
		struct wh_sim_packet *packet);
	struct wh_sim_packet *(*take)(
		struct wh_sim_queue *queue, const struct wh_sim_queue_call *call);
};

extern const struct wh_sim_queue_discipline wh_sim_queue_red;
extern const struct wh_sim_queue_discipline wh_sim_queue_codel;

/* DropTail's put, also used by other disciplines. */
void wh_sim_queue_put_tail(struct wh_sim_queue *queue, const struct wh_sim_queue_call *call,
	struct wh_sim_packet *packet);
