/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure/skew.h"

#include <math.h>

#include "base/prng.h"
#include "measure/trend.h"
#include "unit.h"

const char wh_suite_name[] = "skew";

#define HZ  UINT64_C(1000000000)
#define US  (HZ / 1000000)
#define SYN (10 * 1000 * US)

/* One clock runs `ppm` faster than the other; stamps are whole microseconds. */
static int64_t stamped(uint64_t at_tsc, double delay_us, double ppm)
{
	return (int64_t)floor((double)at_tsc / (double)US * ppm * 1e-6 + delay_us) * (int64_t)US;
}

/* A delay of 5 ms and nothing else: the slope is the skew, to a microsecond in 15 s of blocks. */
static void test_slope_is_the_skew(void)
{
	static const double ppms[] = {-100, -54, -1, 0, 0.3, 5, 54, 100, 200};
	static const uint64_t origins[] = {0, UINT64_MAX - 3 * HZ};

	for (size_t o = 0; o < 2; o++)
		for (size_t i = 0; i < sizeof(ppms) / sizeof(ppms[0]); i++) {
			struct wh_skew skew;

			wh_skew_init(&skew, HZ, US);
			for (uint64_t at = 0; at < 30 * HZ; at += SYN)
				wh_skew_add(&skew, origins[o] + at, stamped(at, 5000, ppms[i]));
			CU_ASSERT_TRUE(wh_skew_known(&skew));
			WH_ASSERT_NEAR(wh_skew_slope(&skew) * 1e6, ppms[i], 0.25);
		}
}

/* Known after four blocks, and not before; until then a delay is what it is. */
static void test_known(void)
{
	struct wh_skew skew;

	wh_skew_init(&skew, HZ, US);
	for (uint64_t at = 0; at < 4 * HZ; at += SYN) {
		wh_skew_add(&skew, at, stamped(at, 5000, 100));
		CU_ASSERT_FALSE(wh_skew_known(&skew));
		CU_ASSERT_EQUAL(
			wh_skew_corrected(&skew), stamped(at, 5000, 100) - stamped(0, 5000, 100));
	}
	wh_skew_add(&skew, 4 * HZ, stamped(4 * HZ, 5000, 100));
	CU_ASSERT_TRUE(wh_skew_known(&skew));
}

static uint32_t warnings(double ppm, double (*delay_us)(uint64_t at_tsc, struct wh_prng *prng))
{
	struct wh_prng prng;
	struct wh_skew skew;
	struct wh_trend trend;
	uint32_t count = 0;

	wh_prng_init(&prng, 7);
	wh_skew_init(&skew, HZ, US);
	wh_trend_init(&trend);
	for (uint64_t at = 0; at < 120 * HZ; at += SYN) {
		wh_skew_add(&skew, at, stamped(at, delay_us(at, &prng), ppm));
		if (!wh_skew_known(&skew))
			continue;
		wh_trend_add(&trend, wh_skew_corrected(&skew));
		count += wh_trend_increasing(&trend);
	}
	return count;
}

static double level(uint64_t at_tsc, struct wh_prng *prng)
{
	(void)at_tsc;
	(void)prng;
	return 5000;
}

/* As a schedule's noise: 0 to 20 us more, and now and then 2 ms. */
static double noisy(uint64_t at_tsc, struct wh_prng *prng)
{
	(void)at_tsc;
	return 5000 + 20 * wh_prng_unit(prng) + (wh_prng_unit(prng) < 0.01 ? 2000 : 0);
}

/* A queue that fills for 4 s by 1 ms a second, and is empty for a second. */
static double sawtooth(uint64_t at_tsc, struct wh_prng *prng)
{
	double s = fmod((double)at_tsc / (double)HZ, 5.0);

	(void)prng;
	return 5000 + (s < 4.0 ? 1000 * s : 0);
}

/* A level delay never warns, whatever the clocks do; a queue does, for most of its growth. */
static void test_trend_is_the_paths(void)
{
	static const double ppms[] = {-100, -54, -5, -0.3, 0, 0.3, 5, 10, 54, 100};

	for (size_t i = 0; i < sizeof(ppms) / sizeof(ppms[0]); i++) {
		CU_ASSERT_EQUAL(warnings(ppms[i], level), 0);
		/* Of 11,600 windows of noise no more than without skew, one in a hundred. */
		CU_ASSERT_TRUE(warnings(ppms[i], noisy) <= 116);
		/* 116 s of which four fifths rise, but for the first 150 ms. */
		CU_ASSERT_TRUE(warnings(ppms[i], sawtooth) >= 8000);
	}
}

/* What is steeper than crystals are is the path's: 10,000 ppm are 100 us in each SYN. */
static void test_bound(void)
{
	struct wh_skew skew;

	wh_skew_init(&skew, HZ, US);
	for (uint64_t at = 0; at < 30 * HZ; at += SYN)
		wh_skew_add(&skew, at, stamped(at, 5000, 10000));
	WH_ASSERT_NEAR(wh_skew_slope(&skew), 300e-6, 1e-12);

	/* A stamp of a liar's, and of an hour ago. */
	wh_skew_init(&skew, HZ, US);
	for (uint64_t at = 0; at < 30 * HZ; at += SYN)
		wh_skew_add(&skew, at % (7 * HZ), at % (2 * SYN) == 0 ? INT64_MAX : INT64_MIN);
	CU_ASSERT_TRUE(fabs(wh_skew_slope(&skew)) <= 300e-6);
	CU_ASSERT_TRUE(llabs(wh_skew_corrected(&skew)) <= INT64_C(2000000000000000));
}

CU_TestInfo wh_tests[] = {
	{"slope is the skew", test_slope_is_the_skew},
	{"known", test_known},
	{"trend is the path's", test_trend_is_the_paths},
	{"bound", test_bound},
	CU_TEST_INFO_NULL,
};
