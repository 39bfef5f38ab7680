/* SPDX-License-Identifier: BSD-3-Clause */
#include "source/source_internal.h"

static bool is_shut(const _Atomic bool *gate)
{
	return gate != NULL && !atomic_load_explicit(gate, memory_order_acquire);
}

/* The walk has an item that could not be put. */
static enum wh_waits blocked_waits(const struct wh_source *source)
{
	const struct wh_ledger *ledger = &source->ledger;

	if (source->ledger_is_full && ledger->first < ledger->next)
		return WH_WAITS_COMMIT;
	if (source->asked_count == WH_SOURCE_ASKED)
		return WH_WAITS_ANSWER;
	return WH_WAITS_SESSION;
}

enum wh_waits wh_source_waits(const struct wh_source *source)
{
	if (source->progress.state == WH_SOURCE_SENT)
		return WH_WAITS_TOTALS;
	if (source->progress.state != WH_SOURCE_RUNNING)
		return WH_WAITS_NOTHING;
	if (source->reading.step == WH_READING_STREAMS && source->stream.is_idle)
		return WH_WAITS_PIPE;
	if (source->reading.step == WH_READING_DIFFERS)
		return WH_WAITS_DISK;
	if (source->reading.step != WH_READING_NOTHING)
		return source->reading.ahead.in_air > 0 ? WH_WAITS_DISK : WH_WAITS_SESSION;
	if (source->is_blocked)
		return blocked_waits(source);
	if (!source->progress.walked)
		return WH_WAITS_NOTHING;
	if (source->asked_count > 0)
		return source->answered_count > 0 ? WH_WAITS_NOTHING : WH_WAITS_ANSWER;
	if (!wh_source_is_walked(source))
		return WH_WAITS_SEGMENTS;
	return is_shut(source->config.gate) ? WH_WAITS_LANES : WH_WAITS_SESSION;
}
