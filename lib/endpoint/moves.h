/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * The address of a client changes while its sessions run: a translator gives it another port, or
 * its host joins another network. The server's sessions follow it (config.peer_moves), as in QUIC
 * (RFC 9000, 8.2 and 9). All is of the RX core:
 *
 *   1. A packet of the session comes from elsewhere, sealed, and is newer than all others of its
 *      type. It counts like any. The address becomes the candidate.
 *   2. A challenge goes there (WH_PACKET_PATH), one for a packet at most, and no longer than it.
 *      Everything else still goes to the old address.
 *   3. The answer comes from there: the session moves, and with it all sessions under its SA that
 *      were at the old address.
 *
 * A newest packet from the old address ends the candidacy: so somebody who copies packets from an
 * address of his own must be faster than the path with each of them. If he is, he has become a
 * router; the true path wins back as soon as he is not. A session challenges twenty times and moves
 * once a second at most.
 */

#include "endpoint/endpoint.h"
#include "session/session_internal.h"

/*
 * Whether a packet to this session may come from another address than its peer's; of the same
 * family, since its packets fill the MTU of that.
 */
static inline bool wh_moves_allowed(
	const struct wh_session *session, const uint8_t *bytes, const struct wh_address *from)
{
	return session->config.peer_moves && session->sa != NULL && bytes[WH_KEY_OFFSET] != 0 &&
	       from->family == wh_peer_address_now(&session->peer)->family;
}

/* Whether the session's newest packets matter for its peer's address. */
static inline bool wh_moves_watch(const struct wh_session *session, bool from_elsewhere)
{
	return from_elsewhere || session->peer.candidate.family != 0;
}

/* A packet, newer than all others of its type, was authenticated. */
void wh_moves_heard(struct wh_endpoint *endpoint, uint64_t now_tsc, struct wh_session *session,
	const struct wh_address *from);

/* WH_PACKET_PATH, already peeked at: answers the server's challenge, or takes a client's answer. */
enum wh_wire_reason wh_moves_input(struct wh_endpoint *endpoint, uint64_t now_tsc,
	struct wh_session *session, uint8_t *bytes, size_t length, const struct wh_address *from,
	struct wh_packet *packet);
