/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_TEST_AWAIT_BACKGROUND_H
#define WH_TEST_AWAIT_BACKGROUND_H

#include <sched.h>

#include "file/background.h"

/* Until what was begun in the background is done: then folders are what they will be. */
static inline void await_background(void)
{
	while (wh_background_count() > 0)
		sched_yield();
}

#endif
