/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* What one may have of memory, has, and had at most: for struct wh_blocks_account. */

#include "file/blocks.h"
#include "unit.h"

struct purse {
	uint64_t most, now, peak;
};

static inline bool purse_take(void *context, uint64_t bytes)
{
	struct purse *purse = context;

	if (bytes > purse->most - purse->now)
		return false;
	purse->now += bytes;
	purse->peak = purse->now > purse->peak ? purse->now : purse->peak;
	return true;
}

static inline void purse_give(void *context, uint64_t bytes)
{
	struct purse *purse = context;

	CU_ASSERT_FATAL(bytes > 0 && bytes <= purse->now);
	purse->now -= bytes;
}

static inline struct wh_blocks_account purse_account(struct purse *purse)
{
	return (struct wh_blocks_account){purse_take, purse_give, purse};
}
