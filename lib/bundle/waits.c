/* SPDX-License-Identifier: BSD-3-Clause */
#include "bundle/waits.h"

#include <assert.h>

#include "base/assert.h"

const char *wh_waits_text(enum wh_waits waits)
{
	static const char *const texts[] = {
		[WH_WAITS_NOTHING] = "nothing",
		[WH_WAITS_COMMIT] = "the receiver to make durable what it has",
		[WH_WAITS_ANSWER] = "the receiver to say which files it wants",
		[WH_WAITS_TOTALS] = "the receiver to say that all has arrived",
		[WH_WAITS_ENTRIES] = "the sender to send more files",
		[WH_WAITS_SESSION] = "the network to take what is ready",
		[WH_WAITS_DISK] = "the disk",
		[WH_WAITS_LANES] = "the other lanes",
		[WH_WAITS_SEGMENTS] = "other lanes' segments of large files",
		[WH_WAITS_PIPE] = "the other end of the pipe",
	};

	static_assert(sizeof(texts) / sizeof(texts[0]) == WH_WAITS_COUNT, "a text for each");
	WH_ASSERT(waits < WH_WAITS_COUNT);
	return texts[waits];
}
