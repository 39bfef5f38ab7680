/* SPDX-License-Identifier: BSD-3-Clause */
#include "host/tsc.h"

#include <time.h>

#include <rte_cycles.h>

#include "base/assert.h"
#include "base/clock.h"

/*
 * The kernel's clock is read between two readings of the TSC: the closer these are, the more
 * precise it is. Of this many attempts the closest is used.
 */
#define READINGS 16

#define SPAN_MIN_NS INT64_C(10000000)

static uint64_t raw_ns(void)
{
	struct timespec now;
	int rc = clock_gettime(CLOCK_MONOTONIC_RAW, &now);

	WH_ASSERT(rc == 0);
	return (uint64_t)now.tv_sec * WH_NS_PER_S + (uint64_t)now.tv_nsec;
}

struct wh_tsc_stamp wh_tsc_stamp(void)
{
	struct wh_tsc_stamp best = {0};
	uint64_t best_gap = UINT64_MAX;

	for (int i = 0; i < READINGS; i++) {
		uint64_t before = rte_rdtsc_precise();
		uint64_t ns = raw_ns();
		uint64_t gap = rte_rdtsc_precise() - before;

		if (gap >= best_gap)
			continue;
		best_gap = gap;
		best = (struct wh_tsc_stamp){.tsc = before + gap / 2, .ns = ns};
	}
	return best;
}

static struct wh_tsc_stamp begun; /* ns 0: not called */

void wh_tsc_begin(void)
{
	begun = wh_tsc_stamp();
}

struct wh_tsc_stamp wh_tsc_began(void)
{
	return begun.ns != 0 ? begun : wh_tsc_stamp();
}

uint64_t wh_tsc_measure_hz(const struct wh_tsc_stamp *since)
{
	int64_t left_ns = SPAN_MIN_NS - (int64_t)(raw_ns() - since->ns);

	if (left_ns > 0)
		nanosleep(&(struct timespec){.tv_nsec = left_ns}, NULL);

	struct wh_tsc_stamp now = wh_tsc_stamp();
	unsigned __int128 cycles = now.tsc - since->tsc;

	WH_ASSERT(now.ns > since->ns && now.tsc > since->tsc);
	return (uint64_t)(cycles * WH_NS_PER_S / (now.ns - since->ns));
}
