/* SPDX-License-Identifier: BSD-3-Clause */

/* Places of an endpoint: the numbers drawn for them, and moving in. The rate of hints. */

#include <string.h>

#include "base/clock.h"
#include "endpoint/listen.h"
#include "endpoint/turn.h"

/*
 * Most hints per second of each kind. One kind is for peers that name an unknown SA, or need one
 * and have none; the other for peers whose handshake is unknown. Hints are not authenticated.
 */
#define HINTS_PER_S 1000

uint64_t wh_endpoint_draw(const struct wh_endpoint *endpoint, enum wh_draw what, uint64_t *draws,
	const struct wh_address *peer)
{
	struct {
		uint64_t what;
		uint64_t number;
		uint64_t family;
		uint64_t port;
		uint8_t ip[sizeof(peer->ip)];
	} message = {what, (*draws)++, peer->family, peer->port, {0}};

	memcpy(message.ip, peer->ip, sizeof(message.ip));
	return wh_siphash24(endpoint->listener.key, &message, sizeof(message));
}

uint32_t wh_endpoint_cid_at(const struct wh_endpoint *endpoint, uint32_t place, uint64_t random)
{
	uint32_t places = endpoint->config.places;
	uint32_t cid = ((uint32_t)random & ~(places - 1)) | place;

	return cid != 0 ? cid : places;
}

void wh_endpoint_offer(const struct wh_endpoint *endpoint, uint64_t now_tsc, uint32_t place,
	uint64_t random, const struct wh_address *peer, uint32_t *cid,
	uint8_t cookie[WH_COOKIE_BYTES])
{
	*cid = wh_endpoint_cid_at(endpoint, place, random);
	wh_stranger_cookie_make(cookie, endpoint->listener.key, WH_COOKIE_OFFER,
		wh_tsc_to_us(endpoint->config.hz, now_tsc), peer, endpoint->config.queue, *cid);
}

void wh_endpoint_offer_reply(
	struct wh_endpoint *endpoint, uint64_t now_tsc, struct wh_session *session)
{
	const struct wh_address *peer = wh_peer_address_now(&session->peer);
	uint32_t places = endpoint->config.places / 2;
	uint32_t place = places - 1 - endpoint->next_offered++ % places;

	session->params.reply_cid = 0;
	memset(session->params.reply_cookie, 0, WH_COOKIE_BYTES);
	if (session->config.awaits_reply && session->sa != NULL &&
		endpoint->config.accept != NULL && wh_session_at(endpoint, place) == NULL)
		wh_endpoint_offer(endpoint, now_tsc, place,
			wh_endpoint_draw(endpoint, WH_DRAW_REPLY, &endpoint->tx_draws, peer), peer,
			&session->params.reply_cid, session->params.reply_cookie);
}

void wh_endpoint_move_in(struct wh_endpoint *endpoint, struct wh_half *half,
	struct wh_session *session, struct wh_meter *meter)
{
	uint32_t place = wh_place_of(endpoint, session->local_cid);

	bool books = session->landing != NULL;

	WH_ASSERT(session->config.payload_virtual == endpoint->config.payload_virtual);
	WH_ASSERT((!books && session->acks == NULL) || endpoint->books != NULL);
	session->meter = books ? endpoint->config.books_meter : meter;
	wh_half_occupy(half, place);
	atomic_store(&session->place, place);
	atomic_store(&session->half, books ? endpoint->books : half);
	atomic_store_explicit(&endpoint->session[place], session, memory_order_release);
	wh_half_activate(half, place);
}

bool wh_endpoint_may_hint(struct wh_endpoint *endpoint, uint64_t now_tsc, uint64_t *next_tsc)
{
	if (now_tsc < *next_tsc) {
		endpoint->stats.unhinted_pkts++;
		return false;
	}
	*next_tsc = now_tsc + endpoint->config.hz / HINTS_PER_S;
	return true;
}
