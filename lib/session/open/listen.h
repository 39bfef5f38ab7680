/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_SESSION_OPEN_LISTEN_H
#define WH_SESSION_OPEN_LISTEN_H

/*
 * What an endpoint has to do with ends that it has no session with yet, on the RX core: OPEN and
 * CONFIRM, under a bond or without one, and packets of other versions. And what the files of an
 * endpoint share.
 */

#include "session/endpoint.h"

static inline uint32_t wh_place_of(const struct wh_endpoint *endpoint, uint32_t lci)
{
	return lci & (endpoint->config.places - 1);
}

static inline bool wh_place_is_receivers(const struct wh_endpoint *endpoint, uint32_t place)
{
	return place < endpoint->config.places / 2;
}

static inline struct wh_session *wh_session_at(const struct wh_endpoint *endpoint, uint32_t place)
{
	return atomic_load_explicit(&endpoint->session[place], memory_order_acquire);
}

/* What a number is drawn for; each has numbers of its own. */
enum wh_draw {
	WH_DRAW_OFFER,
	WH_DRAW_LCI,
	WH_DRAW_TOKEN,
};

/*
 * For a peer: nobody without the secret can tell it from noise, nor who knows all that were drawn
 * for others, be it by another endpoint with this secret.
 */
uint64_t wh_endpoint_draw(const struct wh_endpoint *endpoint, enum wh_draw what, uint64_t *draws,
	const struct wh_address *peer);

/* Of a place, with random bits above. Not 0. */
uint32_t wh_endpoint_lci_at(const struct wh_endpoint *endpoint, uint32_t place, uint64_t random);

/*
 * A session moves into its place, for all to see. First it learns whom to tell of wishes and then
 * it is looked at, so that one asked for in this very moment is seen in one way or the other.
 */
void wh_endpoint_move_in(struct wh_endpoint *endpoint, struct wh_half *half,
	struct wh_session *session, struct wh_meter *meter);

/* What the keys of a session under a bond come of: all that its two ends have said to open it. */
void wh_sealing_derive(const struct wh_bond *bond, uint32_t acceptor_lci,
	const uint8_t cookie[WH_COOKIE_BYTES], const struct wh_open_params *params,
	struct wh_seal_secret *secret);

/* What an ACCEPT of one of these ends to the other is about, under their bond. Not 0. */
uint64_t wh_endpoint_about(const struct wh_endpoint *endpoint, uint64_t token,
	const struct wh_address *initiator, const struct wh_address *acceptor);

/* Under which that peer knows this end. */
static inline const struct wh_address *wh_endpoint_own(
	const struct wh_endpoint *endpoint, const struct wh_address *peer)
{
	return &endpoint->config.own[peer->family == WH_IPV6];
}

/* An OPEN or a CONFIRM that has been peeked at: a stranger's packet, and his own means. */
enum wh_wire_reason wh_listen_input(struct wh_endpoint *endpoint, uint64_t now_tsc,
	uint64_t arrived_tsc, uint8_t *bytes, size_t length, const struct wh_address *from,
	struct wh_packet *packet);

/* Ends of different versions: the one that opens is told, and hears it. */
void wh_listen_foreign(struct wh_endpoint *endpoint, const uint8_t *bytes, size_t length,
	const struct wh_address *from);

#endif
