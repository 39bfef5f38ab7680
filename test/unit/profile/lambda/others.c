/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile/lambda/others.h"

#include "unit.h"

const char wh_suite_name[] = "lambda_others";

#define HZ  1000000000
#define WAY 1000.0 /* packets in a second that it bears */

static bool fill(struct wh_lambda_others *others, const struct wh_lambda_path *path, double at_s,
	double rate_pps)
{
	return wh_lambda_others_fill(others, path, (uint64_t)(at_s * HZ), rate_pps, 1e-4, 0.0, WAY);
}

/* A queue for as long as it takes is others'; one that goes in between begins anew. */
static void test_filled(void)
{
	struct wh_lambda_path path = {
		.hz = HZ,
		.least = {{.known = true, .rtt_tsc = HZ / 50}},
		.sample = {.queue_s = 20e-3},
	};
	struct wh_lambda_others others = {0};

	CU_ASSERT_FALSE(fill(&others, &path, 1.0, 500.0));
	CU_ASSERT_FALSE(fill(&others, &path, 1.25, 100.0));
	path.sample.queue_s = 1e-3;
	CU_ASSERT_FALSE(fill(&others, &path, 1.5, 100.0));
	path.sample.queue_s = 20e-3;
	CU_ASSERT_FALSE(fill(&others, &path, 2.0, 90.0));
	CU_ASSERT_TRUE(fill(&others, &path, 2.6, 50.0));
	CU_ASSERT_EQUAL(others.full_pps, 90.0);
}

/* Beside contention a queue must be longer, and stand for longer in sum. */
static void test_filled_by_contention(void)
{
	struct wh_lambda_path path = {
		.hz = HZ,
		.least = {{.known = true, .rtt_tsc = HZ / 50}},
		.sample = {.queue_s = 6.5e-3},
	};
	struct wh_lambda_others others = {.contended = true};
	double at_s = 1.0;

	for (; at_s < 10.0; at_s += 0.1)
		CU_ASSERT_FALSE(fill(&others, &path, at_s, 300.0));
	path.sample.queue_s = 6.7e-3;
	for (; at_s < 12.0; at_s += 0.1)
		CU_ASSERT_FALSE(fill(&others, &path, at_s, 200.0));
	path.sample.queue_s = 0.0;
	for (; at_s < 13.0; at_s += 0.1)
		CU_ASSERT_FALSE(fill(&others, &path, at_s, 200.0));
	path.sample.queue_s = 6.7e-3;
	for (; at_s < 14.95; at_s += 0.1)
		CU_ASSERT_FALSE(fill(&others, &path, at_s, 100.0));
	CU_ASSERT_TRUE(fill(&others, &path, at_s + 0.1, 100.0));
	CU_ASSERT_EQUAL(others.full_pps, 300.0);
}

/* Settled contention empties the queue from time to time, if only nearly. */
static void test_never_empty(void)
{
	struct wh_lambda_path path = {
		.hz = HZ,
		.least = {{.known = true, .rtt_tsc = HZ / 50}},
		.sample = {.queue_s = 1.1e-3},
	};
	struct wh_lambda_others others = {.contended = true};
	double at_s = 1.0;

	for (; at_s < 20.0; at_s += 0.1)
		CU_ASSERT_FALSE(fill(&others, &path, at_s, 300.0));
	others.settled = true;
	for (; at_s < 25.0; at_s += 0.1)
		CU_ASSERT_FALSE(fill(&others, &path, at_s, 300.0));
	path.sample.queue_s = 0.9e-3;
	CU_ASSERT_FALSE(fill(&others, &path, at_s, 300.0));
	path.sample.queue_s = 1.1e-3;
	CU_ASSERT_FALSE(fill(&others, &path, at_s + 5.9, 300.0));
	CU_ASSERT_TRUE(fill(&others, &path, at_s + 6.1, 300.0));

	/* Another contention has its own six seconds. */
	others.contended = false;
	path.sample.queue_s = 0.0;
	CU_ASSERT_FALSE(fill(&others, &path, 60.0, 300.0));
	others.contended = true;
	path.sample.queue_s = 1.1e-3;
	CU_ASSERT_FALSE(fill(&others, &path, 90.0, 300.0));
	CU_ASSERT_FALSE(fill(&others, &path, 95.9, 300.0));
	CU_ASSERT_TRUE(fill(&others, &path, 96.1, 300.0));
}

/* While contending flows' shares are new its own pushes overflow queues; later a short one. */
static void test_overflows_in_contention(void)
{
	const struct {
		bool settled;
		double peak_s;
		bool others;
	} cases[] = {{false, 1e-3, false}, {true, 1e-3, true}, {true, 7e-3, false}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct wh_lambda_others others = {.contended = true, .settled = cases[i].settled};
		struct wh_lambda_path path = {
			.hz = HZ,
			.least = {{.known = true, .rtt_tsc = HZ / 50}},
			.sample = {.arrival_pps = 900.0,
				.peak_s = cases[i].peak_s,
				.seen_pkts = 100,
				.lost_pkts = 2},
		};

		CU_ASSERT_FALSE(fill(&others, &path, 1.0, 900.0));
		CU_ASSERT_FALSE(fill(&others, &path, 1.5, 900.0));
		CU_ASSERT_EQUAL(fill(&others, &path, 2.0, 900.0), cases[i].others);
	}
}

/* What seemed a longer way and falls was a queue; what stays is a longer way. */
static void test_disproved(void)
{
	struct wh_lambda_path path = {.hz = HZ, .least = {{.known = true, .rtt_tsc = HZ / 50}}};
	struct wh_lambda_others others = {0};

	wh_lambda_others_doubt(&others, &path, HZ);
	path.least[0].rtt_tsc = HZ / 25;
	CU_ASSERT_FALSE(wh_lambda_others_disprove(&others, &path, HZ + 1));
	path.least[0].rtt_tsc = HZ / 25 - HZ / 2500;
	CU_ASSERT_FALSE(wh_lambda_others_disprove(&others, &path, HZ + 2));
	path.least[0].rtt_tsc = HZ / 25 - HZ / 500;
	CU_ASSERT_TRUE(wh_lambda_others_disprove(&others, &path, HZ + 3));
	CU_ASSERT_EQUAL(path.least[0].rtt_tsc, HZ / 50);
	CU_ASSERT_FALSE(wh_lambda_others_disprove(&others, &path, HZ + 4));
}

/* Who goes faster than what arrived before overflows a queue by himself. */
static void test_raised(void)
{
	struct wh_lambda_others others = {0};
	struct wh_lambda_path path = {
		.hz = HZ,
		.least = {{.known = true, .rtt_tsc = HZ / 50}},
		.sample = {.arrival_pps = 100.0, .peak_s = 1e-3, .seen_pkts = 100, .lost_pkts = 2},
	};

	for (int sample = 0; sample < 9; sample++) {
		path.sample.sent_pps = 1.1 * path.sample.arrival_pps;
		path.sample.arrival_pps *= 1.1;
		CU_ASSERT_FALSE(fill(&others, &path, 1.0 + 0.2 * sample, 100.0));
	}
}

/* A short queue that overflows three times, and a tenth of the way is left: others are there. */
static void test_overflows(void)
{
	const struct {
		double arrival_pps, peak_s;
		uint64_t lost_pkts;
		double apart_s;
		bool others;
	} cases[] = {
		{900.0, 1e-3, 2, 0.5, true}, {990.0, 1e-3, 2, 0.5, false}, /* all is ours */
		{900.0, 1e-4, 2, 0.5, false},                              /* there is no queue */
		{900.0, 1e-3, 0, 0.5, false},                              /* nothing is lost */
		{900.0, 1e-3, 2, 5.0, false},                              /* too seldom */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct wh_lambda_others others = {0};
		struct wh_lambda_path path = {
			.hz = HZ,
			.least = {{.known = true, .rtt_tsc = HZ / 50}},
			.sample = {.arrival_pps = cases[i].arrival_pps,
				.peak_s = cases[i].peak_s,
				.seen_pkts = 100,
				.lost_pkts = cases[i].lost_pkts},
		};

		CU_ASSERT_FALSE(fill(&others, &path, 1.0, 900.0));
		CU_ASSERT_FALSE(fill(&others, &path, 1.0 + cases[i].apart_s, 900.0));
		CU_ASSERT_EQUAL(
			fill(&others, &path, 1.0 + 2.0 * cases[i].apart_s, 900.0), cases[i].others);
	}
}

CU_TestInfo wh_tests[] = {
	{"filled", test_filled},
	{"filled by contention", test_filled_by_contention},
	{"disproved", test_disproved},
	{"raised", test_raised},
	{"overflows", test_overflows},
	{"overflows in contention", test_overflows_in_contention},
	{"never empty", test_never_empty},
	CU_TEST_INFO_NULL,
};
