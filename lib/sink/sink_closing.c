/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/assert.h"
#include "sink/sink_internal.h"

void wh_large_close(struct wh_sink *sink, struct wh_large *file)
{
	WH_ASSERT(sink->closing_count < WH_SINK_CLOSING_MAX);
	WH_ASSERT(file->state == WH_LARGE_COMING || file->state == WH_LARGE_ANSWERED);
	file->state = WH_LARGE_CLOSING;
	sink->closing[sink->closing_count++] = file;
}

/* Nothing will arrive before an answer was sent, so the entry ends here. */
static void tell_one(struct wh_sink *sink, struct wh_large *file)
{
	struct wh_staged entry = wh_large_entry(sink, file);

	if (wh_large_is_segment(file))
		wh_sink_answer_needless(sink, file->id);
	else
		wh_sink_tell_failed(sink, &entry, file->error, (enum wh_doing)file->doing);
	WH_ASSERT(file->failed && !file->told && sink->untold > 0);
	file->told = true;
	sink->untold--;
	if (file->state == WH_LARGE_RESERVE || file->state == WH_LARGE_AWAIT ||
		file->state == WH_LARGE_RECALL || file->state == WH_LARGE_LIST)
		wh_large_discard(sink, file);
}

static int32_t tell_failures(struct wh_sink *sink)
{
	for (uint32_t i = 0; i < WH_SINK_LARGE_MAX && sink->untold > 0; i++) {
		struct wh_large *file = &sink->large[i];

		if (file->state == WH_LARGE_NONE || !file->failed || file->told)
			continue;
		if (!wh_sink_can_answer(sink))
			return 0;
		tell_one(sink, file);
		return 1;
	}
	return 0;
}

/* Its range is noted; then it is kept, unless it was the last one. */
static bool settle_shared(struct wh_sink *sink, struct wh_large *file)
{
	struct wh_staged entry = wh_large_entry(sink, file);

	if (file->noted < file->end || !wh_sink_can_answer(sink))
		return false;
	wh_sink_tell_kept(sink, &entry);
	wh_large_forget(sink, file);
	return true;
}

/* Whether the file can leave `closing`. */
static bool settle(struct wh_sink *sink, struct wh_large *file, uint64_t now_tsc)
{
	if (file->in_air > 0 || wh_sink_notes(sink, file))
		return false;
	if (!file->failed && !wh_basis_is_over(file))
		return false;
	if (!file->failed && file->is_shared && !file->is_whole)
		return settle_shared(sink, file);
	if (!file->failed && file->assembly != NULL) {
		wh_large_close_segment(sink, file);
		if (file->state == WH_LARGE_GATHERS)
			return true;
	} else if (!file->failed) {
		if (!wh_stage_has_room(sink->stage))
			return false;
		wh_large_add(sink, file, now_tsc);
	}
	if (file->failed && !file->told)
		return false;
	if (file->failed)
		wh_large_discard(sink, file);
	else
		wh_large_forget(sink, file);
	return true;
}

static int32_t settle_closing(struct wh_sink *sink, uint64_t now_tsc)
{
	int32_t settled = 0;

	for (uint32_t i = 0; i < sink->closing_count;) {
		if (!settle(sink, sink->closing[i], now_tsc)) {
			i++;
			continue;
		}
		sink->closing[i] = sink->closing[--sink->closing_count];
		settled++;
	}
	return settled;
}

int32_t wh_sink_poll_large(struct wh_sink *sink, uint64_t now_tsc)
{
	int32_t work = wh_sink_poll_keep(sink, now_tsc);

	if (sink->large_count == 0)
		return work;
	work += wh_sink_poll_segments(sink, now_tsc);
	work += wh_sink_poll_blocks(sink);
	work += tell_failures(sink);
	work += settle_closing(sink, now_tsc);
	if (!wh_sink_can_answer(sink))
		return work;
	return work + wh_sink_poll_asked(sink);
}
