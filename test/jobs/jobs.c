/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Whole jobs in virtual time, over random worlds: `jobs --seeds 2000`. Safety first: a file under
 * its name is whole, the source's or the one before, and all that peers had is given back. Then
 * liveness: everything ends within a bound, and who comes again when all is well gets what it
 * wants. A failing seed prints the command that replays it.
 */

#include <getopt.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../unit/remove_tree.h"
#include "cli/complain.h"
#include "session/session.h"
#include "world.h"

#define PROCESSES_MAX 64

struct options {
	uint64_t first;
	uint64_t seeds;
	uint32_t processes;
	bool verbose;
	const char *program;
	volatile uint64_t *running; /* the seed at work, where the parent can read it */
};

struct tally {
	uint64_t passed;
	uint64_t failed;
	uint64_t events;
	uint64_t visits;
	uint64_t repeated;
	uint64_t virtual_ns;
	uint64_t statuses[32];
};

static bool is_verbose;

static void say(const char *format, va_list args)
{
	if (!is_verbose)
		return;
	printf("  ");
	vprintf(format, args);
	printf("\n");
}

/* What a server says of its peers is for who replays a seed. */
void wh_say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(format, args);
	va_end(args);
}

void wh_complain(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(format, args);
	va_end(args);
}

static bool run_seed(
	const struct options *options, uint64_t seed, const char *folder, struct tally *tally)
{
	struct world_result result;

	if (options->verbose)
		printf("seed %" PRIu64 "\n", seed);
	fflush(stdout);
	*options->running = seed;
	world_run(seed, folder, options->verbose, &result);
	tally->events += result.events;
	tally->visits += result.visits;
	tally->repeated += result.repeated;
	tally->virtual_ns += result.virtual_ns;
	for (uint32_t i = 0; i < 32; i++)
		tally->statuses[i] += result.statuses[i];
	if (options->verbose)
		printf("  %.3f s virtual, %" PRIu64 " events\n", (double)result.virtual_ns / 1e9,
			result.events);
	if (result.passed)
		return true;
	printf("FAILED: seed %" PRIu64 ": %s\n  replay: %s --first %" PRIu64
	       " --seeds 1 --verbose\n",
		seed, result.why, options->program, seed);
	fflush(stdout);
	return false;
}

static int run_share(const struct options *options, uint32_t number, struct tally *tally)
{
	char folder[] = "/dev/shm/wh_jobs_XXXXXX";
	struct options own = *options;

	own.running = &options->running[number];
	if (mkdtemp(folder) == NULL)
		return 1;
	for (uint64_t i = number; i < options->seeds; i += options->processes) {
		if (run_seed(&own, options->first + i, folder, tally))
			tally->passed++;
		else
			tally->failed++;
	}
	remove_tree(folder);
	return 0;
}

static void add(struct tally *sum, const struct tally *part)
{
	for (size_t i = 0; i < sizeof(*sum) / sizeof(uint64_t); i++)
		((uint64_t *)sum)[i] += ((const uint64_t *)part)[i];
}

/*
 * Each share is a process: an assertion that fails ends its own seeds and no others, and the seed
 * that it was at is left in shared memory.
 */
static int run_shares(struct options *options, struct tally *sum)
{
	pid_t children[PROCESSES_MAX];
	int failures = 0;
	int ends[2];
	struct tally part;
	pid_t child;
	int status;

	options->running = mmap(NULL, PROCESSES_MAX * sizeof(uint64_t), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (options->running == MAP_FAILED || pipe(ends) != 0)
		return 1;
	fflush(stdout);
	for (uint32_t i = 0; i < options->processes; i++) {
		children[i] = fork();
		if (children[i] < 0)
			return 1;
		if (children[i] == 0) {
			struct tally tally = {0};
			int rc = run_share(options, i, &tally);

			fflush(stdout);
			_exit(write(ends[1], &tally, sizeof(tally)) == sizeof(tally) ? rc : 1);
		}
	}
	close(ends[1]);
	while (read(ends[0], &part, sizeof(part)) == sizeof(part))
		add(sum, &part);
	close(ends[0]);
	while ((child = wait(&status)) > 0) {
		if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
			continue;
		failures++;
		for (uint32_t i = 0; i < options->processes; i++)
			if (children[i] == child)
				printf("FAILED: crashed\n  replay: %s --first %" PRIu64
				       " --seeds 1 --verbose\n",
					options->program, options->running[i]);
	}
	return failures;
}

static bool read_options(int argc, char **argv, struct options *options)
{
	static const struct option flags[] = {
		{"first", required_argument, NULL, 'f'},
		{"seeds", required_argument, NULL, 's'},
		{"jobs", required_argument, NULL, 'j'},
		{"verbose", no_argument, NULL, 'v'},
		{0},
	};
	int flag;

	*options = (struct options){.first = 1, .seeds = 100, .processes = 1, .program = argv[0]};
	while ((flag = getopt_long(argc, argv, "", flags, NULL)) != -1) {
		switch (flag) {
		case 'f':
			options->first = strtoull(optarg, NULL, 0);
			break;
		case 's':
			options->seeds = strtoull(optarg, NULL, 0);
			break;
		case 'j':
			options->processes = (uint32_t)strtoul(optarg, NULL, 0);
			break;
		case 'v':
			options->verbose = is_verbose = true;
			break;
		default:
			return false;
		}
	}
	return optind == argc && options->processes >= 1 && options->processes <= PROCESSES_MAX;
}

int main(int argc, char **argv)
{
	struct options options;
	struct tally sum = {0};
	struct rlimit limit;

	if (!read_options(argc, argv, &options)) {
		fprintf(stderr,
			"usage: %s [--first SEED] [--seeds COUNT] [--jobs PROCESSES] "
			"[--verbose]\n",
			argv[0]);
		return 2;
	}
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}

	int failures = run_shares(&options, &sum);

	for (uint32_t i = 0; i < WH_STATUSES; i++)
		if (sum.statuses[i] > 0)
			printf("%s: %" PRIu64 "\n",
				i == WH_STATUS_PENDING
					? "well"
					: wh_release_status_name((enum wh_release_status)i),
				sum.statuses[i]);
	printf("%" PRIu64 " passed, %" PRIu64 " failed; %" PRIu64 " visits, %" PRIu64
	       " of them again; %.0f s of virtual time, %" PRIu64 " events\n",
		sum.passed, sum.failed, sum.visits, sum.repeated, (double)sum.virtual_ns / 1e9,
		sum.events);
	return failures > 0 || sum.failed > 0 ? 1 : 0;
}
