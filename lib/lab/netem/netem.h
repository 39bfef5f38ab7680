/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * A model of one direction of a link: a drop-tail queue in front of a line of some rate, then
 * propagation delay, with impairments. Packets are opaque items: mbufs in the emulated link,
 * buffers in tests in virtual time.
 *
 * A packet passes through these stages, all drawing from one seeded generator:
 *
 *   ingress   -> arrives at the rate of the sender's link, behind earlier packets
 *   outage    -> dropped while an outage window is open
 *   queue     -> dropped when the queue has no room; leaves at the line's rate
 *   loss      -> Bernoulli, Gilbert-Elliott, bit errors: dropped after it used its time on the line
 *   corrupt   -> one bit is to be flipped (by the caller: the item is opaque)
 *   delay     -> one-way delay, plus jitter (which keeps order)
 *   reorder   -> delayed further by reorder_delay, so that later packets overtake it
 *   duplicate -> a second copy follows
 *
 * admit() determines the packet's fate; hold() puts each copy into the delay line; take() returns
 * what is due. The line keeps fractions of a cycle, so that the rate is exact; a packet is due the
 * delay after the first whole cycle in which its last bit has left.
 *
 * The packet being sent counts as queued until its last bit has left: fully in the packet limit,
 * with its unsent bytes in the byte limit. A packet that would exceed the queue's limit is dropped,
 * but an empty queue accepts any packet.
 *
 * With an ingress the link begins with a switch whose memory, the queue, lies between a fast link
 * and a slow line (lambda-tcp.txt 2): a packet enters the queue when its last bit has arrived, so a
 * burst fills the memory at the difference of the two rates, however it was admitted. Packets that
 * wait for the ingress are in the sender's memory, not in the queue: a caller that admits more than
 * the link carries either delays them until wh_netem_ingress_free, or counts them in items_max.
 *
 * A corrupted packet is corrupt in each of its copies. The second copy is due one packet time after
 * the first; it does not change the due times of other packets, so it may be overtaken.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/link_model.h"
#include "base/prng.h"

enum wh_netem_drop {
	WH_NETEM_DELIVERED = 0,
	WH_NETEM_DROP_OUTAGE,
	WH_NETEM_DROP_QUEUE,
	WH_NETEM_DROP_LOSS,
	WH_NETEM_DROP_BIT_ERROR,
	WH_NETEM_DROPS,
};

/* The fate of one packet. */
struct wh_netem_fate {
	enum wh_netem_drop drop;
	uint32_t copies; /* 0, 1 or 2; call hold() once for each */
	uint64_t due_tsc[2];
	bool corrupt;         /* flip bit number corrupt_bit, counted modulo the item's bits */
	uint64_t corrupt_bit; /* 64 random bits, so that each bit of any item is equally likely */
};

struct wh_netem_item {
	uint64_t due_tsc;
	uint64_t order; /* of the hold() calls; breaks ties of due_tsc */
	void *item;
};

struct wh_netem_stats {
	uint64_t entered_pkts;
	uint64_t left_pkts; /* copies returned by take() and take_any() */
	uint64_t dropped_pkts[WH_NETEM_DROPS];
	uint64_t duplicated_pkts;
	uint64_t corrupted_pkts;
	uint64_t reordered_pkts; /* delayed; overtaken if others follow soon enough */
	uint64_t queue_bytes_max;
};

/* Memory for each copy that may be held, as plans count it. */
#define WH_NETEM_ITEM_BYTES 64

struct wh_netem; /* netem.c */

/*
 * At most `items_max` copies may be held at once (see wh_netem_items_needed). NULL with errno
 * ENOMEM, or EINVAL: a probability not in [0, 1], too many outages, a rate or time that does not
 * fit the clock, or reordering with a zero delay (no reorder_delay, no delay to take a tenth of and
 * an infinite rate).
 */
struct wh_netem *wh_netem_create(
	const struct wh_link_model *config, uint64_t hz, uint64_t now_tsc, uint32_t items_max);

/* Whether wh_netem_create accepts the configuration. */
bool wh_netem_is_sound(const struct wh_link_model *config, uint64_t hz);

/*
 * Changes line, delay, loss and so on from now on; the seed and queue_pkts_max stay. Queued packets
 * leave at the new rate; those that have left the line keep their due time, so after a decrease of
 * the delay later packets may overtake them, as on a shorter path. Jitter of queued packets counts
 * as queueing. The new outages, if any, count from now and replace the old ones. Rates must be
 * finite before and after. items_max must suffice for both configurations.
 */
void wh_netem_change(
	struct wh_netem *netem, const struct wh_link_model *config, uint64_t hz, uint64_t now_tsc);

/* The caller owns the items still held: drain with wh_netem_take_any first. */
void wh_netem_destroy(struct wh_netem *netem);

/*
 * Copies that an emulated link can hold at once, provided that packets have at least wire_bytes_min
 * and due items are taken before the next packet is admitted; without those that wait for the
 * ingress.
 * UINT32_MAX: unbounded, by an infinite rate or a queue without a limit.
 */
uint32_t wh_netem_items_needed(const struct wh_link_model *config, uint32_t wire_bytes_min);

/* A packet of wire_bytes (preamble and gap included) arrives at now_tsc; times never decrease. */
void wh_netem_admit(
	struct wh_netem *netem, uint64_t now_tsc, uint32_t wire_bytes, struct wh_netem_fate *fate);

/* Bytes queued and not yet sent at now_tsc, rounded up. */
uint64_t wh_netem_queue_bytes(const struct wh_netem *netem, uint64_t now_tsc);

/* When all admitted packets will have passed the ingress; 0 without one. */
uint64_t wh_netem_ingress_free(const struct wh_netem *netem);

/*
 * False when items_max are held: the caller drops the item and calls wh_netem_count_queue_drop.
 * Fastest when each packet is held before the next is admitted.
 */
bool wh_netem_hold(struct wh_netem *netem, uint64_t due_tsc, void *item);
void wh_netem_count_queue_drop(struct wh_netem *netem);

/* Returns the number of due items, up to `count`, in order of their due time. */
uint32_t wh_netem_take(
	struct wh_netem *netem, uint64_t now_tsc, struct wh_netem_item *items, uint32_t count);

/* One item, due or not; NULL when empty. */
void *wh_netem_take_any(struct wh_netem *netem);

/* When the next item is due; WH_TSC_NEVER when nothing is held. */
uint64_t wh_netem_deadline(const struct wh_netem *netem);
uint32_t wh_netem_held(const struct wh_netem *netem);

const struct wh_netem_stats *wh_netem_stats(const struct wh_netem *netem);

/* For whatever reason. */
uint64_t wh_netem_dropped_pkts(const struct wh_netem_stats *stats);
