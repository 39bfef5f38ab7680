/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Transfers that somebody's end interrupts at any moment, and the next run: `jobs_resume --seeds
 * 1000`. An end is killed, or its host loses power and what was not synced, or the line is cut; the
 * database is damaged, lost or of a time to come. What has a name is whole, and the next run ends
 * well, sends again at most a batch and what was on its way, and leaves nothing but the files.
 */

#include <dirent.h>
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
#include "bundle/split.h"
#include "bundle/staging_name.h"
#include "disk.h"
#include "file/blocks.h"
#include "house.h"
#include "said.h"
#include "visit.h"

#define MS         UINT64_C(1000000)
#define MIB        (UINT64_C(1) << 20)
#define SERVER     0
#define CLIENT     1
#define STRANGER   2
#define QUANTUM_NS (50 * UINT64_C(1000))
#define DAY_S      86400
#define PATIENCE_S 120

/* What is proved at a time where nobody says otherwise, and noted at least every second. */
#define PRESET_BYTES (32 * MIB)

enum blow {
	BLOW_RECEIVER,
	BLOW_SENDER,
	BLOW_BOTH,
	BLOW_LINE,
	BLOWS,
};

enum mishap {
	MISHAP_NONE,    /* as often as all others */
	MISHAP_DAMAGED, /* of the database */
	MISHAP_LOST,
	MISHAP_CHANGED, /* the source */
	MISHAP_CLOCK,   /* it says another day */
	MISHAP_FOLDER,  /* parts were removed by hand */
	MISHAP_FORGED,  /* a part has other bytes, and another peer sends the file */
	MISHAPS,
};

struct tale {
	struct wh_prng prng;
	char database[2][64]; /* by process */
	struct house house;
	struct disk_config disk;
	struct tree tree;
	struct tree before; /* by blocks: what is there has a few other bytes */
	bool by_blocks;
	struct visit_config config;
	struct visit visit;
	uint64_t rate_bps;
	uint64_t batch_bytes; /* 0: as preset, and slowly */
	uint64_t blow_ns;     /* after the beginning, or after the large file has its name */
	bool blow_at_name;
	enum blow blow;
	bool unpowered;
	bool hasty;        /* the next run begins before a server that lives has noticed anything */
	uint64_t pause_ns; /* after the blow; hasty only */
	enum mishap mishap;
	int root_fd;
	uint64_t written_bytes; /* at the moment of the blow, of large files and small ones */
	uint64_t small_bytes;
	uint32_t sentences; /* of journals, before the mishap */
	bool was_over; /* before anybody struck; and the large file's new version has its name */
	bool was_new;
	char why[600]; /* "": nothing is wrong so far */
};

struct tally {
	struct wh_rig_tally common;
	uint64_t over;
	uint64_t resumed;
	uint64_t began_again;
	uint64_t hasty;
	uint64_t written_bytes;
	uint64_t kept_bytes;
};

static struct tale tale;
static char folder[] = "/dev/shm/wh_resume_XXXXXX";
static bool fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

static bool fail(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(tale.why, sizeof(tale.why), format, args);
	va_end(args);
	return false;
}

static uint32_t receiver(void)
{
	return tale.config.verb == WH_JOB_SEND ? SERVER : CLIENT;
}

/* One or two that are kept, if they are larger than a batch, and small ones. */
static void draw_tree(uint64_t large_bytes)
{
	struct tree *tree = &tale.tree;
	uint32_t larges = one_in(&tale.prng, 3) ? 2 : 1;

	tree->count = larges + (uint32_t)between(&tale.prng, 0, 5);
	for (uint32_t i = 0; i < tree->count; i++) {
		struct tree_entry *entry = &tree->entry[i];

		entry->bytes = i < larges ? large_bytes : between(&tale.prng, 0, 70000);
		entry->sparse = i == 0 && one_in(&tale.prng, 6);
		entry->seed = wh_prng_u64(&tale.prng);
		snprintf(entry->path, sizeof(entry->path), "file%u", i);
		tree->bytes += entry->bytes;
		tale.small_bytes += i < larges ? 0 : entry->bytes;
	}
}

static struct wh_request draw_request(void)
{
	static const enum wh_resume resumes[] = {
		WH_RESUME_ATTRIBUTES, WH_RESUME_SPARSE, WH_RESUME_FULL};
	struct wh_request request = {
		.profile = wh_profile_find("fixed"),
		.rate_bps = tale.rate_bps / 10 * 9,
		.payload_bytes = WH_PAYLOAD_BYTES_MAX,
		.memory_bytes = UINT64_C(24) << 20,
		.peer_timeout_ns = 2 * WH_NS_PER_S,
		.stall_timeout_ns = 2 * WH_NS_PER_S,
		.resume = resumes[wh_prng_below(&tale.prng, 3)],
	};

	wh_profile_options_init(&request.options, request.profile);
	wh_repair_options_init(&request.repair);
	wh_repair_settle(&request.repair, request.profile);
	return request;
}

/* Another version has its name already, of another length sometimes. */
static void draw_before(void)
{
	struct tree_entry *now = &tale.tree.entry[0];

	tale.by_blocks = true;
	tale.before = tale.tree;
	now->odd_every = between(&tale.prng, 1, 12) * 500000;
	if (one_in(&tale.prng, 3))
		tale.before.entry[0].bytes += between(&tale.prng, 1, MIB);
	else if (one_in(&tale.prng, 2))
		tale.before.entry[0].bytes -= between(&tale.prng, 1, MIB);
	tale.config.before = &tale.before;
	tale.config.request.choice.wishes |= WH_CHOICE_BLOCKS;
}

/* As people do: the up arrow and Enter. */
static void draw_haste(void)
{
	static const uint64_t pauses_ms[] = {0, 200, 1000, 3000, 20000};

	tale.hasty = one_in(&tale.prng, 2);
	tale.pause_ns = pauses_ms[wh_prng_below(&tale.prng, 5)] * MS;
}

static void draw(uint64_t seed)
{
	uint64_t large_bytes;
	uint32_t lanes;

	tale = (struct tale){.root_fd = -1};
	wh_prng_init(&tale.prng, seed);
	house_open(&tale.house, wh_prng_u64(&tale.prng), QUANTUM_NS);
	tale.rate_bps = between(&tale.prng, 2, 20) * UINT64_C(100000000);
	tale.batch_bytes = between(&tale.prng, 1, 4) * MIB;
	large_bytes = between(&tale.prng, 6 * MIB, 16 * MIB);
	lanes = one_in(&tale.prng, 4) ? 2 : 1;
	draw_haste();
	if (tale.hasty) /* enough for much of it to be durable */
		large_bytes += between(&tale.prng, 0, 40) * MIB;
	if (one_in(&tale.prng, 16)) {
		tale.batch_bytes = 0;
		tale.rate_bps = between(&tale.prng, 2, 4) * UINT64_C(100000000);
		large_bytes = between(&tale.prng, 66 * MIB, 90 * MIB);
		lanes = 1;
	} else if (lanes > 1 && one_in(&tale.prng, 2)) { /* each has its part of it */
		large_bytes += lanes * WH_SPLIT_BYTES_MIN;
	}
	draw_tree(large_bytes);
	tale.disk = (struct disk_config){
		.seed = wh_prng_u64(&tale.prng),
		.in_memory = one_in(&tale.prng, 5),
		.latency_ns = one_in(&tale.prng, 2) ? 0 : between(&tale.prng, 1, 2 * MS),
		.work_ns = one_in(&tale.prng, 2) ? 0 : between(&tale.prng, 1, 5 * MS),
		.short_one_in = one_in(&tale.prng, 3) ? 20 : 0,
	};
	tale.disk.forgets = tale.unpowered = !tale.disk.in_memory && one_in(&tale.prng, 2);
	tale.blow = (enum blow)wh_prng_below(&tale.prng, BLOWS);
	tale.blow_ns = between(&tale.prng, 0,
		11 * (tale.tree.bytes * 8 * WH_NS_PER_S / tale.rate_bps) / 10 + 40 * MS);
	if (one_in(&tale.prng, 8)) {
		tale.blow_at_name = true;
		tale.blow_ns = between(&tale.prng, 0, 10 * MS);
	}
	tale.mishap = tale.hasty || one_in(&tale.prng, 2)
			      ? MISHAP_NONE
			      : (enum mishap)wh_prng_below(&tale.prng, MISHAPS);
	tale.config = (struct visit_config){
		.client = CLIENT,
		.server = SERVER,
		.verb = one_in(&tale.prng, 2) ? WH_JOB_SEND : WH_JOB_GET,
		.lanes = lanes,
		.tree = &tale.tree,
		.settings = {.ports = 1,
			.queues = 1,
			.mtu_bytes = 9000,
			.buffer_bytes = UINT64_C(64) << 20},
		.request = draw_request(),
	};
	if (one_in(&tale.prng, 3))
		draw_before();
	if (tale.mishap == MISHAP_FORGED && receiver() == CLIENT)
		tale.mishap = MISHAP_NONE; /* there is one server */
}

static void start_server(void)
{
	struct process *server = &tale.house.process[SERVER];
	struct wh_service service = {
		.own = tale.config.request,
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

	service.own.rate_bps = WH_RATE_MAX;
	service.own.here.root_fd = tale.root_fd;
	server->settings = tale.config.settings;
	server->settings.buffer_bytes *= 2;
	house_start(&tale.house, SERVER, &service, false);
}

static void begin(void)
{
	const struct wh_link_model netem = {
		.rate_bps = tale.rate_bps, .delay_ns = MS / 2, .queue_bytes = 2000000};
	char root[64];

	disk_begin(&tale.disk);
	house_set_calendar(time(NULL));
	snprintf(root, sizeof(root), "%s/root0", folder);
	WH_ASSERT(mkdir(root, 0755) == 0);
	tale.root_fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	WH_ASSERT(tale.root_fd >= 0);
	for (uint32_t i = 0; i < 2; i++) {
		snprintf(tale.database[i], sizeof(tale.database[i]), "%s/%u.db", folder, i);
		tale.house.process[i].database = tale.database[i];
		tale.house.process[i].batch_bytes = tale.batch_bytes;
	}
	visit_prepare(&tale.config, folder);
	start_server();
	house_lay(&tale.house, CLIENT, SERVER, &netem, &netem);
	house_lay(&tale.house, STRANGER, SERVER, &netem, &netem);
	visit_begin(&tale.visit, &tale.house, &tale.config, folder);
}

static void step_until(uint64_t until_ns)
{
	while (tale.house.now_ns < until_ns && !tale.visit.over)
		house_step(&tale.house, until_ns);
}

/* What the receiving end's sinks have written so far. */
static uint64_t written(void)
{
	const struct wh_jobs *jobs = &tale.house.process[SERVER].jobs;
	const struct wh_job *job;
	uint64_t bytes = 0;

	if (receiver() == CLIENT) {
		for (uint32_t i = 0; i < tale.visit.lanes.started; i++) {
			job = tale.visit.lanes.job[i];
			if (job->ends.sink != NULL)
				bytes += wh_sink_progress(job->ends.sink)->bytes;
		}
		return bytes;
	}
	for (uint32_t i = 0; i < jobs->workers; i++) {
		TAILQ_FOREACH(job, &jobs->worker[i].busy, next)
		if (job->ends.sink != NULL)
			bytes += wh_sink_progress(job->ends.sink)->bytes;
		TAILQ_FOREACH(job, &jobs->worker[i].idle, next)
		if (job->ends.sink != NULL)
			bytes += wh_sink_progress(job->ends.sink)->bytes;
	}
	return bytes;
}

static void pass_time(uint64_t ns)
{
	uint64_t until_ns = tale.house.now_ns + ns;

	while (tale.house.now_ns < until_ns)
		house_step(&tale.house, until_ns);
}

static bool settle_server(void)
{
	uint64_t limit_ns = tale.house.now_ns + PATIENCE_S * WH_NS_PER_S;

	while (tale.house.process[SERVER].jobs.live > 0 || disk_deadline() != UINT64_MAX) {
		if (tale.house.now_ns > limit_ns)
			return fail("the server keeps jobs whose client is gone");
		house_step(&tale.house, limit_ns + 1);
	}
	return true;
}

static bool is_struck(uint32_t process)
{
	return tale.blow == BLOW_BOTH || (tale.blow == BLOW_RECEIVER && process == receiver()) ||
	       (tale.blow == BLOW_SENDER && process != receiver());
}

/* Power fails at the receiver's: the sender has nothing to lose. */
static enum house_death death_of(uint32_t process)
{
	return tale.unpowered && process == receiver() ? HOUSE_UNPOWERED : HOUSE_KILLED;
}

/* And everybody finds out. */
static bool strike(void)
{
	struct house_line *line = house_line(&tale.house, CLIENT, SERVER);

	tale.was_over = tale.visit.over;
	tale.written_bytes = tale.was_over ? 0 : written();
	line->cut = tale.blow == BLOW_LINE;
	if (is_struck(CLIENT) && !tale.visit.over)
		visit_kill(&tale.visit, death_of(CLIENT));
	if (is_struck(SERVER))
		house_end(&tale.house, SERVER, death_of(SERVER));
	step_until(tale.house.now_ns + PATIENCE_S * WH_NS_PER_S);
	if (!tale.visit.over)
		return fail("the client does not find out");
	if (tale.hasty)
		pass_time(tale.pause_ns);
	else if (tale.house.process[SERVER].alive && !settle_server())
		return false;
	line->cut = false;
	if (!tale.house.process[SERVER].alive)
		start_server();
	return true;
}

static bool check_names(bool complete)
{
	char why[TREE_WHY_BYTES];
	struct stat status;

	if (stat(tale.visit.result, &status) != 0)
		return !complete || fail("no %s", tale.visit.result);
	return tree_check(&tale.tree, complete ? NULL : tale.config.before, tale.visit.result,
		       complete, complete, why) ||
	       fail("%s", why);
}

/* Somewhere in it, a page is another. */
static void damage(const char *path)
{
	uint8_t bytes[4096];
	struct stat status;
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)wh_prng_u64(&tale.prng);
	if (fd >= 0 && fstat(fd, &status) == 0 && status.st_size > 0)
		WH_ASSERT(pwrite(fd, bytes, between(&tale.prng, 1, sizeof(bytes)),
				  (off_t)wh_prng_below(&tale.prng, (uint64_t)status.st_size)) > 0);
	if (fd >= 0)
		close(fd);
}

static bool is_there(const struct tree_entry *entry)
{
	char path[600];
	struct stat status;

	snprintf(path, sizeof(path), "%s/%s", tale.visit.result, entry->path);
	return stat(path, &status) == 0;
}

/* By its time: which bytes it has is checked elsewhere. */
static bool is_new(const struct tree_entry *entry)
{
	char here[600], there[600];
	struct stat source, target;

	snprintf(here, sizeof(here), "%s/%s", tale.visit.source, entry->path);
	snprintf(there, sizeof(there), "%s/%s", tale.visit.result, entry->path);
	return stat(here, &source) == 0 && stat(there, &target) == 0 &&
	       source.st_mtim.tv_sec == target.st_mtim.tv_sec;
}

/* The peer that sent it has written what it liked, in a few places. */
static void forge(void)
{
	char path[500];
	DIR *parts;

	snprintf(path, sizeof(path), "%s/" WH_PARTS_FOLDER, tale.visit.target);
	parts = opendir(path);
	for (struct dirent *entry; parts != NULL && (entry = readdir(parts)) != NULL;) {
		int fd = openat(dirfd(parts), entry->d_name, O_WRONLY | O_CLOEXEC);

		for (uint32_t i = 0; fd >= 0 && i < 3; i++)
			WH_ASSERT(pwrite(fd, "forged", 6,
					  (off_t)wh_prng_below(
						  &tale.prng, tale.tree.entry[0].bytes - 6)) == 6);
		if (fd >= 0)
			close(fd);
	}
	if (parts != NULL)
		closedir(parts);
	tale.config.stands_in = STRANGER;
}

/* Before the server knows of it: it is stopped meanwhile. */
static void befall(void)
{
	char command[300];
	const char *database = tale.database[receiver()];

	tale.sentences = house_sentences();
	if (tale.mishap == MISHAP_NONE)
		return;
	house_end(&tale.house, SERVER, HOUSE_ENDED);
	if (tale.mishap == MISHAP_DAMAGED) {
		damage(database);
	} else if (tale.mishap == MISHAP_LOST) {
		unlink(database);
	} else if (tale.mishap == MISHAP_CHANGED) {
		tale.tree.entry[0].seed++;
		tree_make(&tale.tree, tale.visit.source);
	} else if (tale.mishap == MISHAP_FORGED) {
		forge();
	} else if (tale.mishap == MISHAP_CLOCK) {
		house_set_calendar(time(NULL) + (one_in(&tale.prng, 2) ? 6 : -1000) * DAY_S);
	} else {
		snprintf(command, sizeof(command), "rm -rf %s/" WH_PARTS_FOLDER, tale.visit.target);
		WH_ASSERT(system(command) == 0);
	}
	start_server();
}

/* Of what was written. */
static uint64_t surely_durable(void)
{
	bool preset = tale.batch_bytes == 0;
	uint64_t lost = tale.small_bytes + disk_unsure_bytes(&tale.disk, tale.config.lanes,
						   preset ? PRESET_BYTES : tale.batch_bytes,
						   tale.rate_bps, preset ? WH_NS_PER_S : 0);

	return tale.written_bytes > lost ? tale.written_bytes - lost : 0;
}

/* Blocks that are as they were do not go, in whichever of the two runs. */
static bool check_blocks(void)
{
	const struct tree_entry *now = &tale.tree.entry[0], *before = &tale.before.entry[0];
	uint64_t same = wh_min_u64(now->bytes, before->bytes);
	uint64_t sent = (now->bytes / now->odd_every + 3) * WH_BLOCK_BYTES_MIN;
	const struct wh_totals *totals = &tale.visit.totals;

	if (tale.was_new || (tale.config.lanes > 1 && now->bytes >= 2 * WH_SPLIT_BYTES_MIN))
		return true; /* what comes in parts comes without blocks */
	return totals->resumed_bytes + sent >= same ||
	       fail("%" PRIu64 " bytes by blocks, of %" PRIu64 " with a change in %" PRIu64,
		       totals->resumed_bytes, same, now->odd_every);
}

static bool check_totals(struct tally *tally)
{
	const struct wh_totals *totals = &tale.visit.totals;
	bool spared = tale.mishap == MISHAP_NONE || tale.mishap == MISHAP_CLOCK;
	uint64_t least = surely_durable();
	uint64_t kept = totals->resumed_bytes + tale.visit.skipped_bytes;

	if (totals->files + totals->skipped != tale.tree.count)
		return fail("%" PRIu64 " files and %" PRIu64 " skipped, of %u", totals->files,
			totals->skipped, tale.tree.count);
	tally->resumed += totals->resumed_bytes > 0;
	tally->began_again += totals->began_again;
	tally->hasty += tale.hasty;
	if (!spared || tale.was_over)
		return true;
	if (tale.by_blocks)
		return check_blocks();
	tally->written_bytes += tale.written_bytes;
	tally->kept_bytes += kept;
	return kept >= least ||
	       fail("%" PRIu64 " bytes were written, and %" PRIu64 " not sent again, not %" PRIu64,
		       tale.written_bytes, kept, least);
}

/* What nobody knows of is left for as long as parts are kept. */
static bool parts_go(const char *command)
{
	house_set_calendar(time(NULL) + 8 * DAY_S);
	visit_begin(&tale.visit, &tale.house, &tale.config, folder);
	step_until(tale.house.now_ns + PATIENCE_S * WH_NS_PER_S);
	return visit_went_well(&tale.visit) && settle_server() && system(command) == 0;
}

/* Whose it is continues it: what that has in it is its own affair. */
static bool owner_comes(void)
{
	tale.config.stands_in = 0;
	visit_begin(&tale.visit, &tale.house, &tale.config, folder);
	step_until(tale.house.now_ns + PATIENCE_S * WH_NS_PER_S);
	return (visit_went_well(&tale.visit) && settle_server()) ||
	       fail("in vain, after another peer");
}

/* No part is left, with a row or without. */
static bool check_parts(void)
{
	char path[300], command[400];
	struct wh_journal_row row;
	struct process *process = &tale.house.process[SERVER];

	snprintf(path, sizeof(path), "%s/" WH_PARTS_FOLDER, tale.visit.target);
	snprintf(command, sizeof(command), "test -z \"$(ls -A %s 2>/dev/null)\"", path);
	/* Without a database, which is said, nobody knows which parts are old. */
	bool left = system(command) != 0;

	if (left && !is_struck(receiver()) && tale.mishap == MISHAP_NONE)
		return fail(
			"a part is left in %s, and nobody was killed who could know of it", path);
	if (left && house_sentences() == tale.sentences && !parts_go(command))
		return fail("a part is left in %s", path);
	if (receiver() == SERVER && process->jobs.journal != NULL &&
		wh_journal_next(process->jobs.journal, 0, &row) != 0)
		return fail("a row is left of %s", row.path);
	return true;
}

static bool go_again(struct tally *tally)
{
	visit_begin(&tale.visit, &tale.house, &tale.config, folder);
	step_until(tale.house.now_ns + PATIENCE_S * WH_NS_PER_S);
	if (!visit_went_well(&tale.visit))
		return fail("in vain again, though nothing goes wrong: %s %s",
			wh_release_status_name(tale.visit.status), tale.visit.why);
	if (!settle_server() || !check_names(true) || !check_totals(tally))
		return false;
	return (tale.mishap != MISHAP_FORGED || owner_comes()) && check_parts();
}

static void step_to_blow(void)
{
	while (tale.blow_at_name && !is_there(&tale.tree.entry[0]) && !tale.visit.over)
		house_step(&tale.house, tale.house.now_ns + QUANTUM_NS);
	step_until((tale.blow_at_name ? tale.house.now_ns : tale.visit.began_ns) + tale.blow_ns);
}

static void describe(void)
{
	static const char *const blows[] = {"receiver", "sender", "both", "line"};
	static const char *const mishaps[] = {"none", "database damaged", "database lost",
		"source changed", "clock", "no parts", "forged"};

	printf("  %s, %u lanes, resume %d, %" PRIu64 " bytes, %" PRIu64 " Mb/s, batch %" PRIu64
	       " MiB, disk: memory %d, latency %" PRIu64 " us, remote operations %" PRIu64
	       " us; %s at %.4f s%s, power fails %d; %s%s%s, after %" PRIu64 " ms\n",
		tale.config.verb == WH_JOB_SEND ? "send" : "get", tale.config.lanes,
		(int)tale.config.request.resume, tale.tree.bytes, tale.rate_bps / 1000000,
		tale.batch_bytes / MIB, tale.disk.in_memory, tale.disk.latency_ns / 1000,
		tale.disk.work_ns / 1000, blows[tale.blow], (double)tale.blow_ns / 1e9,
		tale.blow_at_name ? " after its name" : "", tale.unpowered, mishaps[tale.mishap],
		tale.by_blocks ? "; by blocks" : "", tale.hasty ? "; in haste" : "",
		tale.pause_ns / MS);
}

static void clean_up(void)
{
	if (!tale.visit.over)
		visit_kill(&tale.visit, HOUSE_KILLED);
	if (tale.house.process[SERVER].alive)
		house_end(&tale.house, SERVER, tale.why[0] == '\0' ? HOUSE_ENDED : HOUSE_KILLED);
	while (disk_deadline() != UINT64_MAX)
		disk_run(disk_deadline());
	close(tale.root_fd);
	house_close(&tale.house);
	remove_tree(folder);
	WH_ASSERT(mkdir(folder, 0755) == 0);
}

static bool run_seed(const struct wh_rig_seeds *seeds, uint64_t seed, void *state)
{
	struct tally *tally = state;

	said_verbosely(seeds->verbose);
	draw(seed);
	if (seeds->verbose)
		describe();
	begin();
	step_to_blow();

	bool passed = strike() && check_names(tale.was_over && visit_went_well(&tale.visit));

	if (passed) {
		tally->over += tale.was_over;
		tale.was_new = is_new(&tale.tree.entry[0]);
		befall();
		passed = go_again(tally);
	}
	if (seeds->verbose)
		printf("  %" PRIu64 " written, %" PRIu64 " resumed, %" PRIu64 " began again\n",
			tale.written_bytes, tale.visit.totals.resumed_bytes,
			tale.visit.totals.began_again);
	clean_up();
	if (passed)
		return true;
	printf("FAILED: seed %" PRIu64 ": %s\n", seed, tale.why);
	wh_rig_seeds_tell(seeds, seed);
	return false;
}

int main(int argc, char **argv)
{
	static const struct wh_rig_share share = {.folder = folder, .run = run_seed};
	struct wh_rig_seeds seeds;
	struct tally sum = {0};

	if (!wh_rig_seeds_read(&seeds, 100, argc, argv))
		return 2;

	int failures = wh_rig_seeds_run(&seeds, &share, &sum.common, sizeof(sum));

	printf("%" PRIu64 " passed, %" PRIu64 " failed; %" PRIu64 " over before, %" PRIu64
	       " resumed, %" PRIu64 " began again; of %" PRIu64 " MiB written %" PRIu64
	       " not sent again\n",
		sum.common.passed, sum.common.failed, sum.over, sum.resumed, sum.began_again,
		sum.written_bytes / MIB, sum.kept_bytes / MIB);
	return failures > 0 || sum.common.failed > 0 ? 1 : 0;
}
