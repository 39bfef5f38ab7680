/* SPDX-License-Identifier: BSD-3-Clause */
#include "transfer/told.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>
#include <rte_version.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/units.h"
#include "cli/cli_repair.h"
#include "cli/exit.h"
#include "cli/fault_text.h"
#include "cli/json.h"
#include "cli/plain_text.h"
#include "report/cost.h"
#include "report/seal_told.h"
#include "transfer/transfer.h"

#define STALL_MS 1000

/* Hands over a line of JSON, or prints it. */
static void tell(const struct wh_transfer *transfer, json_t *line)
{
	if (transfer->told.on_event != NULL)
		transfer->told.on_event(transfer->told.context, line);
	else
		wh_json_print(line, JSON_COMPACT);
}

static const char *verb_name(const struct wh_transfer *transfer)
{
	return wh_wanted_sends(&transfer->wanted) ? "send" : "get";
}

void wh_told_init(struct wh_told *told)
{
	wh_failures_init(&told->failures);
	pthread_mutex_init(&told->telling, NULL);
}

void wh_transfer_tell_start(struct wh_transfer *transfer, const struct wh_host *host)
{
	const struct wh_settings *settings = &transfer->wanted.settings;
	/* For an order only its own settings: the others belong to its server. */
	struct wh_told *told = &transfer->told;
	enum wh_verb keys_of = told->on_event != NULL ? WH_VERB_JOB : transfer->wanted.verb;
	char value[WH_SETTINGS_TEXT_BYTES];
	char key[WH_SETTINGS_KEY_BYTES];
	char ports[WH_HOST_PORTS_BYTES];

	told->progress.hz = host->ctx.hz;
	told->rows_shown = settings->verbose && !settings->json_stream;
	told->line_shown = wh_progress_has_terminal() && !settings->json_stream &&
			   !told->rows_shown && !settings->quiet;
	if (!settings->json_stream)
		return;

	json_t *effective = json_object();
	json_t *cores = json_array();

	for (uint32_t i = 0; wh_settings_at(settings, keys_of, i, key, value); i++)
		json_object_set_new(effective, key, json_string(value));
	if (keys_of == WH_VERB_JOB)
		json_object_set_new(
			effective, "transfer.rate", wh_word_to_json(settings->timetable));
	for (uint32_t i = 0; i < host->runtime->cores.count; i++) {
		const struct wh_core *core = &host->runtime->cores.core[i];

		json_array_append_new(cores,
			json_pack("{s:i, s:b, s:i, s:i}", "cpu", core->cpu, "works", core->works,
				"receives", core->receives, "sends", core->sends));
	}
	wh_host_port_names(host, 0, host->ports, ports);
	tell(transfer,
		json_pack("{s:s, s:s, s:s, s:s, s:o, s:s, s:i, s:b, s:o, s:o}", "event", "start",
			"verb", verb_name(transfer), "version", WH_VERSION, "dpdk", rte_version(),
			"host", wh_word_to_json(transfer->wanted.server), "port", ports, "mtu",
			(int)host->ctx.settings->mtu_bytes, "hugepages",
			host->runtime->eal.hugepages, "cores", cores, "settings", effective));
}

void wh_transfer_name(const struct wh_wanted *wanted, struct wh_told *told, const char *path,
	uint64_t bytes, const char *status)
{
	bool would = strncmp(status, "would", strlen("would")) == 0;
	const struct wh_settings *settings = &wanted->settings;
	FILE *to = wh_wanted_output(wanted);
	char plain[4 * WH_PATH_BYTES_MAX + 1];

	if (settings->json || settings->json_stream || (!would && !settings->names) ||
		settings->quiet)
		return;
	if (told->same_terminal)
		wh_progress_clear(&told->progress);
	wh_plain_text(path, true, plain, sizeof(plain));
	if (strcmp(status, "would go") == 0)
		fprintf(to, "%s: %s, %" PRIu64 " B\n", status, plain, bytes);
	else if (strcmp(status, "done") == 0)
		fprintf(to, "%s\n", plain);
	else
		fprintf(to, "%s: %s\n", status, plain);
}

static const char *status_of(const struct wh_file_result *result)
{
	if (result->removed)
		return result->would ? "would be removed" : "removed";
	if (result->would)
		return "would go";
	if (result->skipped || result->doing == WH_DOING_PASSING)
		return "skipped";
	if (result->kept)
		return "kept";
	return result->error != 0 ? "failed" : "done";
}

void wh_transfer_on_file(void *context, const struct wh_file_result *result)
{
	struct wh_transfer *transfer = context;
	struct wh_told *told = &transfer->told;
	char why[WH_FAULT_TEXT_BYTES];
	char text[300] = "";
	bool passed_over = result->doing == WH_DOING_PASSING;

	if (result->error != 0)
		snprintf(text, sizeof(text), "%s%s",
			result->at_peer && !passed_over ? "at the other end: " : "",
			wh_fault_text(why, (enum wh_doing)result->doing, result->error));
	pthread_mutex_lock(&told->telling);
	if (result->error != 0)
		wh_failures_add(&told->failures, result->path, text,
			passed_over ? WH_FAILURE_PASSED_OVER : WH_FAILURE_FAILED);
	else if (result->removed)
		wh_failures_add(&told->failures, result->path, "", WH_FAILURE_REMOVED);
	else if (result->kind == WH_ENTRY_FILE)
		wh_manifest_note(&transfer->running.manifest, result->path);
	if (result->skipped)
		told->skipped_bytes += result->bytes;
	if (result->error == 0 && !result->skipped &&
		(result->kind == WH_ENTRY_FILE || result->removed))
		wh_transfer_name(
			&transfer->wanted, told, result->path, result->bytes, status_of(result));
	if (transfer->wanted.settings.json_stream) {
		json_t *line = json_pack("{s:s, s:s, s:I}", "event", "file", "status",
			status_of(result), "bytes", (json_int_t)result->bytes);

		wh_path_to_json(line, "path", result->path);
		if (result->error != 0)
			json_object_set_new(line, "error", json_string(text));
		tell(transfer, line);
	}
	pthread_mutex_unlock(&told->telling);
}

/* Moved payload includes records, so slightly too little may seem to be left. */
static struct wh_left look_left(
	const struct wh_transfer *transfer, const struct wh_totals *totals, uint64_t bytes)
{
	uint64_t done = totals->files + totals->skipped + totals->failed;
	uint64_t done_bytes =
		wh_add_u64(bytes + transfer->told.skipped_bytes, totals->resumed_bytes);
	uint64_t files = 0, all_bytes = 0;
	struct wh_left left = {
		.at_least = transfer->running.lanes.started < transfer->running.lanes.count};

	for (uint32_t lane = 0; lane < transfer->running.lanes.started; lane++) {
		const struct wh_job *job = transfer->running.lanes.job[lane];

		left.at_least |= !atomic_load_explicit(&job->view.all_found, memory_order_acquire);
		files = wh_add_u64(
			files, atomic_load_explicit(&job->view.files_found, memory_order_relaxed));
		all_bytes = wh_add_u64(all_bytes,
			atomic_load_explicit(&job->view.bytes_found, memory_order_relaxed));
	}
	left.files = files - wh_min_u64(files, done);
	left.bytes = all_bytes - wh_min_u64(all_bytes, done_bytes);
	return left;
}

static void show_line(struct wh_transfer *transfer, uint64_t now_tsc, uint64_t bytes)
{
	struct wh_totals totals = wh_lanes_totals(&transfer->running.lanes);
	uint64_t passed_bytes = wh_add_u64(totals.resumed_bytes, transfer->told.skipped_bytes);
	const struct wh_left left = look_left(transfer, &totals, bytes);
	char words[WH_PROGRESS_TEXT_BYTES];

	wh_progress_left(words, totals.files + totals.skipped, &left);
	wh_progress_show(&transfer->told.progress, now_tsc, bytes, passed_bytes,
		left.at_least ? 0 : wh_add_u64(wh_add_u64(bytes, passed_bytes), left.bytes), words);
}

/* Since the previous report. */
static double span_s(const struct wh_progress *progress, uint64_t now_tsc)
{
	return wh_progress_s(progress, progress->last_tsc, now_tsc);
}

static double all_s(const struct wh_progress *progress, uint64_t now_tsc)
{
	return wh_progress_s(progress, progress->began_tsc, now_tsc);
}

static double bps_now(const struct wh_progress *progress, uint64_t now_tsc, uint64_t bytes)
{
	WH_ASSERT(now_tsc > progress->last_tsc);
	return (double)(bytes - progress->last_bytes) * 8 / span_s(progress, now_tsc);
}

/* On stderr, like the other output of --details. */
static void print_row(const struct wh_transfer *transfer, uint64_t now_tsc, uint64_t bytes,
	const struct wh_flow_now *flow, bool head)
{
	if (head) {
		fprintf(stderr, "%8s %10s", "s", "Gb/s");
		wh_flow_now_print_head(flow, stderr);
		fputc('\n', stderr);
	}
	fprintf(stderr, "%8.2f %10.3f", all_s(&transfer->told.progress, now_tsc),
		bps_now(&transfer->told.progress, now_tsc, bytes) / 1e9);
	wh_flow_now_print(&transfer->told.last_flow, flow, stderr);
	fputc('\n', stderr);
}

static void print_interval(struct wh_transfer *transfer, uint64_t now_tsc, uint64_t bytes,
	const struct wh_flow_now *flow)
{
	struct wh_totals totals = wh_lanes_totals(&transfer->running.lanes);
	json_t *line = json_pack("{s:s, s:f, s:f, s:I, s:f, s:I, s:I, s:I}", "event", "interval",
		"seconds", all_s(&transfer->told.progress, now_tsc), "span",
		span_s(&transfer->told.progress, now_tsc), "bytes", (json_int_t)bytes, "bps",
		bps_now(&transfer->told.progress, now_tsc, bytes), "files",
		(json_int_t)totals.files, "skipped", (json_int_t)totals.skipped, "failed",
		(json_int_t)totals.failed);
	const struct wh_left left = look_left(transfer, &totals, bytes);
	double seconds = all_s(&transfer->told.progress, now_tsc);
	double eta_s = wh_progress_eta_s(&left, bytes, seconds);

	wh_json_add(
		line, json_pack("{s:I, s:I, s:b, s:f, s:o}", "files_left", (json_int_t)left.files,
			      "bytes_left", (json_int_t)left.bytes, "at_least", left.at_least,
			      "mean_bps", seconds > 0 ? (double)bytes * 8 / seconds : 0, "eta_s",
			      eta_s >= 0 ? json_real(eta_s) : json_null()));
	wh_flow_now_to_json(line, &transfer->told.last_flow, flow);
	tell(transfer, line);
}

/* The limit is known at the sending end only. */
static json_t *limit_now(const struct wh_transfer *transfer)
{
	if (!wh_wanted_sends(&transfer->wanted))
		return json_null();
	return json_string(wh_limit_name((enum wh_limit)atomic_load_explicit(
		&transfer->running.lanes.job[0]->view.limit_now, memory_order_relaxed)));
}

static void see_stall(struct wh_transfer *transfer, uint64_t now_tsc, uint64_t bytes)
{
	struct wh_told *told = &transfer->told;
	if (bytes != told->progress.last_bytes || told->moved_tsc == 0) {
		told->moved_tsc = now_tsc;
		told->stall_told = false;
	}
	if (told->stall_told || now_tsc - told->moved_tsc < wh_ns_to_tsc(told->progress.hz,
								    STALL_MS * UINT64_C(1000000)))
		return;
	told->stall_told = true;
	if (transfer->wanted.settings.json_stream)
		tell(transfer, json_pack("{s:s, s:f, s:o}", "event", "stall", "seconds",
				       all_s(&told->progress, now_tsc), "held_up_by",
				       limit_now(transfer)));
}

void wh_transfer_tell_progress(struct wh_transfer *transfer, uint64_t now_tsc)
{
	struct wh_told *told = &transfer->told;
	bool by_second = transfer->wanted.settings.json_stream || told->rows_shown;
	uint64_t every_ms = by_second ? 1000 : WH_PROGRESS_MS;

	if (told->progress.began_tsc == 0 &&
		atomic_load(&transfer->running.lanes.job[0]->view.state) != WH_JOB_RUNNING)
		return;
	if (!wh_progress_is_due(&told->progress, now_tsc, every_ms))
		return;

	uint64_t bytes = wh_lanes_moved_bytes(&transfer->running.lanes);
	struct wh_flow_now flow;

	if (told->progress.last_tsc < now_tsc)
		told->now_bps = bps_now(&told->progress, now_tsc, bytes);
	wh_flow_now_look(&flow, transfer->running.lanes.job, transfer->running.lanes.started);
	if (by_second)
		wh_flow_now_count_host(&flow, transfer->running.lanes.job[0]);
	pthread_mutex_lock(&told->telling);
	if (transfer->wanted.settings.json_stream && told->progress.last_tsc < now_tsc)
		print_interval(transfer, now_tsc, bytes, &flow);
	else if (told->rows_shown && told->progress.last_tsc < now_tsc)
		print_row(transfer, now_tsc, bytes, &flow, told->rows++ % 20 == 0);
	else if (told->line_shown)
		show_line(transfer, now_tsc, bytes);
	see_stall(transfer, now_tsc, bytes);
	pthread_mutex_unlock(&told->telling);
	wh_progress_told(&told->progress, now_tsc, bytes);
	told->last_flow = flow;
}

struct wh_transfer_stage wh_transfer_stage(struct wh_transfer *transfer)
{
	struct wh_told *told = &transfer->told;
	uint64_t bytes = told->progress.last_bytes;
	struct wh_totals totals = wh_lanes_totals(&transfer->running.lanes);
	struct wh_transfer_stage stage = {.percent = -1, .now_bps = told->now_bps};
	struct wh_left left;
	uint64_t there;

	pthread_mutex_lock(&told->telling);
	left = look_left(transfer, &totals, bytes);
	there = wh_add_u64(wh_add_u64(bytes, totals.resumed_bytes), told->skipped_bytes);
	pthread_mutex_unlock(&told->telling);
	stage.eta_s =
		wh_progress_eta_s(&left, bytes, all_s(&told->progress, told->progress.last_tsc));
	if (!left.at_least && there + left.bytes > 0)
		stage.percent = 100.0 * (double)there / ((double)there + (double)left.bytes);
	return stage;
}

static struct wh_session_stats sum_stats(const struct wh_transfer *transfer)
{
	struct wh_session_stats sum = {0};

	for (uint32_t lane = 0; lane < transfer->running.lanes.started; lane++) {
		const struct wh_job *job = transfer->running.lanes.job[lane];

		wh_session_stats_add(&sum, &job->result.figures.stats);
	}
	return sum;
}

/*
 * The bytes from which the rate is computed: those of the files without what was resumed; after a
 * failure, all payload that moved.
 */
static uint64_t flowed_bytes(struct wh_transfer *transfer, int status)
{
	const struct wh_totals totals = wh_lanes_totals(&transfer->running.lanes);

	if (transfer->wanted.settings.dry_run)
		return 0;
	return status != WH_EXIT_OK ? wh_lanes_moved_bytes(&transfer->running.lanes)
				    : totals.bytes - wh_min_u64(totals.resumed_bytes, totals.bytes);
}

/* Of this host at the end of the last lane. */
static struct wh_cost cost_of(const struct wh_lanes *lanes)
{
	uint64_t cycles = 0;
	uint64_t worker_cycles = 0;

	for (uint32_t i = 0; i < lanes->started; i++) {
		const struct wh_job_figures *figures = &lanes->job[i]->result.figures;

		cycles = wh_max_u64(cycles, figures->cycles);
		worker_cycles = wh_max_u64(worker_cycles, figures->worker_cycles);
	}
	return wh_cost_of(cycles, worker_cycles);
}

/* If it has the process for itself: a server's cycles are of all its jobs. */
static json_t *cost_json(const struct wh_transfer *transfer)
{
	const struct wh_lanes *lanes = &transfer->running.lanes;

	if (transfer->told.on_event != NULL)
		return json_null();

	const struct wh_cost cost = cost_of(lanes);

	return wh_cost_json(&cost, wh_lanes_moved_bytes(lanes), transfer->told.progress.hz);
}

static void print_cost(const struct wh_transfer *transfer)
{
	const struct wh_lanes *lanes = &transfer->running.lanes;
	const struct wh_cost cost = cost_of(lanes);

	wh_cost_print(wh_wanted_output(&transfer->wanted), "here", &cost,
		wh_lanes_moved_bytes(lanes), transfer->told.progress.hz);
}

/* All that is told of the end. */
static json_t *end_json(struct wh_transfer *transfer, int status)
{
	struct wh_totals totals = wh_lanes_totals(&transfer->running.lanes);
	struct wh_session_stats stats = sum_stats(transfer);
	const struct wh_job *job = transfer->running.lanes.job[0];
	bool sends = wh_wanted_sends(&transfer->wanted) && job != NULL;
	json_t *line = wh_head_json(verb_name(transfer), status);

	wh_flow_to_json(line, totals.bytes, flowed_bytes(transfer, status),
		wh_lanes_seconds(&transfer->running.lanes));
	if (transfer->wanted.settings.json_stream)
		json_object_set_new(line, "event", json_string("end"));
	/* clang-format off */
	wh_json_add(line, json_pack("{s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, "
		"s:{s:I, s:I, s:I, s:I, s:I, s:I}, "
		"s:o, s:o, s:o, s:o, s:{s:I, s:I, s:I, s:I}}",
		"host", wh_word_to_json(transfer->wanted.server),
		"files", (json_int_t)totals.files,
		"skipped", (json_int_t)totals.skipped,
		"tries", (json_int_t)transfer->running.retry.used + 1,
		"failed", (json_int_t)totals.failed,
		"moved_bytes", (json_int_t)wh_lanes_moved_bytes(&transfer->running.lanes),
		"resumed_bytes", (json_int_t)totals.resumed_bytes,
		"sampled_bytes", (json_int_t)totals.sampled_bytes,
		"began_again", (json_int_t)totals.began_again,
		"packets",
			"sent", (json_int_t)stats.sent_pkts,
			"retransmitted", (json_int_t)stats.retransmitted_pkts,
			"received", (json_int_t)stats.received_pkts,
			"duplicate", (json_int_t)wh_session_retransmitted_in_pkts(&stats),
			"lost", (json_int_t)stats.losses_detected_pkts,
			"bad", (json_int_t)stats.bad_pkts,
		"repair", wh_repair_json(&stats),
		"rtt_ms", job != NULL ? json_real((double)job->result.figures.rtt_ns / 1e6)
				      : json_null(),
		"limited_by", sends ? json_string(wh_limit_name(wh_limit_of(stats.limit_tsc)))
				    : json_null(),
		"waits", sends ? wh_limits_json(stats.limit_tsc) : json_null(),
		"left_out",
			"owners", (json_int_t)totals.left_out.owners,
			"set_ids", (json_int_t)totals.left_out.set_ids,
			"xattrs", (json_int_t)totals.left_out.xattrs,
			"hard_links", (json_int_t)totals.left_out.hard_links));
	/* clang-format on */
	wh_failures_to_json(&transfer->told.failures, line);
	if (transfer->running.manifest.on)
		json_object_set_new(line, "checksums",
			json_pack("{s:s, s:I, s:I, s:I}", "by", transfer->wanted.settings.digest,
				"files", (json_int_t)transfer->running.manifest.summed, "compared",
				(json_int_t)transfer->running.manifest.compared, "wrong",
				(json_int_t)transfer->running.manifest.wrong));
	json_object_set_new(line, "cost", cost_json(transfer));
	json_object_set_new(line, "removed", json_integer((json_int_t)totals.removed));
	json_object_set_new(line, "learnt",
		sends ? wh_learnt_path_json(&transfer->running.learnt) : json_null());
	json_object_set_new(line, "sealed", wh_seal_json(job != NULL ? &job->sealed : NULL));
	json_object_set_new(line, "guarded", json_boolean(!transfer->wanted.settings.no_guard));
	return line;
}

static void print_more(uint64_t count, const char *what)
{
	if (count > 0)
		fprintf(stderr,
			"wavehaul: %" PRIu64 " more %s, not named here; --json-stream names all\n",
			count, what);
}

static void print_failed(const json_t *list)
{
	char path[WH_PATH_BYTES_MAX + 1];
	char plain[4 * WH_PATH_BYTES_MAX + 1];

	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *one = json_array_get(list, i);

		wh_path_from_json(one, "path", path);
		fprintf(stderr, "wavehaul: %s: %s\n",
			wh_plain_text(path, true, plain, sizeof(plain)),
			wh_json_text(one, "error"));
	}
}

/* One line for all properties that files have lost, or none. */
static void print_left_out(const json_t *left_out)
{
	static const struct {
		const char *what;
		const char *key;
	} parts[] = {
		{"the owner of", "owners"},
		{"setuid or setgid of", "set_ids"},
		{"extended attributes of", "xattrs"},
		{"hard links of", "hard_links"},
	};
	const char *between = "wavehaul: not carried over:";

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		uint64_t count = wh_json_count(left_out, parts[i].key);

		if (count == 0)
			continue;
		fprintf(stderr, "%s %s %" PRIu64 " file%s", between, parts[i].what, count,
			wh_plural(count));
		between = ",";
	}
	if (between[0] == ',')
		fputc('\n', stderr);
}

static void tell_count(FILE *to, uint64_t count, const char *what)
{
	if (count > 0)
		fprintf(to, "; %" PRIu64 " %s", count, what);
}

static void tell_size(FILE *to, uint64_t bytes, const char *what)
{
	char size[WH_UNITS_MAX];

	if (bytes > 0)
		fprintf(to, "; %s %s", wh_format_size(size, sizeof(size), bytes), what);
}

/* Of a short transfer it is the start; who receives does not know. */
#define LIMIT_TOLD_S 1.0

static void print_limit(FILE *to, const json_t *end)
{
	const char *limit = wh_json_text(end, "limited_by");

	if (limit[0] != '\0' && json_number_value(json_object_get(end, "seconds")) >= LIMIT_TOLD_S)
		fprintf(to, ", limited by %s", limit);
}

static void print_sums(FILE *to, const json_t *end, uint64_t passed_over)
{
	const json_t *sums = json_object_get(end, "checksums");
	uint64_t files = wh_json_count(end, "files");
	uint64_t bytes = wh_json_count(end, "bytes");
	uint64_t moved = wh_json_count(end, "moved_bytes");
	uint64_t resumed = wh_json_count(end, "resumed_bytes");
	uint64_t sampled = wh_json_count(end, "sampled_bytes");
	uint64_t compared = wh_json_count(sums, "compared");
	char size[WH_UNITS_MAX];
	char rate[WH_UNITS_MAX];

	fprintf(to, "%" PRIu64 " file%s, %s in %.2f s: %s", files, wh_plural(files),
		wh_format_size(size, sizeof(size), bytes),
		json_number_value(json_object_get(end, "seconds")),
		wh_format_rate(rate, sizeof(rate),
			json_number_value(json_object_get(end, "goodput_bps"))));
	print_limit(to, end);
	if (!json_is_true(json_object_get(end, "ok")))
		tell_size(to, moved - wh_min_u64(moved, bytes),
			"more had gone over, as records and for files that did not arrive");
	tell_size(to, resumed - wh_min_u64(resumed, sampled),
		"of it had come before, or was the same there");
	tell_size(to, sampled, "of it had come before (sampled)");
	tell_count(to, wh_json_count(end, "began_again"),
		"changed since a part arrived, and restarted");
	tell_count(to, wh_json_count(end, "skipped"), "were there already");
	if (sums != NULL)
		fprintf(to, "; %" PRIu64 " checksum%s by %s, %" PRIu64 " as expected",
			wh_json_count(sums, "files"), wh_plural(wh_json_count(sums, "files")),
			wh_json_text(sums, "by"),
			compared - wh_min_u64(wh_json_count(sums, "wrong"), compared));
	tell_count(to, wh_json_count(end, "removed"), "removed that the source does not have");
	tell_count(to, passed_over, "skipped, not regular files");
	tell_count(to, wh_json_count(end, "failed"), "failed");
}

void wh_transfer_print_end(const struct wh_wanted *wanted, const json_t *end)
{
	const json_t *passed_over = json_object_get(end, "passed_over");
	const json_t *unnamed = json_object_get(end, "unnamed");
	uint64_t passed_over_unnamed = wh_json_count(unnamed, "passed_over");
	FILE *to = wh_wanted_output(wanted);

	print_failed(json_object_get(end, "failures"));
	print_failed(passed_over);
	print_more(wh_json_count(unnamed, "failures"), "failed");
	print_more(passed_over_unnamed, "were passed over");
	if (wanted->settings.quiet)
		return;
	print_left_out(json_object_get(end, "left_out"));
	if (wanted->settings.dry_run)
		fprintf(to, "dry run, nothing was transferred: ");
	print_sums(to, end, json_array_size(passed_over) + passed_over_unnamed);
}

static void print_text(struct wh_transfer *transfer, const json_t *end)
{
	const struct wh_session_stats stats = sum_stats(transfer);

	wh_transfer_print_end(&transfer->wanted, end);
	if (transfer->wanted.settings.quiet)
		return;
	fprintf(wh_wanted_output(&transfer->wanted), "\n");
	if (transfer->wanted.settings.repair.on)
		wh_repair_print(&stats);
	wh_learnt_path_print(&transfer->running.learnt);
	if (transfer->wanted.settings.verbose)
		print_cost(transfer);
	wh_seal_tell(&transfer->running.lanes.job[0]->sealed);
}

void wh_transfer_tell_end(struct wh_transfer *transfer, int status)
{
	const struct wh_running *running = &transfer->running;
	json_t *end = end_json(transfer, status);

	wh_progress_clear(&transfer->told.progress);
	if (transfer->wanted.settings.json || transfer->wanted.settings.json_stream)
		tell(transfer, json_incref(end));
	else if (running->lanes.started > 0 && running->lanes.job[0]->ready.began_tsc != 0)
		print_text(transfer, end);
	json_decref(end);
	wh_failures_forget(&transfer->told.failures);
}

void wh_transfer_forget(struct wh_transfer *transfer)
{
	struct wh_told *told = &transfer->told;
	pthread_mutex_lock(&told->telling);
	wh_failures_forget(&told->failures);
	wh_manifest_forget(&transfer->running.manifest);
	pthread_mutex_unlock(&told->telling);
	told->progress.began_tsc = 0;
	told->skipped_bytes = 0;
	told->last_flow = (struct wh_flow_now){0};
	told->now_bps = 0;
	told->moved_tsc = 0;
	told->stall_told = false;
}
