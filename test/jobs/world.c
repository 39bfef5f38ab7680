/* SPDX-License-Identifier: BSD-3-Clause */
#include "world.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../rig/remove_tree.h"
#include "base/assert.h"
#include "base/clock.h"
#include "stage/stale.h"
#include "world_internal.h"

/* Lanes go by another rate from here on, once each has looked at what they share. */
#define RATE_SETTLE_NS (200 * MS)

/* What a client that hurries gives its peer, and what both may take beside their timeouts. */
#define SLACK_NS (15 * WH_NS_PER_S)

static bool fail(struct world *w, const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool fail(struct world *w, const char *format, ...)
{
	va_list args;

	if (!w->result->passed)
		return false;
	w->result->passed = false;
	va_start(args, format);
	vsnprintf(w->result->why, sizeof(w->result->why), format, args);
	va_end(args);
	return false;
}

static int root_of(const struct world *w, uint32_t server)
{
	return w->root_fd[server == 0 ? 0 : 1];
}

static void start_server(struct world *w, uint32_t number)
{
	struct process *server = &w->house.process[number];
	struct wh_service service = {
		.own = w->own,
		.limits = w->limits,
		.allow[0] = {.address = {.family = WH_IPV4, .ip = {10, 0, 0, 0}},
			.prefix_bits = 16},
		.allows = 1,
	};

	service.own.here.root_fd = root_of(w, number);
	server->settings = w->settings;
	house_start(&w->house, number, &service, true);
	wh_stale_remove_below(root_of(w, number), INT64_MIN);
}

static void lay_line(struct world *w, uint32_t client, uint32_t server, bool rough)
{
	struct wh_link_model netem[2] = {w->netem[0], w->netem[1]};

	for (uint32_t d = 0; d < 2; d++) {
		if (!rough)
			netem[d] = (struct wh_link_model){
				.rate_bps = netem[d].rate_bps,
				.delay_ns = netem[d].delay_ns,
				.queue_bytes = netem[d].queue_bytes,
			};
		netem[d].seed = wh_prng_u64(&w->prng);
	}
	house_lay(&w->house, client, server, &netem[0], &netem[1]);
}

static void lay_netems(struct world *w, bool rough)
{
	for (uint32_t i = 1; i <= w->clients; i++)
		for (uint32_t server = 0; server < w->servers; server++)
			lay_line(w, i, server_of(server), rough);
}

static void cut(struct world *w, bool cut)
{
	for (uint32_t server = 0; server < w->servers; server++) {
		struct house_line *line = house_line(&w->house, w->victim, server_of(server));

		if (w->dark_port < HOUSE_PORTS_MAX)
			line->dark = cut ? 1U << w->dark_port : 0;
		else
			line->cut = cut;
	}
}

/* Its process, with all that it wants at once. */
static void kill_client(struct world *w, uint32_t client)
{
	for (uint32_t i = 0; i < w->visitors; i++) {
		struct visitor *visitor = &w->visitor[i];

		if (visitor->config.client == client && visitor->begun && !visitor->visit.over)
			visit_kill(&visitor->visit, HOUSE_KILLED);
	}
}

static void strike(struct world *w)
{
	w->struck = true;
	switch (w->fault) {
	case FAULT_CUT:
	case FAULT_OUTAGE:
		cut(w, true);
		break;
	case FAULT_CLIENT:
		kill_client(w, w->victim);
		break;
	case FAULT_SERVER:
		house_end(&w->house, w->victim_server, HOUSE_KILLED);
		break;
	case FAULT_DRAIN:
		atomic_store(&w->house.process[w->victim_server].jobs.hurry, true);
		break;
	case FAULT_STAND:
		w->house.process[w->victim_server].stopped = true;
		break;
	case FAULT_IDLE:
		w->house.process[w->victim].stopped = true;
		break;
	default:
		break;
	}
}

static void heal(struct world *w)
{
	w->healed = true;
	if (w->fault == FAULT_OUTAGE)
		cut(w, false);
	else if (w->fault == FAULT_SERVER)
		start_server(w, w->victim_server);
	else if (w->fault == FAULT_DRAIN)
		atomic_store(&w->house.process[w->victim_server].jobs.hurry, false);
	else if (w->fault == FAULT_STAND)
		w->house.process[w->victim_server].stopped = false;
	else if (w->fault == FAULT_IDLE)
		w->house.process[w->victim].stopped = false;
}

/* What is sent from here goes by the new rate; of what is got the server is told. */
static void change_rate(struct world *w, struct visitor *visitor)
{
	const struct visit_config *config = &visitor->config;
	struct wh_request request = config->request;
	bool can =
		config->verb == WH_JOB_GET || wh_verb_client_sends(config->verb, config->reverse);

	visitor->changed = true;
	request.rate_bps = visitor->change_bps;
	if (wh_lanes_change(&visitor->visit.lanes, &request) != can)
		fail(w, "client %u: its rate could%s be changed", config->client,
			can ? " not" : "");
}

/* Whatever lanes take from each other, together they have no more than the request's rate. */
static void check_rate(struct world *w, const struct visitor *visitor)
{
	uint64_t settled_ns = visitor->visit.began_ns + visitor->change_ns + RATE_SETTLE_NS;
	uint64_t sum_bps = 0;

	for (uint32_t lane = 0; lane < visitor->visit.lanes.started; lane++) {
		const struct wh_job *job = visitor->visit.lanes.job[lane];

		settled_ns = wh_max_u64(settled_ns, job->ready.began_tsc + RATE_SETTLE_NS);
		if (job->view.state == WH_JOB_RUNNING)
			sum_bps += wh_session_rate(wh_job_main(job)->out);
	}
	if (w->house.now_ns > settled_ns && sum_bps > visitor->change_bps)
		fail(w, "client %u: its lanes have %" PRIu64 " b/s together, of %" PRIu64,
			visitor->config.client, sum_bps, visitor->change_bps);
}

static void see_rate(struct world *w, struct visitor *visitor)
{
	const struct visit *visit = &visitor->visit;
	const struct visit_config *config = &visitor->config;

	if (visitor->change_ns == 0 || !visitor->begun || visit->gone || visit->over)
		return;
	if (!visitor->changed && w->house.now_ns >= visit->began_ns + visitor->change_ns)
		change_rate(w, visitor);
	if (visitor->changed && wh_verb_client_sends(config->verb, config->reverse))
		check_rate(w, visitor);
}

static void see_events(struct world *w)
{
	uint64_t now_ns = w->house.now_ns;

	for (uint32_t i = 0; i < w->visitors; i++) {
		struct visitor *visitor = &w->visitor[i];

		see_rate(w, visitor);
		if (visitor->begun || now_ns < visitor->start_ns)
			continue;
		visitor->begun = true;
		visitor->changed = false;
		visit_begin(&visitor->visit, &w->house, &visitor->config, w->folder);
	}
	if (w->fault == FAULT_NONE)
		return;
	if (!w->struck && now_ns >= w->fault_ns)
		strike(w);
	if (!w->healed && now_ns >= w->heal_ns)
		heal(w);
}

static uint64_t next_event_ns(const struct world *w)
{
	uint64_t next_ns = UINT64_MAX;

	for (uint32_t i = 0; i < w->visitors; i++)
		if (!w->visitor[i].begun)
			next_ns = wh_min_u64(next_ns, w->visitor[i].start_ns);
	if (w->fault != FAULT_NONE && !w->struck)
		next_ns = wh_min_u64(next_ns, w->fault_ns);
	else if (w->fault != FAULT_NONE && !w->healed)
		next_ns = wh_min_u64(next_ns, w->heal_ns);
	return next_ns;
}

static bool all_over(const struct world *w)
{
	for (uint32_t i = 0; i < w->visitors; i++)
		if (!w->visitor[i].begun || !w->visitor[i].visit.over)
			return false;
	return w->fault == FAULT_NONE || (w->struck && w->healed);
}

/* Who waits for whom in jobs that never end. */
static bool fail_hang(struct world *w, const char *when)
{
	char text[500] = "";
	size_t at = 0;

	for (uint32_t i = 0; i < HOUSE_PROCESSES_MAX; i++) {
		struct process *process = &w->house.process[i];
		struct wh_job *job;

		for (uint32_t c = 0; process->alive && c < process->jobs.workers; c++) {
			struct wh_worker *worker = &process->jobs.worker[c];

			TAILQ_CONCAT(&worker->busy, &worker->idle, next);
			TAILQ_FOREACH(job, &worker->busy, next)
			if (at < sizeof(text) - 100)
				at += (size_t)snprintf(text + at, sizeof(text) - at,
					"; process %u: state %d, failed %d, left %d%d, gone %d%d, "
					"sent %" PRIu64 ", again %" PRIu64 ", %" PRIu64
					" kb/s, waits for %s",
					i, job->view.state, job->result.failed,
					wh_job_main(job)->in_left, wh_job_main(job)->out_left,
					wh_job_main(job)->in_gone, wh_job_main(job)->out_gone,
					(uint64_t)job->view.sent_pkts,
					(uint64_t)job->view.retransmitted_pkts,
					wh_job_main(job)->out != NULL
						? wh_session_rate(wh_job_main(job)->out) / 1000
						: 0,
					wh_waits_text(job->ends.source != NULL
							      ? wh_source_waits(job->ends.source)
						      : job->ends.sink != NULL
							      ? wh_sink_waits(job->ends.sink)
							      : WH_WAITS_NOTHING));
		}
	}
	return fail(w, "%s%s", when, text);
}

/* By when all of the first round has ended, one way or another. */
static uint64_t patience_ns(const struct world *w)
{
	uint64_t latest_ns = w->fault != FAULT_NONE ? w->heal_ns : w->house.now_ns;
	uint64_t timeouts_ns = 0;
	uint64_t bytes = 0;
	uint64_t slowest_bps = wh_min_u64(w->rate_bps, w->own.rate_bps);

	for (uint32_t i = 0; i < w->visitors; i++) {
		const struct visit_config *config = &w->visitor[i].config;

		latest_ns = wh_max_u64(latest_ns, w->visitor[i].start_ns);
		timeouts_ns = wh_max_u64(timeouts_ns,
			config->request.peer_timeout_ns + 4 * config->request.stall_timeout_ns);
		bytes += w->visitor[i].tree.bytes + config->bench_bytes;
		if (w->visitor[i].change_ns != 0)
			slowest_bps = wh_min_u64(slowest_bps, w->visitor[i].change_bps);
	}
	/* A slow start that a loss ended leaves UDT with next to no window. */
	return latest_ns + timeouts_ns + 20 * bytes * 8 * WH_NS_PER_S / slowest_bps +
	       bytes / 1000 / 16 * (w->rtt_ns + 40 * MS) + 200 * (w->disk.latency_ns + w->rtt_ns) +
	       100 * w->disk.work_ns + 6 * SLACK_NS;
}

static void trace(const struct world *w, const struct visitor *visitor, const char *round)
{
	const struct visit *visit = &visitor->visit;

	w->result->events = w->house.events;
	if (w->verbose)
		printf("  %s, client %u: %s%s after %.3f s: %s %s; files %" PRIu64
		       ", skipped %" PRIu64 ", failed %" PRIu64 "\n",
			round, visitor->config.client, visit->killed ? "killed, " : "",
			wh_release_status_name(visit->status),
			(double)(visit->ended_ns - visit->began_ns) / 1e9,
			visit->status == WH_STATUS_PENDING ? "well" : "", visit->why,
			visit->totals.files, visit->totals.skipped, visit->totals.failed);
}

static bool check_bench(struct world *w, const struct visitor *visitor)
{
	const struct visit *visit = &visitor->visit;

	if (visit_went_well(visit) && visit->bench_bytes != visitor->config.bench_bytes)
		return fail(w, "client %u: bench counted %" PRIu64 " bytes of %" PRIu64,
			visitor->config.client, visit->bench_bytes, visitor->config.bench_bytes);
	return true;
}

static uint64_t files_of(const struct tree *tree)
{
	uint64_t files = 0;

	for (uint32_t i = 0; i < tree->count; i++)
		files += tree->entry[i].kind == TREE_FILE;
	return files;
}

static bool check_files(struct world *w, const struct visitor *visitor, bool clean)
{
	const struct visit *visit = &visitor->visit;
	bool complete = visit_went_well(visit);
	char why[TREE_WHY_BYTES];
	struct stat status;

	if (complete && visit->totals.files + visit->totals.skipped != files_of(&visitor->tree))
		return fail(w,
			"client %u: %" PRIu64 " files told and %" PRIu64 " skipped, of %" PRIu64,
			visitor->config.client, visit->totals.files, visit->totals.skipped,
			files_of(&visitor->tree));
	if (stat(visit->result, &status) != 0)
		return !complete ||
		       fail(w, "client %u: no %s", visitor->config.client, visit->result);
	return tree_check(&visitor->tree, visitor->config.before, visit->result, complete, clean,
		       why) ||
	       fail(w, "client %u: %s", visitor->config.client, why);
}

/* What may have become of it in a world where anything happens. */
static bool check_status(struct world *w, const struct visitor *visitor)
{
	const struct visit *visit = &visitor->visit;

	if (visit->status == WH_STATUS_MISMATCH)
		return fail(w, "client %u: mismatch: %s", visitor->config.client, visit->why);
	if (w->fault != FAULT_NONE || w->is_tight || w->is_rough || disk_has_failed() ||
		w->disk.room_bytes > 0)
		return true;
	return visit_went_well(visit) ||
	       fail(w, "client %u: %s, though nothing went wrong: %s", visitor->config.client,
		       wh_release_status_name(visit->status), visit->why);
}

static bool check_visitor(struct world *w, const struct visitor *visitor, bool clean)
{
	if (visitor->config.verb == WH_JOB_BENCH)
		return check_status(w, visitor) && check_bench(w, visitor);
	return check_status(w, visitor) && check_files(w, visitor, clean);
}

/* A server whose clients have gone hears of it by their silence, at the latest. */
static bool settle_server(struct world *w, uint32_t number)
{
	const struct process *server = &w->house.process[number];
	uint64_t limit_ns = w->house.now_ns + w->own.peer_timeout_ns + 4 * w->own.stall_timeout_ns +
			    20 * w->disk.work_ns + 200 * w->disk.latency_ns + 4 * SLACK_NS;

	while (server->jobs.live > 0 || disk_deadline() != UINT64_MAX) {
		if (w->house.now_ns > limit_ns)
			return fail_hang(w, "the server keeps jobs whose clients are gone");
		house_step(&w->house, limit_ns + 1);
	}

	const char *owed = house_owes(&w->house, number);

	return owed == NULL || fail(w, "the server was not given back %s", owed);
}

static bool settle(struct world *w)
{
	bool settled = true;

	for (uint32_t server = 0; settled && server < w->servers; server++)
		settled = settle_server(w, server_of(server));
	return settled;
}

static bool run_until(struct world *w, uint64_t limit_ns, const char *late)
{
	while (!all_over(w)) {
		if (w->house.now_ns > limit_ns)
			return fail_hang(w, late);
		see_events(w);
		house_step(&w->house, next_event_ns(w));
	}
	return true;
}

/* Where a byte found no room, and nothing else went wrong, somebody was told of what. */
static bool check_full(struct world *w)
{
	uint64_t told = 0;

	for (uint32_t i = 0; i < w->visitors; i++)
		told += w->visitor[i].visit.files_full +
			(w->visitor[i].visit.status == WH_STATUS_NO_SPACE);
	return told > 0 || !disk_was_full() || w->fault != FAULT_NONE || w->is_tight ||
	       fail(w, "the disk was full, and nobody was told");
}

static bool first_round(struct world *w)
{
	lay_netems(w, true);
	if (!run_until(w, patience_ns(w), "not ended in time"))
		return false;
	for (uint32_t i = 0; i < w->visitors; i++) {
		trace(w, &w->visitor[i], "first");
		w->result->statuses[w->visitor[i].visit.status]++;
	}
	if (!settle(w))
		return false;
	for (uint32_t i = 0; i < w->visitors; i++)
		if (!check_visitor(w, &w->visitor[i], false))
			return false;
	return check_full(w);
}

/* Once nothing goes wrong any more everybody gets what it wants, and nothing is left over. */
static bool second_round(struct world *w)
{
	w->disk.fails_after = 0;
	w->disk.room_bytes = 0;
	disk_begin(&w->disk);
	lay_netems(w, false);
	w->fault = FAULT_NONE;
	for (uint32_t i = 0; i < w->visitors; i++) {
		struct visitor *visitor = &w->visitor[i];

		if (visit_went_well(&visitor->visit))
			continue;
		w->result->repeated++;
		visitor->start_ns = w->house.now_ns;
		visitor->begun = false;
		if (!run_until(w, patience_ns(w), "not ended in time, though nothing goes wrong"))
			return false;
		trace(w, visitor, "second");
		if (!settle(w))
			return false;
		if (!visit_went_well(&visitor->visit))
			return fail(w, "client %u: %s in vain again, though nothing goes wrong: %s",
				visitor->config.client,
				wh_release_status_name(visitor->visit.status), visitor->visit.why);
		if (!check_visitor(w, visitor, true))
			return false;
	}
	return true;
}

static void clean_up(struct world *w)
{
	for (uint32_t client = 1; client <= w->clients; client++)
		kill_client(w, client);
	for (uint32_t server = 0; server < w->servers; server++)
		if (w->house.process[server_of(server)].alive)
			house_end(&w->house, server_of(server),
				w->result->passed ? HOUSE_ENDED : HOUSE_KILLED);
	while (disk_deadline() != UINT64_MAX)
		disk_run(disk_deadline());
	disk_begin(&(struct disk_config){0});
	for (uint32_t server = 0; server < w->servers; server++)
		close(w->root_fd[server]);
	house_close(&w->house);
	remove_tree(w->folder);
	WH_ASSERT(mkdir(w->folder, 0755) == 0);
}

void world_run(uint64_t seed, const char *folder, bool verbose, struct world_result *result)
{
	static struct world world;
	struct world *w = &world;
	char root[200];

	*result = (struct world_result){.passed = true};
	world = (struct world){
		.seed = seed, .folder = folder, .verbose = verbose, .result = result};
	world_draw(w);
	if (verbose)
		world_describe(w);
	for (uint32_t server = 0; server < w->servers; server++) {
		snprintf(root, sizeof(root), "%s/root%u", folder, server_of(server));
		WH_ASSERT(mkdir(root, 0755) == 0);
		w->root_fd[server] = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		WH_ASSERT(w->root_fd[server] >= 0);
	}
	for (uint32_t i = 0; i < w->visitors; i++)
		visit_prepare(&w->visitor[i].config, folder);
	disk_begin(&w->disk);
	for (uint32_t server = 0; server < w->servers; server++)
		start_server(w, server_of(server));
	result->visits = w->visitors;
	if (first_round(w))
		second_round(w);
	result->events = w->house.events;
	result->virtual_ns = w->house.now_ns;
	clean_up(w);
}
