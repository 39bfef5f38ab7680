/* SPDX-License-Identifier: BSD-3-Clause */
#include "journal/database.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dying_vfs.h"
#include "folder_rig.h"

const char wh_suite_name[] = "database";

static struct folder folder;
static char path[128];
static char told[WH_DATABASE_TOLD_BYTES];

void wh_set_up(void)
{
	folder = folder_new("/dev/shm");
	snprintf(path, sizeof(path), "%s/service.db", folder.path);
}

void wh_take_down(void)
{
	folder_free(&folder);
}

static int64_t number(sqlite3 *database, const char *sql)
{
	sqlite3_stmt *statement = wh_database_statement(database, sql);
	int64_t found = -1;

	CU_ASSERT_FATAL(statement != NULL);
	if (wh_database_step(statement) == 1)
		found = sqlite3_column_int64(statement, 0);
	sqlite3_finalize(statement);
	return found;
}

static const char *const steps[] = {
	"CREATE TABLE a(x INTEGER); INSERT INTO a VALUES(1)",
	"ALTER TABLE a ADD COLUMN y INTEGER; UPDATE a SET y=x+1",
};

static void test_versions(void)
{
	sqlite3 *database;
	struct stat status;

	CU_ASSERT_FATAL(wh_database_open(&database, path, told) == 0);
	CU_ASSERT(told[0] == '\0' && stat(path, &status) == 0);
	CU_ASSERT((status.st_mode & 07777) == 0600);
	CU_ASSERT(wh_database_upgrade(database, "a", steps, 1) == 0);
	CU_ASSERT(number(database, "SELECT count(*) FROM a") == 1);
	/* Steps that were made are not made again, whoever has tables besides. */
	CU_ASSERT(wh_database_upgrade(database, "b", NULL, 0) == 0);
	CU_ASSERT(wh_database_upgrade(database, "a", steps, 2) == 0);
	CU_ASSERT(wh_database_upgrade(database, "a", steps, 2) == 0);
	CU_ASSERT(number(database, "SELECT y FROM a") == 2);
	CU_ASSERT(wh_database_upgrade(database, "a", steps, 1) == -ENOTSUP);

	/* A step that fails undoes those before it. */
	const char *const wrong[] = {steps[0], steps[1], "INSERT INTO a VALUES(5, 5)", "nonsense"};

	CU_ASSERT(wh_database_upgrade(database, "a", wrong, 4) < 0);
	CU_ASSERT(number(database, "SELECT count(*) FROM a") == 1);
	CU_ASSERT(number(database, "PRAGMA synchronous") == 2);
	wh_database_close(database);
}

static void overwrite_file(const char *name, long at, const char *text)
{
	FILE *file = fopen(name, "r+");

	CU_ASSERT_FATAL(file != NULL && fseek(file, at, SEEK_SET) == 0);
	CU_ASSERT_FATAL(fputs(text, file) >= 0 && fclose(file) == 0);
}

static void overwrite(long at, const char *text)
{
	overwrite_file(path, at, text);
}

/* Wherever it is damaged, it is begun anew, and the old one is there to be looked at. */
static void test_damaged(void)
{
	static const long places[] = {0, 100, 4096 + 4};

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		sqlite3 *database;

		wh_take_down();
		wh_set_up();
		CU_ASSERT_FATAL(wh_database_open(&database, path, told) == 0);
		CU_ASSERT(wh_database_upgrade(database, "a", steps, 2) == 0);
		wh_database_close(database);
		overwrite(places[i], "damaged by somebody");
		CU_ASSERT_FATAL(wh_database_open(&database, path, told) == 0);
		CU_ASSERT(strstr(told, "was damaged") != NULL);
		CU_ASSERT(folder_has(&folder, "service.db.damaged"));
		CU_ASSERT(wh_database_upgrade(database, "a", steps, 2) == 0);
		CU_ASSERT(number(database, "SELECT count(*) FROM a") == 1);
		wh_database_close(database);
	}
}

static void test_cannot(void)
{
	sqlite3 *database;

	CU_ASSERT(wh_database_open(&database, "/nonexistent/x.db", told) < 0 && database == NULL);
	CU_ASSERT(strstr(told, "cannot use /nonexistent/x.db: ") != NULL);
	/* A disk that is full is no damage; what was there stays. */
	CU_ASSERT_FATAL(wh_database_open(&database, path, told) == 0);
	CU_ASSERT(wh_database_upgrade(database, "a", steps, 2) == 0);
	CU_ASSERT(number(database, "PRAGMA max_page_count=6") == 6);
	CU_ASSERT(wh_database_begin(database) == 0);
	CU_ASSERT(wh_database_run(database, "INSERT INTO a VALUES(7, randomblob(100000))") ==
		  -ENOSPC);
	CU_ASSERT(wh_database_end(database, true) <= 0);
	CU_ASSERT(number(database, "SELECT count(*) FROM a") == 1);
	wh_database_close(database);
}

/* Another program's is neither written to nor renamed. */
static void test_foreign(void)
{
	static const char *const schemas[] = {
		"CREATE TABLE job(x)", "CREATE TABLE room(name TEXT, beds INTEGER)"};

	for (size_t i = 0; i < sizeof(schemas) / sizeof(schemas[0]); i++) {
		sqlite3 *database;

		wh_take_down();
		wh_set_up();
		CU_ASSERT_FATAL(sqlite3_open(path, &database) == SQLITE_OK);
		CU_ASSERT(wh_database_run(database, schemas[i]) == 0);
		sqlite3_close(database);
		CU_ASSERT(wh_database_open(&database, path, told) == -EMEDIUMTYPE);
		CU_ASSERT(strstr(told, "another program has made the file") != NULL);
		CU_ASSERT_FATAL(sqlite3_open(path, &database) == SQLITE_OK);
		CU_ASSERT(number(database, "SELECT count(*) FROM sqlite_schema") == 1);
		sqlite3_close(database);
	}
}

/* Who finds its file removed writes it again, and closing the old one takes no log of the new. */
static void test_gone(void)
{
	sqlite3 *old, *database, *other;
	char log[sizeof(path) + 8];
	struct stat status;

	snprintf(log, sizeof(log), "%s-wal", path);
	CU_ASSERT_FATAL(wh_database_open(&old, path, told) == 0);
	CU_ASSERT(wh_database_upgrade(old, "a", steps, 2) == 0);
	CU_ASSERT(!wh_database_is_gone(old));
	CU_ASSERT(unlink(path) == 0 && unlink(log) == 0);
	CU_ASSERT(wh_database_is_gone(old));
	CU_ASSERT(wh_database_run(old, "INSERT INTO a VALUES(8, 9)") == 0);
	CU_ASSERT(wh_database_save(old, path) == 0);
	CU_ASSERT(stat(path, &status) == 0 && (status.st_mode & 07777) == 0600);
	CU_ASSERT(wh_database_is_gone(old)); /* another file has its name */
	CU_ASSERT_FATAL(wh_database_open(&database, path, told) == 0);
	CU_ASSERT(number(database, "SELECT y FROM a WHERE x=8") == 9);
	CU_ASSERT(wh_database_run(database, "INSERT INTO a VALUES(10, 11)") == 0);
	wh_database_close(old);
	CU_ASSERT_FATAL(wh_database_open(&other, path, told) == 0);
	CU_ASSERT(number(other, "SELECT y FROM a WHERE x=10") == 11);
	wh_database_close(other);
	wh_database_close(database);
	CU_ASSERT(!folder_has(&folder, "service.db" WH_DATABASE_SAVING));
}

/* One without a byte and with a log is no new one. */
static void test_emptied(void)
{
	sqlite3 *old, *database;

	CU_ASSERT_FATAL(wh_database_open(&old, path, told) == 0);
	CU_ASSERT(wh_database_upgrade(old, "a", steps, 2) == 0);
	CU_ASSERT(!wh_database_is_emptied(old));
	CU_ASSERT(truncate(path, 0) == 0);
	CU_ASSERT(wh_database_is_emptied(old) && !wh_database_is_gone(old));
	CU_ASSERT_FATAL(wh_database_open(&database, path, told) == 0);
	CU_ASSERT(strstr(told, "was damaged") != NULL);
	wh_database_close(database);
	/* Who has it open still has all of it. */
	CU_ASSERT(wh_database_save(old, path) == 0);
	CU_ASSERT_FATAL(wh_database_open(&database, path, told) == 0);
	CU_ASSERT(told[0] == '\0' && number(database, "SELECT y FROM a") == 2);
	wh_database_close(database);
	wh_database_close(old);
}

/*
 * A process loses its POSIX locks on a file as soon as it closes any descriptor of it. Without
 * SQLite's lock on the index of its log, another process that opens the database would truncate the
 * index, which is mapped here.
 */
static bool holds_index(const char *of)
{
	enum { WAITS_FOR_NOBODY = 128 }; /* UNIX_SHM_DMS of SQLite's os_unix.c */
	char name[PATH_MAX];
	int status = 0;
	pid_t child;

	snprintf(name, sizeof(name), "%s-shm", of);
	child = fork();
	if (child == 0) {
		struct flock lock = {.l_type = F_WRLCK, .l_start = WAITS_FOR_NOBODY, .l_len = 1};
		int fd = open(name, O_RDWR | O_CLOEXEC);

		_exit(fd >= 0 && fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK ? 0 : 1);
	}
	return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void test_connections(void)
{
	sqlite3 *first, *second;

	CU_ASSERT_FATAL(wh_database_open(&first, path, told) == 0);
	CU_ASSERT(holds_index(path));
	CU_ASSERT_FATAL(wh_database_open(&second, path, told) == 0);
	CU_ASSERT(holds_index(path));
	wh_database_close(second);
	CU_ASSERT(holds_index(path));
	wh_database_close(first);
}

static void test_locked(void)
{
	sqlite3 *holder, *database;

	CU_ASSERT_FATAL(wh_database_open(&holder, path, told) == 0);
	CU_ASSERT_FATAL(wh_database_open_within(&database, path, 1, told) == 0);
	CU_ASSERT(wh_database_begin(holder) == 0);
	CU_ASSERT(wh_database_upgrade(database, "a", steps, 2) == -EBUSY);
	CU_ASSERT_STRING_EQUAL(wh_database_why(-EBUSY), "another process holds it locked");
	CU_ASSERT(wh_database_end(holder, false) == 0);
	CU_ASSERT(wh_database_upgrade(database, "a", steps, 2) == 0);
	wh_database_close(database);
	wh_database_close(holder);
}

#define ROWS 4

static void fill(void *argument)
{
	sqlite3 *database;

	(void)argument;
	if (wh_database_open(&database, path, told) != 0 ||
		wh_database_upgrade(database, "a", steps, 2) != 0)
		_exit(1);
	for (int i = 0; i < ROWS; i++) {
		if (wh_database_begin(database) != 0 ||
			wh_database_run(database,
				"INSERT INTO a VALUES(10, 0);"
				"INSERT INTO a VALUES(20, randomblob(9000))") != 0 ||
			wh_database_end(database, true) != 0)
			_exit(1);
	}
	wh_database_close(database);
}

/* Killed before any change of its files: transactions are whole or not there. */
static void test_killed(void)
{
	unsigned int kills = 0;
	int64_t most = -1;
	bool killed = true;

	for (unsigned int at = 1; killed; at++) {
		sqlite3 *database;

		wh_take_down();
		wh_set_up();
		killed = dying_run(at, fill, NULL);
		kills += killed;
		CU_ASSERT_FATAL(wh_database_open(&database, path, told) == 0);
		CU_ASSERT_STRING_EQUAL(told, "");
		CU_ASSERT_FATAL(wh_database_upgrade(database, "a", steps, 2) == 0);

		int64_t tens = number(database, "SELECT count(*) FROM a WHERE x=10");

		CU_ASSERT(number(database, "SELECT count(*) FROM a WHERE x=20") == tens);
		CU_ASSERT(tens >= most); /* a later kill, no less of it */
		most = tens;
		wh_database_close(database);
	}
	CU_ASSERT(kills > 30 && most == ROWS);
}

CU_TestInfo wh_tests[] = {
	{"versions", test_versions},
	{"damaged", test_damaged},
	{"cannot", test_cannot},
	{"foreign", test_foreign},
	{"gone", test_gone},
	{"emptied", test_emptied},
	{"several connections keep their locks", test_connections},
	{"locked", test_locked},
	{"killed", test_killed},
	CU_TEST_INFO_NULL,
};
