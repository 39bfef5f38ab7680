/* SPDX-License-Identifier: BSD-3-Clause */
#include "journal/database.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/assert.h"

int wh_database_error(int answer)
{
	switch (answer & 0xff) {
	case SQLITE_OK:
	case SQLITE_ROW:
	case SQLITE_DONE:
		return 0;
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
		return -EUCLEAN;
	case SQLITE_FULL:
		return -ENOSPC;
	case SQLITE_READONLY:
		return -EROFS;
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return -EBUSY;
	case SQLITE_NOMEM:
		return -ENOMEM;
	case SQLITE_CANTOPEN:
	case SQLITE_PERM:
	case SQLITE_AUTH:
		return -EACCES;
	case SQLITE_CONSTRAINT:
		return -EEXIST;
	case SQLITE_ERROR: /* a table or column is missing, or there is one already */
		return -EPROTOTYPE;
	default:
		return -EIO;
	}
}

const char *wh_database_why(int error)
{
	switch (-error) {
	case EUCLEAN:
		return "the file is damaged; the next start renames it and begins anew";
	case ENOSPC:
		return "its disk is full";
	case EROFS:
		return "the file, or its disk, is read-only";
	case EBUSY:
		return "another process holds it locked";
	case ENOTSUP:
		return "a newer wavehaul has made the file: run that one, or move the file away";
	case EPROTOTYPE:
		return "its tables are those of another build of wavehaul: move the file away";
	case EMEDIUMTYPE:
		return "another program has made the file: move it away";
	default:
		return strerror(-error);
	}
}

int wh_database_run(sqlite3 *database, const char *sql)
{
	return wh_database_error(sqlite3_exec(database, sql, NULL, NULL, NULL));
}

sqlite3_stmt *wh_database_statement(sqlite3 *database, const char *sql)
{
	sqlite3_stmt *statement;

	if (sqlite3_prepare_v3(database, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL) !=
		SQLITE_OK)
		return NULL;
	return statement;
}

int wh_database_step(sqlite3_stmt *statement)
{
	int answer = sqlite3_step(statement);

	return answer == SQLITE_ROW ? 1 : wh_database_error(answer);
}

uint64_t wh_database_number(sqlite3_stmt *row, int column)
{
	int64_t number = sqlite3_column_int64(row, column);

	return number > 0 ? (uint64_t)number : 0;
}

void wh_database_text(sqlite3_stmt *row, int column, char *text, size_t room)
{
	const unsigned char *found = sqlite3_column_text(row, column);

	snprintf(text, room, "%s", found != NULL ? (const char *)found : "");
}

int wh_database_begin(sqlite3 *database)
{
	sqlite3_mutex_enter(sqlite3_db_mutex(database));

	int rc = wh_database_run(database, "BEGIN IMMEDIATE");

	if (rc < 0)
		sqlite3_mutex_leave(sqlite3_db_mutex(database));
	return rc;
}

int wh_database_end(sqlite3 *database, bool commit)
{
	int rc = commit ? wh_database_run(database, "COMMIT") : 0;

	/* Some errors end a transaction by themselves. */
	if ((!commit || rc < 0) && sqlite3_get_autocommit(database) == 0)
		wh_database_run(database, "ROLLBACK");
	WH_ASSERT(sqlite3_get_autocommit(database) != 0);
	sqlite3_mutex_leave(sqlite3_db_mutex(database));
	return rc;
}

/* Whether the first row of that query is `text`. */
static int is_answered(sqlite3 *database, const char *sql, const char *text, bool *same)
{
	sqlite3_stmt *statement;
	int rc = wh_database_error(sqlite3_prepare_v2(database, sql, -1, &statement, NULL));

	if (rc < 0)
		return rc;
	rc = wh_database_step(statement);
	*same = rc == 1 && strcmp((const char *)sqlite3_column_text(statement, 0), text) == 0;
	sqlite3_finalize(statement);
	return rc < 0 ? rc : 0;
}

/* Checks the pages as SQLite has written them, if the file is not too large. */
static int check(sqlite3 *database, const char *path)
{
	struct stat status;
	bool sound = true;
	int rc = wh_database_run(database, "SELECT count(*) FROM sqlite_schema");

	if (rc == 0 && stat(path, &status) == 0 &&
		(uint64_t)status.st_size <= WH_DATABASE_CHECKED_BYTES)
		rc = is_answered(database, "PRAGMA quick_check(1)", "ok", &sound);
	return rc == 0 && !sound ? -EUCLEAN : rc;
}

/* Whether it is empty, or has wavehaul's table of rooms. */
static int check_maker(sqlite3 *database)
{
	bool ours = false;
	int rc = is_answered(database,
		"SELECT CASE WHEN (SELECT count(*) FROM sqlite_schema)=0 OR (SELECT count(*) FROM "
		"pragma_table_info('room') WHERE name IN ('name','version'))=2 THEN 'ours' ELSE "
		"'' END",
		"ours", &ours);

	return rc == 0 && !ours ? -EMEDIUMTYPE : rc;
}

static int set_up(sqlite3 *database, const char *path, uint32_t patience_ms)
{
	bool logs = false;
	int rc;

	sqlite3_extended_result_codes(database, 1);
	sqlite3_busy_timeout(database, (int)patience_ms);
	rc = check(database, path);
	if (rc == 0)
		rc = check_maker(database);
	if (rc == 0)
		rc = is_answered(database, "PRAGMA journal_mode=WAL", "wal", &logs);
	if (rc == 0 && !logs)
		rc = -EROFS;
	if (rc == 0)
		rc = wh_database_run(database, "PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON;"
					       "CREATE TABLE IF NOT EXISTS room(name TEXT PRIMARY "
					       "KEY, version INTEGER NOT NULL) WITHOUT ROWID");
	return rc;
}

static int try_open(sqlite3 **database, const char *path, uint32_t patience_ms)
{
	int rc = -EROFS;

	*database = NULL;
	/* SQLite remembers a file as read-only for the life of the process once it found it so. */
	if (access(path, W_OK) == 0 || errno != EROFS)
		rc = wh_database_error(sqlite3_open_v2(path, database,
			SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX, NULL));

	if (rc == 0)
		rc = set_up(*database, path, patience_ms);
	if (rc == 0)
		return fchmodat(AT_FDCWD, path, S_IRUSR | S_IWUSR, 0) != 0 && errno != EPERM
			       ? -errno
			       : 0;
	wh_database_close(*database);
	*database = NULL;
	return rc;
}

static int add_tail(char name[PATH_MAX], const char *path, const char *tail)
{
	int length = snprintf(name, PATH_MAX, "%s%s", path, tail);

	return length < PATH_MAX ? 0 : -ENAMETOOLONG;
}

/* SQLite would consider it new, and remove its log. */
static bool is_cut_off(const char *path)
{
	struct stat file, log;
	char name[PATH_MAX];

	return stat(path, &file) == 0 && file.st_size == 0 && add_tail(name, path, "-wal") == 0 &&
	       stat(name, &log) == 0 && log.st_size > 0;
}

/* Renames it with its log, which may repair the file, or be what is damaged. */
static int set_aside(const char *path)
{
	static const char *const tails[] = {"-wal", "-shm", ""};
	char from[PATH_MAX], to[PATH_MAX], head[PATH_MAX];

	if (add_tail(head, path, WH_DATABASE_DAMAGED) < 0)
		return -ENAMETOOLONG;
	for (size_t i = 0; i < sizeof(tails) / sizeof(tails[0]); i++) {
		if (add_tail(from, path, tails[i]) < 0 || add_tail(to, head, tails[i]) < 0)
			return -ENAMETOOLONG;
		if (rename(from, to) != 0 && errno != ENOENT)
			return -errno;
	}
	return 0;
}

int wh_database_open_within(sqlite3 **database, const char *path, uint32_t patience_ms,
	char told[WH_DATABASE_TOLD_BYTES])
{
	int rc = is_cut_off(path) ? -EUCLEAN : try_open(database, path, patience_ms);

	told[0] = '\0';
	if (rc == -EUCLEAN) {
		rc = set_aside(path);
		if (rc == 0)
			rc = try_open(database, path, patience_ms);
		if (rc == 0)
			snprintf(told, WH_DATABASE_TOLD_BYTES,
				"%s was damaged: it is " WH_DATABASE_DAMAGED " now, and begun anew",
				path);
	}
	if (rc < 0)
		snprintf(told, WH_DATABASE_TOLD_BYTES, "cannot use %s: %s", path,
			wh_database_why(rc));
	return rc;
}

int wh_database_open(sqlite3 **database, const char *path, char told[WH_DATABASE_TOLD_BYTES])
{
	return wh_database_open_within(database, path, WH_DATABASE_BUSY_MS, told);
}

bool wh_database_is_gone(sqlite3 *database)
{
	int moved = 0;

	return sqlite3_file_control(database, "main", SQLITE_FCNTL_HAS_MOVED, &moved) ==
		       SQLITE_OK &&
	       moved != 0;
}

bool wh_database_is_emptied(sqlite3 *database)
{
	struct stat status;

	return stat(sqlite3_db_filename(database, "main"), &status) == 0 && status.st_size == 0;
}

static int finish_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int rc = fd < 0 || fchmod(fd, S_IRUSR | S_IWUSR) != 0 || fsync(fd) != 0 ? -errno : 0;

	if (fd >= 0)
		close(fd);
	return rc;
}

static int save_as(sqlite3 *database, const char *path)
{
	sqlite3_stmt *save = wh_database_statement(database, "VACUUM INTO ?1");
	int rc;

	if (save == NULL)
		return wh_database_error(sqlite3_errcode(database));
	sqlite3_bind_text(save, 1, path, -1, SQLITE_STATIC);
	rc = wh_database_step(save);
	sqlite3_finalize(save);
	return rc == 0 ? finish_file(path) : rc;
}

int wh_database_save(sqlite3 *database, const char *path)
{
	char draft[PATH_MAX];
	int rc;

	if (add_tail(draft, path, WH_DATABASE_SAVING) < 0)
		return -ENAMETOOLONG;
	(void)unlink(draft);
	rc = save_as(database, draft);
	if (rc == 0 && rename(draft, path) != 0)
		rc = -errno;
	if (rc != 0)
		(void)unlink(draft);
	return rc;
}

/* SQLite does not remove a log by name if another file has that name meanwhile. */
void wh_database_close(sqlite3 *database)
{
	int answer = sqlite3_close(database);

	WH_ASSERT(answer == SQLITE_OK); /* all statements are finalized */
}

static int version_of(sqlite3 *database, const char *room, uint32_t *version)
{
	sqlite3_stmt *statement =
		wh_database_statement(database, "SELECT version FROM room WHERE name=?1");

	*version = 0;
	if (statement == NULL)
		return wh_database_error(sqlite3_errcode(database));
	sqlite3_bind_text(statement, 1, room, -1, SQLITE_STATIC);

	int rc = wh_database_step(statement);

	if (rc == 1)
		*version = (uint32_t)sqlite3_column_int64(statement, 0);
	sqlite3_finalize(statement);
	return rc < 0 ? rc : 0;
}

static int note_version(sqlite3 *database, const char *room, uint32_t version)
{
	sqlite3_stmt *statement = wh_database_statement(database,
		"INSERT INTO room VALUES(?1, ?2) ON CONFLICT(name) DO UPDATE SET "
		"version=?2");

	if (statement == NULL)
		return wh_database_error(sqlite3_errcode(database));
	sqlite3_bind_text(statement, 1, room, -1, SQLITE_STATIC);
	sqlite3_bind_int64(statement, 2, version);

	int rc = wh_database_step(statement);

	sqlite3_finalize(statement);
	return rc;
}

int wh_database_upgrade(
	sqlite3 *database, const char *room, const char *const *steps, uint32_t count)
{
	int rc = wh_database_begin(database);
	uint32_t version;

	if (rc < 0)
		return rc;
	rc = version_of(database, room, &version);
	if (rc == 0 && version > count)
		rc = -ENOTSUP;
	for (uint32_t i = version; rc == 0 && i < count; i++)
		rc = wh_database_run(database, steps[i]);
	if (rc == 0 && version < count)
		rc = note_version(database, room, count);

	int ended = wh_database_end(database, rc == 0);

	return rc < 0 ? rc : ended;
}
