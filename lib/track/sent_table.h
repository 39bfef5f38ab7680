/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * The sender's table (periodic-exchange.txt, Tpacket [serial#, retrans, ack, address]): a record
 * for every packet admitted and not yet below the window, lower <= packet number < admitted_end.
 *
 * Who sends and who enters acknowledgements may be two cores; each writes its own part. The one
 * that sends finds `lower` and the bits no older than anything else that it has heard from the
 * other.
 */

#include <stdbool.h>
#include <stdint.h>

struct wh_sent_record {
	uint16_t chunk_slot; /* the chunk; with `index`, the paper's address */
	uint16_t index;      /* of the packet in its chunk */
};

struct wh_sent_table {
	uint32_t size; /* a power of two, 64 to 2^24 */
	uint32_t mask;
	uint64_t first_pn;
	uint64_t *acked; /* one bit per packet number, by packet number & mask; so is `queued` */

	/* Who sends */
	uint64_t admitted_end; /* next packet number to admit */
	struct wh_sent_record *record;
	uint64_t *queued; /* waiting for retransmission; stale if acknowledged meanwhile */
	/* With wh_sent_table_add_due: time of retransmission, by a clock that wraps. */
	uint32_t *due;
	uint64_t due_end; /* every packet number below it has been due once */

	/* Who enters acknowledgements, and the bits */
	_Alignas(64) uint64_t lower; /* first packet number not acknowledged */
	uint64_t cleared_end;        /* = lower, once the bits below it are 0 */
	uint64_t acked_pkts;
};

/* Memory that init allocates. */
uint64_t wh_sent_table_bytes(uint32_t size);

/* 0 or -ENOMEM. */
int wh_sent_table_init(struct wh_sent_table *table, uint32_t size, uint64_t first_pn);
void wh_sent_table_free(struct wh_sent_table *table); /* harmless after a failed init */

static inline uint64_t wh_sent_table_lower(const struct wh_sent_table *table)
{
	return __atomic_load_n(&table->lower, __ATOMIC_ACQUIRE);
}

static inline bool wh_sent_table_has_room(const struct wh_sent_table *table)
{
	uint64_t cleared_end = __atomic_load_n(&table->cleared_end, __ATOMIC_ACQUIRE);

	return table->admitted_end - cleared_end < table->size;
}

/* Packets admitted and not acknowledged. */
static inline uint64_t wh_sent_table_unacked(const struct wh_sent_table *table)
{
	return table->admitted_end - table->first_pn -
	       __atomic_load_n(&table->acked_pkts, __ATOMIC_RELAXED);
}

/*
 * Enters the next packet and returns its packet number; there must be room. A chunk's packets are
 * admitted in order without another chunk's in between, and its slot is not reused before all are
 * acknowledged.
 */
uint64_t wh_sent_table_admit(struct wh_sent_table *table, uint16_t chunk_slot, uint16_t index);

/* The record of an admitted packet number, `size` at most below admitted_end. */
struct wh_sent_record *wh_sent_table_record(struct wh_sent_table *table, uint64_t pn);

/* Whether an admitted packet number is acknowledged; true below lower, too. */
bool wh_sent_table_acked(const struct wh_sent_table *table, uint64_t pn);

/*
 * Acknowledges the packet numbers of [first, end) that are admitted and not acknowledged yet, and
 * advances lower. Before lower passes them it calls `acked` for each run of them, lowest first:
 * `count` packet numbers from `pn` on, which are consecutive packets of one chunk from *record on.
 * `acked` must not change the table. Handles 64 packets at a time, so that runs are long. Returns
 * the number of packets.
 */
typedef void (*wh_sent_acked_fn)(
	void *context, uint64_t pn, const struct wh_sent_record *record, uint32_t count);
uint64_t wh_sent_table_ack(struct wh_sent_table *table, uint64_t first, uint64_t end,
	wh_sent_acked_fn acked, void *context);

/*
 * Queues the packet numbers of [first, end) that are admitted, not acknowledged and not queued yet,
 * and calls `queued` once for each, lowest first. Handles 64 packets at a time, so that a peer
 * which reports the same losses again and again costs little. Returns the number of packets.
 */
typedef void (*wh_sent_queued_fn)(void *context, uint64_t pn);
uint64_t wh_sent_table_queue(struct wh_sent_table *table, uint64_t first, uint64_t end,
	wh_sent_queued_fn queued, void *context);

/* The packet number has left the queue and may be queued again. False: acknowledged meanwhile. */
bool wh_sent_table_unqueue(struct wh_sent_table *table, uint64_t pn);

/*
 * Adds `retrans` of Tpacket: when to retransmit each packet that is neither acknowledged nor queued
 * by then. It is a time by a clock that wraps, so that no entry has to be counted down. 0 or
 * -ENOMEM; _due_bytes is the memory needed.
 */
int wh_sent_table_add_due(struct wh_sent_table *table);
uint64_t wh_sent_table_due_bytes(uint32_t size);

/* The packet is sent or retransmitted now, and due again at `due`; times never decrease. */
static inline void wh_sent_table_set_due(struct wh_sent_table *table, uint64_t pn, uint32_t due)
{
	table->due[pn & table->mask] = due;
}

/* Queues, like wh_sent_table_queue, packets that are due at `now`; all below sent_end were sent. */
struct wh_sent_due {
	uint32_t now;
	uint64_t sent_end;
};
uint64_t wh_sent_table_queue_due(struct wh_sent_table *table, const struct wh_sent_due *due,
	uint64_t first, uint64_t end, wh_sent_queued_fn queued, void *context);

/* Asserts counts, bounds and bits. */
void wh_sent_table_check(const struct wh_sent_table *table);
