/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Handling of peers without a session, on the RX core: OPEN and CONFIRM, under an SA or without
 * one, and packets of other versions. Also declares what the files of an endpoint share.
 */

#include "endpoint/endpoint.h"

static inline uint32_t wh_place_of(const struct wh_endpoint *endpoint, uint32_t cid)
{
	return cid & (endpoint->config.places - 1);
}

static inline bool wh_place_is_receivers(const struct wh_endpoint *endpoint, uint32_t place)
{
	return place < endpoint->config.places / 2;
}

static inline struct wh_session *wh_session_at(const struct wh_endpoint *endpoint, uint32_t place)
{
	return atomic_load_explicit(&endpoint->session[place], memory_order_acquire);
}

/* Purpose of a drawn number; numbers of different purposes are independent. */
enum wh_draw {
	WH_DRAW_OFFER,
	WH_DRAW_CID,
	WH_DRAW_TOKEN,
	WH_DRAW_PATH,
	WH_DRAW_REPLY,
};

/*
 * A pseudo-random number for a peer: without the secret it cannot be predicted, not even from all
 * numbers drawn for others, or by another endpoint with the same secret.
 */
uint64_t wh_endpoint_draw(const struct wh_endpoint *endpoint, enum wh_draw what, uint64_t *draws,
	const struct wh_address *peer);

/* A connection ID for a place, with random bits above it. Not 0. */
uint32_t wh_endpoint_cid_at(const struct wh_endpoint *endpoint, uint32_t place, uint64_t random);

/*
 * Any core: offers a place of a receiver to a peer whose address is proved, or will be before it
 * hears of the offer. Costs no memory; who confirms is admitted like everybody.
 */
void wh_endpoint_offer(const struct wh_endpoint *endpoint, uint64_t now_tsc, uint32_t place,
	uint64_t random, const struct wh_address *peer, uint32_t *cid,
	uint8_t cookie[WH_COOKIE_BYTES]);

/*
 * TX core: the session to be opened says where its reply may begin, unless that place is taken. The
 * RX core offers other places, as long as there are many.
 */
void wh_endpoint_offer_reply(
	struct wh_endpoint *endpoint, uint64_t now_tsc, struct wh_session *session);

/*
 * Publishes a session in its place. The session first learns which half to kick and is activated
 * last, so that a user's wish at the same time is seen either way.
 */
void wh_endpoint_move_in(struct wh_endpoint *endpoint, struct wh_half *half,
	struct wh_session *session, struct wh_meter *meter);

/*
 * The number that binds an ACCEPT to its OPEN under an SA: the token drawn for this opening, which
 * OPEN tells sealed. So it opens in that process and for that opening alone, whatever address it
 * was sent to. Not 0, as of OPEN itself.
 */
static inline uint64_t wh_endpoint_about(uint64_t initiator_token)
{
	return initiator_token != 0 ? initiator_token : 1;
}

/* RX core: whether a stranger may be sent a hint now. *next_tsc: when the next of its kind may. */
bool wh_endpoint_may_hint(struct wh_endpoint *endpoint, uint64_t now_tsc, uint64_t *next_tsc);

/* An OPEN or CONFIRM, already peeked at. May come from anybody. */
enum wh_wire_reason wh_listen_input(struct wh_endpoint *endpoint, uint64_t now_tsc,
	uint64_t arrived_tsc, uint8_t *bytes, size_t length, const struct wh_address *from,
	struct wh_packet *packet);

/* A packet of another version: an initiator is sent ours, an answer to us is processed. */
void wh_listen_foreign(struct wh_endpoint *endpoint, const uint8_t *bytes, size_t length,
	const struct wh_address *from);
