/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Assertions are for programming errors only, never for bad packets or other bad input.
 *
 * WH_ASSERT stays on in release builds. WH_DEBUG_ASSERT is for innermost loops, where the test
 * would show in a profile; release builds drop it (meson's b_ndebug).
 */

#include <stdint.h>

__attribute__((noreturn, cold)) void wh_assert_failed(
	const char *condition, const char *file, int line);

#define WH_ASSERT(condition)                                                                       \
	do {                                                                                       \
		if (__builtin_expect(!(condition), 0))                                             \
			wh_assert_failed(#condition, __FILE__, __LINE__);                          \
	} while (0)

#ifdef NDEBUG
#define WH_DEBUG_ASSERT(condition)                                                                 \
	do {                                                                                       \
		(void)sizeof(condition);                                                           \
	} while (0)
#else
#define WH_DEBUG_ASSERT(condition) WH_ASSERT(condition)
#endif
