/* SPDX-License-Identifier: BSD-3-Clause */

/* The queue's rows in virtual time, in a folder of the test's own. */

#include "queue/queue_store.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bundle/record.h"
#include "cli/exit.h"
#include "journal/database.h"
#include "unit.h"

const char wh_suite_name[] = "app/queue";

#define NOW INT64_C(1000000)

static struct rig {
	char folder[40];
	char path[64];
	sqlite3 *database;
	struct wh_queue *queue;
} rig;

static void open_queue(void)
{
	char told[WH_DATABASE_TOLD_BYTES];

	CU_ASSERT_EQUAL_FATAL(wh_database_open(&rig.database, rig.path, told), 0);
	CU_ASSERT_EQUAL_FATAL(wh_queue_open(&rig.queue, rig.database, NOW), 0);
}

static void close_queue(void)
{
	wh_queue_close(rig.queue);
	wh_database_close(rig.database);
}

/* In memory: what a disk costs is the database's affair. */
void wh_set_up(void)
{
	strcpy(rig.folder, "/dev/shm/wavehaul-queue-XXXXXX");
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(rig.folder));
	snprintf(rig.path, sizeof(rig.path), "%s/service.db", rig.folder);
	open_queue();
}

void wh_take_down(void)
{
	close_queue();
	unlink(rig.path);
	rmdir(rig.folder);
}

static char nothing[] = "[]";

static uint64_t add(
	const char *host, uint32_t priority, int64_t due_s, uint64_t after, uint32_t retries)
{
	struct wh_order order = {
		.here = nothing,
		.there = nothing,
		.words = nothing,
		.priority = priority,
		.due_s = due_s,
		.after = after,
		.retries = retries,
	};
	uint64_t id = 0;

	snprintf(order.host, sizeof(order.host), "%s", host);
	CU_ASSERT_EQUAL_FATAL(wh_queue_add(rig.queue, &order, NOW, &id), 0);
	return id;
}

static uint64_t next(int64_t now_s, const char *busy)
{
	struct wh_order order;
	int rc = wh_queue_next(rig.queue, now_s, &busy, busy != NULL, &order);

	if (rc == -ENOENT)
		return 0;
	CU_ASSERT_EQUAL_FATAL(rc, 0);
	CU_ASSERT_EQUAL(order.state, WH_ORDER_RUNNING);
	wh_order_free(&order);
	return order.id;
}

static enum wh_order_state end(uint64_t id, int status, int64_t now_s)
{
	const struct wh_order_result result = {.status = status, .bytes = 10, .moved_bytes = 20};
	enum wh_order_state state;
	struct wh_order order;

	CU_ASSERT_EQUAL_FATAL(wh_queue_find(rig.queue, id, &order), 0);
	CU_ASSERT_EQUAL_FATAL(
		wh_queue_end(rig.queue, &order, &result,
			status == WH_EXIT_OK ? WH_ORDER_DONE : WH_ORDER_FAILED, now_s, &state),
		0);
	wh_order_free(&order);
	return state;
}

static struct wh_order look(uint64_t id)
{
	struct wh_order order;

	CU_ASSERT_EQUAL_FATAL(wh_queue_find(rig.queue, id, &order), 0);
	wh_order_free(&order);
	return order;
}

static void test_order(void)
{
	uint64_t low = add("a", 3, 0, 0, 0);
	uint64_t first = add("a", 5, 0, 0, 0);
	uint64_t second = add("b", 5, 0, 0, 0);
	uint64_t third = add("a", 5, 0, 0, 0);

	CU_ASSERT_EQUAL(wh_queue_move(rig.queue, third, 5, second), 0);
	CU_ASSERT_EQUAL(wh_queue_move(rig.queue, 4711, 5, 0), -ENOENT);
	CU_ASSERT_EQUAL(next(NOW, NULL), first);
	CU_ASSERT_EQUAL(next(NOW, "a"), second);
	CU_ASSERT_EQUAL(next(NOW, "a"), 0);
	CU_ASSERT_EQUAL(wh_queue_move(rig.queue, low, 9, 0), 0);
	CU_ASSERT_EQUAL(next(NOW, NULL), low);
	CU_ASSERT_EQUAL(next(NOW, NULL), third);
	CU_ASSERT_EQUAL(next(NOW, NULL), 0);
}

static void test_time_and_followers(void)
{
	uint64_t later = add("a", 5, NOW + 100, 0, 0);
	uint64_t one = add("a", 5, 0, 0, 0);
	uint64_t two = add("a", 5, 0, one, 0);
	uint64_t three = add("a", 5, 0, two, 0);
	uint64_t four = add("a", 5, 0, three, 0);

	CU_ASSERT_EQUAL(wh_queue_due_s(rig.queue), NOW + 100);
	CU_ASSERT_EQUAL(next(NOW, NULL), one);
	CU_ASSERT_EQUAL(next(NOW, NULL), 0);
	CU_ASSERT_EQUAL(end(one, WH_EXIT_OK, NOW), WH_ORDER_DONE);
	CU_ASSERT_EQUAL(next(NOW, NULL), two);
	CU_ASSERT_EQUAL(end(two, WH_EXIT_NO_FILE, NOW), WH_ORDER_FAILED);
	CU_ASSERT_EQUAL(look(three).state, WH_ORDER_FAILED);
	CU_ASSERT_EQUAL(look(four).state, WH_ORDER_FAILED);
	CU_ASSERT_EQUAL(next(NOW + 99, NULL), 0);
	CU_ASSERT_EQUAL(next(NOW + 100, NULL), later);
	CU_ASSERT_EQUAL(wh_queue_due_s(rig.queue), INT64_MAX);
	CU_ASSERT_EQUAL(wh_queue_retry(rig.queue, three, NOW), -EINVAL);
	CU_ASSERT_EQUAL(wh_queue_retry(rig.queue, two, NOW), 0);
	/* What failed with it waits for it again; what was cancelled stays so. */
	CU_ASSERT_EQUAL(look(three).state, WH_ORDER_BLOCKED);
	CU_ASSERT_STRING_EQUAL(look(three).result.why, "");
	CU_ASSERT_EQUAL(look(four).state, WH_ORDER_BLOCKED);
	CU_ASSERT_EQUAL(wh_queue_cancel(rig.queue, four, NOW), 0);
	CU_ASSERT_EQUAL(next(NOW + 100, NULL), two);
	CU_ASSERT_EQUAL(end(two, WH_EXIT_NO_FILE, NOW + 100), WH_ORDER_FAILED);
	CU_ASSERT_EQUAL(look(three).state, WH_ORDER_FAILED);
	CU_ASSERT_EQUAL(wh_queue_retry(rig.queue, two, NOW + 101), 0);
	CU_ASSERT_EQUAL(next(NOW + 101, NULL), two);
	CU_ASSERT_STRING_EQUAL(look(two).result.why, "");
	CU_ASSERT_EQUAL(look(two).result.status, 0);
	CU_ASSERT_EQUAL(end(two, WH_EXIT_OK, NOW + 101), WH_ORDER_DONE);
	CU_ASSERT_EQUAL(next(NOW + 101, NULL), three);
	CU_ASSERT_EQUAL(look(four).state, WH_ORDER_CANCELLED);
}

/* More than any list of them has room for, each with one of its own. */
static void test_many_followers(void)
{
	uint64_t counts[WH_ORDER_STATES];

	uint64_t one = add("a", 5, 0, 0, 0);

	for (uint32_t i = 0; i < 100; i++)
		add("a", 5, 0, add("a", 5, 0, one, 0), 0);
	CU_ASSERT_EQUAL(next(NOW, NULL), one);
	CU_ASSERT_EQUAL(end(one, WH_EXIT_NO_FILE, NOW), WH_ORDER_FAILED);
	CU_ASSERT_EQUAL_FATAL(wh_queue_counts(rig.queue, counts), 0);
	CU_ASSERT_EQUAL(counts[WH_ORDER_FAILED], 201);
	CU_ASSERT_EQUAL(counts[WH_ORDER_BLOCKED], 0);
	CU_ASSERT_STRING_EQUAL(look(201).result.why, "job 200, which it follows, did not succeed");
}

/* One that is to be done and one that is to fail, and who follows them. */
struct chains {
	uint64_t done, after_done;
	uint64_t failed, after_failed, after_that;
};

static struct chains add_chains(void)
{
	struct chains of;

	of.done = add("a", 5, 0, 0, 0);
	of.after_done = add("a", 5, 0, of.done, 0);
	of.failed = add("a", 5, 0, 0, 0);
	of.after_failed = add("a", 5, 0, of.failed, 0);
	of.after_that = add("a", 5, 0, of.after_failed, 0);
	return of;
}

/* Whoever follows what failed fails with it, paused or not; what was done may be forgotten. */
static void test_paused_followers(void)
{
	struct chains of = add_chains();

	CU_ASSERT_EQUAL(wh_queue_pause(rig.queue, of.after_done), 0);
	CU_ASSERT_EQUAL(wh_queue_pause(rig.queue, of.after_failed), 0);
	CU_ASSERT_EQUAL(next(NOW, NULL), of.done);
	CU_ASSERT_EQUAL(end(of.done, WH_EXIT_OK, NOW), WH_ORDER_DONE);
	CU_ASSERT_EQUAL(next(NOW, NULL), of.failed);
	CU_ASSERT_EQUAL(end(of.failed, WH_EXIT_NO_FILE, NOW), WH_ORDER_FAILED);
	CU_ASSERT_EQUAL(look(of.after_done).state, WH_ORDER_PAUSED);
	CU_ASSERT_EQUAL(look(of.after_failed).state, WH_ORDER_FAILED);
	CU_ASSERT_EQUAL(look(of.after_that).state, WH_ORDER_FAILED);
	CU_ASSERT_EQUAL(wh_database_run(rig.database, "DELETE FROM job WHERE id=1"), 0);
	close_queue();
	open_queue();
	CU_ASSERT_EQUAL(wh_queue_resume(rig.queue, of.after_done, NOW), 0);
	CU_ASSERT_EQUAL(next(NOW, NULL), of.after_done);
}

/* A process was killed when a job was over and none of its followers had been told. */
static void test_untold_followers(void)
{
	struct chains of = add_chains();
	uint64_t lost = add("a", 5, 0, 0, 0);
	uint64_t after_lost = add("a", 5, 0, lost, 0);
	uint64_t live = add("a", 5, 0, 0, 0);
	uint64_t after_live = add("a", 5, 0, live, 0);

	CU_ASSERT_EQUAL(wh_database_run(rig.database, "UPDATE job SET state=5 WHERE id=1;"
						      "UPDATE job SET state=6 WHERE id=3;"
						      "DELETE FROM job WHERE id=6"),
		0);
	close_queue();
	open_queue();
	CU_ASSERT_EQUAL(look(of.after_done).state, WH_ORDER_WAITING);
	CU_ASSERT_EQUAL(look(of.after_failed).state, WH_ORDER_FAILED);
	CU_ASSERT_EQUAL(look(of.after_that).state, WH_ORDER_FAILED);
	CU_ASSERT_EQUAL(look(after_lost).state, WH_ORDER_FAILED);
	CU_ASSERT_EQUAL(look(after_live).state, WH_ORDER_BLOCKED);
	CU_ASSERT_EQUAL(next(NOW, NULL), of.after_done);
}

static void test_retries(void)
{
	static const int64_t pauses[] = {5, 10, 20, 40, 80, 160, 320, 600, 600};
	int64_t now_s = NOW;

	uint64_t id = add("a", 5, 0, 0, 9);

	for (uint32_t i = 0; i < 9; i++) {
		CU_ASSERT_EQUAL(next(now_s, NULL), id);
		CU_ASSERT_EQUAL(end(id, WH_EXIT_NETWORK, now_s), WH_ORDER_WAITING);
		CU_ASSERT_EQUAL(wh_queue_due_s(rig.queue), now_s + pauses[i]);
		CU_ASSERT_EQUAL(next(now_s + pauses[i] - 1, NULL), 0);
		now_s += pauses[i];
	}
	CU_ASSERT_EQUAL(next(now_s, NULL), id);
	CU_ASSERT_EQUAL(end(id, WH_EXIT_NETWORK, now_s), WH_ORDER_FAILED);
	CU_ASSERT_EQUAL(look(id).result.moved_bytes, 200);
	/* What no other try mends has none. */
	id = add("a", 5, 0, 0, 9);
	CU_ASSERT_EQUAL(next(now_s, NULL), id);
	CU_ASSERT_EQUAL(end(id, WH_EXIT_NO_FILE, now_s), WH_ORDER_FAILED);
}

/* The clock is set back by a year in the middle of a pause, and forward again. */
static void test_clock_steps(void)
{
	uint64_t id = add("a", 5, 0, 0, 5);

	CU_ASSERT_EQUAL(next(NOW, NULL), id);
	CU_ASSERT_EQUAL(end(id, WH_EXIT_NETWORK, NOW), WH_ORDER_WAITING);
	CU_ASSERT_EQUAL(next(NOW - 31536000, NULL), id);
	CU_ASSERT_EQUAL(end(id, WH_EXIT_NETWORK, NOW - 31536000), WH_ORDER_WAITING);
	CU_ASSERT_EQUAL(next(NOW + 31536000, NULL), id);
}

static void test_wishes(void)
{
	uint64_t id = add("a", 5, 0, 0, 0);
	uint64_t follower = add("a", 5, 0, id, 0);

	CU_ASSERT_EQUAL(wh_queue_pause(rig.queue, id), 0);
	CU_ASSERT_EQUAL(wh_queue_pause(rig.queue, id), -EINVAL);
	CU_ASSERT_EQUAL(next(NOW, NULL), 0);
	CU_ASSERT_EQUAL(wh_queue_resume(rig.queue, id, NOW), 0);
	CU_ASSERT_EQUAL(next(NOW, NULL), id);
	CU_ASSERT_EQUAL(wh_queue_pause(rig.queue, id), -EINVAL);
	CU_ASSERT_EQUAL(wh_queue_cancel(rig.queue, id, NOW), -EINVAL);
	CU_ASSERT_EQUAL(wh_queue_cancel(rig.queue, follower, NOW), 0);
	CU_ASSERT_EQUAL(look(follower).state, WH_ORDER_CANCELLED);
	CU_ASSERT_EQUAL(wh_queue_resume(rig.queue, 4711, NOW), -ENOENT);
	CU_ASSERT_EQUAL(wh_queue_rate(rig.queue, id, "2G"), 0);
	CU_ASSERT_STRING_EQUAL(look(id).rate, "2G");
}

/* Another process has the file; what ran is ready, and has not lost a try. */
static void test_accepted(void)
{
	uint64_t id = add("a", 5, 0, 0, 0);
	uint64_t paused = add("a", 5, 0, 0, 0);

	CU_ASSERT_EQUAL(wh_queue_pause(rig.queue, paused), 0);
	CU_ASSERT_EQUAL(next(NOW, NULL), id);
	CU_ASSERT_EQUAL(wh_queue_as_name(rig.queue, id), 0);
	close_queue();
	open_queue();
	CU_ASSERT_EQUAL(look(paused).state, WH_ORDER_PAUSED);
	CU_ASSERT_EQUAL(look(id).tries, 0);
	CU_ASSERT(look(id).as_name && !look(paused).as_name);
	CU_ASSERT_EQUAL(next(NOW, NULL), id);
}

/* What is over is there for thirty days; what is not, for ever. */
static void test_forgotten(void)
{
	uint64_t id = add("a", 5, 0, 0, 0);
	uint64_t waits = add("a", 4, 0, 0, 0);
	struct wh_order order;

	CU_ASSERT_EQUAL(next(NOW, NULL), id);
	end(id, WH_EXIT_OK, NOW);
	CU_ASSERT_EQUAL(wh_queue_forget(rig.queue, NOW + WH_ORDER_KEPT_S), 0);
	CU_ASSERT_EQUAL(look(id).state, WH_ORDER_DONE);
	CU_ASSERT_EQUAL(wh_queue_forget(rig.queue, NOW + WH_ORDER_KEPT_S + 1), 0);
	CU_ASSERT_EQUAL(wh_queue_find(rig.queue, id, &order), -ENOENT);
	CU_ASSERT_EQUAL(look(waits).state, WH_ORDER_READY);
}

static int count_step(void *steps)
{
	++*(uint64_t *)steps;
	return 0;
}

/* What the database does for rounds of the queue's work beside that many orders. */
static uint64_t steps_beside(uint32_t orders)
{
	enum { ROUNDS = 500, GRAIN = 16 };
	uint64_t steps = 0;

	CU_ASSERT_EQUAL(wh_database_run(rig.database, "DELETE FROM job"), 0);
	wh_database_begin(rig.database);
	for (uint32_t i = 0; i < orders; i++)
		add("a", i % 10, i % 3 == 0 ? NOW + 1000 + i : 0, 0, 0);
	wh_database_end(rig.database, true);
	sqlite3_progress_handler(rig.database, GRAIN, count_step, &steps);
	for (uint32_t i = 0; i < ROUNDS; i++) {
		uint64_t added = add("b", 5, 0, 0, 3);
		uint64_t id = next(NOW, NULL);

		CU_ASSERT(id != 0);
		end(id, i % 2 == 0 ? WH_EXIT_OK : WH_EXIT_NETWORK, NOW);
		wh_queue_pause(rig.queue, added);
		wh_queue_resume(rig.queue, added, NOW);
		wh_queue_move(rig.queue, added, 5, 0);
	}
	sqlite3_progress_handler(rig.database, 0, NULL, NULL);
	return steps;
}

/* Ten times as many cost no more each: nothing reads all of them. */
static void test_flat(void)
{
	uint64_t few = steps_beside(1000);
	uint64_t many = steps_beside(10000);

	CU_ASSERT(few > 0);
	CU_ASSERT(many < few + few / 4);
}

/* An order of a peer's, by its token. */
static uint64_t take(const char *peer, const char *token, int *rc)
{
	struct wh_order order = {
		.here = nothing,
		.there = nothing,
		.words = nothing,
		.sends = true,
		.host = "dtn3",
		.rate = "40M",
	};
	uint64_t id = 0;

	snprintf(order.peer, sizeof(order.peer), "%s", peer);
	snprintf(order.token, sizeof(order.token), "%s", token);
	*rc = wh_queue_add(rig.queue, &order, NOW, &id);
	return id;
}

static void test_tokens(void)
{
	struct wh_order order;
	uint64_t first, other, live;
	int rc;

	first = take("dtn1", "aa", &rc);
	CU_ASSERT_EQUAL(rc, 0);
	other = take("dtn4", "aa", &rc);
	CU_ASSERT_EQUAL(rc, 0);
	/* The same token of the same peer is the same order, and never another one. */
	(void)take("dtn1", "aa", &rc);
	CU_ASSERT(rc < 0);
	close_queue();
	open_queue();
	CU_ASSERT_EQUAL_FATAL(wh_queue_find_accepted(rig.queue, "dtn1", "aa", &order), 0);
	CU_ASSERT(order.id == first && wh_order_is_accepted(&order) && order.sends);
	CU_ASSERT_STRING_EQUAL(order.asked_rate, "40M");
	wh_order_free(&order);
	/* What is set here is not what he wished. */
	CU_ASSERT_EQUAL(wh_queue_rate_asked(rig.queue, first, "20M"), 0);
	CU_ASSERT_EQUAL(wh_queue_rate(rig.queue, first, "1M"), 0);
	order = look(first);
	CU_ASSERT_STRING_EQUAL(order.asked_rate, "20M");
	CU_ASSERT_STRING_EQUAL(order.rate, "1M");
	CU_ASSERT_EQUAL_FATAL(wh_queue_find_accepted(rig.queue, "dtn4", "aa", &order), 0);
	CU_ASSERT_EQUAL(order.id, other);
	wh_order_free(&order);
	CU_ASSERT_EQUAL(wh_queue_find_accepted(rig.queue, "dtn5", "aa", &order), -ENOENT);
	CU_ASSERT_EQUAL(wh_queue_find_accepted(rig.queue, "dtn1", "ab", &order), -ENOENT);
	CU_ASSERT_EQUAL(wh_queue_find_accepted(rig.queue, "dtn1", "", &order), -ENOENT);
	/* Of what is over so many are kept, and others' are not counted. */
	for (int i = 0; i < 5; i++) {
		char token[8];

		snprintf(token, sizeof(token), "b%d", i);
		uint64_t id = take("dtn1", token, &rc);

		if (i < 4)
			CU_ASSERT_EQUAL(wh_queue_cancel(rig.queue, id, NOW), 0);
	}
	CU_ASSERT_EQUAL(wh_queue_count_accepted(rig.queue, "dtn1", 2, &live), 0);
	CU_ASSERT_EQUAL(live, 2);
	CU_ASSERT_EQUAL(wh_queue_find_accepted(rig.queue, "dtn1", "b1", &order), -ENOENT);
	CU_ASSERT_EQUAL_FATAL(wh_queue_find_accepted(rig.queue, "dtn1", "b2", &order), 0);
	wh_order_free(&order);
	CU_ASSERT_EQUAL_FATAL(wh_queue_find(rig.queue, other, &order), 0);
	wh_order_free(&order);
}

/* What is not heard there is said again and again, however many tries the order has. */
static void say_again(uint64_t id)
{
	static const int64_t pauses[] = {5, 10, 20, 40, 60, 60};
	const struct wh_order_result result = {.status = WH_EXIT_NETWORK};
	int64_t now_s = NOW;

	for (uint32_t i = 0; i < sizeof(pauses) / sizeof(pauses[0]); i++) {
		enum wh_order_state state;
		struct wh_order order;

		CU_ASSERT_EQUAL(next(now_s, NULL), id);
		order = look(id);
		CU_ASSERT_EQUAL(
			wh_queue_end(rig.queue, &order, &result, WH_ORDER_WAITING, now_s, &state),
			0);
		CU_ASSERT_EQUAL(state, WH_ORDER_WAITING);
		CU_ASSERT_EQUAL(wh_queue_due_s(rig.queue), now_s + pauses[i]);
		now_s += pauses[i];
	}
}

/* What is known of an order that another queue has, and what it is to hear. */
static void test_delegated(void)
{
	struct wh_order order = {
		.here = nothing,
		.there = nothing,
		.words = nothing,
		.copies = true,
		.host = "dtn2",
		.token = "0123",
	};
	uint64_t id;

	CU_ASSERT_EQUAL_FATAL(wh_queue_add(rig.queue, &order, NOW, &id), 0);
	CU_ASSERT_EQUAL(wh_queue_find_accepted(rig.queue, "", "0123", &order), -ENOENT);
	CU_ASSERT_EQUAL(wh_queue_set_delegated(rig.queue, id, 9, "0123"), 0);
	CU_ASSERT_EQUAL(wh_queue_set_wish(rig.queue, id, WH_WISH_CANCEL), 0);
	CU_ASSERT_EQUAL(wh_queue_pause(rig.queue, id), 0);
	CU_ASSERT_EQUAL(wh_queue_begin(rig.queue, id, NOW), 0);
	close_queue();
	open_queue();
	CU_ASSERT_EQUAL_FATAL(wh_queue_find(rig.queue, id, &order), 0);
	CU_ASSERT(order.copies && !order.sends && !wh_order_is_accepted(&order));
	CU_ASSERT(order.delegated == 9 && order.wish == WH_WISH_CANCEL && order.said);
	CU_ASSERT_EQUAL(order.state, WH_ORDER_READY);
	CU_ASSERT_STRING_EQUAL(order.token, "0123");
	wh_order_free(&order);
	say_again(id);
	/* By another token it is nowhere, until it runs when its process dies. */
	CU_ASSERT_EQUAL(wh_queue_set_delegated(rig.queue, id, 0, "4567"), 0);
	CU_ASSERT(!look(id).said);
	CU_ASSERT_EQUAL(wh_queue_retry(rig.queue, id, NOW), 0);
	CU_ASSERT_EQUAL(next(NOW, NULL), id);
	close_queue();
	open_queue();
	CU_ASSERT(look(id).said);
}

/* Bytes of a stream do not come twice: one that has begun is over, whatever tries are left. */
static void test_stream(void)
{
	struct wh_order_result result = {.status = WH_EXIT_NETWORK};
	enum wh_order_state state;
	struct wh_order order = {.host = "dtn2",
		.rate = "max",
		.here = nothing,
		.there = nothing,
		.words = nothing,
		.sends = true,
		.attached = true,
		.stream = true,
		.retries = 3};
	uint64_t id;

	CU_ASSERT_EQUAL_FATAL(wh_queue_add(rig.queue, &order, NOW, &id), 0);
	for (int final = 0; final <= 1; final++) {
		int64_t now_s = NOW + 100 * final;

		CU_ASSERT_EQUAL(next(now_s, NULL), id);
		order = look(id);
		CU_ASSERT(order.stream && order.attached);
		result.final = final;
		CU_ASSERT_EQUAL(
			wh_queue_end(rig.queue, &order, &result, WH_ORDER_FAILED, now_s, &state),
			0);
		CU_ASSERT_EQUAL(state, final ? WH_ORDER_FAILED : WH_ORDER_WAITING);
	}
}

/*
 * What each version of the program had, made here as that one did: no step is another one later.
 * A job of its time waits in it, to be sent; and where there were such, one of another queue's.
 */
static const char *const grown[] = {
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
	"CREATE INDEX job_over ON job(ended) WHERE state>=5;"
	"INSERT INTO job VALUES(1,1,7,1,0,'dtn2','2G','[\"a\"]','[\"b\"]','[]',6,1.5,0,3,1,"
	"1000010,999000,999500,999600,5,'gone',1,2,3,4,5,6)",
	"ALTER TABLE job ADD COLUMN as_name INTEGER NOT NULL DEFAULT 0;"
	"UPDATE job SET as_name=1",
	"CREATE INDEX job_follows ON job(after) WHERE state IN (2,3)",
	"ALTER TABLE job ADD COLUMN token TEXT NOT NULL DEFAULT '';"
	"ALTER TABLE job ADD COLUMN far INTEGER NOT NULL DEFAULT 0;"
	"ALTER TABLE job ADD COLUMN wish INTEGER NOT NULL DEFAULT 0;"
	"ALTER TABLE job ADD COLUMN peer TEXT NOT NULL DEFAULT '';"
	"ALTER TABLE job ADD COLUMN peer_key TEXT NOT NULL DEFAULT '';"
	"CREATE UNIQUE INDEX job_token ON job(peer,token) WHERE token<>'';"
	"INSERT INTO job SELECT 2,1,owner,2,attached,'dtn3',rate,here,there,words,priority,place,"
	"after,retries,tries,due,added,began,ended,status,why,files,skipped,failed,bytes,moved,"
	"run_ns,0,'aa',9,2,'','' FROM job",
	"ALTER TABLE job ADD COLUMN asked_rate TEXT NOT NULL DEFAULT '';"
	"UPDATE job SET asked_rate=rate",
	"ALTER TABLE job ADD COLUMN said INTEGER NOT NULL DEFAULT 0;"
	"UPDATE job SET said=1 WHERE sends=2 AND began>0",
	"CREATE INDEX job_outcome ON job(state) WHERE state>=5",
	"ALTER TABLE job ADD COLUMN stream INTEGER NOT NULL DEFAULT 0",
	"CREATE INDEX job_fallen ON job(after) WHERE state=6 AND began=0",
	"ALTER TABLE job RENAME COLUMN far TO delegated",
};

#define VERSIONS (sizeof(grown) / sizeof(grown[0]))

static void make_version(uint32_t version)
{
	char told[WH_DATABASE_TOLD_BYTES], note[80];
	sqlite3 *database;

	strcpy(rig.folder, "/dev/shm/wavehaul-queue-XXXXXX");
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(rig.folder));
	snprintf(rig.path, sizeof(rig.path), "%s/service.db", rig.folder);
	CU_ASSERT_EQUAL_FATAL(wh_database_open(&database, rig.path, told), 0);
	for (uint32_t i = 0; i < version && i < VERSIONS; i++)
		CU_ASSERT_EQUAL_FATAL(wh_database_run(database, grown[i]), 0);
	snprintf(note, sizeof(note), "INSERT INTO room VALUES('queue',%u)", version);
	CU_ASSERT_EQUAL_FATAL(wh_database_run(database, note), 0);
	wh_database_close(database);
}

static void test_versions(void)
{
	char told[WH_DATABASE_TOLD_BYTES];
	struct wh_order order;

	for (uint32_t version = 1; version <= VERSIONS; version++) {
		wh_take_down();
		make_version(version);
		open_queue();
		CU_ASSERT_EQUAL_FATAL(wh_queue_find(rig.queue, 1, &order), 0);
		CU_ASSERT_STRING_EQUAL(order.here, "[\"a\"]");
		CU_ASSERT_STRING_EQUAL(order.there, "[\"b\"]");
		wh_order_free(&order);
		CU_ASSERT(order.state == WH_ORDER_WAITING && order.owner == 7 && order.sends);
		CU_ASSERT(order.priority == 6 && order.retries == 3 && order.tries == 1);
		CU_ASSERT(order.due_s == NOW + 10 && order.result.moved_bytes == 5);
		CU_ASSERT(order.as_name == (version > 1) && !wh_order_is_accepted(&order));
		CU_ASSERT_STRING_EQUAL(order.host, "dtn2");
		CU_ASSERT_STRING_EQUAL(order.rate, "2G");
		CU_ASSERT_STRING_EQUAL(order.asked_rate, "2G");
		if (version > 3) {
			order = look(2);
			CU_ASSERT(order.copies && order.delegated == 9 && order.said);
			CU_ASSERT(order.wish == WH_WISH_CANCEL);
			CU_ASSERT_STRING_EQUAL(order.token, "aa");
		}
		CU_ASSERT_EQUAL(next(NOW + 10, "dtn3"), 1);
	}
	/* A later one is refused, and stays as it is. */
	wh_take_down();
	make_version(VERSIONS + 1);
	CU_ASSERT_EQUAL_FATAL(wh_database_open(&rig.database, rig.path, told), 0);
	CU_ASSERT_EQUAL(wh_queue_open(&rig.queue, rig.database, NOW), -ENOTSUP);
	CU_ASSERT_PTR_NULL(rig.queue);
	CU_ASSERT_EQUAL(wh_database_run(rig.database, "UPDATE job SET said=0 WHERE id=2"), 0);
	CU_ASSERT_EQUAL(sqlite3_changes(rig.database), 1);
}

CU_TestInfo wh_tests[] = {
	{"which is next", test_order},
	{"not before, and after another", test_time_and_followers},
	{"more followers than a list has", test_many_followers},
	{"followers that are paused", test_paused_followers},
	{"followers that nobody has told", test_untold_followers},
	{"tries with growing pauses", test_retries},
	{"a clock that steps", test_clock_steps},
	{"pause, resume, cancel", test_wishes},
	{"another process takes over", test_accepted},
	{"thirty days after the end", test_forgotten},
	{"10^4 orders cost no more each", test_flat},
	{"tokens of peers' orders", test_tokens},
	{"orders that another queue has", test_delegated},
	{"streams are not tried twice", test_stream},
	{"what earlier versions kept, and later ones", test_versions},
	CU_TEST_INFO_NULL,
};
