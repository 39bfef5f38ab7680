/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* The sources and sinks of one transfer, which may be cut. */

#include <stdbool.h>
#include <stdint.h>

#include "base/prng.h"

struct lanes_config {
	int from_fd;
	int to_fd;
	bool below_root; /* paths are below from_fd; else the process's own */
	const char *const *paths;
	uint32_t count;
	const char *target; /* below to_fd */
	bool recursive;
	uint32_t wishes;
	uint64_t delete_max;
	const char *backup;
	bool folds;   /* names that differ by case only are the same */
	bool crowded; /* no memory to remember names */
	uint32_t lanes;
	struct wh_prng *prng;
};

struct lanes_result {
	bool done;
	bool broken;
	uint64_t failed;
	uint64_t refused; /* since another file has, or may have, the name */
	char twice[256];  /* a name that was given twice; "": none */
};

/* Until it is over, or for so many turns. */
void lanes_run(const struct lanes_config *config, uint64_t turns, struct lanes_result *result);
