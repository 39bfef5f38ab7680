/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * A world of jobs, all of it drawn from a seed: a server or two, their limits, some clients with
 * what they want of them and at which rates, emulated links, a disk, and what goes wrong. First
 * everything happens at once; then the links are well, nobody dies any more, and who had no success
 * comes again.
 */

#include <stdbool.h>
#include <stdint.h>

#define WORLD_WHY_BYTES 800

struct world_result {
	bool passed;
	char why[WORLD_WHY_BYTES];
	uint64_t events;
	uint64_t virtual_ns;
	uint32_t visits;
	uint32_t repeated;
	uint32_t statuses[32]; /* of the first round, by enum wh_release_status */
};

/* Files go below `folder`, which is there and empty, and is left so unless the world fails. */
void world_run(uint64_t seed, const char *folder, bool verbose, struct world_result *result);
