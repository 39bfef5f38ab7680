/* SPDX-License-Identifier: BSD-3-Clause */
#include "world.h"

#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../unit/remove_tree.h"
#include "base/assert.h"
#include "base/clock.h"
#include "disk.h"
#include "house.h"
#include "sink/stale.h"
#include "visit.h"

#define MS         UINT64_C(1000000)
#define GUESTS_MAX (HOUSE_PROCESSES_MAX - 1)

/* What a client that hurries gives its peer, and what both may take beside their timeouts. */
#define SLACK_NS (15 * WH_NS_PER_S)

enum fault {
	FAULT_NONE = 0,
	FAULT_CUT,    /* the fibre of a client, for good */
	FAULT_OUTAGE, /* and for a while */
	FAULT_CLIENT, /* a client is killed */
	FAULT_SERVER, /* the server is, and starts anew */
	FAULT_DRAIN,  /* the server is told to end what runs */
	FAULTS,
};

struct guest {
	struct visit_config config;
	struct tree tree;
	struct tree before;
	bool has_before;
	uint64_t start_ns;
	bool begun;
	struct visit visit;
};

struct world {
	uint64_t seed;
	struct wh_prng prng;
	const char *folder;
	bool verbose;
	struct world_result *result;
	struct house house;
	struct disk_config disk;
	struct wh_host_settings settings; /* of the server */
	struct wh_request own;            /* likewise */
	struct wh_peer_limits limits;
	bool is_tight; /* the server has little room */
	uint64_t rate_bps;
	uint64_t rtt_ns;
	uint32_t mtu_bytes;
	bool is_rough;
	struct wh_fibre_config fibre[2];
	uint32_t guests;
	struct guest guest[GUESTS_MAX];
	enum fault fault;
	uint32_t victim; /* a client */
	uint64_t fault_ns;
	uint64_t heal_ns; /* of an outage, or when the server is back */
	bool struck;
	bool healed;
	int root_fd;
};

static bool one_in(struct world *w, uint32_t n)
{
	return wh_prng_below(&w->prng, n) == 0;
}

static uint64_t log_uniform(struct world *w, uint64_t low, uint64_t high)
{
	return (uint64_t)((double)low * pow((double)high / (double)low, wh_prng_unit(&w->prng)));
}

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

static void draw_settings(struct world *w, struct wh_host_settings *settings, uint32_t lanes)
{
	*settings = (struct wh_host_settings){
		.queues = 1 + (uint32_t)wh_prng_below(&w->prng, HOUSE_QUEUES_MAX),
		.mtu_bytes = w->mtu_bytes,
		.buffer_bytes = (UINT64_C(24) << 20) * (1 + lanes),
	};
}

static void draw_request(struct world *w, struct wh_request *request, const char *profile,
	const struct wh_host_settings *settings)
{
	*request = (struct wh_request){
		.profile = wh_profile_find(profile),
		.rate_bps = w->rate_bps,
		.payload_bytes = WH_PAYLOAD_BYTES_MAX,
		.memory_bytes = settings->buffer_bytes,
		.peer_timeout_ns = (2 + wh_prng_below(&w->prng, 8)) * WH_NS_PER_S,
		.stall_timeout_ns = (2 + wh_prng_below(&w->prng, 8)) * WH_NS_PER_S,
	};
	wh_profile_options_init(&request->options, request->profile);
	wh_repair_options_init(&request->repair);
}

static void draw_client(struct world *w, struct visit_config *config)
{
	static const char *const profiles[] = {"fixed", "fixed", "udt", "ttp"};
	struct wh_request *request = &config->request;

	draw_settings(w, &config->settings, config->lanes);
	draw_request(w, request, profiles[wh_prng_below(&w->prng, 4)], &config->settings);
	request->rate_bps = (uint64_t)((double)w->rate_bps * (0.5 + 0.6 * wh_prng_unit(&w->prng)));
	if (one_in(w, 3)) {
		request->repair.told = true;
		request->repair.on = one_in(w, 2);
	}
	wh_repair_settle(&request->repair, request->profile);
}

static void draw_server(struct world *w, uint32_t jobs)
{
	draw_settings(w, &w->settings, jobs);
	w->settings.buffer_bytes = (UINT64_C(32) << 20) * (1 + jobs);
	draw_request(w, &w->own, "fixed", &w->settings);
	w->own.rate_bps = WH_RATE_MAX;
	w->is_tight = one_in(w, 5);
	w->limits = (struct wh_peer_limits){
		.places = w->is_tight ? 6 : 64,
		.spare_places = w->is_tight ? 1 : 8,
		.peer_places = w->is_tight ? 6 : 48,
		.peer_bytes = w->settings.buffer_bytes - w->settings.buffer_bytes / 4,
		.peer_room_bytes = UINT64_C(16) << 30,
		.peer_openings_s = w->is_tight ? 6 : 100,
		.peer_lines_s = 5,
		.lines_s = 50,
	};
	if (w->is_tight)
		w->settings.buffer_bytes = UINT64_C(96) << 20;
}

static void draw_fibres(struct world *w)
{
	w->rate_bps = log_uniform(w, 20000000, UINT64_C(2000000000));
	w->rtt_ns = log_uniform(w, 100000, 100 * MS);
	w->mtu_bytes = one_in(w, 3) ? 9000 : 1500;
	w->is_rough = !one_in(w, 3);
	for (uint32_t i = 0; i < 2; i++) {
		struct wh_fibre_config *fibre = &w->fibre[i];

		*fibre = (struct wh_fibre_config){
			.rate_bps = w->rate_bps,
			.delay_ns = w->rtt_ns / 2,
			.queue_bytes =
				100000 + wh_muldiv_u64(w->rate_bps, w->rtt_ns, 8 * WH_NS_PER_S),
		};
		if (!w->is_rough)
			continue;
		if (one_in(w, 2))
			fibre->loss = 0.05 * wh_prng_unit(&w->prng);
		if (one_in(w, 3)) {
			fibre->reorder = 0.1 * wh_prng_unit(&w->prng);
			fibre->reorder_delay_ns = log_uniform(w, 1000, 20 * MS);
		}
		if (one_in(w, 4))
			fibre->duplicate = 0.1 * wh_prng_unit(&w->prng);
		if (one_in(w, 4))
			fibre->corrupt = 0.02 * wh_prng_unit(&w->prng);
		if (one_in(w, 4))
			fibre->jitter_ns = log_uniform(w, 1000, 20 * MS);
	}
}

static void draw_guest(struct world *w, uint32_t number)
{
	static const enum wh_job_verb verbs[] = {
		WH_JOB_SEND, WH_JOB_SEND, WH_JOB_SEND, WH_JOB_GET, WH_JOB_GET, WH_JOB_BENCH};
	struct guest *guest = &w->guest[number];
	struct visit_config *config = &guest->config;

	config->client = 1 + number;
	config->verb = verbs[wh_prng_below(&w->prng, 6)];
	config->lanes = one_in(w, 3) ? 2 + (uint32_t)wh_prng_below(&w->prng, 2) : 1;
	draw_client(w, config);
	guest->start_ns = w->house.now_ns + wh_prng_below(&w->prng, one_in(w, 2) ? 1 : 1000 * MS);
	if (config->verb == WH_JOB_BENCH) {
		config->reverse = one_in(w, 2);
		config->idles = (uint32_t)wh_prng_below(&w->prng, 3);
		config->bench_bytes = config->lanes + log_uniform(w, 1, 2000000);
		return;
	}
	tree_draw(&guest->tree, wh_prng_u64(&w->prng), one_in(w, 6) ? 5000000 : 1000000);
	config->tree = &guest->tree;
	guest->has_before = one_in(w, 3);
	if (guest->has_before) {
		guest->before = guest->tree;
		tree_change(&guest->before, wh_prng_u64(&w->prng));
		config->before = &guest->before;
	}
}

static void draw_fault(struct world *w)
{
	w->fault = one_in(w, 3) ? FAULT_NONE : 1 + (enum fault)wh_prng_below(&w->prng, FAULTS - 1);
	w->victim = 1 + (uint32_t)wh_prng_below(&w->prng, w->guests);
	w->fault_ns = w->guest[w->victim - 1].start_ns + log_uniform(w, 10000, 3000 * MS);
	w->heal_ns = w->fault_ns + log_uniform(w, 100000, 8000 * MS);
	w->disk = (struct disk_config){
		.seed = wh_prng_u64(&w->prng),
		.in_memory = one_in(w, 3),
		.latency_ns = one_in(w, 2) ? 0 : log_uniform(w, 1000, 50 * MS),
		.errand_ns = one_in(w, 2) ? 0 : log_uniform(w, 1000, 500 * MS),
		.short_one_in = one_in(w, 3) ? 20 : 0,
		.fails_after = one_in(w, 10) ? 1 + (uint32_t)wh_prng_below(&w->prng, 20) : 0,
	};
}

static void draw(struct world *w)
{
	wh_prng_init(&w->prng, w->seed);
	house_open(&w->house, wh_prng_u64(&w->prng), log_uniform(w, 20000, 1000000));
	draw_fibres(w);
	w->guests = 1 + (uint32_t)wh_prng_below(&w->prng, one_in(w, 2) ? 2 : GUESTS_MAX);

	uint32_t jobs = 0;

	for (uint32_t i = 0; i < w->guests; i++) {
		draw_guest(w, i);
		jobs += w->guest[i].config.lanes;
	}
	draw_server(w, jobs);
	draw_fault(w);
}

static void describe(const struct world *w)
{
	static const char *const faults[FAULTS] = {
		"none", "cut", "outage", "client killed", "server killed", "drain"};

	printf("  rate %.1f Mb/s, rtt %.3f ms, mtu %u, loss %g/%g, reorder %g/%g, quantum %" PRIu64
	       " us; disk: memory %d, latency %" PRIu64 " us, errands %" PRIu64
	       " us, fails %u; tight %d; fault: %s of %u at %.4f s, until %.4f s\n",
		(double)w->rate_bps / 1e6, (double)w->rtt_ns / 1e6, w->mtu_bytes, w->fibre[0].loss,
		w->fibre[1].loss, w->fibre[0].reorder, w->fibre[1].reorder,
		w->house.quantum_ns / 1000, w->disk.in_memory, w->disk.latency_ns / 1000,
		w->disk.errand_ns / 1000, w->disk.fails_after, w->is_tight, faults[w->fault],
		w->victim, (double)w->fault_ns / 1e9, (double)w->heal_ns / 1e9);
	for (uint32_t i = 0; i < w->guests; i++) {
		const struct visit_config *config = &w->guest[i].config;

		printf("  client %u: verb %d%s, %u lanes, %u idle, %s %.1f Mb/s, repair %d, queues "
		       "%u, "
		       "timeouts %.0f %.0f s, %u entries, %" PRIu64 " bytes%s\n",
			config->client, config->verb, config->reverse ? " reverse" : "",
			config->lanes, config->idles, config->request.profile->name,
			(double)config->request.rate_bps / 1e6, config->request.repair.on,
			config->settings.queues, (double)config->request.peer_timeout_ns / 1e9,
			(double)config->request.stall_timeout_ns / 1e9, w->guest[i].tree.count,
			w->guest[i].tree.bytes + config->bench_bytes,
			w->guest[i].has_before ? ", another version is there" : "");
	}
}

static void start_server(struct world *w)
{
	struct process *server = &w->house.process[0];
	struct wh_service service = {
		.own = w->own,
		.limits = w->limits,
		.allow[0] = {.address = {.family = WH_IPV4, .ip = {10, 0, 0, 0}},
			.prefix_bits = 24},
		.allows = 1,
	};

	service.own.here.root_fd = w->root_fd;
	server->settings = w->settings;
	house_start(&w->house, 0, &service, true);
	wh_stale_remove_below(w->root_fd);
}

static void lay_fibres(struct world *w, bool rough)
{
	for (uint32_t i = 1; i <= w->guests; i++) {
		struct wh_fibre_config fibre[2] = {w->fibre[0], w->fibre[1]};

		for (uint32_t d = 0; d < 2; d++) {
			if (!rough)
				fibre[d] = (struct wh_fibre_config){
					.rate_bps = fibre[d].rate_bps,
					.delay_ns = fibre[d].delay_ns,
					.queue_bytes = fibre[d].queue_bytes,
				};
			fibre[d].seed = wh_prng_u64(&w->prng);
		}
		house_lay(&w->house, i, 0, &fibre[0], &fibre[1]);
	}
}

static void strike(struct world *w)
{
	struct visit *visit = &w->guest[w->victim - 1].visit;

	w->struck = true;
	switch (w->fault) {
	case FAULT_CUT:
	case FAULT_OUTAGE:
		house_line(&w->house, w->victim, 0)->cut = true;
		break;
	case FAULT_CLIENT:
		if (w->guest[w->victim - 1].begun && !visit->over)
			visit_kill(visit);
		break;
	case FAULT_SERVER:
		house_end(&w->house, 0, true);
		break;
	case FAULT_DRAIN:
		atomic_store(&w->house.process[0].jobs.hurry, true);
		break;
	default:
		break;
	}
}

static void heal(struct world *w)
{
	w->healed = true;
	if (w->fault == FAULT_OUTAGE)
		house_line(&w->house, w->victim, 0)->cut = false;
	else if (w->fault == FAULT_SERVER)
		start_server(w);
	else if (w->fault == FAULT_DRAIN)
		atomic_store(&w->house.process[0].jobs.hurry, false);
}

static void see_events(struct world *w)
{
	uint64_t now_ns = w->house.now_ns;

	for (uint32_t i = 0; i < w->guests; i++) {
		struct guest *guest = &w->guest[i];

		if (guest->begun || now_ns < guest->start_ns)
			continue;
		guest->begun = true;
		visit_begin(&guest->visit, &w->house, &guest->config, w->folder);
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

	for (uint32_t i = 0; i < w->guests; i++)
		if (!w->guest[i].begun)
			next_ns = wh_min_u64(next_ns, w->guest[i].start_ns);
	if (w->fault != FAULT_NONE && !w->struck)
		next_ns = wh_min_u64(next_ns, w->fault_ns);
	else if (w->fault != FAULT_NONE && !w->healed)
		next_ns = wh_min_u64(next_ns, w->heal_ns);
	return next_ns;
}

static bool all_over(const struct world *w)
{
	for (uint32_t i = 0; i < w->guests; i++)
		if (!w->guest[i].begun || !w->guest[i].visit.over)
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

		for (uint32_t c = 0; process->alive && c < process->jobs.crews; c++) {
			struct wh_crew *crew = &process->jobs.crew[c];

			TAILQ_CONCAT(&crew->busy, &crew->idle, next);
			TAILQ_FOREACH(job, &crew->busy, next)
			if (at < sizeof(text) - 100)
				at += (size_t)snprintf(text + at, sizeof(text) - at,
					"; process %u: state %d, failed %d, left %d%d, gone %d%d, "
					"sent %" PRIu64 ", again %" PRIu64 ", %" PRIu64
					" kb/s, waits for %s",
					i, job->view.state, job->result.failed,
					job->streams.in_left, job->streams.out_left,
					job->streams.in_gone, job->streams.out_gone,
					(uint64_t)job->view.sent_pkts,
					(uint64_t)job->view.again_pkts,
					job->streams.out != NULL
						? wh_session_rate(job->streams.out) / 1000
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
	uint64_t slowest_bps = w->rate_bps;

	for (uint32_t i = 0; i < w->guests; i++) {
		const struct visit_config *config = &w->guest[i].config;

		latest_ns = wh_max_u64(latest_ns, w->guest[i].start_ns);
		timeouts_ns = wh_max_u64(timeouts_ns,
			config->request.peer_timeout_ns + 4 * config->request.stall_timeout_ns);
		bytes += w->guest[i].tree.bytes + config->bench_bytes;
	}
	/* A slow start that a loss ended leaves UDT with next to no window. */
	return latest_ns + timeouts_ns + 20 * bytes * 8 * WH_NS_PER_S / slowest_bps +
	       bytes / 1000 / 16 * (w->rtt_ns + 40 * MS) + 200 * (w->disk.latency_ns + w->rtt_ns) +
	       100 * w->disk.errand_ns + 6 * SLACK_NS;
}

static void trace(const struct world *w, const struct guest *guest, const char *round)
{
	const struct visit *visit = &guest->visit;

	w->result->events = w->house.events;
	if (w->verbose)
		printf("  %s, client %u: %s%s after %.3f s: %s %s; files %" PRIu64
		       ", skipped %" PRIu64 ", failed %" PRIu64 "\n",
			round, guest->config.client, visit->killed ? "killed, " : "",
			wh_release_status_name(visit->status),
			(double)(visit->ended_ns - visit->began_ns) / 1e9,
			visit->status == WH_STATUS_PENDING ? "well" : "", visit->why,
			visit->totals.files, visit->totals.skipped, visit->totals.failed);
}

static bool check_bench(struct world *w, const struct guest *guest)
{
	const struct visit *visit = &guest->visit;

	if (visit_went_well(visit) && visit->bench_bytes != guest->config.bench_bytes)
		return fail(w, "client %u: bench counted %" PRIu64 " bytes of %" PRIu64,
			guest->config.client, visit->bench_bytes, guest->config.bench_bytes);
	return true;
}

static uint64_t files_of(const struct tree *tree)
{
	uint64_t files = 0;

	for (uint32_t i = 0; i < tree->count; i++)
		files += tree->entry[i].kind == TREE_FILE;
	return files;
}

static bool check_files(struct world *w, const struct guest *guest, bool clean)
{
	const struct visit *visit = &guest->visit;
	bool complete = visit_went_well(visit);
	char why[TREE_WHY_BYTES];
	struct stat status;

	if (complete && visit->totals.files + visit->totals.skipped != files_of(&guest->tree))
		return fail(w,
			"client %u: %" PRIu64 " files told and %" PRIu64 " skipped, of %" PRIu64,
			guest->config.client, visit->totals.files, visit->totals.skipped,
			files_of(&guest->tree));
	if (stat(visit->result, &status) != 0)
		return !complete ||
		       fail(w, "client %u: no %s", guest->config.client, visit->result);
	return tree_check(
		       &guest->tree, guest->config.before, visit->result, complete, clean, why) ||
	       fail(w, "client %u: %s", guest->config.client, why);
}

/* What may have become of it in a world where anything happens. */
static bool check_status(struct world *w, const struct guest *guest)
{
	const struct visit *visit = &guest->visit;

	if (visit->status == WH_STATUS_MISMATCH)
		return fail(w, "client %u: mismatch: %s", guest->config.client, visit->why);
	if (w->fault != FAULT_NONE || w->is_tight || w->is_rough || disk_has_failed())
		return true;
	return visit_went_well(visit) ||
	       fail(w, "client %u: %s, though nothing went wrong: %s", guest->config.client,
		       wh_release_status_name(visit->status), visit->why);
}

static bool check_guest(struct world *w, const struct guest *guest, bool clean)
{
	if (guest->config.verb == WH_JOB_BENCH)
		return check_status(w, guest) && check_bench(w, guest);
	return check_status(w, guest) && check_files(w, guest, clean);
}

/* A server whose clients have gone hears of it by their silence, at the latest. */
static bool settle(struct world *w)
{
	const struct process *server = &w->house.process[0];
	uint64_t limit_ns = w->house.now_ns + w->own.peer_timeout_ns + 4 * w->own.stall_timeout_ns +
			    20 * w->disk.errand_ns + 200 * w->disk.latency_ns + 4 * SLACK_NS;

	while (server->jobs.live > 0 || disk_deadline() != UINT64_MAX) {
		if (w->house.now_ns > limit_ns)
			return fail_hang(w, "the server keeps jobs whose clients are gone");
		house_step(&w->house, limit_ns + 1);
	}

	const char *owed = house_owes(&w->house, 0);

	return owed == NULL || fail(w, "the server was not given back %s", owed);
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

static bool first_round(struct world *w)
{
	lay_fibres(w, true);
	if (!run_until(w, patience_ns(w), "not ended in time"))
		return false;
	for (uint32_t i = 0; i < w->guests; i++) {
		trace(w, &w->guest[i], "first");
		w->result->statuses[w->guest[i].visit.status]++;
	}
	if (!settle(w))
		return false;
	for (uint32_t i = 0; i < w->guests; i++)
		if (!check_guest(w, &w->guest[i], false))
			return false;
	return true;
}

/* Once nothing goes wrong any more everybody gets what it wants, and nothing is left over. */
static bool second_round(struct world *w)
{
	w->disk.fails_after = 0;
	disk_begin(&w->disk);
	lay_fibres(w, false);
	w->fault = FAULT_NONE;
	for (uint32_t i = 0; i < w->guests; i++) {
		struct guest *guest = &w->guest[i];

		if (visit_went_well(&guest->visit))
			continue;
		w->result->repeated++;
		guest->start_ns = w->house.now_ns;
		guest->begun = false;
		if (!run_until(w, patience_ns(w), "not ended in time, though nothing goes wrong"))
			return false;
		trace(w, guest, "second");
		if (!settle(w))
			return false;
		if (!visit_went_well(&guest->visit))
			return fail(w, "client %u: %s in vain again, though nothing goes wrong: %s",
				guest->config.client, wh_release_status_name(guest->visit.status),
				guest->visit.why);
		if (!check_guest(w, guest, true))
			return false;
	}
	return true;
}

static void clean_up(struct world *w)
{
	for (uint32_t i = 0; i < HOUSE_PROCESSES_MAX; i++)
		if (i > 0 && w->house.process[i].alive)
			visit_kill(&w->guest[i - 1].visit);
	if (w->house.process[0].alive)
		house_end(&w->house, 0, !w->result->passed);
	while (disk_deadline() != UINT64_MAX)
		disk_run(disk_deadline());
	close(w->root_fd);
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
	draw(w);
	if (verbose)
		describe(w);
	snprintf(root, sizeof(root), "%s/root0", folder);
	WH_ASSERT(mkdir(root, 0755) == 0);
	for (uint32_t i = 0; i < w->guests; i++)
		visit_prepare(&w->guest[i].config, folder);
	w->root_fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	WH_ASSERT(w->root_fd >= 0);
	disk_begin(&w->disk);
	start_server(w);
	result->visits = w->guests;
	if (first_round(w))
		second_round(w);
	result->events = w->house.events;
	result->virtual_ns = w->house.now_ns;
	clean_up(w);
}
