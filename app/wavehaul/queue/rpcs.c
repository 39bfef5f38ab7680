/* SPDX-License-Identifier: BSD-3-Clause */
#include "queue/rpcs.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>

#include "base/assert.h"
#include "base/clock.h"
#include "cli/complain.h"
#include "cli/exit.h"
#include "cli/json.h"
#include "queue/queue_place.h"
#include "report/outcome.h"
#include "transfer/order_words.h"
#include "transfer/wanted.h"

/* Events that may wait to be sent; a chunk from the server contains some hundred. */
#define EVENTS_MAX 256

/* Limit of pings, which a terminal shows one by one. */
#define PINGS_MAX       1000000
#define INTERVAL_NS_MAX WH_NS_PER_S

struct wh_rpc_run {
	uint64_t client;   /* number of the control's client; 0: it has gone */
	uint64_t told_tsc; /* when no event waited for its client */
	char host[WH_ORDER_HOST_BYTES];
	struct wh_settings settings;
	struct wh_lanes lanes;
	struct wh_rpc_listener listener;
	json_t *texts; /* of the paths */
	const char **path;
	uint64_t hz;
	pthread_mutex_t lock;
	json_t *events; /* a list, under the lock */
	_Atomic uint32_t waiting;
};

static const struct {
	const char *name;
	enum wh_job_verb verb;
} verbs[] = {
	{"ls", WH_JOB_LIST},
	{"du", WH_JOB_USAGE},
	{"rm", WH_JOB_REMOVE},
	{"mkdir", WH_JOB_MAKE},
	{"mv", WH_JOB_MOVE},
	{"ping", WH_JOB_PING},
};

/* Called by workers; the control's thread sends it. */
static void add_event(struct wh_rpc_run *run, json_t *event)
{
	pthread_mutex_lock(&run->lock);
	json_array_append_new(run->events, event);
	atomic_fetch_add(&run->waiting, 1);
	pthread_mutex_unlock(&run->lock);
}

static bool may_take(void *context)
{
	const struct wh_rpc_run *run = context;

	return atomic_load(&run->waiting) < EVENTS_MAX;
}

static void add_text(json_t *event, const char *key, const char *bytes, uint32_t count)
{
	char text[WH_PATH_BYTES_MAX + 1];

	WH_ASSERT(count <= WH_PATH_BYTES_MAX);
	memcpy(text, bytes, count);
	text[count] = '\0';
	wh_path_to_json(event, key, text);
}

static void on_item(void *context, const struct wh_item *item)
{
	/* clang-format off */
	json_t *event = json_pack("{s:s, s:i, s:i, s:I, s:I, s:I, s:I, s:I, s:i, s:I, s:I}",
		"event", "item",
		"kind", (int)item->kind,
		"given", (int)item->given,
		"bytes", (json_int_t)item->bytes,
		"used_bytes", (json_int_t)item->used_bytes,
		"entries", (json_int_t)item->entries,
		"mtime_s", (json_int_t)item->mtime_s,
		"mtime_ns", (json_int_t)item->mtime_ns,
		"mode", (int)item->mode,
		"uid", (json_int_t)item->uid,
		"gid", (json_int_t)item->gid);
	/* clang-format on */

	add_text(event, "path", item->path, item->path_bytes);
	if (item->matched)
		json_object_set_new(event, "matched", json_integer(1));
	if (item->link_bytes > 0)
		add_text(event, "link", item->link, item->link_bytes);
	add_event(context, event);
}

static void on_fault(
	void *context, int error, enum wh_doing doing, const char *path, uint32_t path_bytes)
{
	json_t *event =
		json_pack("{s:s, s:i, s:i}", "event", "fault", "errno", error, "doing", (int)doing);

	add_text(event, "path", path, path_bytes);
	add_event(context, event);
}

static void on_ping(void *context, uint64_t sequence, uint64_t rtt_tsc)
{
	const struct wh_rpc_run *run = context;

	add_event(context,
		json_pack("{s:s, s:I, s:I}", "event", "ping", "sequence", (json_int_t)sequence,
			"rtt_ns", (json_int_t)wh_tsc_to_ns(run->hz, rtt_tsc)));
}

static void free_run(struct wh_rpc_run *run)
{
	wh_lanes_free(&run->lanes);
	json_decref(run->texts);
	json_decref(run->events);
	free(run->path);
	free(run);
}

/* Checks the requested remote operation; false: refused, with a reason. */
static bool take_words(struct wh_rpc_run *run, struct wh_control_call *call, enum wh_job_verb *verb)
{
	const char *name = wh_control_text(call, "verb");
	const char *host = wh_control_text(call, "host");
	const json_t *options = json_object_get(call->request, "options");
	json_t *paths = json_object_get(call->request, "paths");
	uint32_t count = (uint32_t)json_array_size(paths);
	size_t i = 0;

	while (i < sizeof(verbs) / sizeof(verbs[0]) && strcmp(verbs[i].name, name) != 0)
		i++;
	if (i == sizeof(verbs) / sizeof(verbs[0])) {
		wh_control_fail(call, WH_EXIT_USAGE, "there is no remote operation '%.60s'", name);
		return false;
	}
	*verb = verbs[i].verb;
	if (host[0] == '\0' || strlen(host) >= sizeof(run->host) || count > WH_HELLO_PATHS_MAX ||
		count < (*verb == WH_JOB_MOVE ? 2 : *verb != WH_JOB_PING)) {
		wh_control_fail(
			call, WH_EXIT_USAGE, "a remote operation has a host, and paths there");
		return false;
	}
	snprintf(run->host, sizeof(run->host), "%s", host);
	run->texts = json_incref(paths);
	run->path = calloc(count + 1, sizeof(run->path[0]));

	int status = run->path != NULL ? wh_order_settings(options, &run->settings) : WH_EXIT_OTHER;

	if (status != -1)
		wh_control_fail(call, status, "%s", wh_last_complaint());
	return status == -1;
}

static void listen_to(struct wh_rpc_run *run, struct wh_control_call *call)
{
	uint64_t interval_ns = wh_control_count(call, "interval_ns", 0);

	run->listener = (struct wh_rpc_listener){
		.may_take = may_take,
		.on_item = on_item,
		.on_fault = on_fault,
		.on_ping = on_ping,
		.context = run,
		.pings = wh_min_u64(wh_control_count(call, "count", 0), PINGS_MAX),
		.interval_tsc = wh_ns_to_tsc(run->hz, wh_min_u64(interval_ns, INTERVAL_NS_MAX)),
	};
	run->lanes.job[0]->listener.rpc = &run->listener;
}

static struct wh_request request_of(const struct wh_rpcs *rpcs, const struct wh_rpc_run *run,
	enum wh_job_verb verb, const struct wh_place *place)
{
	struct wh_request request = wh_wanted_request(&run->settings, verb);

	request.memory_bytes = rpcs->ctx->memory_bytes;
	request.there.path = run->path;
	request.there.count = wh_texts_of(run->texts, run->path, WH_HELLO_PATHS_MAX);
	wh_place_aim(place, &request);
	return request;
}

static bool start(struct wh_rpcs *rpcs, struct wh_rpc_run *run, struct wh_control_call *call,
	enum wh_job_verb verb)
{
	struct wh_place place;
	int status = wh_place_find(rpcs->ctx->settings, run->host, &place);

	if (status != -1) {
		wh_control_fail(call, status, "%s", wh_last_complaint());
		return false;
	}

	struct wh_request request = request_of(rpcs, run, verb, &place);

	if (!wh_hello_fits(&request)) {
		wh_control_fail(call, WH_EXIT_USAGE, "too many paths for one request");
		return false;
	}
	if (!wh_lanes_make(&run->lanes, rpcs->ctx->jobs, &place.address[0], &request)) {
		wh_control_fail(call, WH_EXIT_OTHER, "no memory for the job");
		return false;
	}
	listen_to(run, call);
	wh_lanes_start_first(&run->lanes, rte_rdtsc());
	return true;
}

static bool may_begin(const struct wh_rpcs *rpcs, struct wh_control_call *call)
{
	if (call->client == NULL)
		wh_control_fail(call, WH_EXIT_OTHER, "nobody is there to be told");
	else if (rpcs->runs == WH_RPCS_MAX)
		wh_control_fail(call, WH_EXIT_OTHER,
			"the server has %d remote operations, and no place for more", WH_RPCS_MAX);
	else if (atomic_load(&rpcs->ctx->jobs->draining))
		wh_control_fail(call, WH_EXIT_NETWORK, "the server of this host is stopping");
	return call->status == WH_EXIT_OK;
}

void wh_rpcs_begin(struct wh_rpcs *rpcs, struct wh_control_call *call)
{
	struct wh_rpc_run *run;
	enum wh_job_verb verb;

	if (!may_begin(rpcs, call))
		return;
	run = calloc(1, sizeof(*run));
	if (run == NULL) {
		wh_control_fail(call, WH_EXIT_OTHER, "no memory");
		return;
	}
	run->client = call->client->number;
	run->events = json_array();
	run->told_tsc = rte_rdtsc();
	run->hz = rpcs->ctx->jobs->ctx->hz;
	pthread_mutex_init(&run->lock, NULL);
	if (take_words(run, call, &verb) && start(rpcs, run, call, verb))
		rpcs->run[rpcs->runs++] = run;
	else
		free_run(run);
}

/* Sends as much as its client has room for; false: some events wait. */
static bool tell_events(struct wh_rpcs *rpcs, struct wh_rpc_run *run)
{
	if (atomic_load(&run->waiting) == 0)
		return true;
	if (!wh_control_has_room(rpcs->control, run->client))
		return false;
	pthread_mutex_lock(&run->lock);

	json_t *events = run->events;

	run->events = json_array();
	atomic_store(&run->waiting, 0);
	pthread_mutex_unlock(&run->lock);
	for (size_t i = 0; i < json_array_size(events); i++)
		wh_control_tell_client(
			rpcs->control, run->client, json_incref(json_array_get(events, i)));
	json_decref(events);
	return true;
}

static void tell_end(struct wh_rpcs *rpcs, struct wh_rpc_run *run)
{
	const struct wh_tally *tally = &run->lanes.job[0]->result.tally;
	int status = wh_jobs_conclude(run->lanes.job, run->lanes.started, run->host);
	json_t *event = json_pack("{s:s, s:i, s:I, s:I, s:I}", "event", "over", "exit_status",
		status, "items", (json_int_t)tally->items, "faults", (json_int_t)tally->faults,
		"done", (json_int_t)tally->done);

	json_object_set_new(event, "error",
		status != WH_EXIT_OK ? wh_word_to_json(wh_last_complaint()) : json_null());
	wh_control_tell_client(rpcs->control, run->client, event);
}

/* Gives up a client that has not read for the stall timeout. */
static void see_patience(struct wh_rpc_run *run, uint64_t now_tsc)
{
	if (now_tsc - run->told_tsc < wh_ns_to_tsc(run->hz, run->settings.stall_timeout_ns))
		return;
	run->client = 0;
	wh_lanes_hurry(&run->lanes, now_tsc);
}

bool wh_rpcs_look(struct wh_rpcs *rpcs, uint64_t now_tsc)
{
	for (uint32_t i = rpcs->runs; i-- > 0;) {
		struct wh_rpc_run *run = rpcs->run[i];
		bool over = wh_job_is_over(run->lanes.job[0]);

		if (atomic_load(&rpcs->ctx->jobs->hurry))
			wh_lanes_hurry(&run->lanes, now_tsc);
		if (run->client != 0 && !tell_events(rpcs, run)) {
			see_patience(run, now_tsc);
			continue;
		}
		run->told_tsc = now_tsc;
		if (!over)
			continue;
		tell_end(rpcs, run);
		rpcs->run[i] = rpcs->run[--rpcs->runs];
		free_run(run);
	}
	return rpcs->runs > 0;
}

void wh_rpcs_on_gone(struct wh_rpcs *rpcs, uint64_t client, uint64_t now_tsc)
{
	for (uint32_t i = 0; i < rpcs->runs; i++) {
		if (rpcs->run[i]->client != client)
			continue;
		rpcs->run[i]->client = 0;
		wh_lanes_hurry(&rpcs->run[i]->lanes, now_tsc);
	}
}

void wh_rpcs_close(struct wh_rpcs *rpcs)
{
	while (rpcs->runs > 0)
		free_run(rpcs->run[--rpcs->runs]);
}
