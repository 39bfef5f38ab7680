/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/histogram.h"

#include "../../rig/histogram_total.h"
#include "unit.h"

const char wh_suite_name[] = "histogram";

static void test_buckets(void)
{
	static const struct {
		uint64_t value;
		uint32_t bucket;
		uint64_t largest; /* of the same bucket */
	} cases[] = {
		{0, 0, 0},
		{1, 1, 1},
		{7, 7, 7},
		{8, 8, 8},
		{15, 15, 15},
		{16, 16, 17}, /* shift 1: 8 * 1 + 8 */
		{17, 16, 17},
		{18, 17, 19},
		{31, 23, 31},     /* 8 * 1 + 15 */
		{32, 24, 35},     /* shift 2: four values each */
		{1000, 63, 1023}, /* shift 6: 1000 / 64 is 15 */
		{1024, 64, 1151},
		{1151, 64, 1151},
		{1152, 65, 1279},
		{UINT64_C(1) << 40, 8 * 37 + 8, (UINT64_C(1) << 40) + (UINT64_C(1) << 37) - 1},
		{UINT64_C(1) << 63, 488, (UINT64_C(9) << 60) - 1},
		{(UINT64_C(15) << 60) - 1, 494, (UINT64_C(15) << 60) - 1},
		{UINT64_C(15) << 60, 495, UINT64_MAX},
		{UINT64_MAX, 495, UINT64_MAX},
	};

	CU_ASSERT_EQUAL(WH_HISTOGRAM_BUCKETS, 496);
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct wh_histogram histogram = {0};

		wh_histogram_add(&histogram, cases[i].value);
		for (uint32_t b = 0; b < WH_HISTOGRAM_BUCKETS; b++)
			CU_ASSERT_EQUAL(histogram.count[b], b == cases[i].bucket);
		CU_ASSERT_EQUAL(wh_histogram_quantile(&histogram, 1.0), cases[i].largest);
	}
}

/* No value is told by more than an eighth too large, and none too small. */
static void test_precision(void)
{
	for (uint64_t value = 1; value < UINT64_MAX / 2; value += value / 5 + 1) {
		struct wh_histogram histogram = {0};

		wh_histogram_add(&histogram, value);

		uint64_t told = wh_histogram_quantile(&histogram, 0.5);

		CU_ASSERT(told >= value && told - value <= value / 8);
	}
}

/* 90 zeros, nine times 5, one 100 (96 to 103). */
static void test_quantiles(void)
{
	static const struct {
		double share;
		uint64_t value;
	} cases[] = {{0.0, 0}, {0.5, 0}, {0.9, 0}, {0.901, 5}, {0.99, 5}, {0.991, 103}, {1.0, 103}};
	struct wh_histogram histogram = {0};

	CU_ASSERT_EQUAL(wh_rig_histogram_total(&histogram), 0);
	CU_ASSERT_EQUAL(wh_histogram_quantile(&histogram, 0.0), 0);
	CU_ASSERT_EQUAL(wh_histogram_quantile(&histogram, 1.0), 0);
	for (int i = 0; i < 90; i++)
		wh_histogram_add(&histogram, 0);
	for (int i = 0; i < 9; i++)
		wh_histogram_add(&histogram, 5);
	wh_histogram_add(&histogram, 100);
	CU_ASSERT_EQUAL(wh_rig_histogram_total(&histogram), 100);
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		CU_ASSERT_EQUAL(wh_histogram_quantile(&histogram, cases[i].share), cases[i].value);
}

/* The same with 64 buckets for each power of two: values below 128 have one each. */
static void test_fineness(void)
{
	static const struct {
		uint64_t value;
		uint32_t bucket;
		uint64_t largest;
	} cases[] = {{0, 0, 0}, {127, 127, 127}, {128, 128, 129}, {1000, 317, 1007},
		{UINT64_MAX, WH_BUCKETS(6) - 1, UINT64_MAX}};
	uint64_t count[WH_BUCKETS(6)] = {0};

	CU_ASSERT_EQUAL(WH_BUCKETS(6), 3776);
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		CU_ASSERT_EQUAL(wh_bucket_of(cases[i].value, 6), cases[i].bucket);
		count[cases[i].bucket]++;
		CU_ASSERT_EQUAL(wh_buckets_quantile(count, 6, 1.0), cases[i].largest);
	}
	CU_ASSERT_EQUAL(wh_buckets_quantile(count, 6, 0.6), 129);
}

CU_TestInfo wh_tests[] = {
	{"values and their buckets", test_buckets},
	{"to an eighth", test_precision},
	{"quantiles", test_quantiles},
	{"other fineness", test_fineness},
	CU_TEST_INFO_NULL,
};
