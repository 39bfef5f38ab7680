/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab/tcp/rto.h"

#include <assert.h>
#include <stdlib.h>

#include "base/assert.h"
#include "lab/tcp/tcp.h"

/* Backoff above which the smoothed average is discarded as useless. */
#define BACKOFF_FORGETS 8

/* Doubling continues to this in any case, and further while the timeout is below its limit. */
#define BACKOFF_ENOUGH 64
#define BACKOFF_MAX    (UINT32_C(1) << 16)

static_assert(BACKOFF_FORGETS < BACKOFF_ENOUGH && BACKOFF_ENOUGH <= BACKOFF_MAX,
	"it forgets before it stops doubling");

void wh_sim_rto_init(
	struct wh_sim_rto *rto, const struct wh_sim_tcp_config *config, uint64_t phase_ps)
{
	WH_ASSERT(config->tick_ps > 0 && config->min_rto_ps <= config->max_rto_ps);
	*rto = (struct wh_sim_rto){
		.tick_ps = config->tick_ps,
		.min_ps = config->min_rto_ps,
		.max_ps = config->max_rto_ps,
		.phase_ps = phase_ps,
		.base_ps = config->initial_rto_ps,
		.backoff = 1,
	};
}

void wh_sim_rto_sent(struct wh_sim_rto *rto, uint64_t now_ps, uint64_t pn)
{
	if (rto->timing)
		return;
	rto->timing = true;
	rto->timed_pn = pn;
	rto->timed_ps = now_ps;
}

/* Clock ticks between the two times; at least 1. */
static int64_t ticks_between(const struct wh_sim_rto *rto, uint64_t from_ps, uint64_t to_ps)
{
	WH_ASSERT(to_ps >= from_ps);

	uint64_t into_tick_ps = (from_ps + rto->phase_ps) % rto->tick_ps;
	uint64_t ticks = (to_ps - from_ps + into_tick_ps) / rto->tick_ps;

	return ticks > 0 ? (int64_t)ticks : 1;
}

static void sample(struct wh_sim_rto *rto, int64_t ticks)
{
	WH_ASSERT(ticks > 0);
	if (rto->srtt_ticks8 == 0) {
		rto->srtt_ticks8 = 8 * ticks;
		rto->rttvar_ticks4 = 2 * ticks;
	} else {
		int64_t away = ticks - rto->srtt_ticks8 / 8;

		rto->srtt_ticks8 += away;
		if (rto->srtt_ticks8 <= 0)
			rto->srtt_ticks8 = 1;
		rto->rttvar_ticks4 += llabs(away) - rto->rttvar_ticks4 / 4;
		if (rto->rttvar_ticks4 <= 0)
			rto->rttvar_ticks4 = 1;
	}
	rto->base_ps = (uint64_t)(rto->srtt_ticks8 / 8 + rto->rttvar_ticks4) * rto->tick_ps;
	WH_ASSERT(rto->srtt_ticks8 > 0 && rto->rttvar_ticks4 > 0);
}

void wh_sim_rto_acked(struct wh_sim_rto *rto, uint64_t now_ps, uint64_t end)
{
	if (!wh_sim_rto_acked_in_recovery(rto, end))
		return;
	rto->sample_ps = now_ps - rto->timed_ps;
	sample(rto, ticks_between(rto, rto->timed_ps, now_ps));
}

bool wh_sim_rto_acked_in_recovery(struct wh_sim_rto *rto, uint64_t end)
{
	if (!rto->timing || end <= rto->timed_pn)
		return false;
	rto->timing = false;
	rto->backoff = 1;
	return true;
}

void wh_sim_rto_back_off(struct wh_sim_rto *rto)
{
	if (rto->backoff < BACKOFF_ENOUGH ||
		(rto->backoff < BACKOFF_MAX && wh_sim_rto_ps(rto) < rto->max_ps))
		rto->backoff *= 2;
	WH_ASSERT(rto->backoff >= 1 && rto->backoff <= BACKOFF_MAX);
	if (rto->backoff > BACKOFF_FORGETS) {
		rto->rttvar_ticks4 += rto->srtt_ticks8 / 8;
		rto->srtt_ticks8 = 0;
	}
}

uint64_t wh_sim_rto_ps(const struct wh_sim_rto *rto)
{
	uint64_t least_ps = rto->base_ps > rto->min_ps ? rto->base_ps : rto->min_ps;
	bool bounded = least_ps > rto->max_ps / rto->backoff;
	uint64_t rto_ps = bounded ? rto->max_ps : least_ps * rto->backoff;

	return rto_ps > 2 * rto->tick_ps ? rto_ps : 2 * rto->tick_ps;
}
