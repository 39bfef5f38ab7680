/* SPDX-License-Identifier: BSD-3-Clause */
#include "queue/run.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/clock.h"
#include "bundle/beneath.h"
#include "cli/complain.h"
#include "cli/exit.h"
#include "cli/json.h"
#include "file/background.h"
#include "queue/giver.h"
#include "queue/queue_place.h"
#include "report/outcome.h"
#include "transfer/order_words.h"
#include "transfer/wanted.h"

/*
 * The rate of an order without one. It is faster than any line; only a job with a rate can get
 * another rate later.
 */
#define ANY_RATE_BPS UINT64_C(1000000000000)

static void fail(struct wh_order_result *result, int status, const char *why)
{
	result->status = status;
	snprintf(result->why, sizeof(result->why), "%s", why);
}

/* Only these are so many that some find no room. */
static bool is_of_file(const json_t *event)
{
	return strcmp(wh_json_text(event, "event"), "file") == 0;
}

/* Called by workers; the control's thread sends the event. */
static void on_event(void *context, json_t *line)
{
	struct wh_run *run = context;

	pthread_mutex_lock(&run->lock);
	if (!is_of_file(line) || json_array_size(run->events) < WH_RUN_EVENTS_MAX)
		json_array_append_new(run->events, line);
	else {
		run->untold++;
		json_decref(line);
	}
	pthread_mutex_unlock(&run->lock);
}

bool wh_run_leave_untold(struct wh_run *run, const json_t *event)
{
	if (strcmp(wh_json_text(event, "event"), "interval") == 0)
		return true;
	if (!is_of_file(event))
		return false;
	pthread_mutex_lock(&run->lock);
	run->untold++;
	pthread_mutex_unlock(&run->lock);
	return true;
}

json_t *wh_run_events(struct wh_run *run)
{
	pthread_mutex_lock(&run->lock);

	json_t *events = run->events;

	run->events = json_array();
	if (run->untold > 0)
		json_array_append_new(events, json_pack("{s:s, s:I}", "event", "untold", "files",
						      (json_int_t)run->untold));
	run->untold = 0;
	pthread_mutex_unlock(&run->lock);
	return events;
}

static bool read_lists(struct wh_run *run)
{
	const struct wh_order *order = &run->order;

	run->here = json_loads(order->here, 0, NULL);
	run->there = json_loads(order->there, 0, NULL);
	run->words = json_loads(order->words, 0, NULL);
	run->paths = calloc(json_array_size(run->here) + json_array_size(run->there) + 1,
		sizeof(run->paths[0]));
	return run->paths != NULL && wh_paths_are_below(run->here) &&
	       json_array_size(run->there) > 0;
}

static uint64_t rate_at(const struct wh_timetable *table, int64_t now_s)
{
	time_t now = (time_t)now_s;
	struct tm local;
	uint64_t bps;

	localtime_r(&now, &local);
	bps = wh_timetable_bps(table, &local);
	return wh_rate_is_paced(bps) ? bps : ANY_RATE_BPS;
}

/* A peer's order is limited to the peer's rate. */
static uint64_t rate_now(const struct wh_run *run, int64_t now_s)
{
	uint64_t bps = rate_at(&run->table, now_s);

	return wh_order_is_accepted(&run->order) ? wh_min_u64(bps, run->rights.rate_bps) : bps;
}

/*
 * If the target is no folder now, it is a file name for all lanes, even if the first creates a
 * folder.
 */
static bool is_name(int root_fd, const char *target)
{
	int fd = wh_beneath_resolve(root_fd, target, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0)
		close(fd);
	return fd == -ENOENT || fd == -ENOTDIR;
}

/* Arriving files are subject to the restrictions of the server's operator. */
static void bind_rules(struct wh_request *request, const struct wh_rules *own)
{
	request->rules.keeps &= own->keeps;
	request->rules.plain_names |= own->plain_names;
	request->rules.links_inside |= own->links_inside;
}

/*
 * A stream has no path here. What it brings has a name only at the peer, and what it takes is
 * written to no file.
 */
static struct wh_request of_stream(struct wh_run *run, struct wh_request request)
{
	static const char *const nowhere[] = {"."};

	request.here.is_pipe = true;
	request.here.is_shut = true;
	request.here.pipe_fd = run->client.stream_fd;
	request.here.pipe_s = time(NULL);
	request.there.as_name = run->order.sends;
	request.here.into_folder = !run->order.sends;
	request.here.path = nowhere;
	request.here.count = run->order.sends ? 0 : 1;
	return request;
}

static struct wh_request request_of(struct wh_run *run, const struct wh_run_host_ctx *ctx)
{
	const struct wh_order *order = &run->order;
	struct wh_request request = wh_wanted_request(
		&run->transfer.wanted.settings, order->sends ? WH_JOB_SEND : WH_JOB_GET);
	uint32_t here = (uint32_t)json_array_size(run->here);
	uint32_t there = (uint32_t)json_array_size(run->there);
	bool into_folder;

	request.ports = ctx->settings->ports;
	request.memory_bytes = ctx->memory_bytes;
	request.asks_first = order->tries > 1;
	request.rate_bps = run->rate_bps;
	if (run->orderer != NULL)
		request.shared_rate = &run->orderer->rate;
	request.here.root_fd = run->root_fd;
	request.here.path = run->paths;
	request.here.count = wh_texts_of(run->here, run->paths, here);
	request.there.path = run->paths + here;
	request.there.count = wh_texts_of(run->there, run->paths + here, there);
	if (order->stream)
		return of_stream(run, request);
	into_folder = wh_request_names_folder(&request);
	if (wh_request_is_by_match(&request))
		request.here.by_match = is_name(ctx->root_fd, run->paths[0]);
	if (!into_folder && !order->sends && !order->as_name)
		run->order.as_name = is_name(ctx->root_fd, run->paths[0]);
	if (order->sends) {
		request.there.into_folder = into_folder;
		request.there.as_name = order->as_name;
	} else {
		bind_rules(&request, &ctx->jobs->service->own.rules);
		request.here.into_folder = into_folder;
		request.here.as_name = order->as_name;
	}
	return request;
}

static void set_up_transfer(struct wh_run *run, const struct wh_run_host_ctx *ctx)
{
	struct wh_transfer *transfer = &run->transfer;

	transfer->wanted.verb = run->order.sends ? WH_VERB_SEND : WH_VERB_GET;
	transfer->wanted.dest_fd = -1;
	transfer->wanted.settings.json_stream = true;
	transfer->wanted.settings.no_guard = ctx->settings->no_guard;
	snprintf(transfer->wanted.server, sizeof(transfer->wanted.server), "%s", run->order.host);
	transfer->running.jobs = ctx->jobs;
	wh_flow_plot_begin(&transfer->running.plot, run->client.draws);
	wh_told_init(&transfer->told);
	transfer->told.on_event = on_event;
	transfer->told.context = run;
	transfer->told.progress.hz = ctx->jobs->ctx->hz;
}

/* The start event, as of --json-stream, with settings of the order and of its server. */
static void tell_start(struct wh_run *run, const struct wh_run_host_ctx *ctx)
{
	struct wh_settings *settings = &run->transfer.wanted.settings;

	settings->mtu_bytes = ctx->settings->mtu_bytes;
	snprintf(settings->timetable, sizeof(settings->timetable), "%s", run->order.rate);
	wh_transfer_tell_start(&run->transfer, ctx->host);
}

/* A later try has patience, but no retries of its own: the queue counts those. */
static void begin_waiting(struct wh_run *run, uint64_t now_tsc)
{
	struct wh_running *running = &run->transfer.running;
	uint32_t tries = run->order.tries;

	running->began_tsc = now_tsc;
	wh_retry_init(&running->retry, running->jobs->ctx->hz,
		tries > 1 ? wh_retry_patience_ns(tries - 1) : 0, run->place.addresses - 1, 0,
		now_tsc);
}

/* Only root can change owners, and only if the operator allows it. */
static int judge_keeps(
	const struct wh_run_host_ctx *ctx, const struct wh_settings *settings, bool sends)
{
	const struct wh_settings *own = ctx->settings;
	const char *flag = settings->owners && !own->owners     ? "owners"
			   : settings->set_ids && !own->set_ids ? "set-ids"
								: NULL;

	if (sends || flag == NULL)
		return -1;
	return wh_fail(WH_EXIT_USAGE,
		"this server does not keep these attributes for files that it gets: restart it "
		"with --%s",
		flag);
}

/* The settings of an order, with what this server keeps of --archive. -1, or an exit status. */
static int order_settings(const struct wh_run_host_ctx *ctx, const json_t *words, bool sends,
	struct wh_settings *settings)
{
	int status = wh_order_settings(words, settings);

	if (status != -1)
		return status;
	wh_settings_archive(
		settings, sends || ctx->settings->owners, sends || ctx->settings->set_ids);
	return judge_keeps(ctx, settings, sends);
}

/* Whether a HELLO can carry the order's paths at the peer, and its patterns. */
static int judge_paths(const struct wh_order *order, const struct wh_choice *choice)
{
	/* The host that has the files of a copy is told their paths, and no patterns. */
	json_t *list = json_loads(order->copies ? order->here : order->there, 0, NULL);
	uint32_t count = (uint32_t)json_array_size(list);
	const char **paths = calloc(count + 1, sizeof(paths[0]));
	struct wh_request request = {.there = {.path = paths}};
	int status = WH_EXIT_OTHER;

	if (!order->copies)
		request.choice = *choice;
	if (paths != NULL) {
		request.there.count = wh_texts_of(list, paths, count);
		status = wh_request_fits(&request) ? -1 : WH_EXIT_USAGE;
	}
	free(paths);
	json_decref(list);
	return status;
}

static int judge_stream(const struct wh_order *order, const struct wh_settings *settings)
{
	json_t *there = json_loads(order->there, 0, NULL);
	const char *path = json_string_value(json_array_get(there, 0));
	const char *wrong = path == NULL || path[0] == '\0' || json_array_size(there) != 1
				    ? "a stream is one file at the host"
				    : wh_transfer_pipe_wrong(settings, path);

	if (wrong != NULL)
		wh_complain("%s", wrong);
	json_decref(there);
	return wrong == NULL ? -1 : WH_EXIT_USAGE;
}

int wh_run_judge(const struct wh_run_host_ctx *ctx, const struct wh_order *order)
{
	struct wh_settings *settings = malloc(sizeof(*settings));
	struct wh_terms *terms = malloc(sizeof(*terms));
	json_t *words = json_loads(order->words, 0, NULL);
	bool sends = order->sends || order->copies;
	struct wh_choice choice;
	enum wh_checksum kind;
	bool summed;
	int status = WH_EXIT_OTHER;

	if (settings != NULL && terms != NULL)
		status = order_settings(ctx, words, sends, settings);
	if (status == -1)
		status = wh_order_settings_of(settings, sends ? WH_VERB_SEND : WH_VERB_GET);
	if (status == -1 && !wh_wanted_choice(settings, terms, &choice))
		status = WH_EXIT_USAGE;
	if (status == -1 && wh_manifest_judge(settings, sends, &kind, &summed) != 0)
		status = WH_EXIT_USAGE;
	if (status == -1)
		status = judge_paths(order, &choice);
	if (status == -1 && order->stream)
		status = judge_stream(order, settings);
	if (status == -1 && !wh_transfer_range_fits(settings, sends, order->stream))
		status = WH_EXIT_USAGE;
	json_decref(words);
	free(terms);
	free(settings);
	return status;
}

static int read_settings(struct wh_run *run, const struct wh_run_host_ctx *ctx)
{
	struct wh_settings *settings = &run->transfer.wanted.settings;
	int status =
		order_settings(ctx, run->words, run->order.sends || run->order.copies, settings);

	if (status == -1 && wh_timetable_parse(run->order.rate, &run->table) != NULL)
		status = WH_EXIT_USAGE;
	return status;
}

/* Opens the files to be read, and to be written at the end. */
static int open_manifest(struct wh_run *run)
{
	int status = wh_manifest_open(&run->transfer.running.manifest,
		&run->transfer.wanted.settings, run->order.sends, run->root_fd);

	return status == 0 ? -1 : status;
}

/* Repeats all checks, since an order that was valid when it came may be invalid now. */
static bool begin(struct wh_run *run, const struct wh_run_host_ctx *ctx, uint64_t now_tsc,
	int64_t now_s, struct wh_order_result *result)
{
	struct wh_request *request;
	int status;

	if (!read_lists(run)) {
		fail(result, WH_EXIT_OTHER, "the job's record is damaged");
		return false;
	}
	status = read_settings(run, ctx);
	if (status == -1 && run->order.stream && run->client.stream_fd < 0) {
		wh_complain("the client's stream is gone, and cannot be read or written again");
		status = WH_EXIT_USAGE;
	}
	if (status == -1 && wh_order_is_accepted(&run->order))
		status = wh_giver_claim(run, ctx);
	if (status == -1)
		status = wh_place_find(ctx->settings, run->order.host, &run->place);
	if (status == -1 && !run->order.copies)
		status = open_manifest(run);
	if (status == -1) {
		run->transfer.wanted.peer = run->place.address[0];
		run->rate_bps = rate_now(run, now_s);
		run->rate_s = now_s;
		set_up_transfer(run, ctx);
		begin_waiting(run, now_tsc);
	}
	if (status == -1 && run->order.copies) {
		status = wh_delegated_begin(run, ctx, now_tsc);
		if (status == -1)
			return true;
	}
	if (status != -1) {
		fail(result, status, wh_last_complaint());
		return false;
	}

	request = &run->transfer.running.request;
	*request = request_of(run, ctx);
	wh_place_aim(&run->place, request);
	if (!wh_transfer_choose(&run->transfer)) {
		fail(result, WH_EXIT_USAGE, wh_last_complaint());
		return false;
	}
	tell_start(run, ctx);
	if (!wh_transfer_make_lanes(&run->transfer)) {
		fail(result, WH_EXIT_OTHER, wh_last_complaint());
		return false;
	}
	wh_lanes_start_first(&run->transfer.running.lanes, now_tsc);
	return true;
}

struct wh_run *wh_run_begin(const struct wh_run_host_ctx *ctx, struct wh_order *order,
	const struct wh_run_client *client, uint64_t now_tsc, int64_t now_s,
	struct wh_order_result *result)
{
	struct wh_run *run = calloc(1, sizeof(*run));

	*result = (struct wh_order_result){0};
	if (run == NULL) {
		fail(result, WH_EXIT_OTHER, "no memory");
		return NULL;
	}
	run->order = *order;
	run->client = *client;
	run->root_fd = ctx->root_fd;
	run->folder_fd = -1;
	run->name_told = order->as_name;
	run->wanted = WH_ORDER_FAILED;
	run->events = json_array();
	pthread_mutex_init(&run->lock, NULL);
	if (begin(run, ctx, now_tsc, now_s, result)) {
		order->here = order->there = order->words = NULL;
		return run;
	}
	run->order.here = run->order.there = run->order.words = NULL;
	wh_run_free(run);
	return NULL;
}

static bool change_rate(struct wh_run *run, uint64_t bps)
{
	struct wh_lanes *lanes = &run->transfer.running.lanes;
	struct wh_request request = lanes->job[0]->request;

	run->rate_bps = bps;
	if (run->delegated.on)
		return false;
	request.rate_bps = run->transfer.running.request.rate_bps = bps;
	return wh_lanes_change(lanes, &request);
}

static void follow_table(struct wh_run *run, int64_t now_s)
{
	if (now_s == run->rate_s || run->table.lines == 0)
		return;
	run->rate_s = now_s;

	uint64_t bps = rate_now(run, now_s);

	if (bps != run->rate_bps)
		(void)change_rate(run, bps);
}

bool wh_run_change(struct wh_run *run, const char *rate, int64_t now_s)
{
	const char *wrong = wh_timetable_parse(rate, &run->table);

	WH_ASSERT(wrong == NULL);
	run->rate_s = now_s;
	if (run->delegated.on)
		wh_delegated_set_rate(run, rate);
	return change_rate(run, rate_now(run, now_s));
}

/* Takes as long as the disks need; must not access the run after marking it as summed. */
static void sum(void *argument)
{
	struct wh_run *run = argument;
	struct wh_transfer *transfer = &run->transfer;
	bool all = wh_lanes_totals(&transfer->running.lanes).failed == 0;

	run->sums_status = wh_manifest_finish(&transfer->running.manifest, wh_transfer_open_file,
		transfer, all ? WH_EXIT_OK : WH_EXIT_PARTIAL);
	snprintf(run->sums_why, sizeof(run->sums_why), "%s", wh_last_complaint());
	atomic_store(&run->sums, WH_RUN_SUMMED);
}

/* Whether the checksums are complete, if any were requested. */
static bool is_summed(struct wh_run *run)
{
	if (!run->transfer.running.manifest.on || wh_lanes_failed(&run->transfer.running.lanes))
		return true;
	if (atomic_load(&run->sums) == WH_RUN_UNSUMMED) {
		atomic_store(&run->sums, WH_RUN_SUMMING);
		if (wh_background(sum, run) != 0)
			sum(run);
	}
	return atomic_load(&run->sums) == WH_RUN_SUMMED;
}

/* An attempt that reached nobody is followed by one to the host's next address. */
static void take_next_address(struct wh_run *run)
{
	if (run->transfer.running.lanes.job[0]->ready.began_tsc != 0)
		return;
	run->address = (run->address + 1) % run->place.addresses;
	run->transfer.wanted.peer = run->place.address[run->address];
}

/* Whether another attempt to reach the host follows, or is waited for. */
static bool looks_again(struct wh_run *run, uint64_t now_tsc, bool may_wait)
{
	struct wh_running *running = &run->transfer.running;
	enum wh_retry_step step;

	if (run->wanted != WH_ORDER_FAILED || run->unwanted[0] != '\0' || !may_wait ||
		wh_lanes_lack_room(&running->lanes))
		return false;
	step = wh_retry_next(&running->retry, &running->lanes, now_tsc);
	if (step == WH_RETRY_DUE) {
		take_next_address(run);
		return wh_transfer_restart(&run->transfer, now_tsc);
	}
	return step == WH_RETRY_LOOKS || step == WH_RETRY_WAITS;
}

/* An answer that is on its way may take this long. */
#define WAITS_S 3

bool wh_run_waits(const struct wh_run *run, uint64_t now_tsc)
{
	const struct wh_lanes *lanes = &run->transfer.running.lanes;

	return lanes->started > 0 && atomic_load(&lanes->job[0]->view.state) < WH_JOB_RUNNING &&
	       now_tsc - run->transfer.running.began_tsc > WAITS_S * lanes->jobs->ctx->hz;
}

bool wh_run_look(struct wh_run *run, const struct wh_run_host_ctx *ctx, uint64_t now_tsc,
	int64_t now_s, bool may_wait)
{
	struct wh_lanes *lanes = &run->transfer.running.lanes;

	WH_ASSERT(lanes->started > 0);
	follow_table(run, now_s);
	if (wh_order_is_accepted(&run->order) && !wh_giver_look(run, ctx, now_s))
		wh_lanes_hurry(lanes, now_tsc);
	if (run->delegated.on)
		wh_delegated_look(run, now_tsc);
	else
		wh_transfer_look(&run->transfer, now_tsc);
	if (!wh_lanes_over(lanes) ||
		(wh_lanes_failed(lanes) && looks_again(run, now_tsc, may_wait)))
		return false;
	return is_summed(run);
}

bool wh_run_found_name(struct wh_run *run)
{
	const struct wh_job *first = run->transfer.running.lanes.job[0];

	if (run->name_told)
		return false;
	if (run->order.sends && atomic_load(&first->view.state) >= WH_JOB_RUNNING)
		run->order.as_name |= first->ready.as_name;
	run->name_told = run->order.as_name;
	return run->name_told;
}

void wh_run_stop(struct wh_run *run, enum wh_order_state wanted, uint64_t now_tsc)
{
	/* A cancel is final. */
	if (run->wanted == WH_ORDER_CANCELLED)
		return;
	run->wanted = wanted;
	if (run->delegated.on) {
		wh_delegated_stop(run, now_tsc);
		return;
	}
	atomic_store(&run->transfer.running.manifest.stop, true);
	wh_lanes_hurry(&run->transfer.running.lanes, now_tsc);
}

static void first_failure(const struct wh_transfer *transfer, char text[WH_ORDER_WHY_BYTES])
{
	const struct wh_failure *failure = wh_failures_first(&transfer->told.failures);

	text[0] = '\0';
	if (failure != NULL)
		snprintf(text, WH_ORDER_WHY_BYTES, "%s: %s", failure->path, failure->text);
}

static int status_of(
	struct wh_run *run, const struct wh_totals *totals, struct wh_order_result *result)
{
	struct wh_transfer *transfer = &run->transfer;
	const struct wh_lanes *lanes = &transfer->running.lanes;
	int status = WH_EXIT_OK;
	bool summed = atomic_load(&run->sums) == WH_RUN_SUMMED;
	bool ended = wh_lanes_failed(lanes) || (summed && run->sums_status == WH_EXIT_INTERRUPTED);
	bool stopped = ended && run->wanted != WH_ORDER_FAILED;

	/* The last complaint of this thread may have been about another job. */
	wh_complaint_forget();
	if (stopped) {
		fail(result, WH_EXIT_INTERRUPTED, "stopped");
		return WH_EXIT_INTERRUPTED;
	}
	/* If it succeeded before it was told to stop, it is done. */
	run->wanted = WH_ORDER_FAILED;
	if (wh_lanes_failed(lanes)) {
		status = wh_jobs_conclude(lanes->job, lanes->started, transfer->wanted.server);
		fail(result, status, wh_last_complaint());
		result->soon = wh_retry_may_hurry(lanes);
	} else if (totals->failed > 0) {
		status = WH_EXIT_PARTIAL;
		result->status = status;
		first_failure(transfer, result->why);
	}
	if (status != WH_EXIT_OK && run->unwanted[0] != '\0') {
		status = WH_EXIT_USAGE;
		fail(result, status, run->unwanted);
	}
	if (summed && run->sums_status != status) {
		status = run->sums_status;
		fail(result, status, run->sums_why);
	}
	if (status == WH_EXIT_OK)
		run->wanted = WH_ORDER_DONE;
	else
		wh_run_await_room(run, result);
	return status;
}

/* At the end of the process: background work stops soon. */
static void await_sums(struct wh_run *run)
{
	const struct timespec pause = {.tv_nsec = 1000000};

	atomic_store(&run->transfer.running.manifest.stop, true);
	while (atomic_load(&run->sums) == WH_RUN_SUMMING)
		nanosleep(&pause, NULL);
}

void wh_run_conclude(
	struct wh_run *run, const struct wh_run_host_ctx *ctx, struct wh_order_result *result)
{
	struct wh_transfer *transfer = &run->transfer;
	const struct wh_totals totals = wh_lanes_totals(&transfer->running.lanes);
	uint64_t ended_tsc = run->transfer.running.began_tsc;

	if (run->delegated.on) {
		wh_delegated_conclude(run, result);
		return;
	}
	await_sums(run);
	*result = (struct wh_order_result){
		.files = totals.files,
		.skipped = totals.skipped,
		.failed = totals.failed,
		.bytes = totals.bytes,
		.moved_bytes = wh_lanes_moved_bytes(&transfer->running.lanes),
	};
	for (uint32_t lane = 0; lane < transfer->running.lanes.started; lane++)
		ended_tsc =
			wh_max_u64(ended_tsc, transfer->running.lanes.job[lane]->result.ended_tsc);

	result->run_ns = wh_tsc_to_ns(
		transfer->told.progress.hz, ended_tsc - run->transfer.running.began_tsc);
	if (wh_order_is_accepted(&run->order))
		wh_giver_end(run, ctx);
	result->final = run->order.stream && wh_lanes_were_ready(&transfer->running.lanes);

	int status = status_of(run, &totals, result);

	run->picture = wh_flow_plot_text(&transfer->running.plot, &transfer->running.lanes,
		transfer->wanted.settings.profile, run->order.sends ? "send to" : "get from",
		transfer->wanted.server, result->why);
	wh_transfer_tell_end(transfer, status);
}

void wh_run_free(struct wh_run *run)
{
	if (run == NULL)
		return;
	wh_lanes_free(&run->transfer.running.lanes);
	wh_manifest_free(&run->transfer.running.manifest);
	wh_order_free(&run->order);
	json_decref(run->here);
	json_decref(run->there);
	json_decref(run->words);
	json_decref(run->events);
	free(run->picture);
	free(run->paths);
	if (run->folder_fd >= 0)
		close(run->folder_fd);
	if (run->orderer != NULL)
		wh_peers_release(run->peers, run->orderer);
	free(run);
}
