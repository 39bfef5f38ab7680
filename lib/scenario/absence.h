/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_SCENARIO_ABSENCE_H
#define WH_SCENARIO_ABSENCE_H

/*
 * A host whose CPU has other work, too: now and then it is away from its port. What arrives
 * meanwhile waits in the port's ring, which is as long as it must be, and what was due is late;
 * then it finds all of that at once, and takes the arrivals for new. How long it is away and how
 * long it stays are exponential.
 */

#include "base/prng.h"
#include "sim/event.h"
#include "sim/packet.h"

struct wh_absence_config {
	uint64_t away_ps; /* mean; 0: it never leaves */
	uint64_t here_ps; /* mean, between two absences */
};

struct wh_absence {
	struct wh_absence_config config;
	struct wh_sim_events *events;
	struct wh_prng prng;
	struct wh_sim_event change;
	bool is_away;
	uint64_t left_ps; /* the latest time */
	struct wh_sim_fifo waiting;
	void (*back)(void *context, uint64_t now_ps); /* it takes all that waits */
	void *context;
};

void wh_absence_init(struct wh_absence *absence, const struct wh_absence_config *config,
	struct wh_sim_events *events, uint64_t seed, void (*back)(void *context, uint64_t now_ps),
	void *context);

/* The host is there, and will leave; what waits is the pool's again when it stops. */
void wh_absence_start(struct wh_absence *absence, uint64_t now_ps);
void wh_absence_stop(struct wh_absence *absence, struct wh_sim_pool *pool);

static inline bool wh_absence_is_away(const struct wh_absence *absence)
{
	return absence->is_away;
}

/* While it is away. */
void wh_absence_keep(struct wh_absence *absence, struct wh_sim_packet *packet);

/* What waits, in order; NULL: nothing. */
struct wh_sim_packet *wh_absence_next(struct wh_absence *absence);

#endif
