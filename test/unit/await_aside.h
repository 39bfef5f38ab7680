/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_TEST_AWAIT_ASIDE_H
#define WH_TEST_AWAIT_ASIDE_H

#include <sched.h>

#include "file/aside.h"

/* Until what was begun aside is done: then folders are what they will be. */
static inline void await_aside(void)
{
	while (wh_aside_count() > 0)
		sched_yield();
}

#endif
