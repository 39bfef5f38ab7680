/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * The queue in front of a line: DropTail, RED (ns-2.35's defaults and arithmetic) or
 * CoDel (RFC 8289). It does not include the packet being sent. Each discipline is a table of
 * functions over the same FIFO.
 *
 * Limits are ns-2's: DropTail and CoDel drop the packet that would bring the queue to limit_pkts,
 * so that a limit of 50 allows 49 in the queue and one on the line; RED drops when limit_pkts are
 * queued. The same holds for bytes. An empty queue accepts any packet.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/prng.h"
#include "lab/sim/event.h" /* picoseconds */
#include "lab/sim/sim_packet.h"

enum wh_sim_discipline {
	WH_SIM_DROPTAIL,
	WH_SIM_RED,
	WH_SIM_CODEL,
	WH_SIM_DISCIPLINES,
};

const char *wh_sim_discipline_name(enum wh_sim_discipline discipline);

struct wh_sim_queue_config {
	enum wh_sim_discipline discipline;
	uint32_t limit_pkts;  /* 0: none */
	uint64_t limit_bytes; /* 0: none */
	bool red_in_bytes;    /* as in ns-2 since 2004; else in packets */
};

struct wh_sim_red {
	double weight;
	uint32_t unit;  /* 1: averages and thresholds are in packets; else bytes of a mean one */
	double average; /* of what waits, as those that arrive see it */
	double threshold;
	double max_threshold;
	uint64_t rate_bps; /* at which the average decays while the line is idle */
	uint64_t idle_since_ps;
	bool idle;
	bool above;     /* the average was above the threshold at the latest arrival */
	uint64_t count; /* since the latest drop */
};

struct wh_sim_codel {
	uint64_t first_above_ps; /* 0: below target */
	uint64_t drop_next_ps;
	uint32_t drops;         /* the next drop is interval / sqrt(drops) later */
	uint32_t last_drops;    /* value of `drops` when dropping began */
	uint32_t largest_bytes; /* largest packet so far; a queue of that is not too long */
	bool dropping;
};

struct wh_sim_queue {
	const struct wh_sim_queue_discipline *discipline;
	struct wh_sim_queue_config config;
	struct wh_sim_fifo fifo;
	union {
		struct wh_sim_red red;
		struct wh_sim_codel codel;
	};
};

/* Called for each packet that the queue drops; must return it to the pool. */
typedef void (*wh_sim_dropper)(void *context, struct wh_sim_packet *packet, bool early);

/* rate_bps and delay_ps of the line determine RED's defaults. */
void wh_sim_queue_init(struct wh_sim_queue *queue, const struct wh_sim_queue_config *config,
	uint64_t rate_bps, uint64_t delay_ps);

/* Queues the packet; may drop it, or another one instead. */
void wh_sim_queue_put(struct wh_sim_queue *queue, uint64_t now_ps, struct wh_sim_packet *packet,
	struct wh_prng *prng, wh_sim_dropper drop, void *context);

/*
 * The next packet to send, NULL when empty. CoDel drops here. To be called whenever the line is
 * free, so that the queue knows when it becomes idle.
 */
struct wh_sim_packet *wh_sim_queue_take(
	struct wh_sim_queue *queue, uint64_t now_ps, wh_sim_dropper drop, void *context);
