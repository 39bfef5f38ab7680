/* SPDX-License-Identifier: BSD-3-Clause */
#include "bundle/waits.h"

#include <assert.h>

#include "base/assert.h"
#include "bundle/sink_internal.h"
#include "bundle/source_internal.h"

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
		[WH_WAITS_PARTS] = "other lanes' parts of large files",
	};

	static_assert(sizeof(texts) / sizeof(texts[0]) == WH_WAITS_COUNT, "a text for each");
	WH_ASSERT(waits < WH_WAITS_COUNT);
	return texts[waits];
}

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
	if (source->reading.step != WH_READING_NOTHING)
		return source->reading.ahead.in_air > 0 ? WH_WAITS_DISK : WH_WAITS_SESSION;
	if (source->is_blocked)
		return blocked_waits(source);
	if (!source->progress.walked)
		return WH_WAITS_NOTHING;
	if (source->asked_count > 0)
		return source->answered_count > 0 ? WH_WAITS_NOTHING : WH_WAITS_ANSWER;
	if (!wh_source_is_walked(source))
		return WH_WAITS_PARTS;
	return is_shut(source->config.gate) ? WH_WAITS_LANES : WH_WAITS_SESSION;
}

static enum wh_waits taking_waits(const struct wh_sink *sink)
{
	const struct wh_intake *intake = &sink->intake;

	if (sink->closing_count == WH_SINK_CLOSING_MAX || !wh_stage_has_room(sink->stage))
		return WH_WAITS_DISK;
	if (intake->chunk == NULL)
		return wh_sink_awaits_lanes(sink) ? WH_WAITS_PARTS : WH_WAITS_ENTRIES;
	if (intake->raw && sink->ring_open && sink->idle == 0)
		return WH_WAITS_DISK;
	return WH_WAITS_SESSION;
}

enum wh_waits wh_sink_waits(const struct wh_sink *sink)
{
	if (!wh_sink_is_running(sink))
		return WH_WAITS_NOTHING;
	switch (sink->step) {
	case WH_STEP_TAKING:
		return taking_waits(sink);
	case WH_STEP_EMPTYING:
		return wh_sink_awaits_lanes(sink) ? WH_WAITS_PARTS : WH_WAITS_DISK;
	case WH_STEP_SYNCING:
		return WH_WAITS_DISK;
	case WH_STEP_WAITING:
		return WH_WAITS_LANES;
	case WH_STEP_TELLING:
	case WH_STEP_ENDING:
		return WH_WAITS_SESSION;
	default:
		return WH_WAITS_NOTHING;
	}
}
