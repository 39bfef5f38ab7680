/* SPDX-License-Identifier: BSD-3-Clause */
#include "journal/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/assert.h"
#include "bundle/staging_name.h"
#include "journal/database.h"

static const char *const steps[] = {
	"CREATE TABLE part("
	"id INTEGER PRIMARY KEY AUTOINCREMENT, device INTEGER, folder INTEGER, path BLOB,"
	"size INTEGER, mtime_s INTEGER, mtime_ns INTEGER, inode INTEGER, ctime_s INTEGER,"
	"ctime_ns INTEGER, number INTEGER, part_inode INTEGER, owner BLOB, place TEXT,"
	"touched INTEGER, UNIQUE(device, folder, path));"
	"CREATE INDEX part_owner ON part(owner);"
	"CREATE TABLE span(part INTEGER REFERENCES part(id) ON DELETE CASCADE, begins INTEGER,"
	"ends INTEGER, PRIMARY KEY(part, begins)) WITHOUT ROWID;",
	/* A target has a part for each owner. */
	"ALTER TABLE part RENAME TO part_1;"
	"ALTER TABLE span RENAME TO span_1;"
	"DROP INDEX part_owner;"
	"CREATE TABLE part("
	"id INTEGER PRIMARY KEY AUTOINCREMENT, device INTEGER, folder INTEGER, path BLOB,"
	"size INTEGER, mtime_s INTEGER, mtime_ns INTEGER, inode INTEGER, ctime_s INTEGER,"
	"ctime_ns INTEGER, number INTEGER, part_inode INTEGER, owner BLOB, place TEXT,"
	"touched INTEGER, UNIQUE(device, folder, path, owner));"
	"CREATE INDEX part_owner ON part(owner);"
	"CREATE TABLE span(part INTEGER REFERENCES part(id) ON DELETE CASCADE, begins INTEGER,"
	"ends INTEGER, PRIMARY KEY(part, begins)) WITHOUT ROWID;"
	"INSERT INTO part SELECT * FROM part_1;"
	"INSERT INTO span SELECT * FROM span_1;"
	"DROP TABLE span_1;"
	"DROP TABLE part_1;",
};

enum journal_statement {
	FIND,
	SPANS,
	ADD,
	TOUCH,
	SPAN,
	RETRACT,
	FORGET,
	NEXT,
	OWNED,
	SUMS,
	QUESTIONS,
};

static const char *const questions[QUESTIONS] = {
	[FIND] = "SELECT id, size, mtime_s, mtime_ns, inode, ctime_s, ctime_ns, number, part_inode "
		 "FROM part WHERE device=?1 AND folder=?2 AND path=?3 AND owner=?4",
	[SPANS] = "SELECT begins, ends FROM span WHERE part=?1 ORDER BY begins",
	[ADD] = "INSERT INTO part(device, folder, path, size, mtime_s, mtime_ns, inode, ctime_s, "
		"ctime_ns, number, part_inode, owner, place, touched) "
		"VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14) "
		"ON CONFLICT DO NOTHING",
	[TOUCH] = "UPDATE part SET touched=?2 WHERE id=?1",
	[SPAN] = "INSERT INTO span VALUES(?1, ?2, ?3) ON CONFLICT(part, begins) DO UPDATE SET "
		 "ends=max(ends, ?3)",
	[RETRACT] = "DELETE FROM span WHERE part=?1 AND begins<?3 AND ends>?2",
	[FORGET] = "DELETE FROM part WHERE id=?1",
	[NEXT] = "SELECT id, owner, place, path, size, (SELECT sum(ends-begins) FROM span WHERE "
		 "part=id), touched, device, folder, number, part_inode FROM part WHERE id>?1 "
		 "ORDER BY id LIMIT 1",
	[OWNED] = "SELECT count(DISTINCT id), total(ends-begins) FROM part LEFT JOIN span ON "
		  "span.part=id WHERE owner=?1 AND id<>?2",
	[SUMS] = "SELECT (SELECT count(*) FROM part), (SELECT total(ends-begins) FROM span)",
};

struct wh_journal {
	sqlite3 *database;
	struct wh_journal_config config;
	struct wh_holds holds;
	_Atomic bool told; /* an error was reported */
	sqlite3_stmt *asked[QUESTIONS];
};

/* Reports the first error, and the next one only after a success. */
static int trouble(struct wh_journal *journal, int error)
{
	char text[WH_DATABASE_TOLD_BYTES];

	if (error == 0)
		atomic_store(&journal->told, false);
	if (error == 0 || atomic_exchange(&journal->told, true))
		return error;
	snprintf(text, sizeof(text),
		"what is durable of files that are not whole cannot be noted (%s): what is "
		"interrupted now begins again",
		wh_database_why(error));
	journal->config.say(text);
	return error;
}

static sqlite3_stmt *ask(struct wh_journal *journal, enum journal_statement question)
{
	sqlite3_stmt *statement = journal->asked[question];

	sqlite3_reset(statement);
	sqlite3_clear_bindings(statement);
	return statement;
}

static void bind(sqlite3_stmt *statement, int place, uint64_t number)
{
	sqlite3_bind_int64(statement, place, (sqlite3_int64)number);
}

static void bind_target(sqlite3_stmt *statement, const struct wh_journal_target *target)
{
	bind(statement, 1, target->device);
	bind(statement, 2, target->folder);
	sqlite3_bind_blob(statement, 3, target->path, target->path_bytes, SQLITE_STATIC);
}

static uint64_t number_of(sqlite3_stmt *statement, int column)
{
	return (uint64_t)sqlite3_column_int64(statement, column);
}

static int prepare(struct wh_journal *journal)
{
	for (int i = 0; i < QUESTIONS; i++) {
		journal->asked[i] = wh_database_statement(journal->database, questions[i]);
		if (journal->asked[i] == NULL)
			return wh_database_error(sqlite3_errcode(journal->database));
	}
	return 0;
}

int wh_journal_open(struct wh_journal **result, const struct wh_journal_config *config)
{
	struct wh_journal *journal = calloc(1, sizeof(*journal));
	char told[WH_DATABASE_TOLD_BYTES];
	int rc;

	WH_ASSERT(config->wall_s != NULL && config->say != NULL);
	if (journal == NULL)
		return -ENOMEM;
	journal->config = *config;
	journal->config.path = NULL;
	wh_holds_init(&journal->holds);
	rc = wh_database_open(&journal->database, config->path, told);
	if (told[0] != '\0')
		config->say(told);
	if (rc == 0) {
		rc = wh_database_upgrade(
			journal->database, "journal", steps, sizeof(steps) / sizeof(steps[0]));
		if (rc == 0)
			rc = prepare(journal);
		trouble(journal, rc);
	}
	if (rc < 0) {
		wh_journal_close(journal);
		return rc;
	}
	wh_journal_expire(journal);
	*result = journal;
	return 0;
}

void wh_journal_close(struct wh_journal *journal)
{
	if (journal == NULL)
		return;
	for (int i = 0; i < QUESTIONS; i++)
		sqlite3_finalize(journal->asked[i]);
	wh_database_close(journal->database);
	free(journal);
}

struct wh_holds *wh_journal_holds(struct wh_journal *journal)
{
	return &journal->holds;
}

/* Runs a statement that returns no row. */
static int tell(sqlite3_stmt *statement)
{
	int rc = wh_database_step(statement);

	WH_ASSERT(rc <= 0);
	sqlite3_reset(statement);
	return rc;
}

static int read_spans(struct wh_journal *journal, struct wh_journal_part *part)
{
	sqlite3_stmt *spans = ask(journal, SPANS);
	int rc;

	bind(spans, 1, (uint64_t)part->row);
	while ((rc = wh_database_step(spans)) == 1) {
		const struct wh_journal_span span = {number_of(spans, 0), number_of(spans, 1)};
		struct wh_journal_span *last =
			part->spans > 0 ? &part->span[part->spans - 1] : NULL;

		if (last != NULL && span.from <= last->end)
			last->end = span.end > last->end ? span.end : last->end;
		else if (part->spans < WH_JOURNAL_SPANS_MAX && span.from < span.end)
			part->span[part->spans++] = span;
	}
	sqlite3_reset(spans);
	return rc;
}

/* Whether the current row is about the same version of the source's file. */
static bool is_of(sqlite3_stmt *row, const struct wh_journal_source *source)
{
	const struct wh_journal_source noted = {
		.size_bytes = number_of(row, 1),
		.mtime_s = (int64_t)number_of(row, 2),
		.mtime_ns = (uint32_t)number_of(row, 3),
		.inode = number_of(row, 4),
		.ctime_s = (int64_t)number_of(row, 5),
		.ctime_ns = (uint32_t)number_of(row, 6),
	};
	bool told = source->inode != 0 && noted.inode != 0;

	return noted.size_bytes == source->size_bytes && noted.mtime_s == source->mtime_s &&
	       noted.mtime_ns == source->mtime_ns &&
	       (!told || (noted.inode == source->inode && noted.ctime_s == source->ctime_s &&
				 noted.ctime_ns == source->ctime_ns));
}

static int find(struct wh_journal *journal, const struct wh_journal_target *target,
	const struct wh_journal_owner *owner, const struct wh_journal_source *source,
	struct wh_journal_part *part)
{
	sqlite3_stmt *row = ask(journal, FIND);
	int rc;

	*part = (struct wh_journal_part){0};
	bind_target(row, target);
	sqlite3_bind_blob(row, 4, owner->id, WH_JOURNAL_OWNER_BYTES, SQLITE_STATIC);
	rc = wh_database_step(row);
	if (rc <= 0)
		return rc;
	part->row = sqlite3_column_int64(row, 0);
	part->number = (uint32_t)number_of(row, 7);
	part->inode = number_of(row, 8);

	bool same = is_of(row, source);

	sqlite3_reset(row);
	rc = read_spans(journal, part);
	return rc < 0 ? rc : same ? WH_JOURNAL_PART : WH_JOURNAL_CHANGED;
}

int wh_journal_find(struct wh_journal *journal, const struct wh_journal_target *target,
	const struct wh_journal_owner *owner, const struct wh_journal_source *source,
	struct wh_journal_part *part)
{
	int rc = wh_database_begin(journal->database);

	if (rc == 0) {
		rc = find(journal, target, owner, source, part);
		wh_database_end(journal->database, false);
	}
	trouble(journal, rc < 0 ? rc : 0);
	return rc;
}

/* Whether the part of `bytes` stays within its owner's limit. */
static int may_keep(struct wh_journal *journal, const struct wh_journal_owner *owner, int64_t row,
	uint64_t bytes, bool *may)
{
	sqlite3_stmt *owned = ask(journal, OWNED);
	int rc;

	sqlite3_bind_blob(owned, 1, owner->id, WH_JOURNAL_OWNER_BYTES, SQLITE_STATIC);
	bind(owned, 2, (uint64_t)row);
	rc = wh_database_step(owned);
	if (rc == 1)
		*may = number_of(owned, 0) < WH_JOURNAL_ROWS_PER_OWNER &&
		       (owner->bytes_max == 0 || sqlite3_column_double(owned, 1) + (double)bytes <=
							 (double)owner->bytes_max);
	sqlite3_reset(owned);
	return rc < 0 ? rc : 0;
}

static int add_row(struct wh_journal *journal, const struct wh_journal_target *target,
	const struct wh_journal_source *source, const struct wh_journal_owner *owner,
	const char *place, struct wh_journal_part *part)
{
	sqlite3_stmt *add = ask(journal, ADD);

	bind_target(add, target);
	bind(add, 4, source->size_bytes);
	bind(add, 5, (uint64_t)source->mtime_s);
	bind(add, 6, source->mtime_ns);
	bind(add, 7, source->inode);
	bind(add, 8, (uint64_t)source->ctime_s);
	bind(add, 9, source->ctime_ns);
	bind(add, 10, part->number);
	bind(add, 11, part->inode);
	sqlite3_bind_blob(add, 12, owner->id, WH_JOURNAL_OWNER_BYTES, SQLITE_STATIC);
	sqlite3_bind_text(add, 13, place, -1, SQLITE_STATIC);
	bind(add, 14, (uint64_t)journal->config.wall_s());

	int rc = tell(add);

	if (rc == 0 && sqlite3_changes(journal->database) == 1)
		part->row = sqlite3_last_insert_rowid(journal->database);
	return rc;
}

static int add_spans(struct wh_journal *journal, struct wh_journal_part *part)
{
	sqlite3_stmt *touch = ask(journal, TOUCH);
	int rc;

	bind(touch, 1, (uint64_t)part->row);
	bind(touch, 2, (uint64_t)journal->config.wall_s());
	rc = tell(touch);
	if (rc == 0 && sqlite3_changes(journal->database) == 0) /* somebody has removed it */
		part->row = 0;
	for (uint32_t i = 0; i < part->spans && rc == 0 && part->row != 0; i++) {
		sqlite3_stmt *span = ask(journal, SPAN);

		bind(span, 1, (uint64_t)part->row);
		bind(span, 2, part->span[i].from);
		bind(span, 3, part->span[i].end);
		rc = tell(span);
	}
	return rc;
}

static int forget(struct wh_journal *journal, int64_t row)
{
	sqlite3_stmt *statement = ask(journal, FORGET);

	bind(statement, 1, (uint64_t)row);
	return tell(statement);
}

static int note(struct wh_journal *journal, const struct wh_journal_target *target,
	const struct wh_journal_source *source, const struct wh_journal_owner *owner,
	const char *place, struct wh_journal_part *part)
{
	uint64_t bytes = 0;
	bool may = false;
	int rc;

	for (uint32_t i = 0; i < part->spans; i++)
		bytes += part->span[i].end - part->span[i].from;
	rc = may_keep(journal, owner, part->row, bytes, &may);
	if (rc == 0 && !may && part->row != 0) {
		rc = forget(journal, part->row);
		part->row = 0;
	}
	if (rc == 0 && may && part->row == 0)
		rc = add_row(journal, target, source, owner, place, part);
	if (rc == 0 && part->row != 0)
		rc = add_spans(journal, part);
	return rc;
}

/* Ends a transaction, by its result. */
static int end(struct wh_journal *journal, int rc)
{
	int ended = wh_database_end(journal->database, rc == 0);

	return trouble(journal, rc < 0 ? rc : ended);
}

int wh_journal_note(struct wh_journal *journal, const struct wh_journal_target *target,
	const struct wh_journal_source *source, const struct wh_journal_owner *owner,
	const char *place, struct wh_journal_part *part)
{
	int64_t before = part->row;
	int rc = wh_database_begin(journal->database);

	if (rc < 0)
		return trouble(journal, rc);
	rc = end(journal, note(journal, target, source, owner, place, part));
	if (rc < 0)
		part->row = before;
	return rc;
}

int wh_journal_retract(struct wh_journal *journal, int64_t row, uint64_t from, uint64_t to)
{
	int rc = wh_database_begin(journal->database);

	if (rc < 0)
		return trouble(journal, rc);

	sqlite3_stmt *statement = ask(journal, RETRACT);

	bind(statement, 1, (uint64_t)row);
	bind(statement, 2, from);
	bind(statement, 3, to);
	return end(journal, tell(statement));
}

int wh_journal_forget(struct wh_journal *journal, const int64_t *rows, uint32_t count)
{
	int rc = wh_database_begin(journal->database);

	if (rc < 0)
		return trouble(journal, rc);
	for (uint32_t i = 0; i < count && rc == 0; i++)
		rc = forget(journal, rows[i]);
	return end(journal, rc);
}

static void copy_text(char *text, size_t room, sqlite3_stmt *statement, int column)
{
	const void *bytes = sqlite3_column_blob(statement, column);
	size_t count = (size_t)sqlite3_column_bytes(statement, column);

	if (count >= room)
		count = room - 1;
	if (count > 0)
		memcpy(text, bytes, count);
	text[count] = '\0';
}

static void read_row(sqlite3_stmt *statement, struct wh_journal_row *row)
{
	*row = (struct wh_journal_row){
		.row = sqlite3_column_int64(statement, 0),
		.size_bytes = number_of(statement, 4),
		.durable_bytes = number_of(statement, 5),
		.touched_s = (int64_t)number_of(statement, 6),
		.device = number_of(statement, 7),
		.folder = number_of(statement, 8),
		.number = (uint32_t)number_of(statement, 9),
		.inode = number_of(statement, 10),
	};
	if (sqlite3_column_bytes(statement, 1) == WH_JOURNAL_OWNER_BYTES)
		memcpy(row->owner, sqlite3_column_blob(statement, 1), WH_JOURNAL_OWNER_BYTES);
	copy_text(row->place, sizeof(row->place), statement, 2);
	copy_text(row->path, sizeof(row->path), statement, 3);
}

int wh_journal_next(struct wh_journal *journal, int64_t after, struct wh_journal_row *row)
{
	int rc = wh_database_begin(journal->database);

	if (rc < 0)
		return trouble(journal, rc);

	sqlite3_stmt *statement = ask(journal, NEXT);

	bind(statement, 1, (uint64_t)after);
	rc = wh_database_step(statement);
	if (rc == 1)
		read_row(statement, row);
	if (rc == 1 && row->row <= after) /* pages were damaged since they were checked */
		rc = -EUCLEAN;
	sqlite3_reset(statement);
	wh_database_end(journal->database, false);
	trouble(journal, rc < 0 ? rc : 0);
	return rc;
}

/*
 * A single step: does not wait for transactions, and may see uncommitted changes of other threads.
 */
int wh_journal_sums(struct wh_journal *journal, uint64_t *parts, uint64_t *durable_bytes)
{
	sqlite3_stmt *statement = journal->asked[SUMS];
	int rc = wh_database_step(statement);

	*parts = rc == 1 ? number_of(statement, 0) : 0;
	*durable_bytes = rc == 1 ? number_of(statement, 1) : 0;
	sqlite3_reset(statement);
	return rc < 0 ? rc : 0;
}

/* Opens the folder of parts, or a negative errno; -ESTALE: the place is another folder now. */
static int open_parts(const struct wh_journal_row *row)
{
	int folder_fd = open(row->place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat status;

	if (folder_fd < 0)
		return -errno;

	bool same = fstat(folder_fd, &status) == 0 && status.st_dev == row->device &&
		    status.st_ino == row->folder;
	int fd = !same ? -1
		       : openat(folder_fd, WH_PARTS_FOLDER,
				 O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int rc = same && fd < 0 ? -errno : same ? fd : -ESTALE;

	close(folder_fd);
	return rc;
}

/* Opens and locks the part; or a negative errno. */
static int claim(int parts_fd, const struct wh_journal_row *row, char name[16])
{
	struct stat status;

	snprintf(name, 16, "%u", row->number);

	int fd = openat(parts_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (fstat(fd, &status) != 0 || status.st_ino != row->inode) {
		close(fd);
		return -ENOENT;
	}
	if (flock(fd, LOCK_EX | LOCK_NB) == 0)
		return fd;
	close(fd);
	return -EBUSY;
}

/*
 * Checks whether the part exists, and with `remove` removes it. -ENOENT: it does not exist (any
 * more).
 */
static int look(const struct wh_journal_row *row, bool remove)
{
	int parts_fd = open_parts(row);
	char name[16];

	if (parts_fd < 0)
		return parts_fd == -ESTALE ? -ENOENT : parts_fd;

	int fd = claim(parts_fd, row, name);
	int rc = fd < 0 ? fd : 0;

	if (fd >= 0 && remove)
		rc = unlinkat(parts_fd, name, 0) != 0 ? -errno : -ENOENT;
	if (fd >= 0)
		close(fd);
	close(parts_fd);
	return rc;
}

int wh_journal_remove(struct wh_journal *journal, const struct wh_journal_row *row)
{
	int rc = look(row, true);

	return rc == -ENOENT ? wh_journal_forget(journal, &row->row, 1) : rc;
}

int64_t wh_journal_since_s(const struct wh_journal *journal)
{
	return journal != NULL ? journal->config.wall_s() - journal->config.keep_s : INT64_MIN;
}

/* If the clock has gone back parts are kept longer. */
int wh_journal_expire(struct wh_journal *journal)
{
	struct wh_journal_row *row = malloc(sizeof(*row));
	int64_t since_s = wh_journal_since_s(journal), after = 0;
	int removed = 0;

	if (row == NULL)
		return -ENOMEM;
	while (wh_journal_next(journal, after, row) == 1) {
		bool is_old = row->touched_s < since_s;

		after = row->row;
		if (look(row, is_old) == -ENOENT)
			removed += wh_journal_forget(journal, &row->row, 1) == 0;
	}
	free(row);
	return removed;
}
