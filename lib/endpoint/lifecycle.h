/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * A session from its creation to its end, and its turns: for endpoints, and for users that drive a
 * session without one. session/session.h has what users of a session call.
 */

#include "session/session.h"

/*
 * Creates the transmitter's end, in phase OPENING, on any core; its timers start with
 * wh_endpoint_open. object_bytes may be WH_OBJECT_BYTES_UNKNOWN: a stream that may be idle for any
 * time. NULL: no memory.
 */
struct wh_session *wh_session_open(const struct wh_session_config *config,
	const struct wh_address *peer, const char *name, uint64_t object_bytes);

/*
 * Creates the receiver's end for a valid CONFIRM. local_cid is not 0 and is how the peer
 * addresses it; rtt_tsc is the age of the cookie. NULL: no memory, or OPEN contains options that
 * the profile does not have.
 */
struct wh_session *wh_session_accept(const struct wh_session_config *config, uint64_t now_tsc,
	uint32_t local_cid, const struct wh_address *peer, const struct wh_open_params *params,
	uint64_t rtt_tsc);

/*
 * Before wh_endpoint_open, under the same SA: the session begins where the one that it replies to
 * has offered a place, without an OPEN. Without an offer, or if it came long ago, nothing changes.
 */
void wh_session_reply_to(struct wh_session *reply, const struct wh_session *to);

/* Only when no core uses it: it never was in an endpoint, or the endpoint called `gone`. */
void wh_session_destroy(struct wh_session *session);

/*
 * RX core: an authenticated packet for this session, which arrived at arrived_tsc <= now_tsc. A
 * payload is copied to its place.
 */
void wh_session_input(struct wh_session *session, uint64_t now_tsc, uint64_t arrived_tsc,
	const struct wh_packet *packet);

/* Runs the tasks that are due; returns how much work was done, 0 for none. */
int32_t wh_session_poll(struct wh_session *session, uint64_t now_tsc);

/* TX core: fills in packets that may be sent now, at most `count`; returns how many. */
uint32_t wh_session_output(
	struct wh_session *session, uint64_t now_tsc, struct wh_out *out, uint32_t count);

/* When wh_session_poll is due if nothing arrives before. */
uint64_t wh_session_deadline(const struct wh_session *session);

/*
 * Whether a transmitter will be opened again, after the next turns of both halves of the endpoint:
 * its peer has lost the SA, or never had the session.
 */
bool wh_session_begins_anew(const struct wh_session *session);

/* Memory of a session without its chunk memory, exactly as requested from malloc. */
uint64_t wh_session_table_bytes(enum wh_role role, const struct wh_session_config *config);
