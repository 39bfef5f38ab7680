/* SPDX-License-Identifier: BSD-3-Clause */
#include "trust/days.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "unit.h"

const char wh_suite_name[] = "trust_days";

static const uint8_t alice[WH_IDENTITY_BYTES] = {1, 2};
static const uint8_t bob[WH_IDENTITY_BYTES] = {1, 3};

static struct wh_days days;
static struct wh_days again;
static char text[WH_DAYS_TEXT_BYTES];

#define NOON INT64_C(1700000000)

static struct wh_days_now now_at(const char *boot, int64_t boot_s, int64_t wall_s)
{
	struct wh_days_now now = {.boot_s = boot_s, .wall_s = wall_s};

	strcpy(now.boot, boot);
	return now;
}

static void begin(void)
{
	memset(&days, 0, sizeof(days));
	memset(&again, 0, sizeof(again));
}

static void test_a_day(void)
{
	begin();
	CU_ASSERT_EQUAL(wh_days_add(&days, alice, 0, 100), 0);
	CU_ASSERT_EQUAL(days.days, 0);
	CU_ASSERT_FALSE(days.changed);
	CU_ASSERT_EQUAL(wh_days_add(&days, alice, 5, 100), 5);
	CU_ASSERT_EQUAL(wh_days_add(&days, bob, 7, 200), 7);
	CU_ASSERT_EQUAL(wh_days_add(&days, alice, 5, 100 + WH_DAY_S - 1), 10);
	CU_ASSERT_EQUAL(wh_days_add(&days, alice, UINT64_MAX, 101), UINT64_MAX);
	CU_ASSERT_EQUAL(wh_days_add(&days, alice, 0, 100 + WH_DAY_S), 0);
	CU_ASSERT_EQUAL(wh_days_add(&days, alice, 3, 100 + WH_DAY_S), 3);
	CU_ASSERT_EQUAL(wh_days_add(&days, bob, 0, 100 + WH_DAY_S), 7);
	CU_ASSERT_EQUAL(days.days, 2);
}

/* Who comes to a full table takes the place of the day that began first. */
static void test_full(void)
{
	uint8_t owner[WH_IDENTITY_BYTES] = {0};

	begin();
	for (uint32_t i = 0; i <= WH_DAYS_MAX; i++) {
		memcpy(owner, &i, sizeof(i));
		CU_ASSERT_EQUAL(wh_days_add(&days, owner, UINT64_MAX - i, i), UINT64_MAX - i);
	}
	CU_ASSERT_EQUAL(days.days, WH_DAYS_MAX);
	CU_ASSERT_EQUAL(wh_days_add(&days, owner, 0, 5000), UINT64_MAX - WH_DAYS_MAX);
	memset(owner, 0, sizeof(owner));
	CU_ASSERT_EQUAL(wh_days_add(&days, owner, 0, 5000), 0);

	/* The largest file there can be. */
	const struct wh_days_now now =
		now_at("0a1b2c3d-0a1b-2c3d-4e5f-0a1b2c3d4e5f", 86000, INT64_MAX / 2);
	size_t bytes = wh_days_write(&days, &now, text);
	bool future;

	CU_ASSERT(bytes < WH_DAYS_TEXT_BYTES);
	CU_ASSERT_PTR_NULL(wh_days_read(&again, &now, text, bytes, &future));
	CU_ASSERT_EQUAL(again.days, WH_DAYS_MAX);
	CU_ASSERT_EQUAL(memcmp(again.day, days.day, sizeof(days.day)), 0);
}

static size_t write_two(const struct wh_days_now *now)
{
	begin();
	wh_days_add(&days, alice, 5, now->boot_s - 1000);
	wh_days_add(&days, bob, 7, now->boot_s - WH_DAY_S + 100);
	return wh_days_write(&days, now, text);
}

/* What is left at a later time of Alice's and of Bob's day. */
static void check_after(const struct wh_days_now *later, size_t bytes, uint64_t alices,
	uint64_t bobs, bool wanted_future)
{
	bool future = !wanted_future;

	CU_ASSERT_PTR_NULL(wh_days_read(&again, later, text, bytes, &future));
	CU_ASSERT_EQUAL(future, wanted_future);
	CU_ASSERT_EQUAL(wh_days_add(&again, alice, 0, later->boot_s), alices);
	CU_ASSERT_EQUAL(wh_days_add(&again, bob, 0, later->boot_s), bobs);
	CU_ASSERT_FALSE(again.changed);
}

static void test_ages(void)
{
	const struct wh_days_now then = now_at("one", 200000, NOON);
	size_t bytes = write_two(&then);
	struct wh_days_now later;

	/* Of one boot, whatever somebody has done to the clock. */
	for (int64_t step = -1; step <= 1; step++) {
		later = now_at("one", 200099, NOON + step * 400 * WH_DAY_S);
		check_after(&later, bytes, 5, 7, false);
		later = now_at("one", 200100, NOON + step * 400 * WH_DAY_S);
		check_after(&later, bytes, 5, 0, false);
		later = now_at("one", 200000 + WH_DAY_S - 1000, NOON + step * 400 * WH_DAY_S);
		check_after(&later, bytes, 0, 0, false);
	}
	/* Of another one. */
	later = now_at("two", 50, NOON + 99);
	check_after(&later, bytes, 5, 7, false);
	later = now_at("two", 50, NOON + 100);
	check_after(&later, bytes, 5, 0, false);
	later = now_at("two", 50, NOON + 400 * WH_DAY_S);
	check_after(&later, bytes, 0, 0, false);
	/* The clock went back: no day is older than it was, and none lasts for more than one. */
	later = now_at("two", 50, NOON - 400 * WH_DAY_S);
	check_after(&later, bytes, 5, 7, true);
	CU_ASSERT_EQUAL(wh_days_add(&again, bob, 0, 150), 0);
	CU_ASSERT_EQUAL(wh_days_add(&again, alice, 0, 50 + WH_DAY_S - 1000), 0);
	/* Two boots that nobody knows are two. */
	const struct wh_days_now unknown = now_at("", 200000, NOON);

	bytes = write_two(&unknown);
	later = now_at("", 200001, NOON + 101);
	check_after(&later, bytes, 5, 0, false);
}

/* Any byte that is another one, and any end that comes too soon. */
static void test_damaged(void)
{
	const struct wh_days_now now = now_at("one", 200000, NOON);
	size_t bytes = write_two(&now);
	bool future;

	for (size_t i = 0; i < bytes; i++) {
		for (uint32_t bit = 0; bit < 8; bit++) {
			text[i] = (char)(text[i] ^ (1 << bit));
			CU_ASSERT_PTR_NOT_NULL(wh_days_read(&again, &now, text, bytes, &future));
			CU_ASSERT_EQUAL(again.days, 0);
			text[i] = (char)(text[i] ^ (1 << bit));
		}
		CU_ASSERT_PTR_NOT_NULL(wh_days_read(&again, &now, text, i, &future));
	}
	CU_ASSERT_PTR_NULL(wh_days_read(&again, &now, text, bytes, &future));
}

static uint32_t synced;

/* In place of libc's, to see that it is asked for. */
int fsync(int fd)
{
	synced++;
	return fdatasync(fd);
}

static void test_file(void)
{
	const struct wh_days_now now = now_at("one", 200000, NOON);
	char path[] = "/tmp/wh-days-XXXXXX";
	const char *wrong;
	bool future;
	int fd = mkstemp(path);

	CU_ASSERT_FATAL(fd >= 0);
	CU_ASSERT_EQUAL(wh_days_load(&again, &now, path, &wrong, &future), -EBADMSG);
	CU_ASSERT_STRING_EQUAL(wrong, "it is damaged");
	write_two(&now);
	synced = 0;
	CU_ASSERT_EQUAL(wh_days_save(&days, &now, path), 0);
	CU_ASSERT_EQUAL(synced, 1);
	CU_ASSERT_EQUAL(wh_days_load(&again, &now, path, &wrong, &future), 0);
	CU_ASSERT_EQUAL(again.days, 2);
	CU_ASSERT_EQUAL(wh_days_add(&again, bob, 0, now.boot_s), 7);
	unlink(path);
	CU_ASSERT_EQUAL(wh_days_load(&again, &now, path, &wrong, &future), -ENOENT);
	CU_ASSERT_EQUAL(wh_days_save(&days, &now, "/nowhere/days"), -ENOENT);
	close(fd);
}

CU_TestInfo wh_tests[] = {
	{"a day", test_a_day},
	{"a full table", test_full},
	{"ages", test_ages},
	{"damaged", test_damaged},
	{"a file", test_file},
	CU_TEST_INFO_NULL,
};
