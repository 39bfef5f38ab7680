/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * A program that runs seeds, in several processes: an assertion that fails ends the seeds of its
 * own share and no others, and what it was at is told by the command that replays it.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wh_rig_seeds {
	uint64_t first;
	uint64_t count;
	uint32_t processes;
	bool verbose;
	const char *program;
};

/* What all tallies begin with. They are of uint64_t alone, and are added up. */
struct wh_rig_tally {
	uint64_t passed;
	uint64_t failed;
};

struct wh_rig_share {
	char *folder; /* mkdtemp's template of a process's own, removed at its end; NULL: none */
	bool (*begin)(void); /* of a process, and its end; NULL: nothing is to be done */
	bool (*run)(const struct wh_rig_seeds *seeds, uint64_t seed, void *tally);
	void (*end)(void);
};

/* By --first, --seeds (`count` without), --jobs and --verbose; false: it has said how. */
bool wh_rig_seeds_read(struct wh_rig_seeds *seeds, uint64_t count, int argc, char **argv);

/* How many processes have crashed. */
int wh_rig_seeds_run(const struct wh_rig_seeds *seeds, const struct wh_rig_share *share,
	struct wh_rig_tally *sum, size_t tally_bytes);

/* A seed has failed: how it is run again. */
void wh_rig_seeds_tell(const struct wh_rig_seeds *seeds, uint64_t seed);
