/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <sched.h>

#include "file/background.h"

/* Until what was begun in the background is done: then folders are what they will be. */
static inline void await_background(void)
{
	while (wh_background_count() > 0)
		sched_yield();
}
