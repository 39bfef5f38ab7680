/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * The skew of two clocks, measured on one direction alone, for when a queue in the other direction
 * hides it. A queue grows less when we send less. So a delay that keeps growing along the same
 * straight line while we send less is caused by the clocks.
 *
 * We do not know what others send. So our rate must have fallen by so much that a queue would have
 * become shorter by WH_STRAIGHT_SURE times the bend of the line. That is enough to notice a queue
 * of which only a twentieth is ours.
 */

#include <stdbool.h>
#include <stdint.h>

#include "measure/constants.h"

struct wh_straight_point {
	uint64_t at_tsc; /* arrival of the packet with the least delay of a block */
	int64_t delay_tsc;
	uint64_t sent_pkts; /* packets sent up to the end of the block */
	uint64_t sent_tsc;  /* when the last of them was sent */
};

struct wh_straight {
	uint64_t block_tsc;
	uint64_t block_began_tsc;
	bool begun;
	uint32_t points;
	struct wh_straight_point least; /* of the current block */
	struct wh_straight_point point[WH_STRAIGHT_BLOCKS];
	double slope; /* 0: not known */
};

void wh_straight_init(struct wh_straight *straight, uint64_t hz);

/* Adds one delay. Returns true if the slope was measured, for the first time or again. */
bool wh_straight_add(struct wh_straight *straight, struct wh_straight_point point);
