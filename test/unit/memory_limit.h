/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Leaves the process `spare_bytes` of address space, to see a large allocation fail. Sanitizers
 * keep their own terabytes of it and end the process instead: such builds skip the test.
 */

#include <sys/resource.h>
#include <unistd.h>

#include "unit.h"

#ifdef __SANITIZE_ADDRESS__
#define WH_MEMORY_LIMIT_WORKS 0
#else
#define WH_MEMORY_LIMIT_WORKS 1
#endif

static inline void wh_memory_limit(size_t spare_bytes)
{
	struct rlimit limit;
	unsigned long used_pages = 0;
	FILE *statm = fopen("/proc/self/statm", "r");

	CU_ASSERT_PTR_NOT_NULL_FATAL(statm);
	CU_ASSERT_EQUAL_FATAL(fscanf(statm, "%lu", &used_pages), 1);
	fclose(statm);
	CU_ASSERT_EQUAL_FATAL(getrlimit(RLIMIT_AS, &limit), 0);
	limit.rlim_cur = used_pages * (rlim_t)sysconf(_SC_PAGESIZE) + spare_bytes;
	CU_ASSERT_EQUAL_FATAL(setrlimit(RLIMIT_AS, &limit), 0);
}

static inline void wh_memory_unlimit(void)
{
	struct rlimit limit;

	CU_ASSERT_EQUAL_FATAL(getrlimit(RLIMIT_AS, &limit), 0);
	limit.rlim_cur = limit.rlim_max;
	CU_ASSERT_EQUAL_FATAL(setrlimit(RLIMIT_AS, &limit), 0);
}
