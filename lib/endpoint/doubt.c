/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Another process of the same peer has made a handshake with us from the address and port of this
 * session's peer. Usually the old process was killed without notice; but two processes may share an
 * interface and run side by side. So the old one is probed with reports that it must answer at
 * once, and one packet from it clears the doubt for all sessions of the SA.
 */

#include "endpoint/turn.h"

#include "base/clock.h"

#define ASK_MS 250
#define ASKS   4

/* A receiver cannot probe: a transmitter that is alive sends something within this time. */
#define LISTEN_MS 2500

static uint64_t step_tsc(const struct wh_session *s)
{
	return wh_max_u64(wh_session_ms_tsc(s, ASK_MS), 2 * wh_rtt_get(&s->rtt));
}

static uint64_t patience_tsc(const struct wh_session *s)
{
	uint64_t asks_tsc = ASKS * step_tsc(s);

	return s->role == WH_TRANSMITTER ? asks_tsc : asks_tsc + wh_session_ms_tsc(s, LISTEN_MS);
}

/* An opening session is not in doubt: it still looks for its peer, if necessary by a new SA. */
static bool has_begun(const struct wh_session *s)
{
	return s->phase != WH_PHASE_OPENING && s->phase != WH_PHASE_CLOSED &&
	       (s->role == WH_RECEIVER || s->tx.report_seen);
}

static uint64_t since_tsc(const struct wh_session *s)
{
	return s->sa != NULL && has_begun(s) ? wh_sa_doubted_tsc(s->sa) : 0;
}

void wh_doubt_poll(struct wh_session *s, uint64_t now_tsc)
{
	uint64_t doubted_tsc = since_tsc(s);

	if (doubted_tsc == 0)
		return;
	if (doubted_tsc == WH_TSC_NEVER) {
		wh_session_settle(s, now_tsc, WH_STATUS_REPLACED);
	} else if (s->last_heard_tsc > doubted_tsc) {
		wh_sa_clear_doubt(s->sa, doubted_tsc);
	} else if (now_tsc > wh_add_u64(doubted_tsc, patience_tsc(s))) {
		wh_sa_confirm_doubt(s->sa, doubted_tsc);
		wh_session_settle(s, now_tsc, WH_STATUS_REPLACED);
	} else if (s->role == WH_TRANSMITTER) {
		s->tx.next_trans_report_tsc =
			wh_min_u64(s->tx.next_trans_report_tsc, wh_doubt_deadline(s));
	}
}

uint64_t wh_doubt_deadline(const struct wh_session *s)
{
	uint64_t doubted_tsc = since_tsc(s);
	uint64_t end_tsc = wh_add_u64(doubted_tsc, patience_tsc(s) + 1);

	if (doubted_tsc == 0)
		return WH_TSC_NEVER;
	if (doubted_tsc == WH_TSC_NEVER)
		return 0;
	if (s->role == WH_RECEIVER)
		return end_tsc;
	return s->tx.last_trans_report_tsc < doubted_tsc
		       ? 0
		       : wh_min_u64(end_tsc, s->tx.last_trans_report_tsc + step_tsc(s));
}

bool wh_session_is_doubted(const struct wh_session *s)
{
	return since_tsc(s) != 0;
}
