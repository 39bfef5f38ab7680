/* SPDX-License-Identifier: BSD-3-Clause */

/* The queue's commands on the control socket. */

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/address_text.h"
#include "cli/complain.h"
#include "cli/exit.h"
#include "control/served.h"
#include "journal/database.h"
#include "queue/runner.h"
#include "telemetry/live.h"
#include "transfer/order_words.h"

/* Most orders in one answer; the rest is requested with the last id. */
#define LIST_MAX 100

/* Most bytes of orders' lists in one answer: the client receives them at once. */
#define LIST_BYTES ((size_t)256 << 10)

#define RETRIES_MAX 1000

static void fail(struct wh_control_call *call, uint64_t id, int rc)
{
	if (rc == -ENOENT)
		wh_control_fail(
			call, WH_EXIT_OTHER, "there is no job %llu", (unsigned long long)id);
	else if (rc == -EINVAL)
		wh_control_fail(call, WH_EXIT_OTHER,
			"job %llu is in a state that does not allow that", (unsigned long long)id);
	else
		wh_control_fail(call, WH_EXIT_OTHER, "cannot write the queue's database: %s",
			wh_database_why(rc));
}

static struct wh_runner *runner_of(struct wh_control_call *call)
{
	struct wh_runner *runner = call->context;

	if (runner->queue != NULL)
		return runner;
	wh_control_fail(call, WH_EXIT_OTHER,
		"this server has no queue; its log says why, and --state names its folder");
	return NULL;
}

/* For changes, which are acknowledged. */
static struct wh_runner *writable_of(struct wh_control_call *call)
{
	struct wh_runner *runner = runner_of(call);

	if (runner == NULL || !runner->replaced)
		return runner;
	wh_control_fail(call, WH_EXIT_OTHER,
		"the queue's database %s was replaced by another file: restart this server",
		runner->path);
	return NULL;
}

/* Another host's queue has it, and must be told of changes. */
static bool is_elsewhere(const struct wh_order *order)
{
	return order->copies && order->said && !wh_order_is_over(order->state);
}

/*
 * Begins the order, to send the request to the other host. If a cancel waits to be sent, a second
 * one gives the order up here.
 */
static int say_there(
	struct wh_runner *runner, const struct wh_order *order, enum wh_order_state state)
{
	bool paused = state == WH_ORDER_PAUSED;
	int rc;

	if (paused && order->state == WH_ORDER_PAUSED)
		return -EINVAL;
	if (!paused && order->wish == WH_WISH_CANCEL && order->state == WH_ORDER_WAITING) {
		rc = wh_queue_cancel(runner->queue, order->id, time(NULL));
		if (rc == 0)
			wh_runner_tell(runner, order->id, state, NULL);
		return rc;
	}
	rc = wh_queue_set_wish(runner->queue, order->id, paused ? WH_WISH_PAUSE : WH_WISH_CANCEL);
	runner->look_now = true;
	return rc < 0 ? rc : wh_queue_begin(runner->queue, order->id, time(NULL));
}

/* The job named in the request, if the client may change it; the caller frees it. */
static struct wh_runner *find_own(struct wh_control_call *call, struct wh_order *order)
{
	struct wh_runner *runner = writable_of(call);
	uint64_t id = wh_control_count(call, "job", 0);
	int rc = runner != NULL ? wh_queue_find(runner->queue, id, order) : -EINVAL;

	if (runner == NULL)
		return NULL;
	if (rc < 0) {
		fail(call, id, rc);
		return NULL;
	}
	if (call->administers || order->owner == call->uid)
		return runner;
	wh_control_fail(call, WH_EXIT_OTHER,
		"job %llu belongs to user %u: only that user, root and the server's user may "
		"change it",
		(unsigned long long)id, order->owner);
	wh_order_free(order);
	return NULL;
}

static char *text_of(const json_t *list)
{
	return list != NULL ? json_dumps(list, JSON_COMPACT) : strdup("[]");
}

/* Checks of an order between two other hosts, in addition to the common ones. */
static bool judge_copy(struct wh_control_call *call, const struct wh_order *order)
{
	const json_t *there = json_object_get(call->request, "there");
	const char *target = json_string_value(json_array_get(there, 0));
	char host[WH_HOST_BYTES] = "";
	const char *wrong = wh_order_words_wrong(json_object_get(call->request, "options"));

	if (json_object_get(call->request, "options") != NULL && wrong != NULL)
		wh_control_fail(call, WH_EXIT_USAGE, "%s", wrong);
	else if (order->attached)
		wh_control_fail(call, WH_EXIT_USAGE,
			"a copy runs on another host, and cannot be attached to this connection");
	else if (json_array_size(there) != 1 || wh_remote_path(target, host) == NULL)
		wh_control_fail(call, WH_EXIT_USAGE,
			"a copy has one target: HOST:PATH, where HOST is the name that the source "
			"host uses");
	else if (strlen(order->words) > WH_ORDER_WORDS_MAX)
		wh_control_fail(call, WH_EXIT_USAGE, "the options are too long for another host");
	return call->status == WH_EXIT_OK;
}

/*
 * Checks an order whose file is a stream. Its `here` is "-", and its client waits for its end,
 * since that client alone has the bytes.
 */
static bool judge_client(struct wh_control_call *call, const struct wh_order *order)
{
	const json_t *here = json_object_get(call->request, "here");
	const char *word = json_string_value(json_array_get(here, 0));

	if (!order->attached && wh_control_switch(call, "plot"))
		wh_control_fail(call, WH_EXIT_USAGE,
			"a picture is for the client to which a job is attached");
	else if (!order->stream)
		return true;
	else if (order->copies || !order->attached)
		wh_control_fail(call, WH_EXIT_USAGE,
			"a stream is sent or got, by a job that is attached to its client");
	else if (json_array_size(here) != 1 || strcmp(word != NULL ? word : "", "-") != 0)
		wh_control_fail(call, WH_EXIT_USAGE, "of a job with a stream, here is [\"-\"]");
	return call->status == WH_EXIT_OK;
}

/* Refuses an order that cannot succeed, before it is in the queue. */
static bool judge(
	struct wh_control_call *call, const struct wh_runner *runner, const struct wh_order *order)
{
	const json_t *there = json_object_get(call->request, "there");
	struct wh_timetable table;
	const char *wrong = wh_timetable_parse(order->rate, &table);
	int status = wrong == NULL ? wh_run_judge(&runner->ctx, order) : -1;

	if (wrong != NULL)
		wh_control_fail(call, WH_EXIT_USAGE, "the rate '%.200s' %s", order->rate, wrong);
	else if (!judge_client(call, order) || (order->copies && !judge_copy(call, order)))
		return false;
	else if (status != -1)
		wh_control_fail(call, status, "%s", wh_last_complaint());
	else if (!wh_paths_are_below(json_object_get(call->request, "here")))
		wh_control_fail(call, WH_EXIT_USAGE,
			"local paths are below the folder that the server serves, and written "
			"relative to it");
	else if (json_array_size(there) == 0)
		wh_control_fail(call, WH_EXIT_USAGE, "a job has a path at the host");
	return call->status == WH_EXIT_OK;
}

static bool take_verb(struct wh_control_call *call, struct wh_order *order)
{
	const char *verb = wh_control_text(call, "verb");
	const char *host = wh_control_text(call, "host");

	order->sends = strcmp(verb, "send") == 0;
	order->copies = strcmp(verb, "copy") == 0;
	if (!order->sends && !order->copies && strcmp(verb, "get") != 0)
		wh_control_fail(call, WH_EXIT_USAGE,
			"a job sends, gets or copies: verb is send, get or copy");
	else if (order->copies && !wh_token_draw(order->token))
		wh_control_fail(
			call, WH_EXIT_OTHER, "the system supplies no random numbers for a token");
	else if (host[0] == '\0' || strlen(host) >= sizeof(order->host))
		wh_control_fail(call, WH_EXIT_USAGE, "no host has that name");
	else if (strchr(host, '@') != NULL)
		wh_control_fail(call, WH_EXIT_USAGE,
			"a queue starts no server by ssh: leave out the user, or use send or get");
	else
		snprintf(order->host, sizeof(order->host), "%s", host);
	return call->status == WH_EXIT_OK;
}

static bool take_order(struct wh_control_call *call, struct wh_order *order)
{
	const char *rate = wh_control_text(call, "rate");

	*order = (struct wh_order){
		.owner = call->uid,
		.attached = wh_control_switch(call, "attached"),
		.stream = json_object_get(call->request, "stream") != NULL,
		.priority = (uint32_t)wh_min_u64(
			wh_control_count(call, "priority", WH_PRIORITY_STANDARD), WH_PRIORITY_MAX),
		.after = wh_control_count(call, "after", 0),
		.retries = (uint32_t)wh_min_u64(wh_control_count(call, "retries", 0), RETRIES_MAX),
		.due_s = (int64_t)wh_control_count(call, "not_before", 0),
	};
	if (!take_verb(call, order))
		return false;
	if (rate != NULL && strlen(rate) >= sizeof(order->rate)) {
		wh_control_fail(call, WH_EXIT_USAGE, "the rate is too long");
		return false;
	}
	snprintf(order->rate, sizeof(order->rate), "%s", rate != NULL ? rate : "max");
	order->here = text_of(json_object_get(call->request, "here"));
	order->there = text_of(json_object_get(call->request, "there"));
	order->words = text_of(json_object_get(call->request, "options"));
	return order->here != NULL && order->there != NULL && order->words != NULL;
}

/*
 * Takes the connection whose bytes the order moves. From then on the connection ends with the
 * order.
 */
static bool take_stream(
	struct wh_control_call *call, struct wh_runner *runner, struct wh_run_client *has)
{
	has->stream_fd = wh_control_take_stream(
		runner->control, wh_control_count(call, "stream", 0), call->uid);
	if (has->stream_fd >= 0)
		return true;
	wh_control_fail(call, WH_EXIT_USAGE,
		"no connection of this user is that stream; its client may have gone");
	return false;
}

/* Gives a judged order its number, and what it takes over from its client. */
static void enqueue(
	struct wh_control_call *call, struct wh_runner *runner, const struct wh_order *order)
{
	struct wh_run_client has = {.stream_fd = -1, .draws = wh_control_switch(call, "plot")};
	uint64_t id = 0;
	int rc;

	if (order->stream && !take_stream(call, runner, &has))
		return;
	rc = wh_queue_add(runner->queue, order, time(NULL), &id);
	if (rc < 0)
		fail(call, order->after, rc);
	else if (order->attached &&
		 (call->client == NULL ||
			 !wh_runner_attach(runner, call->client->number, id, &has))) {
		/* An attached order ends with its client, and this one would have none. */
		(void)wh_queue_cancel(runner->queue, id, time(NULL));
		wh_control_fail(call, WH_EXIT_OTHER, "too many clients have jobs");
	} else {
		json_object_set_new(call->answer, "job", json_integer((json_int_t)id));
		if (wh_control_switch(call, "watch"))
			wh_control_watch(call, id);
	}
	if (call->status != WH_EXIT_OK && has.stream_fd >= 0)
		close(has.stream_fd);
}

static void add(struct wh_control_call *call)
{
	struct wh_runner *runner = writable_of(call);
	struct wh_order order;

	if (runner == NULL)
		return;
	if (take_order(call, &order) && judge(call, runner, &order)) {
		enqueue(call, runner, &order);
		runner->look_now = true;
	}
	wh_order_free(&order);
}

static void be_stream(struct wh_control_call *call)
{
	if (call->client == NULL)
		return;
	wh_control_be_stream(call);
	json_object_set_new(call->answer, "stream", json_integer((json_int_t)call->client->number));
}

static void list(struct wh_control_call *call)
{
	struct wh_runner *runner = runner_of(call);
	uint64_t id = wh_control_count(call, "from", 0);
	bool over = wh_control_switch(call, "all");
	json_t *jobs = json_array();
	uint64_t counts[WH_ORDER_STATES];
	json_t *sums = json_object();
	struct wh_order order;
	size_t bytes = 0;

	for (uint32_t i = 0; runner != NULL && i < LIST_MAX && bytes < LIST_BYTES &&
			     wh_queue_after(runner->queue, id, over, &order) == 0;
		i++) {
		bytes += wh_order_bytes(&order);
		json_array_append_new(
			jobs, wh_order_json(&order, wh_runner_find(runner, order.id)));
		id = order.id;
		wh_order_free(&order);
	}
	if (runner != NULL && wh_queue_counts(runner->queue, counts) == 0)
		for (uint32_t i = 0; i < WH_ORDER_STATES; i++)
			json_object_set_new(sums, wh_order_state_name((enum wh_order_state)i),
				json_integer((json_int_t)counts[i]));
	json_object_set_new(call->answer, "jobs", jobs);
	json_object_set_new(call->answer, "counts", sums);
}

static void show(struct wh_control_call *call)
{
	struct wh_runner *runner = runner_of(call);
	uint64_t id = wh_control_count(call, "job", 0);
	struct wh_order order;
	int rc = runner != NULL ? wh_queue_find(runner->queue, id, &order) : 0;

	if (runner == NULL)
		return;
	if (rc < 0) {
		fail(call, id, rc);
		return;
	}
	json_object_set_new(call->answer, "job", wh_order_json(&order, wh_runner_find(runner, id)));
	wh_order_free(&order);
}

/*
 * A running order is stopped and then gets that state; otherwise the store decides whether it may.
 */
static void stop_to(struct wh_control_call *call, enum wh_order_state state)
{
	struct wh_order order;
	struct wh_runner *runner = find_own(call, &order);
	struct wh_run *run = runner != NULL ? wh_runner_find(runner, order.id) : NULL;
	int rc = 0;

	if (runner == NULL)
		return;
	if (order.stream && state == WH_ORDER_PAUSED)
		wh_control_fail(call, WH_EXIT_OTHER,
			"job %llu moves a stream, whose bytes do not come twice: it can be "
			"cancelled, and not paused",
			(unsigned long long)order.id);
	else if (run != NULL)
		wh_runner_stop(runner, run, state);
	else if (is_elsewhere(&order))
		rc = say_there(runner, &order, state);
	else if (state == WH_ORDER_PAUSED)
		rc = wh_queue_pause(runner->queue, order.id);
	else
		rc = wh_queue_cancel(runner->queue, order.id, time(NULL));
	if (rc < 0)
		fail(call, order.id, rc);
	else if (call->status == WH_EXIT_OK && run == NULL && !is_elsewhere(&order))
		wh_runner_tell(runner, order.id, state, NULL);
	wh_order_free(&order);
}

static void pause_job(struct wh_control_call *call)
{
	stop_to(call, WH_ORDER_PAUSED);
}

static void cancel(struct wh_control_call *call)
{
	stop_to(call, WH_ORDER_CANCELLED);
}

static void begin_again(struct wh_control_call *call,
	int (*change)(struct wh_queue *queue, uint64_t id, int64_t now_s))
{
	struct wh_order order;
	struct wh_runner *runner = find_own(call, &order);
	int rc;

	if (runner == NULL)
		return;
	/* A pause that the other host was not told of is simply withdrawn. */
	if (order.copies && order.wish == WH_WISH_PAUSE && order.state == WH_ORDER_WAITING)
		change = wh_queue_retry;
	rc = change(runner->queue, order.id, time(NULL));
	if (rc == 0 && order.wish != WH_WISH_RUN && order.copies)
		rc = wh_queue_set_wish(runner->queue, order.id, WH_WISH_RUN);
	if (rc < 0)
		fail(call, order.id, rc);
	else
		wh_runner_tell(runner, order.id, WH_ORDER_READY, NULL);
	runner->look_now = true;
	wh_order_free(&order);
}

static void resume(struct wh_control_call *call)
{
	begin_again(call, wh_queue_resume);
}

static void retry(struct wh_control_call *call)
{
	begin_again(call, wh_queue_retry);
}

static void move(struct wh_control_call *call)
{
	struct wh_order order;
	struct wh_runner *runner = find_own(call, &order);
	int rc;

	if (runner == NULL)
		return;
	rc = wh_queue_move(runner->queue, order.id,
		(uint32_t)wh_min_u64(
			wh_control_count(call, "priority", order.priority), WH_PRIORITY_MAX),
		wh_control_count(call, "before", 0));
	if (rc < 0)
		fail(call, wh_control_count(call, "before", 0), rc);
	wh_order_free(&order);
}

/* Stores the rate, and applies it at once to a running order. */
static void set_rate(struct wh_control_call *call, const struct wh_runner *runner,
	const struct wh_order *order, struct wh_run *run)
{
	const char *rate = wh_control_text(call, "rate");
	struct wh_timetable table;
	const char *wrong = wh_timetable_parse(rate, &table);
	int rc = 0;

	if (wrong != NULL || strlen(rate) >= WH_ORDER_RATE_BYTES)
		wh_control_fail(call, WH_EXIT_USAGE, "the rate '%.200s' %s", rate,
			wrong != NULL ? wrong : "is too long");
	else
		rc = wh_queue_rate(runner->queue, order->id, rate);
	if (rc < 0)
		fail(call, order->id, rc);
	if (call->status == WH_EXIT_OK && run != NULL)
		json_object_set_new(
			call->answer, "now", json_boolean(wh_run_change(run, rate, time(NULL))));
}

/* Sets an option of the running try only: the next one uses the order's own options. */
static void set_option(
	struct wh_control_call *call, const struct wh_order *order, struct wh_run *run)
{
	uint64_t session;

	if (order->copies)
		wh_control_fail(call, WH_EXIT_OTHER,
			"job %llu runs in the queue of %s, where an option of its profile changes",
			(unsigned long long)order->id, order->host);
	else if (run != NULL && run->transfer.running.lanes.started > 0 &&
		 wh_tel_job_session(run->transfer.running.lanes.job[0], &session))
		wh_served_set_option(call, session);
	else
		wh_control_fail(call, WH_EXIT_OTHER,
			"job %llu is not transferring now, and options can change only during a "
			"transfer; set them with job add",
			(unsigned long long)order->id);
}

static void set(struct wh_control_call *call)
{
	struct wh_order order;
	struct wh_runner *runner = find_own(call, &order);
	bool has_rate = json_object_get(call->request, "rate") != NULL;
	struct wh_run *run;

	if (runner == NULL)
		return;
	run = wh_runner_find(runner, order.id);
	if (has_rate)
		set_rate(call, runner, &order, run);
	if (!has_rate || json_object_get(call->request, "option") != NULL)
		set_option(call, &order, run);
	wh_order_free(&order);
}

static void run_rpc(struct wh_control_call *call)
{
	struct wh_runner *runner = call->context;

	wh_rpcs_begin(&runner->rpcs, call);
}

#define JOB                                                                                        \
	{                                                                                          \
		"job", WH_CONTROL_COUNT, true, "its number"                                        \
	}

static const struct wh_control_command commands[] = {
	{.name = "job.add",
		.words = "job add <verb> <host> <here> <there> [rate <rate>] [priority <priority>] "
			 "[after <after>] [options <options...>]",
		.help = "an order to the queue; answers with its number",
		.run = add,
		.argument = {{"verb", WH_CONTROL_TEXT, true, "send, get or copy"},
			{"host", WH_CONTROL_TEXT, true, "an address, or a trusted peer's name"},
			{"here", WH_CONTROL_TEXTS, true,
				"paths below the server's root; of copy, below the host's"},
			{"there", WH_CONTROL_TEXTS, true,
				"paths at the host; of copy, HOST:PATH of a third one"},
			{"options", WH_CONTROL_TEXTS, false, "as --parallel=4, see wavehaul job"},
			{"rate", WH_CONTROL_TEXT, false, "a rate, or a timetable"},
			{"priority", WH_CONTROL_COUNT, false, "0 to 9, the highest first; 5"},
			{"not_before", WH_CONTROL_COUNT, false, "seconds since 1970"},
			{"after", WH_CONTROL_COUNT, false, "when that job is done"},
			{"retries", WH_CONTROL_COUNT, false, "other tries after failures; 0"},
			{"attached", WH_CONTROL_SWITCH, false, "ends with this connection"},
			{"stream", WH_CONTROL_COUNT, false,
				"of another connection, which has the bytes; here is [\"-\"]"},
			{"plot", WH_CONTROL_SWITCH, false,
				"an event `picture` of an attached job has it as SVG"},
			{"watch", WH_CONTROL_SWITCH, false, "its events follow"}}},
	{.name = "stream",
		.help = "this connection becomes the bytes of a job, after the answer with its "
			"number",
		.run = be_stream},
	{.name = "job.list",
		.words = "show orders [all] | job list [all]",
		.help = "jobs by number, 100 at most, and how many there are",
		.run = list,
		.argument = {{"from", WH_CONTROL_COUNT, false, "those after this number"},
			{"all", WH_CONTROL_SWITCH, false, "those that are over, too"}}},
	{.name = "job.show",
		.words = "show order <job> | job show <job>",
		.help = "one job",
		.run = show,
		.argument = {JOB}},
	{.name = "job.pause",
		.words = "pause <job...> | job pause <job...>",
		.help = "it stops, or does not begin, until it is resumed",
		.run = pause_job,
		.argument = {JOB}},
	{.name = "job.resume",
		.words = "resume <job...> | job resume <job...>",
		.help = "a paused job may run again",
		.run = resume,
		.argument = {JOB}},
	{.name = "job.cancel",
		.words = "cancel <job...> | job cancel <job...>",
		.help = "it ends for good",
		.run = cancel,
		.argument = {JOB}},
	{.name = "job.retry",
		.words = "retry <job...> | job retry <job...>",
		.help = "one that failed, was cancelled or waits begins at once, with all its "
			"tries",
		.run = retry,
		.argument = {JOB}},
	{.name = "job.move",
		.words = "job move <job> [before <before>] [priority <priority>]",
		.help = "another place in the queue",
		.run = move,
		.argument = {JOB, {"priority", WH_CONTROL_COUNT, false, "as of job.add"},
			{"before", WH_CONTROL_COUNT, false, "that job; else behind all"}}},
	{.name = "job.set",
		.words = "set rate <job> <rate...> | job set <job> <rate...> | "
			 "set job <job> profile <option> <value>",
		.help = "another rate (now: whether what runs already goes by it), or while it "
			"runs another value of an option of its profile",
		.run = set,
		.argument = {JOB, {"rate", WH_CONTROL_TEXT, false, "as of job.add"},
			{"option", WH_CONTROL_TEXT, false, "as of session.set"},
			{"value", WH_CONTROL_TEXT, false, "of that"}}},
	{.name = "rpc",
		.help = "looks at a host's tree, or changes it; events item, fault, ping, and over "
			"at "
			"its end",
		.run = run_rpc,
		.argument = {{"verb", WH_CONTROL_TEXT, true, "ls, du, rm, mkdir, mv or ping"},
			{"host", WH_CONTROL_TEXT, true, "an address, or a trusted peer's name"},
			{"paths", WH_CONTROL_TEXTS, true, "there; of ping none"},
			{"options", WH_CONTROL_TEXTS, false, "--recursive, and timeouts"},
			{"count", WH_CONTROL_COUNT, false, "of pings"},
			{"interval_ns", WH_CONTROL_COUNT, false, "between them"}}},
};

void wh_runner_add(struct wh_control_tables *tables, struct wh_runner *runner)
{
	wh_control_add(tables, commands, sizeof(commands) / sizeof(commands[0]), runner);
}
