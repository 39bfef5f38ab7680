/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * What the bitmaps of ttp.txt II B say about a path. Both ends evaluate them alike: the transmitter
 * for its rate and its repair packets, the receiver for the interval of bitmaps.
 *
 *   perceived loss rate  missing / received, of the packets of one bitmap
 *   link loss rate       lost / transmitted, of all packets up to the end of a bitmap
 *
 * Thresholds are exceeded if the perceived rate is above the link's, or `q` consecutive packets are
 * lost.
 *
 * The paper does not say whether the link's rate includes the bitmap that it is compared with. Here
 * it does not. If it did, the very first loss would be congestion whatever rate was projected,
 * since m / (n - m) is above m / n for every m. Before the first bitmap the link's rate is the
 * projected one (III A: 50 %).
 *
 * Bitmaps overlap while thresholds are exceeded, and leave gaps on a clean path. Each packet number
 * is counted once, by the first bitmap that contains it. A packet in a gap counts as transmitted
 * and not lost. That is wrong only if a bitmap was lost, which the paper accepts. A run of losses
 * is evaluated if it reaches into packets that are reported for the first time.
 */

#include <stdbool.h>
#include <stdint.h>

enum wh_bitmap_finding {
	WH_BITMAP_CLEAN,     /* no loss */
	WH_BITMAP_BEARABLE,  /* loss, and no threshold exceeded */
	WH_BITMAP_CONGESTED, /* loss, and a threshold exceeded */
};

struct wh_bitmap_loss {
	uint32_t q_pkts;
	double projected; /* loss rate of the link before the first bitmap */
	uint64_t first_pn;
	uint64_t end; /* one past the last packet number of a bitmap */
	bool end_lost;
	uint64_t lost_pkts;
	uint64_t loss_events; /* runs of consecutive losses */
};

/* q_pkts at least 1; projected from 0 to 1. */
void wh_bitmap_loss_init(
	struct wh_bitmap_loss *loss, uint64_t first_pn, uint32_t q_pkts, double projected);

/* Packets up to the end of the latest bitmap. */
static inline uint64_t wh_bitmap_loss_pkts(const struct wh_bitmap_loss *loss)
{
	return loss->end - loss->first_pn;
}

/* The link's loss rate. */
double wh_bitmap_loss_link(const struct wh_bitmap_loss *loss);

/*
 * Adds a bitmap of [first, first + pkts), where bit i % 64 of word i / 64 is set for a packet
 * received; it ends beyond all earlier ones, and begins at the first packet number or later.
 */
enum wh_bitmap_finding wh_bitmap_loss_add(
	struct wh_bitmap_loss *loss, uint64_t first, uint32_t pkts, const uint64_t *bits);
