/* SPDX-License-Identifier: BSD-3-Clause */
#include "probe/train.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/clock.h"

#define BITS_PER_BYTE 8.0

/* Behind an overflow this many losses are expected, and at least half of them required. */
#define OVERFLOW_LOSSES 8

/* A smaller share is no overflow: the window for it would be unbounded. */
#define OVERFLOW_SHARE_MIN 0.01

static void note_losses(struct wh_train *train)
{
	uint32_t run = 0;

	train->first_lost = train->count;
	for (uint32_t i = 0; i < train->count; i++) {
		if (wh_train_saw(train, i)) {
			run = 0;
			continue;
		}
		if (train->first_lost == train->count)
			train->first_lost = i;
		train->lost_runs += run == 0;
		run++;
		if (run > train->longest_run)
			train->longest_run = run;
	}
}

bool wh_train_read(struct wh_train *train, const uint64_t *arrival, uint32_t arrivals,
	uint32_t count, uint32_t wire_bytes)
{
	uint32_t highest = 0;
	uint32_t before_ns = 0;

	WH_ASSERT(count > 0 && count <= WH_PROBE_PKTS_MAX && wire_bytes > 0);
	*train = (struct wh_train){.count = count, .wire_bytes = wire_bytes};
	for (uint32_t i = 0; i < arrivals; i++) {
		uint32_t index = wh_arrival_index(arrival[i]);
		uint32_t at_ns = wh_arrival_ns(arrival[i]);

		if (index >= count || at_ns < before_ns)
			return false;
		before_ns = at_ns;
		if (wh_train_saw(train, index)) {
			train->duplicates++;
			continue;
		}
		train->seen[index / 64] |= UINT64_C(1) << index % 64;
		train->arrived++;
		if (index > highest) {
			highest = index;
		} else if (index < highest) {
			train->overtaken++;
			if (highest - index > train->overtaken_by)
				train->overtaken_by = highest - index;
		}
	}
	note_losses(train);
	if (arrivals > 0)
		train->span_ns = before_ns - wh_arrival_ns(arrival[0]);
	if (train->span_ns > 0 && before_ns < UINT32_MAX)
		train->arrival_bps = (double)(arrivals - 1) * wire_bytes * BITS_PER_BYTE *
				     (double)WH_NS_PER_S / (double)train->span_ns;
	return true;
}

double wh_train_lost_share(const struct wh_train *train, uint32_t from, uint32_t end)
{
	uint32_t lost = 0;

	WH_ASSERT(end <= train->count);
	for (uint32_t i = from; i < end; i++)
		lost += !wh_train_saw(train, i);
	return from < end ? (double)lost / (end - from) : 0.0;
}

uint32_t wh_train_overflow(const struct wh_train *train, double share)
{
	if (share < OVERFLOW_SHARE_MIN)
		return train->count;

	uint32_t window = (uint32_t)ceil(OVERFLOW_LOSSES / share);

	for (uint32_t first = train->first_lost; first < train->count; first++) {
		uint32_t end = first + window < train->count ? first + window : train->count;
		uint32_t lost = 0;

		if (wh_train_saw(train, first))
			continue;
		for (uint32_t i = first; i < end; i++)
			lost += !wh_train_saw(train, i);
		if (lost >= OVERFLOW_LOSSES / 2 && lost >= share * (end - first) / 2)
			return first;
	}
	return train->count;
}

static int by_value(const void *a, const void *b)
{
	uint32_t left = *(const uint32_t *)a;
	uint32_t right = *(const uint32_t *)b;

	return (left > right) - (left < right);
}

double wh_train_pairs_bps(
	const struct wh_train *train, const uint64_t *arrival, uint32_t arrivals, uint32_t *pairs)
{
	uint32_t between_ns[WH_TRAIN_PAIRS_MAX];

	*pairs = 0;
	for (uint32_t i = 1; i < arrivals && *pairs < WH_TRAIN_PAIRS_MAX; i++) {
		uint32_t index = wh_arrival_index(arrival[i]);

		if (index % 2 == 1 && wh_arrival_index(arrival[i - 1]) == index - 1)
			between_ns[(*pairs)++] =
				wh_arrival_ns(arrival[i]) - wh_arrival_ns(arrival[i - 1]);
	}
	if (*pairs == 0)
		return 0.0;
	qsort(between_ns, *pairs, sizeof(between_ns[0]), by_value);

	uint32_t median_ns = between_ns[*pairs / 2];

	return median_ns == 0 ? 0.0
			      : train->wire_bytes * BITS_PER_BYTE * (double)WH_NS_PER_S / median_ns;
}
