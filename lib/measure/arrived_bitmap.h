/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_MEASURE_ARRIVED_BITMAP_H
#define WH_MEASURE_ARRIVED_BITMAP_H

/*
 * Which of the last packets came off the lambda, and when the transmitter is to be told: the
 * receiver's side of ttp.txt II B. A bitmap of the last n packets is due when n packets were sent
 * past the one before, as their serials show; when n / 2 were while thresholds are exceeded; and
 * ever later while no loss is seen.
 *
 * "By a constant factor": 2, which undoes n / 2 in one step, again with each clean bitmap, up to
 * a bound, since the rate grows by bitmaps alone. What is between two bitmaps further apart than n
 * is clean: when a gap shows, the next bitmap is due at the next multiple of n packets, so that it
 * tells of the gap, and what was merely overtaken has some time to come.
 *
 * More than n packets lost in a row are told of as n: the bitmap has no more bits.
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
	uint64_t first_serial;
	uint64_t end; /* one past the highest serial seen */
	uint64_t told_end;
	uint64_t arrived[WH_BITMAP_WORDS_MAX]; /* of the last WH_BITMAP_PKTS_MAX, by serial */
};

/*
 * Bitmaps of n_pkts (1 to WH_BITMAP_PKTS_MAX); after each clean one the interval grows by
 * `stretch`, up to stretch_max times n_pkts. Both are at least 1.
 */
void wh_arrived_bitmap_init(struct wh_arrived_bitmap *bitmap, uint64_t first_serial,
	uint32_t n_pkts, uint32_t stretch, uint32_t stretch_max);

/* A packet came in, for the first time or not, from first_serial on. True: a bitmap is due. */
bool wh_arrived_bitmap_arrive(struct wh_arrived_bitmap *bitmap, uint64_t serial);

/* The last n packets, or as many as there were; at least one has arrived. */
void wh_arrived_bitmap_take(struct wh_arrived_bitmap *bitmap, struct wh_bitmap *taken);

/* What the bitmap that was taken says decides when the next is due. */
void wh_arrived_bitmap_pace(struct wh_arrived_bitmap *bitmap, enum wh_bitmap_finding finding);

#endif
