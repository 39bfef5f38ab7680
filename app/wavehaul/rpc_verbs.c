/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * `wavehaul ls`, `du`, `rm`, `mkdir`, `mv` and `ping`: a client examines or changes a server's
 * tree, without moving files.
 */

#include "ssh/destination.h"
#include "ssh/far.h"
#include "transfer/asked.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>

#include "base/clock.h"
#include "cli/address_text.h"
#include "cli/complain.h"
#include "cli/exit.h"
#include "cli/json.h"
#include "cli/signals.h"
#include "job/client.h"
#include "job/hello.h"
#include "job/lanes.h"
#include "job/on_host.h"
#include "report/outcome.h"
#include "transfer/hand.h"
#include "transfer/sealed.h"
#include "transfer/wanted.h"
#include "verbs.h"

#define WATCH_US 200

/* Enough for two streams of small chunks. */
#define BUFFER_BYTES (UINT64_C(64) << 20)

struct rpc {
	struct wh_settings settings;
	struct wh_on_host on;
	enum wh_verb verb;
	struct wh_sealed sealed;
	struct wh_client client;
	struct wh_lanes lanes;
	struct wh_address peer;
	char server[WH_HOST_BYTES]; /* as written by the operator */
	const char **path;
	const char **there; /* the same, as the server's root has them */
	uint32_t paths;
	struct wh_print print;
	struct wh_rpc_listener listener;
	uint64_t next_tsc;
	struct wh_asker asker; /* the server of this host, if that runs the remote operation */
	struct wh_tally tally; /* from the remote server */
};

static const struct {
	enum wh_verb verb;
	enum wh_job_verb job;
	int operands_least;
	const char *wants;
} rpcs[] = {
	{WH_VERB_LS, WH_JOB_LIST, 1, "HOST:PATH..."},
	{WH_VERB_DU, WH_JOB_USAGE, 1, "HOST:PATH..."},
	{WH_VERB_RM, WH_JOB_REMOVE, 1, "HOST:PATH..."},
	{WH_VERB_MKDIR, WH_JOB_MAKE, 1, "HOST:PATH..."},
	{WH_VERB_MV, WH_JOB_MOVE, 2, "HOST:PATH... HOST:PATH"},
	{WH_VERB_PING, WH_JOB_PING, 1, "one HOST"},
};

static uint32_t index_of(enum wh_verb verb)
{
	uint32_t i = 0;

	while (rpcs[i].verb != verb)
		i++;
	return i;
}

static struct wh_request request_of(const struct rpc *rpc)
{
	struct wh_request request =
		wh_wanted_request(&rpc->settings, rpcs[index_of(rpc->verb)].job);

	request.there.path = rpc->there;
	request.there.count = rpc->paths;
	return request;
}

static int make_job(struct rpc *rpc)
{
	struct wh_request request = request_of(rpc);

	wh_sealed_name(&rpc->sealed, &rpc->peer, &request);
	if (!wh_hello_fits(&request))
		return wh_fail(
			WH_EXIT_USAGE, "too many paths for one request; use several commands");
	if (!wh_lanes_make(&rpc->lanes, &rpc->on.jobs, &rpc->peer, &request))
		return wh_fail(WH_EXIT_OTHER, "out of memory for the job");
	rpc->print.hz = rpc->on.host.ctx.hz;
	rpc->listener = (struct wh_rpc_listener){
		.may_take = wh_print_may_take,
		.on_item = wh_print_item,
		.on_fault = wh_print_fault,
		.on_ping = wh_print_ping,
		.context = &rpc->print,
		.pings = rpc->settings.pings,
		.interval_tsc = wh_ns_to_tsc(rpc->on.host.ctx.hz, rpc->settings.interval_ns),
	};
	rpc->lanes.job[0]->listener.rpc = &rpc->listener;
	return WH_EXIT_OK;
}

static int32_t watch(void *state, uint64_t now_tsc)
{
	struct rpc *rpc = state;
	enum wh_client_state client = wh_client_state(&rpc->client);
	bool unwanted = wh_signals_count() > 0 || atomic_load(&rpc->print.spool.broken);

	if (now_tsc < rpc->next_tsc)
		return 0;
	rpc->next_tsc = now_tsc + wh_us_to_tsc(rpc->on.host.ctx.hz, WATCH_US);
	if (rpc->lanes.started == 0) {
		if (unwanted || client > WH_CLIENT_READY)
			wh_runtime_stop(&rpc->on.runtime);
		else if (client == WH_CLIENT_READY)
			wh_lanes_start_first(&rpc->lanes, now_tsc);
		return 0;
	}
	if (unwanted || wh_lanes_failed(&rpc->lanes))
		wh_lanes_hurry(&rpc->lanes, now_tsc);
	if (wh_lanes_gone(&rpc->lanes, now_tsc))
		wh_runtime_stop(&rpc->on.runtime);
	return 0;
}

/* Exit status for the faults of a remote operation that was completed. */
static int judge_faults(const struct rpc *rpc)
{
	const struct wh_tally *tally = &rpc->tally;

	if (rpc->print.faults == 0)
		return WH_EXIT_OK;
	if (tally->items > 0 || tally->done > 0)
		return WH_EXIT_PARTIAL;
	return rpc->print.missing ? WH_EXIT_NO_FILE : WH_EXIT_OTHER;
}

static int conclude(struct rpc *rpc)
{
	const struct wh_lanes *lanes = &rpc->lanes;

	if (atomic_load(&rpc->on.host.lost))
		return WH_EXIT_NETWORK;
	if (lanes->started == 0)
		return wh_client_conclude(&rpc->client, rpc->server);

	int status = wh_jobs_conclude(lanes->job, lanes->started, rpc->server);

	wh_client_tell_hint(&rpc->client, lanes->job[0], rpc->server);
	rpc->tally = lanes->job[0]->result.tally;
	return status == WH_EXIT_OK ? judge_faults(rpc) : status;
}

/* Before a peer's first packet is read. */
static int enter_guard(struct rpc *rpc)
{
	struct wh_guard guard = wh_wanted_guard(&rpc->settings, &rpc->on.host);

	wh_sealed_guard(&rpc->sealed, &guard);
	return wh_wanted_guard_enter(&rpc->settings, &guard);
}

static int open_print(struct rpc *rpc)
{
	int rc = wh_print_open(&rpc->print, &rpc->settings, rpc->verb, rpc->path, rpc->paths);

	if (rc == 0)
		return WH_EXIT_OK;
	return wh_fail(WH_EXIT_OTHER, "cannot print the answer: %s", strerror(-rc));
}

static int run(void *context)
{
	struct rpc *rpc = context;
	int status = open_print(rpc);

	if (status != WH_EXIT_OK)
		return status;
	wh_client_init(&rpc->client, &rpc->on.host, &rpc->peer, rpc->settings.peer_timeout_ns,
		rte_rdtsc());
	status = make_job(rpc);
	if (status == WH_EXIT_OK)
		status = enter_guard(rpc);
	if (status != WH_EXIT_OK)
		return status;
	wh_runtime_add(&rpc->on.runtime, 0, "watch", watch, rpc);
	wh_runtime_run(&rpc->on.runtime);
	wh_jobs_end(&rpc->on.jobs);
	wh_print_end(&rpc->print);
	wh_print_pings(&rpc->print, rpc->server);
	return conclude(rpc);
}

static int add_path(struct rpc *rpc, const char *text)
{
	const char *path = wh_remote_path(text, rpc->server);

	if (path == NULL)
		return WH_EXIT_USAGE;
	rpc->path[rpc->paths++] = path;
	return WH_EXIT_OK;
}

static int read_words(struct rpc *rpc)
{
	const struct wh_settings *settings = &rpc->settings;
	uint32_t of = index_of(rpc->verb);
	bool pings = rpc->verb == WH_VERB_PING;
	int count = settings->operand_count;
	int status = WH_EXIT_OK;

	if (count < rpcs[of].operands_least || count > WH_HELLO_PATHS_MAX ||
		(pings && (count != 1 || strlen(settings->operands[0]) >= sizeof(rpc->server))))
		return wh_fail(WH_EXIT_USAGE, "%s needs %s; `wavehaul %s --help` explains",
			wh_verb_name(rpc->verb), rpcs[of].wants, wh_verb_name(rpc->verb));
	if (pings) {
		strcpy(rpc->server, settings->operands[0]);
		return WH_EXIT_OK;
	}
	rpc->path = calloc((size_t)count, sizeof(rpc->path[0]));
	rpc->there = calloc((size_t)count, sizeof(rpc->there[0]));
	if (rpc->path == NULL || rpc->there == NULL)
		return WH_EXIT_OTHER;
	for (int i = 0; i < count && status == WH_EXIT_OK; i++)
		status = add_path(rpc, settings->operands[i]);
	return status;
}

/* In the format of this host's server. NULL after a complaint. */
static json_t *request_to_hand(const struct rpc *rpc)
{
	const struct wh_settings *settings = &rpc->settings;
	json_auto_t *paths = json_array();
	json_t *options;

	for (uint32_t i = 0; i < rpc->paths; i++)
		if (!wh_list_add(paths, json_string(rpc->path[i]), rpc->path[i]))
			return NULL;
	options = json_array();
	if (settings->recursive)
		json_array_append_new(options, json_string("--recursive"));
	json_array_append_new(
		options, json_sprintf("--peer-timeout=%" PRIu64 "ns", settings->peer_timeout_ns));
	json_array_append_new(
		options, json_sprintf("--stall-timeout=%" PRIu64 "ns", settings->stall_timeout_ns));
	return json_pack("{s:s, s:s, s:o, s:O, s:o, s:I, s:I}", "do", "rpc", "verb",
		wh_verb_name(rpc->verb), "host", wh_word_to_json(rpc->server), "paths", paths,
		"options", options, "count", (json_int_t)settings->pings, "interval_ns",
		(json_int_t)settings->interval_ns);
}

/* Lets the server that has the port run it. */
static int ask_server(struct rpc *rpc)
{
	struct wh_asked asked = {.asker = &rpc->asker, .print = &rpc->print};
	json_t *request = request_to_hand(rpc);
	int status = request != NULL ? open_print(rpc) : WH_EXIT_USAGE;

	if (status != WH_EXIT_OK) {
		json_decref(request);
		return status;
	}
	rpc->print.hz = WH_NS_PER_S;
	status = wh_rpc_ask(&asked, request);
	rpc->tally = asked.tally;
	wh_print_end(&rpc->print);
	wh_print_pings(&rpc->print, rpc->server);
	return status == WH_EXIT_OK ? judge_faults(rpc) : status;
}

/* False after a complaint. */
static bool place_paths(struct rpc *rpc)
{
	for (uint32_t i = 0; i < rpc->paths; i++) {
		rpc->there[i] = wh_far_path(rpc->settings.far, rpc->path[i], false);
		if (rpc->there[i] == NULL)
			return false;
	}
	return true;
}

static int go(struct rpc *rpc)
{
	struct wh_settings *settings = &rpc->settings;
	int status = read_words(rpc);
	json_t *server;

	if (status != WH_EXIT_OK)
		return status;
	wh_signals_catch();
	status = -1;
	server = NULL;
	if (!wh_destination_has_user(rpc->server))
		server = wh_hand_to(&rpc->asker, settings, rpc->verb, &status);
	if (server != NULL) {
		status = ask_server(rpc);
		json_decref(server);
		return status;
	}
	if (status == -1)
		status = wh_far_find(settings, rpc->verb, rpc->server, &rpc->peer);
	if (status != 0)
		return status;
	if (!place_paths(rpc))
		return WH_EXIT_NO_FILE;
	return wh_on_small_host(&rpc->sealed, &rpc->settings, rpc->server, &rpc->on, run, rpc);
}

static int close_print(struct rpc *rpc, int status)
{
	int rc = wh_print_close(&rpc->print, rpc->server, status, &rpc->tally);

	if (rc == 0)
		return status;
	wh_complain("cannot print the answer: %s", strerror(-rc));
	return status == WH_EXIT_OK || status == WH_EXIT_INTERRUPTED ? WH_EXIT_OTHER : status;
}

int wh_verb_rpc(enum wh_verb verb, int argc, char **argv)
{
	struct rpc *rpc = calloc(1, sizeof(*rpc));

	if (rpc == NULL)
		return WH_EXIT_OTHER;
	rpc->verb = verb;
	rpc->asker.fd = -1;

	int status = wh_settings_read(&rpc->settings, verb, argc, argv);
	bool json = rpc->settings.json || (status >= 0 && wh_words_contain(argc, argv, "--json"));

	if (status < 0) {
		status = go(rpc);
		json = json && !rpc->print.open;
	} else if (status == WH_EXIT_OK) {
		json = false;
	}
	status = close_print(rpc, status);
	if (json)
		wh_json_print(wh_head_json(wh_verb_name(verb), status), JSON_INDENT(2));
	wh_asker_close(&rpc->asker);
	wh_lanes_free(&rpc->lanes);
	for (uint32_t i = 0; i < rpc->paths; i++)
		free((char *)rpc->there[i]);
	free(rpc->there);
	free(rpc->path);
	free(rpc);
	return status;
}
