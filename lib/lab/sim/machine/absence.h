/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * A host, or a machine that emulates a link, whose CPU also has other work: now and then it does
 * not poll its port. Packets that arrive meanwhile wait in the port's ring, of unlimited length,
 * and due sends are late; on its return it receives all waiting packets at once, timestamped as if
 * they had just arrived. Absences and the times between them are exponential.
 */

#include "base/prng.h"
#include "lab/sim/event.h"
#include "lab/sim/sim_packet.h"

/* A time at the port, and the absence that follows. */
struct wh_absence_span {
	uint64_t here_ps;
	uint64_t away_ps;
};

struct wh_absence_config {
	struct wh_absence_span mean;         /* of exponential ones; away_ps 0: none */
	const struct wh_absence_span *spans; /* or those to draw from, the caller's */
	uint32_t n_spans;                    /* 0: none */
};

struct wh_absence {
	struct wh_absence_config config;
	struct wh_sim_events *events;
	struct wh_prng prng;
	struct wh_sim_event change;
	struct wh_absence_span next; /* or present */
	bool is_away;
	uint64_t left_ps; /* start of the latest absence */
	struct wh_sim_fifo waiting;
	void (*back)(void *context, uint64_t now_ps); /* on return; processes all waiting packets */
	void *context;
};

void wh_absence_init(struct wh_absence *absence, const struct wh_absence_config *config,
	struct wh_sim_events *events, uint64_t seed, void (*back)(void *context, uint64_t now_ps),
	void *context);

/* Begins with a present host. Stop returns waiting packets to the pool. */
void wh_absence_start(struct wh_absence *absence, uint64_t now_ps);
void wh_absence_stop(struct wh_absence *absence, struct wh_sim_pool *pool);

static inline bool wh_absence_is_away(const struct wh_absence *absence)
{
	return absence->is_away;
}

/* Queues a packet during an absence. */
void wh_absence_keep(struct wh_absence *absence, struct wh_sim_packet *packet);

/* The next waiting packet, in order; NULL: none. */
struct wh_sim_packet *wh_absence_next(struct wh_absence *absence);
