/* SPDX-License-Identifier: BSD-3-Clause */
#include "transfer/own_port.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <rte_cycles.h>

#include "base/clock.h"
#include "base/units.h"
#include "cli/complain.h"
#include "cli/exit.h"
#include "cli/plain_text.h"
#include "cli/signals.h"
#include "history/history_store.h"
#include "job/client.h"
#include "job/on_host.h"
#include "report/outcome.h"
#include "ssh/far.h"
#include "telemetry/telemetry.h"
#include "transfer/recollect.h"
#include "transfer/sealed.h"
#include "transfer/wanted.h"

/* A very short transfer waits for this twice: for its start and for its end. */
#define WATCH_US 100

/* The port, and what goes on at it. Its lanes are read after its end. */
static struct own_port {
	struct wh_hook *then_run;
	struct wh_on_host on;
	struct wh_client client;
	struct wh_sealed sealed;
	struct wh_recollect recollect; /* of get */
	uint64_t next_tsc;
	bool start_told;
	bool waiting_told; /* the operator knows which server is waited for */
} own;

/* Paths are owned by what is wanted, which outlives the jobs. */
static struct wh_request request_of(const struct wh_wanted *wanted)
{
	bool sends = wh_wanted_sends(wanted);
	struct wh_request request =
		wh_wanted_request(&wanted->settings, sends ? WH_JOB_SEND : WH_JOB_GET);

	request.there.path = (const char *const *)wanted->remote;
	request.there.count = wanted->remotes;
	request.here.is_pipe = wanted->is_piped;
	request.here.pipe_fd = wanted->pipe_fd;
	if (!sends) {
		request.here.root_fd = wanted->dest_fd;
		request.here.path = (const char *const *)&wanted->dest_name;
		request.here.count = 1;
		request.here.by_match = wanted->dest_by_match;
		request.here.into_folder = wanted->dest_is_folder;
		request.here.as_name = !wanted->dest_is_folder;
		return request;
	}
	request.here.path = wanted->local;
	request.here.count = wanted->is_piped ? 0 : wanted->locals;
	request.here.pipe_s = time(NULL);
	request.there.as_name = wanted->is_piped;
	request.there.into_folder = !wanted->is_piped && wh_request_names_folder(&request);
	return request;
}

static int make_jobs(struct wh_transfer *transfer)
{
	const struct wh_wanted *wanted = &transfer->wanted;
	struct wh_running *running = &transfer->running;

	running->jobs = &own.on.jobs;
	running->request = request_of(wanted);
	if (wh_wanted_sends(wanted)) {
		wh_learnt_path_recall(&running->learnt, &wanted->settings, &wanted->peer);
		running->request.known = running->learnt.known;
	}
	if (!wh_transfer_choose(transfer))
		return WH_EXIT_USAGE;
	wh_sealed_name(&own.sealed, &wanted->peer, &running->request);
	return wh_transfer_make_lanes(transfer) ? WH_EXIT_OK : WH_EXIT_OTHER;
}

/* A failed lane's reason is reported; failed files are reported one by one. */
static int conclude(struct wh_transfer *transfer)
{
	const struct wh_lanes *lanes = &transfer->running.lanes;
	const char *server = transfer->wanted.server;

	if (atomic_load(&own.on.host.lost))
		return WH_EXIT_NETWORK;
	if (lanes->started == 0)
		return wh_client_conclude(&own.client, server);

	int status = wh_jobs_conclude(lanes->job, lanes->started, server);

	wh_client_tell_hint(&own.client, lanes->job[0], server);
	if (status == WH_EXIT_OK && wh_lanes_totals(lanes).failed > 0)
		return WH_EXIT_PARTIAL;
	return status;
}

/* Tells the operator, once, that the server does not answer yet. */
static void tell_waiting(const struct wh_transfer *transfer, uint64_t now_tsc)
{
	const struct wh_retry *retry = &transfer->running.retry;
	char text[WH_UNITS_MAX];

	if (own.waiting_told || now_tsc >= retry->until_tsc)
		return;
	own.waiting_told = true;
	wh_say("waiting for the server at %s, which does not answer yet, for at most %s",
		transfer->wanted.server,
		wh_format_time(
			text, sizeof(text), wh_tsc_to_ns(retry->hz, retry->until_tsc - now_tsc)));
}

/* After an attempt that failed: whether there may be another. */
static bool may_retry(struct wh_transfer *transfer, enum wh_retry_step step, uint64_t now_tsc)
{
	uint32_t left = transfer->running.retry.left;

	if (step == WH_RETRY_LOOKS) {
		wh_progress_clear(&transfer->told.progress);
		tell_waiting(transfer, now_tsc);
	} else if (step == WH_RETRY_COUNTED) {
		wh_progress_clear(&transfer->told.progress);
		(void)conclude(transfer);
		wh_say("retrying; %u more attempt%s if that fails", left, wh_plural(left));
		own.waiting_told = true;
	}
	return step != WH_RETRY_NOT;
}

/* Called when all lanes are over, or have had time to. False: so is the transfer. */
static bool goes_on(struct wh_transfer *transfer, uint64_t now_tsc)
{
	struct wh_running *running = &transfer->running;
	enum wh_retry_step step;

	if (wh_signals_count() > 0 || atomic_load(&own.on.host.lost))
		return false;
	step = wh_retry_next(&running->retry, &running->lanes, now_tsc);
	if (step != WH_RETRY_DUE)
		return may_retry(transfer, step, now_tsc);
	/* By now more may be known of the server's key. */
	wh_sealed_name(&own.sealed, &transfer->wanted.peer, &running->request);
	return wh_transfer_restart(transfer, now_tsc);
}

/* There is no link, or no route to the server. False: no further attempt. */
static bool looks_again(struct wh_transfer *transfer, uint64_t now_tsc)
{
	struct wh_retry *retry = &transfer->running.retry;

	if (retry->due_tsc == 0)
		return may_retry(transfer, wh_retry_unreached(retry, now_tsc), now_tsc);
	if (!wh_retry_is_due(retry, now_tsc))
		return true;
	wh_complaint_forget();
	wh_client_look_again(&own.client, transfer->wanted.settings.peer_timeout_ns, now_tsc);
	return true;
}

/* Once the path is known, or will not be: it decides the MTU. */
static void tell_start(struct wh_transfer *transfer)
{
	if (!own.start_told)
		wh_transfer_tell_start(transfer, &own.on.host);
	own.start_told = true;
}

static void start(struct wh_transfer *transfer, uint64_t now_tsc)
{
	tell_start(transfer);
	wh_lanes_start_first(&transfer->running.lanes, now_tsc);
}

/* Waits for the route to the server, then starts the first lane. */
static void await_route(struct wh_transfer *transfer, uint64_t now_tsc)
{
	enum wh_client_state client = wh_client_state(&own.client);

	if (client == WH_CLIENT_READY)
		start(transfer, now_tsc);
	else if (wh_signals_count() > 0)
		wh_runtime_stop(&own.on.runtime);
	else if ((client == WH_CLIENT_NO_LINK || client == WH_CLIENT_NO_ROUTE) &&
		 looks_again(transfer, now_tsc))
		return;
	else if (client > WH_CLIENT_READY)
		wh_runtime_stop(&own.on.runtime);
	else if (now_tsc - transfer->running.began_tsc > own.on.host.ctx.hz)
		tell_waiting(transfer, now_tsc);
}

static int32_t watch(void *state, uint64_t now_tsc)
{
	struct wh_transfer *transfer = state;
	struct wh_lanes *lanes = &transfer->running.lanes;

	if (now_tsc < own.next_tsc)
		return 0;
	own.next_tsc = now_tsc + wh_us_to_tsc(own.on.host.ctx.hz, WATCH_US);
	if (lanes->started == 0) {
		await_route(transfer, now_tsc);
		return 0;
	}
	if (wh_signals_count() > 0)
		wh_lanes_hurry(lanes, now_tsc);
	wh_transfer_look(transfer, now_tsc);
	if (wh_lanes_gone(lanes, now_tsc) && !goes_on(transfer, now_tsc))
		wh_runtime_stop(&own.on.runtime);
	return 0;
}

static int draw(struct wh_transfer *transfer, int status)
{
	const struct wh_wanted *wanted = &transfer->wanted;

	return wh_flow_plot_write(&transfer->running.plot, &transfer->running.lanes,
		wanted->settings.profile, wh_wanted_sends(wanted) ? "send to" : "get from",
		wanted->server, status);
}

/* Before a peer's first packet is read. */
static int enter_guard(const struct wh_wanted *wanted)
{
	const struct wh_settings *settings = &wanted->settings;
	struct wh_guard guard = wh_wanted_guard(settings, &own.on.host);

	for (uint32_t i = 0; i < wanted->locals && !wanted->is_piped; i++) {
		wh_guard_let_path(
			&guard, wanted->local[i], settings->move ? WH_LET_WRITE : WH_LET_READ);
		if (settings->move)
			wh_guard_let_file(&guard, wanted->local[i]);
	}
	wh_guard_let(&guard, wanted->dest_fd, WH_LET_WRITE);
	wh_sealed_guard(&own.sealed, &guard);
	if (!wh_wanted_sends(wanted))
		wh_recollect_init(&own.recollect, settings, &guard);

	wh_jobs_open_rings(&own.on.jobs, settings->parallel);

	int status = wh_wanted_guard_enter(settings, &guard);

	wh_hook_guard(own.then_run);
	if (status == WH_EXIT_OK && !wh_wanted_sends(wanted)) {
		wh_recollect_open(&own.recollect, settings);
		own.on.jobs.journal = own.recollect.journal;
	}
	return status;
}

/* Writes the history's record, for wavehaul report. */
static void note(const struct wh_transfer *transfer, int status)
{
	static struct wh_history_record entry;
	const struct wh_settings *settings = &transfer->wanted.settings;
	int folder_fd = settings->keep_records_ns > 0 ? wh_kept_folder(settings->state) : -1;
	char folder[PATH_MAX];
	struct wh_history *history;

	if (folder_fd < 0)
		return;
	close(folder_fd);
	if (transfer->running.lanes.started == 0 || !wh_kept_where(settings->state, folder) ||
		wh_history_open(&history, folder, true) < 0)
		return;
	wh_history_of_lanes(&entry, &transfer->running.lanes, transfer->wanted.server);
	entry.status = status;
	snprintf(entry.outcome, sizeof(entry.outcome), "%s",
		status == WH_EXIT_OK            ? "ok"
		: status == WH_EXIT_PARTIAL     ? "some files failed"
		: status == WH_EXIT_INTERRUPTED ? "interrupted"
						: "failed");
	snprintf(entry.why, sizeof(entry.why), "%s", wh_last_complaint());
	if (wh_history_add(history, &entry, 1) < 0 ||
		wh_history_forget(history,
			entry.ended_us - (int64_t)(settings->keep_records_ns / 1000),
			WH_HISTORY_ROWS_MAX) < 0)
		wh_say("cannot record the transfer for `wavehaul report` (--state)");
	wh_history_close(history);
}

static int run(void *context)
{
	struct wh_transfer *transfer = context;
	struct wh_running *running = &transfer->running;
	const struct wh_wanted *wanted = &transfer->wanted;
	const struct wh_settings *settings = &wanted->settings;

	running->began_tsc = rte_rdtsc();
	wh_client_init(&own.client, &own.on.host, &wanted->peer, settings->peer_timeout_ns,
		running->began_tsc);
	wh_retry_init(&running->retry, own.on.host.ctx.hz, settings->wait_ns, 0, settings->retries,
		running->began_tsc);

	int status = make_jobs(transfer);

	if (status == WH_EXIT_OK)
		status = enter_guard(wanted);
	if (status != WH_EXIT_OK)
		return status;
	wh_runtime_add(&own.on.runtime, 0, "watch", watch, transfer);
	wh_telemetry_start(&own.on.host, &own.on.jobs);
	wh_runtime_run(&own.on.runtime);
	wh_telemetry_stop();
	tell_start(transfer);
	wh_jobs_end(&own.on.jobs);
	wh_recollect_close(&own.recollect);
	wh_jobs_tell_memory(running->lanes.job, running->lanes.started);
	if (wh_wanted_sends(wanted))
		wh_learnt_path_keep(&running->learnt, settings, &running->lanes);
	status = wh_manifest_finish(
		&running->manifest, wh_transfer_open_file, transfer, conclude(transfer));
	status = draw(transfer, status);
	note(transfer, status);
	return status;
}

static int open_and_run(struct wh_transfer *transfer)
{
	const struct wh_settings *settings = &transfer->wanted.settings;

	own.on.settings = wh_host_settings_of(settings);
	own.on.places = settings->parallel;
	own.on.repair = settings->repair.on;

	return wh_on_sealed_host(
		&own.sealed, settings, transfer->wanted.server, &own.on, run, transfer);
}

/* False after a complaint. */
static bool place_remotes(struct wh_wanted *wanted)
{
	for (uint32_t i = 0; i < wanted->remotes; i++) {
		char *path = wh_far_path(wanted->settings.far, wanted->remote[i],
			wanted->settings.relative && !wh_wanted_sends(wanted));

		if (path == NULL)
			return false;
		free(wanted->remote[i]);
		wanted->remote[i] = path;
	}
	return true;
}

int wh_transfer_by_port(struct wh_transfer *transfer, struct wh_hook *then_run)
{
	struct wh_wanted *wanted = &transfer->wanted;
	struct wh_settings *settings = &wanted->settings;
	struct wh_running *running = &transfer->running;
	int status = wh_far_find(settings, wanted->verb, wanted->server, &wanted->peer);

	own.then_run = then_run;
	if (status == 0 && !place_remotes(wanted))
		status = WH_EXIT_NO_FILE;
	if (status == 0)
		status =
			wh_manifest_open(&running->manifest, settings, wh_wanted_sends(wanted), -1);
	if (status == 0 && !wh_wanted_sends(wanted))
		status = wh_transfer_open_dest(wanted);
	if (status == 0 && !wh_flow_plot_init(&running->plot, settings->plot))
		status = WH_EXIT_OTHER;
	return status == 0 ? draw(transfer, open_and_run(transfer)) : status;
}
