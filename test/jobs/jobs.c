/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Whole jobs in virtual time, over random worlds: `jobs --seeds 2000`. Safety first: a file under
 * its name is whole, the source's or the one before, and all that peers had is given back. Then
 * liveness: everything ends within a bound, and who comes again when all is well gets what it
 * wants. A failing seed prints the command that replays it.
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "../rig/seeds.h"
#include "said.h"
#include "session/session.h"
#include "world.h"

struct tally {
	struct wh_rig_tally common;
	uint64_t events;
	uint64_t visits;
	uint64_t repeated;
	uint64_t virtual_ns;
	uint64_t statuses[32];
};

static char folder[] = "/dev/shm/wh_jobs_XXXXXX";

static bool run_seed(const struct wh_rig_seeds *seeds, uint64_t seed, void *state)
{
	struct tally *tally = state;
	struct world_result result;

	said_verbosely(seeds->verbose);
	world_run(seed, folder, seeds->verbose, &result);
	tally->events += result.events;
	tally->visits += result.visits;
	tally->repeated += result.repeated;
	tally->virtual_ns += result.virtual_ns;
	for (uint32_t i = 0; i < 32; i++)
		tally->statuses[i] += result.statuses[i];
	if (seeds->verbose)
		printf("  %.3f s virtual, %" PRIu64 " events\n", (double)result.virtual_ns / 1e9,
			result.events);
	if (result.passed)
		return true;
	printf("FAILED: seed %" PRIu64 ": %s\n", seed, result.why);
	wh_rig_seeds_tell(seeds, seed);
	return false;
}

int main(int argc, char **argv)
{
	static const struct wh_rig_share share = {.folder = folder, .run = run_seed};
	struct wh_rig_seeds seeds;
	struct tally sum = {0};
	struct rlimit limit;

	if (!wh_rig_seeds_read(&seeds, 100, argc, argv))
		return 2;
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}

	int failures = wh_rig_seeds_run(&seeds, &share, &sum.common, sizeof(sum));

	for (uint32_t i = 0; i < WH_STATUSES; i++)
		if (sum.statuses[i] > 0)
			printf("%s: %" PRIu64 "\n",
				i == WH_STATUS_PENDING
					? "well"
					: wh_release_status_name((enum wh_release_status)i),
				sum.statuses[i]);
	printf("%" PRIu64 " passed, %" PRIu64 " failed; %" PRIu64 " visits, %" PRIu64
	       " of them again; %.0f s of virtual time, %" PRIu64 " events\n",
		sum.common.passed, sum.common.failed, sum.visits, sum.repeated,
		(double)sum.virtual_ns / 1e9, sum.events);
	return failures > 0 || sum.common.failed > 0 ? 1 : 0;
}
