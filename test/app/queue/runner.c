/* SPDX-License-Identifier: BSD-3-Clause */

/* The queue at work, on a database that takes what it is told to take. */

#include "queue/runner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "unit.h"

const char wh_suite_name[] = "app/queue/runner";

static struct wh_control_socket control;
static struct wh_jobs jobs;
static struct wh_runner runner;
static char folder[40];
static uint32_t commits_left;

/* As a disk that is full: not 0 takes the transaction back. */
static int on_commit(void *context)
{
	(void)context;
	if (commits_left == 0)
		return 1;
	commits_left--;
	return 0;
}

static void open_runner(void)
{
	strcpy(folder, "/dev/shm/wavehaul-runner-XXXXXX");
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
	for (uint32_t i = 0; i < WH_CONTROL_CLIENTS_MAX; i++)
		control.client[i].fd = -1;
	runner = (struct wh_runner){
		.control = &control, .ctx.jobs = &jobs, .at_once = 4, .at_once_host = 4};
	wh_runner_open(&runner, folder);
	CU_ASSERT_PTR_NOT_NULL_FATAL(runner.queue);
	wh_runner_add(&control.tables, &runner);
}

static void close_runner(void)
{
	char path[80];

	control.tables = (struct wh_control_tables){0};
	wh_runner_close(&runner);
	snprintf(path, sizeof(path), "%s/service.db", folder);
	unlink(path);
	rmdir(folder);
}

/* One that cannot be begun: its path is not below the root. */
static uint64_t add_damaged(uint64_t after)
{
	struct wh_order order = {
		.host = "a",
		.rate = "max",
		.here = (char[]){"[\"/a\"]"},
		.there = (char[]){"[\"b\"]"},
		.words = (char[]){"[]"},
		.after = after,
	};
	uint64_t id = 0;

	CU_ASSERT_EQUAL_FATAL(wh_queue_add(runner.queue, &order, 1, &id), 0);
	return id;
}

static enum wh_order_state state_of(uint64_t id)
{
	struct wh_order order;

	CU_ASSERT_EQUAL_FATAL(wh_queue_find(runner.queue, id, &order), 0);
	wh_order_free(&order);
	return order.state;
}

/* A disk is full in the moment in which an order ends: it has ended once there is room. */
static void test_full_at_end(void)
{
	uint64_t first, follower, second;

	open_runner();
	first = add_damaged(0);
	follower = add_damaged(first);
	second = add_damaged(0);
	sqlite3_commit_hook(runner.database, on_commit, NULL);
	commits_left = 1; /* it begins, and no more */
	(void)wh_runner_turn(&runner);
	CU_ASSERT_EQUAL(state_of(first), WH_ORDER_RUNNING);
	CU_ASSERT_EQUAL(state_of(second), WH_ORDER_READY);
	CU_ASSERT_TRUE(runner.failing);
	commits_left = UINT32_MAX;
	runner.next_end_s = 0;
	(void)wh_runner_turn(&runner);
	CU_ASSERT_EQUAL(state_of(first), WH_ORDER_FAILED);
	CU_ASSERT_EQUAL(state_of(follower), WH_ORDER_FAILED);
	CU_ASSERT_EQUAL(state_of(second), WH_ORDER_FAILED);
	CU_ASSERT_FALSE(runner.failing);
	close_runner();
}

static json_t *ask(const char *line, struct wh_control_client *client)
{
	struct wh_control_call call = {.administers = true, .client = client};

	return wh_control_answer(&control.tables, line, strlen(line), &call);
}

/* One more than there are places for: what is told to have failed does not run. */
static void test_attached(void)
{
	static const char add[] = "{\"do\":\"job.add\",\"verb\":\"get\",\"host\":\"a\",\"here\":["
				  "\"a\"],\"there\":[\"b\"],\"attached\":true}";
	struct wh_settings *settings = calloc(1, sizeof(*settings));
	struct wh_control_client client = {.fd = -1, .number = 7};
	uint64_t counts[WH_ORDER_STATES];

	open_runner();
	runner.ctx.settings = settings;
	for (uint32_t i = 0; i <= WH_RUNNER_CLIENTS_MAX; i++) {
		json_t *answer = ask(add, &client);

		CU_ASSERT_EQUAL(
			json_is_true(json_object_get(answer, "ok")), i < WH_RUNNER_CLIENTS_MAX);
		json_decref(answer);
	}
	CU_ASSERT_EQUAL(wh_queue_counts(runner.queue, counts), 0);
	CU_ASSERT_EQUAL(counts[WH_ORDER_READY], WH_RUNNER_CLIENTS_MAX);
	CU_ASSERT_EQUAL(counts[WH_ORDER_CANCELLED], 1);
	wh_runner_on_gone(&runner, client.number);
	CU_ASSERT_EQUAL(wh_queue_counts(runner.queue, counts), 0);
	CU_ASSERT_EQUAL(counts[WH_ORDER_CANCELLED], WH_RUNNER_CLIENTS_MAX + 1);
	close_runner();
	free(settings);
}

/* Those who watch an order hear that it failed with the one before it, and its place is free. */
static void test_followers_told(void)
{
	struct wh_control_client *client = &control.client[0];
	uint64_t first, follower, last;
	char text[2000] = "";
	char wanted[80];
	int ends[2];

	open_runner();
	CU_ASSERT_EQUAL_FATAL(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	first = add_damaged(0);
	follower = add_damaged(first);
	last = add_damaged(follower);
	*client = (struct wh_control_client){.fd = ends[0], .number = 7, .watches = true};
	CU_ASSERT_TRUE(
		wh_runner_attach(&runner, 7, last, &(struct wh_run_client){.stream_fd = -1}));
	sqlite3_commit_hook(runner.database, on_commit, NULL);
	commits_left = 1; /* it begins, and its end is not written */
	(void)wh_runner_turn(&runner);
	CU_ASSERT_TRUE(runner.failing);
	CU_ASSERT_EQUAL(runner.attached[0].order, last);
	commits_left = UINT32_MAX;
	runner.next_end_s = 0;
	(void)wh_runner_turn(&runner);
	CU_ASSERT_TRUE(read(ends[1], text, sizeof(text) - 1) > 0);
	for (uint64_t id = first; id <= last; id++) {
		snprintf(wanted, sizeof(wanted), "\"job\":%u,\"state\":\"failed\"", (unsigned)id);
		CU_ASSERT_PTR_NOT_NULL(strstr(text, wanted));
	}
	snprintf(wanted, sizeof(wanted), "job %u, which it follows, did not succeed",
		(unsigned)follower);
	CU_ASSERT_PTR_NOT_NULL(strstr(text, wanted));
	CU_ASSERT_EQUAL(runner.attached[0].order, 0);
	close_runner();
	free(client->waiting);
	*client = (struct wh_control_client){.fd = -1};
	close(ends[0]);
	close(ends[1]);
}

/* The clock was hours ahead, and is set back: neither orders nor ends wait for those hours. */
static void test_clock_set_back(void)
{
	uint64_t id;

	open_runner();
	(void)wh_runner_turn(&runner);
	id = add_damaged(0);
	runner.look_now = false;
	runner.next_look_s = time(NULL) + 7200;
	sqlite3_commit_hook(runner.database, on_commit, NULL);
	commits_left = 1;
	(void)wh_runner_turn(&runner);
	CU_ASSERT_EQUAL(state_of(id), WH_ORDER_RUNNING);
	commits_left = UINT32_MAX;
	runner.next_end_s = time(NULL) + 7200;
	(void)wh_runner_turn(&runner);
	CU_ASSERT_EQUAL(state_of(id), WH_ORDER_FAILED);
	close_runner();
}

/* What had no room is counted, and that is told once. */
static void test_untold(void)
{
	struct wh_run run = {.lock = PTHREAD_MUTEX_INITIALIZER};
	json_t *events;

	run.events = json_pack("[{s:s}]", "event", "file");
	run.untold = 3;
	events = wh_run_events(&run);
	CU_ASSERT_EQUAL_FATAL(json_array_size(events), 2);
	CU_ASSERT_STRING_EQUAL(
		json_string_value(json_object_get(json_array_get(events, 1), "event")), "untold");
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(json_array_get(events, 1), "files")), 3);
	json_decref(events);
	events = wh_run_events(&run);
	CU_ASSERT_EQUAL(json_array_size(events), 0);
	json_decref(events);
	json_decref(run.events);
}

CU_TestInfo wh_tests[] = {
	{"untold", test_untold},
	{"a disk that is full when an order ends", test_full_at_end},
	{"orders of clients, one too many", test_attached},
	{"who follows one that failed", test_followers_told},
	{"a clock that is set back", test_clock_set_back},
	CU_TEST_INFO_NULL,
};
