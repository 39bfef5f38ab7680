/* SPDX-License-Identifier: BSD-3-Clause */
#include "history/history_store.h"

#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/complain.h"
#include "journal/database.h"

#define FILE_NAME "service.db"

/* Rows deleted in one transaction. */
#define FORGOTTEN_AT_ONCE "10000"

static const char *const steps[] = {
	"CREATE TABLE transfer(id INTEGER PRIMARY KEY AUTOINCREMENT, side INTEGER NOT NULL,"
	" number INTEGER NOT NULL, lanes INTEGER NOT NULL, job INTEGER NOT NULL, uid INTEGER,"
	" sends INTEGER NOT NULL, paths INTEGER NOT NULL, began INTEGER NOT NULL,"
	" ended INTEGER NOT NULL, files INTEGER NOT NULL, skipped INTEGER NOT NULL,"
	" failed INTEGER NOT NULL, bytes INTEGER NOT NULL, resumed INTEGER NOT NULL,"
	" moved INTEGER NOT NULL, pkts INTEGER NOT NULL, lost INTEGER NOT NULL,"
	" again INTEGER NOT NULL, repair INTEGER NOT NULL, rtt_ns INTEGER NOT NULL,"
	" rate INTEGER NOT NULL, status INTEGER NOT NULL, verb TEXT NOT NULL, peer TEXT NOT NULL,"
	" name TEXT NOT NULL, identity TEXT NOT NULL, limited_by TEXT NOT NULL,"
	" profile TEXT NOT NULL, digest TEXT NOT NULL, outcome TEXT NOT NULL, why TEXT NOT NULL,"
	" path BLOB NOT NULL);"
	"CREATE INDEX transfer_ended ON transfer(ended);"
	"CREATE UNIQUE INDEX transfer_lanes ON transfer(number, side, job, identity, peer)"
	" WHERE side=0 AND number<>0;",
	"ALTER TABLE transfer RENAME COLUMN again TO retransmitted"};

#define COLUMNS                                                                                    \
	"side, number, lanes, job, uid, sends, paths, began, ended, files, skipped, failed, "      \
	"bytes, resumed, moved, pkts, lost, retransmitted, repair, rtt_ns, rate, status, "         \
	"verb, peer, name, identity, limited_by, profile, digest, outcome, why, path"

enum history_statement {
	ADD,
	NEXT,
	FORGET_OLD,
	FORGET_MANY,
	QUESTIONS,
};

/* For lanes: the sums, the earliest begin, the latest end, and the first failure. */
static const char *const texts[QUESTIONS] = {
	[ADD] = "INSERT INTO transfer(" COLUMNS
		") VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, "
		"?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27, ?28, ?29, ?30, ?31, ?32) "
		"ON CONFLICT(number, side, job, identity, peer) WHERE side=0 AND number<>0 "
		"DO UPDATE SET began=min(began, ?8), ended=max(ended, ?9), files=files+?10, "
		"skipped=skipped+?11, failed=failed+?12, bytes=bytes+?13, resumed=resumed+?14, "
		"moved=moved+?15, pkts=pkts+?16, lost=lost+?17, retransmitted=retransmitted+?18, "
		"repair=repair+?19, digest='', "
		"outcome=CASE WHEN status=0 THEN ?30 ELSE outcome END, "
		"why=CASE WHEN status=0 THEN ?31 ELSE why END, "
		"status=CASE WHEN status=0 THEN ?22 ELSE status END",
	[NEXT] = "SELECT id, " COLUMNS " FROM transfer WHERE id<?1 AND ended>=?2 AND ended<?3 "
		 "ORDER BY id DESC LIMIT 1",
	[FORGET_OLD] = "DELETE FROM transfer WHERE id IN (SELECT id FROM transfer WHERE ended<?1 "
		       "LIMIT " FORGOTTEN_AT_ONCE ")",
	[FORGET_MANY] = "DELETE FROM transfer WHERE id IN (SELECT id FROM transfer WHERE "
			"id<=(SELECT max(id) FROM transfer)-?1 LIMIT " FORGOTTEN_AT_ONCE ")",
};

/* The columns in their order: numbers first, texts after them. */
#define NUMBERS 22

struct wh_history {
	sqlite3 *database;
	sqlite3_stmt *asked[QUESTIONS];
};

static const struct {
	size_t offset;
	size_t bytes;
} words[] = {
	{offsetof(struct wh_history_record, verb), sizeof(((struct wh_history_record *)0)->verb)},
	{offsetof(struct wh_history_record, peer), sizeof(((struct wh_history_record *)0)->peer)},
	{offsetof(struct wh_history_record, name), sizeof(((struct wh_history_record *)0)->name)},
	{offsetof(struct wh_history_record, identity),
		sizeof(((struct wh_history_record *)0)->identity)},
	{offsetof(struct wh_history_record, limit), sizeof(((struct wh_history_record *)0)->limit)},
	{offsetof(struct wh_history_record, profile),
		sizeof(((struct wh_history_record *)0)->profile)},
	{offsetof(struct wh_history_record, digest),
		sizeof(((struct wh_history_record *)0)->digest)},
	{offsetof(struct wh_history_record, outcome),
		sizeof(((struct wh_history_record *)0)->outcome)},
	{offsetof(struct wh_history_record, why), sizeof(((struct wh_history_record *)0)->why)},
	{offsetof(struct wh_history_record, path), sizeof(((struct wh_history_record *)0)->path)},
};

#define WORDS (sizeof(words) / sizeof(words[0]))

static int open_to_read(sqlite3 **database, const char *path)
{
	int rc = access(path, F_OK) != 0
			 ? -errno
			 : wh_database_error(sqlite3_open_v2(path, database,
				   SQLITE_OPEN_READWRITE | SQLITE_OPEN_FULLMUTEX, NULL));

	if (rc == 0)
		sqlite3_busy_timeout(*database, WH_DATABASE_BUSY_MS);
	return rc;
}

static int prepare(struct wh_history *history)
{
	for (uint32_t i = 0; i < QUESTIONS; i++) {
		history->asked[i] = wh_database_statement(history->database, texts[i]);
		if (history->asked[i] == NULL)
			return wh_database_error(sqlite3_errcode(history->database));
	}
	return 0;
}

static int prepare_tables(struct wh_history *history, int rc)
{
	/* The name under which builds before 28 November 2026 noted the version. */
	if (rc == 0)
		rc = wh_database_run(history->database,
			"UPDATE OR IGNORE room SET name='history' WHERE name='book'");
	if (rc == 0)
		rc = wh_database_upgrade(
			history->database, "history", steps, sizeof(steps) / sizeof(steps[0]));
	return rc == 0 ? prepare(history) : rc;
}

static int path_in(const char *folder, char path[PATH_MAX])
{
	int chars = snprintf(path, PATH_MAX, "%s/" FILE_NAME, folder);

	return chars < PATH_MAX ? 0 : -ENAMETOOLONG;
}

static int open_in(struct wh_history **result, const char *path, bool writes, uint32_t patience_ms,
	char told[WH_DATABASE_TOLD_BYTES])
{
	struct wh_history *history = calloc(1, sizeof(*history));
	int rc;

	*result = NULL;
	told[0] = '\0';
	if (history == NULL)
		return -ENOMEM;
	rc = writes ? wh_database_open_within(&history->database, path, patience_ms, told)
		    : open_to_read(&history->database, path);
	rc = prepare_tables(history, rc);
	if (rc < 0)
		wh_history_close(history);
	else
		*result = history;
	return rc;
}

static int open_within(
	struct wh_history **result, const char *folder, bool writes, uint32_t patience_ms)
{
	char told[WH_DATABASE_TOLD_BYTES];
	char path[PATH_MAX];
	int rc = path_in(folder, path);

	*result = NULL;
	if (rc == 0)
		rc = open_in(result, path, writes, patience_ms, told);
	if (rc == 0 && told[0] != '\0')
		wh_say("history: %s", told);
	return rc;
}

int wh_history_open(struct wh_history **result, const char *folder, bool writes)
{
	int rc = open_within(result, folder, writes, WH_DATABASE_BUSY_MS);

	if (rc < 0 && (rc != -ENOENT || writes))
		wh_say("transfers cannot be %s in %s/" FILE_NAME ": %s", writes ? "noted" : "read",
			folder, wh_database_why(rc));
	return rc;
}

int wh_history_try(struct wh_history **history, const char *folder)
{
	return open_within(history, folder, true, WH_HISTORY_PATIENCE_MS);
}

int wh_history_follow(struct wh_history **history, const char *folder, bool saves)
{
	struct wh_history *fresh;
	char path[PATH_MAX];
	int rc = 0;

	if (!wh_database_is_gone((*history)->database))
		return 0;
	rc = path_in(folder, path);
	if (rc == 0 && access(path, F_OK) != 0)
		rc = !saves ? -ENOENT : wh_database_save((*history)->database, path);
	if (rc == 0)
		rc = wh_history_try(&fresh, folder);
	if (rc < 0)
		return rc;
	wh_history_close(*history);
	*history = fresh;
	return 0;
}

void wh_history_close(struct wh_history *history)
{
	if (history == NULL)
		return;
	for (uint32_t i = 0; i < QUESTIONS; i++)
		sqlite3_finalize(history->asked[i]);
	wh_database_close(history->database);
	free(history);
}

/* The record's numbers, in the order of the columns. */
static void numbers_of(const struct wh_history_record *record, int64_t number[NUMBERS])
{
	const int64_t all[NUMBERS] = {record->side, (int64_t)record->number, record->lanes,
		(int64_t)record->order, record->uid, record->sends, record->paths, record->began_us,
		record->ended_us, (int64_t)record->files, (int64_t)record->skipped,
		(int64_t)record->failed, (int64_t)record->bytes, (int64_t)record->resumed_bytes,
		(int64_t)record->moved_bytes, (int64_t)record->pkts, (int64_t)record->lost_pkts,
		(int64_t)record->retransmitted_pkts, (int64_t)record->repair_pkts,
		(int64_t)record->rtt_ns, (int64_t)record->rate_bps, record->status};

	memcpy(number, all, sizeof(all));
}

static int add(struct wh_history *history, const struct wh_history_record *record)
{
	sqlite3_stmt *statement = history->asked[ADD];
	int64_t number[NUMBERS];
	int rc;

	numbers_of(record, number);
	for (int i = 0; i < NUMBERS; i++)
		sqlite3_bind_int64(statement, i + 1, number[i]);
	for (size_t i = 0; i < WORDS; i++) {
		const char *word = (const char *)record + words[i].offset;

		if (i + 1 < WORDS)
			sqlite3_bind_text(statement, NUMBERS + 1 + (int)i, word, -1, SQLITE_STATIC);
		else
			sqlite3_bind_blob(statement, NUMBERS + 1 + (int)i, word, (int)strlen(word),
				SQLITE_STATIC);
	}
	rc = wh_database_step(statement);
	sqlite3_reset(statement);
	return rc < 0 ? rc : 0;
}

int wh_history_add(
	struct wh_history *history, const struct wh_history_record *records, uint32_t count)
{
	int rc = wh_database_begin(history->database);

	if (rc < 0)
		return rc;
	for (uint32_t i = 0; rc == 0 && i < count; i++)
		rc = add(history, &records[i]);

	int ended = wh_database_end(history->database, rc == 0);

	return rc < 0 ? rc : ended;
}

static int forget(struct wh_history *history, enum history_statement question, int64_t bound)
{
	sqlite3_stmt *statement = history->asked[question];
	int rc;

	do {
		sqlite3_bind_int64(statement, 1, bound);
		rc = wh_database_step(statement);
		sqlite3_reset(statement);
	} while (rc == 0 && sqlite3_changes(history->database) > 0);
	return rc;
}

int wh_history_forget(struct wh_history *history, int64_t before_us, uint64_t rows_max)
{
	int rc = forget(history, FORGET_OLD, before_us);

	return rc == 0 ? forget(history, FORGET_MANY, (int64_t)rows_max) : rc;
}

/* A damaged or foreign file may contain anything. */
static void read_entry(sqlite3_stmt *row, struct wh_history_record *record)
{
	uint64_t side = wh_database_number(row, 1);

	*record = (struct wh_history_record){
		.id = sqlite3_column_int64(row, 0),
		.side = side < WH_HISTORY_SIDES ? (enum wh_history_side)side : WH_HISTORY_SERVED,
		.number = (uint64_t)sqlite3_column_int64(row, 2),
		.lanes = (uint32_t)wh_database_number(row, 3),
		.order = wh_database_number(row, 4),
		.uid = sqlite3_column_int64(row, 5),
		.sends = sqlite3_column_int(row, 6) != 0,
		.paths = (uint32_t)wh_database_number(row, 7),
		.began_us = sqlite3_column_int64(row, 8),
		.ended_us = sqlite3_column_int64(row, 9),
		.files = wh_database_number(row, 10),
		.skipped = wh_database_number(row, 11),
		.failed = wh_database_number(row, 12),
		.bytes = wh_database_number(row, 13),
		.resumed_bytes = wh_database_number(row, 14),
		.moved_bytes = wh_database_number(row, 15),
		.pkts = wh_database_number(row, 16),
		.lost_pkts = wh_database_number(row, 17),
		.retransmitted_pkts = wh_database_number(row, 18),
		.repair_pkts = wh_database_number(row, 19),
		.rtt_ns = wh_database_number(row, 20),
		.rate_bps = wh_database_number(row, 21),
		.status = sqlite3_column_int(row, 22),
	};
	for (size_t i = 0; i < WORDS; i++)
		wh_database_text(row, NUMBERS + 1 + (int)i, (char *)record + words[i].offset,
			words[i].bytes);
}

int wh_history_next(struct wh_history *history, int64_t since_us, int64_t until_us, int64_t below,
	struct wh_history_record *record)
{
	sqlite3_stmt *statement = history->asked[NEXT];
	int rc;

	sqlite3_bind_int64(statement, 1, below);
	sqlite3_bind_int64(statement, 2, since_us);
	sqlite3_bind_int64(statement, 3, until_us);
	rc = wh_database_step(statement);
	if (rc == 1)
		read_entry(statement, record);
	sqlite3_reset(statement);
	return rc;
}
