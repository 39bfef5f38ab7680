/* SPDX-License-Identifier: BSD-3-Clause */

/* `wavehaul send` and `wavehaul get`: the client's jobs, one a lane. */

#include "report/transfer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>

#include "base/clock.h"
#include "cli/complain.h"
#include "cli/exit.h"
#include "cli/signals.h"
#include "report/outcome.h"
#include "source/walk.h"
#include "telemetry/telemetry.h"
#include "verbs.h"

/* A transfer of a moment waits for this twice: until it may begin, and until it is over. */
#define WATCH_US 100

static bool fill_job(struct wh_transfer *transfer, struct wh_job *job, uint32_t lane)
{
	const struct wh_settings *settings = &transfer->settings;

	if (!wh_job_make_hello(job, transfer->remotes))
		return false;

	struct wh_hello *hello = job->hello;
	const char *last;

	hello->verb = transfer->verb == WH_VERB_SEND ? WH_JOB_SEND : WH_JOB_GET;
	hello->recursive = settings->recursive;
	hello->into_folder = transfer->verb == WH_VERB_SEND && transfer->locals > 1;
	hello->lane = (uint16_t)lane;
	hello->lanes = (uint16_t)transfer->lanes.count;
	wh_client_fill_hello(&transfer->client, hello);
	for (uint32_t i = 0; i < transfer->remotes; i++) {
		size_t bytes = strlen(transfer->remote[i]);

		/* A final '/' says that the target is a folder, there or not. */
		if (transfer->verb == WH_VERB_SEND && transfer->remote[i][bytes - 1] == '/')
			hello->into_folder = true;
		job->paths[i] = strdup(transfer->remote[i]);
		if (job->paths[i] == NULL)
			return false;
	}
	if (transfer->verb == WH_VERB_SEND && wh_path_last_name(transfer->local[0], &last) == 0)
		hello->into_folder = true;
	job->sources = transfer->local;
	job->source_count = transfer->locals;
	job->sink_root_fd = transfer->dest_fd;
	job->sink_target = transfer->dest_name;
	job->sink_into_folder = transfer->dest_is_folder;
	job->gate = lane == 0 && transfer->lanes.count > 1 ? &transfer->gate : NULL;
	job->on_file = wh_transfer_on_file;
	job->context = transfer;
	return true;
}

static int make_jobs(struct wh_transfer *transfer)
{
	for (uint32_t lane = 0; lane < transfer->lanes.count; lane++) {
		struct wh_job *job = wh_job_create(&transfer->jobs);

		transfer->lanes.job[lane] = job;
		if (job == NULL || !fill_job(transfer, job, lane)) {
			wh_complain("no memory for the jobs");
			return WH_EXIT_OTHER;
		}
		if (!wh_job_hello_fits(job)) {
			wh_complain("too many paths for one request; get their folder with -r");
			return WH_EXIT_USAGE;
		}
	}
	return WH_EXIT_OK;
}

/* True when nothing is left to wait for. */
static bool see_lanes(struct wh_transfer *transfer, uint64_t now_tsc)
{
	struct wh_lanes *lanes = &transfer->lanes;

	if (wh_lanes_failed(lanes) || wh_signals_count() > 0)
		wh_lanes_hurry(lanes, now_tsc);
	else
		wh_lanes_start_others(lanes, now_tsc);
	if (wh_lanes_over(lanes, 1))
		atomic_store(&transfer->gate, true);
	return wh_lanes_gone(lanes, now_tsc);
}

static int32_t watch(void *state, uint64_t now_tsc)
{
	struct wh_transfer *transfer = state;

	if (now_tsc < transfer->next_tsc)
		return 0;
	transfer->next_tsc = now_tsc + wh_us_to_tsc(transfer->host.ground.hz, WATCH_US);
	if (transfer->lanes.started == 0) {
		enum wh_client_state client = wh_client_state(&transfer->client);

		if (wh_signals_count() > 0 || client > WH_CLIENT_READY)
			wh_runtime_stop(&transfer->runtime);
		else if (client == WH_CLIENT_READY)
			wh_lanes_start_first(&transfer->lanes, now_tsc);
		return 0;
	}
	wh_transfer_tell_progress(transfer, now_tsc);
	if (see_lanes(transfer, now_tsc))
		wh_runtime_stop(&transfer->runtime);
	return 0;
}

/* A lane that failed speaks for all; files that failed are told one by one. */
static int conclude(struct wh_transfer *transfer)
{
	const struct wh_lanes *lanes = &transfer->lanes;

	if (atomic_load(&transfer->host.lost))
		return WH_EXIT_NETWORK;
	if (lanes->started == 0)
		return wh_client_conclude(&transfer->client, transfer->server);

	int status = wh_jobs_conclude(lanes->job, lanes->started, transfer->server);

	wh_client_tell_hint(&transfer->client, lanes->job[0], transfer->server);
	if (status == WH_EXIT_OK && wh_transfer_totals(transfer).failed > 0)
		return WH_EXIT_PARTIAL;
	return status;
}

static int run(struct wh_transfer *transfer)
{
	wh_client_init(&transfer->client, &transfer->host, &transfer->peer, rte_rdtsc());

	int status = make_jobs(transfer);

	if (status != WH_EXIT_OK)
		return status;
	wh_runtime_add(&transfer->runtime, 0, "watch", watch, transfer);
	wh_telemetry_start(&transfer->host, &transfer->jobs);
	wh_transfer_tell_start(transfer);
	wh_runtime_run(&transfer->runtime);
	wh_telemetry_stop();
	wh_jobs_end(&transfer->jobs);
	wh_jobs_tell_memory(transfer->lanes.job, transfer->lanes.started);
	return conclude(transfer);
}

static int open_and_run(struct wh_transfer *transfer)
{
	struct wh_ground_hooks hooks = wh_jobs_hooks;

	hooks.owner = &transfer->jobs;

	int status = wh_host_start(&transfer->host, &transfer->runtime, &transfer->settings, &hooks,
		transfer->lanes.count);

	if (status != WH_EXIT_OK)
		return status;
	if (wh_jobs_init(&transfer->jobs, &transfer->host.ground, &transfer->settings, NULL) != 0) {
		wh_complain("no memory for the jobs");
		status = WH_EXIT_OTHER;
	} else {
		status = run(transfer);
	}
	wh_jobs_free(&transfer->jobs);
	wh_host_close(&transfer->host);
	wh_runtime_close(&transfer->runtime);
	return status;
}

static int run_verb(enum wh_verb verb, int argc, char **argv)
{
	struct wh_transfer *transfer = calloc(1, sizeof(*transfer));

	if (transfer == NULL)
		return WH_EXIT_OTHER;
	transfer->verb = verb;
	transfer->dest_fd = -1;
	pthread_mutex_init(&transfer->telling, NULL);

	int status = wh_settings_read(&transfer->settings, verb, argc, argv);

	transfer->lanes = (struct wh_lanes){
		.client = &transfer->client,
		.jobs = &transfer->jobs,
		.count = transfer->settings.parallel,
	};
	if (status < 0) {
		status = wh_transfer_read_operands(transfer);
		if (status == 0 && verb == WH_VERB_GET)
			status = wh_transfer_open_dest(transfer);
		if (status == 0) {
			wh_signals_catch();
			status = open_and_run(transfer);
		}
		wh_transfer_tell_end(transfer, status);
	} else if (status != WH_EXIT_OK) {
		/* What was wrong may have stood before the wish for it. */
		transfer->settings.json |= wh_words_contain(argc, argv, "--json");
		transfer->settings.json_stream |= wh_words_contain(argc, argv, "--json-stream");
		wh_transfer_tell_end(transfer, status);
	}
	wh_lanes_free(&transfer->lanes);
	wh_transfer_free_operands(transfer);
	free(transfer);
	return status;
}

int wh_verb_send(int argc, char **argv)
{
	return run_verb(WH_VERB_SEND, argc, argv);
}

int wh_verb_get(int argc, char **argv)
{
	return run_verb(WH_VERB_GET, argc, argv);
}
