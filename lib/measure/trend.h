/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Whether the delay is growing: the two tests of Pathload on the last N3 delays, unsmoothed
 * (udt.txt III C). PCT, pairwise comparison: the share of increases among neighbours. PDT, pairwise
 * difference: the net change divided by the total movement.
 */

#include <stdbool.h>
#include <stdint.h>

#include "measure/constants.h"

struct wh_trend {
	uint32_t count;
	uint32_t cursor;
	int64_t delay_tsc[WH_TREND_DELAYS]; /* signed: one-way delays of unrelated clocks */
};

void wh_trend_init(struct wh_trend *trend);
void wh_trend_add(struct wh_trend *trend, int64_t delay_tsc);

/* Tests over the window; 0 if it is not full. PDT is negative when the delay falls. */
double wh_trend_pct(const struct wh_trend *trend);
double wh_trend_pdt(const struct wh_trend *trend);

/* True only with a full window. */
bool wh_trend_increasing(const struct wh_trend *trend);
