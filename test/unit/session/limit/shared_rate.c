/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/limit/shared_rate.h"

#include "base/clock.h"
#include "base/prng.h"
#include "unit.h"

const char wh_suite_name[] = "shared_rate";

#define HZ UINT64_C(3000000000)

/* Each has a reservation, and takes the next when its time has come; some are late. */
struct user {
	uint64_t from_tsc;
	uint64_t bytes;
	uint64_t moved_bytes;
};

#define USERS 7

static uint64_t move(
	struct wh_shared_rate *rate, struct user *user, uint64_t now_tsc, uint64_t turn_bytes)
{
	uint64_t moved = 0;

	while (user->bytes == 0 || now_tsc >= user->from_tsc) {
		moved += user->bytes;
		user->bytes = turn_bytes;
		user->from_tsc = wh_shared_rate_reserve(rate, HZ, now_tsc, user->bytes);
	}
	user->moved_bytes += moved;
	return moved;
}

static void check_rate(uint64_t bps)
{
	struct wh_shared_rate rate = {0};
	struct user user[USERS] = {{0}};
	uint64_t end_tsc =
		HZ / 10 + wh_muldiv_u64(2000 * 8 * wh_max_u64(1500, bps / 8 / 10000), HZ, bps);
	uint64_t step_tsc = end_tsc / 20000;
	/* As sessions do: a packet, or 100 us. */
	uint64_t turn_bytes = wh_max_u64(1500, bps / 8 / 10000);
	uint64_t moved = 0, saved = bps / 8 / 1000 * WH_SHARED_RATE_SAVED_MS;
	struct wh_prng prng;

	wh_prng_init(&prng, bps);
	wh_shared_rate_set(&rate, bps);
	for (uint64_t now_tsc = HZ; now_tsc < HZ + end_tsc; now_tsc += step_tsc) {
		uint64_t least = wh_muldiv_u64(now_tsc - HZ, bps, HZ * 8);

		for (uint32_t i = 0; i < USERS; i++)
			if (wh_prng_below(&prng, 3) > 0)
				moved += move(&rate, &user[i], now_tsc, turn_bytes);
		CU_ASSERT_TRUE(moved <= least + saved + USERS * turn_bytes);
	}
	CU_ASSERT_TRUE(moved * 100 >= wh_muldiv_u64(end_tsc, bps, HZ * 8) * 99);
	for (uint32_t i = 0; i < USERS; i++)
		CU_ASSERT_TRUE(user[i].moved_bytes * USERS * 4 > moved * 3 &&
			       user[i].moved_bytes * USERS * 4 < moved * 5);
}

static void test_rates(void)
{
	check_rate(1000000);
	check_rate(20000000);
	check_rate(UINT64_C(10000000000));
}

/* To the last sixteenth of a cycle. */
static void test_exact(void)
{
	struct wh_shared_rate rate = {0};
	uint64_t now_tsc = 100 * HZ;
	uint64_t first_tsc, last_tsc = 0;

	wh_shared_rate_set(&rate, UINT64_C(1000000000000));
	first_tsc = wh_shared_rate_reserve(&rate, HZ, now_tsc, 1500);
	CU_ASSERT_EQUAL(first_tsc, now_tsc - HZ / 1000 * WH_SHARED_RATE_SAVED_MS);
	for (uint32_t i = 0; i < 1000000; i++)
		last_tsc = wh_shared_rate_reserve(&rate, HZ, now_tsc, 1500);
	CU_ASSERT_EQUAL(last_tsc - first_tsc, 36000000);
}

static void test_unbounded(void)
{
	struct wh_shared_rate rate = {0};

	for (uint32_t i = 0; i < 1000; i++)
		CU_ASSERT_EQUAL(wh_shared_rate_reserve(&rate, HZ, 5, WH_RESERVED_BYTES_MAX), 5);
	CU_ASSERT_EQUAL(wh_shared_rate_bps(&rate), 0);
}

CU_TestInfo wh_tests[] = {
	{"rates, and turns", test_rates},
	{"exact", test_exact},
	{"no bound", test_unbounded},
	CU_TEST_INFO_NULL,
};
