/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_MEASURE_SKEW_H
#define WH_MEASURE_SKEW_H

/*
 * The skew of two clocks, as far as it shows in the one-way delay between them, and delays without
 * it (udt.txt V: "time skew correction are needed"). The paper names no way to find it.
 *
 * A queue adds to a delay and goes again, whereas a skew adds to all of them alike. So the least
 * delay of each WH_SKEW_BLOCK_MS is kept, the last WH_SKEW_BLOCKS of them, and the skew is the
 * median slope of all lines through two of these: blocks in which the queue never emptied may be
 * nearly a third of them. No crystal is worse than WH_SKEW_MOST_PPM beside another; what is steeper
 * is taken for the path's.
 */

#include <stdbool.h>
#include <stdint.h>

#include "measure/constants.h"

struct wh_skew_point {
	uint64_t at_tsc;
	int64_t delay_tsc;
};

struct wh_skew {
	uint64_t block_tsc;
	uint64_t grain_tsc;
	uint64_t block_began_tsc;
	struct wh_skew_point least; /* of the block that runs */
	struct wh_skew_point latest;
	double corrected_tsc; /* the latest delay, from 0 on */
	double slope;
	uint32_t samples; /* 0, or some */
	uint32_t blocks;  /* kept */
	uint32_t cursor;
	struct wh_skew_point block[WH_SKEW_BLOCKS];
};

/* Delays come in multiples of `grain`, and so do those without skew. */
void wh_skew_init(struct wh_skew *skew, uint64_t hz, uint64_t grain_tsc);

/* The delay of a packet that came at this time, from any origin; it wraps, as clocks do. */
void wh_skew_add(struct wh_skew *skew, uint64_t at_tsc, int64_t delay_tsc);

/* Whether there were blocks enough to know it; until then no delay is corrected. */
bool wh_skew_known(const struct wh_skew *skew);

/* So much does the delay grow by the clocks alone, per time. */
double wh_skew_slope(const struct wh_skew *skew);

/* The latest delay without it, from an origin of its own. */
int64_t wh_skew_corrected(const struct wh_skew *skew);

#endif
