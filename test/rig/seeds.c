/* SPDX-License-Identifier: BSD-3-Clause */
#include "seeds.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/assert.h"
#include "remove_tree.h"

#define PROCESSES_MAX 64

static bool take(struct wh_rig_seeds *seeds, int flag, uint64_t value)
{
	if (flag == 'f')
		seeds->first = value;
	else if (flag == 's')
		seeds->count = value;
	else if (flag == 'j')
		seeds->processes = value > PROCESSES_MAX ? 0 : (uint32_t)value;
	else if (flag == 'v')
		seeds->verbose = true;
	else
		return false;
	return true;
}

static bool read_all(struct wh_rig_seeds *seeds, int argc, char **argv)
{
	static const struct option flags[] = {
		{"first", required_argument, NULL, 'f'},
		{"seeds", required_argument, NULL, 's'},
		{"jobs", required_argument, NULL, 'j'},
		{"verbose", no_argument, NULL, 'v'},
		{0},
	};
	int flag;

	while ((flag = getopt_long(argc, argv, "", flags, NULL)) != -1) {
		char *end = NULL;
		uint64_t value = optarg == NULL ? 0 : strtoull(optarg, &end, 10);

		if ((end != NULL && (*end != '\0' || end == optarg)) || !take(seeds, flag, value))
			return false;
	}
	return optind == argc && seeds->processes > 0;
}

bool wh_rig_seeds_read(struct wh_rig_seeds *seeds, uint64_t count, int argc, char **argv)
{
	*seeds = (struct wh_rig_seeds){
		.first = 1, .count = count, .processes = 1, .program = argv[0]};
	if (read_all(seeds, argc, argv))
		return true;
	fprintf(stderr,
		"usage: %s [--first SEED] [--seeds COUNT] [--jobs PROCESSES] [--verbose]\n"
		"one seed again: %s --first SEED --seeds 1 --verbose\n",
		argv[0], argv[0]);
	return false;
}

void wh_rig_seeds_tell(const struct wh_rig_seeds *seeds, uint64_t seed)
{
	printf("  replay: %s --first %" PRIu64 " --seeds 1 --verbose\n", seeds->program, seed);
	fflush(stdout);
}

/* The seeds of one process; what it is at and what it has found are where its parent sees them. */
static bool run_share(const struct wh_rig_seeds *seeds, const struct wh_rig_share *share,
	uint32_t number, volatile uint64_t *running, struct wh_rig_tally *tally)
{
	if (share->folder != NULL && mkdtemp(share->folder) == NULL)
		return false;
	if (share->begin != NULL && !share->begin())
		return false;
	for (uint64_t i = number; i < seeds->count; i += seeds->processes) {
		*running = seeds->first + i;
		if (seeds->verbose)
			printf("seed %" PRIu64 "\n", seeds->first + i);
		fflush(stdout);
		if (share->run(seeds, seeds->first + i, tally))
			tally->passed++;
		else
			tally->failed++;
	}
	if (share->end != NULL)
		share->end();
	if (share->folder != NULL)
		remove_tree(share->folder);
	fflush(stdout);
	return true;
}

static void add(struct wh_rig_tally *sum, const uint8_t *part, size_t tally_bytes)
{
	for (size_t i = 0; i < tally_bytes / sizeof(uint64_t); i++)
		((uint64_t *)sum)[i] += ((const uint64_t *)part)[i];
}

static bool ended_well(pid_t child)
{
	int status;

	return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int wh_rig_seeds_run(const struct wh_rig_seeds *seeds, const struct wh_rig_share *share,
	struct wh_rig_tally *sum, size_t tally_bytes)
{
	uint8_t *tallies = mmap(NULL, PROCESSES_MAX * (tally_bytes + sizeof(uint64_t)),
		PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t children[PROCESSES_MAX];
	int crashed = 0;

	WH_ASSERT(tallies != MAP_FAILED && tally_bytes % sizeof(uint64_t) == 0);

	volatile uint64_t *running = (volatile uint64_t *)(tallies + PROCESSES_MAX * tally_bytes);

	fflush(stdout);
	for (uint32_t i = 0; i < seeds->processes; i++) {
		children[i] = fork();
		WH_ASSERT(children[i] >= 0);
		if (children[i] == 0)
			_exit(!run_share(seeds, share, i, &running[i],
				(struct wh_rig_tally *)(tallies + i * tally_bytes)));
	}
	for (uint32_t i = 0; i < seeds->processes; i++) {
		if (!ended_well(children[i])) {
			crashed++;
			printf("FAILED: crashed at seed %" PRIu64 "\n", running[i]);
			wh_rig_seeds_tell(seeds, running[i]);
		}
		add(sum, tallies + i * tally_bytes, tally_bytes);
	}
	munmap(tallies, PROCESSES_MAX * (tally_bytes + sizeof(uint64_t)));
	return crashed;
}
