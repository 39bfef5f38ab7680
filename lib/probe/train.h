/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_PROBE_TRAIN_H
#define WH_PROBE_TRAIN_H

/*
 * What the arrivals of one numbered train tell. Who noted them may lie: what contradicts itself is
 * refused, and what does not is no more than he says.
 */

#include <stdbool.h>
#include <stdint.h>

#include "wire/packet.h"

#define WH_TRAIN_PAIRS_MAX  256 /* of a train, as far as they are looked at */
#define WH_TRAIN_SEEN_WORDS (WH_PROBE_PKTS_MAX / 64)

/* An arrival as it is told: see wh_probe_answer. */
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
	uint32_t arrived; /* different ones */
	uint32_t duplicates;
	uint32_t overtaken;    /* came after one that was sent later */
	uint32_t overtaken_by; /* so many places, at most */
	uint32_t first_lost;   /* index; count: none */
	uint32_t lost_runs;    /* in a row each */
	uint32_t longest_run;
	uint64_t span_ns;                   /* from the first arrival to the last */
	double arrival_bps;                 /* between them; 0: not to be told */
	uint64_t seen[WH_TRAIN_SEEN_WORDS]; /* bit i % 64 of word i / 64 */
};

/*
 * Of `arrivals`, in the order in which they came, of a train of `count` packets that take
 * wire_bytes each. False: an index that was not sent, or times that run backwards.
 */
bool wh_train_read(struct wh_train *train, const uint64_t *arrival, uint32_t arrivals,
	uint32_t count, uint32_t wire_bytes);

static inline bool wh_train_saw(const struct wh_train *train, uint32_t index)
{
	return (train->seen[index / 64] >> index % 64 & 1) != 0;
}

/*
 * Where a queue ran over: the first loss behind which at least half as many packets are missing as
 * such a queue drops, which is `share` of them. A loss by chance is followed by packets that came.
 * count: nowhere.
 */
uint32_t wh_train_overflow(const struct wh_train *train, double share);

/* The share that is missing from `from` on; 0 behind the end. */
double wh_train_lost_share(const struct wh_train *train, uint32_t from);

/*
 * Of a train of pairs, sent back to back at line rate: the median of what lies between the two of a
 * pair, as a rate; 0: no pair came whole and within one tick of a clock. *pairs tells how many did.
 */
double wh_train_pairs_bps(
	const struct wh_train *train, const uint64_t *arrival, uint32_t arrivals, uint32_t *pairs);

#endif
