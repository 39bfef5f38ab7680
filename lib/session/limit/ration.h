/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_SESSION_LIMIT_RATION_H
#define WH_SESSION_LIMIT_RATION_H

/*
 * A session's part of a rate that it shares with others (shared_rate.h), on its owner core.
 *
 * A transmitter sends no data, new or again, beyond what it has reserved. A receiver grants packet
 * numbers as it reserves bytes for them: its reports offer no more, and packets beyond are dropped,
 * so that the bound also holds for a peer that sends as it likes. Packets shorter than full ones
 * give back what they did not take.
 */

#include <stdbool.h>
#include <stdint.h>

#include "profile/limit.h"

struct wh_session;
struct wh_shared_rate;

struct wh_ration {
	struct wh_shared_rate *rate; /* NULL: none */
	uint64_t from_tsc;           /* when the reserved bytes may move ... */
	uint64_t reserved_bytes;     /* ... 0: none are reserved */
	int64_t left_bytes;          /* transmitter: may go now */
	bool peer_grants;     /* it offers less than its table holds: by a rate of its own, */
	bool held_up;         /* ... which has held up the flow before */
	uint64_t granted_end; /* receiver: packet numbers beyond are not; WH_PN_MAX: any */
	uint64_t told_end;
	uint64_t unused_bytes; /* of short packets, less than a full packet's */
};

void wh_ration_init(struct wh_session *s);

/* Transmitter: may a data packet go now; when it may; and it has gone. */
bool wh_ration_allows(struct wh_session *s, uint64_t now_tsc);
uint64_t wh_ration_next_tsc(const struct wh_session *s);
/* A controller that the peer's rate has held up cannot end its start: that rate is the limit. */
enum wh_limit wh_ration_limit(const struct wh_session *s, enum wh_limit limit);
void wh_ration_spend(struct wh_session *s, uint64_t now_tsc, uint32_t wire_bytes);

/* Receiver: grants what it may; when it may grant more; and a packet has come. */
void wh_ration_grant(struct wh_session *s, uint64_t now_tsc);
uint64_t wh_ration_deadline(const struct wh_session *s);
void wh_ration_note(struct wh_session *s, uint32_t payload_bytes);

/* Receiver: the first packet number that may not come yet, as a report tells it. */
uint64_t wh_ration_upper(const struct wh_session *s);

#endif
