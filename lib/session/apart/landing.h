/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * A receiver whose bookkeeping runs on another core than the one that takes its packets. The RX
 * core finds out by its own table, the landing, where the payload of a packet belongs, opens the
 * packet into its chunk and passes on a note. Everything else of the session belongs to the core
 * of the bookkeeping: duplicates by packet number, losses, credits, reports, delivery.
 *
 * A packet has arrived if its bit in `have_bits` is set and its note is in the FIFO: both or
 * neither. The RX core never waits: a packet for whose note there is no room counts as not arrived
 * (stats.notes_full_pkts), and the next report asks for it like for any other.
 *
 * Streams with repair packets have no landing, since their chunks also belong to decoders.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/fifo.h"
#include "session/session.h"

/* As rings are sized: 2^n - 1 elements. */
#define WH_NOTES_MAX 4095

/* A chunk that packets land in. */
struct wh_landed {
	uint64_t number_end; /* chunk number + 1; 0: none yet */
	uint64_t first_pn;   /* of its packet 0 */
	struct wh_chunk *buffer;
	uint32_t k;
};

/* What the bookkeeping learns of a packet. */
struct wh_landing_note {
	struct wh_data_fields data;
	uint64_t pn;
	uint64_t looked_tsc;
	uint8_t type;
	uint8_t flags;
	uint8_t kind; /* enum wh_rx_slot_kind */
};

struct wh_landing {
	/* RX core */
	struct wh_landed *landed; /* by chunk number modulo the number of buffers */
	struct wh_chunk *next;    /* the buffer of the next new chunk; NULL: none taken yet */
	uint64_t looked_tsc;      /* of the packet that is taken now */
	uint64_t step;            /* counts used rx slots: one is valid in one step only */

	struct wh_fifo spare;      /* chunks: bookkeeping -> RX core */
	struct wh_slot_fifo notes; /* struct wh_landing_note: RX core -> bookkeeping */

	/* Bookkeeping: packets and chunks from here on are dropped. Nothing is offered before. */
	_Alignas(64) _Atomic uint64_t pn_end;
	_Atomic uint64_t chunk_end;
	_Atomic bool left; /* this core does not use the session any more */
};

/* The counters that the RX core writes, of any session. */
struct wh_session_stats *wh_session_rx_stats(struct wh_session *s);

/* NULL: no memory. */
struct wh_landing *wh_landing_create(const struct wh_session_config *config, uint64_t first_pn);
void wh_landing_destroy(struct wh_landing *landing); /* NULL is allowed */
uint64_t wh_landing_bytes(const struct wh_session_config *config);

/* RX core: as wh_session_place and wh_session_take. */
void wh_landing_place(
	struct wh_session *s, const struct wh_packet *packet, struct wh_rx_slot *rx_slot);
void wh_landing_take(const struct wh_rx_slot *rx_slot, uint64_t arrived_tsc);

/* Bookkeeping: offers what is free to the RX core, before a report offers it to the peer. */
void wh_landing_open(struct wh_session *s);

/* Bookkeeping: the buffer of a chunk of which a note was taken. */
struct wh_chunk *wh_landing_buffer(const struct wh_session *s, uint64_t number);

/* host_rcv.c: a buffer is free again, for the core that takes packets. */
void wh_host_rcv_give_back(struct wh_session *s, struct wh_chunk *chunk);

/* rcv.c, bookkeeping: takes the notes of packets that have landed; returns how many. */
int32_t wh_rcv_book(struct wh_session *s, uint64_t now_tsc);
