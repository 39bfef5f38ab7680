/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * What a turn of a session runs beside the tasks of lib/session (session/session_internal.h): the
 * files that open a session, find out about a peer that is silent, and end it.
 */

#include "session/session_internal.h"

/* The endpoint has no place for the session: ends it as BUSY. */
void wh_connect_refuse(struct wh_session *s, uint64_t now_tsc);

/* prelude.c: the transmitter's part, and the receiver's answer. */
void wh_prelude_begin(struct wh_session *s, uint64_t now_tsc);
int32_t wh_prelude_poll(struct wh_session *s, uint64_t now_tsc);
uint64_t wh_prelude_deadline(const struct wh_session *s);
void wh_prelude_answered(struct wh_session *s, uint64_t now_tsc, uint64_t arrived_tsc,
	const struct wh_packet *packet);
void wh_prelude_answer(struct wh_session *s, uint64_t now_tsc, uint64_t arrived_tsc,
	const struct wh_packet *packet);

/* missing.c: has a silent peer the session? doubt.c: does the peer's process exist? */
int32_t wh_missing_poll(struct wh_session *s, uint64_t now_tsc);
/* The peer's listener has answered: true if it has done so for long enough to prove it. */
bool wh_missing_answered(struct wh_session *s, uint64_t now_tsc, uint32_t stamp_us);
uint64_t wh_missing_deadline(const struct wh_session *s);
void wh_doubt_poll(struct wh_session *s, uint64_t now_tsc);
uint64_t wh_doubt_deadline(const struct wh_session *s);
bool wh_session_is_doubted(const struct wh_session *s);

/* connect.c */
int32_t wh_connect_poll(struct wh_session *s, uint64_t now_tsc);
void wh_connect_accepted(struct wh_session *s, uint64_t now_tsc, const struct wh_accept *accept);

/* release.c */
void wh_release_fill(const struct wh_session *s, uint8_t stage, struct wh_release *release);
int32_t wh_release_poll(struct wh_session *s, uint64_t now_tsc);
void wh_release_input(struct wh_session *s, uint64_t now_tsc, const struct wh_release *release);

/* grant.c */
int32_t wh_session_grant(struct wh_session *s, uint64_t now_tsc);

/*
 * dispatch.c: passes each control packet in the inbox to the part of the session that it is for;
 * returns how many.
 */
int32_t wh_dispatch(struct wh_session *s, uint64_t now_tsc);

/* A control packet to a receiver has come: when, and how much its peer has sent. */
void wh_dispatch_heard(struct wh_session *s, uint64_t now_tsc, const struct wh_packet *packet);
