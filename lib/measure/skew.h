/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * The skew of two clocks, by the Theil-Sen estimator on the one-way delays between them, and delays
 * without it (udt.txt V: "time skew correction are needed"). The paper names no method.
 *
 * A queue increases a delay only temporarily, whereas skew affects all delays. So the least delay
 * of each WH_SKEW_BLOCK_MS is kept, for the last WH_SKEW_BLOCKS. The skew is the median slope of
 * all lines through two of them. It tolerates nearly a third of blocks in which the queue never
 * emptied. No pair of crystals exceeds WH_SKEW_MOST_PPM; a steeper slope is caused by the path.
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
	struct wh_skew_point least; /* of the present block */
	struct wh_skew_point latest;
	double corrected_tsc; /* latest delay without skew, relative to the first */
	double slope;
	uint32_t samples; /* 0: none yet; 1: some */
	uint32_t blocks;  /* number of blocks kept */
	uint32_t cursor;
	struct wh_skew_point block[WH_SKEW_BLOCKS];
};

/* Delays are multiples of `grain`, and so are corrected ones. */
void wh_skew_init(struct wh_skew *skew, uint64_t hz, uint64_t grain_tsc);

/* Adds the delay of a packet that arrived at this time. Delays have any origin and may wrap. */
void wh_skew_add(struct wh_skew *skew, uint64_t at_tsc, int64_t delay_tsc);

/* Whether there are enough blocks; until then delays are not corrected. */
bool wh_skew_known(const struct wh_skew *skew);

/* How much the delay grows per time because of the clocks. */
double wh_skew_slope(const struct wh_skew *skew);

/* The latest delay without skew, from an arbitrary origin. */
int64_t wh_skew_corrected(const struct wh_skew *skew);
