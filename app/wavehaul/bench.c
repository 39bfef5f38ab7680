/* SPDX-License-Identifier: BSD-3-Clause */

/* `wavehaul bench`: memory to memory, a row a second, and the cycles by task. */

#include <stdlib.h>

#include <rte_cycles.h>

#include "base/clock.h"
#include "cli/complain.h"
#include "cli/exit.h"
#include "cli/signals.h"
#include "job/client.h"
#include "job/lanes.h"
#include "job/on_host.h"
#include "report/bench_report.h"
#include "report/flow_plot.h"
#include "report/learnt_path.h"
#include "report/outcome.h"
#include "ssh/far.h"
#include "telemetry/telemetry.h"
#include "transfer/sealed.h"
#include "transfer/wanted.h"
#include "verbs.h"

#define WATCH_MS 10

/* The last report may come soon after one of a full second: too short for a row. */
#define ROW_MIN_NS UINT64_C(50000000)

/* Idle connections are opened a few at a time, to give the server time to answer. */
#define IDLE_PER_TURN 16

struct bench {
	struct wh_settings settings;
	struct wh_on_host on;
	struct wh_sealed sealed;
	struct wh_client client;
	struct wh_address peer;
	struct wh_lanes lanes;
	uint32_t idles_started;
	bool idle_failed; /* an idle connection failed, which then ended the lanes */
	struct wh_job **idle;
	uint32_t told[WH_LANES_MAX]; /* number of reports at the last printed row */
	struct wh_bench_sum before;  /* at the last printed row */
	struct wh_bench_rows rows;
	struct wh_flow_plot plot;
	struct wh_learnt_path learnt; /* if it sends */
	uint64_t next_tsc;
	uint64_t next_row_tsc;
};

static void on_report(void *context, const struct wh_bench_report *report)
{
	struct wh_bench_lane *lane = context;

	rte_spinlock_lock(&lane->lock);
	lane->report = *report;
	lane->reports++;
	rte_spinlock_unlock(&lane->lock);
}

/* At most a lane for each byte: a lane of 0 bytes would be limited by time instead. */
static uint32_t lanes_of(const struct wh_settings *settings)
{
	return settings->size_bytes == 0
		       ? settings->parallel
		       : (uint32_t)wh_min_u64(settings->parallel, settings->size_bytes);
}

static int make_jobs(struct bench *bench)
{
	struct wh_request idle = wh_wanted_request(&bench->settings, WH_JOB_IDLE);
	struct wh_request request = wh_wanted_request(&bench->settings, WH_JOB_BENCH);
	uint32_t idles = bench->settings.idle_sessions;

	wh_sealed_name(&bench->sealed, &bench->peer, &idle);
	wh_sealed_name(&bench->sealed, &bench->peer, &request);
	request.lanes = lanes_of(&bench->settings);
	if (!request.reverse) {
		wh_learnt_path_recall(&bench->learnt, &bench->settings, &bench->peer);
		request.known = bench->learnt.known;
	}

	bench->idle = calloc(idles + 1, sizeof(bench->idle[0]));
	if (bench->idle == NULL)
		return WH_EXIT_OTHER;
	for (uint32_t i = 0; i < idles; i++) {
		bench->idle[i] = wh_job_create(&bench->on.jobs, &idle, 0);
		if (bench->idle[i] == NULL)
			return WH_EXIT_OTHER;
	}
	if (!wh_lanes_make(&bench->lanes, &bench->on.jobs, &bench->peer, &request))
		return WH_EXIT_OTHER;
	for (uint32_t lane = 0; lane < request.lanes; lane++)
		bench->lanes.job[lane]->listener = (struct wh_job_listener){
			.on_report = on_report,
			.context = &bench->rows.lane[lane],
		};
	return WH_EXIT_OK;
}

/* Idle connections first, so that the busy ones run beside them; true when all are open. */
static bool start_idles(struct bench *bench, uint64_t now_tsc)
{
	for (uint32_t i = 0;
		i < IDLE_PER_TURN && bench->idles_started < bench->settings.idle_sessions; i++) {
		struct wh_job *job = bench->idle[bench->idles_started++];

		wh_lanes_place(&bench->lanes, 1, job);
		wh_job_start(job, now_tsc);
	}
	return bench->idles_started == bench->settings.idle_sessions;
}

static void start_jobs(struct bench *bench, uint64_t now_tsc)
{
	if (!start_idles(bench, now_tsc))
		return;
	if (bench->lanes.started == 0)
		wh_lanes_start_first(&bench->lanes, now_tsc);
	else
		wh_lanes_start_others(&bench->lanes, now_tsc);
}

/* Reverse: from our own counters while the session exists, then from its result. */
static void count_lanes(struct bench *bench, uint64_t now_tsc)
{
	rte_spinlock_lock(&bench->on.jobs.burial);
	for (uint32_t i = 0; i < bench->lanes.started; i++) {
		struct wh_job *job = bench->lanes.job[i];
		int state = atomic_load(&job->view.state);

		if (state == WH_JOB_RUNNING && job->view.flow_began_tsc != 0)
			wh_bench_count(job, now_tsc, &bench->rows.lane[i].report);
		else if (state >= WH_JOB_ENDING && job->result.final.elapsed_ns > 0)
			bench->rows.lane[i].report = job->result.final;
		else
			continue;
		bench->rows.lane[i].reports++;
	}
	rte_spinlock_unlock(&bench->on.jobs.burial);
}

/* Whether every running lane has reported another second: waits for late reports. */
static bool all_have_told(struct bench *bench)
{
	for (uint32_t i = 0; i < bench->lanes.started; i++)
		if (atomic_load(&bench->lanes.job[i]->view.state) < WH_JOB_ENDING &&
			wh_bench_lane_reports(&bench->rows.lane[i]) <= bench->told[i])
			return false;
	return bench->lanes.started == bench->lanes.count;
}

static bool row_is_due(struct bench *bench, uint64_t now_tsc)
{
	if (!bench->settings.reverse)
		return all_have_told(bench);
	if (bench->lanes.started == 0 || bench->lanes.job[0]->view.flow_began_tsc == 0)
		return false;
	if (bench->next_row_tsc == 0)
		bench->next_row_tsc =
			bench->lanes.job[0]->view.flow_began_tsc + bench->on.host.ctx.hz;
	if (now_tsc < bench->next_row_tsc)
		return false;
	bench->next_row_tsc += bench->on.host.ctx.hz;
	return true;
}

static void print_row(struct bench *bench, uint64_t now_tsc)
{
	struct wh_bench_sum sum;

	if (bench->settings.reverse)
		count_lanes(bench, now_tsc);
	for (uint32_t i = 0; i < bench->lanes.started; i++)
		bench->told[i] = wh_bench_lane_reports(&bench->rows.lane[i]);
	wh_bench_add_up(&bench->rows, &sum);
	if (sum.receiver.elapsed_ns < bench->before.receiver.elapsed_ns + ROW_MIN_NS)
		return;
	wh_bench_row(&bench->rows, &bench->before, &sum);
	bench->before = sum;
}

/* If an idle session is refused, this is not the requested measurement. */
static bool an_idle_failed(const struct bench *bench)
{
	for (uint32_t i = 0; i < bench->idles_started; i++)
		if (wh_job_has_failed(bench->idle[i]))
			return true;
	return false;
}

static bool idles_are_gone(const struct bench *bench, uint64_t now_tsc)
{
	for (uint32_t i = 0; i < bench->idles_started; i++)
		if (!wh_job_is_over(bench->idle[i]))
			return now_tsc > bench->lanes.give_up_tsc;
	return true;
}

static int32_t watch(void *state, uint64_t now_tsc)
{
	struct bench *bench = state;
	enum wh_client_state client = wh_client_state(&bench->client);

	if (now_tsc < bench->next_tsc)
		return 0;
	bench->next_tsc = now_tsc + wh_ns_to_tsc(bench->on.host.ctx.hz, WATCH_MS * 1000000);
	if (client != WH_CLIENT_READY) {
		if (client > WH_CLIENT_READY || wh_signals_count() > 0)
			wh_runtime_stop(&bench->on.runtime);
		return 0;
	}

	struct wh_lanes *lanes = &bench->lanes;

	wh_flow_plot_look(&bench->plot, lanes, now_tsc);

	bool over = wh_lanes_ended(lanes, 0) || wh_lanes_failed(lanes) || wh_signals_count() > 0;

	if (!over)
		over = bench->idle_failed = an_idle_failed(bench);
	if (!over) {
		start_jobs(bench, now_tsc);
		if (row_is_due(bench, now_tsc))
			print_row(bench, now_tsc);
	} else if (lanes->give_up_tsc == 0) {
		print_row(bench, now_tsc);
		wh_lanes_hurry(lanes, now_tsc);
		for (uint32_t i = 0; i < bench->idles_started; i++)
			wh_job_hurry(bench->idle[i]);
	} else if (wh_lanes_gone(lanes, now_tsc) && idles_are_gone(bench, now_tsc)) {
		wh_runtime_stop(&bench->on.runtime);
	}
	return 0;
}

static int conclude(struct bench *bench)
{
	if (atomic_load(&bench->on.host.lost))
		return WH_EXIT_NETWORK;
	if (bench->idle_failed)
		return wh_jobs_conclude(bench->idle, bench->idles_started, bench->rows.server);
	if (bench->lanes.started == 0)
		return wh_client_conclude(&bench->client, bench->rows.server);

	int status = wh_jobs_conclude(bench->lanes.job, bench->lanes.started, bench->rows.server);

	wh_client_tell_hint(&bench->client, bench->lanes.job[0], bench->rows.server);
	return status;
}

static int draw(struct bench *bench, int status)
{
	return wh_flow_plot_write(&bench->plot, &bench->lanes, bench->settings.profile,
		bench->settings.reverse ? "bench from" : "bench to", bench->rows.server, status);
}

static int run(void *context)
{
	struct bench *bench = context;
	wh_client_init(&bench->client, &bench->on.host, &bench->peer,
		bench->settings.peer_timeout_ns, rte_rdtsc());

	int status = make_jobs(bench);

	if (status != WH_EXIT_OK)
		return wh_fail(status, "out of memory for the sessions; open fewer");

	struct wh_guard guard = wh_wanted_guard(&bench->settings, &bench->on.host);

	wh_sealed_guard(&bench->sealed, &guard);
	status = wh_wanted_guard_enter(&bench->settings, &guard);
	if (status != WH_EXIT_OK)
		return status;
	bench->rows.host = &bench->on.host;
	wh_runtime_add(&bench->on.runtime, 0, "watch", watch, bench);
	wh_telemetry_start(&bench->on.host, &bench->on.jobs);
	wh_runtime_run(&bench->on.runtime);
	wh_telemetry_stop();
	wh_jobs_end(&bench->on.jobs);
	status = draw(bench, conclude(bench));
	wh_jobs_tell_memory(bench->lanes.job, bench->lanes.started);
	if (!bench->settings.reverse)
		wh_learnt_path_keep(&bench->learnt, &bench->settings, &bench->lanes);
	if (bench->settings.reverse)
		count_lanes(bench, rte_rdtsc());
	wh_bench_add_up(&bench->rows, &bench->before);
	wh_bench_end(&bench->rows, &bench->before, status);
	return status;
}

static int open_and_run(struct bench *bench)
{
	bench->on.settings = wh_host_settings_of(&bench->settings);
	bench->on.settings.ports = 1;
	bench->on.places = lanes_of(&bench->settings) + bench->settings.idle_sessions;
	bench->on.repair = bench->settings.repair.on;

	return wh_on_sealed_host(
		&bench->sealed, &bench->settings, bench->rows.server, &bench->on, run, bench);
}

static int read_operands(struct bench *bench)
{
	struct wh_settings *settings = &bench->settings;

	if (settings->operand_count != 1)
		return wh_fail(
			WH_EXIT_USAGE, "bench needs one HOST; `wavehaul bench --help` explains");
	bench->rows.server = settings->operands[0];
	return wh_far_find(settings, WH_VERB_BENCH, bench->rows.server, &bench->peer);
}

int wh_verb_bench(int argc, char **argv)
{
	struct bench *bench = calloc(1, sizeof(*bench));

	if (bench == NULL)
		return WH_EXIT_OTHER;

	bench->rows.settings = &bench->settings;
	bench->rows.lanes = &bench->lanes;
	bench->rows.learnt = &bench->learnt;
	bench->rows.server = "";

	int status = wh_settings_read(&bench->settings, WH_VERB_BENCH, argc, argv);

	if (status < 0) {
		status = read_operands(bench);
		if (status == 0 && !wh_flow_plot_init(&bench->plot, bench->settings.plot))
			status = WH_EXIT_OTHER;
		if (status == 0) {
			wh_signals_catch();
			status = draw(bench, open_and_run(bench));
		}
	} else if (status != WH_EXIT_OK) {
		bench->settings.json |= wh_words_contain(argc, argv, "--json");
	}
	if (status != WH_EXIT_OK && bench->rows.host == NULL)
		wh_bench_end(&bench->rows, &bench->before, status);
	wh_lanes_free(&bench->lanes);
	for (uint32_t i = 0; bench->idle != NULL && i < bench->settings.idle_sessions; i++)
		wh_job_free(bench->idle[i]);
	free(bench->idle);
	free(bench);
	return status;
}
