/* SPDX-License-Identifier: BSD-3-Clause */
#include "queue/runner.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <rte_cycles.h>

#include "base/assert.h"
#include "base/clock.h"
#include "cli/exit.h"
#include "cli/json.h"
#include "cli/moment/system_clock.h"
#include "journal/database.h"
#include "queue/accepted.h"

/* Interval of looks at running orders; and at a queue in which nothing is due. */
#define RUNNING_MS 5
#define RESTING_MS 1000

#define FORGET_EVERY_S 3600

/* At least so often the queue is looked at: the clock may be set back, or on. */
#define LOOK_EVERY_S 60

/* Until an end that the database did not accept is written again. */
#define END_AGAIN_S 2

/* Orders begun in one turn, so that other work gets its turn. */
#define BEGUN_IN_TURN 8

bool wh_runner_owns(void *context, uint32_t uid, const void *job)
{
	const struct wh_runner *runner = context;

	for (uint32_t i = 0; i < runner->runs; i++) {
		const struct wh_lanes *lanes = &runner->run[i]->transfer.running.lanes;

		for (uint32_t lane = 0; lane < lanes->started; lane++)
			if (lanes->job[lane] == job && runner->run[i]->order.owner == uid)
				return true;
	}
	return false;
}

static json_t *seconds_or_null(int64_t seconds)
{
	return seconds != 0 ? json_integer(seconds) : json_null();
}

/* Of a longer list only the first few texts are shown. */
#define LIST_TOLD_BYTES ((size_t)64 << 10)
#define LIST_TOLD       16

/* *untold: incremented by the number of omitted texts. */
static json_t *list_of(const char *text, json_int_t *untold)
{
	json_t *list = json_loads(text, 0, NULL);

	for (; strlen(text) > LIST_TOLD_BYTES && json_array_size(list) > LIST_TOLD; (*untold)++)
		json_array_remove(list, json_array_size(list) - 1);
	return list != NULL ? list : json_array();
}

size_t wh_order_bytes(const struct wh_order *order)
{
	return wh_min_u64(strlen(order->here), LIST_TOLD_BYTES) +
	       wh_min_u64(strlen(order->there), LIST_TOLD_BYTES) +
	       wh_min_u64(strlen(order->words), LIST_TOLD_BYTES);
}

static const char *verb_of(const struct wh_order *order)
{
	if (order->copies)
		return "copy";
	return order->sends ? "send" : "get";
}

/* Moved so far by its run, here or elsewhere. */
static uint64_t moved_by(struct wh_run *run)
{
	if (run->delegated.on)
		return wh_min_u64(wh_delegated_status(run).moved_bytes, INT64_MAX);
	return wh_lanes_moved_bytes(&run->transfer.running.lanes);
}

/* In the queue of the host that it was given to, as that said last; NULL: it has not. */
static const char *delegated_state(struct wh_run *run)
{
	static const char *const names[] = {
		[WH_ORDER_STATUS_WAITS] = "waiting",
		[WH_ORDER_STATUS_PAUSED] = "paused",
		[WH_ORDER_STATUS_RUNS] = "running",
	};
	uint8_t state = run != NULL && run->delegated.on ? wh_delegated_status(run).state : 0;

	return state < RTE_DIM(names) ? names[state] : NULL;
}

/* For an order that another queue has, or that a peer gave. */
static void add_others(json_t *object, const struct wh_order *order, struct wh_run *run)
{
	const char *state = delegated_state(run);

	if (order->copies) {
		json_object_set_new(object, "delegated_job",
			order->delegated != 0 ? json_integer((json_int_t)order->delegated)
					      : json_null());
		json_object_set_new(object, "delegated_state",
			state != NULL ? json_string(state) : json_null());
	}
	if (wh_order_is_accepted(order))
		json_object_set_new(object, "ordered_by", wh_word_to_json(order->peer));
}

static json_t *known_or_null(double value)
{
	return value >= 0 ? json_real(value) : json_null();
}

/* How far the run has come; another queue does not tell. */
static void add_stage(json_t *object, struct wh_run *run)
{
	struct wh_transfer_stage stage = {.percent = -1, .eta_s = -1, .now_bps = -1};

	if (run != NULL && !run->delegated.on)
		stage = wh_transfer_stage(&run->transfer);
	json_object_set_new(object, "percent", known_or_null(stage.percent));
	json_object_set_new(object, "now_bps", known_or_null(stage.now_bps));
	json_object_set_new(object, "eta_s", known_or_null(stage.eta_s));
}

static struct wh_runner_attached *attached_of(struct wh_runner *runner, uint64_t order)
{
	for (uint32_t i = 0; i < WH_RUNNER_CLIENTS_MAX; i++)
		if (runner->attached[i].order == order)
			return &runner->attached[i];
	return NULL;
}

bool wh_runner_attach(
	struct wh_runner *runner, uint64_t client, uint64_t order, const struct wh_run_client *has)
{
	struct wh_runner_attached *place = attached_of(runner, 0);

	if (place == NULL)
		return false;
	*place = (struct wh_runner_attached){order, client, *has};
	return true;
}

/* The client of an order is told nothing more, and its stream is closed. */
static void detach(struct wh_runner *runner, uint64_t order)
{
	struct wh_runner_attached *attached = attached_of(runner, order);

	if (attached == NULL || order == 0)
		return;
	if (attached->has.stream_fd >= 0)
		close(attached->has.stream_fd);
	*attached = (struct wh_runner_attached){0};
}

json_t *wh_order_json(const struct wh_order *order, struct wh_run *run)
{
	const struct wh_order_result *result = &order->result;
	uint64_t moved_bytes = result->moved_bytes;
	json_int_t untold = 0;
	/* Texts of a row may be invalid UTF-8. */
	json_t *object = json_pack("{s:I, s:s, s:s, s:o, s:i, s:o, s:I, s:I, s:I, s:b}", "job",
		(json_int_t)order->id, "state", wh_order_state_name(order->state), "verb",
		verb_of(order), "host", wh_word_to_json(order->host), "priority",
		(int)order->priority, "rate", wh_word_to_json(order->rate), "tries",
		(json_int_t)order->tries, "retries", (json_int_t)order->retries, "owner",
		(json_int_t)order->owner, "attached", order->attached);

	json_object_set_new(object, "stream", json_boolean(order->stream));

	/* Another queue may report any number. */
	if (run != NULL)
		moved_bytes = wh_min_u64(moved_bytes + moved_by(run), INT64_MAX);
	add_others(object, order, run);
	json_object_set_new(object, "here", list_of(order->here, &untold));
	json_object_set_new(object, "there", list_of(order->there, &untold));
	json_object_set_new(object, "options", list_of(order->words, &untold));
	if (untold > 0)
		json_object_set_new(object, "untold", json_integer(untold));
	json_object_set_new(object, "after",
		order->after != 0 ? json_integer((json_int_t)order->after) : json_null());
	json_object_set_new(object, "due",
		order->state == WH_ORDER_WAITING ? json_integer(order->due_s) : json_null());
	json_object_set_new(object, "added", json_integer(order->added_s));
	json_object_set_new(object, "began", seconds_or_null(order->began_s));
	json_object_set_new(object, "ended", seconds_or_null(order->ended_s));
	json_object_set_new(object, "exit_status", json_integer(result->status));
	json_object_set_new(object, "error", wh_text_to_json(result->why));
	json_object_set_new(object, "files", json_integer((json_int_t)result->files));
	json_object_set_new(object, "skipped", json_integer((json_int_t)result->skipped));
	json_object_set_new(object, "failed", json_integer((json_int_t)result->failed));
	json_object_set_new(object, "bytes", json_integer((json_int_t)result->bytes));
	json_object_set_new(object, "moved_bytes", json_integer((json_int_t)moved_bytes));
	json_object_set_new(object, "seconds", json_real((double)result->run_ns / 1e9));
	json_object_set_new(object, "rate_bps",
		run != NULL ? json_integer((json_int_t)run->rate_bps) : json_null());
	add_stage(object, run);
	return object;
}

void wh_runner_tell(struct wh_runner *runner, uint64_t id, enum wh_order_state state,
	const struct wh_order_result *result)
{
	json_t *event = json_pack("{s:s, s:I, s:s}", "event", "job", "job", (json_int_t)id, "state",
		wh_order_state_name(state));

	if (result != NULL) {
		json_object_set_new(event, "exit_status", json_integer(result->status));
		json_object_set_new(event, "error", wh_text_to_json(result->why));
	}
	wh_control_tell(runner->control, id, event);
	if (wh_order_is_over(state))
		detach(runner, id);
}

/* An order failed with the one that it follows. */
static void on_fallen(void *context, uint64_t id, const char *why)
{
	struct wh_order_result result = {.status = WH_EXIT_OTHER};

	snprintf(result.why, sizeof(result.why), "%s", why);
	wh_runner_tell(context, id, WH_ORDER_FAILED, &result);
}

/* Whether the order's client, if there is one, reads as fast as events come. */
static bool is_read(const struct wh_runner *runner, const struct wh_runner_attached *attached)
{
	return attached == NULL || attached->client == 0 ||
	       wh_control_has_room(runner->control, attached->client);
}

/* A client that is slow, or stopped, misses events of single files: it is not let go for them. */
static void tell_events(struct wh_runner *runner, struct wh_run *run)
{
	const struct wh_runner_attached *attached = attached_of(runner, run->order.id);
	json_t *events = wh_run_events(run);

	for (size_t i = 0; i < json_array_size(events); i++) {
		json_t *event = json_array_get(events, i);

		if (!is_read(runner, attached) && wh_run_leave_untold(run, event))
			continue;
		json_object_set_new(event, "job", json_integer((json_int_t)run->order.id));
		wh_control_tell(runner->control, run->order.id, json_incref(event));
	}
	json_decref(events);
}

/* Cancels an order that would be tried again, if its client has gone while it ran. */
static void end_unattended(struct wh_runner *runner, uint64_t id, int64_t now_s)
{
	const struct wh_runner_attached *attached = attached_of(runner, id);

	if (attached != NULL && attached->client == 0 &&
		wh_queue_cancel(runner->queue, id, now_s) == 0)
		wh_runner_tell(runner, id, WH_ORDER_CANCELLED, NULL);
}

/* Reports the end of an order with its lists, which `end` no longer has. */
static void tell_over(
	struct wh_runner *runner, const struct wh_runner_end *end, enum wh_order_state state)
{
	struct wh_order order;

	if (runner->on_over == NULL || wh_queue_find(runner->queue, end->order.id, &order) != 0)
		return;
	runner->on_over(runner->context, &order, &end->result, state);
	wh_order_free(&order);
}

/* Writes ended orders, and sends their events; with a full disk they wait. */
static void write_ends(struct wh_runner *runner, int64_t now_s)
{
	while (runner->ends > 0) {
		const struct wh_runner_end *end = &runner->end[runner->ends - 1];
		enum wh_order_state state;

		runner->next_end_s = now_s + END_AGAIN_S;
		if (wh_runner_trouble(runner, wh_queue_end(runner->queue, &end->order, &end->result,
						      end->wanted, now_s, &state)))
			return;
		wh_runner_tell(runner, end->order.id, state, &end->result);
		if (wh_order_is_over(state))
			tell_over(runner, end, state);
		end_unattended(runner, end->order.id, now_s);
		runner->ends--;
		runner->look_now = true;
	}
}

/* Stores an end, without the order's lists. */
static void note_end(struct wh_runner *runner, const struct wh_order *order,
	const struct wh_order_result *result, enum wh_order_state wanted)
{
	struct wh_runner_end *end = &runner->end[runner->ends++];

	WH_ASSERT(runner->ends + runner->runs <= WH_RUNS_MAX + 1 && runner->ends <= WH_RUNS_MAX);
	*end = (struct wh_runner_end){*order, *result, wanted};
	end->order.here = end->order.there = end->order.words = NULL;
}

/*
 * For an order that another queue has: stores its number there as soon as it is known, and that the
 * request was sent there. Once it has ended there it gets a new token, so that another try is a new
 * order.
 */
static void note_delegated(struct wh_runner *runner, struct wh_run *run)
{
	uint64_t number = wh_delegated_found_number(run);
	char token[WH_TOKEN_TEXT_BYTES];
	uint64_t id = run->order.id;

	if (number != 0)
		(void)wh_runner_trouble(runner,
			wh_queue_set_delegated(runner->queue, id, number, run->order.token));
	if (!run->order.said && atomic_load(&run->delegated.said)) {
		run->order.said = true;
		(void)wh_runner_trouble(runner, wh_queue_set_said(runner->queue, id));
	}
	if (run->delegated.over && run->order.wish != WH_WISH_RUN)
		(void)wh_runner_trouble(runner, wh_queue_set_wish(runner->queue, id, WH_WISH_RUN));
	if (run->delegated.over && run->wanted != WH_ORDER_DONE && wh_token_draw(token))
		(void)wh_runner_trouble(
			runner, wh_queue_set_delegated(runner->queue, id, 0, token));
}

/*
 * While a host has no room, one run in WH_ROOM_AGAIN_S finds that out, and not every order in the
 * queue. An order that ends there for another reason ends the pause.
 */
static void note_room(struct wh_runner *runner, const char *host, bool no_room, int64_t now_s)
{
	struct wh_runner_full *place = &runner->full[0];

	for (uint32_t i = 0; i < WH_RUNS_MAX; i++) {
		struct wh_runner_full *full = &runner->full[i];

		if (strcmp(full->host, host) == 0) {
			place = full;
			break;
		}
		if (full->until_s < place->until_s)
			place = full;
	}
	if (no_room) {
		snprintf(place->host, sizeof(place->host), "%s", host);
		place->until_s = now_s + WH_ROOM_AGAIN_S;
	} else if (strcmp(place->host, host) == 0) {
		place->until_s = 0;
	}
}

/* Sends the picture to the order's client alone. */
static void tell_picture(struct wh_runner *runner, const struct wh_run *run)
{
	const struct wh_runner_attached *attached = attached_of(runner, run->order.id);

	if (attached == NULL || run->picture == NULL)
		return;
	wh_control_tell_client(runner->control, attached->client,
		json_pack("{s:s, s:I, s:o}", "event", "picture", "job", (json_int_t)run->order.id,
			"svg", wh_text_to_json(run->picture)));
}

/* Concludes the run, writes its end, sends its events and frees it. */
static void end_run(struct wh_runner *runner, uint32_t i, int64_t now_s)
{
	struct wh_run *run = runner->run[i];
	struct wh_order_result result;

	wh_run_conclude(run, &runner->ctx, &result);
	note_delegated(runner, run);
	if (runner->on_end != NULL)
		runner->on_end(runner->context, run, &result);
	tell_picture(runner, run);
	tell_events(runner, run);
	note_room(runner, run->order.host, result.no_room, now_s);
	note_end(runner, &run->order, &result, run->wanted);
	write_ends(runner, now_s);
	runner->lanes -= run->transfer.running.lanes.count;
	runner->run[i] = runner->run[--runner->runs];
	wh_run_free(run);
	runner->look_now = true;
}

/*
 * Stores that the target is a file name, before another try could take what exists there for a
 * folder.
 */
static void note_name(struct wh_runner *runner, struct wh_run *run)
{
	if (wh_run_found_name(run))
		(void)wh_runner_trouble(runner, wh_queue_as_name(runner->queue, run->order.id));
}

/* Counts the runs that wait for their hosts. They must not keep other runs from theirs. */
static uint32_t count_waiting(const struct wh_runner *runner, uint64_t now_tsc)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < runner->runs; i++)
		count += wh_run_waits(runner->run[i], now_tsc);
	return count;
}

static void look_at_runs(struct wh_runner *runner, uint64_t now_tsc, int64_t now_s)
{
	bool ends = atomic_load(&runner->ctx.jobs->hurry);
	bool drains = atomic_load(&runner->ctx.jobs->draining);
	bool may_wait = !drains && count_waiting(runner, now_tsc) < WH_RUNS_MAX / 2;

	for (uint32_t i = runner->runs; i-- > 0;) {
		struct wh_run *run = runner->run[i];

		/* A run elsewhere continues, and is followed again after the next start. */
		if (ends || (drains && run->delegated.on))
			wh_run_stop(run, WH_ORDER_READY, now_tsc);
		note_name(runner, run);
		if (run->delegated.on)
			note_delegated(runner, run);
		if (wh_run_look(run, &runner->ctx, now_tsc, now_s, may_wait))
			end_run(runner, i, now_s);
		else
			tell_events(runner, run);
	}
}

/* The upper bound is for a clock that was set back: it must not lengthen the pause. */
static bool is_full(const struct wh_runner_full *full, int64_t now_s)
{
	return now_s < full->until_s && full->until_s <= now_s + WH_ROOM_AGAIN_S;
}

/* Hosts that have the maximum number of running orders, or no room. */
static uint32_t busy_hosts(const struct wh_runner *runner, uint64_t now_tsc, int64_t now_s,
	const char *busy[2 * WH_RUNS_MAX])
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < WH_RUNS_MAX; i++)
		if (is_full(&runner->full[i], now_s))
			busy[count++] = runner->full[i].host;

	for (uint32_t i = 0; i < runner->runs; i++) {
		const char *host = runner->run[i]->order.host;
		uint32_t same = 0;

		for (uint32_t j = 0; j < runner->runs; j++)
			same += strcmp(runner->run[j]->order.host, host) == 0;
		/* One run that looks for the host is enough. */
		if (same >= runner->at_once_host || wh_run_waits(runner->run[i], now_tsc))
			busy[count++] = host;
	}
	return count;
}

/* False: there is none to begin now. */
static bool begin_next(struct wh_runner *runner, uint64_t now_tsc, int64_t now_s)
{
	const char *busy[2 * WH_RUNS_MAX];
	uint32_t count = busy_hosts(runner, now_tsc, now_s, busy);
	struct wh_order_result result;
	struct wh_order order;
	int rc = wh_queue_next(runner->queue, now_s, busy, count, &order);

	if (rc == -ENOENT)
		return false;
	if (wh_runner_trouble(runner, rc))
		return false;

	const struct wh_runner_attached *attached = attached_of(runner, order.id);
	const struct wh_run_client none = {.stream_fd = -1};
	struct wh_run *run = wh_run_begin(&runner->ctx, &order,
		attached != NULL ? &attached->has : &none, now_tsc, now_s, &result);

	if (run == NULL) {
		note_end(runner, &order, &result, WH_ORDER_FAILED);
		wh_order_free(&order);
		write_ends(runner, now_s);
		return runner->ends == 0;
	}
	runner->run[runner->runs++] = run;
	runner->lanes += run->transfer.running.lanes.count;
	note_name(runner, run);
	wh_runner_tell(runner, run->order.id, WH_ORDER_RUNNING, NULL);
	return true;
}

static bool has_room(const struct wh_runner *runner, uint64_t now_tsc)
{
	return runner->ends == 0 && runner->runs < WH_RUNS_MAX &&
	       runner->runs - count_waiting(runner, now_tsc) < runner->at_once &&
	       runner->lanes < WH_RUN_LANES_MAX && !atomic_load(&runner->ctx.jobs->draining);
}

/* Whether that time is to come: one that is further ahead than it was set is of another clock. */
static bool is_ahead(int64_t time_s, int64_t now_s, int64_t most_s)
{
	return now_s < time_s && time_s - now_s <= most_s;
}

static void begin_orders(struct wh_runner *runner, uint64_t now_tsc, int64_t now_s)
{
	uint32_t begun = 0;

	if (!runner->look_now && is_ahead(runner->next_look_s, now_s, LOOK_EVERY_S))
		return;
	while (has_room(runner, now_tsc) && begun < BEGUN_IN_TURN &&
		begin_next(runner, now_tsc, now_s))
		begun++;
	/* A database that accepts no writes is tried again later. */
	runner->look_now = begun == BEGUN_IN_TURN;
	runner->next_look_s = runner->failing ? now_s + 10 : wh_queue_due_s(runner->queue);
	for (uint32_t i = 0; i < WH_RUNS_MAX; i++)
		if (is_full(&runner->full[i], now_s))
			runner->next_look_s = (int64_t)wh_min_u64(
				(uint64_t)runner->next_look_s, (uint64_t)runner->full[i].until_s);
	runner->next_look_s =
		(int64_t)wh_min_u64((uint64_t)runner->next_look_s, (uint64_t)now_s + LOOK_EVERY_S);
}

/* If the clock was set back, ended orders are only kept longer. */
static void forget_old(struct wh_runner *runner, int64_t now_s)
{
	if (!wh_calendar_is_settled(&runner->calendar, now_s, wh_steady_s()) ||
		now_s < runner->next_forget_s)
		return;
	runner->next_forget_s = now_s + FORGET_EVERY_S;

	int rc = wh_queue_forget(runner->queue, now_s);

	if (rc != 0)
		(void)wh_runner_trouble(runner, rc);
}

uint32_t wh_runner_turn(void *context)
{
	struct wh_runner *runner = context;
	uint64_t now_tsc = rte_rdtsc();
	int64_t now_s = time(NULL);

	bool rpcs = wh_rpcs_look(&runner->rpcs, now_tsc);

	wh_runner_follow(runner, now_s);
	wh_accepted_answer(runner);
	if (runner->queue == NULL)
		return rpcs ? RUNNING_MS : RESTING_MS;
	wh_queue_on_fallen(runner->queue, on_fallen, runner); /* it may be another than before */
	if (!is_ahead(runner->next_end_s, now_s, END_AGAIN_S))
		write_ends(runner, now_s);
	look_at_runs(runner, now_tsc, now_s);
	begin_orders(runner, now_tsc, now_s);
	forget_old(runner, now_s);
	return runner->runs > 0 || runner->look_now || rpcs ? RUNNING_MS : RESTING_MS;
}

void wh_runner_stop(struct wh_runner *runner, struct wh_run *run, enum wh_order_state state)
{
	if (run->delegated.on) {
		/* In case we end before: the next process will send it. */
		run->order.wish = state == WH_ORDER_PAUSED ? WH_WISH_PAUSE : WH_WISH_CANCEL;
		(void)wh_runner_trouble(
			runner, wh_queue_set_wish(runner->queue, run->order.id, run->order.wish));
	}
	wh_run_stop(run, state, rte_rdtsc());
}

static void stop_order(struct wh_runner *runner, uint64_t id)
{
	struct wh_run *run = wh_runner_find(runner, id);

	if (run != NULL)
		wh_runner_stop(runner, run, WH_ORDER_CANCELLED);
	else if (wh_queue_cancel(runner->queue, id, time(NULL)) == 0)
		wh_runner_tell(runner, id, WH_ORDER_CANCELLED, NULL);
}

void wh_runner_on_gone(void *context, uint64_t client)
{
	struct wh_runner *runner = context;

	wh_rpcs_on_gone(&runner->rpcs, client, rte_rdtsc());
	for (uint32_t i = 0; i < WH_RUNNER_CLIENTS_MAX; i++) {
		struct wh_runner_attached *attached = &runner->attached[i];

		if (attached->order == 0 || attached->client != client)
			continue;
		attached->client = 0;
		stop_order(runner, attached->order);
		runner->look_now = true;
	}
}

void wh_runner_close(struct wh_runner *runner)
{
	struct wh_order_result result;
	enum wh_order_state state;

	wh_rpcs_close(&runner->rpcs);
	while (runner->runs > 0) {
		struct wh_run *run = runner->run[--runner->runs];

		if (run->wanted == WH_ORDER_FAILED)
			run->wanted = WH_ORDER_READY;
		wh_run_conclude(run, &runner->ctx, &result);
		if (runner->on_end != NULL)
			runner->on_end(runner->context, run, &result);
		(void)wh_runner_trouble(runner, wh_queue_end(runner->queue, &run->order, &result,
							run->wanted, time(NULL), &state));
		wh_run_free(run);
	}
	for (uint32_t i = 0; i < WH_RUNNER_CLIENTS_MAX; i++)
		detach(runner, runner->attached[i].order);
	/* What cannot be written even now is run again after the next start. */
	write_ends(runner, time(NULL));
	wh_queue_close(runner->queue);
	wh_database_close(runner->database);
	runner->queue = NULL;
	runner->database = NULL;
}
