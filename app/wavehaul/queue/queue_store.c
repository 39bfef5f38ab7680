/* SPDX-License-Identifier: BSD-3-Clause */
#include "queue/queue_store.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/clock.h"
#include "bundle/record.h"
#include "cli/exit.h"
#include "job/retry/retry.h"
#include "journal/database.h"
#include "queue/queue_row.h"

static const char *const steps[] = {
	"CREATE TABLE job(id INTEGER PRIMARY KEY AUTOINCREMENT, state INTEGER NOT NULL,"
	" owner INTEGER NOT NULL, sends INTEGER NOT NULL, attached INTEGER NOT NULL,"
	" host TEXT NOT NULL, rate TEXT NOT NULL, here TEXT NOT NULL, there TEXT NOT NULL,"
	" words TEXT NOT NULL, priority INTEGER NOT NULL, place REAL NOT NULL,"
	" after INTEGER NOT NULL, retries INTEGER NOT NULL, tries INTEGER NOT NULL,"
	" due INTEGER NOT NULL, added INTEGER NOT NULL, began INTEGER NOT NULL,"
	" ended INTEGER NOT NULL, status INTEGER NOT NULL, why TEXT NOT NULL,"
	" files INTEGER NOT NULL, skipped INTEGER NOT NULL, failed INTEGER NOT NULL,"
	" bytes INTEGER NOT NULL, moved INTEGER NOT NULL, run_ns INTEGER NOT NULL);"
	"CREATE INDEX job_ready ON job(priority DESC, place, host) WHERE state=0;"
	"CREATE INDEX job_due ON job(due) WHERE state=1;"
	"CREATE INDEX job_after ON job(after) WHERE state=2;"
	"CREATE INDEX job_place ON job(priority, place);"
	"CREATE INDEX job_live ON job(id) WHERE state<5;"
	"CREATE INDEX job_over ON job(ended) WHERE state>=5;",
	"ALTER TABLE job ADD COLUMN as_name INTEGER NOT NULL DEFAULT 0",
	"CREATE INDEX job_follows ON job(after) WHERE state IN (2,3)",
	"ALTER TABLE job ADD COLUMN token TEXT NOT NULL DEFAULT '';"
	"ALTER TABLE job ADD COLUMN far INTEGER NOT NULL DEFAULT 0;"
	"ALTER TABLE job ADD COLUMN wish INTEGER NOT NULL DEFAULT 0;"
	"ALTER TABLE job ADD COLUMN peer TEXT NOT NULL DEFAULT '';"
	"ALTER TABLE job ADD COLUMN peer_key TEXT NOT NULL DEFAULT '';"
	"CREATE UNIQUE INDEX job_token ON job(peer,token) WHERE token<>''",
	"ALTER TABLE job ADD COLUMN asked_rate TEXT NOT NULL DEFAULT '';"
	"UPDATE job SET asked_rate=rate",
	"ALTER TABLE job ADD COLUMN said INTEGER NOT NULL DEFAULT 0;"
	"UPDATE job SET said=1 WHERE sends=2 AND began>0",
	/* Metrics count the orders that have ended: those of a month are kept. */
	"CREATE INDEX job_outcome ON job(state) WHERE state>=5",
	"ALTER TABLE job ADD COLUMN stream INTEGER NOT NULL DEFAULT 0",
	/* Followers that failed with their order, and come back with its retry. */
	"CREATE INDEX job_fallen ON job(after) WHERE state=6 AND began=0",
	"ALTER TABLE job RENAME COLUMN far TO delegated"};

/*
 * All direct and indirect followers of failed orders, including paused ones, which could never be
 * resumed.
 */
#define AND_FOLLOWERS                                                                              \
	" UNION SELECT job.id FROM gone JOIN job ON job.after=gone.id WHERE job.state IN (2,3))"
#define FAIL_GONE                                                                                  \
	"UPDATE job SET state=6,status=1,ended=?2,"                                                \
	"why='job '||after||', which it follows, did not succeed' "                                \
	"WHERE state IN (2,3) AND id IN (SELECT id FROM gone) RETURNING id,why"

enum queue_statement {
	ADD,
	LAST_PLACE,
	FIND,
	AFTER_LIVE,
	AFTER_ANY,
	READY,
	START,
	PROMOTE,
	DUE,
	END,
	FREE_FOLLOWERS,
	FAIL_FOLLOWERS,
	REVIVE_FOLLOWERS,
	FREE_LEFT,
	FAIL_LEFT,
	SET_STATE,
	SET_RATE,
	SET_RATE_ASKED,
	SET_AS_NAME,
	SET_DELEGATED,
	SET_WISH,
	SET_SAID,
	FIND_ACCEPTED,
	COUNT_ACCEPTED,
	FORGET_ACCEPTED,
	SET_PLACE,
	PLACE_BEFORE,
	COUNTS,
	TAKE_OVER,
	RUN_AGAIN,
	FORGET,
	STEPPED_BACK,
	QUESTIONS,
};

static const char *const texts[QUESTIONS] = {
	[ADD] = "INSERT INTO job(state,owner,sends,attached,host,rate,here,there,words,priority,"
		"place,after,retries,tries,due,added,began,ended,status,why,files,skipped,failed,"
		"bytes,moved,run_ns,token,peer,peer_key,wish,asked_rate,stream) "
		"VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,0,"
		"?14,?15,0,0,0,'',0,0,0,0,0,0,?16,?17,?18,?19,?6,?20)",
	[LAST_PLACE] = "SELECT coalesce(max(place),0) FROM job WHERE priority=?1",
	[FIND] = "SELECT " WH_ORDER_COLUMNS " FROM job WHERE id=?1",
	[AFTER_LIVE] =
		"SELECT " WH_ORDER_COLUMNS " FROM job WHERE id>?1 AND state<5 ORDER BY id LIMIT 1",
	[AFTER_ANY] = "SELECT " WH_ORDER_COLUMNS " FROM job WHERE id>?1 ORDER BY id LIMIT 1",
	[READY] = "SELECT id,host FROM job WHERE state=0 ORDER BY priority DESC,place",
	/* Clears what was said of the previous try. */
	[START] = "UPDATE job SET state=4,began=?2,tries=tries+1,status=0,why='' WHERE id=?1",
	[PROMOTE] = "UPDATE job SET state=0 WHERE state=1 AND due<=?1",
	[DUE] = "SELECT min(due) FROM job WHERE state=1",
	[END] = "UPDATE job SET state=?2,due=?3,ended=?4,status=?5,why=?6,files=files+?7,"
		"skipped=?8,failed=?9,bytes=bytes+?10,moved=moved+?11,run_ns=run_ns+?12,"
		"tries=?13 WHERE id=?1",
	[FREE_FOLLOWERS] = "UPDATE job SET state=1 WHERE state=2 AND after=?1",
	[FAIL_FOLLOWERS] = "WITH RECURSIVE gone(id) AS (VALUES(?1)" AND_FOLLOWERS " " FAIL_GONE,
	/*
	 * An order that failed and never began can only have failed with the order that it follows.
	 */
	[REVIVE_FOLLOWERS] =
		"WITH RECURSIVE back(id) AS (VALUES(?1) UNION SELECT job.id FROM back JOIN job "
		"ON job.after=back.id WHERE job.state=6 AND job.began=0) UPDATE job SET state=2,"
		"ended=0,status=0,why='' WHERE state=6 AND began=0 AND id<>?1 AND "
		"id IN (SELECT id FROM back)",
	/* Followers that were not updated because the last process ended before. */
	[FREE_LEFT] = "UPDATE job SET state=1 WHERE state=2 AND after IN "
		      "(SELECT id FROM job WHERE state=5)",
	[FAIL_LEFT] = "WITH RECURSIVE gone(id) AS (SELECT id FROM job WHERE state=2 AND "
		      "coalesce((SELECT state FROM job AS other WHERE "
		      "other.id=job.after),7)>5" AND_FOLLOWERS " " FAIL_GONE,
	[SET_STATE] = "UPDATE job SET state=?2,tries=?3,due=?4,ended=?5 WHERE id=?1",
	[SET_RATE] = "UPDATE job SET rate=?2 WHERE id=?1",
	[SET_RATE_ASKED] = "UPDATE job SET rate=?2,asked_rate=?2 WHERE id=?1",
	[SET_AS_NAME] = "UPDATE job SET as_name=1 WHERE id=?1",
	/* Delegated 0 with a new token: no other host's queue holds this order. */
	[SET_DELEGATED] = "UPDATE job SET delegated=?2,token=?3,said=?2>0 WHERE id=?1",
	[SET_WISH] = "UPDATE job SET wish=?2 WHERE id=?1",
	[SET_SAID] = "UPDATE job SET said=1 WHERE id=?1",
	[FIND_ACCEPTED] =
		"SELECT " WH_ORDER_COLUMNS " FROM job WHERE peer=?1 AND token=?2 AND token<>'' AND "
		"sends=1",
	[COUNT_ACCEPTED] = "SELECT count(*) FROM job WHERE peer=?1 AND token<>'' AND sends=1 AND "
			   "state<5",
	[FORGET_ACCEPTED] =
		"DELETE FROM job WHERE id IN (SELECT id FROM job WHERE peer=?1 AND "
		"token<>'' AND sends=1 AND state>=5 ORDER BY id DESC LIMIT -1 OFFSET ?2)",
	[SET_PLACE] = "UPDATE job SET priority=?2,place=?3 WHERE id=?1",
	[PLACE_BEFORE] = "SELECT max(place) FROM job WHERE priority=?1 AND place<?2",
	[COUNTS] = "SELECT state,count(*) FROM job WHERE state<5 GROUP BY state UNION ALL "
		   "SELECT state,count(*) FROM job WHERE state>=5 GROUP BY state",
	[TAKE_OVER] = "UPDATE job SET state=7,ended=?1,why='the server was started again' "
		      "WHERE attached=1 AND state<5",
	[RUN_AGAIN] = "UPDATE job SET state=0,tries=max(tries-1,0),said=max(said,sends=2) "
		      "WHERE state=4",
	[FORGET] = "DELETE FROM job WHERE state>=5 AND ended<?1",
	[STEPPED_BACK] = "UPDATE job SET due=?1 WHERE state=1 AND tries>0 AND due>?1+?2",
};

struct wh_queue {
	sqlite3 *database;
	sqlite3_stmt *statement[QUESTIONS];
	int64_t seen_s; /* the latest time read from the clock */
	void (*on_fallen)(void *context, uint64_t id, const char *why);
	void *context;
};

const char *wh_order_state_name(enum wh_order_state state)
{
	static const char *const names[WH_ORDER_STATES] = {
		"ready", "waiting", "blocked", "paused", "running", "done", "failed", "cancelled"};

	WH_ASSERT((unsigned int)state < WH_ORDER_STATES);
	return names[state];
}

static sqlite3_stmt *ask(struct wh_queue *queue, enum queue_statement question)
{
	sqlite3_stmt *statement = queue->statement[question];

	sqlite3_reset(statement);
	sqlite3_clear_bindings(statement);
	return statement;
}

static sqlite3_stmt *ask_of(struct wh_queue *queue, enum queue_statement question, int64_t first)
{
	sqlite3_stmt *statement = ask(queue, question);

	sqlite3_bind_int64(statement, 1, first);
	return statement;
}

/* Runs it to its end, ignoring any row. */
static int finish(sqlite3_stmt *statement)
{
	int rc;

	do
		rc = wh_database_step(statement);
	while (rc == 1);
	sqlite3_reset(statement);
	return rc;
}

void wh_queue_close(struct wh_queue *queue)
{
	if (queue == NULL)
		return;
	for (uint32_t i = 0; i < QUESTIONS; i++)
		sqlite3_finalize(queue->statement[i]);
	free(queue);
}

/* Orders attached to clients of the previous process fail: those clients have gone. */
static int take_over(struct wh_queue *queue, int64_t now_s)
{
	sqlite3_stmt *fail;
	int rc = wh_database_begin(queue->database);

	if (rc < 0)
		return rc;
	rc = finish(ask_of(queue, TAKE_OVER, now_s));
	if (rc == 0)
		rc = finish(ask(queue, RUN_AGAIN));
	if (rc == 0)
		rc = finish(ask(queue, FREE_LEFT));
	fail = ask(queue, FAIL_LEFT);
	sqlite3_bind_int64(fail, 2, now_s);
	if (rc == 0)
		rc = finish(fail);

	int ended = wh_database_end(queue->database, rc == 0);

	return rc < 0 ? rc : ended;
}

int wh_queue_reopen(struct wh_queue **queue, sqlite3 *database, int64_t now_s)
{
	int rc = wh_database_upgrade(database, "queue", steps, sizeof(steps) / sizeof(steps[0]));

	*queue = rc == 0 ? calloc(1, sizeof(**queue)) : NULL;
	if (*queue == NULL)
		return rc < 0 ? rc : -ENOMEM;
	**queue = (struct wh_queue){.database = database, .seen_s = now_s};
	for (uint32_t i = 0; rc == 0 && i < QUESTIONS; i++) {
		(*queue)->statement[i] = wh_database_statement(database, texts[i]);
		if ((*queue)->statement[i] == NULL)
			rc = -EIO;
	}
	if (rc == 0)
		return 0;
	wh_queue_close(*queue);
	*queue = NULL;
	return rc;
}

int wh_queue_open(struct wh_queue **queue, sqlite3 *database, int64_t now_s)
{
	int rc = wh_queue_reopen(queue, database, now_s);

	if (rc == 0)
		rc = take_over(*queue, now_s);
	if (rc == 0 || *queue == NULL)
		return rc;
	wh_queue_close(*queue);
	*queue = NULL;
	return rc;
}

void wh_queue_on_fallen(struct wh_queue *queue,
	void (*on_fallen)(void *context, uint64_t id, const char *why), void *context)
{
	queue->on_fallen = on_fallen;
	queue->context = context;
}

static int one_order(sqlite3_stmt *statement, struct wh_order *order)
{
	int rc = wh_database_step(statement);

	if (rc == 1)
		rc = wh_order_read(statement, order);
	else if (rc == 0)
		rc = -ENOENT;
	sqlite3_reset(statement);
	return rc;
}

int wh_queue_find(struct wh_queue *queue, uint64_t id, struct wh_order *order)
{
	return one_order(ask_of(queue, FIND, (int64_t)id), order);
}

int wh_queue_after(struct wh_queue *queue, uint64_t id, bool over, struct wh_order *order)
{
	return one_order(ask_of(queue, over ? AFTER_ANY : AFTER_LIVE, (int64_t)id), order);
}

static double one_number(sqlite3_stmt *statement, double otherwise)
{
	double found = otherwise;

	if (wh_database_step(statement) == 1 && sqlite3_column_type(statement, 0) != SQLITE_NULL)
		found = sqlite3_column_double(statement, 0);
	sqlite3_reset(statement);
	return found;
}

static void bind_text(sqlite3_stmt *statement, int at, const char *text)
{
	sqlite3_bind_text(statement, at, text, -1, SQLITE_STATIC);
}

/* The state of an order that may begin. */
static int state_to_begin(struct wh_queue *queue, const struct wh_order *order, int64_t now_s,
	enum wh_order_state *state)
{
	struct wh_order other;

	*state = order->due_s > now_s ? WH_ORDER_WAITING : WH_ORDER_READY;
	if (order->after == 0)
		return 0;

	int rc = wh_queue_find(queue, order->after, &other);

	if (rc < 0)
		return rc;
	if (other.state != WH_ORDER_DONE)
		*state = WH_ORDER_BLOCKED;
	if (other.state == WH_ORDER_FAILED || other.state == WH_ORDER_CANCELLED)
		rc = -EINVAL;
	wh_order_free(&other);
	return rc;
}

int wh_queue_add(struct wh_queue *queue, const struct wh_order *order, int64_t now_s, uint64_t *id)
{
	enum wh_order_state state;
	int rc = state_to_begin(queue, order, now_s, &state);

	WH_ASSERT(order->priority <= WH_PRIORITY_MAX);
	if (rc < 0)
		return rc;

	double place = one_number(ask_of(queue, LAST_PLACE, order->priority), 0) + 1;
	sqlite3_stmt *add = ask_of(queue, ADD, state);

	sqlite3_bind_int64(add, 2, order->owner);
	sqlite3_bind_int(add, 3,
		order->copies  ? WH_ORDER_COPIES
		: order->sends ? WH_ORDER_SENDS
			       : WH_ORDER_GETS);
	sqlite3_bind_int(add, 4, order->attached);
	bind_text(add, 5, order->host);
	bind_text(add, 6, order->rate);
	bind_text(add, 7, order->here);
	bind_text(add, 8, order->there);
	bind_text(add, 9, order->words);
	sqlite3_bind_int64(add, 10, order->priority);
	sqlite3_bind_double(add, 11, place);
	sqlite3_bind_int64(add, 12, (int64_t)order->after);
	sqlite3_bind_int64(add, 13, order->retries);
	sqlite3_bind_int64(add, 14, order->due_s);
	sqlite3_bind_int64(add, 15, now_s);
	bind_text(add, 16, order->token);
	bind_text(add, 17, order->peer);
	bind_text(add, 18, order->key);
	sqlite3_bind_int64(add, 19, order->wish);
	sqlite3_bind_int(add, 20, order->stream);
	rc = finish(add);
	*id = (uint64_t)sqlite3_last_insert_rowid(queue->database);
	return rc;
}

/* If the clock was set back, pauses could last for years. */
static int see_clock(struct wh_queue *queue, int64_t now_s)
{
	int rc = 0;

	if (now_s < queue->seen_s - 1) {
		sqlite3_stmt *mend = ask_of(queue, STEPPED_BACK, now_s);

		sqlite3_bind_int64(mend, 2, WH_RETRY_ORDER_LAST_S);
		rc = finish(mend);
	}
	queue->seen_s = now_s;
	return rc;
}

/* `host` NULL comes from a damaged row, which is begun in order to fail with a reason. */
static bool is_busy(const char *host, const char *const *busy, uint32_t count)
{
	if (host == NULL)
		return false;
	for (uint32_t i = 0; i < count; i++)
		if (strcmp(busy[i], host) == 0)
			return true;
	return false;
}

int wh_queue_next(struct wh_queue *queue, int64_t now_s, const char *const *busy, uint32_t count,
	struct wh_order *order)
{
	uint64_t id = 0;
	int rc = see_clock(queue, now_s);

	if (rc == 0 && wh_queue_due_s(queue) <= now_s)
		rc = finish(ask_of(queue, PROMOTE, now_s));
	if (rc < 0)
		return rc;

	sqlite3_stmt *ready = ask(queue, READY);

	while (id == 0 && (rc = wh_database_step(ready)) == 1)
		if (!is_busy((const char *)sqlite3_column_text(ready, 1), busy, count))
			id = wh_database_number(ready, 0);
	sqlite3_reset(ready);
	if (rc < 0 || id == 0)
		return rc < 0 ? rc : -ENOENT;

	sqlite3_stmt *start = ask_of(queue, START, (int64_t)id);

	sqlite3_bind_int64(start, 2, now_s);
	rc = finish(start);
	return rc < 0 ? rc : wh_queue_find(queue, id, order);
}

int64_t wh_queue_due_s(struct wh_queue *queue)
{
	sqlite3_stmt *due = ask(queue, DUE);
	int64_t due_s = INT64_MAX;

	if (wh_database_step(due) == 1 && sqlite3_column_type(due, 0) != SQLITE_NULL)
		due_s = sqlite3_column_int64(due, 0);
	sqlite3_reset(due);
	return due_s;
}

/* Whether another try might succeed. */
static bool may_mend(int status)
{
	return status == WH_EXIT_NETWORK || status == WH_EXIT_STALLED || status == WH_EXIT_VERIFY ||
	       status == WH_EXIT_PARTIAL || status == WH_EXIT_OTHER;
}

/* An order that failed with the one that it follows; of a list. */
struct fallen {
	struct fallen *next;
	uint64_t id;
	char why[WH_ORDER_WHY_BYTES];
};

/* Without memory for its note a follower fails all the same, and nobody is told. */
static int fail_followers(struct wh_queue *queue, uint64_t id, int64_t now_s, struct fallen **all)
{
	sqlite3_stmt *fail = ask_of(queue, FAIL_FOLLOWERS, (int64_t)id);
	int rc;

	sqlite3_bind_int64(fail, 2, now_s);
	while ((rc = wh_database_step(fail)) == 1) {
		struct fallen *one = malloc(sizeof(*one));

		if (one == NULL)
			continue;
		*one = (struct fallen){.next = *all, .id = wh_database_number(fail, 0)};
		wh_database_text(fail, 1, one->why, sizeof(one->why));
		*all = one;
	}
	sqlite3_reset(fail);
	return rc;
}

/* When an order is over, updates those that follow it. */
static int tell_followers(struct wh_queue *queue, uint64_t id, enum wh_order_state state,
	int64_t now_s, struct fallen **all)
{
	if (state == WH_ORDER_DONE)
		return finish(ask_of(queue, FREE_FOLLOWERS, (int64_t)id));
	if (state == WH_ORDER_READY || state == WH_ORDER_BLOCKED)
		return finish(ask_of(queue, REVIVE_FOLLOWERS, (int64_t)id));
	if (state != WH_ORDER_FAILED && state != WH_ORDER_CANCELLED)
		return 0;
	return fail_followers(queue, id, now_s, all);
}

/* Their failure counts once it is written. */
static void tell_fallen(const struct wh_queue *queue, struct fallen *all, bool written)
{
	while (all != NULL) {
		struct fallen *one = all;

		all = one->next;
		if (written && queue->on_fallen != NULL)
			queue->on_fallen(queue->context, one->id, one->why);
		free(one);
	}
}

/* Sets an order's state and updates its followers, in one transaction. */
static int set_and_tell(struct wh_queue *queue, sqlite3_stmt *set, uint64_t id,
	enum wh_order_state state, int64_t now_s)
{
	struct fallen *fallen = NULL;
	int rc = wh_database_begin(queue->database);

	if (rc < 0)
		return rc;
	rc = finish(set);
	if (rc == 0)
		rc = tell_followers(queue, id, state, now_s, &fallen);

	int ended = wh_database_end(queue->database, rc == 0);

	tell_fallen(queue, fallen, rc == 0 && ended == 0);
	return rc < 0 ? rc : ended;
}

int wh_queue_end(struct wh_queue *queue, const struct wh_order *order,
	const struct wh_order_result *result, enum wh_order_state wanted, int64_t now_s,
	enum wh_order_state *state)
{
	bool unheard = wanted == WH_ORDER_WAITING;
	bool again = unheard || (wanted == WH_ORDER_FAILED && !result->final &&
					may_mend(result->status) && order->tries <= order->retries);
	/* A try that was stopped from outside is not counted. */
	bool counted = unheard || wanted == WH_ORDER_DONE || wanted == WH_ORDER_FAILED;
	uint64_t last_s = unheard ? WH_SAY_AGAIN_LAST_S : WH_RETRY_ORDER_LAST_S;
	uint64_t pause_s =
		result->soon ? WH_RETRY_ORDER_SOON_S : wh_retry_order_pause_s(order->tries, last_s);

	WH_ASSERT(wanted != WH_ORDER_RUNNING && wanted != WH_ORDER_BLOCKED);
	*state = again ? WH_ORDER_WAITING : wanted;

	sqlite3_stmt *end = ask_of(queue, END, (int64_t)order->id);

	sqlite3_bind_int(end, 2, (int)*state);
	sqlite3_bind_int64(end, 3, again ? now_s + (int64_t)pause_s : order->due_s);
	sqlite3_bind_int64(end, 4, now_s);
	sqlite3_bind_int(end, 5, result->status);
	bind_text(end, 6, *state == WH_ORDER_DONE ? "" : result->why);
	sqlite3_bind_int64(end, 7, (int64_t)result->files);
	sqlite3_bind_int64(end, 8, (int64_t)result->skipped);
	sqlite3_bind_int64(end, 9, (int64_t)result->failed);
	sqlite3_bind_int64(end, 10, (int64_t)result->bytes);
	sqlite3_bind_int64(end, 11, (int64_t)result->moved_bytes);
	sqlite3_bind_int64(end, 12, (int64_t)result->run_ns);
	sqlite3_bind_int64(end, 13, counted || order->tries == 0 ? order->tries : order->tries - 1);
	return set_and_tell(queue, end, order->id, *state, now_s);
}

static int set_state(struct wh_queue *queue, const struct wh_order *order,
	enum wh_order_state state, uint32_t tries, int64_t now_s)
{
	sqlite3_stmt *set = ask_of(queue, SET_STATE, (int64_t)order->id);

	sqlite3_bind_int(set, 2, (int)state);
	sqlite3_bind_int64(set, 3, tries);
	sqlite3_bind_int64(set, 4, order->due_s);
	sqlite3_bind_int64(set, 5, wh_order_is_over(state) ? now_s : 0);
	return set_and_tell(queue, set, order->id, state, now_s);
}

/* Changes an order in one of the states of `from` (bits) to another state. */
static int change(struct wh_queue *queue, uint64_t id, uint32_t from, enum wh_order_state to,
	bool anew, int64_t now_s)
{
	enum wh_order_state state = to;
	struct wh_order order;
	int rc = wh_queue_find(queue, id, &order);

	if (rc < 0)
		return rc;
	if ((from & 1u << order.state) == 0)
		rc = -EINVAL;
	if (anew)
		order.due_s = now_s;
	if (rc == 0 && to == WH_ORDER_READY)
		rc = state_to_begin(queue, &order, now_s, &state);
	/*
	 * The order that this one follows is forgotten. It was done: had it failed, so would this
	 * one have.
	 */
	if (rc == -ENOENT)
		rc = 0;
	if (rc == 0)
		rc = set_state(queue, &order, state, anew ? 0 : order.tries, now_s);
	wh_order_free(&order);
	return rc;
}

#define NOT_BEGUN (1u << WH_ORDER_READY | 1u << WH_ORDER_WAITING | 1u << WH_ORDER_BLOCKED)

int wh_queue_pause(struct wh_queue *queue, uint64_t id)
{
	return change(queue, id, NOT_BEGUN, WH_ORDER_PAUSED, false, 0);
}

int wh_queue_resume(struct wh_queue *queue, uint64_t id, int64_t now_s)
{
	return change(queue, id, 1u << WH_ORDER_PAUSED, WH_ORDER_READY, false, now_s);
}

int wh_queue_cancel(struct wh_queue *queue, uint64_t id, int64_t now_s)
{
	return change(
		queue, id, NOT_BEGUN | 1u << WH_ORDER_PAUSED, WH_ORDER_CANCELLED, false, now_s);
}

int wh_queue_begin(struct wh_queue *queue, uint64_t id, int64_t now_s)
{
	return change(queue, id, NOT_BEGUN | 1u << WH_ORDER_PAUSED, WH_ORDER_READY, false, now_s);
}

int wh_queue_retry(struct wh_queue *queue, uint64_t id, int64_t now_s)
{
	return change(queue, id,
		1u << WH_ORDER_FAILED | 1u << WH_ORDER_CANCELLED | 1u << WH_ORDER_WAITING,
		WH_ORDER_READY, true, now_s);
}

static int set_rate(
	struct wh_queue *queue, enum queue_statement question, uint64_t id, const char *rate)
{
	sqlite3_stmt *set = ask_of(queue, question, (int64_t)id);

	bind_text(set, 2, rate);
	return finish(set);
}

int wh_queue_rate(struct wh_queue *queue, uint64_t id, const char *rate)
{
	return set_rate(queue, SET_RATE, id, rate);
}

int wh_queue_rate_asked(struct wh_queue *queue, uint64_t id, const char *rate)
{
	return set_rate(queue, SET_RATE_ASKED, id, rate);
}

int wh_queue_as_name(struct wh_queue *queue, uint64_t id)
{
	return finish(ask_of(queue, SET_AS_NAME, (int64_t)id));
}

int wh_queue_set_delegated(
	struct wh_queue *queue, uint64_t id, uint64_t delegated, const char *token)
{
	sqlite3_stmt *set = ask_of(queue, SET_DELEGATED, (int64_t)id);

	sqlite3_bind_int64(set, 2, (int64_t)delegated);
	bind_text(set, 3, token);
	return finish(set);
}

int wh_queue_set_wish(struct wh_queue *queue, uint64_t id, uint32_t wish)
{
	sqlite3_stmt *set = ask_of(queue, SET_WISH, (int64_t)id);

	sqlite3_bind_int64(set, 2, wish);
	return finish(set);
}

int wh_queue_set_said(struct wh_queue *queue, uint64_t id)
{
	return finish(ask_of(queue, SET_SAID, (int64_t)id));
}

int wh_queue_find_accepted(
	struct wh_queue *queue, const char *peer, const char *token, struct wh_order *order)
{
	sqlite3_stmt *find = ask(queue, FIND_ACCEPTED);

	bind_text(find, 1, peer);
	bind_text(find, 2, token);
	return one_order(find, order);
}

int wh_queue_count_accepted(struct wh_queue *queue, const char *peer, uint32_t kept, uint64_t *live)
{
	sqlite3_stmt *forget = ask(queue, FORGET_ACCEPTED);
	sqlite3_stmt *count = ask(queue, COUNT_ACCEPTED);
	int rc;

	bind_text(forget, 1, peer);
	sqlite3_bind_int64(forget, 2, kept);
	rc = finish(forget);
	bind_text(count, 1, peer);
	*live = (uint64_t)one_number(count, 0);
	return rc;
}

int wh_queue_move(struct wh_queue *queue, uint64_t id, uint32_t priority, uint64_t other)
{
	double place = one_number(ask_of(queue, LAST_PLACE, priority), 0) + 1;
	struct wh_order before;
	int rc;

	WH_ASSERT(priority <= WH_PRIORITY_MAX);
	if (other != 0) {
		rc = wh_queue_find(queue, other, &before);
		if (rc < 0)
			return rc;
		priority = before.priority;

		sqlite3_stmt *ask_before = ask_of(queue, PLACE_BEFORE, priority);

		sqlite3_bind_double(ask_before, 2, before.place);
		place = (before.place + one_number(ask_before, before.place - 2)) / 2;
		wh_order_free(&before);
	}

	sqlite3_stmt *set = ask_of(queue, SET_PLACE, (int64_t)id);

	sqlite3_bind_int64(set, 2, priority);
	sqlite3_bind_double(set, 3, place);
	rc = finish(set);
	return rc == 0 && sqlite3_changes(queue->database) == 0 ? -ENOENT : rc;
}

int wh_queue_counts(struct wh_queue *queue, uint64_t counts[WH_ORDER_STATES])
{
	sqlite3_stmt *ask_counts = ask(queue, COUNTS);
	int rc;

	memset(counts, 0, WH_ORDER_STATES * sizeof(counts[0]));
	while ((rc = wh_database_step(ask_counts)) == 1) {
		uint64_t state = wh_database_number(ask_counts, 0);

		if (state < WH_ORDER_STATES)
			counts[state] = wh_database_number(ask_counts, 1);
	}
	sqlite3_reset(ask_counts);
	return rc;
}

int wh_queue_forget(struct wh_queue *queue, int64_t now_s)
{
	return finish(ask_of(queue, FORGET, now_s - WH_ORDER_KEPT_S));
}
