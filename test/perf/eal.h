/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_debug.h>
#include <rte_eal.h>

#include "base/assert.h"

#define EAL_WORDS_MAX 16

/* Free huge pages of the default size. */
static inline uint64_t huge_pages_free(void)
{
	char line[128];
	uint64_t pages = 0;
	FILE *file = fopen("/proc/meminfo", "r");

	while (file != NULL && fgets(line, sizeof(line), file) != NULL)
		if (sscanf(line, "HugePages_Free: %" SCNu64, &pages) == 1)
			break;
	if (file != NULL)
		fclose(file);
	return pages;
}

/*
 * Starts the EAL of a measurement with these words, with huge pages if `pages` of them are free;
 * returns whether it has them. The words are copied, since the EAL keeps them.
 */
static inline bool start_eal_with(const char *const *words, int count, uint64_t pages)
{
	bool huge = huge_pages_free() >= pages;
	char *args[EAL_WORDS_MAX];
	int n = 0;

	WH_ASSERT(count + 2 < EAL_WORDS_MAX);
	for (int i = 0; i < count; i++)
		args[n++] = strdup(words[i]);
	args[n++] = strdup(huge ? "--in-memory" : "--no-huge");
	if (!huge)
		args[n++] = strdup("--no-shconf");
	if (rte_eal_init(n, args) < 0)
		rte_exit(EXIT_FAILURE, "the EAL does not start\n");
	return huge;
}
