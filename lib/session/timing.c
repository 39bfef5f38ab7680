/* SPDX-License-Identifier: BSD-3-Clause */

/* How long a session waits: spans in cycles of its clock. */

#include "session/session_internal.h"

uint64_t wh_session_ms_tsc(const struct wh_session *s, uint64_t span_ms)
{
	return wh_ns_to_tsc(s->config.hz, span_ms * 1000000);
}

uint64_t wh_session_heartbeat_tsc(const struct wh_session *s, uint32_t doublings)
{
	uint64_t ms = wh_min_u64(
		(uint64_t)WH_HEARTBEAT_MS << wh_min_u64(doublings, 16), WH_HEARTBEAT_MAX_MS);
	uint64_t span_tsc = wh_min_u64(wh_session_ms_tsc(s, ms), s->peer_timeout_tsc / 3);

	return wh_max_u64(span_tsc, s->period_tsc);
}

uint64_t wh_session_exp_tsc(const struct wh_session *s)
{
	uint64_t periods = 2;

	/* A peer that is loaded or has no news sends less often. */
	if (s->feedback.resend == WH_RESEND_COUNTED)
		periods = WH_LOAD_MOST + s->feedback.interval.skip + 1;
	return wh_max_u64(4 * wh_rtt_get(&s->rtt) + 4 * s->rtt.var_tsc + periods * s->period_tsc,
		wh_session_ms_tsc(s, WH_EXP_MIN_MS));
}
