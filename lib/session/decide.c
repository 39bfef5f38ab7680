/* SPDX-License-Identifier: BSD-3-Clause */

/* The controller's decision, and the pacer that follows it. */

#include "session/session_internal.h"

/* A rate within 1 / AT_BOUND_SHARE of its bound counts as limited by it. */
#define AT_BOUND_SHARE 64

static enum wh_limit pace_limit(const struct wh_session *s)
{
	const struct wh_decision *decision = &s->tx.decision;
	uint64_t rate_bps = atomic_load_explicit(&s->rate_bps, memory_order_relaxed);
	uint64_t line_bps = s->config.line_bps;
	bool is_line = line_bps != 0 && (rate_bps == 0 || line_bps <= rate_bps);
	uint64_t bound_bps = is_line ? line_bps : rate_bps;
	uint64_t bound_fp = 0;

	if (decision->interval_fp == 0)
		return WH_LIMIT_CPU;
	if (bound_bps != 0)
		bound_fp = wh_interval_fp(s->config.hz, s->config.wire_bytes, bound_bps);
	if (decision->interval_fp <= bound_fp + bound_fp / AT_BOUND_SHARE)
		return is_line ? WH_LIMIT_LINE : WH_LIMIT_RATE;
	return s->config.profile->rate_is_told ? WH_LIMIT_RATE : decision->limit;
}

void wh_session_decide(struct wh_session *s)
{
	struct wh_transmitter *tx = &s->tx;
	const struct wh_decision *decision = &tx->decision;

	tx->decision = tx->control.profile->decide(&tx->control);
	wh_pacer_set_interval(&tx->pacer, decision->interval_fp);
	wh_pacer_set_burst(
		&tx->pacer, decision->burst_pkts > 0 ? decision->burst_pkts : s->config.burst_pkts);
	wh_pacer_set_owed_most(&tx->pacer, decision->owed_most_tsc);
	if (decision->by_tokens)
		wh_pacer_allow(&tx->pacer, decision->tokens);
	else
		wh_pacer_grant(&tx->pacer, decision->tokens);
	tx->pace_limit = pace_limit(s);
}

void wh_session_apply(struct wh_session *s)
{
	struct wh_transmitter *tx = &s->tx;

	wh_session_decide(s);
	if (tx->decision.freeze_until_tsc != 0)
		wh_pacer_hold_until(&tx->pacer, tx->decision.freeze_until_tsc);
}
