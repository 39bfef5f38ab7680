/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * The database of a host: SQLite, with a write-ahead log (WAL) that is on disk when a transaction
 * ends (synchronous=FULL). Several rooms have tables in it, each with versions of its own. It is
 * optional: without it the caller continues, and reports that.
 *
 * Every call may block on a disk: never call from a polling core.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sqlite3.h>

#define WH_DATABASE_TOLD_BYTES 512

/* Longest wait for another process's transaction. */
#define WH_DATABASE_BUSY_MS 5000

/* Larger files are checked less thoroughly when opened. */
#define WH_DATABASE_CHECKED_BYTES (UINT64_C(64) << 20)

/* Suffix of a damaged database that was set aside; an earlier one is replaced. */
#define WH_DATABASE_DAMAGED ".damaged"

/* Suffix of a file being saved. */
#define WH_DATABASE_SAVING ".saving"

/*
 * Opens or creates the file, accessible to its owner only. A damaged one is renamed, and a new one
 * created; a file of another program is left alone (-EMEDIUMTYPE). 0 or a negative errno; `told` is
 * a sentence for the operator, or "".
 */
int wh_database_open(sqlite3 **database, const char *path, char told[WH_DATABASE_TOLD_BYTES]);

/* Opens with another limit of waiting for other processes, now and later. */
int wh_database_open_within(sqlite3 **database, const char *path, uint32_t patience_ms,
	char told[WH_DATABASE_TOLD_BYTES]);

/* NULL is allowed. All its statements must be finalized. */
void wh_database_close(sqlite3 *database);

/*
 * is_gone: the file was removed, or another one has its name. Writes go to the one that was opened,
 * and are lost. is_emptied: the file was truncated. Only the log has the data, and the next process
 * cannot use it.
 */
bool wh_database_is_gone(sqlite3 *database);
bool wh_database_is_emptied(sqlite3 *database);

/*
 * Writes a copy of the whole database to that path: afterwards it is on disk, complete or
 * unchanged. 0 or a negative errno.
 */
int wh_database_save(sqlite3 *database, const char *path);

/* An explanation for operators of an error of these functions. */
const char *wh_database_why(int error);

/*
 * Upgrades a room's tables: steps[i] leads from version i to the next. All or nothing. -ENOTSUP:
 * created by a newer wavehaul.
 */
int wh_database_upgrade(
	sqlite3 *database, const char *room, const char *const *steps, uint32_t count);

/* Runs statements without rows. 0 or a negative errno. */
int wh_database_run(sqlite3 *database, const char *sql);

/* A prepared statement for repeated use; NULL: error. */
sqlite3_stmt *wh_database_statement(sqlite3 *database, const char *sql);

/* One step: 1: a row, 0: finished, or a negative errno. */
int wh_database_step(sqlite3_stmt *statement);

/* A column of a row: a number, 0 for a negative one; and a text, cut to `room`, "" for NULL. */
uint64_t wh_database_number(sqlite3_stmt *row, int column);
void wh_database_text(sqlite3_stmt *row, int column, char *text, size_t room);

/* SQLite's result as a negative errno; 0: success. -EUCLEAN: the file is damaged. */
int wh_database_error(int answer);

/*
 * A transaction, in which no other thread's statements run. begin waits for other threads; begin
 * and end wait for other processes. 0 or a negative errno. After a failed begin do not call end.
 */
int wh_database_begin(sqlite3 *database);
int wh_database_end(sqlite3 *database, bool commit);
