/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * What the receiver's reports acknowledge: which packets have arrived, and with the last of a chunk
 * that the chunk is free.
 *
 * A transmitter may have this done on another core than the one that sends. That core takes the
 * inbox, writes the acknowledgements' part of the sent table, and passes each packet on with what
 * it acknowledged. All else about a report (credits, retransmissions, the controller) follows from
 * what was sent and when, and stays with the TX core, which also owns the chunks until it hands
 * them to the reader: it may just be sending one again.
 *
 * The TX core may find the table further than the packets that it has been passed. What it reads
 * there only grows.
 *
 * Profiles that hear of each acknowledgement by itself have theirs done by the TX core.
 */

#include <stdatomic.h>
#include <stdint.h>

#include "base/fifo.h"
#include "session/session.h"
#include "wire/packet.h"

struct wh_acked {
	uint64_t pkts;
	uint64_t end; /* one past the highest packet number among them; 0: none */
};

/* A packet for the TX core. */
struct wh_acks_note {
	struct wh_acked acked;
	struct wh_packet packet;
};

struct wh_acks {
	struct wh_slot_fifo notes; /* struct wh_acks_note: bookkeeping -> TX core */
	struct wh_fifo done;       /* chunks: bookkeeping -> TX core */

	/* TX core */
	_Alignas(64) _Atomic uint64_t sent_end; /* packets from here on were not sent yet */
	struct wh_acked acked;                  /* of notes taken, and used by no report yet */
};

/* NULL: no memory. */
struct wh_acks *wh_acks_create(const struct wh_session_config *config, uint64_t first_pn);
void wh_acks_destroy(struct wh_acks *acks); /* NULL is allowed */
uint64_t wh_acks_bytes(const struct wh_session_config *config);

/* Whether a transmitter of that configuration may have them. */
bool wh_acks_may_be_apart(const struct wh_session_config *config);

/* Enters a report whose limits were checked. */
struct wh_acked wh_acks_enter(struct wh_session *s, const struct wh_rcv_report *report);

/* Bookkeeping: takes packets from the inbox while there is room for notes; returns how many. */
int32_t wh_acks_book(struct wh_session *s);

/* TX core: the packet of a note; what it acknowledged counts for the next report that is used. */
const struct wh_packet *wh_acks_take(struct wh_session *s, const struct wh_slot *slot);

/* TX core: hands chunks that are done to the reader; returns how many. */
int32_t wh_acks_free_chunks(struct wh_session *s);

/* TX core, after a burst. */
void wh_acks_tell_sent(struct wh_session *s);
