/* SPDX-License-Identifier: BSD-3-Clause */

/* The book's rows, in a folder of the test's own. */

#include "book/store.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/assert.h"
#include "unit.h"

const char wh_suite_name[] = "app/book";

#define S INT64_C(1000000)

static char folder[40];
static char path[64];
static struct wh_book *book;
static struct wh_book_entry found;

/* In memory: what a disk costs is the database's affair. */
static void set_up(void)
{
	strcpy(folder, "/dev/shm/wavehaul-book-XXXXXX");
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/service.db", folder);
	CU_ASSERT_EQUAL_FATAL(wh_book_open(&book, folder, true), 0);
}

static void take_down(void)
{
	wh_book_close(book);
	unlink(path);
	CU_ASSERT_EQUAL(rmdir(folder), 0);
}

static struct wh_book_entry lane_of(uint64_t number, uint32_t lane)
{
	struct wh_book_entry entry = {
		.number = number,
		.lane = lane,
		.lanes = 2,
		.uid = -1,
		.verb = "send",
		.peer = "192.0.2.2",
		.name = "dtn2",
		.path = "in/\xff\x1b[2J",
		.paths = 3,
		.began_us = 100 * S + lane * S,
		.ended_us = 110 * S + lane * S,
		.files = 2,
		.bytes = UINT64_C(1) << 40,
		.moved_bytes = (UINT64_C(1) << 40) + lane,
		.pkts = 1000,
		.lost_pkts = 7,
		.rtt_ns = 150000000,
		.outcome = "ok",
	};

	return entry;
}

static uint32_t count(int64_t since_us, int64_t until_us)
{
	int64_t below = INT64_MAX;
	uint32_t rows = 0;

	while (wh_book_next(book, since_us, until_us, below, &found) == 1) {
		CU_ASSERT(found.id < below);
		below = found.id;
		rows++;
	}
	return rows;
}

static void test_lanes(void)
{
	struct wh_book_entry entry[3] = {lane_of(77, 0), lane_of(77, 1), lane_of(77, 0)};

	set_up();
	entry[1].status = 1;
	strcpy(entry[1].outcome, "peer-gone");
	strcpy(entry[1].why, "nobody answers");
	strcpy(entry[2].peer, "192.0.2.3"); /* who has drawn the same number */
	CU_ASSERT_EQUAL(wh_book_add(book, entry, 3), 0);
	CU_ASSERT_EQUAL(count(0, INT64_MAX), 2);
	CU_ASSERT_STRING_EQUAL(found.peer, "192.0.2.2");
	CU_ASSERT_EQUAL(found.files, 4);
	CU_ASSERT_EQUAL(found.bytes, UINT64_C(2) << 40);
	CU_ASSERT_EQUAL(found.moved_bytes, (UINT64_C(2) << 40) + 1);
	CU_ASSERT_EQUAL(found.lost_pkts, 14);
	CU_ASSERT_EQUAL(found.began_us, 100 * S);
	CU_ASSERT_EQUAL(found.ended_us, 111 * S);
	CU_ASSERT_EQUAL(found.lanes, 2);
	CU_ASSERT_EQUAL(found.uid, -1);
	CU_ASSERT_EQUAL(found.status, 1);
	CU_ASSERT_STRING_EQUAL(found.outcome, "peer-gone");
	CU_ASSERT_STRING_EQUAL(found.why, "nobody answers");
	CU_ASSERT_STRING_EQUAL(found.path, "in/\xff\x1b[2J");
	CU_ASSERT_EQUAL(found.rtt_ns, 150000000);
	CU_ASSERT(wh_entry_bps(&found) > 0 && wh_entry_seconds(&found) == 11);
	take_down();
}

/* Orders have a row for each try, and so have jobs that are of no transfer. */
static void test_apart(void)
{
	struct wh_book_entry entry[4] = {
		lane_of(77, 0), lane_of(77, 0), lane_of(0, 0), lane_of(0, 0)};

	set_up();
	entry[0].side = entry[1].side = WH_ENTRY_ORDER;
	entry[0].order = entry[1].order = 5;
	CU_ASSERT_EQUAL(wh_book_add(book, entry, 4), 0);
	CU_ASSERT_EQUAL(count(0, INT64_MAX), 4);
	CU_ASSERT_EQUAL(found.order, 5);
	take_down();
}

static void test_span(void)
{
	set_up();
	for (int i = 0; i < 10; i++) {
		struct wh_book_entry entry = lane_of((uint64_t)i + 1, 0);

		entry.ended_us = i * S;
		CU_ASSERT_EQUAL(wh_book_add(book, &entry, 1), 0);
	}
	CU_ASSERT_EQUAL(count(0, 10 * S), 10);
	CU_ASSERT_EQUAL(found.ended_us, 0); /* the last that is told is the oldest */
	CU_ASSERT_EQUAL(count(3 * S, 7 * S), 4);
	CU_ASSERT_EQUAL(count(3 * S + 1, 7 * S + 1), 4);
	CU_ASSERT_EQUAL(count(10 * S, INT64_MAX), 0);
	take_down();
}

static void test_bounds(void)
{
	set_up();
	for (int i = 0; i < 20; i++) {
		struct wh_book_entry entry = lane_of((uint64_t)i + 1, 0);

		entry.ended_us = i * S;
		CU_ASSERT_EQUAL(wh_book_add(book, &entry, 1), 0);
	}
	CU_ASSERT_EQUAL(wh_book_forget(book, 0, 1000), 0);
	CU_ASSERT_EQUAL(count(0, INT64_MAX), 20);
	CU_ASSERT_EQUAL(wh_book_forget(book, 5 * S, 1000), 0);
	CU_ASSERT_EQUAL(count(0, INT64_MAX), 15);
	CU_ASSERT_EQUAL(wh_book_forget(book, 0, 4), 0);
	CU_ASSERT_EQUAL(count(0, INT64_MAX), 4);
	CU_ASSERT_EQUAL(found.ended_us, 16 * S);
	take_down();
}

/* What only looks makes nothing; two may have it open. */
static void test_readers(void)
{
	struct wh_book_entry entry = lane_of(1, 0);
	struct wh_book *other;
	char empty[] = "/dev/shm/wavehaul-none-XXXXXX";

	set_up();
	CU_ASSERT_EQUAL(wh_book_open(&other, folder, false), 0);
	CU_ASSERT_EQUAL(wh_book_add(book, &entry, 1), 0);
	CU_ASSERT_EQUAL(wh_book_next(other, 0, INT64_MAX, INT64_MAX, &found), 1);
	wh_book_close(other);
	take_down();
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(empty));
	CU_ASSERT_EQUAL(wh_book_open(&other, empty, false), -ENOENT);
	CU_ASSERT_EQUAL(rmdir(empty), 0);
}

CU_TestInfo wh_tests[] = {
	{"lanes of a transfer are one row", test_lanes},
	{"what is not one transfer is not", test_apart},
	{"spans of time", test_span},
	{"bounds in age and number", test_bounds},
	{"readers", test_readers},
	CU_TEST_INFO_NULL,
};
