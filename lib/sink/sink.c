/* SPDX-License-Identifier: BSD-3-Clause */
#include "sink/sink.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/assert.h"
#include "sink/sink_internal.h"
#include "stage/target.h"

#define REFUSED_TEXT_MAX  128
#define REFUSED_BYTES_MAX (64 + REFUSED_TEXT_MAX)

/* A broken sink sends REFUSED to the source, then the end. */
static int32_t refuse(struct wh_sink *sink)
{
	struct wh_record *record = &sink->answer;
	char text[REFUSED_TEXT_MAX];

	if (sink->step == WH_STEP_ENDING && wh_pack_end(&sink->answers)) {
		sink->step = WH_STEP_OVER;
		return 1;
	}
	if (sink->step != WH_STEP_TELLING || !wh_pack_has_room(&sink->answers, REFUSED_BYTES_MAX))
		return 0;
	const char *forbidden = wh_doing_forbidden(sink->progress.doing);

	if (forbidden != NULL)
		snprintf(text, sizeof(text), "%s", forbidden);
	else if (sink->progress.error == -EPROTO)
		snprintf(text, sizeof(text), "what arrived makes no sense");
	else if (sink->progress.error == -EBADMSG)
		snprintf(text, sizeof(text), "what arrived is not what was sent");
	else if (wh_is_full(sink->progress.error))
		snprintf(text, sizeof(text),
			"the disk is full (%s); make room there, and the same command transfers "
			"the rest",
			strerror(-sink->progress.error));
	else
		snprintf(text, sizeof(text), "%s failed: %s", wh_doing_name(sink->progress.doing),
			strerror(-sink->progress.error));
	record->type = WH_RECORD_REFUSED;
	record->refused.error = -sink->progress.error;
	record->refused.text = text;
	record->refused.text_bytes = (uint16_t)strlen(text);
	wh_pack_put(&sink->answers, record);
	sink->step = WH_STEP_ENDING;
	return 1;
}

/* Asserts that files, counts and slots are consistent between two polls. */
static void check(const struct wh_sink *sink)
{
	uint32_t held = sink->in_air + (uint32_t)__builtin_popcount(sink->idle | sink->written);

	WH_ASSERT(sink->ring == NULL || held == WH_RING_DEPTH);
	WH_ASSERT((sink->idle & sink->written) == 0);
	WH_ASSERT(wh_sink_is_running(sink) ==
		  (sink->progress.error == 0 && sink->progress.state != WH_SINK_DONE));
	if (!wh_sink_is_running(sink))
		return;
	WH_ASSERT(sink->large_count <= WH_SINK_LARGE_MAX);
	WH_ASSERT(sink->closing_count + sink->gathering <= sink->large_count);
	WH_ASSERT(sink->split_files <= sink->large_count && sink->untold <= sink->large_count);
	WH_ASSERT(sink->reserving == NULL || sink->reserving->state == WH_LARGE_RESERVE);
	WH_ASSERT(sink->comparing == NULL || sink->comparing->state == WH_LARGE_COMPARE);
	WH_ASSERT(sink->listing == NULL || sink->listing->basis != NULL);
	WH_ASSERT((sink->comparing != NULL) == (sink->existing_fd >= 0));
	WH_ASSERT(sink->intake.extent_bytes == 0 || sink->intake.file != NULL);
	WH_ASSERT(sink->committed_below <= sink->intake.next_id);
}

/*
 * The disk is full: before the bundle ends, complete files get their names, and the journal learns
 * what is written of the others.
 */
static int32_t end_full(struct wh_sink *sink)
{
	if (sink->closing_count > 0 || !wh_stage_is_empty(sink->stage) || wh_sink_keeps_notes(sink))
		return 0;
	wh_sink_break(sink, sink->full, sink->full_doing);
	return 1;
}

int32_t wh_sink_poll(void *state, uint64_t now_tsc)
{
	struct wh_sink *sink = state;
	int32_t work = wh_sink_reap(sink);

	if (wh_sink_is_running(sink)) {
		int32_t taken = sink->full == 0 ? wh_sink_take(sink, now_tsc) : 0;

		work += taken;
		if (wh_sink_is_running(sink))
			work += wh_sink_poll_large(sink, now_tsc);
		if (wh_sink_is_running(sink))
			work += wh_sink_commit(sink, now_tsc, taken == 0);
		if (wh_sink_is_running(sink))
			work += sink->full == 0 ? wh_sink_finish(sink) : end_full(sink);
	}
	wh_sink_submit(sink);
	if (sink->progress.state == WH_SINK_BROKEN)
		work += wh_sink_give_back_all(sink) + refuse(sink);
	/* While there is other work, answers wait so that more fit into a chunk. */
	if (work == 0)
		wh_pack_flush(&sink->answers);
	check(sink);
	return work;
}

const struct wh_sink_progress *wh_sink_progress(const struct wh_sink *sink)
{
	return &sink->progress;
}

/* Opens the folder that the entries go into, and learns whether their first component changes. */
static int open_target(struct wh_sink *sink, enum wh_doing *doing)
{
	const struct wh_target target = {
		.path = sink->config.target,
		.into_folder = sink->config.into_folder,
		.as_name = sink->config.as_name,
		.look = wh_sink_is_dry(sink),
		.blind = sink->config.blind,
	};
	int fd = wh_target_open(sink->config.root_fd, &target, sink->as, doing);

	if (fd == -ENOENT && wh_sink_is_dry(sink)) {
		sink->nothing_there = true;
		sink->as[0] = '\0';
		fd = wh_beneath_resolve(
			sink->config.root_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	}
	sink->as_bytes = strlen(sink->as);
	return fd;
}

static struct wh_sink *alloc_sink(void)
{
	static_assert(sizeof(struct wh_sink) % WH_HASHER_ALIGN == 0, "a size for aligned_alloc");
	struct wh_sink *sink = aligned_alloc(WH_HASHER_ALIGN, sizeof(*sink));

	if (sink != NULL)
		memset(sink, 0, offsetof(struct wh_sink, piece));
	return sink;
}

static void set_up_room(struct wh_sink *sink)
{
	struct stat status;

	sink->in_memory = wh_beneath_in_memory(sink->anchor_fd);
	if (fstat(sink->anchor_fd, &status) == 0) {
		sink->device = status.st_dev;
		sink->anchor_inode = status.st_ino;
	}
	if (sink->device != 0)
		sink->room = wh_room_find(sink->config.room, sink->device);
	if (sink->room == NULL)
		sink->room = &sink->own_room;
}

static void set_up(struct wh_sink *sink)
{
	const struct wh_sink_config *config = &sink->config;

	wh_pack_init(&sink->answers, config->first_answer, config->answer_bytes, config->free,
		config->ready);
	wh_hasher_init(&sink->packed);
	wh_beneath_init(&sink->beneath, sink->anchor_fd);
	set_up_room(sink);
	wh_sink_keep_init(sink);
	wh_strays_init(&sink->strays, &sink->config.account);
	sink->intake.number = config->first_chunk;
	sink->keeps = config->choice.wishes & config->rules.keeps & WH_CHOICE_KEEPS;
	/* A hard link names a file that need not have come with the bundle. */
	if (config->blind)
		sink->keeps &= ~(uint32_t)WH_CHOICE_HARD_LINKS;
	sink->progress.as_name = sink->as_bytes > 0;
	if (config->rules.case_clash == WH_CASE_BY_TARGET && wh_folds_case(sink->anchor_fd))
		sink->config.rules.case_clash = WH_CASE_REFUSE;
	sink->existing_fd = -1;
	for (uint32_t i = 0; i < WH_SINK_LARGE_MAX; i++)
		sink->large[i].fd = -1;
	wh_names_join(&sink->config.used->names);
	wh_names_join(&sink->config.used->there);
	/* The caller's string is only valid during the call. */
	sink->config.target = NULL;
}

int wh_sink_open(struct wh_sink **result, const struct wh_sink_config *config, enum wh_doing *doing)
{
	WH_ASSERT(config->chunk_bytes > 0 && config->chunk_bytes % WH_CHUNK_ALIGN == 0);
	WH_ASSERT(config->hz > 0 && config->answer_bytes >= REFUSED_BYTES_MAX);
	WH_ASSERT(!config->blind || (config->choice.wishes & WH_CHOICES_TELL) == 0);
	WH_ASSERT(!(config->as_name && config->into_folder) && config->room != NULL);
	WH_ASSERT(config->assemblies == NULL || config->lane < config->lanes);

	struct wh_sink *sink = alloc_sink();
	int rc = -ENOMEM;

	*doing = WH_DOING_OPENING;
	if (sink == NULL)
		return rc;
	sink->config = *config;
	sink->config.anew |= config->blind;
	if (sink->config.used == NULL)
		sink->config.used = &sink->used;
	sink->large_paths = calloc(WH_SINK_LARGE_MAX, sizeof(*sink->large_paths));
	if (sink->large_paths == NULL)
		goto free_state;
	rc = wh_folder_log_init(&sink->folders, config->folder_log_max_bytes);
	if (rc < 0)
		goto free_paths;
	sink->anchor_fd = rc = open_target(sink, doing);
	if (rc < 0)
		goto free_log;
	rc = wh_stage_open(&sink->stage, sink->anchor_fd, config->hz,
		wh_journal_since_s(config->keeping.journal));
	if (rc < 0)
		goto close_anchor;
	set_up(sink);
	*result = sink;
	return 0;

close_anchor:
	close(sink->anchor_fd);
free_log:
	wh_folder_log_free(&sink->folders);
free_paths:
	free(sink->large_paths);
free_state:
	free(sink);
	return rc;
}

void wh_sink_close(struct wh_sink *sink)
{
	if (sink == NULL)
		return;
	wh_sink_close_ring(sink);
	wh_sink_end_keep(sink);
	wh_sink_end_segments(sink);
	for (uint32_t i = 0; i < WH_SINK_LARGE_MAX; i++) {
		wh_large_give_up_room(sink, &sink->large[i]);
		if (sink->large[i].fd >= 0)
			close(sink->large[i].fd);
		free((void *)sink->large[i].more.xattrs);
		wh_basis_free(sink, &sink->large[i]);
		wh_large_leave(sink, &sink->large[i]);
	}
	if (sink->existing_fd >= 0)
		close(sink->existing_fd);
	wh_strays_free(&sink->strays);
	wh_stage_close(sink->stage);
	wh_beneath_free(&sink->beneath);
	close(sink->anchor_fd);
	wh_folder_log_free(&sink->folders);
	wh_names_leave(&sink->config.used->names, &sink->config.account);
	wh_names_leave(&sink->config.used->there, &sink->config.account);
	free(sink->ahead.bytes);
	free(sink->large_paths);
	free(sink);
}
