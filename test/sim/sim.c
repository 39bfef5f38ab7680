/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Safety, then liveness, over random worlds: `sim --seeds 2000`. A seed is a world (draw.c) that
 * is rough until it heals. Never a wrong byte and never a wrong outcome; once healed, everything
 * ends within a bound. A failing seed prints the command that replays it.
 */

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "draw.h"
#include "wire/encap.h"

#define JOBS_MAX 64

/*
 * A receiver whose outcome is known stays until DONE comes, which it asks for every round trip or
 * second. Once the fibre is well the first of it is answered, whether the sender is still there or
 * has left; the answer may have to wait behind a full queue.
 */
#define LINGER_MAX_NS (10 * WH_NS_PER_S)

struct options {
	uint64_t first;
	uint64_t seeds;
	uint32_t jobs;
	bool verbose;
	const char *program;
	volatile uint64_t *running; /* the seed at work, where the parent can read it */
};

/* Totals of one job, handed to the parent through a pipe. */
struct tally {
	uint64_t passed;
	uint64_t failed;
	uint64_t events;
	uint64_t packet_hops;
	uint64_t retransmitted_pkts;
	uint64_t repaired_pkts;
	uint64_t undecodable_blocks;
	uint64_t outcomes[WH_STATUSES];
};

/* Without asking, what repair packets do not bring back is lost, and a window may wait for it. */
static bool gave_up(enum wh_release_status status)
{
	return status == WH_STATUS_UNREPAIRED || status == WH_STATUS_STALLED;
}

/* What the receiver may end with, given what was to happen. */
static bool outcome_allowed(const struct wh_world_config *config, enum wh_release_status sender,
	enum wh_release_status receiver, const char **why)
{
	*why = "the outcome is not one of those that this event allows";
	if (config->repair.recovery == WH_RECOVERY_FEC && (gave_up(sender) || gave_up(receiver)))
		return sender != WH_STATUS_VERIFIED && receiver != WH_STATUS_VERIFIED;
	switch (config->event) {
	case WH_WORLD_NOTHING:
	case WH_WORLD_SOURCE_PAUSES:
		return sender == WH_STATUS_VERIFIED && receiver == WH_STATUS_VERIFIED;
	case WH_WORLD_CUT:
		return (sender == WH_STATUS_VERIFIED || sender == WH_STATUS_PEER_GONE) &&
		       (receiver == WH_STATUS_VERIFIED || receiver == WH_STATUS_PEER_GONE ||
			       receiver == WH_STATUS_PENDING);
	case WH_WORLD_ABORT_SENDER:
	case WH_WORLD_ABORT_RECEIVER:
	case WH_WORLD_CLOSE_SENDER:
	case WH_WORLD_CLOSE_RECEIVER:
		return (sender == WH_STATUS_VERIFIED || sender == WH_STATUS_INTERRUPTED ||
			       sender == WH_STATUS_PEER_GONE) &&
		       (receiver == WH_STATUS_VERIFIED || receiver == WH_STATUS_INTERRUPTED ||
			       receiver == WH_STATUS_PEER_GONE || receiver == WH_STATUS_PENDING);
	case WH_WORLD_SINK_FULL:
		return (sender == receiver || sender == WH_STATUS_PEER_GONE) &&
		       (receiver == WH_STATUS_VERIFIED || receiver == WH_STATUS_NO_SPACE);
	case WH_WORLD_SOURCE_STOPS:
		return sender == receiver &&
		       (sender == WH_STATUS_VERIFIED || sender == WH_STATUS_STALLED);
	default:
		return false;
	}
}

/* How long the receiver stays when its outcome is known and the fibre is well. */
static uint64_t healed_linger_ns(
	const struct wh_world_config *config, const struct wh_world_result *result)
{
	uint64_t since_ns = wh_max_u64(result->outcome_ns, config->heal_ns);

	return result->gone_ns - wh_min_u64(result->gone_ns, since_ns);
}

static uint64_t linger_max_ns(const struct wh_world_config *config)
{
	const struct wh_fibre_config *fibre = &config->forward;
	uint64_t queue_bytes = wh_max_u64(fibre->queue_bytes,
		(uint64_t)fibre->queue_pkts *
			(config->mtu_bytes + WH_ETHER_BYTES + WH_ETHER_WIRE_BYTES));

	return LINGER_MAX_NS + wh_muldiv_u64(queue_bytes, 8 * WH_NS_PER_S, fibre->rate_bps);
}

/* NULL, or what is wrong with this end of the world. */
static const char *judge(const struct wh_world_config *config, const struct wh_world_result *result)
{
	const char *why;

	if (!result->in_time)
		return "not ended in time after the fibre healed";
	if (result->receiver == WH_STATUS_MISMATCH || result->sender == WH_STATUS_MISMATCH)
		return "a digest did not agree";
	if (result->receiver == WH_STATUS_VERIFIED && !result->pattern_ok)
		return "verified, though the writer found wrong bytes";
	if (result->receiver == WH_STATUS_VERIFIED && result->object_bytes != config->object_bytes)
		return "verified, though the size is wrong";
	if (result->sender == WH_STATUS_VERIFIED && result->receiver != WH_STATUS_VERIFIED)
		return "the sender says verified and the receiver does not";
	if (config->event == WH_WORLD_NOTHING &&
		healed_linger_ns(config, result) > linger_max_ns(config))
		return "the receiver waits in vain for DONE";
	/* What an honest end sends over the worst fibre contradicts nothing. */
	if (result->sender_stats.bad_pkts > 0 || result->receiver_stats.bad_pkts > 0)
		return "an honest end's packets were counted as bad";
	if (!outcome_allowed(config, result->sender, result->receiver, &why))
		return why;
	if (result->sender == WH_STATUS_STALLED && result->stalled_by != WH_LIMIT_DISK &&
		config->repair.recovery != WH_RECOVERY_FEC)
		return "the reader hangs, and the stall is not put down to the disk";
	return NULL;
}

static bool run_seed(const struct options *options, uint64_t seed, struct tally *tally)
{
	struct wh_world_config config;
	struct wh_world_result result;
	char description[512];

	wh_draw_world(seed, &config);
	wh_draw_describe(&config, description, sizeof(description));
	if (options->verbose)
		printf("seed %" PRIu64 ": %s\n", seed, description);
	fflush(stdout);
	*options->running = seed;

	struct wh_world *world = wh_world_create(&config);

	wh_world_run(world, config.limit_ns);
	wh_world_result(world, &result);
	wh_world_destroy(world);

	const char *wrong = judge(&config, &result);

	tally->events += result.events;
	tally->packet_hops += result.packet_hops;
	tally->retransmitted_pkts += result.sender_stats.retransmitted_pkts;
	tally->repaired_pkts += result.receiver_stats.repaired_pkts;
	tally->undecodable_blocks += result.receiver_stats.undecodable_blocks;
	tally->outcomes[result.sender]++;
	if (options->verbose || wrong != NULL)
		printf("seed %" PRIu64 ": %.3f s virtual, sender %s, receiver %s, %" PRIu64
		       " events, %" PRIu64 " sent, %" PRIu64 " again\n",
			seed, (double)result.end_ns / 1e9, wh_release_status_name(result.sender),
			wh_release_status_name(result.receiver), result.events,
			result.sender_stats.sent_pkts, result.sender_stats.retransmitted_pkts);
	if (wrong == NULL)
		return true;
	printf("FAILED: %s\n  world: %s\n  replay: %s --first %" PRIu64 " --seeds 1 --verbose\n",
		wrong, description, options->program, seed);
	fflush(stdout);
	return false;
}

static void run_share(const struct options *all, uint32_t job, struct tally *tally)
{
	struct options own = *all;
	const struct options *options = &own;

	own.running = &all->running[job];
	for (uint64_t i = job; i < options->seeds; i += options->jobs) {
		if (run_seed(options, options->first + i, tally))
			tally->passed++;
		else
			tally->failed++;
	}
}

static void add(struct tally *sum, const struct tally *part)
{
	sum->passed += part->passed;
	sum->failed += part->failed;
	sum->events += part->events;
	sum->packet_hops += part->packet_hops;
	sum->retransmitted_pkts += part->retransmitted_pkts;
	sum->repaired_pkts += part->repaired_pkts;
	sum->undecodable_blocks += part->undecodable_blocks;
	for (uint32_t i = 0; i < WH_STATUSES; i++)
		sum->outcomes[i] += part->outcomes[i];
}

static void report_crash(const struct options *options, const pid_t *children, pid_t child)
{
	for (uint32_t job = 0; job < options->jobs; job++)
		if (children[job] == child)
			printf("FAILED: crashed\n  replay: %s --first %" PRIu64
			       " --seeds 1 --verbose\n",
				options->program, options->running[job]);
}

/*
 * Each job is a process: an assertion that fails ends its own share of the seeds and no others, and
 * the seed that it was at is left in shared memory.
 */
static int run_jobs(struct options *options, struct tally *sum)
{
	pid_t children[JOBS_MAX];
	int failures = 0;
	int ends[2];

	options->running = mmap(NULL, JOBS_MAX * sizeof(uint64_t), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (options->running == MAP_FAILED || pipe(ends) != 0)
		return 1;
	fflush(stdout);
	for (uint32_t job = 0; job < options->jobs; job++) {
		pid_t child = fork();

		if (child < 0)
			return 1;
		if (child == 0) {
			struct tally tally = {0};

			run_share(options, job, &tally);
			bool told = write(ends[1], &tally, sizeof(tally)) == sizeof(tally);

			_exit(told ? 0 : 1);
		}
		children[job] = child;
	}
	close(ends[1]);

	struct tally part;
	int status;

	while (read(ends[0], &part, sizeof(part)) == sizeof(part))
		add(sum, &part);
	close(ends[0]);
	pid_t child;

	while ((child = wait(&status)) > 0) {
		if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
			continue;
		report_crash(options, children, child);
		failures++;
	}
	return failures;
}

static void usage(const char *program)
{
	printf("usage: %s [--seeds N] [--first S] [--jobs N] [--verbose]\n"
	       "\n"
	       "Runs N random worlds (default 200) from seed S (default 1) on, N processes at a\n"
	       "time (default 1). Exit status 0 when all are well.\n"
	       "One seed again: %s --first S --seeds 1 --verbose\n",
		program, program);
}

static bool parse_options(int argc, char **argv, struct options *options)
{
	static const struct option names[] = {
		{"seeds", required_argument, NULL, 'n'},
		{"first", required_argument, NULL, 'f'},
		{"jobs", required_argument, NULL, 'j'},
		{"verbose", no_argument, NULL, 'v'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	int option;

	while ((option = getopt_long(argc, argv, "", names, NULL)) != -1) {
		char *end = NULL;
		uint64_t value = optarg == NULL ? 0 : strtoull(optarg, &end, 10);

		if (end != NULL && (*end != '\0' || end == optarg))
			return false;
		if (option == 'n')
			options->seeds = value;
		else if (option == 'f')
			options->first = value;
		else if (option == 'j')
			options->jobs = (uint32_t)value;
		else if (option == 'v')
			options->verbose = true;
		else
			return false;
	}
	return optind == argc && options->jobs > 0 && options->jobs <= JOBS_MAX;
}

int main(int argc, char **argv)
{
	struct options options = {.first = 1, .seeds = 200, .jobs = 1, .program = argv[0]};
	struct tally sum = {0};

	if (!parse_options(argc, argv, &options)) {
		usage(argv[0]);
		return 2;
	}

	int failures = run_jobs(&options, &sum);

	printf("sim: seeds %" PRIu64 "..%" PRIu64 ": %" PRIu64 " passed, %" PRIu64
	       " failed, %d crashed; %.1f M events, %.1f M packet-hops, %" PRIu64
	       " retransmissions, %" PRIu64 " repaired (%" PRIu64 " blocks not); verified %" PRIu64
	       ", interrupted %" PRIu64 ", full %" PRIu64 ", stalled %" PRIu64
	       ", peer gone %" PRIu64 ", unrepaired %" PRIu64 "\n",
		options.first, options.first + options.seeds - 1, sum.passed, sum.failed, failures,
		(double)sum.events / 1e6, (double)sum.packet_hops / 1e6, sum.retransmitted_pkts,
		sum.repaired_pkts, sum.undecodable_blocks, sum.outcomes[WH_STATUS_VERIFIED],
		sum.outcomes[WH_STATUS_INTERRUPTED], sum.outcomes[WH_STATUS_NO_SPACE],
		sum.outcomes[WH_STATUS_STALLED], sum.outcomes[WH_STATUS_PEER_GONE],
		sum.outcomes[WH_STATUS_UNREPAIRED]);
	return failures == 0 && sum.failed == 0 && sum.passed == options.seeds ? 0 : 1;
}
