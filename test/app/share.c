/* SPDX-License-Identifier: BSD-3-Clause */
#include "job/job_share.h"

#include <CUnit/CUnit.h>

#include "base/clock.h"
#include "base/prng.h"
#include "unit.h"

const char wh_suite_name[] = "app/share";

#define LANES 4
#define WHOLE UINT64_C(1000000000)

struct rig {
	struct wh_share share;
	struct wh_lane_share lane[LANES];
	uint64_t going_bps[LANES];
	uint64_t told_bps[LANES];
};

static void set_up(struct rig *rig)
{
	*rig = (struct rig){0};
	for (uint32_t i = 0; i < LANES; i++) {
		wh_share_enter(&rig->lane[i], &rig->share, i, WHOLE / LANES);
		rig->going_bps[i] = rig->told_bps[i] = WHOLE / LANES;
	}
}

static void step(struct rig *rig, uint32_t i, bool busy)
{
	rig->told_bps[i] = wh_share_step(&rig->lane[i], busy, rig->going_bps[i]);
}

static uint64_t sum(const struct rig *rig)
{
	uint64_t bps = 0;

	for (uint32_t i = 0; i < LANES; i++)
		bps += rig->lane[i].share == NULL ? 0 : rig->going_bps[i];
	return bps;
}

static void settle(struct rig *rig, const bool busy[LANES])
{
	for (uint32_t round = 0; round < 5; round++)
		for (uint32_t i = 0; i < LANES; i++) {
			if (rig->lane[i].share == NULL)
				continue;
			step(rig, i, busy[i]);
			rig->going_bps[i] = rig->told_bps[i];
			CU_ASSERT(sum(rig) <= WHOLE);
		}
}

static void test_one_busy(void)
{
	struct rig rig;

	set_up(&rig);
	settle(&rig, (const bool[LANES]){true, false, false, false});
	CU_ASSERT(rig.going_bps[0] >= WHOLE * 98 / 100);
	for (uint32_t i = 1; i < LANES; i++)
		CU_ASSERT_EQUAL(rig.going_bps[i], WHOLE / LANES / 64);
	/* And back. */
	settle(&rig, (const bool[LANES]){true, true, true, true});
	for (uint32_t i = 0; i < LANES; i++)
		CU_ASSERT_EQUAL(rig.going_bps[i], WHOLE / LANES);
}

#define SPAN_TSC UINT64_C(10000000)

/* A lane that its rate or a loss holds up for more than a tenth of the time; what was, was. */
static void test_who_is_busy(void)
{
	static const struct {
		enum wh_limit limit;
		bool at_the_edge, beyond;
	} cases[] = {
		{WH_LIMIT_START, false, true},
		{WH_LIMIT_RATE, false, true},
		{WH_LIMIT_LINE, false, true},
		{WH_LIMIT_OTHERS, false, true},
		{WH_LIMIT_LOSS, false, true},
		{WH_LIMIT_CPU, false, true},
		{WH_LIMIT_WINDOW, false, false},
		{WH_LIMIT_DISK, false, false},
		{WH_LIMIT_PEER_DISK, false, false},
		{WH_LIMIT_PEER, false, false},
		{WH_LIMIT_MEMORY, false, false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct wh_session_stats stats = {.limit_tsc = {0}};
		uint64_t *limit_tsc = &stats.limit_tsc[cases[i].limit];
		struct rig rig;

		set_up(&rig);
		*limit_tsc += SPAN_TSC / 10;
		CU_ASSERT_EQUAL(
			wh_share_is_busy(&rig.lane[0], &stats, SPAN_TSC), cases[i].at_the_edge);
		*limit_tsc += SPAN_TSC / 10 + 1;
		CU_ASSERT_EQUAL(wh_share_is_busy(&rig.lane[0], &stats, SPAN_TSC), cases[i].beyond);
		CU_ASSERT_FALSE(wh_share_is_busy(&rig.lane[0], &stats, SPAN_TSC));
	}
}

/* Of four busy lanes one goes by less for losses, for half of the time or all of it. */
static void test_held_up_by_losses(void)
{
	struct wh_session_stats stats[LANES] = {0};
	uint64_t least_bps = WHOLE;
	struct rig rig;

	set_up(&rig);
	for (uint32_t round = 0; round < 100; round++)
		for (uint32_t i = 0; i < LANES; i++) {
			uint64_t lost_tsc = i > 0 ? 0 : round < 50 ? SPAN_TSC / 2 : SPAN_TSC;

			stats[i].limit_tsc[WH_LIMIT_LOSS] += lost_tsc;
			stats[i].limit_tsc[WH_LIMIT_RATE] += SPAN_TSC - lost_tsc;
			step(&rig, i, wh_share_is_busy(&rig.lane[i], &stats[i], SPAN_TSC));
			rig.going_bps[i] = rig.told_bps[i];
			least_bps = wh_min_u64(least_bps, rig.going_bps[i]);
		}
	CU_ASSERT_EQUAL(least_bps, WHOLE / LANES);
}

/* What is not gone by yet is nobody else's. */
static void test_slow_to_follow(void)
{
	struct rig rig;

	set_up(&rig);
	step(&rig, 1, false);
	step(&rig, 0, true);
	CU_ASSERT_EQUAL(rig.told_bps[0], WHOLE / LANES);
	step(&rig, 1, false);
	step(&rig, 0, true);
	CU_ASSERT_EQUAL(rig.told_bps[0], WHOLE / LANES);
	rig.going_bps[1] = rig.told_bps[1];
	step(&rig, 1, false);
	step(&rig, 0, true);
	CU_ASSERT_EQUAL(rig.told_bps[0], WHOLE / LANES * 2 - WHOLE / LANES / 64);
}

static void test_leave(void)
{
	struct rig rig;

	set_up(&rig);
	for (uint32_t i = 1; i < LANES; i++)
		wh_share_leave(&rig.lane[i]);
	wh_share_leave(&rig.lane[1]);
	step(&rig, 0, true);
	CU_ASSERT_EQUAL(rig.told_bps[0], WHOLE);
}

/* Whoever is busy, and however late each follows, together they are never faster. */
static void test_random(void)
{
	struct wh_prng prng;
	struct rig rig;

	wh_prng_init(&prng, 1);
	for (uint32_t run = 0; run < 100; run++) {
		set_up(&rig);
		for (uint32_t round = 0; round < 1000; round++) {
			uint32_t i = (uint32_t)wh_prng_below(&prng, LANES);

			if (rig.lane[i].share == NULL)
				continue;
			if (wh_prng_below(&prng, 500) == 0)
				wh_share_leave(&rig.lane[i]);
			else if (wh_prng_below(&prng, 2) == 0)
				rig.going_bps[i] = rig.told_bps[i];
			else
				step(&rig, i, wh_prng_below(&prng, 3) > 0);
			CU_ASSERT(sum(&rig) <= WHOLE);
			CU_ASSERT(rig.told_bps[i] > 0);
		}
	}
}

/* Every lane of a transfer hears of the new rate by itself; the first one says it for all. */
static void test_changed(void)
{
	const bool busy[LANES] = {true, true, false, true};
	struct rig rig;

	set_up(&rig);
	settle(&rig, busy);
	for (uint32_t i = 0; i < LANES; i++) {
		wh_share_change(&rig.lane[i], WHOLE / LANES / 4);
		settle(&rig, busy);
		CU_ASSERT(sum(&rig) <= WHOLE / 4 && sum(&rig) >= WHOLE / 4 * 95 / 100);
	}
	for (uint32_t i = 0; i < LANES; i++)
		wh_share_change(&rig.lane[i], WHOLE / LANES);
	settle(&rig, busy);
	CU_ASSERT(sum(&rig) >= WHOLE * 95 / 100);
}

/* What lanes have left behind is part of the whole: it is less by as much. */
static void test_left_and_changed(void)
{
	const bool busy[LANES] = {true, true, true, true};

	for (uint32_t left = 1; left < LANES; left++) {
		struct rig rig;

		set_up(&rig);
		for (uint32_t i = 0; i < left; i++)
			wh_share_leave(&rig.lane[i]);
		settle(&rig, busy);
		wh_share_change(&rig.lane[LANES - 1], WHOLE / LANES / 2);
		/* What one that goes still owes is not given to others. */
		if (left < LANES - 1)
			wh_share_leave(&rig.lane[left]);
		settle(&rig, busy);
		CU_ASSERT(sum(&rig) <= WHOLE / 2);
		CU_ASSERT(sum(&rig) >= WHOLE / 2 * 95 / 100);
	}
}

/* One that was made before the rate changed, and comes later, brings no more than its part. */
static void test_late(void)
{
	const bool busy[LANES] = {true, true, true, true};
	struct rig rig = {0};

	wh_share_enter(&rig.lane[0], &rig.share, 0, WHOLE / LANES);
	wh_share_change(&rig.lane[0], WHOLE / LANES / 2);
	for (uint32_t i = 1; i < LANES; i++)
		wh_share_enter(&rig.lane[i], &rig.share, i, WHOLE / LANES);
	settle(&rig, busy);
	CU_ASSERT(sum(&rig) <= WHOLE / 2);
	CU_ASSERT(sum(&rig) >= WHOLE / 2 * 95 / 100);
}

CU_TestInfo wh_tests[] = {
	{"one busy", test_one_busy},
	{"who is busy", test_who_is_busy},
	{"held up by losses", test_held_up_by_losses},
	{"slow to follow", test_slow_to_follow},
	{"leave", test_leave},
	{"random", test_random},
	{"a rate that changes", test_changed},
	{"lanes that go, and a rate that changes", test_left_and_changed},
	{"a rate that has changed, and lanes that come", test_late},
	CU_TEST_INFO_NULL,
};
