/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_FIBRE_FIBRE_H
#define WH_FIBRE_FIBRE_H

/*
 * A model of one direction of a lambda: a drop-tail queue in front of a line of some rate, then
 * propagation delay, with whatever may go wrong on the way. Packets are opaque items: the
 * emulated link carries mbufs, tests in virtual time carry buffers.
 *
 * A packet passes through these stages, each drawing from one seeded generator:
 *
 *   ingress   -> comes in at the rate of the sender's link, behind those that came before
 *   outage    -> dropped while an outage window is open
 *   queue     -> dropped when the queue has no room; leaves at the line's rate
 *   loss      -> Bernoulli, Gilbert-Elliott, bit errors: dropped after it took its time on the line
 *   corrupt   -> one bit of it is to be flipped (by the caller: the item is opaque)
 *   delay     -> one-way delay, plus jitter (which keeps order)
 *   reorder   -> held back further by reorder_delay, so that later packets overtake it
 *   duplicate -> a second copy follows
 *
 * admit() decides the packet's fate; hold() puts each copy into the delay line; take() gets back
 * what is due. The line keeps fractions of a cycle, so that the rate is exact; a packet is due
 * the delay after the first whole cycle in which its last bit has left.
 *
 * The packet on the line waits too, until it has left: as a packet until its last bit, in bytes
 * with those of its bytes that have not left. A packet that would make more wait than the queue
 * holds is dropped, but an empty queue takes any packet.
 *
 * With an ingress the fibre begins with a switch of some memory, the queue, between a fast link
 * and a slow line (lambda-tcp.txt 2): a packet enters the queue when its last bit has come in, so
 * that a burst fills the memory at the difference of the two rates, however it was admitted. What
 * waits for the ingress is with the sender and in no memory of the fibre's: who admits more than
 * the link carries holds it back by wh_fibre_ingress_free, or reckons with it in items_max.
 *
 * A corrupted packet is corrupt in each of its copies. The second copy is due one packet time
 * after the first; it leaves the due times of other packets alone, so it may be overtaken.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/prng.h"

#define WH_FIBRE_OUTAGES_MAX 8

enum wh_fibre_loss_model {
	WH_LOSS_BERNOULLI,
	WH_LOSS_GILBERT_ELLIOTT,
};

/* Two states with their own loss; moves between them are drawn per packet. */
struct wh_gilbert_elliott {
	double good_to_bad;
	double bad_to_good;
	double loss_good;
	double loss_bad;
};

struct wh_fibre_outage {
	uint64_t start_ns; /* since the fibre was made */
	uint64_t length_ns;
};

struct wh_fibre_config {
	uint64_t rate_bps;       /* of the line, Ethernet overhead counted; 0: infinite */
	uint64_t ingress_bps;    /* of the sender's link, likewise; 0: infinite */
	uint64_t delay_ns;       /* one way */
	uint64_t queue_bytes;    /* wire bytes that may wait; 0: no limit in bytes */
	uint32_t queue_pkts;     /* packets that may wait; 0: no limit in packets */
	uint32_t queue_pkts_max; /* 0: queue_pkts; what wh_fibre_change may make of it */
	enum wh_fibre_loss_model loss_model;
	double loss; /* Bernoulli */
	struct wh_gilbert_elliott gilbert_elliott;
	double bit_error; /* per bit, beside the loss model: drops, as an FCS would */
	double corrupt;   /* delivered with one bit flipped */
	double duplicate;
	double reorder;
	uint64_t reorder_delay_ns; /* 0: a tenth of the delay, at least 10 times of the packet */
	uint64_t jitter_ns;        /* uniform in [0, jitter] */
	struct wh_fibre_outage outage[WH_FIBRE_OUTAGES_MAX];
	uint32_t n_outages;
	uint64_t seed;
};

enum wh_fibre_drop {
	WH_FIBRE_DELIVERED = 0,
	WH_FIBRE_DROP_OUTAGE,
	WH_FIBRE_DROP_QUEUE,
	WH_FIBRE_DROP_LOSS,
	WH_FIBRE_DROP_BIT_ERROR,
	WH_FIBRE_DROPS,
};

/* What becomes of one packet. */
struct wh_fibre_fate {
	enum wh_fibre_drop drop;
	uint32_t copies; /* 0, 1 or 2; hold() is to be called once for each */
	uint64_t due_tsc[2];
	bool corrupt;         /* flip bit number corrupt_bit, counted modulo the item's bits */
	uint64_t corrupt_bit; /* of 64 random bits, so that every bit of any item is as likely */
};

struct wh_fibre_item {
	uint64_t due_tsc;
	uint64_t order; /* of hold(): equal due times leave in that order */
	void *item;
};

struct wh_fibre_stats {
	uint64_t entered_pkts;
	uint64_t left_pkts; /* copies given out by take() and take_any() */
	uint64_t dropped_pkts[WH_FIBRE_DROPS];
	uint64_t duplicated_pkts;
	uint64_t corrupted_pkts;
	uint64_t reordered_pkts; /* held back; overtaken when others follow soon enough */
	uint64_t queue_bytes_max;
};

struct wh_fibre; /* fibre.c */

/*
 * `items_max` copies may be held at once (see wh_fibre_items_needed). NULL with errno ENOMEM, or
 * EINVAL when a share is not in [0, 1], there are too many outages, the rate or a time does not
 * fit the clock, or packets are to be reordered by no time at all (no reorder_delay, no delay to
 * take a tenth of and an infinite rate).
 */
struct wh_fibre *wh_fibre_create(
	const struct wh_fibre_config *config, uint64_t hz, uint64_t now_tsc, uint32_t items_max);

/* Whether wh_fibre_create finds nothing wrong with it. */
bool wh_fibre_config_is_sound(const struct wh_fibre_config *config, uint64_t hz);

/*
 * Another line, delay, loss and so on from now on; the seed and queue_pkts_max stay. What waits in
 * the queue leaves at the new rate, what has left keeps the delay that it left by: so what leaves
 * after a delay that falls may overtake, as on a shorter way. Jitter of what waits is taken for a
 * part of its waiting. Outages, if there are any, count from now and replace those before. Rates
 * are finite before and after. The caller's items_max bears whatever comes.
 */
void wh_fibre_change(struct wh_fibre *fibre, const struct wh_fibre_config *config, uint64_t hz,
	uint64_t now_tsc);

/* Items still held are the caller's: drain with wh_fibre_take_any first. */
void wh_fibre_destroy(struct wh_fibre *fibre);

/*
 * Copies that a fibre can hold at once when packets take at least wire_bytes_min and what is due
 * is taken before the next packet is admitted, but for those that wait for the ingress. UINT32_MAX
 * when there is no bound: an infinite rate or a queue without a limit.
 */
uint32_t wh_fibre_items_needed(const struct wh_fibre_config *config, uint32_t wire_bytes_min);

/* A packet of wire_bytes (preamble and gap counted) comes at now_tsc; times never decrease. */
void wh_fibre_admit(
	struct wh_fibre *fibre, uint64_t now_tsc, uint32_t wire_bytes, struct wh_fibre_fate *fate);

/* Bytes that wait for the line, or are partly gone, at now_tsc. */
uint64_t wh_fibre_queue_bytes(const struct wh_fibre *fibre, uint64_t now_tsc);

/* When all that was admitted has come in: the ingress is free; 0 without one. */
uint64_t wh_fibre_ingress_free(const struct wh_fibre *fibre);

/*
 * False when items_max are held: the caller drops it and says so with wh_fibre_count_queue_drop.
 * Quickest when each packet is held before the next is admitted.
 */
bool wh_fibre_hold(struct wh_fibre *fibre, uint64_t due_tsc, void *item);
void wh_fibre_count_queue_drop(struct wh_fibre *fibre);

/* Up to `count` items that are due, in order of their due time; returns how many. */
uint32_t wh_fibre_take(
	struct wh_fibre *fibre, uint64_t now_tsc, struct wh_fibre_item *items, uint32_t count);

/* One item, due or not; NULL when empty. */
void *wh_fibre_take_any(struct wh_fibre *fibre);

/* When the next item is due; WH_TSC_NEVER when nothing is held. */
uint64_t wh_fibre_deadline(const struct wh_fibre *fibre);
uint32_t wh_fibre_held(const struct wh_fibre *fibre);

const struct wh_fibre_stats *wh_fibre_stats(const struct wh_fibre *fibre);

/*
 * A loss model as text: "bernoulli", "ge:P,R[,H[,K]]" (Gilbert-Elliott: good-to-bad P, bad-to-good
 * R, delivered in bad H = 0, delivered in good K = 1), "ber:E" (bit error rate). 0 or -EINVAL.
 */
int wh_fibre_parse_loss_model(const char *text, struct wh_fibre_config *config);

#endif
