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

/*
 * Opens the file, or makes it, for its owner alone. One that is damaged is renamed, and begun anew.
 * 0 or a negative errno; `told` is a sentence for the operator, or "".
 */
int wh_database_open(sqlite3 **database, const char *path, char told[WH_DATABASE_TOLD_BYTES]);

/* NULL is allowed. No statement of it is left. */
void wh_database_close(sqlite3 *database);

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
