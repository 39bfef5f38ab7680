/* SPDX-License-Identifier: BSD-3-Clause */
#include "transfer/own_port.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <rte_cycles.h>

#include "base/clock.h"
#include "base/units.h"
#include "book/store.h"
#include "cli/complain.h"
#include "cli/exit.h"
#include "cli/plain_text.h"
#include "cli/signals.h"
#include "guard/hook.h"
#include "job/on_host.h"
#include "report/outcome.h"
#include "telemetry/telemetry.h"
#include "transfer/recollect.h"
#include "transfer/sealed.h"
#include "transfer/wanted.h"

/* A very short transfer waits for this twice: for its start and for its end. */
#define WATCH_US 100

static struct wh_sealed sealed;
static struct wh_recollect recollect; /* of get */
static struct wh_hook *hook;          /* of --then-run */

/* Paths are owned by the transfer, which outlives its jobs. */
static struct wh_request request_of(const struct wh_transfer *transfer)
{
	bool sends = transfer->verb == WH_VERB_SEND;
	struct wh_request request =
		wh_wanted_request(&transfer->settings, sends ? WH_JOB_SEND : WH_JOB_GET);

	request.there.path = (const char *const *)transfer->remote;
	request.there.count = transfer->remotes;
	if (sends) {
		request.known = transfer->way.known;
		request.here.path = transfer->local;
		request.here.count = transfer->locals;
		request.here.is_pipe = transfer->is_piped;
		request.here.pipe_fd = transfer->pipe_fd;
		request.here.pipe_s = time(NULL);
		request.there.as_name = transfer->is_piped || transfer->as_name;
		if (transfer->is_piped) {
			request.here.count = 0;
			return request;
		}
		request.there.into_folder = wh_request_names_folder(&request);
		return request;
	}
	request.here.root_fd = transfer->dest_fd;
	request.here.path = (const char *const *)&transfer->dest_name;
	request.here.count = 1;
	request.here.by_match = transfer->dest_by_match && !transfer->as_name;
	request.here.into_folder =
		transfer->dest_by_match ? !transfer->as_name : transfer->dest_is_folder;
	request.here.as_name = !request.here.into_folder;
	request.here.is_pipe = transfer->is_piped;
	request.here.pipe_fd = transfer->pipe_fd;
	return request;
}

static int make_jobs(struct wh_transfer *transfer)
{
	if (transfer->verb == WH_VERB_SEND)
		wh_way_recall(&transfer->way, &transfer->settings, &transfer->peer);

	struct wh_request request = request_of(transfer);

	if (!wh_wanted_choice(&transfer->settings, &transfer->terms, &request.choice))
		return WH_EXIT_USAGE;
	wh_request_see_contents(&request);
	wh_sealed_name(&sealed, &transfer->peer, &request);
	if (!wh_request_fits(&request))
		return WH_EXIT_USAGE;
	if (!wh_lanes_make(&transfer->lanes, &transfer->jobs, &transfer->peer, &request)) {
		wh_complain("out of memory for the jobs");
		return WH_EXIT_OTHER;
	}
	for (uint32_t lane = 0; lane < request.lanes; lane++)
		transfer->lanes.job[lane]->listener = (struct wh_job_listener){
			.gate = lane == 0 && request.lanes > 1 ? &transfer->gate : NULL,
			.on_file = wh_transfer_on_file,
			.context = transfer,
		};
	return WH_EXIT_OK;
}

/* True when there is nothing left to wait for. */
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

/* Repeats it with new jobs: files that arrived before are there, and in the journal. */
static bool begin_again(struct wh_transfer *transfer, uint64_t now_tsc)
{
	/*
	 * If the target exists now, the previous try has created it: it is not a folder for the
	 * files.
	 */
	transfer->as_name |= transfer->lanes.job[0]->ready.as_name;
	wh_flow_plot_renew(&transfer->plot);
	wh_lanes_free(&transfer->lanes);
	transfer->lanes = (struct wh_lanes){0};
	wh_transfer_forget(transfer);
	wh_complaint_forget();
	atomic_store(&transfer->gate, false);
	if (make_jobs(transfer) != WH_EXIT_OK)
		return false;
	wh_lanes_start_first(&transfer->lanes, now_tsc);
	return true;
}

/* A failed lane's reason is reported; failed files are reported one by one. */
static int conclude(struct wh_transfer *transfer)
{
	const struct wh_lanes *lanes = &transfer->lanes;

	if (atomic_load(&transfer->host.lost))
		return WH_EXIT_NETWORK;
	if (lanes->started == 0)
		return wh_client_conclude(&transfer->client, transfer->server);

	int status = wh_jobs_conclude(lanes->job, lanes->started, transfer->server);

	wh_client_tell_hint(&transfer->client, lanes->job[0], transfer->server);
	if (status == WH_EXIT_OK && wh_lanes_totals(&transfer->lanes).failed > 0)
		return WH_EXIT_PARTIAL;
	return status;
}

/* Once a second has shown that it takes longer than usual. */
static void tell_waiting(struct wh_transfer *transfer, uint64_t now_tsc)
{
	const struct wh_retry *retry = &transfer->retry;
	char text[WH_UNITS_MAX];

	if (transfer->waiting_told || now_tsc >= retry->until_tsc)
		return;
	transfer->waiting_told = true;
	wh_say("waiting for the server at %s, which does not answer yet, for at most %s",
		transfer->server,
		wh_format_time(
			text, sizeof(text), wh_tsc_to_ns(retry->hz, retry->until_tsc - now_tsc)));
}

/* After an attempt that failed: whether there may be another. */
static bool may_retry(struct wh_transfer *transfer, enum wh_retry_step step, uint64_t now_tsc)
{
	switch (step) {
	case WH_RETRY_LOOKS:
		wh_progress_clear(&transfer->progress);
		tell_waiting(transfer, now_tsc);
		return true;
	case WH_RETRY_AGAIN:
		wh_progress_clear(&transfer->progress);
		(void)conclude(transfer);
		wh_say("retrying; %u more attempt%s if that fails", transfer->retry.left,
			wh_plural(transfer->retry.left));
		transfer->waiting_told = true;
		return true;
	default:
		return step == WH_RETRY_ENDING;
	}
}

/* Called when all lanes are over, or have had time to. False: so is the transfer. */
static bool goes_on(struct wh_transfer *transfer, uint64_t now_tsc)
{
	struct wh_retry *retry = &transfer->retry;

	if (wh_signals_count() > 0 || atomic_load(&transfer->host.lost))
		return false;
	if (retry->due_tsc == 0)
		return may_retry(
			transfer, wh_retry_failed(retry, &transfer->lanes, now_tsc), now_tsc);
	return !wh_retry_is_due(retry, now_tsc) || begin_again(transfer, now_tsc);
}

/* There is no link, or no way on it to the server. */
static bool looks_again(struct wh_transfer *transfer, uint64_t now_tsc)
{
	struct wh_retry *retry = &transfer->retry;

	if (retry->due_tsc == 0)
		return may_retry(transfer, wh_retry_unreached(retry, now_tsc), now_tsc);
	if (!wh_retry_is_due(retry, now_tsc))
		return true;
	wh_complaint_forget();
	wh_client_look_again(&transfer->client, transfer->settings.peer_timeout_ns, now_tsc);
	return true;
}

/* Until the first lane can start. */
static void await_way(struct wh_transfer *transfer, uint64_t now_tsc)
{
	enum wh_client_state client = wh_client_state(&transfer->client);

	if (client == WH_CLIENT_READY)
		wh_lanes_start_first(&transfer->lanes, now_tsc);
	else if (wh_signals_count() > 0)
		wh_runtime_stop(&transfer->runtime);
	else if ((client == WH_CLIENT_NO_LINK || client == WH_CLIENT_NO_WAY) &&
		 looks_again(transfer, now_tsc))
		return;
	else if (client > WH_CLIENT_READY)
		wh_runtime_stop(&transfer->runtime);
	else if (now_tsc - transfer->began_tsc > transfer->host.ground.hz)
		tell_waiting(transfer, now_tsc);
}

static int32_t watch(void *state, uint64_t now_tsc)
{
	struct wh_transfer *transfer = state;

	if (now_tsc < transfer->next_tsc)
		return 0;
	transfer->next_tsc = now_tsc + wh_us_to_tsc(transfer->host.ground.hz, WATCH_US);
	if (transfer->lanes.started == 0) {
		await_way(transfer, now_tsc);
		return 0;
	}
	wh_transfer_tell_progress(transfer, now_tsc);
	wh_flow_plot_look(&transfer->plot, &transfer->lanes, now_tsc);
	if (see_lanes(transfer, now_tsc) && !goes_on(transfer, now_tsc))
		wh_runtime_stop(&transfer->runtime);
	return 0;
}

static int draw(struct wh_transfer *transfer, int status)
{
	bool sends = transfer->verb == WH_VERB_SEND;

	return wh_flow_plot_write(&transfer->plot, &transfer->lanes, transfer->settings.profile,
		sends ? "send to" : "get from", transfer->server, status);
}

/* Before a peer's first packet is read. */
static int enter_guard(struct wh_transfer *transfer)
{
	const struct wh_settings *settings = &transfer->settings;
	struct wh_guard guard = wh_wanted_guard(settings, &transfer->host.spec);

	for (uint32_t i = 0; i < transfer->locals && !transfer->is_piped; i++) {
		wh_guard_let_path(
			&guard, transfer->local[i], settings->move ? WH_LET_WRITE : WH_LET_READ);
		if (settings->move)
			wh_guard_let_file(&guard, transfer->local[i]);
	}
	wh_guard_let(&guard, transfer->dest_fd, WH_LET_WRITE);
	wh_sealed_guard(&sealed, &guard);
	if (transfer->verb == WH_VERB_GET)
		wh_recollect_init(&recollect, settings, &guard);

	wh_jobs_open_rings(&transfer->jobs, settings->parallel);

	int status = wh_wanted_guard_enter(settings, &guard);

	wh_hook_guard(hook);
	if (status == WH_EXIT_OK && transfer->verb == WH_VERB_GET) {
		wh_recollect_open(&recollect, settings);
		transfer->jobs.journal = recollect.journal;
	}
	return status;
}

/* Writes the book's entry, for wavehaul report. */
static void note(const struct wh_transfer *transfer, int status)
{
	static struct wh_book_entry entry;
	const struct wh_settings *settings = &transfer->settings;
	int folder_fd = settings->keep_records_ns > 0 ? wh_kept_folder(settings->state) : -1;
	char folder[PATH_MAX];
	struct wh_book *book;

	if (folder_fd < 0)
		return;
	close(folder_fd);
	if (transfer->lanes.started == 0 || !wh_kept_where(settings->state, folder) ||
		wh_book_open(&book, folder, true) < 0)
		return;
	wh_entry_of_lanes(&entry, &transfer->lanes, transfer->server);
	entry.status = status;
	snprintf(entry.outcome, sizeof(entry.outcome), "%s",
		status == WH_EXIT_OK            ? "ok"
		: status == WH_EXIT_PARTIAL     ? "some files failed"
		: status == WH_EXIT_INTERRUPTED ? "interrupted"
						: "failed");
	snprintf(entry.why, sizeof(entry.why), "%s", wh_last_complaint());
	if (wh_book_add(book, &entry, 1) < 0 ||
		wh_book_forget(book, entry.ended_us - (int64_t)(settings->keep_records_ns / 1000),
			WH_BOOK_ROWS_MAX) < 0)
		wh_say("cannot record the transfer for `wavehaul report` (--state)");
	wh_book_close(book);
}

static int run(void *context)
{
	struct wh_transfer *transfer = context;
	wh_client_init(&transfer->client, &transfer->host, &transfer->peer,
		transfer->settings.peer_timeout_ns, rte_rdtsc());

	transfer->began_tsc = rte_rdtsc();
	wh_retry_init(&transfer->retry, transfer->host.ground.hz, transfer->settings.wait_ns,
		transfer->settings.retries, transfer->began_tsc);

	int status = make_jobs(transfer);

	if (status == WH_EXIT_OK)
		status = enter_guard(transfer);
	if (status != WH_EXIT_OK)
		return status;
	wh_runtime_add(&transfer->runtime, 0, "watch", watch, transfer);
	wh_telemetry_start(&transfer->host, &transfer->jobs);
	wh_transfer_tell_start(transfer);
	wh_runtime_run(&transfer->runtime);
	wh_telemetry_stop();
	wh_jobs_end(&transfer->jobs);
	wh_recollect_close(&recollect);
	wh_jobs_tell_memory(transfer->lanes.job, transfer->lanes.started);
	if (transfer->verb == WH_VERB_SEND)
		wh_way_keep(&transfer->way, &transfer->settings, &transfer->lanes);
	status = wh_manifest_finish(
		&transfer->manifest, wh_transfer_open_file, transfer, conclude(transfer));
	status = draw(transfer, status);
	note(transfer, status);
	return status;
}

static int open_and_run(struct wh_transfer *transfer)
{
	transfer->host_settings = wh_host_settings_of(&transfer->settings);

	const struct wh_on_host wanted = {
		.host = &transfer->host,
		.runtime = &transfer->runtime,
		.settings = &transfer->host_settings,
		.places = transfer->settings.parallel,
		.jobs = &transfer->jobs,
		.repair = transfer->settings.repair.on,
	};

	return wh_on_sealed_host(&sealed, &transfer->settings, transfer->server,
		&transfer->host_settings, &wanted, run, transfer);
}

int wh_transfer_by_port(struct wh_transfer *transfer, struct wh_hook *then_run)
{
	const struct wh_settings *settings = &transfer->settings;
	int status = wh_settings_check_own(settings);

	hook = then_run;
	if (status == -1)
		status = wh_transfer_find_server(transfer);
	if (status == 0)
		status = wh_manifest_open(
			&transfer->manifest, settings, transfer->verb == WH_VERB_SEND, -1);
	if (status == 0 && transfer->verb == WH_VERB_GET)
		status = wh_transfer_open_dest(transfer);
	if (status == 0 && !wh_flow_plot_init(&transfer->plot, settings->plot))
		status = WH_EXIT_OTHER;
	return status == 0 ? draw(transfer, open_and_run(transfer)) : status;
}
