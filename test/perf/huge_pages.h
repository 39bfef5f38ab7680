/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_PERF_HUGE_PAGES_H
#define WH_PERF_HUGE_PAGES_H

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>

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

#endif
