/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Retransmission without requests, a part of get_rcv_stat: by the count of the receiver's states
 * (periodic-exchange.txt, "Retransmission Time Out"), or by a timer for each packet.
 */

#include "session/internal.h"

/* Timers are looked at this often in the time that they are for. */
#define LOOKS_PER_TIMEOUT 16
#define LOOK_US_MIN       50

/* A state that is so far ahead of the one before counts for no more: whatever was sent is due. */
#define AHEAD_MAX (UINT32_C(1) << 21)

uint32_t wh_again_due(const struct wh_session *s, uint64_t now_tsc)
{
	uint32_t now = s->feedback.resend == WH_RESEND_COUNTED ? s->tx.states_counted
							       : wh_session_now_us(s, now_tsc);

	return now + s->tx.decision.resend_after;
}

static void queue_again(void *context, uint64_t serial)
{
	struct wh_transmitter *tx = context;
	bool pushed = wh_fifo_push_u64(&tx->again, serial);

	/* It holds a whole window, and a serial is in it at most once. */
	WH_ASSERT(pushed);
}

void wh_again_count(struct wh_session *s, uint64_t ahead, const struct wh_rcv_state *state)
{
	struct wh_transmitter *tx = &s->tx;

	tx->states_counted += (uint32_t)wh_min_u64(ahead, AHEAD_MAX);

	const struct wh_sent_due due = {.now = tx->states_counted, .sent_end = tx->sent_end};

	/* Of what this state does not cover it is not known whether it misses. */
	wh_sent_table_queue_due(
		&tx->table, &due, state->cover_first, state->cover_end, queue_again, tx);
	wh_sent_table_queue_due(
		&tx->table, &due, state->highest_end, tx->sent_end, queue_again, tx);
}

int32_t wh_again_look(struct wh_session *s, uint64_t now_tsc)
{
	struct wh_transmitter *tx = &s->tx;

	if (s->feedback.resend != WH_RESEND_TIMED || now_tsc < tx->next_look_tsc)
		return 0;

	const struct wh_sent_due due = {
		.now = wh_session_now_us(s, now_tsc),
		.sent_end = tx->sent_end,
	};
	uint64_t pause_us = wh_max_u64(tx->decision.resend_after / LOOKS_PER_TIMEOUT, LOOK_US_MIN);

	tx->next_look_tsc = now_tsc + wh_us_to_tsc(s->config.hz, pause_us);
	return (int32_t)wh_min_u64(wh_sent_table_queue_due(&tx->table, &due, tx->table.lower,
					   tx->sent_end, queue_again, tx),
		INT32_MAX);
}

uint64_t wh_again_deadline(const struct wh_session *s)
{
	const struct wh_transmitter *tx = &s->tx;

	return s->feedback.resend == WH_RESEND_TIMED && tx->table.lower < tx->sent_end
		       ? tx->next_look_tsc
		       : WH_TSC_NEVER;
}
