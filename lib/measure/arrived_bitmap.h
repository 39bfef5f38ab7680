/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Which of the last packets the path delivered, and when to report them: the receiver's side of
 * ttp.txt II B. A bitmap of the last n packets is due when packet numbers show that n packets were
 * sent since the previous bitmap. While thresholds are exceeded it is due after n / 2 packets.
 *
 * While there is no loss the interval grows "by a constant factor" with each clean bitmap. Ours is
 * 2, which undoes n / 2 in one step. The interval is bounded, since only bitmaps increase the rate.
 * When a gap shows during a long interval, the next bitmap is due at the next multiple of n
 * packets. So it includes the gap, reordered packets have some time to arrive, and packets that no
 * bitmap includes were all received.
 *
 * A bitmap has n bits: if more than n consecutive packets are lost, n are reported.
 */

#include <stdbool.h>
#include <stdint.h>

#include "measure/bitmap_loss.h"
#include "wire/packet.h"

struct wh_arrived_bitmap {
	uint32_t n_pkts;
	uint32_t stretch;
	uint32_t stretch_max;
	uint32_t interval_pkts;
	uint64_t first_pn;
	uint64_t end; /* one past the highest packet number seen */
	uint64_t told_end;
	/* A bit for each of the last WH_BITMAP_PKTS_MAX packets, by packet number. */
	uint64_t arrived[WH_BITMAP_WORDS_MAX];
};

/*
 * Bitmaps of n_pkts (1 to WH_BITMAP_PKTS_MAX); each clean one multiplies the interval by `stretch`,
 * up to stretch_max times n_pkts. Both are at least 1.
 */
void wh_arrived_bitmap_init(struct wh_arrived_bitmap *bitmap, uint64_t first_pn, uint32_t n_pkts,
	uint32_t stretch, uint32_t stretch_max);

/* A packet from first_pn on was received, perhaps not for the first time. True: a bitmap is due. */
bool wh_arrived_bitmap_arrive(struct wh_arrived_bitmap *bitmap, uint64_t pn);

/* Returns the last n packets, or all if there were fewer; at least one has arrived. */
void wh_arrived_bitmap_take(struct wh_arrived_bitmap *bitmap, struct wh_bitmap *taken);

/* Sets when the next bitmap is due, by the finding about the one just taken. */
void wh_arrived_bitmap_pace(struct wh_arrived_bitmap *bitmap, enum wh_bitmap_finding finding);
