/* SPDX-License-Identifier: BSD-3-Clause */
#include "host/tsc.h"

#include <time.h>

#include <rte_cycles.h>

#include "base/clock.h"
#include "unit.h"

const char wh_suite_name[] = "tsc";

#define MS UINT64_C(1000000)

static uint64_t now_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * WH_NS_PER_S + (uint64_t)now.tv_nsec;
}

static void spin(uint64_t ns)
{
	uint64_t from_ns = now_ns(CLOCK_MONOTONIC_RAW);

	while (now_ns(CLOCK_MONOTONIC_RAW) - from_ns < ns)
		continue;
}

/* A stamp lies between what both counters say before and after it. */
static void test_stamp(void)
{
	for (int i = 0; i < 1000; i++) {
		uint64_t before_ns = now_ns(CLOCK_MONOTONIC_RAW);
		uint64_t before_tsc = rte_rdtsc_precise();
		struct wh_tsc_stamp stamp = wh_tsc_stamp();
		uint64_t after_tsc = rte_rdtsc_precise();
		uint64_t after_ns = now_ns(CLOCK_MONOTONIC_RAW);

		CU_ASSERT(before_tsc < stamp.tsc && stamp.tsc < after_tsc);
		CU_ASSERT(before_ns <= stamp.ns && stamp.ns <= after_ns);
	}
}

/* A short measurement agrees with a long one: to 10 parts in a million, usually 1. */
static void test_rate(void)
{
	struct wh_tsc_stamp began = wh_tsc_stamp();
	uint64_t from_ns = now_ns(CLOCK_MONOTONIC);
	uint64_t short_hz = wh_tsc_measure_hz(&began);

	CU_ASSERT(now_ns(CLOCK_MONOTONIC) - from_ns >= 9 * MS);
	spin(300 * MS);

	uint64_t long_hz = wh_tsc_measure_hz(&began);

	CU_ASSERT(long_hz > 100 * MS);
	CU_ASSERT(short_hz > long_hz - long_hz / 100000);
	CU_ASSERT(short_hz < long_hz + long_hz / 100000);
}

/* What is long ago is not waited for, and is measured without overflow: a day, at 1 GHz. */
static void test_long_ago(void)
{
	uint64_t day_ns = 86400 * WH_NS_PER_S;
	struct wh_tsc_stamp now = wh_tsc_stamp();
	struct wh_tsc_stamp began = {.tsc = now.tsc - day_ns, .ns = now.ns - day_ns};
	uint64_t hz;

	if (now.tsc < day_ns || now.ns < day_ns) /* the machine started since */
		began = (struct wh_tsc_stamp){.tsc = now.tsc - now.ns, .ns = 0};
	hz = wh_tsc_measure_hz(&began);
	CU_ASSERT(hz >= WH_NS_PER_S - 100 && hz < WH_NS_PER_S + WH_NS_PER_S / 1000);
}

CU_TestInfo wh_tests[] = {
	{"a stamp", test_stamp},
	{"the rate", test_rate},
	{"long ago", test_long_ago},
	CU_TEST_INFO_NULL,
};
