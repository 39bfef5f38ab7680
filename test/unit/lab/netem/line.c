/* SPDX-License-Identifier: BSD-3-Clause */
#include "unit.h"

#include <errno.h>

#include "base/clock.h"
#include "lab/netem/line.h"

const char wh_suite_name[] = "line";

#define HZ   WH_NS_PER_S /* a cycle is a nanosecond */
#define GBPS UINT64_C(1000000000)

static struct wh_line make(uint64_t rate_bps, uint64_t queue_bytes, uint32_t queue_pkts)
{
	const struct wh_link_model config = {
		.rate_bps = rate_bps, .queue_bytes = queue_bytes, .queue_pkts = queue_pkts};
	struct wh_line line;

	CU_ASSERT_EQUAL_FATAL(wh_line_init(&line, &config, HZ), 0);
	return line;
}

static bool enter(struct wh_line *line, uint64_t now_tsc, uint32_t wire_bytes)
{
	uint64_t leave_tsc;

	return wh_line_enter(line, now_tsc, wire_bytes, &leave_tsc);
}

/* The first whole cycle in which `bytes` have left a line that began at 0. */
static uint64_t expected_leave_tsc(uint64_t bytes, uint64_t rate_bps, uint64_t hz)
{
	unsigned __int128 cycles = (unsigned __int128)bytes * 8 * hz;

	return (uint64_t)((cycles + rate_bps - 1) / rate_bps);
}

static void rate_is_exact(void)
{
	static const uint64_t rates_bps[] = {1000000, 3000000, 10000000, 622080000, GBPS,
		UINT64_C(9953280000), 10 * GBPS, 40 * GBPS, 100 * GBPS, 400 * GBPS};
	static const uint64_t clocks_hz[] = {HZ, UINT64_C(2299998765)};
	static const uint32_t sizes[] = {84, 1538, 9038};

	for (unsigned int i = 0; i < 10 * 2; i++) {
		struct wh_link_model config = {.rate_bps = rates_bps[i / 2]};
		uint64_t hz = clocks_hz[i % 2];
		struct wh_line line;
		uint64_t bytes = 0;
		uint64_t n_wrong = 0;

		CU_ASSERT_EQUAL_FATAL(wh_line_init(&line, &config, hz), 0);
		for (unsigned int n = 0; n < 50000; n++) {
			uint64_t leave_tsc = 0;

			bytes += sizes[n % 3];
			n_wrong += !wh_line_enter(&line, 0, sizes[n % 3], &leave_tsc);
			n_wrong += leave_tsc != expected_leave_tsc(bytes, config.rate_bps, hz);
		}
		CU_ASSERT_EQUAL(n_wrong, 0);
		wh_line_free(&line);
	}
}

static void ten_million_packets_lose_no_cycle(void)
{
	struct wh_line line = make(100 * GBPS, 0, 0);
	uint64_t leave_tsc = 0;

	/* 123.04 cycles each; they come one by one, before the line runs dry. */
	for (uint64_t n = 0; n < 10000000; n++)
		wh_line_enter(&line, n * 123, 1538, &leave_tsc);
	CU_ASSERT_EQUAL(leave_tsc, UINT64_C(1230400000));
	wh_line_free(&line);
}

static void packet_times_are_rounded_up(void)
{
	struct wh_line line = make(100 * GBPS, 0, 0);

	CU_ASSERT_EQUAL(wh_line_packet_tsc(&line, 1), 1);      /* 0.08 */
	CU_ASSERT_EQUAL(wh_line_packet_tsc(&line, 1250), 100); /* 100 */
	CU_ASSERT_EQUAL(wh_line_packet_tsc(&line, 1538), 124); /* 123.04 */
	wh_line_free(&line);
}

static void an_infinite_rate_never_waits(void)
{
	struct wh_line line = make(0, 1, 1);
	uint64_t leave_tsc = 0;

	for (int n = 0; n < 100; n++) {
		CU_ASSERT_TRUE(wh_line_enter(&line, 1000, 9038, &leave_tsc));
		CU_ASSERT_EQUAL(leave_tsc, 1000);
	}
	CU_ASSERT_EQUAL(wh_line_queue_bytes(&line, 1000), 0);
	CU_ASSERT_EQUAL(wh_line_packet_tsc(&line, 9038), 0);
	CU_ASSERT_EQUAL(line.queue_bytes_max, 0);
	wh_line_free(&line);
}

static void waiting_bytes_leave_one_by_one(void)
{
	struct wh_line line = make(GBPS, 0, 0); /* 8 ns a byte */

	CU_ASSERT_EQUAL(wh_line_queue_bytes(&line, 0), 0);
	for (int n = 0; n < 3; n++)
		enter(&line, 0, 1000);
	CU_ASSERT_EQUAL(wh_line_queue_bytes(&line, 0), 3000);
	CU_ASSERT_EQUAL(wh_line_queue_bytes(&line, 1), 3000);
	CU_ASSERT_EQUAL(wh_line_queue_bytes(&line, 8), 2999);
	CU_ASSERT_EQUAL(wh_line_queue_bytes(&line, 8000), 2000);
	CU_ASSERT_EQUAL(wh_line_queue_bytes(&line, 23999), 1);
	CU_ASSERT_EQUAL(wh_line_queue_bytes(&line, 24000), 0);
	CU_ASSERT_EQUAL(wh_line_queue_bytes(&line, 1000000), 0);
	CU_ASSERT_EQUAL(line.queue_bytes_max, 3000);
	enter(&line, 16000, 500);
	CU_ASSERT_EQUAL(wh_line_queue_bytes(&line, 16000), 1500);
	CU_ASSERT_EQUAL(line.queue_bytes_max, 3000);
	enter(&line, 16000, 1501);
	CU_ASSERT_EQUAL(line.queue_bytes_max, 3001);
	wh_line_free(&line);
}

static void byte_limit_is_exact_on_both_sides(void)
{
	struct wh_line line = make(GBPS, 3000, 0);

	for (int n = 0; n < 3; n++)
		CU_ASSERT_TRUE(enter(&line, 0, 1000));
	CU_ASSERT_FALSE(enter(&line, 0, 1));
	CU_ASSERT_FALSE(enter(&line, 7, 1));
	CU_ASSERT_FALSE(enter(&line, 8, 2));
	CU_ASSERT_TRUE(enter(&line, 8, 1));
	CU_ASSERT_FALSE(enter(&line, 8007, 1000));
	CU_ASSERT_TRUE(enter(&line, 8008, 1000));
	CU_ASSERT_EQUAL(wh_line_queue_bytes(&line, 8008), 3000);
	CU_ASSERT_EQUAL(line.queue_bytes_max, 3000);

	/* What was dropped took no time on the line: 4001 bytes did. */
	CU_ASSERT_EQUAL(wh_line_queue_bytes(&line, 32007), 1);
	CU_ASSERT_EQUAL(wh_line_queue_bytes(&line, 32008), 0);
	wh_line_free(&line);

	line = make(GBPS, 2999, 0);
	CU_ASSERT_TRUE(enter(&line, 0, 1000));
	CU_ASSERT_TRUE(enter(&line, 0, 1000));
	CU_ASSERT_FALSE(enter(&line, 0, 1000));
	CU_ASSERT_TRUE(enter(&line, 0, 999));
	wh_line_free(&line);
}

static void byte_limit_is_exact_with_fractions_of_a_cycle(void)
{
	static const uint64_t rates_bps[] = {1000000, 3 * GBPS, 10 * GBPS, 100 * GBPS};

	for (unsigned int i = 0; i < 4; i++) {
		for (uint64_t less = 0; less < 2; less++) {
			struct wh_line line = make(rates_bps[i], 1538 * 700 - less, 0);
			unsigned int n_taken = 0;

			while (enter(&line, 12345, 1538))
				n_taken++;
			CU_ASSERT_EQUAL(n_taken, 700 - less);
			CU_ASSERT_EQUAL(wh_line_queue_bytes(&line, 12345), 1538 * (700 - less));
			wh_line_free(&line);
		}
	}
}

static void packet_limit_is_exact_on_both_sides(void)
{
	struct wh_line line = make(GBPS, 0, 3);

	for (int n = 0; n < 3; n++)
		CU_ASSERT_TRUE(enter(&line, 0, 1000));
	CU_ASSERT_FALSE(enter(&line, 0, 1));

	/* One leaves every 8000; the ring of three goes round many times. */
	for (uint64_t now_tsc = 8000; now_tsc < 800000; now_tsc += 8000) {
		CU_ASSERT_FALSE(enter(&line, now_tsc - 1, 1000));
		CU_ASSERT_TRUE(enter(&line, now_tsc, 1000));
		CU_ASSERT_FALSE(enter(&line, now_tsc, 1000));
	}

	/* All have left. */
	for (int n = 0; n < 3; n++)
		CU_ASSERT_TRUE(enter(&line, 900000, 9000));
	CU_ASSERT_FALSE(enter(&line, 900000, 1));
	wh_line_free(&line);
}

static void the_tighter_limit_decides(void)
{
	struct wh_line line = make(GBPS, 2000, 3);

	CU_ASSERT_TRUE(enter(&line, 0, 1000));
	CU_ASSERT_FALSE(enter(&line, 0, 1001));
	CU_ASSERT_TRUE(enter(&line, 0, 100));
	CU_ASSERT_TRUE(enter(&line, 0, 100));
	CU_ASSERT_FALSE(enter(&line, 0, 100));
	wh_line_free(&line);
}

static void an_empty_queue_takes_any_packet(void)
{
	struct wh_line line = make(GBPS, 10, 1);

	CU_ASSERT_TRUE(enter(&line, 0, 9000));
	CU_ASSERT_FALSE(enter(&line, 71999, 1));
	CU_ASSERT_TRUE(enter(&line, 72000, 9000));
	wh_line_free(&line);
}

static void a_huge_limit_is_no_limit(void)
{
	struct wh_line line = make(1000000, UINT64_MAX, 0);

	for (int n = 0; n < 1000; n++)
		CU_ASSERT_TRUE(enter(&line, 0, 65535));
	CU_ASSERT_EQUAL(wh_line_queue_bytes(&line, 0), 65535000);
	wh_line_free(&line);
}

static void rates_that_do_not_fit_the_clock_are_refused(void)
{
	static const struct {
		uint64_t hz;
		uint64_t rate_bps;
		int rc;
	} cases[] = {
		/* 2^30 cycles a byte at the most: 7.45 b/s. */
		{HZ, 7, -EINVAL},
		{HZ, 8, 0},
		{HZ, UINT64_MAX, 0},
		/* 2^-44 cycles a byte at the least: 8000 * 2^44 b/s. */
		{1000, UINT64_C(140737488355328000), 0},
		{1000, UINT64_C(140737488355329000), -EINVAL},
	};

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct wh_link_model config = {.rate_bps = cases[i].rate_bps};
		struct wh_line line;

		CU_ASSERT_EQUAL(wh_line_init(&line, &config, cases[i].hz), cases[i].rc);
		wh_line_free(&line);
	}
}

CU_TestInfo wh_tests[] = {
	{"rate is exact", rate_is_exact},
	{"ten million packets lose no cycle", ten_million_packets_lose_no_cycle},
	{"packet times are rounded up", packet_times_are_rounded_up},
	{"an infinite rate never waits", an_infinite_rate_never_waits},
	{"waiting bytes leave one by one", waiting_bytes_leave_one_by_one},
	{"byte limit is exact on both sides", byte_limit_is_exact_on_both_sides},
	{"byte limit is exact with fractions", byte_limit_is_exact_with_fractions_of_a_cycle},
	{"packet limit is exact on both sides", packet_limit_is_exact_on_both_sides},
	{"the tighter limit decides", the_tighter_limit_decides},
	{"an empty queue takes any packet", an_empty_queue_takes_any_packet},
	{"a huge limit is no limit", a_huge_limit_is_no_limit},
	{"rates that do not fit the clock are refused",
		rates_that_do_not_fit_the_clock_are_refused},
	CU_TEST_INFO_NULL,
};
