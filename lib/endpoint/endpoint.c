/* SPDX-License-Identifier: BSD-3-Clause */
#include "endpoint/endpoint.h"
#include "endpoint/lifecycle.h"

#include <string.h>

#include <rte_ring.h>

#include "base/clock.h"
#include "endpoint/books.h"
#include "endpoint/listen.h"
#include "endpoint/moves.h"
#include "endpoint/strays.h"
#include "endpoint/turn.h"
#include "track/alloc.h"

/* New sessions that a turn takes, at most. */
#define OPENED_PER_TURN 32

/* Many producers, one consumer; as many slots as places. */
static struct rte_ring *create_opened(uint32_t count)
{
	ssize_t bytes = rte_ring_get_memsize(rte_align32pow2(count + 1));

	WH_ASSERT(bytes > 0);

	struct rte_ring *ring = aligned_alloc(
		RTE_CACHE_LINE_SIZE, RTE_ALIGN_CEIL((size_t)bytes, RTE_CACHE_LINE_SIZE));

	if (ring == NULL)
		return NULL;

	int rc = rte_ring_init(ring, "wh_opened", count, RING_F_SC_DEQ | RING_F_EXACT_SZ);

	WH_ASSERT(rc == 0);
	return ring;
}

static int create_fifos(struct wh_endpoint *endpoint)
{
	/* If a closing packet finds no room, only the repetition of a last packet is lost. */
	uint32_t closing_packets = endpoint->config.places / 2 - 1;
	int rc = wh_slot_fifo_init(
		&endpoint->replies, WH_ENDPOINT_REPLIES, sizeof(struct wh_handshake_datagram));

	return rc != 0 ? rc
		       : wh_slot_fifo_init(&endpoint->closing_packets, closing_packets,
				 sizeof(struct wh_closing_packet));
}

int wh_endpoint_init(struct wh_endpoint *endpoint, const struct wh_endpoint_config *config)
{
	uint32_t places = config->places;

	WH_ASSERT(places >= WH_ENDPOINT_PLACES_MIN && places <= WH_ENDPOINT_PLACES_MAX);
	WH_ASSERT((places & (places - 1)) == 0);
	*endpoint = (struct wh_endpoint){
		.config = *config,
		.listener = {.hz = config->hz, .queue = config->queue},
		.session = wh_track_alloc(places, sizeof(*endpoint->session)),
		.spent_us = wh_track_alloc(places / 2, sizeof(*endpoint->spent_us)),
		.closing_packet = wh_secret_alloc(places * sizeof(*endpoint->closing_packet)),
		.rx = wh_half_create(config->hz, 0, places / 2, places),
		.tx = wh_half_create(config->hz, places / 2, places / 2, places),
		.books = config->books_apart ? wh_half_create(config->hz, 0, places / 2, places)
					     : NULL,
		.opened = create_opened(places / 2),
	};
	memcpy(endpoint->listener.key, config->key, sizeof(config->key));
	if (wh_probes_open(endpoint) == 0 && endpoint->session != NULL &&
		endpoint->spent_us != NULL && endpoint->closing_packet != NULL &&
		endpoint->rx != NULL && endpoint->tx != NULL &&
		(endpoint->books != NULL || !config->books_apart) && endpoint->opened != NULL &&
		create_fifos(endpoint) == 0 && wh_strays_open(endpoint) == 0)
		return 0;
	wh_endpoint_free(endpoint);
	return -ENOMEM;
}

void wh_endpoint_free(struct wh_endpoint *endpoint)
{
	wh_slot_fifo_free(&endpoint->replies);
	wh_slot_fifo_free(&endpoint->closing_packets);
	wh_strays_close(endpoint);
	wh_answerer_free(&endpoint->answerer);
	wh_half_destroy(endpoint->rx);
	wh_half_destroy(endpoint->tx);
	wh_half_destroy(endpoint->books);
	wh_track_free((void *)endpoint->session);
	wh_track_free(endpoint->spent_us);
	wh_secret_free(endpoint->closing_packet,
		endpoint->config.places * sizeof(*endpoint->closing_packet));
	free(endpoint->opened);
	*endpoint = (struct wh_endpoint){0};
}

/*
 * Reads seal and numbers from the session, so that no key passes through a FIFO. The session still
 * exists: a transmitter may be freed only after the turn that takes its closing packet.
 */
static void note_closing_packet(
	struct wh_endpoint *endpoint, const struct wh_closing_packet *closing_packet)
{
	const struct wh_session *leaving = closing_packet->leaving;
	struct wh_closing_packet *noted =
		&endpoint->closing_packet[wh_place_of(endpoint, closing_packet->cid)];

	*noted = *closing_packet;
	noted->leaving = NULL;
	leaving->receive_seal.ops->keep(&leaving->receive_seal, &noted->seal);
	noted->next_release = leaving->heard[WH_PACKET_RELEASE].end;
	noted->next_report = leaving->heard[leaving->role == WH_RECEIVER ? WH_PACKET_TRANS_REPORT
									 : WH_PACKET_RCV_REPORT]
				     .end;
}

static void take_closing_packets(struct wh_endpoint *endpoint)
{
	struct wh_slot *slot;

	while ((slot = wh_slot_fifo_peek(&endpoint->closing_packets)) != NULL) {
		note_closing_packet(endpoint, (const struct wh_closing_packet *)slot->data);
		wh_slot_fifo_release(&endpoint->closing_packets);
	}
}

/*
 * Whether the peer still behaves as if it had not received the last packet: it repeats a reply or a
 * request, or still sends reports after an abort or a reply.
 */
static bool has_not_heard(
	const struct wh_closing_packet *closing_packet, const struct wh_packet *packet)
{
	if (packet->type == WH_PACKET_RELEASE)
		return packet->release.stage == WH_RELEASE_REPLY ||
		       packet->release.stage == WH_RELEASE_REQUEST;
	return closing_packet->stage != WH_RELEASE_DONE &&
	       (packet->type == WH_PACKET_RCV_REPORT || packet->type == WH_PACKET_TRANS_REPORT);
}

/* Whether a packet is no replay. Without authentication replays cannot be detected. */
static bool is_later(struct wh_closing_packet *closing_packet, const struct wh_packet *packet)
{
	uint64_t *next = packet->type == WH_PACKET_RELEASE ? &closing_packet->next_release
							   : &closing_packet->next_report;

	if (!closing_packet->seal.ops->encrypts)
		return true;
	if (packet->pn < *next)
		return false;
	*next = packet->pn + 1;
	return true;
}

/*
 * Answers the peer of a session that has left; false: the packet is of no such peer, or needs no
 * answer.
 */
static bool repeat_closing_packet(struct wh_endpoint *endpoint, uint8_t *bytes, size_t length,
	const struct wh_address *from, struct wh_packet *packet)
{
	struct wh_closing_packet *closing_packet =
		&endpoint->closing_packet[wh_place_of(endpoint, packet->cid)];

	take_closing_packets(endpoint); /* sent since this turn began */
	if (closing_packet->cid == 0 || closing_packet->cid != packet->cid ||
		(closing_packet->peer.family != 0 &&
			!wh_address_equal(&closing_packet->peer, from)) ||
		wh_seal_open_packet(&closing_packet->seal, bytes, length) != WH_WIRE_OK ||
		wh_packet_read(bytes, length, packet) != WH_WIRE_OK ||
		!has_not_heard(closing_packet, packet) || !is_later(closing_packet, packet))
		return false;
	endpoint->stats.repeated_closings++;
	wh_strays_reply(endpoint, closing_packet->packet, sizeof(closing_packet->packet), from);
	return true;
}

/* Encodes the last packet once more, with a new packet number, sealed while the seal exists. */
static void write_closing_packet(
	struct wh_session *session, struct wh_closing_packet *closing_packet)
{
	struct wh_packet again = {
		.type = WH_PACKET_RELEASE,
		.cid = session->peer_cid,
		.pn = session->control_pn[WH_PACKET_RELEASE]++,
	};

	wh_release_fill(session, session->last_word, &again.release);

	uint32_t length =
		wh_packet_encode(&again, closing_packet->packet, sizeof(closing_packet->packet));

	WH_ASSERT(length == sizeof(closing_packet->packet));
	wh_seal_close_packet(&session->send_seal, closing_packet->packet, length);
}

/* Records for the RX core what it needs of a session that leaves either half. */
static void say_closing_packet(struct wh_endpoint *endpoint, struct wh_session *session)
{
	struct wh_closing_packet closing_packet = {
		.cid = session->local_cid,
		.stage = session->last_word,
		.leaving = session,
	};

	if (!session->config.peer_moves || session->sa == NULL)
		closing_packet.peer = *wh_peer_address_now(&session->peer);
	if (session->last_word == 0 || !wh_sealing_is_ready(session))
		return;
	write_closing_packet(session, &closing_packet);
	if (session->role == WH_RECEIVER) {
		note_closing_packet(endpoint, &closing_packet);
		return;
	}

	struct wh_slot *slot = wh_slot_fifo_reserve(&endpoint->closing_packets);

	if (slot == NULL)
		return;
	memcpy(slot->data, &closing_packet, sizeof(closing_packet));
	slot->bytes = sizeof(closing_packet);
	wh_slot_fifo_commit(&endpoint->closing_packets);
}

/* A packet of no session: of a probe or a handshake, from anybody. */
static enum wh_wire_reason take_stray(struct wh_endpoint *endpoint, uint64_t now_tsc,
	uint64_t arrived_tsc, uint8_t *bytes, size_t length, const struct wh_address *from,
	struct wh_packet *packet)
{
	uint8_t answer[WH_CONTROL_BYTES_MAX];
	uint32_t answer_bytes;
	enum wh_wire_reason reason =
		wh_is_handshake(packet) ? wh_strays_input(endpoint, now_tsc, bytes, length, from,
						  packet, answer, &answer_bytes)
					: wh_probes_input(endpoint, now_tsc, arrived_tsc, bytes,
						  length, from, packet, answer, &answer_bytes);

	if (answer_bytes > 0)
		wh_strays_reply(endpoint, answer, answer_bytes, from);
	return reason;
}

/*
 * The head, not authenticated yet, tells where in its chunk the payload belongs. The payload is
 * written there while the packet is opened.
 */
static enum wh_wire_reason input_data(const struct wh_endpoint *endpoint,
	struct wh_session *session, uint64_t now_tsc, uint64_t arrived_tsc, uint8_t *bytes,
	size_t length, struct wh_packet *packet)
{
	enum wh_wire_reason fields = wh_packet_read(bytes, length, packet);
	struct wh_rx_slot rx_slot = {.to = NULL};

	if (!wh_sealing_is_ready(session))
		return WH_WIRE_KEY;
	if (fields == WH_WIRE_OK)
		wh_session_place(session, packet, &rx_slot);

	enum wh_wire_reason opened = wh_seal_open(&session->receive_seal, bytes, length,
		rx_slot.to != NULL ? rx_slot.to : bytes + WH_HEAD_BYTES);

	if (opened != WH_WIRE_OK)
		return opened;
	if (fields == WH_WIRE_OK && wh_session_is_first(session, packet)) {
		wh_session_looked(session, endpoint->looked_tsc);
		wh_session_take(&rx_slot, now_tsc, arrived_tsc);
	}
	return fields;
}

/*
 * An unsealed ACCEPT to a session under an SA: the peer has lost the SA, or somebody forged the
 * packet. The session continues; the handshake core sees the flag `hinted`.
 */
static enum wh_wire_reason take_hint(struct wh_endpoint *endpoint, struct wh_session *session,
	uint8_t *bytes, size_t length, struct wh_packet *packet)
{
	enum wh_wire_reason reason = wh_seal_open_packet(&wh_seal_to_listener, bytes, length);

	if (reason == WH_WIRE_OK)
		reason = wh_packet_read(bytes, length, packet);
	if (reason != WH_WIRE_OK)
		return reason;
	if (packet->accept.refused == WH_STATUS_NO_SA) {
		endpoint->stats.hints++;
		atomic_store(&session->sa->hinted, true);
	}
	return WH_WIRE_OK;
}

/* ACCEPT arrives before the seal of its session exists. */
static enum wh_wire_reason open_accept(struct wh_session *session, uint8_t *bytes, size_t length)
{
	struct wh_seal seal;

	/* A receiver expects no ACCEPT and has no key for it. */
	if (session->sa != NULL && session->role != WH_TRANSMITTER)
		return WH_WIRE_KEY;
	if (session->sa != NULL)
		return wh_gcm_open_packet(wh_sealing_accept_key(session), bytes, length)
			       ? WH_WIRE_OK
			       : WH_WIRE_TAG;
	wh_seal_begin_checksum(&seal, session->local_token);
	return wh_seal_open_packet(&seal, bytes, length);
}

static enum wh_wire_reason input_control(struct wh_endpoint *endpoint, struct wh_session *session,
	uint64_t now_tsc, uint64_t arrived_tsc, uint8_t *bytes, size_t length,
	struct wh_packet *packet)
{
	enum wh_wire_reason reason;

	if (packet->type == WH_PACKET_ACCEPT) {
		if (session->sa != NULL && bytes[WH_KEY_OFFSET] == 0)
			return take_hint(endpoint, session, bytes, length, packet);
		reason = open_accept(session, bytes, length);
	} else {
		reason = wh_sealing_is_ready(session)
				 ? wh_seal_open_packet(&session->receive_seal, bytes, length)
				 : WH_WIRE_KEY;
	}
	if (reason == WH_WIRE_OK)
		reason = wh_packet_read(bytes, length, packet);
	if (reason == WH_WIRE_OK && wh_session_is_first(session, packet))
		wh_session_input(session, now_tsc, arrived_tsc, packet);
	return reason;
}

/* To the session that is addressed; a transmitter's half is kicked. */
static enum wh_wire_reason input_to_session(struct wh_endpoint *endpoint, uint64_t now_tsc,
	uint64_t arrived_tsc, uint8_t *bytes, size_t length, const struct wh_address *from,
	struct wh_packet *packet)
{
	uint32_t place = wh_place_of(endpoint, packet->cid);
	struct wh_session *session = wh_session_at(endpoint, place);

	if (session == NULL || session->local_cid != packet->cid) {
		if (unlikely(endpoint->early.senders > 0) &&
			wh_early_follow(endpoint, arrived_tsc, bytes, length, from))
			return WH_WIRE_OK;
		if (!repeat_closing_packet(endpoint, bytes, length, from, packet))
			endpoint->stats.no_session_pkts++;
		return WH_WIRE_OK;
	}
	if (unlikely(packet->type == WH_PACKET_PATH))
		return wh_moves_input(endpoint, now_tsc, session, bytes, length, from, packet);

	bool elsewhere = !wh_address_equal(wh_peer_address_now(&session->peer), from);

	if (unlikely(elsewhere && !wh_moves_allowed(session, bytes, from))) {
		endpoint->stats.wrong_peer_pkts++;
		return WH_WIRE_OK;
	}

	bool watched = wh_moves_watch(session, elsewhere);
	uint64_t heard_end = unlikely(watched) ? wh_session_heard_end(session, packet) : 0;
	bool data = packet->type == WH_PACKET_DATA || packet->type == WH_PACKET_REPAIR;
	enum wh_wire_reason reason =
		data ? input_data(endpoint, session, now_tsc, arrived_tsc, bytes, length, packet)
		     : input_control(
			       endpoint, session, now_tsc, arrived_tsc, bytes, length, packet);

	if (reason != WH_WIRE_OK)
		return reason;
	if (unlikely(watched) && wh_session_heard_end(session, packet) > heard_end)
		wh_moves_heard(endpoint, now_tsc, session, from);
	if (wh_place_is_receivers(endpoint, place))
		wh_half_activate(endpoint->rx, place);
	else
		wh_half_kick(session->acks != NULL ? endpoint->books : endpoint->tx, place);
	return WH_WIRE_OK;
}

/*
 * Whether a packet comes from an address that may not begin a handshake or probe. Checked before
 * any work is spent on the packet.
 */
static bool is_turned_away(const struct wh_endpoint *endpoint, const struct wh_packet *packet,
	const struct wh_address *from)
{
	bool begins = packet->type == WH_PACKET_ASK ||
		      (packet->type == WH_PACKET_CRYPTO && packet->flags == 0) ||
		      (packet->type == WH_PACKET_PROBE && packet->cid == 0);

	return begins && endpoint->config.may_come != NULL &&
	       !endpoint->config.may_come(endpoint->config.context, from, NULL);
}

void wh_endpoint_input(struct wh_endpoint *endpoint, uint64_t now_tsc, uint64_t arrived_tsc,
	uint8_t *bytes, size_t length, const struct wh_address *from)
{
	uint8_t before = wh_meter_enter(endpoint->config.rx_meter, WH_METER_DECODE);
	struct wh_packet packet;
	enum wh_wire_reason reason = wh_packet_peek(bytes, length, &packet);

	endpoint->stats.packets++;
	if (reason == WH_WIRE_VERSION_UNKNOWN)
		wh_listen_foreign(endpoint, bytes, length, from);
	else if (reason == WH_WIRE_OK &&
		 (packet.type == WH_PACKET_OPEN || packet.type == WH_PACKET_CONFIRM))
		reason = wh_listen_input(
			endpoint, now_tsc, arrived_tsc, bytes, length, from, &packet);
	else if (reason == WH_WIRE_OK && unlikely(is_turned_away(endpoint, &packet, from)))
		endpoint->stats.turned_away_pkts++;
	else if (reason == WH_WIRE_OK && unlikely(wh_is_probe(&packet) || wh_is_handshake(&packet)))
		reason = take_stray(endpoint, now_tsc, arrived_tsc, bytes, length, from, &packet);
	else if (reason == WH_WIRE_OK)
		reason = input_to_session(
			endpoint, now_tsc, arrived_tsc, bytes, length, from, &packet);
	if (reason != WH_WIRE_OK)
		endpoint->stats.bad[reason]++;
	wh_meter_leave(endpoint->config.rx_meter, before);
}

void wh_endpoint_overflowed(struct wh_endpoint *endpoint, uint64_t now_tsc)
{
	wh_intake_overflowed(&endpoint->rx->intake, endpoint->config.hz, now_tsc);
	atomic_store_explicit(&endpoint->overflowed_tsc, now_tsc, memory_order_relaxed);
}

/* A session may leave when its users have closed it and its last packets have been sent. */
bool wh_endpoint_may_leave(const struct wh_session *session)
{
	return session->closing && session->phase == WH_PHASE_CLOSED &&
	       wh_slot_fifo_count(&session->outbox) == 0;
}

/* The session was removed from the table; the other half may use it until its turn ends. */
static void begin_leaving(
	struct wh_leaving *leaving, struct wh_session *session, const struct wh_half *other)
{
	session->gone_turn = atomic_load(&other->turn) + 2;
	session->next = NULL;
	if (leaving->first == NULL)
		leaving->first = session;
	else
		leaving->last->next = session;
	leaving->last = session;
}

static void move_out(struct wh_endpoint *endpoint, struct wh_half *half, struct wh_session *session)
{
	bool receives = half == endpoint->rx;
	uint32_t place = wh_place_of(endpoint, session->local_cid);

	WH_ASSERT(wh_session_at(endpoint, place) == session);
	say_closing_packet(endpoint, session);
	atomic_store(&endpoint->session[place], NULL);
	if (receives && session->landing == NULL)
		half->queued_pkts -= session->rx.peer_queued_pkts;
	wh_half_vacate(half, place);
	if (endpoint->books != NULL)
		session->books_turn = atomic_load(&endpoint->books->turn) + 2;
	begin_leaving(receives ? &endpoint->rx_leaving : &endpoint->tx_leaving, session,
		receives ? endpoint->tx : endpoint->rx);
}

static void take_opened(struct wh_endpoint *endpoint, uint64_t now_tsc, struct wh_session *session);

/*
 * No core uses the session any more. One that is to be opened again leaves its place like a closed
 * one, and is then opened.
 */
static void let_one_go(struct wh_endpoint *endpoint, uint64_t now_tsc, struct wh_session *session)
{
	if (wh_session_begins_anew(session)) {
		wh_connect_leave(session, endpoint->config.sadb);
		take_opened(endpoint, now_tsc, session);
		return;
	}
	WH_ASSERT(endpoint->config.gone != NULL);
	endpoint->config.gone(endpoint->config.context, session);
}

/* Counts as work while a session waits, because the other half's turns come soon. */
static int32_t let_go(struct wh_endpoint *endpoint, uint64_t now_tsc, struct wh_leaving *leaving,
	const struct wh_half *other)
{
	int32_t work = leaving->first != NULL;

	while (leaving->first != NULL && atomic_load(&other->turn) >= leaving->first->gone_turn) {
		struct wh_session *session = leaving->first;

		if (endpoint->books != NULL &&
			atomic_load(&endpoint->books->turn) < session->books_turn)
			break;
		leaving->first = session->next;
		let_one_go(endpoint, now_tsc, session);
	}
	return work;
}

/* Polls the i-th active place of a half, one of its own sessions; true: it stays active. */
static bool look_at(struct wh_endpoint *endpoint, struct wh_half *half, uint32_t i,
	uint64_t now_tsc, int32_t *work)
{
	uint32_t place = half->active[i];
	struct wh_session *session = wh_session_at(endpoint, place);

	if (session == NULL) /* kicked, and removed since */
		return wh_half_stays(half, i, now_tsc, WH_TSC_NEVER);

	if (session->landing != NULL) {
		if (atomic_load_explicit(&session->landing->left, memory_order_acquire))
			move_out(endpoint, half, session);
		else
			wh_half_kick(endpoint->books, place);
		return wh_half_stays(half, i, now_tsc, WH_TSC_NEVER);
	}

	int32_t done = wh_session_poll(session, now_tsc);

	half->polls++;
	*work += done;
	if (half == endpoint->rx && session->outbox_news)
		wh_half_kick(endpoint->tx, place);
	/* There was no room for notes of these, and now there is. */
	if (session->acks != NULL && wh_slot_fifo_count(&session->inbox) > 0)
		wh_half_kick(endpoint->books, place);
	session->outbox_news = false;
	/* Without a place its users kick the half as a whole. */
	if (wh_session_begins_anew(session))
		atomic_store(&session->place, wh_half_unplaced(half));
	if (wh_endpoint_may_leave(session) || wh_session_begins_anew(session)) {
		move_out(endpoint, half, session);
		return wh_half_stays(half, i, now_tsc, WH_TSC_NEVER);
	}
	return wh_half_stays(half, i, now_tsc, done > 0 ? now_tsc : wh_session_deadline(session));
}

static void activate_own(struct wh_endpoint *endpoint, struct wh_half *half)
{
	for (uint32_t i = 0; i < half->places; i++)
		if (wh_session_at(endpoint, half->first + i) != NULL)
			wh_half_activate(half, half->first + i);
}

bool wh_endpoint_has_news_of_sas(const struct wh_endpoint *endpoint, uint32_t seen)
{
	return endpoint->config.sadb != NULL && wh_sadb_news(endpoint->config.sadb) != seen;
}

/* A change of SAs concerns all sessions under them, also resting ones. */
void wh_endpoint_see_sas(struct wh_endpoint *endpoint, struct wh_half *half, uint32_t *seen)
{
	if (likely(!wh_endpoint_has_news_of_sas(endpoint, *seen)))
		return;
	*seen = wh_sadb_news(endpoint->config.sadb);
	activate_own(endpoint, half);
}

/* Processes packets that have waited for their SA. */
static int32_t take_early(struct wh_endpoint *endpoint, uint64_t now_tsc)
{
	struct wh_early_pkt *pkt;
	int32_t work = 0;

	if (!wh_early_begin(endpoint, now_tsc))
		return 0;
	for (; (pkt = wh_early_next(endpoint)) != NULL; work++)
		wh_endpoint_input(endpoint, now_tsc, pkt->arrived_tsc, pkt->packet, pkt->bytes,
			&endpoint->early.replayed.address);
	return work;
}

int32_t wh_endpoint_receive_poll(struct wh_endpoint *endpoint, uint64_t now_tsc)
{
	struct wh_half *half = endpoint->rx;
	int32_t work = 0;

	wh_half_begin_turn(half, now_tsc);
	wh_endpoint_see_sas(endpoint, half, &endpoint->rx_news);
	take_closing_packets(endpoint);
	if (unlikely(endpoint->early.senders > 0))
		work += take_early(endpoint, now_tsc);
	for (uint32_t i = 0; i < half->actives;)
		i += look_at(endpoint, half, i, now_tsc, &work);
	return work + let_go(endpoint, now_tsc, &endpoint->rx_leaving, endpoint->tx);
}

/* Timers start here, since the session may have been created at an earlier time. */
static void take_opened(struct wh_endpoint *endpoint, uint64_t now_tsc, struct wh_session *session)
{
	struct wh_half *half = endpoint->tx;
	bool closed = session->phase == WH_PHASE_CLOSED;
	uint32_t place = closed ? WH_HALF_FULL : wh_half_offer(half);

	if (place != WH_HALF_FULL) {
		uint64_t cid = wh_endpoint_draw(endpoint, WH_DRAW_CID, &endpoint->tx_draws,
			wh_peer_address_now(&session->peer));
		uint64_t token = wh_endpoint_draw(endpoint, WH_DRAW_TOKEN, &endpoint->tx_draws,
			wh_peer_address_now(&session->peer));

		wh_connect_begin(session, now_tsc, wh_endpoint_cid_at(endpoint, place, cid), token);
		wh_endpoint_offer_reply(endpoint, now_tsc, session);
		if (session->sa != NULL)
			wh_sealing_expect(session, wh_endpoint_about(token));
		wh_connect_take_offer(session, now_tsc, endpoint->config.queue);
		wh_endpoint_move_in(endpoint, half, session, endpoint->config.tx_meter);
		return;
	}
	wh_connect_refuse(session, now_tsc);
	session->next = endpoint->unplaced;
	endpoint->unplaced = session;
}

/* Sessions that got no place only wait to be closed. */
static void look_at_unplaced(struct wh_endpoint *endpoint, uint64_t now_tsc)
{
	struct wh_session **link = &endpoint->unplaced;

	while (*link != NULL) {
		struct wh_session *session = *link;

		wh_session_poll(session, now_tsc);
		if (!wh_endpoint_may_leave(session)) {
			link = &session->next;
			continue;
		}
		*link = session->next;
		begin_leaving(&endpoint->tx_leaving, session, endpoint->rx);
	}
}

static int32_t take_all_opened(struct wh_endpoint *endpoint, uint64_t now_tsc)
{
	void *sessions[OPENED_PER_TURN];
	uint32_t count =
		rte_ring_sc_dequeue_burst(endpoint->opened, sessions, OPENED_PER_TURN, NULL);

	for (uint32_t i = 0; i < count; i++)
		take_opened(endpoint, now_tsc, sessions[i]);
	if (count > 0)
		look_at_unplaced(endpoint, now_tsc);
	return (int32_t)count;
}

/* After a kick of the half as a whole: a user asked something of a session without a place. */
static void look_at_all(struct wh_endpoint *endpoint, uint64_t now_tsc)
{
	activate_own(endpoint, endpoint->tx);
	look_at_unplaced(endpoint, now_tsc);
}

/* The send half handles only the outbox of a receiver. */
static bool has_output(const struct wh_endpoint *endpoint, uint32_t place)
{
	const struct wh_session *session = wh_session_at(endpoint, place);

	return session != NULL && wh_slot_fifo_count(&session->outbox) > 0;
}

int32_t wh_endpoint_send_poll(struct wh_endpoint *endpoint, uint64_t now_tsc)
{
	struct wh_half *half = endpoint->tx;
	bool kicked_at_large = wh_half_begin_turn(half, now_tsc);
	int32_t work = take_all_opened(endpoint, now_tsc);

	wh_endpoint_see_sas(endpoint, half, &endpoint->tx_news);
	work += wh_probes_poll(endpoint, now_tsc);
	if (kicked_at_large)
		look_at_all(endpoint, now_tsc);
	for (uint32_t i = 0; i < half->actives;) {
		uint32_t place = half->active[i];

		if (wh_place_is_receivers(endpoint, place))
			i += wh_half_stays(half, i, now_tsc,
				has_output(endpoint, place) ? now_tsc : WH_TSC_NEVER);
		else
			i += look_at(endpoint, half, i, now_tsc, &work);
	}
	return work + let_go(endpoint, now_tsc, &endpoint->tx_leaving, endpoint->rx);
}

int wh_endpoint_open(struct wh_endpoint *endpoint, struct wh_session *session)
{
	WH_ASSERT(session->role == WH_TRANSMITTER && session->local_cid == 0);
	atomic_store(&session->place, wh_half_unplaced(endpoint->tx));
	atomic_store(&session->half, endpoint->tx);
	if (rte_ring_mp_enqueue(endpoint->opened, session) == 0)
		return 0;
	atomic_store(&session->half, NULL);
	return -ENOBUFS;
}

uint32_t wh_endpoint_output(
	struct wh_endpoint *endpoint, uint64_t now_tsc, struct wh_out *out, uint32_t count)
{
	uint8_t before = wh_meter_enter(endpoint->config.tx_meter, WH_METER_TRANS);
	const struct wh_half *half = endpoint->tx;
	uint32_t sent = wh_strays_output(endpoint, out, count);

	for (uint32_t i = 0; i < half->actives; i++) {
		uint32_t place = half->active[(endpoint->next_turn + i) % half->actives];
		struct wh_session *session = wh_session_at(endpoint, place);

		if (session != NULL)
			sent += wh_session_output(session, now_tsc, &out[sent], count - sent);
	}
	endpoint->next_turn++;
	sent += wh_probes_output(endpoint, now_tsc, &out[sent], count - sent);
	wh_meter_leave(endpoint->config.tx_meter, before);
	return sent;
}

uint64_t wh_endpoint_receive_deadline(const struct wh_endpoint *endpoint)
{
	const struct wh_half *half = endpoint->rx;
	uint64_t deadline_tsc = wh_half_deadline(half);

	if (endpoint->rx_leaving.first != NULL ||
		wh_endpoint_has_news_of_sas(endpoint, endpoint->rx_news))
		return 0;
	if (endpoint->early.senders > 0)
		deadline_tsc = wh_min_u64(deadline_tsc, endpoint->early.next_look_tsc);
	for (uint32_t i = 0; i < half->actives; i++) {
		const struct wh_session *session = wh_session_at(endpoint, half->active[i]);

		if (session != NULL && session->landing != NULL)
			return 0; /* to be passed on */
		if (session != NULL)
			deadline_tsc = wh_min_u64(deadline_tsc, wh_session_deadline(session));
	}
	return deadline_tsc;
}

uint64_t wh_endpoint_send_deadline(const struct wh_endpoint *endpoint)
{
	const struct wh_half *half = endpoint->tx;
	uint64_t deadline_tsc = wh_min_u64(wh_half_deadline(half), wh_probes_deadline(endpoint));

	if (endpoint->tx_leaving.first != NULL || wh_strays_wait(endpoint) ||
		wh_endpoint_has_news_of_sas(endpoint, endpoint->tx_news) ||
		wh_ring_count(endpoint->opened) > 0)
		return 0;
	for (uint32_t i = 0; i < half->actives; i++) {
		uint32_t place = half->active[i];

		if (has_output(endpoint, place))
			return 0;
		if (!wh_place_is_receivers(endpoint, place) &&
			wh_session_at(endpoint, place) != NULL)
			deadline_tsc = wh_min_u64(
				deadline_tsc, wh_session_deadline(wh_session_at(endpoint, place)));
	}
	return deadline_tsc;
}

uint64_t wh_endpoint_bad_pkts(const struct wh_endpoint *endpoint)
{
	const struct wh_endpoint_stats *stats = &endpoint->stats;
	uint64_t bad_pkts = stats->no_session_pkts + stats->wrong_peer_pkts +
			    stats->bad_cookie_pkts + endpoint->answerer.stats.bad_cookie_pkts;

	for (uint32_t i = WH_WIRE_OK + 1; i < WH_WIRE_REASONS; i++)
		bad_pkts += stats->bad[i];
	return bad_pkts;
}
