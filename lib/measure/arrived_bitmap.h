/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_MEASURE_ARRIVED_BITMAP_H
#define WH_MEASURE_ARRIVED_BITMAP_H

/*
 * Which of the last packets the path delivered, and when to report them: the receiver's side of
 * ttp.txt II B. A bitmap of the last n packets is due when n packets were sent after the previous
 * one, as packet numbers show; after n / 2 while thresholds are exceeded; and less and less often
 * while there is no loss.
 *
 * "By a constant factor": 2, which compensates n / 2 in one step, with each clean bitmap, up to a
 * bound, since only bitmaps increase the rate. Packets between two bitmaps further apart than n
 * were all received: when a gap shows, the next bitmap is due at the next multiple of n packets, so
 * that it includes the gap, and reordered packets have some time to arrive.
 *
 * If more than n consecutive packets are lost, n are reported: the bitmap has no more bits.
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
	uint64_t
		arrived[WH_BITMAP_WORDS_MAX]; /* of the last WH_BITMAP_PKTS_MAX, by packet number */
};

/*
 * Bitmaps of n_pkts (1 to WH_BITMAP_PKTS_MAX); each clean one multiplies the interval by `stretch`,
 * up to stretch_max times n_pkts. Both are at least 1.
 */
void wh_arrived_bitmap_init(struct wh_arrived_bitmap *bitmap, uint64_t first_pn, uint32_t n_pkts,
	uint32_t stretch, uint32_t stretch_max);

/*
 * A packet from first_pn on was received, perhaps not for the first time. True: a bitmap is
 * due.
 */
bool wh_arrived_bitmap_arrive(struct wh_arrived_bitmap *bitmap, uint64_t pn);

/* Returns the last n packets, or all if there were fewer; at least one has arrived. */
void wh_arrived_bitmap_take(struct wh_arrived_bitmap *bitmap, struct wh_bitmap *taken);

/* Sets when the next bitmap is due, by the finding about the one just taken. */
void wh_arrived_bitmap_pace(struct wh_arrived_bitmap *bitmap, enum wh_bitmap_finding finding);

#endif
