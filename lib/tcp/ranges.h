/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_TCP_RANGES_H
#define WH_TCP_RANGES_H

/*
 * Which serials above the first missing one are there: disjoint ranges in order, no two of which
 * touch. As many as there are holes, so a window of any size costs nothing while nothing is lost;
 * and what changes near either end, as it mostly does, costs little however many there are.
 */

#include <stdbool.h>
#include <stdint.h>

#include "sim/packet.h"

#define WH_SIM_NO_HOLE UINT64_MAX

struct wh_sim_ranges {
	struct wh_sim_sack *range;
	uint32_t count;
	uint32_t room;  /* from range[0] on */
	uint32_t spare; /* entries before range[0] */
};

void wh_sim_ranges_free(struct wh_sim_ranges *ranges);
void wh_sim_ranges_clear(struct wh_sim_ranges *ranges);

/* True: some of it is new. first < end. */
bool wh_sim_ranges_add(struct wh_sim_ranges *ranges, uint64_t first, uint64_t end);

/* Forgets what lies below `end`. True: there was something. */
bool wh_sim_ranges_forget(struct wh_sim_ranges *ranges, uint64_t end);

/* The range with this serial in it, NULL when it is in none. */
const struct wh_sim_sack *wh_sim_ranges_find(const struct wh_sim_ranges *ranges, uint64_t serial);

/* The first serial from this one on that is in no range and below one. */
uint64_t wh_sim_ranges_hole(const struct wh_sim_ranges *ranges, uint64_t serial);

#endif
