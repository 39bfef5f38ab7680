/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_SESSION_HANDSHAKE_H
#define WH_SESSION_HANDSHAKE_H

/*
 * Three-way open: OPEN, ACCEPT with cookie, CONFIRM. The listener answers from the packet and a
 * secret alone and keeps no state before the cookie has proved the peer's address. The
 * initiator sends data right after CONFIRM, and repeats CONFIRM until the first state arrives.
 * What two processes open first begins with CONFIRM: its cookie came with their greeting.
 */

#include <stdbool.h>
#include <stdint.h>

#include "wire/cookie.h"
#include "wire/versions.h"

/*
 * For so long a cookie opens a connection: a few of the longest round trips. An initiator goes on
 * with its CONFIRM for no longer, and then asks anew, until its peer timeout is over.
 */
#define WH_COOKIE_LIFETIME_S 5

/*
 * Of a session that was offered before anything was known of it: it has so many buffers at least.
 */
#define WH_OFFERED_CHUNKS 2

struct wh_bonds;
struct wh_session;

struct wh_listener {
	uint64_t hz;
	uint32_t queue; /* whose cookies open nothing elsewhere */
	uint8_t key[WH_SIPHASH_KEY_BYTES];
};

/* What a listener has for an initiator. */
struct wh_offer {
	uint32_t lci;                   /* that would address the connection; 0: none is told */
	uint32_t buffer_chunks;         /* that it would have */
	enum wh_release_status refused; /* WH_STATUS_PENDING: welcome */
};

/*
 * The answer to OPEN (whose stamp it echoes), or to a CONFIRM that comes too late.
 */
void wh_listener_accept(const struct wh_listener *listener, uint64_t now_tsc,
	const struct wh_open_params *params, uint32_t stamp_us, const struct wh_address *peer,
	const struct wh_offer *offer, struct wh_packet *accept);

/* Whether CONFIRM carries a cookie of ours; *rtt_tsc says how old it is. */
bool wh_listener_confirmed(const struct wh_listener *listener, uint64_t now_tsc,
	const struct wh_confirm *confirm, const struct wh_address *peer, uint64_t *rtt_tsc);

/* The same of one that a greeting has offered. */
bool wh_listener_offered(const struct wh_listener *listener, uint64_t now_tsc,
	const struct wh_confirm *confirm, const struct wh_address *peer, uint64_t *rtt_tsc);

/*
 * A transmitter's end begins to open its connection: it has an LCI and a token, and its timers
 * start. For endpoints, and for who drives a session without one.
 */
void wh_handshake_begin(
	struct wh_session *session, uint64_t now_tsc, uint32_t local_lci, uint64_t local_token);

/*
 * It has begun, in that queue: where its bond has the offer of a session with this peer it takes
 * that, and is as far as if it had asked and was accepted.
 */
void wh_handshake_take_offer(struct wh_session *session, uint64_t now_tsc, uint32_t queue);

/*
 * One that is to begin anew (session->anew) has left its place, and no core looks at it: nothing is
 * left of its identifiers and keys, and its bond is the one that took the place of its own, if any.
 */
void wh_handshake_leave(struct wh_session *session, struct wh_bonds *bonds);

/*
 * RX core: the answer to an OPEN says that the peer speaks other versions. If it knows which OPEN,
 * the connection ends when the next one would be sent, unless an ACCEPT came before: anybody on the
 * way may have made such an answer up. Under a bond it is a hint, which ends nothing.
 */
void wh_handshake_hear_versions(struct wh_session *session, const struct wh_versions *versions);

#endif
