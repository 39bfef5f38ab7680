/* SPDX-License-Identifier: BSD-3-Clause */
#include "trust/shares.h"

#include "unit.h"

const char wh_suite_name[] = "shares";

#define HZ         UINT64_C(1000000000)
#define PER_SECOND 2000

static struct wh_shares *shares;
static uint64_t now_tsc;

static struct wh_address at(uint32_t number)
{
	return (struct wh_address){.family = WH_IPV4,
		.ip = {10, (uint8_t)(number >> 16), (uint8_t)(number >> 8), (uint8_t)number}};
}

static void begin(void)
{
	static const uint8_t key[WH_SIPHASH_KEY_BYTES] = {7};

	shares = calloc(1, sizeof(*shares));
	CU_ASSERT_PTR_NOT_NULL_FATAL(shares);
	wh_shares_init(shares, HZ, PER_SECOND, key);
	now_tsc = 5 * HZ;
}

/* One that begins if it may. */
static bool comes(uint32_t number)
{
	const struct wh_address address = at(number);
	enum wh_host_rank rank = wh_shares_rank(shares, now_tsc, &address);
	bool may = wh_shares_may(shares, now_tsc, &address, rank);

	if (may)
		wh_shares_use(shares, now_tsc, &address, rank);
	return may;
}

/* So many a second for that long, of so many addresses from the first one on; those that begin. */
static uint32_t flood(uint32_t first, uint32_t addresses, uint32_t per_second, uint32_t seconds)
{
	uint32_t begun = 0;

	for (uint32_t i = 0; i < per_second * seconds; i++) {
		begun += comes(first + i % addresses);
		now_tsc += HZ / per_second;
	}
	return begun;
}

/* A host, a subnet, and all: each has its rate, and its burst. */
static void rates(void)
{
	uint32_t begun;

	begin();
	begun = flood(1, 1, 20000, 4);
	CU_ASSERT(begun >= 4 * 125 && begun <= 4 * 125 + 17);
	now_tsc += 10 * HZ;
	begun = flood(0, 256, 20000, 4);
	CU_ASSERT(begun >= 4 * 500 && begun <= 4 * 500 + 49);
	now_tsc += 10 * HZ;
	begun = flood(0, 1 << 16, 20000, 4);
	CU_ASSERT(begun >= 3 * 2000 && begun <= 4 * 2000 + 49);
	free(shares);
}

/* Once a second each is fresh, whether it begins or not. */
static void fresh(void)
{
	const struct wh_address address = at(1);

	begin();
	CU_ASSERT_EQUAL(wh_shares_rank(shares, now_tsc, &address), WH_HOST_FRESH);
	now_tsc += HZ - 1;
	CU_ASSERT_EQUAL(wh_shares_rank(shares, now_tsc, &address), WH_HOST_ORDINARY);
	now_tsc += 1;
	CU_ASSERT_EQUAL(wh_shares_rank(shares, now_tsc, &address), WH_HOST_FRESH);
	CU_ASSERT_EQUAL(wh_shares_rank(shares, now_tsc, &address), WH_HOST_ORDINARY);
	free(shares);
}

/* One that is fresh begins beside a flood that is not; a friend beside any. */
static void room_is_kept(void)
{
	const struct wh_address friend = at(77 << 8);

	begin();
	(void)flood(0, 8, 20000, 1);
	CU_ASSERT_FALSE(comes(1));
	CU_ASSERT_TRUE(comes(9));
	(void)flood(0, 1 << 16, 100000, 1);
	for (uint32_t i = 0; i < 100; i++)
		(void)comes(0x10000 + (i << 8));
	CU_ASSERT_FALSE(comes(0x20000));
	wh_shares_befriend(shares, &friend);
	CU_ASSERT_EQUAL(wh_shares_rank(shares, now_tsc, &friend), WH_HOST_FRIEND);
	CU_ASSERT_TRUE(comes(77 << 8));
	free(shares);
}

/* Of IPv6 a host may use any address of a /64, and a site those of a /48. */
static void prefixes(void)
{
	struct wh_address a = {.family = WH_IPV6, .ip = {0x20, 1}};
	struct wh_address b = a;

	b.ip[15] = 1;
	CU_ASSERT_TRUE(wh_shares_same_host(&a, &b));
	b.ip[7] = 1;
	CU_ASSERT_FALSE(wh_shares_same_host(&a, &b));
	CU_ASSERT_TRUE(wh_shares_same_subnet(&a, &b));
	b.ip[5] = 1;
	CU_ASSERT_FALSE(wh_shares_same_subnet(&a, &b));
	a = at(1);
	b = at(2);
	CU_ASSERT_FALSE(wh_shares_same_host(&a, &b));
	CU_ASSERT_TRUE(wh_shares_same_subnet(&a, &b));
	b = at(257);
	CU_ASSERT_FALSE(wh_shares_same_subnet(&a, &b));
	b = (struct wh_address){.family = WH_IPV6, .ip = {10}};
	CU_ASSERT_FALSE(wh_shares_same_subnet(&a, &b));
}

/* However often it comes: four times a second. */
static void told(void)
{
	const struct wh_address address = at(1);
	uint32_t count = 0;

	begin();
	for (uint32_t i = 0; i < 10000; i++, now_tsc += HZ / 1000)
		count += wh_shares_may_tell(shares, now_tsc, &address);
	CU_ASSERT(count >= 40 && count <= 45);
	free(shares);
}

CU_TestInfo wh_tests[] = {
	{"rates", rates},
	{"fresh", fresh},
	{"room is kept", room_is_kept},
	{"prefixes", prefixes},
	{"told", told},
	CU_TEST_INFO_NULL,
};
