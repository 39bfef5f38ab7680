/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_JOURNAL_DATABASE_H
#define WH_JOURNAL_DATABASE_H

/*
 * The file that a host remembers by: SQLite, with a log before it (WAL) that is on the disk when a
 * transaction is over (synchronous=FULL). Several rooms have tables in it, each with versions of
 * its own. Nothing depends on its being there: who cannot open it goes on without, and says so.
 *
 * Every call may wait for a disk: none is for a core that polls.
 */

#include <stdbool.h>
#include <stdint.h>

#include <sqlite3.h>

#define WH_DATABASE_TOLD_BYTES 512

/* How long a call waits for another process's transaction. */
#define WH_DATABASE_BUSY_MS 5000

/* Beyond that it is looked at less closely when it is opened. */
#define WH_DATABASE_CHECKED_BYTES (UINT64_C(64) << 20)

/* What follows ".damaged" has taken the place of the one before. */
#define WH_DATABASE_DAMAGED ".damaged"

/* ... and that, of one that is being saved. */
#define WH_DATABASE_SAVING ".saving"

/*
 * Opens the file, or makes it, for its owner alone. One that is damaged is renamed, and begun anew;
 * one that another program has made stays as it is (-EMEDIUMTYPE).
 * 0 or a negative errno; `told` is a sentence for the operator, or "".
 */
int wh_database_open(sqlite3 **database, const char *path, char told[WH_DATABASE_TOLD_BYTES]);

/* The same, for who waits no longer for other processes, now and from then on. */
int wh_database_open_within(sqlite3 **database, const char *path, uint32_t patience_ms,
	char told[WH_DATABASE_TOLD_BYTES]);

/* NULL is allowed. No statement of it is left. */
void wh_database_close(sqlite3 *database);

/*
 * Somebody has removed the file, or another one has its name: what is written is in the one that
 * was opened, and lost with it. Or he has emptied it: the log alone has what there was, which is
 * worth nothing to who opens it next.
 */
bool wh_database_is_gone(sqlite3 *database);
bool wh_database_is_emptied(sqlite3 *database);

/*
 * All that it holds becomes that file, which is on the disk then, and whole or as it was before.
 * 0 or a negative errno.
 */
int wh_database_save(sqlite3 *database, const char *path);

/* What an operator is to know of an error of these functions. */
const char *wh_database_why(int error);

/*
 * Brings a room's tables to its version: steps[i] leads from version i to the next. All or nothing.
 * -ENOTSUP: a newer wavehaul has made them.
 */
int wh_database_upgrade(
	sqlite3 *database, const char *room, const char *const *steps, uint32_t count);

/* Statements without rows. 0 or a negative errno. */
int wh_database_run(sqlite3 *database, const char *sql);

/* A statement that is kept; NULL: it cannot be had. */
sqlite3_stmt *wh_database_statement(sqlite3 *database, const char *sql);

/* One step: 1: there is a row, 0: it is over, or a negative errno. */
int wh_database_step(sqlite3_stmt *statement);

/* What SQLite answered, as a negative errno; 0: all is well. -EUCLEAN: the file is damaged. */
int wh_database_error(int answer);

/*
 * Statements of several threads never mix between these two; begin waits for other threads, and
 * both for other processes. 0 or a negative errno. After a begin that failed there is no end.
 */
int wh_database_begin(sqlite3 *database);
int wh_database_end(sqlite3 *database, bool commit);

#endif
