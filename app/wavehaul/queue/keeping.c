/* SPDX-License-Identifier: BSD-3-Clause */

/* Keeps the queue's database usable when its file is removed or replaced while the server runs. */

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "cli/complain.h"
#include "journal/database.h"
#include "queue/runner.h"

#define FILE_NAME "service.db"
#define SAVED     ".before"

/* The control's thread must serve others, so it tries again later. */
#define PATIENCE_MS 500

#define OPEN_AGAIN_S 3

bool wh_runner_trouble(struct wh_runner *runner, int rc)
{
	if (rc >= 0) {
		if (runner->failing)
			wh_say("queue: its database is writable again");
		runner->failing = false;
		return false;
	}
	if (!runner->failing)
		wh_say("queue: cannot write its database: %s; serving continues",
			wh_database_why(rc));
	runner->failing = true;
	return true;
}

/* *told: a message to be logged, or "". */
static int open_file(
	struct wh_runner *runner, uint32_t patience_ms, char told[WH_DATABASE_TOLD_BYTES])
{
	int rc = wh_database_open_within(&runner->database, runner->path, patience_ms, told);

	if (rc != 0)
		return rc;
	rc = wh_queue_open(&runner->queue, runner->database, time(NULL));
	if (rc == 0) {
		sqlite3_busy_timeout(runner->database, PATIENCE_MS);
		runner->look_now = true;
		return 0;
	}
	snprintf(told, WH_DATABASE_TOLD_BYTES, "cannot use %.400s: %s", runner->path,
		wh_database_why(rc));
	wh_database_close(runner->database);
	runner->database = NULL;
	return rc;
}

void wh_runner_open(struct wh_runner *runner, const char *folder)
{
	char told[WH_DATABASE_TOLD_BYTES];

	if (snprintf(runner->path, sizeof(runner->path), "%s/" FILE_NAME, folder) >=
		(int)sizeof(runner->path)) {
		runner->path[0] = '\0';
		return;
	}

	int rc = open_file(runner, WH_DATABASE_BUSY_MS, told);

	if (rc != 0)
		wh_say("there is no queue: %s; it is tried again every %d s", told, OPEN_AGAIN_S);
	else if (told[0] != '\0')
		wh_say("queue: %s", told);
}

static void open_late(struct wh_runner *runner, int64_t now_s)
{
	char told[WH_DATABASE_TOLD_BYTES];

	if (runner->path[0] == '\0' ||
		(now_s < runner->next_open_s && now_s > runner->next_open_s - OPEN_AGAIN_S))
		return;
	runner->next_open_s = now_s + OPEN_AGAIN_S;
	if (open_file(runner, PATIENCE_MS, told) != 0)
		return;
	if (told[0] != '\0')
		wh_say("queue: %s", told);
	wh_say("queue: its database can be used: there is a queue from now on");
}

/*
 * Writes all orders from the removed file to a new one of the same name, and continues with that.
 */
static int write_again(struct wh_runner *runner)
{
	char told[WH_DATABASE_TOLD_BYTES];
	struct wh_queue *queue;
	sqlite3 *database;
	int rc = wh_database_save(runner->database, runner->path);

	if (rc == 0)
		rc = wh_database_open_within(&database, runner->path, PATIENCE_MS, told);
	if (rc != 0)
		return rc;
	rc = wh_queue_reopen(&queue, database, time(NULL));
	if (rc != 0) {
		wh_database_close(database);
		return rc;
	}
	wh_queue_close(runner->queue);
	wh_database_close(runner->database);
	runner->queue = queue;
	runner->database = database;
	return 0;
}

/*
 * The file was replaced, on purpose or by mistake: save ours beside it, and leave the new one
 * alone.
 */
static void leave_to_other(struct wh_runner *runner)
{
	char path[sizeof(runner->path) + sizeof(SAVED)];
	int rc;

	runner->replaced = true;
	snprintf(path, sizeof(path), "%s" SAVED, runner->path);
	rc = wh_database_save(runner->database, path);
	wh_say("queue: %s was replaced by another file: no more jobs are accepted until this "
	       "server is restarted, which will use the new file; the content of the old one %s%s",
		runner->path,
		rc == 0 ? "is in " : "cannot be saved: ", rc == 0 ? path : wh_database_why(rc));
}

void wh_runner_follow(struct wh_runner *runner, int64_t now_s)
{
	if (runner->queue == NULL) {
		open_late(runner, now_s);
		return;
	}
	bool emptied = wh_database_is_emptied(runner->database);

	if (runner->replaced || (!emptied && !wh_database_is_gone(runner->database)))
		return;
	if (!emptied && access(runner->path, F_OK) == 0) {
		leave_to_other(runner);
		return;
	}
	if (now_s < runner->next_open_s && now_s > runner->next_open_s - OPEN_AGAIN_S)
		return;
	runner->next_open_s = now_s + OPEN_AGAIN_S;

	int rc = write_again(runner);

	if (rc != 0)
		(void)wh_runner_trouble(runner, rc);
	else
		wh_say("queue: another program has %s %s, which is written again",
			emptied ? "emptied" : "removed", runner->path);
}
