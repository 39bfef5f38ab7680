/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile/bucket.h"

#include <math.h>

#include "unit.h"

const char wh_suite_name[] = "bucket";

static const struct wh_bucket_rules printed = {
	.history = 0.9, .threshold = 0.05, .feed_scales = true};

static struct wh_bucket filled(const struct wh_bucket_rules *rules, double capacity, double feed,
	double tokens, double rtt)
{
	struct wh_bucket bucket;

	wh_bucket_init(&bucket, rules);
	wh_bucket_fill(&bucket, capacity, feed, tokens, rtt);
	return bucket;
}

/* III B.3: 16 becomes 14.888 by a ratio of 0.305, and 15 as a size; the probe took 0.078 s. */
static void test_scaling_of_the_example(void)
{
	struct wh_bucket bucket = filled(&printed, 16, 1, 8, 0.078);

	WH_ASSERT_NEAR(0.9 * 16 + 0.1 * (16 * 0.305), 14.888, 1e-12);
	CU_ASSERT_TRUE(fabs(wh_bucket_scale(&printed, 0.9, 16, 0.305, 1) - 14.888) < 1e-12);
	CU_ASSERT_EQUAL(floor(1000 * 0.078 / 0.255), 305); /* truncated: it is 0.30588 */
	CU_ASSERT_TRUE(wh_bucket_measure(&bucket, 0.255));
	CU_ASSERT_EQUAL(bucket.capacity, 15);
	WH_ASSERT_NEAR(bucket.feed, 0.9 + 0.1 * 0.078 / 0.255, 1e-12);
	WH_ASSERT_NEAR(bucket.tokens, 8 * (0.9 + 0.1 * 0.078 / 0.255), 1e-12);
}

/* From 1.630 to 0.938 s, at 2.8 s of the same example. */
static void test_growth_by_ratio_and_by_share(void)
{
	struct wh_bucket_rules rules = printed;
	struct wh_bucket bucket = filled(&rules, 100, 1, 10, 1.630);

	CU_ASSERT_TRUE(wh_bucket_measure(&bucket, 0.938));
	WH_ASSERT_NEAR(bucket.tokens, 10 * (0.9 + 0.1 * 1.630 / 0.938), 1e-12);

	/* IV B.1: "if a 15% decrease in RTT is detected [...] (1.15 * bucketValue)". */
	rules.growth_by_share = true;
	WH_ASSERT_NEAR(wh_bucket_scale(&rules, 0, 10, 1.0, 0.85), 11.5, 1e-12);
	WH_ASSERT_NEAR(wh_bucket_scale(&rules, 0.5, 10, 1.0, 0.85), 10.75, 1e-12);
	WH_ASSERT_NEAR(wh_bucket_scale(&rules, 0, 10, 0.85, 1.0), 8.5, 1e-12);
	rules.growth_by_share = false;
	WH_ASSERT_NEAR(wh_bucket_scale(&rules, 0, 10, 1.0, 0.85), 10 / 0.85, 1e-12);
}

/* 5 % is no change, a little more is one; each new round trip is what the next is held against. */
static void test_threshold(void)
{
	struct wh_bucket bucket = filled(&printed, 64, 1, 32, 100);

	CU_ASSERT_FALSE(wh_bucket_measure(&bucket, 105));
	CU_ASSERT_FALSE(wh_bucket_measure(&bucket, 110));
	CU_ASSERT_FALSE(wh_bucket_measure(&bucket, 104.5));
	CU_ASSERT_EQUAL(bucket.scalings, 0);
	CU_ASSERT_EQUAL(bucket.tokens, 32);
	CU_ASSERT_TRUE(wh_bucket_measure(&bucket, 104.5 * 1.0501));
	CU_ASSERT_FALSE(wh_bucket_measure(&bucket, 104.5)); /* 4.8 % of the last one */
	CU_ASSERT_TRUE(wh_bucket_measure(&bucket, 99.2));
	CU_ASSERT_EQUAL(bucket.scalings, 2);
}

/* III B: sigma + rho S, and the longest burst S = sigma / (M - rho); of a feed by time. */
static void test_longest_burst(void)
{
	static const struct {
		double sigma, rho, most;
	} cases[] = {{250, 10, 110}, {64, 1, 1001}, {8, 8, 24}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		double step = 1 / cases[i].most;
		struct wh_bucket bucket =
			filled(&printed, cases[i].sigma, cases[i].rho, cases[i].sigma, 1);
		double sent = 0;
		double now = 0;

		while (wh_bucket_whole(&bucket) > 0) {
			wh_bucket_take(&bucket, 1);
			sent++;
			now += step;
			wh_bucket_feed(&bucket, step);
		}

		double longest = cases[i].sigma / (cases[i].most - cases[i].rho);

		CU_ASSERT_TRUE(fabs(now - longest) <= 2 * step);
		CU_ASSERT_TRUE(sent <= cases[i].sigma + cases[i].rho * now + 1e-9);
		CU_ASSERT_TRUE(sent >= cases[i].sigma + cases[i].rho * now - 2);
	}
}

/* III B.2: rho (alpha + beta) + tokens may go in an on period, if the bucket holds them. */
static void test_on_and_off(void)
{
	struct wh_bucket bucket = filled(&printed, 100, 10, 7, 1);
	double sent = 0;

	wh_bucket_feed(&bucket, 2); /* off */
	for (int i = 0; i < 100; i++) {
		wh_bucket_feed(&bucket, 0.03); /* on */
		for (; wh_bucket_whole(&bucket) > 0; sent++)
			wh_bucket_take(&bucket, 1);
	}
	CU_ASSERT_EQUAL(sent, 10 * (2 + 3) + 7);

	bucket = filled(&printed, 20, 10, 7, 1);
	wh_bucket_feed(&bucket, 60);
	CU_ASSERT_EQUAL(wh_bucket_whole(&bucket), 20);
}

/* What rounding leaves of ten tenths is a token. */
static void test_whole_tokens(void)
{
	struct wh_bucket bucket = filled(&printed, 8, 0.1, 0, 1);

	for (int i = 0; i < 10; i++)
		wh_bucket_feed(&bucket, 1);
	CU_ASSERT_EQUAL(wh_bucket_whole(&bucket), 1);
	wh_bucket_take(&bucket, 3);
	CU_ASSERT_EQUAL(bucket.tokens, 0);
}

/* Fed, then scaled; or scaled, fed, and scaled once more. */
static void test_order(void)
{
	struct wh_bucket_rules rules = {.history = 0.5, .threshold = 0.05};
	struct wh_bucket once = filled(&rules, 8, 1, 1, 1);
	struct wh_bucket twice;

	wh_bucket_hear(&once, 1, 2);
	WH_ASSERT_NEAR(once.tokens, 2 * 0.75, 1e-12);
	CU_ASSERT_EQUAL(once.feed, 1);
	rules.twice = rules.feed_scales = true;
	twice = filled(&rules, 8, 1, 1, 1);
	wh_bucket_hear(&twice, 1, 2);
	WH_ASSERT_NEAR(twice.tokens, (0.75 + 0.75) * 0.75, 1e-12);
	WH_ASSERT_NEAR(twice.feed, 0.75, 1e-12);
	/* A round trip that is not known only feeds. */
	wh_bucket_hear(&twice, 2, 0);
	WH_ASSERT_NEAR(twice.tokens, 1.125 + 1.5, 1e-12);
}

/* Changes that go on in their direction shift weight to what is new, those that go back do not. */
static void test_adaptive(void)
{
	struct wh_bucket_rules rules = {.history = 0.5, .threshold = 0.05, .adaptive = true};
	struct wh_bucket bucket = filled(&rules, 64, 1, 32, 1);

	wh_bucket_measure(&bucket, 2);
	WH_ASSERT_NEAR(bucket.history, 0.5, 1e-12);
	for (int i = 2; i < 12; i++)
		wh_bucket_measure(&bucket, exp2(i));
	WH_ASSERT_NEAR(bucket.history, 0.1, 1e-12);
	for (int i = 0; i < 20; i++)
		wh_bucket_measure(&bucket, i % 2 == 0 ? 1 : 2);
	WH_ASSERT_NEAR(bucket.history, 0.9, 1e-12);
}

/* Within the threshold of the least round trip that there ever was. */
static void test_clear_path(void)
{
	struct wh_bucket bucket = filled(&printed, 64, 1, 32, 100);

	CU_ASSERT_TRUE(wh_bucket_path_is_clear(&bucket));
	wh_bucket_measure(&bucket, 104);
	CU_ASSERT_TRUE(wh_bucket_path_is_clear(&bucket));
	wh_bucket_measure(&bucket, 106);
	CU_ASSERT_FALSE(wh_bucket_path_is_clear(&bucket));
	wh_bucket_measure(&bucket, 50);
	wh_bucket_measure(&bucket, 53);
	CU_ASSERT_FALSE(wh_bucket_path_is_clear(&bucket));
	wh_bucket_measure(&bucket, 52);
	CU_ASSERT_TRUE(wh_bucket_path_is_clear(&bucket));
}

/* Whatever round trips say, there is room for a token, and a bound. */
static void test_extremes(void)
{
	struct wh_bucket bucket = filled(&printed, 8, 1, 8, 1);

	for (int i = 0; i < 10000; i++)
		wh_bucket_hear(&bucket, 1, exp2(i % 60));
	CU_ASSERT_TRUE(bucket.capacity >= 1 && isfinite(bucket.capacity));
	CU_ASSERT_TRUE(bucket.tokens <= bucket.capacity);
	for (int i = 0; i < 1000; i++)
		wh_bucket_hear(&bucket, 1, exp2(-i));
	CU_ASSERT_TRUE(isfinite(bucket.capacity) && isfinite(bucket.feed));
	CU_ASSERT_TRUE(bucket.tokens <= bucket.capacity);
}

CU_TestInfo wh_tests[] = {
	{"the example of III B.3", test_scaling_of_the_example},
	{"growth by ratio and by share", test_growth_by_ratio_and_by_share},
	{"threshold", test_threshold},
	{"longest burst", test_longest_burst},
	{"on and off", test_on_and_off},
	{"whole tokens", test_whole_tokens},
	{"order", test_order},
	{"adaptive", test_adaptive},
	{"clear way", test_clear_path},
	{"extremes", test_extremes},
	CU_TEST_INFO_NULL,
};
