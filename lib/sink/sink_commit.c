/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/clock.h"
#include "bundle/staging_name.h"
#include "journal/range_notes.h"
#include "sink/sink_internal.h"

#define RENAMES_PER_POLL 8
#define FOLDERS_PER_POLL 8

/* COMMITTED is sent after this many settled entries, and after this long even for one. */
#define SETTLED_ENTRIES 4096
#define SETTLED_US      20000

/*
 * The existing file gets its backup name before it is replaced; one of both exists at any time. A
 * file that this job may have brought is no older backup, and stays.
 */
static int back_up(struct wh_sink *sink, int folder_fd, enum wh_doing *doing)
{
	const struct wh_sink_place *place = &sink->place;
	char path[WH_PATH_BYTES_MAX + WH_BACKUP_BYTES_MAX + 1];
	const char *name = path + (place->name - place->path);
	size_t bytes = (size_t)snprintf(
		path, sizeof(path), "%s%s", place->path, sink->config.choice.backup);
	struct stat older;
	int rc = 0;

	if (strlen(name) > NAME_MAX || bytes > WH_PATH_BYTES_MAX)
		return -ENAMETOOLONG;
	if (wh_looks_like_staging(name, strlen(name)))
		return -EPERM;
	if (fstatat(folder_fd, name, &older, AT_SYMLINK_NOFOLLOW) == 0) {
		if (wh_sink_may_have_brought(sink, path, bytes)) {
			*doing = WH_DOING_SHARING;
			return -EEXIST;
		}
		rc = wh_sink_check_name(sink, folder_fd, name, &older, doing);
	}
	return rc < 0 ? rc : wh_stage_back_up(sink->stage, folder_fd, place->name, name);
}

/* Renames the file, replacing what has its name. */
static int replace(
	struct wh_sink *sink, const struct wh_staged *file, int folder_fd, enum wh_doing *doing)
{
	const char *name = sink->place.name;
	struct stat status;
	int rc = wh_sink_look_again(sink, folder_fd, &status);

	if (rc == 0)
		rc = wh_sink_check_name(sink, folder_fd, sink->place.name, &status, doing);
	if (rc < 0)
		return rc;

	if (status.st_mode != 0 && !S_ISDIR(status.st_mode) && !file->only_new &&
		sink->config.choice.backup != NULL)
		rc = back_up(sink, folder_fd, doing);
	if (rc < 0)
		return rc;

	int held_fd = S_ISREG(status.st_mode)
			      ? wh_stage_hold(folder_fd, name, (uint64_t)status.st_size)
			      : -1;

	rc = wh_stage_rename(sink->stage, file, folder_fd, name);
	wh_stage_let_go(held_fd);
	if (rc == -EEXIST && file->only_new)
		*doing = WH_DOING_CROWDED;
	return rc;
}

static int rename_file(struct wh_sink *sink, const struct wh_staged *file, enum wh_doing *doing)
{
	const struct wh_sink_place *place = &sink->place;
	int rc = -ENOENT;

	/* Twice, because a cached folder may have been removed and created again. */
	for (int i = 0; i < 2 && rc == -ENOENT; i++) {
		int folder_fd = wh_sink_place(sink, file->path, file->path_bytes, doing);

		if (folder_fd < 0)
			return folder_fd;
		*doing = WH_DOING_RENAMING;

		rc = replace(sink, file, folder_fd, doing);
		if (rc == -ENOENT)
			wh_beneath_forget(&sink->beneath, place->path, place->parent_bytes);
	}
	return rc;
}

static void commit_file(struct wh_sink *sink, const struct wh_staged *file, int error)
{
	enum wh_doing doing = WH_DOING_SYNCING;
	int rc = error;

	if (rc == 0 && !file->named)
		rc = rename_file(sink, file, &doing);

	if (rc == 0) {
		wh_sink_row_is_over(sink, file->row);
		wh_sink_note_written(sink, file);
		if (file->ranges != 0)
			wh_ranges_end(wh_stage_folder(sink->stage, true), file->ranges);
		if (file->kept && file->lock_fd >= 0)
			close(file->lock_fd);
		return;
	}
	WH_ASSERT(!file->named); /* never synced, so cannot fail here */
	if (file->ranges == 0)
		wh_stage_discard(sink->stage, file);
	if (file->kept)
		wh_stage_let_go(file->lock_fd);
	wh_sink_row_is_over(sink, file->row);
	wh_sink_tell_failed(sink, file, rc, doing);
}

static void answer_committed(struct wh_sink *sink)
{
	uint64_t below = wh_min_u64(sink->intake.next_id, wh_sink_least_large_id(sink));

	below = wh_min_u64(below, wh_stage_least_id(sink->stage));
	if (below <= sink->committed_below)
		return;
	sink->committed_below = below;
	wh_sink_answer_id(sink, WH_RECORD_COMMITTED, below);
}

/*
 * COMMITTED also releases entries at the source that are in no batch: skipped and failed ones, and
 * folders. If many of them wait, or one for long, it is sent without a batch.
 */
static void answer_settled(struct wh_sink *sink, uint64_t now_tsc)
{
	uint64_t waiting = sink->intake.next_id - sink->committed_below;

	if (waiting == 0 || !wh_sink_can_answer(sink))
		return;
	if (waiting < SETTLED_ENTRIES &&
		now_tsc - sink->settled_tsc < wh_us_to_tsc(sink->config.hz, SETTLED_US))
		return;
	sink->settled_tsc = now_tsc;
	answer_committed(sink);
}

int32_t wh_sink_commit(struct wh_sink *sink, uint64_t now_tsc, bool quiet)
{
	bool nothing_more =
		sink->full != 0 || (sink->step == WH_STEP_EMPTYING && sink->large_count == 0);

	answer_settled(sink, now_tsc);
	wh_stage_seal(sink->stage, now_tsc, quiet, nothing_more);
	for (int32_t work = 0; work < RENAMES_PER_POLL; work++) {
		const struct wh_staged *file;
		int error;

		if (!wh_stage_is_committing(sink->stage) || !wh_sink_can_answer(sink))
			return work;
		file = wh_stage_take(sink->stage, &error);
		if (file == NULL) {
			if (!wh_stage_is_committing(sink->stage))
				answer_committed(sink);
			return work;
		}
		commit_file(sink, file, error);
	}
	return RENAMES_PER_POLL;
}

static bool is_open(const _Atomic bool *gate)
{
	return gate == NULL || atomic_load_explicit(gate, memory_order_acquire);
}

static int32_t finish_folders(struct wh_sink *sink)
{
	for (int32_t work = 0; work < FOLDERS_PER_POLL; work++) {
		if (!wh_sink_finish_folder(sink)) {
			sink->step = WH_STEP_SYNCING;
			return work;
		}
		sink->has_folders = true;
	}
	return FOLDERS_PER_POLL;
}

/*
 * Makes names durable. In a folder of somebody else's a staging folder may be impossible; then
 * nothing was written there.
 */
static int32_t sync_names(struct wh_sink *sink)
{
	int rc = 0;

	if (sink->has_folders && !sink->in_memory)
		wh_stage_prepare(sink->stage);
	if (wh_stage_exists(sink->stage))
		rc = wh_stage_sync(sink->stage);
	if (rc == -EINPROGRESS)
		return 0;
	wh_stage_abandon(sink->stage);
	if (rc < 0)
		wh_sink_break(sink, rc, WH_DOING_SYNCING);
	else
		sink->step = WH_STEP_CLEARING;
	return 1;
}

/* The last phase, so that a job that fails earlier has removed nothing. */
static int32_t clear(struct wh_sink *sink)
{
	int32_t work = wh_sink_clear(sink);

	if (work == 0 && sink->strays.count > 0)
		return 0; /* no room to name what is removed, here or in the answers */
	if (work == 0 && wh_sink_is_running(sink))
		sink->step = WH_STEP_TELLING;
	return work + 1;
}

static int32_t tell(struct wh_sink *sink)
{
	if (!wh_sink_can_answer(sink))
		return 0;
	if (sink->committed_below < sink->intake.next_id) {
		answer_committed(sink);
		return 1;
	}
	WH_ASSERT(sink->large_count == 0 && wh_stage_is_empty(sink->stage));
	wh_sink_answer_totals(sink);
	sink->step = WH_STEP_ENDING;
	return 1;
}

int32_t wh_sink_finish(struct wh_sink *sink)
{
	switch (sink->step) {
	case WH_STEP_EMPTYING:
		if (sink->large_count > 0 || !wh_stage_is_empty(sink->stage))
			return 0;
		WH_ASSERT(sink->closing_count == 0 && sink->gathering == 0);
		sink->step = WH_STEP_WAITING;
		return 1;
	case WH_STEP_WAITING:
		if (!is_open(sink->config.gate))
			return 0;
		sink->step = WH_STEP_FOLDERS;
		return 1;
	case WH_STEP_FOLDERS:
		return finish_folders(sink);
	case WH_STEP_SYNCING:
		return sync_names(sink);
	case WH_STEP_CLEARING:
		return clear(sink);
	case WH_STEP_TELLING:
		return tell(sink);
	case WH_STEP_ENDING:
		if (!wh_pack_end(&sink->answers))
			return 0;
		sink->step = WH_STEP_OVER;
		sink->progress.state = WH_SINK_DONE;
		return 1;
	default:
		return 0;
	}
}
