/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab/tcp/hystart.h"

#include "lab/sim/event.h"
#include "unit.h"

const char wh_suite_name[] = "sim_tcp_hystart";

#define MS_PS (WH_PS_PER_S / 1000)

static struct wh_sim_hystart hystart;
static struct wh_sim_hystart_ack ack;

/* 100 ms at least; a pace at which four bursts take more than a millisecond. */
static void begin(double cwnd_pkts)
{
	hystart = (struct wh_sim_hystart){0};
	ack = (struct wh_sim_hystart_ack){
		.now_ps = WH_PS_PER_S,
		.next = 100,
		.rtt_ps = 100 * MS_PS,
		.min_rtt_ps = 100 * MS_PS,
		.cwnd_pkts = cwnd_pkts,
		.pace_bytes_ps = 1e6,
	};
}

/* So much later than the one before. */
static bool hear(uint64_t span_ps, uint64_t rtt_ps)
{
	ack.now_ps += span_ps;
	ack.rtt_ps = rtt_ps;
	return wh_sim_hystart_ends(&hystart, &ack);
}

/* Half of the round trip and of a millisecond is 50.5 ms: one every 2 ms, the 26th is beyond it. */
static void a_long_train_ends_it(void)
{
	begin(16);
	CU_ASSERT_FALSE(hear(0, 100 * MS_PS));
	for (int i = 1; i <= 25; i++)
		CU_ASSERT_FALSE(hear(2 * MS_PS, 100 * MS_PS));
	CU_ASSERT_TRUE(hear(2 * MS_PS, 100 * MS_PS));
	CU_ASSERT_TRUE(hear(WH_PS_PER_S, 100 * MS_PS));
}

static void a_gap_ends_the_train(void)
{
	begin(16);
	hear(0, 100 * MS_PS);
	CU_ASSERT_FALSE(hear(2 * MS_PS + 1, 100 * MS_PS));
	for (int i = 1; i <= 100; i++)
		CU_ASSERT_FALSE(hear(MS_PS, 100 * MS_PS));
	/* The next round begins anew. */
	ack.una = 101;
	ack.next = 200;
	CU_ASSERT_FALSE(hear(MS_PS, 100 * MS_PS));
	for (int i = 1; i <= 50; i++)
		CU_ASSERT_FALSE(hear(MS_PS, 100 * MS_PS));
	CU_ASSERT_TRUE(hear(MS_PS, 100 * MS_PS));
}

/* A large pace: 262144 bytes at 2.62144 GB/s are 100 us. */
static void bursts_take_what_they_take(void)
{
	begin(16);
	ack.pace_bytes_ps = 2.62144e9;
	hear(0, 100 * MS_PS);
	for (int i = 0; i < 50; i++)
		CU_ASSERT_FALSE(hear(MS_PS, 100 * MS_PS));
	CU_ASSERT_FALSE(hear(MS_PS / 20, 100 * MS_PS));
	CU_ASSERT_TRUE(hear(1, 100 * MS_PS));
}

/* The ninth of a round that are all later by more than an eighth. */
static void late_rounds_end_it(void)
{
	begin(16);
	for (int i = 0; i < 8; i++)
		CU_ASSERT_FALSE(hear(3 * MS_PS, 113 * MS_PS));
	CU_ASSERT_TRUE(hear(3 * MS_PS, 113 * MS_PS));
}

static void one_that_is_not_late_is_enough(void)
{
	begin(16);
	for (int i = 0; i < 8; i++)
		hear(3 * MS_PS, (i == 4 ? 112 : 120) * MS_PS);
	for (int i = 0; i < 20; i++)
		CU_ASSERT_FALSE(hear(3 * MS_PS, 120 * MS_PS));
}

/* 4 ms of a short round trip, 16 of a long one. */
static void an_eighth_has_bounds(void)
{
	static const struct {
		uint64_t min_ms, not_late_ms;
	} cases[] = {{1, 5}, {8, 12}, {40, 45}, {128, 144}, {1000, 1016}};

	for (unsigned int c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
		for (uint64_t more_ps = 0; more_ps < 2; more_ps++) {
			begin(16);
			ack.min_rtt_ps = cases[c].min_ms * MS_PS;
			for (int i = 0; i < 8; i++)
				hear(3 * MS_PS, cases[c].not_late_ms * MS_PS + more_ps);
			CU_ASSERT_EQUAL(hear(3 * MS_PS, cases[c].not_late_ms * MS_PS + more_ps),
				more_ps == 1);
		}
	}
}

static void small_windows_are_left_alone(void)
{
	begin(15.9);
	for (int i = 0; i < 1000; i++)
		CU_ASSERT_FALSE(hear(MS_PS, 500 * MS_PS));
}

CU_TestInfo wh_tests[] = {
	{"a long train ends it", a_long_train_ends_it},
	{"a gap ends the train", a_gap_ends_the_train},
	{"bursts take what they take", bursts_take_what_they_take},
	{"late rounds end it", late_rounds_end_it},
	{"one that is not late is enough", one_that_is_not_late_is_enough},
	{"an eighth has bounds", an_eighth_has_bounds},
	{"small windows are left alone", small_windows_are_left_alone},
	CU_TEST_INFO_NULL,
};
