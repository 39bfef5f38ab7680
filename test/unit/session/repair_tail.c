/* SPDX-License-Identifier: BSD-3-Clause */

/* Repair packets of the last round trips of a stream, and of no others: feedback.repair_tail. */

#include "../delivery_rig.h"

const char wh_suite_name[] = "repair_tail";

#define SEEDS       6
#define INTERVAL    (12300) /* of 1 Gb/s */
#define WAY         (50 * MS)
#define CHUNK_PKTS  47
#define LOSS_IN_ONE 10000

static uint64_t seed;
static uint64_t loss; /* in LOSS_IN_ONE */

static bool some(uint64_t transmission)
{
	uint64_t x = (transmission + 1) * UINT64_C(0x9e3779b97f4a7c15) + seed;

	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return (x ^ x >> 31) % LOSS_IN_ONE < loss;
}

struct outcome {
	uint64_t tail_tsc; /* from the arrival of the last new packet until all is there */
	uint64_t sent_pkts;
	uint64_t repair_pkts;
};

static struct outcome run(uint64_t chunks, bool repairs)
{
	struct outcome outcome;

	pace(INTERVAL);
	watch.decision.burst_pkts = 16;
	delivery_profile.feedback.repair_tail = repairs;
	delivery_profile.recovery = repairs ? WH_RECOVERY_HYBRID : WH_RECOVERY_NAK;
	delivery_profile.code = repairs ? WH_FEC_RS : WH_FEC_NONE;

	struct pair *pair = pair_open(WAY);
	uint64_t end_tsc = 0;

	pair->step_tsc = 100 * US;
	pair->chunks = chunks;
	pair->ends.closes = true;
	pair->there.lose = some;
	while (pair->ends.delivered < chunks && pair->now_tsc < NOW + 20 * HZ) {
		const struct wh_transmitter *tx = &pair->ends.sender->tx;

		run_for(pair, MS);
		if (end_tsc == 0 && tx->end_seen && tx->sent_end == tx->table.admitted_end)
			end_tsc = pair->now_tsc + WAY;
	}
	CU_ASSERT_EQUAL(pair->ends.delivered, chunks);
	outcome.tail_tsc = pair->now_tsc > end_tsc ? pair->now_tsc - end_tsc : 0;
	outcome.sent_pkts = wh_session_stats(pair->ends.sender).sent_pkts;
	outcome.repair_pkts = wh_session_stats(pair->ends.sender).repair_pkts;
	pair_close(pair);
	return outcome;
}

/*
 * At 100 ms, a file of 3 MB, and one of half a second: the end comes at once in most runs. Of the
 * short one all is sent by the loss that is expected, 0.1 %, before any was told.
 */
static void test_tail(void)
{
	static const struct {
		uint64_t chunks;
		uint64_t loss;
		uint32_t late; /* at most */
	} cases[] = {{47, 10, 1}, {47, 100, 4}, {900, 10, 1}, {900, 100, 1}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint32_t late[2] = {0};

		loss = cases[i].loss;
		for (seed = 0; seed < SEEDS; seed++)
			for (int repairs = 0; repairs < 2; repairs++)
				late[repairs] += run(cases[i].chunks, repairs).tail_tsc > WAY / 2;
		CU_ASSERT_TRUE(late[1] <= cases[i].late);
		if (loss == 100)
			CU_ASSERT_EQUAL(late[0], SEEDS);
	}
}

/* A long stream is repaired at its end alone. */
static void test_overhead(void)
{
	seed = 3;
	for (loss = 0; loss <= 100; loss = loss == 0 ? 10 : loss * 10) {
		struct outcome outcome = run(9000, true);
		double more = (double)outcome.sent_pkts / (9000 * CHUNK_PKTS) - 1.0;

		CU_ASSERT_TRUE(more <= 1.2 * (double)loss / LOSS_IN_ONE + 0.003);
		CU_ASSERT_TRUE(loss == 0 || outcome.repair_pkts > 0);
	}
}

CU_TestInfo wh_tests[] = {
	{"tail", test_tail},
	{"overhead", test_overhead},
	CU_TEST_INFO_NULL,
};
