/* SPDX-License-Identifier: BSD-3-Clause */

/* How a session gets its outcome, and how users and peer learn it. */

#include "session/session_internal.h"

void wh_session_bad(struct wh_session *s, uint64_t *reason)
{
	wh_session_count(&s->stats.bad_pkts);
	wh_session_count(reason);
}

void wh_session_settle(struct wh_session *s, uint64_t now_tsc, enum wh_release_status outcome)
{
	if (s->outcome == WH_STATUS_PENDING) {
		WH_ASSERT(outcome != WH_STATUS_PENDING);
		s->outcome = outcome;
		__atomic_store_n(&s->stats.outcome_tsc, now_tsc, __ATOMIC_RELAXED);
	}
	s->phase = WH_PHASE_CLOSED;
}

void wh_session_give_up(struct wh_session *s, uint64_t now_tsc)
{
	wh_session_settle(s, now_tsc, WH_STATUS_PEER_GONE);
	s->last_word = WH_RELEASE_ABORT;
}

/* The outcome is known here. The next turn sends it to the peer. */
static void begin_release(struct wh_session *s, uint64_t now_tsc)
{
	s->phase = WH_PHASE_RELEASING;
	s->release_repeats = 0;
	s->next_release_tsc = now_tsc;
}

void wh_session_abort(struct wh_session *s, uint64_t now_tsc, enum wh_release_status status)
{
	WH_ASSERT(status >= WH_STATUS_MISMATCH && status < WH_STATUSES);
	if (s->outcome != WH_STATUS_PENDING)
		return;
	wh_session_settle(s, now_tsc, status);
	if (s->peer_cid != 0) {
		begin_release(s, now_tsc);
		s->abort_pending = true;
	}
	wh_session_publish(s);
	wh_session_kick(s);
}

void wh_session_sink_done(struct wh_session *s, uint64_t now_tsc, enum wh_release_status status)
{
	WH_ASSERT(s->role == WH_RECEIVER && status != WH_STATUS_PENDING);
	if (s->outcome != WH_STATUS_PENDING)
		return;
	wh_session_settle(s, now_tsc, status);
	begin_release(s, now_tsc);
	wh_session_publish(s);
	wh_session_kick(s);
}
