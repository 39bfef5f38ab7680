/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/handshake.h"

#include <string.h>

#include "session/internal.h"

void wh_listener_accept(const struct wh_listener *listener, uint64_t now_tsc,
	const struct wh_packet *open, const struct wh_address *peer, uint32_t acceptor_lci,
	enum wh_release_status refused, struct wh_packet *accept)
{
	WH_ASSERT(open->type == WH_PACKET_OPEN);
	WH_ASSERT(acceptor_lci != 0 || refused != WH_STATUS_PENDING);
	*accept = (struct wh_packet){
		.type = WH_PACKET_ACCEPT,
		.lci = open->open.params.initiator_lci,
		.accept =
			{
				.acceptor_lci = acceptor_lci,
				.stamp_us = open->open.stamp_us,
				.buffer_chunks = listener->buffer_chunks,
				.refused = (uint8_t)refused,
			},
	};
	wh_cookie_make(accept->accept.cookie, listener->key, wh_tsc_to_us(listener->hz, now_tsc),
		peer, acceptor_lci, &open->open.params);
}

bool wh_listener_confirmed(const struct wh_listener *listener, uint64_t now_tsc,
	const struct wh_confirm *confirm, const struct wh_address *peer, uint64_t *rtt_tsc)
{
	uint64_t age_us;

	if (!wh_cookie_check(confirm->cookie, listener->key, wh_tsc_to_us(listener->hz, now_tsc),
		    WH_COOKIE_LIFETIME_S * WH_US_PER_S, peer, confirm->acceptor_lci,
		    &confirm->params, &age_us))
		return false;
	*rtt_tsc = wh_us_to_tsc(listener->hz, age_us);
	return true;
}

static void send_open(struct wh_session *s, uint64_t now_tsc)
{
	struct wh_packet packet = {
		.open =
			{
				.params = s->params,
				.stamp_us = wh_session_now_us(s, now_tsc),
			},
	};

	wh_session_push_control(s, now_tsc, WH_PACKET_OPEN, &packet);
	s->next_open_tsc = now_tsc + s->open_repeat_tsc;
	s->open_repeat_tsc =
		wh_min_u64(2 * s->open_repeat_tsc, wh_session_ms_tsc(s, WH_OPEN_REPEAT_MAX_MS));
}

static void send_confirm(struct wh_session *s, uint64_t now_tsc)
{
	struct wh_packet packet = {
		.confirm =
			{
				.params = s->params,
				.acceptor_lci = s->peer_lci,
			},
	};

	memcpy(packet.confirm.cookie, s->cookie, WH_COOKIE_BYTES);
	wh_session_push_control(s, now_tsc, WH_PACKET_CONFIRM, &packet);
	s->next_open_tsc = now_tsc + s->period_tsc;
}

int32_t wh_handshake_poll(struct wh_session *s, uint64_t now_tsc)
{
	if (s->phase == WH_PHASE_OPENING) {
		if (now_tsc - s->opened_tsc >
			wh_ns_to_tsc(s->config.hz, s->config.peer_timeout_ns)) {
			wh_session_settle(s, now_tsc, WH_STATUS_PEER_GONE, false);
			return 1;
		}
		if (now_tsc >= s->next_open_tsc) {
			send_open(s, now_tsc);
			return 1;
		}
	} else if (s->phase == WH_PHASE_RUNNING && !s->tx.state_seen &&
		   now_tsc >= s->next_open_tsc) {
		send_confirm(s, now_tsc);
		return 1;
	}
	return 0;
}

void wh_handshake_accepted(struct wh_session *s, uint64_t now_tsc, const struct wh_accept *accept)
{
	struct wh_transmitter *tx = &s->tx;

	/* A refusal may also be the answer to CONFIRM, when the last free place is gone. */
	if (accept->refused != WH_STATUS_PENDING &&
		(s->phase == WH_PHASE_OPENING || !tx->state_seen)) {
		wh_session_settle(s, now_tsc, (enum wh_release_status)accept->refused, true);
		return;
	}
	if (s->phase != WH_PHASE_OPENING)
		return; /* the answer to a repeated OPEN */

	uint32_t rtt_us = wh_session_now_us(s, now_tsc) - accept->stamp_us;

	wh_rtt_add(&s->rtt, wh_us_to_tsc(s->config.hz, rtt_us));
	memcpy(s->cookie, accept->cookie, WH_COOKIE_BYTES);
	s->peer_lci = accept->acceptor_lci;
	s->phase = WH_PHASE_RUNNING;
	tx->peer_upper = s->params.first_serial + s->params.window_pkts;
	tx->peer_chunk_upper = accept->buffer_chunks;
	tx->progress_tsc = now_tsc;
	tx->limit_since_tsc = now_tsc;
	wh_pacer_idle(&tx->pacer, now_tsc);
	tx->next_tick_tsc = now_tsc + s->period_tsc;
	tx->next_trans_state_tsc = now_tsc;
	s->next_release_tsc = now_tsc;
	send_confirm(s, now_tsc);
}
