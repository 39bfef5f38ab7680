/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Transfers whose path is down for a while, at any moment: `jobs_outage --seeds 1000`. Or their
 * server is killed, and starts again after that time. Each seed runs once undisturbed, and once
 * more with an outage of t, which costs t and 3 s at most, beside what has to go again, and the
 * start of a controller that has forgotten its path.
 */

#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "../rig/chance.h"
#include "../rig/remove_tree.h"
#include "../rig/seeds.h"
#include "base/assert.h"
#include "base/clock.h"
#include "cli/complain.h"
#include "disk.h"
#include "house.h"
#include "said.h"
#include "visit.h"

#define MS         UINT64_C(1000000)
#define MIB        (UINT64_C(1) << 20)
#define SERVER     0
#define CLIENT     1
#define QUANTUM_NS (50 * UINT64_C(1000))
#define PATIENCE_S 400
#define COST_NS    (3 * WH_NS_PER_S)
#define RETRIES    20

enum trouble {
	TROUBLE_PATH,    /* down for that time */
	TROUBLE_SERVER,  /* killed, and back after that time */
	TROUBLE_SERVICE, /* stopped in peace, and likewise */
	TROUBLE_ABSENT,  /* the server begins that much later than the client */
	TROUBLES,
};

static const char *const trouble_names[] = {"path", "server", "service", "absent"};

struct tale {
	struct wh_prng prng;
	uint64_t seed;
	struct house house;
	struct disk_config disk;
	struct tree tree;
	struct visit_config config;
	struct visit visit;
	struct wh_request own; /* of the server */
	struct wh_link_model netem;
	bool sealed;
	uint64_t batch_bytes;
	uint64_t small_bytes;
	enum trouble trouble;
	double when; /* as a part of the undisturbed time */
	uint64_t down_ns;
	uint64_t calm_ns;       /* what it takes undisturbed */
	uint64_t written_bytes; /* by the receiver at the moment of the trouble */
	int root_fd;
	char why[600]; /* "": nothing is wrong so far */
};

struct tally {
	struct wh_rig_tally common;
	uint64_t retried;
	uint64_t resumed;
	uint64_t owed;       /* retries that had bytes to go on with */
	uint64_t cost_ms[6]; /* up to 0.5 s, 1 s, 2 s, 3 s, 10 s, and beyond */
};

static struct tale tale;
static struct wh_identity identity;
static char folder[] = "/dev/shm/wh_outage_XXXXXX";
static char databases[2][64];

static bool fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

static bool fail(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(tale.why, sizeof(tale.why), format, args);
	va_end(args);
	return false;
}

/* A large file, or none, and some small ones. */
static void draw_tree(uint64_t large_bytes)
{
	struct tree *tree = &tale.tree;

	tree->count = 1 + (uint32_t)between(&tale.prng, 0, 7);
	for (uint32_t i = 0; i < tree->count; i++) {
		struct tree_entry *entry = &tree->entry[i];

		entry->bytes =
			i == 0 && large_bytes > 0 ? large_bytes : between(&tale.prng, 0, 70000);
		entry->seed = wh_prng_u64(&tale.prng);
		snprintf(entry->path, sizeof(entry->path), "file%u", i);
		tree->bytes += entry->bytes;
		tale.small_bytes += i > 0 || large_bytes == 0 ? entry->bytes : 0;
	}
}

static uint64_t draw_timeout_ns(void)
{
	return one_in(&tale.prng, 3) ? 30 * WH_NS_PER_S : between(&tale.prng, 1000, 10000) * MS;
}

/* What other controllers than lambda make of the loss of a window is another question. */
static struct wh_request draw_request(uint64_t rate_bps, bool small)
{
	static const char *const profiles[] = {"fixed", "lambda", "udt", "hstcp"};
	uint64_t profile = wh_prng_below(&tale.prng, small ? 4 : 2);
	struct wh_request request = {
		.profile = wh_profile_find(profiles[profile]),
		.rate_bps = rate_bps / 10 * 9,
		.payload_bytes = WH_PAYLOAD_BYTES_MAX,
		.memory_bytes = UINT64_C(24) << 20,
		.peer_timeout_ns = draw_timeout_ns(),
		.stall_timeout_ns = 30 * WH_NS_PER_S,
		.resume = WH_RESUME_SPARSE,
	};

	wh_profile_options_init(&request.options, request.profile);
	wh_repair_options_init(&request.repair);
	wh_repair_settle(&request.repair, request.profile);
	return request;
}

/* From 10 ms to 40 s, each magnitude as often. */
static uint64_t draw_down_ns(void)
{
	static const uint64_t from_ms[] = {10, 100, 1000, 4000};
	uint64_t least_ms = from_ms[wh_prng_below(&tale.prng, 4)];

	return between(&tale.prng, least_ms, 10 * least_ms) * MS;
}

static void tell_retry(const struct visit *visit)
{
	for (uint32_t lane = 0; lane < visit->lanes.started; lane++) {
		const struct wh_job_result *result = &visit->lanes.job[lane]->result;

		wh_say("at %.3f s lane %u: %s: %s",
			(double)(visit->house->now_ns - visit->began_ns) / 1e9, lane,
			wh_release_status_name(result->failed), result->why);
	}
}

static void draw(uint64_t seed)
{
	uint64_t rate_bps;
	bool small;

	tale = (struct tale){.root_fd = -1, .seed = seed};
	wh_prng_init(&tale.prng, seed);
	rate_bps = between(&tale.prng, 2, 20) * UINT64_C(100000000);
	small = one_in(&tale.prng, 2);
	tale.config = (struct visit_config){
		.client = CLIENT,
		.server = SERVER,
		.verb = one_in(&tale.prng, 2) ? WH_JOB_SEND : WH_JOB_GET,
		.lanes = one_in(&tale.prng, 3) ? 2 : 1,
		.tree = &tale.tree,
		.retries = RETRIES,
		.on_retry = tell_retry,
		.settings = {.ports = 1,
			.queues = 1,
			.mtu_bytes = 9000,
			.buffer_bytes = UINT64_C(64) << 20},
		.request = draw_request(rate_bps, small),
	};
	draw_tree(small ? 0 : between(&tale.prng, 6 * MIB, 40 * MIB));
	if (one_in(&tale.prng, 4)) { /* less than the path carries, as an operator wished */
		tale.config.request.rate_bps = between(&tale.prng, 1, 10) * 1000000;
		tale.tree.count = 1;
		tale.small_bytes = small ? tale.tree.entry[0].bytes : 0;
		tale.tree.bytes = tale.tree.entry[0].bytes =
			wh_min_u64(tale.tree.entry[0].bytes, 8 * MIB);
	}
	tale.own = tale.config.request;
	tale.own.peer_timeout_ns = draw_timeout_ns();
	tale.own.rate_bps = WH_RATE_MAX;
	tale.sealed = one_in(&tale.prng, 2);
	tale.batch_bytes = between(&tale.prng, 1, 4) * MIB;
	tale.netem = (struct wh_link_model){
		.rate_bps = rate_bps,
		.delay_ns = between(&tale.prng, 1, 100) * MS / 10,
		.queue_bytes = 2000000,
	};
	tale.disk = (struct disk_config){
		.seed = wh_prng_u64(&tale.prng),
		.latency_ns = one_in(&tale.prng, 2) ? 0 : between(&tale.prng, 1, 2 * MS),
		.work_ns = one_in(&tale.prng, 2) ? 0 : between(&tale.prng, 1, 5 * MS),
	};
	tale.trouble = one_in(&tale.prng, 2) ? TROUBLE_PATH
					     : (enum trouble)wh_prng_below(&tale.prng, TROUBLES);
	tale.when = one_in(&tale.prng, 8) ? 0.0 : 1.1 * wh_prng_unit(&tale.prng);
	tale.down_ns = draw_down_ns();
}

static const struct wh_handshake_settings *handshake(void)
{
	static struct wh_handshake_settings settings;

	settings = (struct wh_handshake_settings){
		.identity = &identity, .ciphers = 1 << WH_CIPHER_AES_128_GCM};
	return tale.sealed ? &settings : NULL;
}

static void start_server(void)
{
	struct process *server = &tale.house.process[SERVER];
	struct wh_service service = {
		.own = tale.own,
		.limits = {.places = 16,
			.spare_places = 2,
			.peer_places = 16,
			.peer_bytes = UINT64_C(128) << 20,
			.peer_room_bytes = UINT64_C(16) << 30,
			.peer_openings_s = 100,
			.peer_lines_s = 5,
			.lines_s = 50},
		.allow[0] = {.address = house_address(CLIENT), .prefix_bits = 24},
		.allows = 1,
	};

	service.own.here.root_fd = tale.root_fd;
	server->settings = tale.config.settings;
	server->settings.handshake = handshake();
	server->settings.buffer_bytes *= 2;
	house_start(&tale.house, SERVER, &service, false);
}

static void begin(bool with_server)
{
	char root[64];

	house_open(&tale.house, tale.seed, QUANTUM_NS);
	disk_begin(&tale.disk);
	house_set_calendar(time(NULL));
	snprintf(root, sizeof(root), "%s/root0", folder);
	WH_ASSERT(mkdir(root, 0755) == 0);
	tale.root_fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	WH_ASSERT(tale.root_fd >= 0);
	for (uint32_t i = 0; i < 2; i++) {
		snprintf(databases[i], sizeof(databases[i]), "%s/%u.db", folder, i);
		tale.house.process[i].database = databases[i];
		tale.house.process[i].batch_bytes = tale.batch_bytes;
	}
	tale.config.settings.handshake = handshake();
	visit_prepare(&tale.config, folder);
	house_lay(&tale.house, CLIENT, SERVER, &tale.netem, &tale.netem);
	if (with_server)
		start_server();
	visit_begin(&tale.visit, &tale.house, &tale.config, folder);
}

static void step_until(uint64_t until_ns)
{
	while (tale.house.now_ns < until_ns && !tale.visit.over)
		house_step(&tale.house, until_ns);
}

static uint64_t written_by(const struct wh_job *job)
{
	return job->ends.sink != NULL ? wh_sink_progress(job->ends.sink)->bytes : 0;
}

/* What the receiving end's sinks have written so far. */
static uint64_t written(void)
{
	const struct wh_jobs *jobs = &tale.house.process[SERVER].jobs;
	const struct wh_job *job;
	uint64_t bytes = 0;

	if (tale.config.verb == WH_JOB_GET) {
		for (uint32_t i = 0; i < tale.visit.lanes.started; i++)
			bytes += written_by(tale.visit.lanes.job[i]);
		return bytes;
	}
	for (uint32_t i = 0; i < jobs->workers; i++) {
		TAILQ_FOREACH(job, &jobs->worker[i].busy, next)
		bytes += written_by(job);
		TAILQ_FOREACH(job, &jobs->worker[i].idle, next)
		bytes += written_by(job);
	}
	return bytes;
}

static void stop_server(void)
{
	struct process *server = &tale.house.process[SERVER];
	uint64_t limit_ns = tale.house.now_ns + 2 * WH_NS_PER_S;

	if (tale.trouble == TROUBLE_SERVICE) {
		atomic_store(&server->jobs.draining, true);
		atomic_store(&server->jobs.hurry, true);
		while (server->jobs.live > 0 && tale.house.now_ns < limit_ns && !tale.visit.over)
			house_step(&tale.house, limit_ns);
	}
	house_end(&tale.house, SERVER, server->jobs.live > 0 ? HOUSE_KILLED : HOUSE_ENDED);
}

/* The trouble, from its beginning to its end. */
static void suffer(void)
{
	struct house_line *line = house_line(&tale.house, CLIENT, SERVER);
	uint64_t end_ns = tale.house.now_ns + tale.down_ns;

	tale.written_bytes = tale.visit.over ? 0 : written();
	if (tale.trouble == TROUBLE_PATH)
		line->cut = true;
	else if (tale.trouble != TROUBLE_ABSENT)
		stop_server();
	step_until(end_ns);
	line->cut = false;
	if (!tale.house.process[SERVER].alive)
		start_server();
}

static bool check_tree(void)
{
	char why[TREE_WHY_BYTES];

	return tree_check(&tale.tree, NULL, tale.visit.result, true, true, why) || fail("%s", why);
}

static bool has_ended_well(const char *which)
{
	step_until(tale.house.now_ns + PATIENCE_S * WH_NS_PER_S);
	if (!tale.visit.over)
		return fail("%s: not over in %d s", which, PATIENCE_S);
	return visit_went_well(&tale.visit) || fail("%s: %s: %s, after %u retries", which,
						       wh_release_status_name(tale.visit.status),
						       tale.visit.why, tale.visit.retry.used);
}

static void clean_up(bool well)
{
	if (!tale.visit.over)
		visit_kill(&tale.visit, HOUSE_KILLED);
	if (tale.house.process[SERVER].alive)
		house_end(&tale.house, SERVER,
			well && tale.house.process[SERVER].jobs.live == 0 ? HOUSE_ENDED
									  : HOUSE_KILLED);
	while (disk_deadline() != UINT64_MAX)
		disk_run(disk_deadline());
	close(tale.root_fd);
	house_close(&tale.house);
	remove_tree(folder);
	WH_ASSERT(mkdir(folder, 0755) == 0);
}

static bool run_undisturbed(void)
{
	bool well;

	begin(true);
	well = has_ended_well("undisturbed") && check_tree();
	tale.calm_ns = tale.visit.ended_ns - tale.visit.began_ns;
	clean_up(well);
	return well;
}

static uint64_t bits_ns(uint64_t bytes)
{
	return wh_muldiv_u64(bytes, 8 * WH_NS_PER_S, tale.config.request.rate_bps);
}

/* What need not go again, of what was written. */
static uint64_t kept_bytes(void)
{
	return tale.visit.totals.resumed_bytes + tale.visit.skipped_bytes;
}

/* A retry goes on with what was surely noted; without one nothing came twice. */
static bool check_kept(struct tally *tally)
{
	uint64_t unsure =
		tale.small_bytes + disk_unsure_bytes(&tale.disk, tale.config.lanes,
					   tale.batch_bytes, tale.config.request.rate_bps, 0);

	if (tale.visit.retry.used == 0 || tale.written_bytes <= unsure)
		return true;
	tally->owed++;
	return kept_bytes() >= tale.written_bytes - unsure ||
	       fail("%" PRIu64 " bytes were written, and %" PRIu64 " kept, not %" PRIu64,
		       tale.written_bytes, kept_bytes(), tale.written_bytes - unsure);
}

/*
 * After an outage a controller may know no more of its path than at the start: a large file then
 * takes its whole time once more at worst.
 */
static uint64_t start_ns(void)
{
	bool large = tale.tree.bytes > tale.small_bytes;

	return large && tale.config.request.profile != wh_profile_find("fixed") ? tale.calm_ns : 0;
}

static bool check_cost(struct tally *tally)
{
	static const uint64_t steps_ms[] = {500, 1000, 2000, 3000, 10000, UINT64_MAX};
	uint64_t took_ns = tale.visit.ended_ns - tale.visit.began_ns;
	uint64_t due_ns = tale.calm_ns + tale.down_ns + start_ns();
	uint64_t kept = kept_bytes();
	uint32_t step = 0;

	tally->retried += tale.visit.retry.used > 0;
	tally->resumed += tale.visit.totals.resumed_bytes > 0;
	if (tale.visit.retry.used > 0 && tale.written_bytes > kept)
		due_ns += bits_ns(tale.written_bytes - kept);

	/* A server sends the beginning of a large file before it is asked for the rest. */
	if (tale.config.verb == WH_JOB_GET)
		due_ns += tale.visit.retry.used * bits_ns(WH_INLINE_BYTES_MAX);

	uint64_t cost_ns = took_ns > due_ns ? took_ns - due_ns : 0;

	while (cost_ns / MS > steps_ms[step])
		step++;
	tally->cost_ms[step]++;
	return cost_ns <= COST_NS ||
	       fail("%.3f s, of which %.3f s undisturbed and %.3f s down: %.3f s too many; %u "
		    "retries, %" PRIu64 " bytes written, %" PRIu64 " kept",
		       (double)took_ns / 1e9, (double)tale.calm_ns / 1e9,
		       (double)tale.down_ns / 1e9, (double)(cost_ns - COST_NS) / 1e9,
		       tale.visit.retry.used, tale.written_bytes, kept);
}

/* A path that comes back before either end's patience is over ends nothing. */
static bool check_patience(void)
{
	uint64_t patience_ns =
		wh_min_u64(tale.config.request.peer_timeout_ns, tale.own.peer_timeout_ns);

	return tale.trouble != TROUBLE_PATH || tale.down_ns > patience_ns / 10 * 9 ||
	       tale.visit.retry.used == 0 || fail("%u retries", tale.visit.retry.used);
}

static bool run_disturbed(struct tally *tally)
{
	bool well;

	begin(tale.trouble != TROUBLE_ABSENT);
	if (tale.trouble != TROUBLE_ABSENT)
		step_until(tale.visit.began_ns + (uint64_t)(tale.when * (double)tale.calm_ns));
	suffer();
	well = has_ended_well("disturbed") && check_tree() && check_patience() &&
	       check_kept(tally) && check_cost(tally);
	clean_up(well);
	return well;
}

static void describe(void)
{
	printf("  %s, %u lanes, %s, %s, %" PRIu64 " bytes in %u files, %" PRIu64
	       " Mb/s, %.1f ms; peer timeouts %.3f s and %.3f s; %s down at %.3f for %.3f s\n",
		tale.config.verb == WH_JOB_SEND ? "send" : "get", tale.config.lanes,
		tale.config.request.profile->name, tale.sealed ? "sealed" : "unsealed",
		tale.tree.bytes, tale.tree.count, tale.netem.rate_bps / 1000000,
		(double)tale.netem.delay_ns / 1e6,
		(double)tale.config.request.peer_timeout_ns / 1e9,
		(double)tale.own.peer_timeout_ns / 1e9, trouble_names[tale.trouble], tale.when,
		(double)tale.down_ns / 1e9);
}

static bool run_seed(const struct wh_rig_seeds *seeds, uint64_t seed, void *state)
{
	said_verbosely(seeds->verbose);
	draw(seed);
	if (seeds->verbose)
		describe();

	bool passed = run_undisturbed() && run_disturbed(state);

	if (seeds->verbose)
		printf("  %.3f s undisturbed; ended after %.3f s, %u retries\n",
			(double)tale.calm_ns / 1e9,
			(double)(tale.visit.ended_ns - tale.visit.began_ns) / 1e9,
			tale.visit.retry.used);
	if (passed)
		return true;
	printf("FAILED: seed %" PRIu64 ": %s\n", seed, tale.why);
	wh_rig_seeds_tell(seeds, seed);
	return false;
}

static bool make_identity(void)
{
	return wh_identity_make(&identity) == 0;
}

static void free_identity(void)
{
	wh_identity_free(&identity);
}

int main(int argc, char **argv)
{
	static const struct wh_rig_share share = {folder, make_identity, run_seed, free_identity};
	struct wh_rig_seeds seeds;
	struct tally sum = {0};

	if (!wh_rig_seeds_read(&seeds, 100, argc, argv))
		return 2;

	int failures = wh_rig_seeds_run(&seeds, &share, &sum.common, sizeof(sum));

	printf("%" PRIu64 " passed, %" PRIu64 " failed; %" PRIu64 " retried, %" PRIu64
	       " resumed, %" PRIu64 " of them had to; cost up to 0.5 s: %" PRIu64 ", 1 s: %" PRIu64
	       ", 2 s: %" PRIu64 ", 3 s: %" PRIu64 ", 10 s: %" PRIu64 ", more: %" PRIu64 "\n",
		sum.common.passed, sum.common.failed, sum.retried, sum.resumed, sum.owed,
		sum.cost_ms[0], sum.cost_ms[1], sum.cost_ms[2], sum.cost_ms[3], sum.cost_ms[4],
		sum.cost_ms[5]);
	return failures > 0 || sum.common.failed > 0 ? 1 : 0;
}
