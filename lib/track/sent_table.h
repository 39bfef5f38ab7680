/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_TRACK_SENT_TABLE_H
#define WH_TRACK_SENT_TABLE_H

/*
 * The sender's table (periodic-exchange.txt, Tpacket [serial#, retrans, ack, address]): a record
 * for every packet admitted and not yet below the window, lower <= serial < admitted_end.
 */

#include <stdbool.h>
#include <stdint.h>

struct wh_sent_record {
	uint16_t chunk_slot; /* address: which chunk ... */
	uint16_t index;      /* ... and which packet of it */
};

struct wh_sent_table {
	uint32_t size; /* a power of two, 64 to 2^24 */
	uint32_t mask;
	uint64_t lower;        /* first serial not acknowledged */
	uint64_t admitted_end; /* next serial to admit */
	uint64_t acked_above;  /* acknowledged serials at or above lower */
	struct wh_sent_record *record;
	/* One bit per serial, by serial & mask. */
	uint64_t *acked;
	uint64_t *queued; /* waits to be sent again; stale where it is acknowledged meanwhile */
	/* With wh_sent_table_add_due: when each is to go again, by a clock that wraps. */
	uint32_t *due;
	uint64_t due_end; /* all below were due once, in the order in which they first went */
};

/* What init takes. */
uint64_t wh_sent_table_bytes(uint32_t size);

/* 0 or -ENOMEM. */
int wh_sent_table_init(struct wh_sent_table *table, uint32_t size, uint64_t first_serial);
void wh_sent_table_free(struct wh_sent_table *table); /* harmless after a failed init */

static inline bool wh_sent_table_has_room(const struct wh_sent_table *table)
{
	return table->admitted_end - table->lower < table->size;
}

/* Packets admitted and not acknowledged. */
static inline uint64_t wh_sent_table_unacked(const struct wh_sent_table *table)
{
	return table->admitted_end - table->lower - table->acked_above;
}

/*
 * Enters the next packet and returns its serial; there must be room. A chunk's packets are admitted
 * in order and none of another's in between, nor is its slot used again before all are
 * acknowledged.
 */
uint64_t wh_sent_table_admit(struct wh_sent_table *table, uint16_t chunk_slot, uint16_t index);

/* The record of an admitted serial at or above lower. */
struct wh_sent_record *wh_sent_table_record(struct wh_sent_table *table, uint64_t serial);

/* Of an admitted serial; true below lower, too. */
bool wh_sent_table_acked(const struct wh_sent_table *table, uint64_t serial);

/*
 * Acknowledges all of [first, end) that is admitted and not acknowledged yet, advances lower, and
 * calls `acked` for each run of them, lowest first, before lower passes it: `count` serials from
 * `serial` on, which are as many packets of one chunk from *record on. The table must be left
 * alone. Looks at 64 packets at a time, and tells them in few runs. Returns how many packets there
 * were.
 */
typedef void (*wh_sent_acked_fn)(
	void *context, uint64_t serial, const struct wh_sent_record *record, uint32_t count);
uint64_t wh_sent_table_ack(struct wh_sent_table *table, uint64_t first, uint64_t end,
	wh_sent_acked_fn acked, void *context);

/*
 * Queues all of [first, end) that is admitted, not acknowledged and not queued yet, and calls
 * `queued` once for each, lowest first. Looks at 64 packets at a time: a peer that reports the
 * same losses over and over costs next to nothing. Returns how many there were.
 */
typedef void (*wh_sent_queued_fn)(void *context, uint64_t serial);
uint64_t wh_sent_table_queue(struct wh_sent_table *table, uint64_t first, uint64_t end,
	wh_sent_queued_fn queued, void *context);

/* It has left the queue, and may enter it again. False: it was acknowledged while it waited. */
bool wh_sent_table_unqueue(struct wh_sent_table *table, uint64_t serial);

/*
 * retrans of Tpacket, as a moment of a clock that wraps, so that no entry has to be counted down: a
 * packet goes again when it is neither acknowledged nor queued and its moment has come. 0 or
 * -ENOMEM; bytes are what it takes.
 */
int wh_sent_table_add_due(struct wh_sent_table *table);
uint64_t wh_sent_table_due_bytes(uint32_t size);

/* The packet goes now, for the first time or again, and is due then; moments never decrease. */
static inline void wh_sent_table_set_due(struct wh_sent_table *table, uint64_t serial, uint32_t due)
{
	table->due[serial & table->mask] = due;
}

/* What is due of [first, end) at this moment is queued, as above; all below sent_end has gone. */
struct wh_sent_due {
	uint32_t now;
	uint64_t sent_end;
};
uint64_t wh_sent_table_queue_due(struct wh_sent_table *table, const struct wh_sent_due *due,
	uint64_t first, uint64_t end, wh_sent_queued_fn queued, void *context);

/* Counts, bounds and bits, asserted. */
void wh_sent_table_check(const struct wh_sent_table *table);

#endif
