/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/clock.h"
#include "sink/sink_internal.h"

bool wh_sink_can_join(const struct wh_sink *sink, const struct wh_entry *entry)
{
	return sink->config.assemblies != NULL &&
	       wh_segment_is_possible(entry->size_bytes, sink->config.lanes);
}

static struct wh_assembly *join(struct wh_sink *sink, const struct wh_entry *entry)
{
	return wh_assembly_join(sink->config.assemblies, sink->config.lane, entry->split,
		entry->size_bytes, entry->content == WH_CONTENT_LEAD);
}

bool wh_large_join(struct wh_sink *sink, struct wh_large *file, const struct wh_entry *entry)
{
	struct wh_segment segment =
		wh_segment_of(entry->size_bytes, sink->config.lanes, sink->config.lane);

	file->assembly = join(sink, entry);
	if (file->assembly == NULL)
		return false;
	WH_ASSERT(sink->split_files < WH_SPLITS_MAX); /* as many as there are assemblies */
	sink->split_file[sink->split_files++] = file;
	file->is_lead = entry->content == WH_CONTENT_LEAD;
	file->first = segment.from;
	file->from = segment.from;
	file->end = segment.end;
	file->offset = segment.from;
	file->reserved = segment.from;
	/*
	 * Nothing is known about where holes are: space is divided evenly, so that all segments
	 * together have enough.
	 */
	file->data_bytes =
		wh_muldiv_u64(file->data_bytes, segment.end - segment.from, entry->size_bytes);
	return true;
}

bool wh_sink_spoil(
	struct wh_sink *sink, const struct wh_entry *entry, int error, enum wh_doing doing)
{
	struct wh_assemblies *all = sink->config.assemblies;
	struct wh_assembly *assembly = join(sink, entry);

	if (assembly == NULL)
		return false;
	wh_assembly_fail(all, assembly, error, doing);
	wh_assembly_leave(all, assembly, sink->config.lane);
	return true;
}

bool wh_sink_pass_over(struct wh_sink *sink, const struct wh_entry *entry)
{
	struct wh_assemblies *all = sink->config.assemblies;
	struct wh_assembly *assembly = join(sink, entry);

	if (assembly == NULL)
		return false;
	wh_assembly_skip(all, assembly);
	wh_assembly_leave(all, assembly, sink->config.lane);
	return true;
}

/*
 * This descriptor writes nothing more. The lead lane sets the file's times when all lanes have come
 * so far.
 */
void wh_large_close_segment(struct wh_sink *sink, struct wh_large *file)
{
	if (file->is_lead) {
		file->state = WH_LARGE_GATHERS;
		sink->gathering++;
	} else {
		int fd = file->fd;

		file->fd = -1;
		if (close(fd) != 0) {
			wh_large_fail(sink, file, -errno, WH_DOING_WRITING);
			return;
		}
	}
	wh_assembly_put_down(file->assembly, sink->config.lane);
}

/* Follows the lead lane's decision, if there is one. */
static int32_t see_verdict(struct wh_sink *sink, struct wh_large *file, enum wh_verdict verdict)
{
	if (verdict == WH_VERDICT_SEND) {
		if (file->assembly->resumed != NULL)
			wh_large_resume(sink, file, &file->assembly->resumed[sink->config.lane]);
		file->state = WH_LARGE_RESERVE;
		return 1;
	}
	if (verdict != WH_VERDICT_SKIP || !wh_sink_can_answer(sink))
		return 0;
	wh_sink_answer_needless(sink, file->id);
	wh_large_forget(sink, file);
	return 1;
}

/* A lead lane whose own segment is written waits for the others. */
static int32_t gather(struct wh_sink *sink, struct wh_large *file, uint64_t now_tsc)
{
	bool is_whole = wh_assembly_is_whole(sink->config.assemblies, file->assembly);

	if (file->failed ? !file->told : !is_whole || !wh_stage_has_room(sink->stage))
		return 0;
	if (wh_sink_notes(sink, file))
		return 0;
	if (!file->failed)
		wh_large_add(sink, file, now_tsc);
	if (file->failed && !file->told)
		return 1;
	WH_ASSERT(sink->gathering > 0 && file->is_lead);
	sink->gathering--;
	if (file->failed)
		wh_large_discard(sink, file);
	else
		wh_large_forget(sink, file);
	return 1;
}

static int32_t poll_segment(struct wh_sink *sink, struct wh_large *file, uint64_t now_tsc)
{
	enum wh_verdict verdict = wh_assembly_verdict(file->assembly);

	/* A comparison runs to its end, which is soon. */
	if (verdict == WH_VERDICT_FAILED && !file->failed && file->state != WH_LARGE_COMPARE) {
		wh_large_fail(sink, file, file->assembly->error, file->assembly->doing);
		return 1;
	}
	if (file->state == WH_LARGE_AWAIT && !file->failed)
		return see_verdict(sink, file, verdict);
	if (file->state == WH_LARGE_GATHERS)
		return gather(sink, file, now_tsc);
	return 0;
}

/* Backwards, because an entry that leaves is replaced by the last one. */
int32_t wh_sink_poll_segments(struct wh_sink *sink, uint64_t now_tsc)
{
	int32_t work = 0;

	for (uint32_t i = sink->split_files; i > 0; i--)
		work += poll_segment(sink, sink->split_file[i - 1], now_tsc);
	return work;
}

bool wh_sink_awaits_lanes(const struct wh_sink *sink)
{
	for (uint32_t i = 0; i < sink->split_files; i++)
		if (sink->split_file[i]->state == WH_LARGE_AWAIT ||
			sink->split_file[i]->state == WH_LARGE_GATHERS)
			return true;
	return false;
}
