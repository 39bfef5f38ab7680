/* SPDX-License-Identifier: BSD-3-Clause */

/* The history's rows, in a folder of the test's own. */

#include "history/history_store.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "journal/database.h"
#include "unit.h"

const char wh_suite_name[] = "app/history";

#define S INT64_C(1000000)

static char folder[40];
static char path[64];
static struct wh_history *history;
static struct wh_history_record found;

/* In memory: what a disk costs is the database's affair. */
void wh_set_up(void)
{
	strcpy(folder, "/dev/shm/wavehaul-history-XXXXXX");
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/service.db", folder);
	CU_ASSERT_EQUAL_FATAL(wh_history_open(&history, folder, true), 0);
}

void wh_take_down(void)
{
	wh_history_close(history);
	unlink(path);
	CU_ASSERT_EQUAL(rmdir(folder), 0);
}

static struct wh_history_record lane_of(uint64_t number, uint32_t lane)
{
	struct wh_history_record record = {
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

	return record;
}

static uint32_t count(int64_t since_us, int64_t until_us)
{
	int64_t below = INT64_MAX;
	uint32_t rows = 0;

	while (wh_history_next(history, since_us, until_us, below, &found) == 1) {
		CU_ASSERT(found.id < below);
		below = found.id;
		rows++;
	}
	return rows;
}

static void test_lanes(void)
{
	struct wh_history_record record[3] = {lane_of(77, 0), lane_of(77, 1), lane_of(77, 0)};

	record[1].status = 1;
	strcpy(record[1].outcome, "peer-gone");
	strcpy(record[1].why, "nobody answers");
	strcpy(record[2].peer, "192.0.2.3"); /* who has drawn the same number */
	CU_ASSERT_EQUAL(wh_history_add(history, record, 3), 0);
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
	CU_ASSERT(wh_history_record_bps(&found) > 0 && wh_history_seconds(&found) == 11);
}

/* Orders have a row for each try, and so have jobs that are of no transfer. */
static void test_apart(void)
{
	struct wh_history_record record[4] = {
		lane_of(77, 0), lane_of(77, 0), lane_of(0, 0), lane_of(0, 0)};

	record[0].side = record[1].side = WH_HISTORY_ORDER;
	record[0].order = record[1].order = 5;
	CU_ASSERT_EQUAL(wh_history_add(history, record, 4), 0);
	CU_ASSERT_EQUAL(count(0, INT64_MAX), 4);
	CU_ASSERT_EQUAL(found.order, 5);
}

static void test_span(void)
{
	for (int i = 0; i < 10; i++) {
		struct wh_history_record record = lane_of((uint64_t)i + 1, 0);

		record.ended_us = i * S;
		CU_ASSERT_EQUAL(wh_history_add(history, &record, 1), 0);
	}
	CU_ASSERT_EQUAL(count(0, 10 * S), 10);
	CU_ASSERT_EQUAL(found.ended_us, 0); /* the last that is told is the oldest */
	CU_ASSERT_EQUAL(count(3 * S, 7 * S), 4);
	CU_ASSERT_EQUAL(count(3 * S + 1, 7 * S + 1), 4);
	CU_ASSERT_EQUAL(count(10 * S, INT64_MAX), 0);
}

static void test_bounds(void)
{
	for (int i = 0; i < 20; i++) {
		struct wh_history_record record = lane_of((uint64_t)i + 1, 0);

		record.ended_us = i * S;
		CU_ASSERT_EQUAL(wh_history_add(history, &record, 1), 0);
	}
	CU_ASSERT_EQUAL(wh_history_forget(history, 0, 1000), 0);
	CU_ASSERT_EQUAL(count(0, INT64_MAX), 20);
	CU_ASSERT_EQUAL(wh_history_forget(history, 5 * S, 1000), 0);
	CU_ASSERT_EQUAL(count(0, INT64_MAX), 15);
	CU_ASSERT_EQUAL(wh_history_forget(history, 0, 4), 0);
	CU_ASSERT_EQUAL(count(0, INT64_MAX), 4);
	CU_ASSERT_EQUAL(found.ended_us, 16 * S);
}

/* What only looks makes nothing; two may have it open. */
static void test_readers(void)
{
	struct wh_history_record record = lane_of(1, 0);
	struct wh_history *other;
	char empty[] = "/dev/shm/wavehaul-none-XXXXXX";

	CU_ASSERT_EQUAL(wh_history_open(&other, folder, false), 0);
	CU_ASSERT_EQUAL(wh_history_add(history, &record, 1), 0);
	CU_ASSERT_EQUAL(wh_history_next(other, 0, INT64_MAX, INT64_MAX, &found), 1);
	wh_history_close(other);
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(empty));
	CU_ASSERT_EQUAL(wh_history_open(&other, empty, false), -ENOENT);
	CU_ASSERT_EQUAL(rmdir(empty), 0);
}

/* A history of the first version, under its old name. */
static void test_older(void)
{
	struct wh_history_record record = lane_of(1, 0);
	sqlite3 *database;

	record.retransmitted_pkts = 5;
	CU_ASSERT_EQUAL(wh_history_add(history, &record, 1), 0);
	wh_history_close(history);
	CU_ASSERT_EQUAL_FATAL(sqlite3_open(path, &database), SQLITE_OK);
	CU_ASSERT_EQUAL(wh_database_run(database,
				"UPDATE room SET name='book', version=1;"
				"ALTER TABLE transfer RENAME COLUMN retransmitted TO again"),
		0);
	CU_ASSERT_EQUAL(sqlite3_close(database), SQLITE_OK);
	CU_ASSERT_EQUAL_FATAL(wh_history_open(&history, folder, true), 0);
	CU_ASSERT_EQUAL(wh_history_next(history, 0, INT64_MAX, INT64_MAX, &found), 1);
	CU_ASSERT_EQUAL(found.retransmitted_pkts, 5);
}

/* Tables that no wavehaul has left so are refused by a sentence that says what to do. */
static void test_foreign_tables(void)
{
	sqlite3 *database;

	wh_history_close(history);
	CU_ASSERT_EQUAL_FATAL(sqlite3_open(path, &database), SQLITE_OK);
	CU_ASSERT_EQUAL(wh_database_run(database, "DELETE FROM room"), 0);
	CU_ASSERT_EQUAL(sqlite3_close(database), SQLITE_OK);
	CU_ASSERT_EQUAL(wh_history_open(&history, folder, true), -EPROTOTYPE);
	CU_ASSERT_STRING_EQUAL(wh_database_why(-EPROTOTYPE),
		"its tables are those of another build of wavehaul: move the file away");
}

CU_TestInfo wh_tests[] = {
	{"lanes of a transfer are one row", test_lanes},
	{"what is not one transfer is not", test_apart},
	{"spans of time", test_span},
	{"bounds in age and number", test_bounds},
	{"readers", test_readers},
	{"a history of an older build", test_older},
	{"tables that are not ours", test_foreign_tables},
	CU_TEST_INFO_NULL,
};
