/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Finds out whether a silent peer still has this session. A process that was restarted, or has
 * given the session up, does not answer the session's packets. Without this test the session would
 * wait for its whole peer timeout.
 *
 * So a transmitter whose peer is silent repeats OPEN beside its reports. While the path is down,
 * neither is answered. A restarted process answers that it does not know the SA, and the next
 * handshake puts the session in doubt (doubt.c). Otherwise the listener answers with ACCEPT, which
 * costs it no memory. If it does so for a second in which no report is answered, the peer does not
 * have this session any more.
 */

#include "base/clock.h"
#include "endpoint/turn.h"

#define ASK_MS 250

/* This many answers over this time prove that the path works: reports would be answered, too. */
#define ANSWERS     4
#define ANSWERED_MS 1000

/* An idle transmitter's peer is silent when it does not answer a heartbeat. */
static bool is_silent(const struct wh_session *s, uint64_t now_tsc)
{
	const struct wh_transmitter *tx = &s->tx;

	if (s->config.payload_virtual || s->phase != WH_PHASE_RUNNING)
		return false;
	return tx->peer_silent || (tx->unanswered_tsc != 0 && tx->unanswered_tsc < now_tsc &&
					  now_tsc - tx->unanswered_tsc > wh_session_exp_tsc(s));
}

static void ask(struct wh_session *s, uint64_t now_tsc)
{
	struct wh_missing *missing = &s->tx.missing;
	struct wh_packet packet = {
		.open =
			{
				.params = s->params,
				.stamp_us = wh_session_now_us(s, now_tsc),
			},
	};

	if (missing->next_ask_tsc == 0)
		missing->first_stamp_us = packet.open.stamp_us;
	wh_session_push_control(s, now_tsc, WH_PACKET_OPEN, &packet);
	missing->next_ask_tsc = now_tsc + wh_session_ms_tsc(s, ASK_MS);
	/* An idle session sends its next report earlier: only unanswered reports are a proof. */
	s->tx.next_trans_report_tsc = wh_min_u64(s->tx.next_trans_report_tsc,
		s->tx.last_trans_report_tsc + wh_session_heartbeat_tsc(s, 0));
}

int32_t wh_missing_poll(struct wh_session *s, uint64_t now_tsc)
{
	struct wh_missing *missing = &s->tx.missing;

	if (!is_silent(s, now_tsc)) {
		missing->next_ask_tsc = 0;
		missing->answers = 0;
		return 0;
	}
	if (now_tsc < missing->next_ask_tsc)
		return 0;
	ask(s, now_tsc);
	return 1;
}

bool wh_missing_answered(struct wh_session *s, uint64_t now_tsc, uint32_t stamp_us)
{
	struct wh_missing *missing = &s->tx.missing;
	/* At least two round trips, and a few periods. */
	uint64_t span_tsc =
		wh_max_u64(wh_session_ms_tsc(s, ANSWERED_MS), wh_session_exp_tsc(s) / 2);

	/* The answer is to an OPEN sent before the silence. */
	if (missing->next_ask_tsc == 0 || (int32_t)(stamp_us - missing->first_stamp_us) < 0)
		return false;
	if (missing->answers++ == 0)
		missing->answered_tsc = now_tsc;
	return missing->answers >= ANSWERS && now_tsc - missing->answered_tsc >= span_tsc;
}

uint64_t wh_missing_deadline(const struct wh_session *s)
{
	const struct wh_transmitter *tx = &s->tx;

	if (tx->missing.next_ask_tsc != 0)
		return tx->missing.next_ask_tsc;
	return s->config.payload_virtual || tx->unanswered_tsc == 0
		       ? WH_TSC_NEVER
		       : tx->unanswered_tsc + wh_session_exp_tsc(s) + 1;
}
