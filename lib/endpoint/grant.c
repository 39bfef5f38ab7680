/* SPDX-License-Identifier: BSD-3-Clause */

/* What users of a session have asked for, done on its owner core. */

#include <rte_branch_prediction.h>

#include "endpoint/turn.h"

static void follow_rate(struct wh_session *s, uint64_t now_tsc)
{
	uint64_t wanted_bps = atomic_load_explicit(&s->wanted_bps, memory_order_relaxed);
	uint64_t had_bps = atomic_load_explicit(&s->rate_bps, memory_order_relaxed);

	if (likely(wanted_bps == had_bps))
		return;
	wh_control_set_rate(&s->tx.control, wanted_bps);
	atomic_store_explicit(&s->rate_bps, wanted_bps, memory_order_relaxed);
	wh_session_decide(s);
	if (wanted_bps > had_bps && s->tx.decision.freeze_until_tsc == 0)
		wh_pacer_hasten(&s->tx.pacer, now_tsc);
}

static void follow_options(struct wh_session *s)
{
	uint32_t wishes = atomic_load_explicit(&s->option_wishes, memory_order_acquire);

	if (likely(wishes == s->options_followed))
		return;

	const struct wh_profile_options options = wh_session_options(s);

	s->options_followed = wishes;
	wh_control_set_options(&s->tx.control, &options);
	wh_session_decide(s);
}

int32_t wh_session_grant(struct wh_session *s, uint64_t now_tsc)
{
	struct wh_wishes fresh;

	follow_rate(s, now_tsc);
	follow_options(s);
	if (!wh_session_fresh_wishes(s, &fresh))
		return 0;
	/*
	 * SINK_DONE before ABORT: a file that already has its name exists, even if an abort was
	 * requested too.
	 */
	if (fresh.wishes & WH_WISH_SINK_DONE)
		wh_session_sink_done(s, now_tsc, fresh.sink);
	if (fresh.wishes & WH_WISH_ABORT)
		wh_session_abort(s, now_tsc, fresh.abort);
	if (fresh.wishes & WH_WISH_CLOSE) {
		wh_session_abort(s, now_tsc, WH_STATUS_INTERRUPTED);
		s->closing = true;
	}
	return 1;
}
