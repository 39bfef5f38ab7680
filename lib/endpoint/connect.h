/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Three-way open: OPEN, ACCEPT with cookie, CONFIRM; like SCTP's INIT, INIT ACK, COOKIE ECHO (RFC
 * 9260). The listener answers from the packet and a secret alone and keeps no state before the
 * cookie has proved the peer's address. The initiator sends data right after CONFIRM, and repeats
 * CONFIRM until the first receiver report arrives. The first session of two processes begins with
 * CONFIRM: its cookie came with their handshake. So does a reply: its cookie came with the session
 * that it replies to.
 */

#include <stdbool.h>
#include <stdint.h>

#include "wire/cookie.h"
#include "wire/versions.h"

/*
 * Lifetime of a cookie: a few of the longest round trips. An initiator repeats its CONFIRM for no
 * longer. If the peer then turns out not to have the session (missing.c), it is opened again.
 */
#define WH_COOKIE_LIFETIME_S 5

/* A session that was offered without OPEN has at least this many buffers. */
#define WH_OFFERED_CHUNKS 4

struct wh_sadb;
struct wh_session;

struct wh_listener {
	uint64_t hz;
	uint32_t queue; /* cookies of one queue are not valid at another */
	uint8_t key[WH_SIPHASH_KEY_BYTES];
};

/* A listener's answer to an initiator. */
struct wh_offer {
	uint32_t cid;                   /* address of the future connection; 0: none */
	uint32_t buffer_chunks;         /* buffers of the future connection */
	enum wh_release_status refused; /* WH_STATUS_PENDING: not refused */
};

/* The answer to an OPEN, whose stamp it echoes, or to a CONFIRM that comes too late. */
void wh_listener_accept(const struct wh_listener *listener, uint64_t now_tsc,
	const struct wh_open_params *params, uint32_t stamp_us, const struct wh_address *peer,
	const struct wh_offer *offer, struct wh_packet *accept);

/*
 * Whether CONFIRM has a valid cookie of ours: of an ACCEPT, or of a session that was offered
 * without OPEN. *rtt_tsc is the cookie's age.
 */
bool wh_listener_confirmed(const struct wh_listener *listener, uint64_t now_tsc,
	const struct wh_confirm *confirm, bool offered, const struct wh_address *peer,
	uint64_t *rtt_tsc);

/*
 * A transmitter starts to open its connection: it gets a connection ID and a token, and its timers
 * start. For endpoints, and for users that drive a session without one.
 */
void wh_connect_begin(
	struct wh_session *session, uint64_t now_tsc, uint32_t local_cid, uint64_t local_token);

/*
 * After wh_connect_begin, in that queue: if it or its SA has an offer of a session with this peer,
 * takes it and continues as if an OPEN had been accepted.
 */
void wh_connect_take_offer(struct wh_session *session, uint64_t now_tsc, uint32_t queue);

/*
 * A session to be opened again (session->anew) has left its place, and no core polls it: clears its
 * identifiers and keys, and moves it to the SA that replaced its own, if any.
 */
void wh_connect_leave(struct wh_session *session, struct wh_sadb *sadb);

/*
 * RX core: an answer to an OPEN says that the peer speaks other versions. If it names our OPEN, the
 * connection ends when the next OPEN would be sent. It does not end at once, since anybody on the
 * path may have forged the answer: an ACCEPT may still arrive. Under an SA it is only a hint.
 */
void wh_connect_hear_versions(struct wh_session *session, const struct wh_versions *versions);
