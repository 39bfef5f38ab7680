/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/pacer.h"

#include "../../rig/histogram_total.h"
#include "base/prng.h"
#include "unit.h"

const char wh_suite_name[] = "pacer";

#define WIRE_BYTES 1538
#define ONE_CYCLE  (UINT64_C(1) << WH_INTERVAL_FRACTION_BITS)
#define GIGA       UINT64_C(1000000000)

static struct wh_pacer pacer_at(uint64_t now_tsc, uint64_t interval_fp, uint32_t burst_pkts)
{
	struct wh_pacer pacer;

	wh_pacer_init(&pacer, now_tsc, WIRE_BYTES, burst_pkts);
	wh_pacer_set_interval(&pacer, interval_fp);
	return pacer;
}

/* Sends all that may go at this moment. */
static uint32_t release(struct wh_pacer *pacer, uint64_t now_tsc)
{
	uint32_t sent = 0;

	while (wh_pacer_due(pacer, now_tsc) && sent < 10000) {
		wh_pacer_charge(pacer, now_tsc, WIRE_BYTES);
		sent++;
	}
	return sent;
}

#define EXACT_PACKETS 10000000
#define EXACT_BURST   32

/*
 * Ten million packets. The clock jumps to each due time, or comes late by anything below the
 * burst bound. Due times stay exact to the last bit of the fraction, and the rate to 1e-6.
 */
static void drive(uint64_t hz, double rate_bps, struct wh_prng *lateness)
{
	uint64_t start_tsc = UINT64_C(1) << 50;
	uint64_t interval_fp = wh_interval_fp(hz, WIRE_BYTES, (uint64_t)rate_bps);
	struct wh_pacer pacer = pacer_at(start_tsc, interval_fp, EXACT_BURST);
	uint64_t bound_tsc = (interval_fp * EXACT_BURST) >> WH_INTERVAL_FRACTION_BITS;
	uint64_t now_tsc = start_tsc;
	uint64_t too_early = 0;

	for (uint32_t i = 0; i < EXACT_PACKETS; i++) {
		uint64_t come_tsc = pacer.due_tsc;

		if (lateness != NULL)
			come_tsc += wh_prng_below(lateness, bound_tsc);
		if (come_tsc > now_tsc)
			now_tsc = come_tsc;
		too_early += !wh_pacer_due(&pacer, now_tsc);
		wh_pacer_charge(&pacer, now_tsc, WIRE_BYTES);
	}

	uint64_t took_fp =
		((pacer.due_tsc - start_tsc) << WH_INTERVAL_FRACTION_BITS) + pacer.due_fp;

	CU_ASSERT_EQUAL(too_early, 0);
	CU_ASSERT_EQUAL(pacer.forfeited_tsc, 0);
	CU_ASSERT_EQUAL(took_fp, interval_fp * EXACT_PACKETS);
	WH_ASSERT_NEAR((double)(pacer.due_tsc - start_tsc),
		(double)hz * WIRE_BYTES * 8 / rate_bps * EXACT_PACKETS, 1e-6);
	if (lateness == NULL)
		CU_ASSERT_EQUAL(pacer.lateness_tsc.count[0], EXACT_PACKETS);
	if (lateness != NULL) /* the last packet went no later than the bound after it was due */
		CU_ASSERT(now_tsc < pacer.due_tsc + bound_tsc);
}

static void test_exact(void)
{
	static const uint64_t clocks_hz[] = {2600000000, 1000000000};
	static const double rates_bps[] = {1e9, 9.7e9, 100e9};
	struct wh_prng lateness;

	wh_prng_init(&lateness, 1);
	for (unsigned int c = 0; c < 2; c++) {
		for (unsigned int r = 0; r < 3; r++) {
			drive(clocks_hz[c], rates_bps[r], NULL);
			drive(clocks_hz[c], rates_bps[r], &lateness);
		}
	}
}

/* Whatever the burst and the fraction: a long gap releases exactly so many, then one a turn. */
static void test_long_gap(void)
{
	static const uint64_t intervals_fp[] = {ONE_CYCLE, ONE_CYCLE + 1, 2 * ONE_CYCLE - 1,
		335443657, 1290167910, 1000 * ONE_CYCLE};
	static const uint32_t bursts[] = {1, 2, 4, 32, 33, 1000};

	for (unsigned int i = 0; i < sizeof(intervals_fp) / sizeof(intervals_fp[0]); i++) {
		for (unsigned int b = 0; b < sizeof(bursts) / sizeof(bursts[0]); b++) {
			struct wh_pacer pacer = pacer_at(5, intervals_fp[i], bursts[b]);
			uint64_t now_tsc = 1000000000;

			CU_ASSERT_EQUAL(release(&pacer, now_tsc), bursts[b]);
			CU_ASSERT_EQUAL(release(&pacer, now_tsc), 0);
			CU_ASSERT(pacer.due_tsc > now_tsc);
			CU_ASSERT(pacer.due_tsc <= now_tsc + (intervals_fp[i] >> 20) + 1);
			CU_ASSERT_EQUAL(release(&pacer, pacer.due_tsc), 1);
		}
	}
}

/*
 * 1230.4 cycles, burst 4: three intervals before now is 1000000 - 3691.2, rounded down; what was
 * due at 0 moves there. After four packets (4921.6) the next is due at 996309 + 4921.
 */
static void test_forfeit_by_hand(void)
{
	struct wh_pacer pacer = pacer_at(0, 1290167910, 4);

	wh_pacer_charge(&pacer, 1000000, WIRE_BYTES);
	CU_ASSERT_EQUAL(pacer.forfeited_tsc, 996309);
	CU_ASSERT_EQUAL(pacer.due_tsc, 996309 + 1230);
	CU_ASSERT_EQUAL(release(&pacer, 1000000), 3);
	CU_ASSERT_EQUAL(pacer.forfeited_tsc, 996309);
	CU_ASSERT_EQUAL(pacer.due_tsc, 1001230);
}

/* Interval 1000, burst 4: four packets are due by 3999, a fifth would be at 4000. */
static void test_burst_edge(void)
{
	static const struct {
		uint64_t now_tsc;
		uint32_t sent;
		uint64_t forfeited_tsc, due_tsc;
	} cases[] = {
		{0, 1, 0, 1000},
		{999, 1, 0, 1000},
		{1000, 2, 0, 2000},
		{2999, 3, 0, 3000},
		{3999, 4, 0, 4000},
		{4000, 4, 1000, 5000},
		{4001, 4, 1001, 5001},
		{100000, 4, 97000, 101000},
	};

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct wh_pacer pacer = pacer_at(0, 1000 * ONE_CYCLE, 4);

		CU_ASSERT_EQUAL(release(&pacer, cases[i].now_tsc), cases[i].sent);
		CU_ASSERT_EQUAL(pacer.forfeited_tsc, cases[i].forfeited_tsc);
		CU_ASSERT_EQUAL(pacer.due_tsc, cases[i].due_tsc);
	}
}

/* 2.5 cycles, burst 1. The fraction carried decides whether a second packet is due as well. */
static void test_burst_edge_with_fraction(void)
{
	struct wh_pacer pacer = pacer_at(0, 5 * ONE_CYCLE / 2, 1);

	CU_ASSERT_EQUAL(release(&pacer, 0), 1);
	CU_ASSERT_EQUAL(pacer.due_tsc, 2);
	CU_ASSERT_EQUAL(pacer.due_fp, ONE_CYCLE / 2);
	CU_ASSERT_EQUAL(release(&pacer, 4), 1); /* due at 2.5, the second at 5: nothing forfeited */
	CU_ASSERT_EQUAL(pacer.forfeited_tsc, 0);
	CU_ASSERT_EQUAL(pacer.due_tsc, 5);
	CU_ASSERT_EQUAL(pacer.due_fp, 0);
	CU_ASSERT_EQUAL(release(&pacer, 7), 1); /* due at 5, the second in cycle 7: moved to 7 */
	CU_ASSERT_EQUAL(pacer.forfeited_tsc, 2);
	CU_ASSERT_EQUAL(pacer.due_tsc, 9);
	CU_ASSERT_EQUAL(pacer.due_fp, ONE_CYCLE / 2);
}

/* Packets of other sizes in proportion: 1000 cycles per 1538 bytes. */
static void test_sizes(void)
{
	static const struct {
		uint32_t bytes;
		uint64_t due_tsc, due_fp;
	} cases[] = {
		{1538, 1000, 0},
		{769, 500, 0},
		{84, 54, 646326}, /* 84 * 1000 * 2^20 / 1538 = 57269430.4; less 54 * 2^20 */
		{3076, 2000, 0},
		{1, 0, 681778}, /* 1000 * 2^20 / 1538 = 681778.9 */
		{0, 0, 0},
	};

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct wh_pacer pacer = pacer_at(0, 1000 * ONE_CYCLE, 4);

		wh_pacer_charge(&pacer, 0, cases[i].bytes);
		CU_ASSERT_EQUAL(pacer.due_tsc, cases[i].due_tsc);
		CU_ASSERT_EQUAL(pacer.due_fp, cases[i].due_fp);
	}

	/* The slowest interval does not overflow: 2^40 cycles, 769 of 1538 bytes. */
	struct wh_pacer slow = pacer_at(0, WH_INTERVAL_MAX_FP, UINT32_MAX);

	wh_pacer_charge(&slow, 0, 769);
	CU_ASSERT_EQUAL(slow.due_tsc, UINT64_C(1) << 39);
	wh_pacer_charge(&slow, 0, 1538);
	CU_ASSERT_EQUAL(slow.due_tsc, (UINT64_C(1) << 39) + (UINT64_C(1) << 40));
}

/* The second of a pair goes early and is charged: the third is due after two intervals. */
static void test_early(void)
{
	struct wh_pacer pacer = pacer_at(100, 1000 * ONE_CYCLE, 1);

	wh_pacer_charge(&pacer, 100, WIRE_BYTES);
	CU_ASSERT_FALSE(wh_pacer_due(&pacer, 100));
	wh_pacer_charge(&pacer, 100, WIRE_BYTES);
	CU_ASSERT_FALSE(wh_pacer_due(&pacer, 2099));
	CU_ASSERT_TRUE(wh_pacer_due(&pacer, 2100));
	CU_ASSERT_EQUAL(pacer.forfeited_tsc, 0);
	CU_ASSERT_EQUAL(pacer.lateness_tsc.count[0], 2);
}

static void test_idle_and_hold(void)
{
	struct wh_pacer pacer = pacer_at(0, 5 * ONE_CYCLE / 2, 100);

	wh_pacer_charge(&pacer, 0, WIRE_BYTES); /* next at 2.5 */
	wh_pacer_idle(&pacer, 1);
	CU_ASSERT_EQUAL(pacer.due_tsc, 2); /* still to come: stays */
	wh_pacer_idle(&pacer, 2);
	CU_ASSERT_EQUAL(pacer.due_fp, ONE_CYCLE / 2);
	wh_pacer_idle(&pacer, 200);
	CU_ASSERT_EQUAL(release(&pacer, 200), 1); /* no credit for 80 packets */
	CU_ASSERT_EQUAL(pacer.due_tsc, 202);
	CU_ASSERT_EQUAL(pacer.due_fp, ONE_CYCLE / 2);
	CU_ASSERT_EQUAL(pacer.forfeited_tsc, 0);

	wh_pacer_hold_until(&pacer, 150); /* past */
	CU_ASSERT_EQUAL(pacer.due_tsc, 202);
	wh_pacer_hold_until(&pacer, 1000);
	CU_ASSERT_FALSE(wh_pacer_due(&pacer, 999));
	CU_ASSERT_EQUAL(release(&pacer, 1000), 1);
	CU_ASSERT_EQUAL(pacer.due_tsc, 1002);
}

static void test_change_of_interval(void)
{
	struct wh_pacer pacer = pacer_at(0, 1000 * ONE_CYCLE, 4);

	wh_pacer_charge(&pacer, 0, WIRE_BYTES);
	wh_pacer_set_interval(&pacer, 10 * ONE_CYCLE);
	CU_ASSERT_EQUAL(pacer.due_tsc, 1000); /* what has been charged stays */
	wh_pacer_charge(&pacer, 1000, WIRE_BYTES);
	CU_ASSERT_EQUAL(pacer.due_tsc, 1010);
	CU_ASSERT_EQUAL(release(&pacer, 2000), 4); /* the bound is of the new interval */
	CU_ASSERT_EQUAL(pacer.forfeited_tsc, 2000 - 30 - 1010);
}

/* What was charged at a crawl does not hold up the faster pace; what is due sooner stays. */
static void test_hasten(void)
{
	struct wh_pacer pacer;

	wh_pacer_init(&pacer, 1000, 1500, 1);
	wh_pacer_set_interval(&pacer, UINT64_C(1000000) << WH_INTERVAL_FRACTION_BITS);
	wh_pacer_charge(&pacer, 1000, 1500);
	CU_ASSERT_EQUAL(pacer.due_tsc, 1001000);
	wh_pacer_set_interval(&pacer, UINT64_C(10) << WH_INTERVAL_FRACTION_BITS);
	wh_pacer_hasten(&pacer, 1002);
	CU_ASSERT_EQUAL(pacer.due_tsc, 1012);
	wh_pacer_hasten(&pacer, 1010);
	CU_ASSERT_EQUAL(pacer.due_tsc, 1012);
}

static void test_unpaced(void)
{
	struct wh_pacer pacer;

	wh_pacer_init(&pacer, 50, WIRE_BYTES, 4);
	for (int i = 0; i < 1000; i++) {
		CU_ASSERT_TRUE(wh_pacer_due(&pacer, 1000000));
		wh_pacer_charge(&pacer, 1000000, WIRE_BYTES);
	}
	CU_ASSERT_EQUAL(pacer.lateness_tsc.count[0], 1000);
	CU_ASSERT_EQUAL(pacer.forfeited_tsc, 0);
	wh_pacer_set_interval(&pacer, 1000 * ONE_CYCLE); /* slow start ends */
	CU_ASSERT_EQUAL(release(&pacer, 1000000), 1);
	CU_ASSERT_EQUAL(pacer.due_tsc, 1001000);

	wh_pacer_set_interval(&pacer, 0);
	wh_pacer_hold_until(&pacer, 2000000);
	CU_ASSERT_FALSE(wh_pacer_due(&pacer, 1999999));
	wh_pacer_charge(&pacer, 1500000, WIRE_BYTES); /* control in a freeze does not lift it */
	CU_ASSERT_FALSE(wh_pacer_due(&pacer, 1999999));
}

/* Each packet counts once, by the turn that it went in; early ones as on time. */
static void test_lateness(void)
{
	static const struct {
		uint64_t now_tsc;
		uint64_t late_tsc;
	} cases[] = {
		{77, 0},
		{1078, 1},   /* due at 1077 */
		{2084, 7},   /* at 2077 */
		{2084, 0},   /* early: at 3077 */
		{4092, 15},  /* at 4077 */
		{5177, 100}, /* at 5077 */
		{6077, 0},
	};
	struct wh_pacer pacer = pacer_at(77, 1000 * ONE_CYCLE, 4);
	struct wh_histogram expected = {0};

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		wh_pacer_charge(&pacer, cases[i].now_tsc, WIRE_BYTES);
		wh_histogram_add(&expected, cases[i].late_tsc);
		CU_ASSERT_EQUAL(memcmp(&pacer.lateness_tsc, &expected, sizeof(expected)), 0);
	}
	CU_ASSERT_EQUAL(wh_rig_histogram_total(&pacer.lateness_tsc), 7);
	CU_ASSERT_EQUAL(wh_pacer_take_late(&pacer), 100);
	CU_ASSERT_EQUAL(wh_pacer_take_late(&pacer), 0);
	wh_pacer_charge(&pacer, 99077, WIRE_BYTES); /* four go at once, however late */
	CU_ASSERT_EQUAL(wh_pacer_take_late(&pacer), 4000);
}

/* 90 on time, 9 late by 5 cycles, one by 2^45: the bucket of 2^45 goes to 9/8 of it. */
static void test_quantiles(void)
{
	struct wh_pacer pacer = pacer_at(0, 1000 * ONE_CYCLE, 4);
	uint64_t latest_tsc = (UINT64_C(9) << 42) - 1;

	CU_ASSERT_EQUAL(wh_pacer_lateness_quantile(&pacer, 0.5), 0);
	CU_ASSERT_EQUAL(wh_pacer_lateness_quantile(&pacer, 1.0), 0);
	for (int i = 0; i < 90; i++)
		wh_pacer_charge(&pacer, pacer.due_tsc, WIRE_BYTES);
	CU_ASSERT_EQUAL(wh_pacer_lateness_quantile(&pacer, 1.0), 0);
	for (int i = 0; i < 9; i++)
		wh_pacer_charge(&pacer, pacer.due_tsc + 5, WIRE_BYTES);
	CU_ASSERT_EQUAL(wh_pacer_lateness_quantile(&pacer, 1.0), 5);
	wh_pacer_charge(&pacer, pacer.due_tsc + (UINT64_C(1) << 45), WIRE_BYTES);
	CU_ASSERT_EQUAL(wh_pacer_lateness_quantile(&pacer, 0.0), 0);
	CU_ASSERT_EQUAL(wh_pacer_lateness_quantile(&pacer, 0.90), 0);
	CU_ASSERT_EQUAL(wh_pacer_lateness_quantile(&pacer, 0.91), 5);
	CU_ASSERT_EQUAL(wh_pacer_lateness_quantile(&pacer, 0.99), 5);
	CU_ASSERT_EQUAL(wh_pacer_lateness_quantile(&pacer, 0.995), latest_tsc);
	CU_ASSERT_EQUAL(wh_pacer_lateness_quantile(&pacer, 1.0), latest_tsc);
}

#define GAP_TSC UINT64_C(1000)

static struct wh_pacer token_pacer(uint32_t burst_pkts)
{
	return pacer_at(0, GAP_TSC << WH_INTERVAL_FRACTION_BITS, burst_pkts);
}

/* The first by the interval, then as many as there are tokens, and the next by the interval. */
static void test_tokens(void)
{
	struct wh_pacer pacer = token_pacer(1);

	CU_ASSERT_EQUAL(release(&pacer, 0), 1);
	wh_pacer_grant(&pacer, 3);
	CU_ASSERT_EQUAL(wh_pacer_next_tsc(&pacer), 0);
	CU_ASSERT_EQUAL(release(&pacer, 10), 3);
	CU_ASSERT_EQUAL(pacer.due_tsc, GAP_TSC);
	CU_ASSERT_EQUAL(wh_pacer_next_tsc(&pacer), GAP_TSC);

	/* What there were in all: the same again, or less, grants nothing. */
	wh_pacer_grant(&pacer, 3);
	wh_pacer_grant(&pacer, 1);
	CU_ASSERT_EQUAL(release(&pacer, 20), 0);
	wh_pacer_grant(&pacer, 5);
	CU_ASSERT_EQUAL(release(&pacer, 30), 2);

	/* A packet that is due needs none, and they outlast a pause. */
	wh_pacer_grant(&pacer, 6);
	wh_pacer_charge(&pacer, GAP_TSC, WIRE_BYTES);
	CU_ASSERT_EQUAL(pacer.tokens, 1);
	wh_pacer_idle(&pacer, 50 * GAP_TSC);
	CU_ASSERT_EQUAL(release(&pacer, 50 * GAP_TSC), 2);
}

static void test_tokens_alone(void)
{
	struct wh_pacer pacer = pacer_at(0, WH_INTERVAL_MAX_FP, 1);

	CU_ASSERT_EQUAL(release(&pacer, 5), 1);
	CU_ASSERT_EQUAL(release(&pacer, UINT64_C(1) << 39), 0);
	wh_pacer_grant(&pacer, 2);
	CU_ASSERT_EQUAL(release(&pacer, UINT64_C(1) << 39), 2);
}

/* A freeze is one for tokens, too. */
static void test_tokens_held(void)
{
	struct wh_pacer pacer = token_pacer(1);

	wh_pacer_grant(&pacer, 2);
	wh_pacer_hold_until(&pacer, 500);
	CU_ASSERT_EQUAL(wh_pacer_next_tsc(&pacer), 500);
	CU_ASSERT_EQUAL(release(&pacer, 499), 0);
	CU_ASSERT_EQUAL(release(&pacer, 500), 3);
}

static void test_burst_changes(void)
{
	struct wh_pacer pacer = token_pacer(1);

	CU_ASSERT_EQUAL(release(&pacer, 100 * GAP_TSC), 1);
	wh_pacer_set_burst(&pacer, 8);
	CU_ASSERT_EQUAL(release(&pacer, 200 * GAP_TSC), 8);
	wh_pacer_set_burst(&pacer, 2);
	CU_ASSERT_EQUAL(release(&pacer, 300 * GAP_TSC), 2);
}

/* Polled every cycle, but for the first `away` gaps: packets in `gaps` gaps. */
static uint32_t sent_after_absence(struct wh_pacer *pacer, uint32_t away, uint32_t gaps)
{
	uint32_t sent = 0;

	for (uint64_t tsc = away * GAP_TSC; tsc < gaps * GAP_TSC; tsc++)
		sent += release(pacer, tsc);
	return sent;
}

/*
 * Who was away for 100 intervals has made them good after 300 more, and goes at his pace again; 40
 * of them where no more are owed; none where he had no token or nothing to send.
 */
static void test_made_good(void)
{
	struct wh_pacer pacer = pacer_at(0, GAP_TSC << WH_INTERVAL_FRACTION_BITS, 4);

	wh_pacer_set_owed_most(&pacer, 1000 * GAP_TSC);
	CU_ASSERT_EQUAL(sent_after_absence(&pacer, 100, 300), 4 + 266);
	WH_ASSERT_NEAR((double)sent_after_absence(&pacer, 300, 500), 230.0, 1.0 / 230.0);
	CU_ASSERT_EQUAL(pacer.owed_tsc, 0);
	CU_ASSERT_EQUAL(pacer.forfeited_tsc, 0);

	pacer = pacer_at(0, GAP_TSC << WH_INTERVAL_FRACTION_BITS, 4);
	wh_pacer_set_owed_most(&pacer, 40 * GAP_TSC);
	WH_ASSERT_NEAR((double)sent_after_absence(&pacer, 100, 500), 404.0 + 40.0, 1.0 / 444.0);
	CU_ASSERT_EQUAL(pacer.forfeited_tsc, 57 * GAP_TSC);

	pacer = pacer_at(0, GAP_TSC << WH_INTERVAL_FRACTION_BITS, 4);
	wh_pacer_set_owed_most(&pacer, 1000 * GAP_TSC);
	wh_pacer_allow(&pacer, 0);
	wh_pacer_allow(&pacer, 10000);
	WH_ASSERT_NEAR((double)sent_after_absence(&pacer, 100, 500), 404.0, 1.0 / 404.0);

	pacer = pacer_at(0, GAP_TSC << WH_INTERVAL_FRACTION_BITS, 4);
	wh_pacer_set_owed_most(&pacer, 1000 * GAP_TSC);
	CU_ASSERT_EQUAL(release(&pacer, 100 * GAP_TSC), 4);
	CU_ASSERT_TRUE(pacer.owed_tsc > 90 * GAP_TSC);
	wh_pacer_idle(&pacer, 101 * GAP_TSC);
	CU_ASSERT_EQUAL(pacer.owed_tsc, 0);
}

CU_TestInfo wh_tests[] = {
	{"what is owed is made good", test_made_good},
	{"exact over ten million packets", test_exact},
	{"a long gap releases one burst", test_long_gap},
	{"what is forfeited, by hand", test_forfeit_by_hand},
	{"both sides of the burst bound", test_burst_edge},
	{"burst bound with fractions", test_burst_edge_with_fraction},
	{"packets of other sizes", test_sizes},
	{"early packets are charged", test_early},
	{"idle and hold", test_idle_and_hold},
	{"change of interval", test_change_of_interval},
	{"hasten", test_hasten},
	{"no interval", test_unpaced},
	{"lateness histogram", test_lateness},
	{"lateness quantiles", test_quantiles},
	{"tokens", test_tokens},
	{"tokens alone", test_tokens_alone},
	{"tokens in a freeze", test_tokens_held},
	{"another burst", test_burst_changes},
	CU_TEST_INFO_NULL,
};
