/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * The packet numbers received above the first missing one: disjoint, sorted ranges, no two
 * adjacent. One range per hole, so a window of any size needs nothing without loss; changes near
 * either end, the usual case, are cheap whatever the count.
 */

#include <stdbool.h>
#include <stdint.h>

#include "lab/sim/sim_packet.h"

#define WH_SIM_NO_HOLE UINT64_MAX

struct wh_sim_ranges {
	struct wh_sim_sack *range;
	uint32_t count;
	uint32_t room;  /* capacity from range[0] on */
	uint32_t spare; /* unused entries before range[0] */
};

void wh_sim_ranges_free(struct wh_sim_ranges *ranges);
void wh_sim_ranges_clear(struct wh_sim_ranges *ranges);

/* True: at least a part is new. first < end. */
bool wh_sim_ranges_add(struct wh_sim_ranges *ranges, uint64_t first, uint64_t end);

/* Removes everything below `end`. True: there was something. */
bool wh_sim_ranges_forget(struct wh_sim_ranges *ranges, uint64_t end);

/* The range that contains this packet number; NULL: none. */
const struct wh_sim_sack *wh_sim_ranges_find(const struct wh_sim_ranges *ranges, uint64_t pn);

/*
 * The first packet number from this one on that is in no range and below one; WH_SIM_NO_HOLE: none.
 */
uint64_t wh_sim_ranges_hole(const struct wh_sim_ranges *ranges, uint64_t pn);
