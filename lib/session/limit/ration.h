/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * A session's part of a rate that it shares with others (shared_rate.h), on its owner core.
 *
 * A transmitter sends no data, new or retransmitted, beyond what it has reserved. A receiver grants
 * packet numbers as it reserves bytes for them. Its reports offer no more, and it drops packets
 * beyond, so that the bound also holds for a peer that sends as it likes. A packet shorter than a
 * full one gives back the difference.
 */

#include <stdbool.h>
#include <stdint.h>

#include "profile/limit.h"

struct wh_session;
struct wh_shared_rate;

struct wh_ration {
	struct wh_shared_rate *rate; /* NULL: none */
	uint64_t from_tsc;           /* when the reserved bytes may move */
	uint64_t reserved_bytes;     /* 0: none */
	int64_t left_bytes;          /* transmitter: bytes that may be sent now */
	bool peer_grants;      /* the peer offers less for another reason: it has a shared rate */
	bool behind;           /* the receiver offers less, since its port overflowed */
	bool held_up;          /* the peer's shared rate has held up the flow before */
	uint64_t granted_end;  /* receiver: one past the last number granted; WH_PN_MAX: no bound */
	uint64_t told_end;     /* granted_end as last reported */
	uint64_t unused_bytes; /* left over by short packets, less than a full packet */
};

void wh_ration_init(struct wh_session *s);

/*
 * Transmitter. _allows: whether a data packet may be sent now. _next_tsc: when one may. _spend: one
 * was sent. _limit: START becomes RATE if the peer's rate holds up the controller, which then
 * cannot end its start.
 */
bool wh_ration_allows(struct wh_session *s, uint64_t now_tsc);
uint64_t wh_ration_next_tsc(const struct wh_session *s);
enum wh_limit wh_ration_limit(const struct wh_session *s, enum wh_limit limit);
void wh_ration_spend(struct wh_session *s, uint64_t now_tsc, uint32_t wire_bytes);

/*
 * Receiver. _grant: grants what may be granted now. _deadline: when more may be. _note: a packet
 * has arrived.
 */
void wh_ration_grant(struct wh_session *s, uint64_t now_tsc);
uint64_t wh_ration_deadline(const struct wh_session *s);
void wh_ration_note(struct wh_session *s, uint32_t payload_bytes);

/*
 * Receiver: one past the last packet number that a report offers now. Sets `behind`, which the
 * report tells, too.
 */
uint64_t wh_ration_upper(struct wh_session *s, uint64_t now_tsc);
