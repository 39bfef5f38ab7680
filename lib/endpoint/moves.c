/* SPDX-License-Identifier: BSD-3-Clause */
#include "endpoint/moves.h"

#include "endpoint/listen.h"
#include "endpoint/strays.h"

#define ASK_MS  50
#define MOVE_MS 1000

/* To the sender of the packet received last, and no longer than that. */
static void send_path(struct wh_endpoint *endpoint, const struct wh_session *session, uint8_t flags,
	uint64_t token, const struct wh_address *to)
{
	uint8_t bytes[WH_HEAD_BYTES];
	struct wh_packet packet = {
		.type = WH_PACKET_PATH,
		.flags = flags,
		.cid = __atomic_load_n(&session->peer_cid, __ATOMIC_RELAXED),
		.pn = wh_sa_next_pn(session->sa),
		.path = {.token = token},
	};
	uint32_t length = wh_packet_encode(&packet, bytes, sizeof(bytes));

	if (wh_sa_close(session->sa, 0, bytes, length))
		wh_strays_reply(endpoint, bytes, length, to);
}

void wh_moves_heard(struct wh_endpoint *endpoint, uint64_t now_tsc, struct wh_session *session,
	const struct wh_address *from)
{
	struct wh_peer_address *peer = &session->peer;

	if (wh_address_equal(wh_peer_address_now(&session->peer), from)) {
		peer->candidate.family = 0;
		return;
	}
	if (!wh_address_equal(&peer->candidate, from)) {
		peer->candidate = *from;
		peer->token = wh_endpoint_draw(endpoint, WH_DRAW_PATH, &endpoint->rx_draws, from);
	}
	if (now_tsc < peer->next_ask_tsc)
		return;
	peer->next_ask_tsc = now_tsc + wh_session_ms_tsc(session, ASK_MS);
	if (endpoint->config.may_come != NULL &&
		!endpoint->config.may_come(endpoint->config.context, from, session->sa)) {
		endpoint->stats.turned_away_pkts++;
		return;
	}
	send_path(endpoint, session, 0, peer->token, from);
}

/*
 * The TX core may use the address for the rest of its turn; the other one, which is overwritten
 * now, it has not used since the last move.
 */
static bool may_move(
	const struct wh_endpoint *endpoint, const struct wh_session *session, uint64_t now_tsc)
{
	return now_tsc >= session->peer.next_move_tsc &&
	       atomic_load(&endpoint->tx->turn) >= session->peer.turn;
}

static void move(const struct wh_endpoint *endpoint, struct wh_session *session, uint64_t now_tsc,
	const struct wh_address *to)
{
	struct wh_peer_address *peer = &session->peer;
	uint32_t other = !atomic_load_explicit(&peer->index, memory_order_relaxed);

	peer->at[other] = *to;
	atomic_store_explicit(&peer->index, other, memory_order_release);
	peer->candidate.family = 0;
	peer->next_move_tsc = now_tsc + wh_session_ms_tsc(session, MOVE_MS);
	peer->turn = atomic_load(&endpoint->tx->turn) + 2;
}

/* Those that are opened at this moment have no packet of the client that could tell. */
static void move_all(struct wh_endpoint *endpoint, uint64_t now_tsc, const struct wh_sa *sa,
	const struct wh_address *from, const struct wh_address *to)
{
	for (uint32_t place = 0; place < endpoint->config.places; place++) {
		struct wh_session *session = wh_session_at(endpoint, place);

		if (session != NULL && session->config.peer_moves && session->sa == sa &&
			wh_address_equal(wh_peer_address_now(&session->peer), from) &&
			may_move(endpoint, session, now_tsc))
			move(endpoint, session, now_tsc, to);
	}
	endpoint->stats.moves++;
}

enum wh_wire_reason wh_moves_input(struct wh_endpoint *endpoint, uint64_t now_tsc,
	struct wh_session *session, uint8_t *bytes, size_t length, const struct wh_address *from,
	struct wh_packet *packet)
{
	const struct wh_peer_address *peer = &session->peer;
	const struct wh_address now_at = *wh_peer_address_now(peer);
	bool answers = (packet->flags & WH_FLAG_ANSWER) != 0;
	/* The server challenges from where it has always been. */
	bool expected = answers ? wh_address_equal(&peer->candidate, from)
				: !session->config.peer_moves && wh_address_equal(&now_at, from);

	if (session->sa == NULL || bytes[WH_KEY_OFFSET] == 0)
		return WH_WIRE_KEY;
	if (!expected) {
		endpoint->stats.wrong_peer_pkts++;
		return WH_WIRE_OK;
	}
	if (!wh_sa_open(session->sa, 0, bytes, length))
		return WH_WIRE_TAG;

	enum wh_wire_reason reason = wh_packet_read(bytes, length, packet);

	if (reason != WH_WIRE_OK)
		return reason;
	if (!answers)
		send_path(endpoint, session, WH_FLAG_ANSWER, packet->path.token, from);
	else if (packet->path.token == peer->token && may_move(endpoint, session, now_tsc))
		move_all(endpoint, now_tsc, session->sa, &now_at, from);
	return WH_WIRE_OK;
}
