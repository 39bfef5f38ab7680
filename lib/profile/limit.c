/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile/limit.h"

#include "base/assert.h"

/* A cause with less than 1/NAMED_SHARE of the time is not worth naming. */
#define NAMED_SHARE 10

const char *wh_limit_name(enum wh_limit limit)
{
	static const char *const names[] = {
		[WH_LIMIT_START] = "start",
		[WH_LIMIT_RATE] = "rate",
		[WH_LIMIT_LINE] = "line",
		[WH_LIMIT_OTHERS] = "others",
		[WH_LIMIT_LOSS] = "loss",
		[WH_LIMIT_WINDOW] = "window",
		[WH_LIMIT_MEMORY] = "memory",
		[WH_LIMIT_DISK] = "disk",
		[WH_LIMIT_PEER_DISK] = "peer_disk",
		[WH_LIMIT_PIPE] = "pipe",
		[WH_LIMIT_PEER] = "peer",
		[WH_LIMIT_CPU] = "cpu",
		[WH_LIMIT_NONE] = "none",
	};

	WH_ASSERT(limit <= WH_LIMIT_NONE);
	return names[limit];
}

void wh_limit_is_line(uint64_t limit_tsc[WH_LIMITS], enum wh_limit other)
{
	WH_ASSERT(other != WH_LIMIT_LINE && other < WH_LIMITS);
	limit_tsc[WH_LIMIT_LINE] += limit_tsc[other];
	limit_tsc[other] = 0;
}

static enum wh_limit longer_of(
	const uint64_t limit_tsc[WH_LIMITS], enum wh_limit one, enum wh_limit other)
{
	return limit_tsc[other] > limit_tsc[one] ? other : one;
}

enum wh_limit wh_limit_of(const uint64_t limit_tsc[WH_LIMITS])
{
	enum wh_limit full = longer_of(limit_tsc, WH_LIMIT_RATE, WH_LIMIT_LINE);
	enum wh_limit most = WH_LIMIT_START;
	uint64_t all_tsc = 0;

	for (enum wh_limit limit = 0; limit < WH_LIMITS; limit++) {
		all_tsc += limit_tsc[limit];
		if (limit != WH_LIMIT_RATE && limit != WH_LIMIT_LINE)
			most = longer_of(limit_tsc, most, limit);
	}
	return limit_tsc[full] == 0 || limit_tsc[most] > all_tsc / NAMED_SHARE ? most : full;
}
