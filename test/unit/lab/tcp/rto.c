/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab/tcp/rto.h"

#include "lab/tcp/tcp.h"
#include "unit.h"

const char wh_suite_name[] = "sim_rto";

#define MS_PS (WH_PS_PER_S / 1000)

static struct wh_sim_rto rto;

static void open_rto(uint64_t tick_ms, uint64_t min_ms, uint64_t phase_ps)
{
	struct wh_sim_tcp_config config;

	wh_sim_tcp_config_init(&config, WH_SIM_TCP_RENO);
	config.tick_ps = tick_ms * MS_PS;
	config.min_rto_ps = min_ms * MS_PS;
	wh_sim_rto_init(&rto, &config, phase_ps);
}

/* Times one segment, which is acknowledged after rtt. */
static void take(uint64_t at_ms, uint64_t rtt_us)
{
	wh_sim_rto_sent(&rto, at_ms * MS_PS, 7);
	wh_sim_rto_acked(&rto, at_ms * MS_PS + rtt_us * (MS_PS / 1000), 8);
}

static void expect_ms(uint64_t ms)
{
	CU_ASSERT_EQUAL(wh_sim_rto_ps(&rto), ms * MS_PS);
}

/* Ticks of 10 ms: 25 of them, then 45: average 25 + 20/8, deviation 12.5, then + (20 - 12)/4. */
static void averages_in_ticks(void)
{
	open_rto(10, 0, 0);
	expect_ms(3000);
	take(0, 250000);
	CU_ASSERT_EQUAL(rto.srtt_ticks8, 200);
	CU_ASSERT_EQUAL(rto.rttvar_ticks4, 50);
	expect_ms(750);
	take(1000, 450000);
	CU_ASSERT_EQUAL(rto.srtt_ticks8, 220);
	CU_ASSERT_EQUAL(rto.rttvar_ticks4, 58);
	expect_ms(850);
	take(2000, 20000);
	CU_ASSERT_EQUAL(rto.srtt_ticks8, 220 - 25);
	CU_ASSERT_EQUAL(rto.rttvar_ticks4, 58 + 25 - 14);
	expect_ms(240 + 690);
	CU_ASSERT_EQUAL(rto.sample_ps, 20 * MS_PS);
}

/* 19 ms that begin 4 ms into a tick, or 1 ms: two ticks or two; 26 ms: three or two. */
static void counts_ticks_by_the_clock(void)
{
	static const struct {
		uint64_t phase_ms, rtt_ms, ticks;
	} cases[] = {{0, 19, 1}, {1, 19, 2}, {4, 26, 3}, {3, 26, 2}, {0, 0, 1}, {9, 1, 1},
		{8, 1, 1}, {0, 10, 1}, {9, 21, 3}};

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		open_rto(10, 0, cases[i].phase_ms * MS_PS);
		take(100, 1000 * cases[i].rtt_ms);
		CU_ASSERT_EQUAL(rto.srtt_ticks8, 8 * (int64_t)cases[i].ticks);
	}
}

static void has_bounds(void)
{
	open_rto(10, 200, 0);
	take(0, 1000);
	CU_ASSERT_EQUAL(rto.base_ps, 30 * MS_PS);
	expect_ms(200);
	wh_sim_rto_back_off(&rto);
	expect_ms(400);

	/* Two ticks at least. */
	open_rto(100, 0, 0);
	take(0, 1000);
	CU_ASSERT_EQUAL(rto.base_ps, 300 * MS_PS);
	rto.base_ps = 100 * MS_PS;
	expect_ms(200);
}

static void backs_off_to_the_most(void)
{
	static const uint64_t ms[] = {6000, 12000, 24000, 48000, 60000, 60000, 60000};

	open_rto(10, 200, 0);
	for (unsigned int i = 0; i < sizeof(ms) / sizeof(ms[0]); i++) {
		wh_sim_rto_back_off(&rto);
		expect_ms(ms[i]);
	}
	take(0, 250000);
	expect_ms(750);
}

/* From the fourth doubling on the average is worth nothing: the next sample is the first. */
static void forgets_an_average_that_was_of_no_use(void)
{
	open_rto(10, 200, 0);
	take(0, 400000);
	CU_ASSERT_EQUAL(rto.rttvar_ticks4, 80);
	for (unsigned int i = 0; i < 3; i++)
		wh_sim_rto_back_off(&rto);
	CU_ASSERT_EQUAL(rto.srtt_ticks8, 320);
	wh_sim_rto_back_off(&rto);
	CU_ASSERT_EQUAL(rto.srtt_ticks8, 0);
	CU_ASSERT_EQUAL(rto.rttvar_ticks4, 120);
	take(60000, 100000);
	CU_ASSERT_EQUAL(rto.srtt_ticks8, 80);
	expect_ms(300);
}

/* The bound on the timeout is none on how often it came: 20 s at most here, by the second. */
static void forgets_at_the_bound_too(void)
{
	open_rto(10, 200, 0);
	rto.max_ps = 20 * WH_PS_PER_S;
	take(0, 4000000);
	CU_ASSERT_EQUAL(rto.srtt_ticks8, 3200);
	for (unsigned int i = 0; i < 3; i++)
		wh_sim_rto_back_off(&rto);
	expect_ms(20000);
	CU_ASSERT_EQUAL(rto.srtt_ticks8, 3200);
	wh_sim_rto_back_off(&rto);
	expect_ms(20000);
	CU_ASSERT_EQUAL(rto.srtt_ticks8, 0);
	CU_ASSERT_EQUAL(rto.rttvar_ticks4, 1200);

	/* Where the timeout is bounded, the factor is, too. */
	for (unsigned int i = 0; i < 100; i++)
		wh_sim_rto_back_off(&rto);
	CU_ASSERT_EQUAL(rto.backoff, 64);
	take(60000, 100000);
	expect_ms(300);
}

/* 1000 s, doubled up to 11 days, the most of them after ten. */
static void bounds_may_be_far(void)
{
	open_rto(10, 200, 0);
	rto.base_ps = 1000 * WH_PS_PER_S;
	rto.max_ps = 1000000 * WH_PS_PER_S;
	for (unsigned int i = 0; i < 9; i++)
		wh_sim_rto_back_off(&rto);
	expect_ms(512000000);
	for (unsigned int i = 0; i < 20; i++)
		wh_sim_rto_back_off(&rto);
	expect_ms(1000000000);

	/* More than 64 bits, were it not bounded. */
	rto.max_ps = UINT64_C(1) << 63;
	rto.base_ps = UINT64_C(1) << 62;
	rto.backoff = 4;
	CU_ASSERT_EQUAL(wh_sim_rto_ps(&rto), rto.max_ps);
}

static void times_one_at_a_time(void)
{
	open_rto(10, 200, 0);
	wh_sim_rto_sent(&rto, 0, 3);
	wh_sim_rto_sent(&rto, 100 * MS_PS, 4);
	wh_sim_rto_acked(&rto, 150 * MS_PS, 3);
	CU_ASSERT_TRUE(rto.timing);
	wh_sim_rto_acked(&rto, 200 * MS_PS, 4);
	CU_ASSERT_FALSE(rto.timing);
	CU_ASSERT_EQUAL(rto.sample_ps, 200 * MS_PS);
	wh_sim_rto_acked(&rto, 300 * MS_PS, 5);
	CU_ASSERT_EQUAL(rto.sample_ps, 200 * MS_PS);

	/* What may have been sent twice ends the backing off, and is no sample. */
	wh_sim_rto_back_off(&rto);
	CU_ASSERT_EQUAL(rto.backoff, 2);
	wh_sim_rto_sent(&rto, 1000 * MS_PS, 9);
	wh_sim_rto_acked_in_recovery(&rto, 9);
	CU_ASSERT_EQUAL(rto.backoff, 2);
	wh_sim_rto_acked_in_recovery(&rto, 10);
	CU_ASSERT_EQUAL(rto.backoff, 1);
	CU_ASSERT_FALSE(rto.timing);
	CU_ASSERT_EQUAL(rto.sample_ps, 200 * MS_PS);
}

CU_TestInfo wh_tests[] = {
	{"averages in ticks", averages_in_ticks},
	{"counts ticks by the clock", counts_ticks_by_the_clock},
	{"has bounds", has_bounds},
	{"backs off to the most", backs_off_to_the_most},
	{"forgets an average that was of no use", forgets_an_average_that_was_of_no_use},
	{"forgets at the bound, too", forgets_at_the_bound_too},
	{"bounds may be far", bounds_may_be_far},
	{"times one at a time", times_one_at_a_time},
	CU_TEST_INFO_NULL,
};
