/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure/trend.h"

#include "base/assert.h"

#define STEPS (WH_TREND_DELAYS - 1)

void wh_trend_init(struct wh_trend *trend)
{
	*trend = (struct wh_trend){0};
}

void wh_trend_add(struct wh_trend *trend, int64_t delay_tsc)
{
	WH_ASSERT(trend->cursor < WH_TREND_DELAYS);
	trend->delay_tsc[trend->cursor] = delay_tsc;
	trend->cursor = (trend->cursor + 1) % WH_TREND_DELAYS;
	if (trend->count < WH_TREND_DELAYS)
		trend->count++;
	WH_ASSERT(trend->count == trend->cursor || trend->count == WH_TREND_DELAYS);
}

/*
 * Change between neighbouring delays, the oldest being number 0. Subtracts integers, since clocks
 * wrap and their offset may leave a double no bits for the delay.
 */
static int64_t step(const struct wh_trend *trend, uint32_t number)
{
	WH_ASSERT(trend->count == WH_TREND_DELAYS && number < STEPS);

	uint32_t from = (trend->cursor + number) % WH_TREND_DELAYS;
	uint32_t to = (from + 1) % WH_TREND_DELAYS;

	return (int64_t)((uint64_t)trend->delay_tsc[to] - (uint64_t)trend->delay_tsc[from]);
}

double wh_trend_pct(const struct wh_trend *trend)
{
	uint32_t increases = 0;

	if (trend->count < WH_TREND_DELAYS)
		return 0.0;
	for (uint32_t i = 0; i < STEPS; i++)
		increases += step(trend, i) > 0;
	return (double)increases / STEPS;
}

double wh_trend_pdt(const struct wh_trend *trend)
{
	double net = 0.0;
	double movement = 0.0;

	if (trend->count < WH_TREND_DELAYS)
		return 0.0;
	for (uint32_t i = 0; i < STEPS; i++) {
		double change = (double)step(trend, i);

		net += change;
		movement += change < 0.0 ? -change : change;
	}
	WH_ASSERT(net >= -movement && net <= movement);
	return movement > 0.0 ? net / movement : 0.0;
}

bool wh_trend_increasing(const struct wh_trend *trend)
{
	double pct = wh_trend_pct(trend);
	double pdt = wh_trend_pdt(trend);

	return (pct > WH_TREND_PCT_SURE && pdt >= WH_TREND_PDT_LEANS) ||
	       (pdt > WH_TREND_PDT_SURE && pct >= WH_TREND_PCT_LEANS);
}
