/* SPDX-License-Identifier: BSD-3-Clause */

/* Places, who is looked at in a turn, and when the next turn is wanted. */

#include "unit.h"

#include "base/clock.h"
#include "session/half.h"

const char wh_suite_name[] = "half";

#define HZ    UINT64_C(1000000000)
#define AHEAD (WH_HALF_AHEAD_US * HZ / 1000000)

/* The receive half of 256 places, and the send half. */
static struct wh_half *make(bool sends)
{
	struct wh_half *half = wh_half_create(HZ, sends ? 128 : 0, 128, 256);

	CU_ASSERT_PTR_NOT_NULL_FATAL(half);
	return half;
}

static void test_offers(void)
{
	struct wh_half *rx = make(false);
	struct wh_half *tx = make(true);

	/* Places round and round. */
	for (uint32_t offer = 0; offer < 300; offer++) {
		CU_ASSERT_EQUAL(wh_half_offer(rx), offer % 128);
		CU_ASSERT_EQUAL(wh_half_offer(tx), 128 + offer % 128);
	}
	wh_half_destroy(rx);
	wh_half_destroy(tx);
}

static void test_vacant_places(void)
{
	struct wh_half *half = make(true);

	/* All but three, which are offered in turn: as many offers at once do not meet. */
	for (uint32_t place = 128; place < 256; place++)
		if (place != 130 && place != 200 && place != 201)
			wh_half_occupy(half, place);
	CU_ASSERT_EQUAL(half->tenants, 125);
	CU_ASSERT_TRUE(wh_half_is_vacant(half, 200));
	CU_ASSERT_FALSE(wh_half_is_vacant(half, 202));
	CU_ASSERT_EQUAL(wh_half_offer(half), 130);
	CU_ASSERT_EQUAL(wh_half_offer(half), 200);
	CU_ASSERT_EQUAL(wh_half_offer(half), 201);
	CU_ASSERT_EQUAL(wh_half_offer(half), 130);
	wh_half_occupy(half, 200);
	CU_ASSERT_EQUAL(wh_half_offer(half), 201);
	wh_half_occupy(half, 130);
	wh_half_occupy(half, 201);
	CU_ASSERT_EQUAL(wh_half_offer(half), WH_HALF_FULL);
	wh_half_vacate(half, 255);
	CU_ASSERT_EQUAL(wh_half_offer(half), 255);
	wh_half_destroy(half);
}

static void test_kicks(void)
{
	static const uint32_t places[] = {0, 1, 63, 64, 127, 128, 255};
	struct wh_half *half = make(true);

	CU_ASSERT_FALSE(wh_half_begin_turn(half, 1));
	CU_ASSERT_EQUAL(half->actives, 0);
	CU_ASSERT_EQUAL(wh_half_deadline(half), WH_TSC_NEVER);
	for (uint32_t i = 0; i < 7; i++) {
		wh_half_kick(half, places[i]);
		wh_half_kick(half, places[i]);
	}
	CU_ASSERT_EQUAL(wh_half_deadline(half), 0);
	CU_ASSERT_FALSE(wh_half_begin_turn(half, 2));
	CU_ASSERT_EQUAL_FATAL(half->actives, 7);
	for (uint32_t i = 0; i < 7; i++)
		CU_ASSERT_EQUAL(half->active[i], places[i]);
	CU_ASSERT_EQUAL(wh_half_deadline(half), WH_TSC_NEVER);

	/* The one at large is no place. */
	wh_half_kick(half, wh_half_unplaced(half));
	CU_ASSERT_EQUAL(wh_half_deadline(half), 0);
	CU_ASSERT_TRUE(wh_half_begin_turn(half, 3));
	CU_ASSERT_EQUAL(half->actives, 7);
	CU_ASSERT_FALSE(wh_half_begin_turn(half, 3));
	CU_ASSERT_EQUAL(atomic_load(&half->turn), 4);
	wh_half_destroy(half);
}

/* Looked at until it is due later than soon; then at its deadline, to the cycle, and not before. */
static void test_rest(void)
{
	struct wh_half *half = make(true);
	uint64_t due = 10 * AHEAD;

	wh_half_activate(half, 140);
	wh_half_activate(half, 141);
	wh_half_activate(half, 140);
	CU_ASSERT_EQUAL_FATAL(half->actives, 2);
	CU_ASSERT_TRUE(wh_half_stays(half, 0, 1000, 1000 + AHEAD));
	CU_ASSERT_FALSE(wh_half_stays(half, 0, 1000, due));
	CU_ASSERT_EQUAL(half->actives, 1);
	CU_ASSERT_EQUAL(half->active[0], 141); /* moved up */
	CU_ASSERT_FALSE(wh_half_stays(half, 0, 1000, due + AHEAD));
	CU_ASSERT_EQUAL(wh_half_deadline(half), due);

	wh_half_begin_turn(half, due - 1);
	CU_ASSERT_EQUAL(half->actives, 0);
	wh_half_begin_turn(half, due); /* the other one is near enough to come with it */
	CU_ASSERT_EQUAL(half->actives, 2);
	CU_ASSERT_EQUAL(wh_half_deadline(half), WH_TSC_NEVER);

	CU_ASSERT_FALSE(wh_half_stays(half, 1, due, 2 * due));
	CU_ASSERT_FALSE(wh_half_stays(half, 0, due, 2 * due + AHEAD + 1));
	wh_half_begin_turn(half, 2 * due);
	CU_ASSERT_EQUAL(half->actives, 1);
	CU_ASSERT_EQUAL(half->active[0], 141);
	CU_ASSERT_EQUAL(wh_half_deadline(half), 2 * due + AHEAD + 1);
	wh_half_destroy(half);
}

/* A kick ends a rest: its deadline is forgotten, at the cost of one look too many. */
static void test_kicked_at_rest(void)
{
	struct wh_half *half = make(true);

	wh_half_activate(half, 130);
	CU_ASSERT_FALSE(wh_half_stays(half, 0, 0, 10 * AHEAD));
	wh_half_kick(half, 130);
	wh_half_begin_turn(half, 5);
	CU_ASSERT_EQUAL(half->actives, 1);
	CU_ASSERT_FALSE(wh_half_stays(half, 0, 5, 20 * AHEAD));
	wh_half_begin_turn(half, 10 * AHEAD);
	CU_ASSERT_EQUAL(half->actives, 0);
	CU_ASSERT_EQUAL(wh_half_deadline(half), 20 * AHEAD);
	wh_half_destroy(half);
}

/* Of the other half's places nothing is kept: they are only looked at. */
static void test_other_halfs_places(void)
{
	struct wh_half *half = make(true);

	wh_half_kick(half, 5);
	wh_half_begin_turn(half, 1);
	CU_ASSERT_EQUAL(half->actives, 1);
	CU_ASSERT_FALSE(wh_half_stays(half, 0, 1, 10 * AHEAD));
	CU_ASSERT_EQUAL(wh_half_deadline(half), WH_TSC_NEVER);
	wh_half_begin_turn(half, 10 * AHEAD);
	CU_ASSERT_EQUAL(half->actives, 0);
	wh_half_destroy(half);
}

/* Who has left is not woken any more. */
static void test_left(void)
{
	struct wh_half *half = make(false);

	wh_half_occupy(half, 7);
	wh_half_activate(half, 7);
	CU_ASSERT_FALSE(wh_half_stays(half, 0, 0, 10 * AHEAD));
	wh_half_vacate(half, 7);
	wh_half_begin_turn(half, 10 * AHEAD);
	CU_ASSERT_EQUAL(half->actives, 0);
	CU_ASSERT_EQUAL(wh_half_deadline(half), WH_TSC_NEVER);
	wh_half_destroy(half);
}

/* The smallest table: both halves' places are in one word of kicks. */
static void test_smallest(void)
{
	struct wh_half *rx = wh_half_create(HZ, 0, 32, 64);
	struct wh_half *tx = wh_half_create(HZ, 32, 32, 64);

	CU_ASSERT_PTR_NOT_NULL_FATAL(rx);
	CU_ASSERT_PTR_NOT_NULL_FATAL(tx);
	for (uint32_t i = 0; i < 32; i++) {
		wh_half_occupy(rx, wh_half_offer(rx));
		wh_half_occupy(tx, wh_half_offer(tx));
	}
	CU_ASSERT_EQUAL(wh_half_offer(rx), WH_HALF_FULL);
	CU_ASSERT_EQUAL(wh_half_offer(tx), WH_HALF_FULL);
	wh_half_kick(tx, 63);
	CU_ASSERT_FALSE(wh_half_begin_turn(tx, 0));
	CU_ASSERT_EQUAL(tx->active[0], 63);
	wh_half_kick(tx, wh_half_unplaced(tx));
	CU_ASSERT_TRUE(wh_half_begin_turn(tx, 0));
	wh_half_destroy(rx);
	wh_half_destroy(tx);
}

CU_TestInfo wh_tests[] = {
	{"offers", test_offers},
	{"vacant places", test_vacant_places},
	{"kicks", test_kicks},
	{"rest", test_rest},
	{"kicked at rest", test_kicked_at_rest},
	{"other half's places", test_other_halfs_places},
	{"left", test_left},
	{"the smallest", test_smallest},
	CU_TEST_INFO_NULL,
};
