/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * `wavehaul ls`, `du`, `rm`, `mkdir`, `mv` and `ping`: a client examines or changes a server's
 * tree, without moving files.
 */

#include "transfer/asked.h"

#include <errno.h>
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
#include "transfer/order_words.h"
#include "transfer/sealed.h"
#include "transfer/wanted.h"
#include "verbs.h"

#define WATCH_US 200

/* Two streams of small chunks. */
#define BUFFER_BYTES (UINT64_C(64) << 20)

struct errand {
	struct wh_settings settings;
	struct wh_host_settings host_settings;
	enum wh_verb verb;
	struct wh_sealed sealed;
	struct wh_runtime runtime;
	struct wh_host host;
	struct wh_jobs jobs;
	struct wh_client client;
	struct wh_lanes lanes;
	struct wh_address peer;
	char server[WH_HOST_BYTES]; /* as written by the operator */
	const char **path;
	uint32_t paths;
	struct wh_print print;
	struct wh_errand_listener listener;
	uint64_t next_tsc;
	struct wh_asker asker; /* the server of this host, if that runs the errand */
	struct wh_tally tally; /* from the remote server */
};

static const struct {
	enum wh_verb verb;
	enum wh_job_verb job;
	int operands_least;
	const char *wants;
} errands[] = {
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

	while (errands[i].verb != verb)
		i++;
	return i;
}

static struct wh_request request_of(const struct errand *errand)
{
	struct wh_request request =
		wh_wanted_request(&errand->settings, errands[index_of(errand->verb)].job);

	request.there.path = errand->path;
	request.there.count = errand->paths;
	return request;
}

static int make_job(struct errand *errand)
{
	struct wh_request request = request_of(errand);

	wh_sealed_name(&errand->sealed, &errand->peer, &request);
	if (!wh_hello_fits(&request)) {
		wh_complain("too many paths for one request; use several commands");
		return WH_EXIT_USAGE;
	}
	if (!wh_lanes_make(&errand->lanes, &errand->jobs, &errand->peer, &request)) {
		wh_complain("out of memory for the job");
		return WH_EXIT_OTHER;
	}
	errand->print.hz = errand->host.ground.hz;
	errand->listener = (struct wh_errand_listener){
		.may_take = wh_print_may_take,
		.on_item = wh_print_item,
		.on_fault = wh_print_fault,
		.on_ping = wh_print_ping,
		.context = &errand->print,
		.pings = errand->settings.pings,
		.interval_tsc = wh_ns_to_tsc(errand->host.ground.hz, errand->settings.interval_ns),
	};
	errand->lanes.job[0]->listener.errand = &errand->listener;
	return WH_EXIT_OK;
}

static int32_t watch(void *state, uint64_t now_tsc)
{
	struct errand *errand = state;
	enum wh_client_state client = wh_client_state(&errand->client);
	bool unwanted = wh_signals_count() > 0 || atomic_load(&errand->print.spool.broken);

	if (now_tsc < errand->next_tsc)
		return 0;
	errand->next_tsc = now_tsc + wh_us_to_tsc(errand->host.ground.hz, WATCH_US);
	if (errand->lanes.started == 0) {
		if (unwanted || client > WH_CLIENT_READY)
			wh_runtime_stop(&errand->runtime);
		else if (client == WH_CLIENT_READY)
			wh_lanes_start_first(&errand->lanes, now_tsc);
		return 0;
	}
	if (unwanted || wh_lanes_failed(&errand->lanes))
		wh_lanes_hurry(&errand->lanes, now_tsc);
	if (wh_lanes_gone(&errand->lanes, now_tsc))
		wh_runtime_stop(&errand->runtime);
	return 0;
}

/* Exit status for the faults of an errand that was completed. */
static int judge_faults(const struct errand *errand)
{
	const struct wh_tally *tally = &errand->tally;

	if (errand->print.faults == 0)
		return WH_EXIT_OK;
	if (tally->items > 0 || tally->done > 0)
		return WH_EXIT_PARTIAL;
	return errand->print.missing ? WH_EXIT_NO_FILE : WH_EXIT_OTHER;
}

static int conclude(struct errand *errand)
{
	const struct wh_lanes *lanes = &errand->lanes;

	if (atomic_load(&errand->host.lost))
		return WH_EXIT_NETWORK;
	if (lanes->started == 0)
		return wh_client_conclude(&errand->client, errand->server);

	int status = wh_jobs_conclude(lanes->job, lanes->started, errand->server);

	wh_client_tell_hint(&errand->client, lanes->job[0], errand->server);
	errand->tally = lanes->job[0]->result.tally;
	return status == WH_EXIT_OK ? judge_faults(errand) : status;
}

/* Before a peer's first packet is read. */
static int enter_guard(struct errand *errand)
{
	struct wh_guard guard = wh_wanted_guard(&errand->settings, &errand->host.spec);

	wh_sealed_guard(&errand->sealed, &guard);
	return wh_wanted_guard_enter(&errand->settings, &guard);
}

static int open_print(struct errand *errand)
{
	int rc = wh_print_open(
		&errand->print, &errand->settings, errand->verb, errand->path, errand->paths);

	if (rc == 0)
		return WH_EXIT_OK;
	wh_complain("cannot print the answer: %s", strerror(-rc));
	return WH_EXIT_OTHER;
}

static int run(void *context)
{
	struct errand *errand = context;
	int status = open_print(errand);

	if (status != WH_EXIT_OK)
		return status;
	wh_client_init(&errand->client, &errand->host, &errand->peer,
		errand->settings.peer_timeout_ns, rte_rdtsc());
	status = make_job(errand);
	if (status == WH_EXIT_OK)
		status = enter_guard(errand);
	if (status != WH_EXIT_OK)
		return status;
	wh_runtime_add(&errand->runtime, 0, "watch", watch, errand);
	wh_runtime_run(&errand->runtime);
	wh_jobs_end(&errand->jobs);
	wh_print_end(&errand->print);
	wh_print_pings(&errand->print, errand->server);
	return conclude(errand);
}

static int open_and_run(struct errand *errand)
{
	errand->host_settings = wh_host_settings_of(&errand->settings);
	errand->host_settings.queues = 1;
	errand->host_settings.buffer_bytes = BUFFER_BYTES;

	const struct wh_on_host wanted = {
		.host = &errand->host,
		.runtime = &errand->runtime,
		.settings = &errand->host_settings,
		.places = 1,
		.jobs = &errand->jobs,
	};

	return wh_on_sealed_host(&errand->sealed, &errand->settings, errand->server,
		&errand->host_settings, &wanted, run, errand);
}

static int add_path(struct errand *errand, const char *text)
{
	const char *path = wh_remote_path(text, errand->server);

	if (path == NULL)
		return WH_EXIT_USAGE;
	errand->path[errand->paths++] = path;
	return WH_EXIT_OK;
}

static int read_words(struct errand *errand)
{
	const struct wh_settings *settings = &errand->settings;
	uint32_t of = index_of(errand->verb);
	bool pings = errand->verb == WH_VERB_PING;
	int count = settings->operand_count;
	int status = WH_EXIT_OK;

	if (count < errands[of].operands_least || count > WH_HELLO_PATHS_MAX ||
		(pings &&
			(count != 1 || strlen(settings->operands[0]) >= sizeof(errand->server)))) {
		wh_complain("%s needs %s; `wavehaul %s --help` explains",
			wh_verb_name(errand->verb), errands[of].wants, wh_verb_name(errand->verb));
		return WH_EXIT_USAGE;
	}
	if (pings) {
		strcpy(errand->server, settings->operands[0]);
		return WH_EXIT_OK;
	}
	errand->path = calloc((size_t)count, sizeof(errand->path[0]));
	if (errand->path == NULL)
		return WH_EXIT_OTHER;
	for (int i = 0; i < count && status == WH_EXIT_OK; i++)
		status = add_path(errand, settings->operands[i]);
	return status;
}

/* In the format of this host's server. */
static json_t *request_to_hand(const struct errand *errand)
{
	const struct wh_settings *settings = &errand->settings;
	json_t *paths = json_array();
	json_t *options = json_array();

	for (uint32_t i = 0; i < errand->paths; i++)
		json_array_append_new(paths, json_string(errand->path[i]));
	if (settings->recursive)
		json_array_append_new(options, json_string("--recursive"));
	json_array_append_new(
		options, json_sprintf("--peer-timeout=%" PRIu64 "ns", settings->peer_timeout_ns));
	json_array_append_new(
		options, json_sprintf("--stall-timeout=%" PRIu64 "ns", settings->stall_timeout_ns));
	return json_pack("{s:s, s:s, s:s, s:o, s:o, s:I, s:I}", "do", "errand", "verb",
		wh_verb_name(errand->verb), "host", errand->server, "paths", paths, "options",
		options, "count", (json_int_t)settings->pings, "interval_ns",
		(json_int_t)settings->interval_ns);
}

/* Runs it by the server that has the port. */
static int ask_server(struct errand *errand)
{
	struct wh_asked asked = {.asker = &errand->asker, .print = &errand->print};
	int status = open_print(errand);

	if (status != WH_EXIT_OK)
		return status;
	errand->print.hz = WH_NS_PER_S;
	status = wh_errand_ask(&asked, request_to_hand(errand));
	errand->tally = asked.tally;
	wh_print_end(&errand->print);
	wh_print_pings(&errand->print, errand->server);
	return status == WH_EXIT_OK ? judge_faults(errand) : status;
}

static int go(struct errand *errand)
{
	const struct wh_settings *settings = &errand->settings;
	int status = read_words(errand);
	json_t *server;

	if (status != WH_EXIT_OK)
		return status;
	wh_signals_catch();
	server = wh_hand_to(&errand->asker, settings, errand->verb, &status);
	if (server != NULL)
		status = ask_server(errand);
	json_decref(server);
	if (status == -1)
		status = wh_settings_check_own(settings);
	if (status != -1)
		return status;
	if (!wh_trust_find(settings, errand->server, &errand->peer))
		return WH_EXIT_NETWORK;
	return open_and_run(errand);
}

static int close_print(struct errand *errand, int status)
{
	int rc = wh_print_close(&errand->print, errand->server, status, &errand->tally);

	if (rc == 0)
		return status;
	wh_complain("cannot print the answer: %s", strerror(-rc));
	return status == WH_EXIT_OK || status == WH_EXIT_INTERRUPTED ? WH_EXIT_OTHER : status;
}

int wh_verb_errand(enum wh_verb verb, int argc, char **argv)
{
	struct errand *errand = calloc(1, sizeof(*errand));

	if (errand == NULL)
		return WH_EXIT_OTHER;
	errand->verb = verb;
	errand->asker.fd = -1;

	int status = wh_settings_read(&errand->settings, verb, argc, argv);
	bool json =
		errand->settings.json || (status >= 0 && wh_words_contain(argc, argv, "--json"));

	if (status < 0) {
		status = go(errand);
		json = json && !errand->print.open;
	} else if (status == WH_EXIT_OK) {
		json = false;
	}
	status = close_print(errand, status);
	if (json)
		wh_json_print(wh_head_json(wh_verb_name(verb), status), JSON_INDENT(2));
	wh_asker_close(&errand->asker);
	wh_lanes_free(&errand->lanes);
	free(errand->path);
	free(errand);
	return status;
}
