/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_MEASURE_BITMAP_LOSS_H
#define WH_MEASURE_BITMAP_LOSS_H

/*
 * What the bitmaps of ttp.txt II B say about a lambda. Both ends judge them alike: the transmitter
 * for its rate and its repair packets, the receiver for how often it speaks.
 *
 *   perceived loss rate  missing / received, of the packets of one bitmap
 *   link loss rate       lost / transmitted, of all packets up to where a bitmap ends
 *
 * Thresholds are exceeded when the perceived rate is above the link's, or `q` packets in a row are
 * lost.
 *
 * The paper leaves open whether the link's rate includes the bitmap that it is compared with. Here
 * it does not: m / (n - m) is above m / n for every m, so that otherwise the first loss of all
 * would be congestion whatever had been projected. Until a bitmap came the link's rate is what was
 * projected (III A: 50 %).
 *
 * Bitmaps overlap while thresholds are exceeded, and leave out packets on a clean lambda. A serial
 * is counted once, by the first bitmap that has it; one that none had counts as transmitted and
 * not as lost, which is true unless a bitmap was lost on the way back, and what the paper accepts
 * then. A run is judged when it ends in, or reaches into, packets that are told for the first time.
 */

#include <stdbool.h>
#include <stdint.h>

enum wh_bitmap_finding {
	WH_BITMAP_CLEAN,     /* no loss */
	WH_BITMAP_BEARABLE,  /* loss, and no threshold exceeded */
	WH_BITMAP_CONGESTED, /* a threshold exceeded */
};

struct wh_bitmap_loss {
	uint32_t q_pkts;
	double projected; /* the link's loss rate until a bitmap came */
	uint64_t first_serial;
	uint64_t end; /* one past the last serial that a bitmap told of */
	bool end_lost;
	uint64_t lost_pkts;
	uint64_t loss_events; /* runs of them */
};

/* q_pkts at least 1; projected from 0 to 1. */
void wh_bitmap_loss_init(
	struct wh_bitmap_loss *loss, uint64_t first_serial, uint32_t q_pkts, double projected);

/* Packets up to where bitmaps have come. */
static inline uint64_t wh_bitmap_loss_pkts(const struct wh_bitmap_loss *loss)
{
	return loss->end - loss->first_serial;
}

/* The link's loss rate. */
double wh_bitmap_loss_link(const struct wh_bitmap_loss *loss);

/*
 * Takes a bitmap of [first, first + pkts), bit i % 64 of word i / 64 set for what arrived; it ends
 * beyond all before it, and begins at the first serial or later.
 */
enum wh_bitmap_finding wh_bitmap_loss_add(
	struct wh_bitmap_loss *loss, uint64_t first, uint32_t pkts, const uint64_t *bits);

#endif
