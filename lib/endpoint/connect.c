/* SPDX-License-Identifier: BSD-3-Clause */
#include "endpoint/connect.h"
#include "endpoint/lifecycle.h"

#include <string.h>

#include "endpoint/turn.h"

/* Where few control packets may be sent, the second CONFIRM is repeated after so many at least. */
#define CONFIRM_RTTS 2

#define FIRST_TICK_MS 1

void wh_listener_accept(const struct wh_listener *listener, uint64_t now_tsc,
	const struct wh_open_params *params, uint32_t stamp_us, const struct wh_address *peer,
	const struct wh_offer *offer, struct wh_packet *accept)
{
	bool welcome = offer->refused == WH_STATUS_PENDING;

	WH_ASSERT(!welcome || (offer->cid != 0 && offer->buffer_chunks > 0));
	*accept = (struct wh_packet){
		.type = WH_PACKET_ACCEPT,
		.cid = params->initiator_cid,
		.accept =
			{
				.acceptor_cid = offer->cid,
				.stamp_us = stamp_us,
				.buffer_chunks = offer->buffer_chunks,
				.refused = (uint8_t)offer->refused,
			},
	};
	/* A refusal has no cookie: a CONFIRM with it would open the refused connection. */
	if (welcome)
		wh_cookie_make(accept->accept.cookie, listener->key,
			wh_tsc_to_us(listener->hz, now_tsc), peer, listener->queue, offer->cid,
			params);
}

bool wh_listener_confirmed(const struct wh_listener *listener, uint64_t now_tsc,
	const struct wh_confirm *confirm, bool offered, const struct wh_address *peer,
	uint64_t *rtt_tsc)
{
	const uint64_t lifetime_us = WH_COOKIE_LIFETIME_S * WH_US_PER_S;
	uint64_t now_us = wh_tsc_to_us(listener->hz, now_tsc);
	uint64_t age_us;
	bool valid = offered ? wh_stranger_cookie_check(confirm->cookie, listener->key,
				       WH_COOKIE_OFFER, now_us, lifetime_us, peer, listener->queue,
				       confirm->acceptor_cid, &age_us)
			     : wh_cookie_check(confirm->cookie, listener->key, now_us, lifetime_us,
				       peer, listener->queue, confirm->acceptor_cid,
				       &confirm->params, &age_us);

	if (valid)
		*rtt_tsc = wh_us_to_tsc(listener->hz, age_us);
	return valid;
}

void wh_connect_begin(
	struct wh_session *s, uint64_t now_tsc, uint32_t local_cid, uint64_t local_token)
{
	WH_ASSERT(s->role == WH_TRANSMITTER && s->phase == WH_PHASE_OPENING && local_cid != 0);
	s->local_cid = local_cid;
	if (s->sa == NULL)
		wh_session_begin_receive_seal(s, local_token);
	s->local_token = local_token;
	s->params.initiator_cid = local_cid;
	s->params.initiator_token = local_token;
	/* The peer timeout counts from the first attempt. */
	if (s->opened_tsc == 0)
		s->opened_tsc = now_tsc;
	__atomic_store_n(&s->last_heard_tsc, now_tsc, __ATOMIC_RELAXED);
	s->next_open_tsc = now_tsc;
	s->next_release_tsc = now_tsc;
	s->tx.limit_since_tsc = now_tsc;
}

void wh_connect_refuse(struct wh_session *s, uint64_t now_tsc)
{
	WH_ASSERT(s->local_cid == 0);
	wh_session_settle(s, now_tsc, WH_STATUS_BUSY);
	wh_session_publish(s);
}

/* A peer that does not answer is asked less and less often. */
static void repeat_later(struct wh_session *s, uint64_t now_tsc)
{
	s->next_open_tsc = now_tsc + s->open_repeat_tsc;
	s->open_repeat_tsc =
		wh_min_u64(2 * s->open_repeat_tsc, wh_session_ms_tsc(s, WH_OPEN_REPEAT_MAX_MS));
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
	repeat_later(s, now_tsc);
}

static void send_confirm(struct wh_session *s, uint64_t now_tsc)
{
	struct wh_packet packet = {
		.confirm =
			{
				.params = s->params,
				.acceptor_cid = s->peer_cid,
			},
	};

	memcpy(packet.confirm.cookie, s->cookie, WH_COOKIE_BYTES);
	wh_session_push_control(s, now_tsc, WH_PACKET_CONFIRM, &packet);
	repeat_later(s, now_tsc);
}

static void begin_anew(struct wh_session *s)
{
	s->phase = WH_PHASE_OPENING;
	s->anew = true;
}

bool wh_session_begins_anew(const struct wh_session *s)
{
	return s->anew && s->phase == WH_PHASE_OPENING;
}

/*
 * CONFIRM is repeated until the first receiver report arrives, or the cookie expires. By then the
 * peer may have the session, and its reports are lost: missing.c finds out.
 */
static void go_on_confirming(struct wh_session *s, uint64_t now_tsc)
{
	if (now_tsc - s->accepted_tsc <= wh_session_ms_tsc(s, WH_COOKIE_LIFETIME_S * 1000))
		send_confirm(s, now_tsc);
	else
		repeat_later(s, now_tsc);
}

/* A session to be opened again waits to leave its place, no longer than the peer timeout. */
static int32_t wait_anew(struct wh_session *s, uint64_t now_tsc)
{
	if (now_tsc - s->opened_tsc <= s->peer_timeout_tsc)
		return 0;
	s->anew = false;
	wh_session_settle(s, now_tsc, WH_STATUS_PEER_GONE);
	return 1;
}

static void drain(struct wh_slot_fifo *fifo)
{
	while (wh_slot_fifo_peek(fifo) != NULL)
		wh_slot_fifo_release(fifo);
}

void wh_connect_leave(struct wh_session *s, struct wh_sadb *sadb)
{
	WH_ASSERT(s->role == WH_TRANSMITTER && wh_session_begins_anew(s));
	s->anew = false;
	s->offered = false;
	s->local_cid = 0;
	__atomic_store_n(&s->peer_cid, 0, __ATOMIC_RELAXED);
	s->open_repeat_tsc = wh_session_ms_tsc(s, WH_OPEN_REPEAT_MS);
	drain(&s->inbox);
	drain(&s->outbox);
	if (s->sa != NULL)
		wh_sealing_renew(s, sadb);
}

void wh_connect_hear_versions(struct wh_session *s, const struct wh_versions *versions)
{
	if (versions->first_pn == s->params.first_pn)
		atomic_store(&s->peer_versions, versions->least | (uint32_t)versions->most << 8);
}

/* The peer has lost the SA, another one exists, and this session never heard the peer. */
static bool has_lost_peer(const struct wh_session *s)
{
	return s->sa != NULL && wh_sa_successor(s->sa) != 0 &&
	       (s->phase == WH_PHASE_OPENING ||
		       (s->phase == WH_PHASE_RUNNING && !s->tx.report_seen));
}

int32_t wh_connect_poll(struct wh_session *s, uint64_t now_tsc)
{
	if (has_lost_peer(s))
		begin_anew(s);
	if (s->anew)
		return wait_anew(s, now_tsc);
	if (now_tsc < s->next_open_tsc)
		return 0;
	if (s->phase == WH_PHASE_OPENING) {
		uint64_t waited_tsc = now_tsc - s->opened_tsc;

		if (waited_tsc > s->peer_timeout_tsc)
			wh_session_settle(s, now_tsc, WH_STATUS_PEER_GONE);
		else if (atomic_load(&s->peer_versions) != 0 && s->sa == NULL)
			wh_session_settle(s, now_tsc, WH_STATUS_REFUSED);
		else
			send_open(s, now_tsc);
		return 1;
	}
	if (s->phase == WH_PHASE_RUNNING && !s->tx.report_seen) {
		go_on_confirming(s, now_tsc);
		return 1;
	}
	return 0;
}

/* Where tokens bound what goes first, its controller soon sees that it has left. */
static uint64_t first_tick_tsc(const struct wh_session *s)
{
	return s->tx.decision.by_tokens
		       ? wh_min_u64(s->period_tsc, wh_session_ms_tsc(s, FIRST_TICK_MS))
		       : s->period_tsc;
}

/* The peer is alive and has room: starts all timers of a running session. */
static void start_running(struct wh_session *s, uint64_t now_tsc, uint32_t rtt_us)
{
	struct wh_transmitter *tx = &s->tx;

	wh_rtt_add(&s->rtt, wh_us_to_tsc(s->config.hz, rtt_us));
	s->phase = WH_PHASE_RUNNING;
	__atomic_store_n(&s->last_heard_tsc, now_tsc, __ATOMIC_RELAXED);
	s->next_release_tsc = now_tsc;
	tx->unanswered_tsc = 0;
	tx->missing = (struct wh_missing){0};
	tx->progress_tsc = now_tsc;
	tx->busy_since_tsc = now_tsc;
	tx->limit_since_tsc = now_tsc;
	wh_session_add(&s->stats.limit_tsc[WH_LIMIT_START], now_tsc - s->opened_tsc);
	tx->next_tick_tsc = now_tsc + first_tick_tsc(s);
	tx->next_trans_report_tsc = now_tsc;
	tx->peer_upper = s->params.first_pn + s->params.window_pkts;
	wh_pacer_idle(&tx->pacer, now_tsc);
}

/* Claims the offered place by CONFIRM, which returns the cookie with what OPEN said. */
static void confirm(struct wh_session *s, uint64_t now_tsc, uint32_t acceptor_cid,
	const uint8_t cookie[WH_COOKIE_BYTES])
{
	memcpy(s->cookie, cookie, WH_COOKIE_BYTES);
	__atomic_store_n(&s->peer_cid, acceptor_cid, __ATOMIC_RELAXED);
	if (s->sa == NULL)
		wh_session_begin_send_seal(s, wh_cookie_token(cookie));
	else if (!wh_sealing_begin(s, s->cookie)) {
		wh_session_settle(s, now_tsc, WH_STATUS_BUSY);
		return;
	}
	s->accepted_tsc = now_tsc;
	s->open_repeat_tsc = s->period_tsc;
	send_confirm(s, now_tsc);
	/*
	 * Data that arrive before CONFIRM are dropped, so CONFIRM is repeated once, soon. Where
	 * control packets are limited to a small share of the data, the next repetition waits until
	 * an answer could have come: on a slow line each takes the time of data.
	 */
	if (s->feedback.data_per_report > 0)
		s->open_repeat_tsc =
			wh_max_u64(s->open_repeat_tsc, CONFIRM_RTTS * wh_rtt_get(&s->rtt));
	wh_prelude_begin(s, now_tsc);
}

/* The peer does not have this session. If it never had it, the session is opened again. */
static void give_session_up(struct wh_session *s, uint64_t now_tsc)
{
	if (s->tx.report_seen)
		wh_session_settle(s, now_tsc, WH_STATUS_REPLACED);
	else
		begin_anew(s);
}

void wh_connect_accepted(struct wh_session *s, uint64_t now_tsc, const struct wh_accept *accept)
{
	struct wh_transmitter *tx = &s->tx;
	bool opening = s->phase == WH_PHASE_OPENING;

	if (wh_session_begins_anew(s))
		return; /* an answer to an OPEN that was given up */
	if (!opening && wh_missing_answered(s, now_tsc, accept->stamp_us))
		give_session_up(s, now_tsc);
	if (accept->refused != WH_STATUS_PENDING) {
		/*
		 * A refusal of our CONFIRM counts. One of a repeated OPEN that arrived after the
		 * first does not.
		 */
		bool confirms = s->phase == WH_PHASE_RUNNING && !tx->report_seen &&
				accept->acceptor_cid == s->peer_cid;

		/*
		 * Another session has taken the offered place, or the cookie is not for our address
		 * as the peer sees it now: an OPEN gets a new one.
		 */
		if (confirms && (accept->refused == WH_STATUS_REPLACED ||
					(s->offered && accept->refused == WH_STATUS_BUSY)))
			begin_anew(s);
		else if (opening || confirms)
			wh_session_settle(s, now_tsc, (enum wh_release_status)accept->refused);
		return;
	}
	if (!opening)
		return; /* an answer to a repeated OPEN: the first one counts */
	start_running(s, now_tsc, wh_session_now_us(s, now_tsc) - accept->stamp_us);
	tx->peer_chunk_upper = accept->buffer_chunks;
	confirm(s, now_tsc, accept->acceptor_cid, accept->cookie);
}

void wh_connect_take_offer(struct wh_session *s, uint64_t now_tsc, uint32_t queue)
{
	struct wh_sa_offer own = s->offer;
	const struct wh_sa_offer *offer = &own;

	s->offer.offered.cid = 0; /* taken once, should the session be opened again */
	if (s->sa == NULL)
		return;
	if (own.offered.cid == 0)
		offer = wh_sa_take_offer(s->sa, wh_peer_address_now(&s->peer), queue);

	/* In the first half of its cookie's lifetime, CONFIRM is sure to arrive in time. */
	if (offer == NULL || wh_tsc_to_us(s->config.hz, now_tsc) - offer->came_us >
				     WH_COOKIE_LIFETIME_S * WH_US_PER_S / 2)
		return;
	start_running(s, now_tsc, offer->rtt_us);
	s->offered = true;
	s->tx.peer_chunk_upper = WH_OFFERED_CHUNKS;
	confirm(s, now_tsc, offer->offered.cid, offer->offered.cookie);
}
