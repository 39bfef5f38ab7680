/* SPDX-License-Identifier: BSD-3-Clause */

/* (1) to (4) of lambda-tcp.txt, by hand: f = 1 Gb/s, s = 622 Mb/s, packets of 1000 bytes. */

#include "measure/bottleneck.h"

#include "unit.h"

const char wh_suite_name[] = "bottleneck";

#define MBPS 1e6

/* The switch of Fig. 1 with "approximately 0.5 MBytes". */
static const struct wh_bottleneck tdm = {
	.fast_bps = 1000 * MBPS, .slow_bps = 622 * MBPS, .memory_bytes = 500000, .rtt_s = 0.1};

/* "We set Nd = 0 and Nb = 1500": the PC sends 900 Mb/s at most, for which it is less. */
static void test_memory(void)
{
	/* 1500 * 1000 * 378 / 1000; 1500 * 1000 * 278 / 900 */
	CU_ASSERT_DOUBLE_EQUAL(
		wh_bottleneck_memory_bytes(1000 * MBPS, 622 * MBPS, 1500, 1000), 567000, 1e-6);
	CU_ASSERT_DOUBLE_EQUAL(
		wh_bottleneck_memory_bytes(900 * MBPS, 622 * MBPS, 1500, 1000), 463333.333, 1e-3);
}

static void test_rate(void)
{
	struct wh_bottleneck slow = tdm;

	/* 4 Mbit / 0.1 s / 0.378 */
	CU_ASSERT_DOUBLE_EQUAL(wh_bottleneck_rate_bps(&slow), 105.820 * MBPS, 0.001 * MBPS);
	slow.memory_bytes = wh_bottleneck_wanted_bytes(slow.fast_bps, slow.slow_bps, slow.rtt_s);
	CU_ASSERT_DOUBLE_EQUAL(wh_bottleneck_rate_bps(&slow), slow.slow_bps, 1);
}

/* The text prints 3.1 MB; Fig. 3 is drawn with f = 1024. */
static void test_wanted(void)
{
	CU_ASSERT_DOUBLE_EQUAL(
		wh_bottleneck_wanted_bytes(1000 * MBPS, 622 * MBPS, 0.1), 2938950, 1e-3);
	CU_ASSERT_DOUBLE_EQUAL(
		wh_bottleneck_wanted_bytes(1024 * MBPS, 622 * MBPS, 0.1), 3052294.92, 0.01);
	CU_ASSERT_DOUBLE_EQUAL(
		wh_bottleneck_wanted_bytes(1024 * MBPS, 512 * MBPS, 0.1), 3200000, 1e-3);
	CU_ASSERT(wh_bottleneck_wanted_bytes(1024 * MBPS, 511 * MBPS, 0.1) < 3200000);
	CU_ASSERT(wh_bottleneck_wanted_bytes(1024 * MBPS, 513 * MBPS, 0.1) < 3200000);
}

static void test_forbidden(void)
{
	static const struct {
		double memory_bytes, rtt_s, low_bps, high_bps;
	} cases[] = {
		/* 4 M / f R: 0.106667, 0.16, 0.18144 and a hair below 1 */
		{500000, 0.150, 27.4184 * MBPS, 972.5816 * MBPS},
		{500000, 0.100, 41.7424 * MBPS, 958.2576 * MBPS},
		{567000, 0.100, 47.6285 * MBPS, 952.3715 * MBPS},
		{500000, 0.0160001, 498.7500 * MBPS, 501.2500 * MBPS},
	};
	double low_bps = -1;
	double high_bps = -1;

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct wh_bottleneck far = {.fast_bps = 1000 * MBPS,
			.memory_bytes = cases[i].memory_bytes,
			.rtt_s = cases[i].rtt_s};

		CU_ASSERT_TRUE(wh_bottleneck_forbidden(&far, &low_bps, &high_bps));
		CU_ASSERT_DOUBLE_EQUAL(low_bps, cases[i].low_bps, 100);
		CU_ASSERT_DOUBLE_EQUAL(high_bps, cases[i].high_bps, 100);
		/* At its edge the memory is just what (3) wants. */
		CU_ASSERT_DOUBLE_EQUAL(wh_bottleneck_wanted_bytes(far.fast_bps, low_bps, far.rtt_s),
			far.memory_bytes, 1e-3);
		CU_ASSERT_DOUBLE_EQUAL(
			wh_bottleneck_wanted_bytes(far.fast_bps, high_bps, far.rtt_s),
			far.memory_bytes, 1e-3);
	}

	struct wh_bottleneck near = tdm;

	CU_ASSERT_DOUBLE_EQUAL(wh_bottleneck_close_rtt_s(&near), 0.016, 1e-12);
	near.rtt_s = 0.016;
	low_bps = -1;
	CU_ASSERT_FALSE(wh_bottleneck_forbidden(&near, &low_bps, &high_bps));
	near.rtt_s = 0.001;
	CU_ASSERT_FALSE(wh_bottleneck_forbidden(&near, &low_bps, &high_bps));
	CU_ASSERT_EQUAL(low_bps, -1);
}

CU_TestInfo wh_tests[] = {
	{"the memory by the longest burst", test_memory},
	{"the rate that the memory allows", test_rate},
	{"the memory that a rate wants", test_wanted},
	{"the forbidden area and where it closes", test_forbidden},
	CU_TEST_INFO_NULL,
};
