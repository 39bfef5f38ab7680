/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Analysis of the arrivals of one numbered train, as the peer reports them. Inconsistent reports
 * are refused; consistent ones may still be invented.
 */

#include <stdbool.h>
#include <stdint.h>

#include "wire/packet.h"

#define WH_TRAIN_PAIRS_MAX  256 /* most pairs of a train that are used */
#define WH_TRAIN_SEEN_WORDS (WH_PROBE_PKTS_MAX / 64)

/* Format of an arrival: see wh_probe_answer. */
static inline uint32_t wh_arrival_index(uint64_t arrival)
{
	return (uint32_t)arrival;
}

static inline uint32_t wh_arrival_ns(uint64_t arrival)
{
	return (uint32_t)(arrival >> 32);
}

struct wh_train {
	uint32_t count; /* sent */
	uint32_t wire_bytes;
	uint32_t arrived; /* without duplicates */
	uint32_t duplicates;
	uint32_t overtaken;    /* arrived after a packet that was sent later */
	uint32_t overtaken_by; /* greatest distance, in packets */
	uint32_t first_lost;   /* index; count: none */
	uint32_t lost_runs;    /* of consecutive packets */
	uint32_t longest_run;
	uint64_t span_ns;                   /* first arrival to last */
	double arrival_bps;                 /* rate within it; 0: unknown */
	uint64_t seen[WH_TRAIN_SEEN_WORDS]; /* bit i % 64 of word i / 64 */
};

/*
 * Reads `arrivals`, in order of arrival, of a train of `count` packets with wire_bytes each. False:
 * an index that was not sent, or times that run backwards.
 */
bool wh_train_read(struct wh_train *train, const uint64_t *arrival, uint32_t arrivals,
	uint32_t count, uint32_t wire_bytes);

static inline bool wh_train_saw(const struct wh_train *train, uint32_t index)
{
	return (train->seen[index / 64] >> index % 64 & 1) != 0;
}

/*
 * Index of the packet at which a queue overflowed; count: none. An overflow drops a `share` of the
 * packets that follow, while a random loss is followed by arrivals. So this is the first loss after
 * which at least half of that share is missing.
 */
uint32_t wh_train_overflow(const struct wh_train *train, double share);

/* Share of packets missing from `from` on and before `end`; 0 if there is none between. */
double wh_train_lost_share(const struct wh_train *train, uint32_t from, uint32_t end);

/*
 * For a train of pairs, sent back to back at line rate: the rate by the median gap within a pair;
 * 0: no pair arrived whole with distinct timestamps. *pairs is the number used.
 */
double wh_train_pairs_bps(
	const struct wh_train *train, const uint64_t *arrival, uint32_t arrivals, uint32_t *pairs);
