/* SPDX-License-Identifier: BSD-3-Clause */
#include "source/source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_common.h>

#include "base/assert.h"
#include "source/source_internal.h"

/* The end of a pipe is not known in advance. */
static int32_t tell_found(struct wh_source *source)
{
	const struct wh_source_progress *progress = &source->progress;

	if (source->found_is_put || !progress->walked || source->item.found != WH_WALK_NOTHING ||
		source->config.is_pipe || wh_source_is_in_extents(source))
		return 0;
	source->record.type = WH_RECORD_FOUND;
	source->record.found.files = progress->files_found;
	source->record.found.bytes = progress->bytes_found;
	if (!wh_source_has_room(source, wh_record_bytes(&source->record)))
		return 0;
	wh_source_put(source);
	source->found_is_put = true;
	return 1;
}

/* Sends FINISH and the end marker, when nothing is left and the other lanes are ready too. */
static int32_t finish(struct wh_source *source)
{
	const _Atomic bool *gate = source->config.gate;

	if (!wh_source_is_walked(source) || source->asked_count > 0)
		return 0;
	if (wh_source_has_links(source))
		return wh_source_send_links(source);
	if (!source->found_is_put && !source->config.is_pipe)
		return 0;
	if (!source->finish_is_put) {
		if (gate != NULL && !atomic_load_explicit(gate, memory_order_acquire))
			return 0;
		source->record.type = WH_RECORD_FINISH;
		source->record.finish.entries = source->entries;
		source->record.finish.left_out = source->progress.totals.left_out;
		if (!wh_source_has_room(source, wh_record_bytes(&source->record)))
			return 0;
		wh_source_put(source);
		source->finish_is_put = true;
	}
	if (!wh_source_flush(source) || !wh_pack_end(&source->pack))
		return 0;
	WH_ASSERT(source->ids_out == source->ledger.next);
	source->progress.state = WH_SOURCE_SENT;
	return 1;
}

/* Sends a partly filled chunk if nothing more is at hand. */
static int32_t flush_idle(struct wh_source *source, bool is_idle)
{
	const struct wh_chunk *chunk = source->pack.chunk;

	if (chunk == NULL || chunk->bytes == 0)
		return 0;
	if (!is_idle && chunk->bytes < WH_SOURCE_PACK_BYTES)
		return 0;
	return wh_source_flush(source);
}

/* Asserts that queues and counts are consistent between two polls. */
static void check(const struct wh_source *source)
{
	const struct wh_reading *reading = &source->reading;

	WH_ASSERT(source->asked_count <= WH_SOURCE_ASKED);
	WH_ASSERT(source->answered_count <= source->asked_count);
	WH_ASSERT(source->answered_first < WH_SOURCE_ASKED);
	WH_ASSERT(source->splits_count <= WH_SPLITS_MAX && source->splits_first < WH_SPLITS_MAX);
	WH_ASSERT(source->ledger.first <= source->committed);
	WH_ASSERT(source->committed <= source->ids_out && source->ids_out <= source->ledger.next);
	WH_ASSERT(reading->step == WH_READING_NOTHING || reading->file->state == WH_ASKED_ANSWERED);
	WH_ASSERT((source->progress.state == WH_SOURCE_BROKEN) == (source->progress.error < 0));
}

int32_t wh_source_poll(void *context, __rte_unused uint64_t now_tsc)
{
	struct wh_source *source = context;
	int32_t work = wh_source_take_answers(source);

	check(source);
	if (source->progress.state != WH_SOURCE_RUNNING)
		return work;

	int32_t sent = wh_source_read(source);

	sent += wh_source_send(source);
	if (source->progress.state != WH_SOURCE_RUNNING)
		return work + sent;
	sent += tell_found(source);
	sent += finish(source);
	if (source->progress.state == WH_SOURCE_RUNNING)
		sent += flush_idle(source, sent == 0);
	check(source);
	return work + sent;
}

bool wh_source_tell_waits(struct wh_source *source, const struct wh_waits_told *told)
{
	bool between = !wh_source_is_in_extents(source) ||
		       source->reading.step == WH_READING_DIFFERS ||
		       (source->reading.step == WH_READING_STREAMS && !source->stream.is_sending);

	if (source->progress.state != WH_SOURCE_RUNNING || source->finish_is_put || !between)
		return false;
	source->record.type = WH_RECORD_WAITS;
	source->record.waits = *told;
	if (!wh_source_has_room(source, wh_record_bytes(&source->record)))
		return false;
	wh_source_put(source);
	return wh_source_flush(source);
}

const struct wh_source_progress *wh_source_progress(const struct wh_source *source)
{
	return &source->progress;
}

static int open_walk(const struct wh_source *source, struct wh_walk **walk)
{
	const struct wh_source_config *config = &source->config;
	int error = wh_walk_open(walk, config->root_fd, config->paths, config->path_count,
		config->recursive, &config->account);

	if (error == 0 && wh_choice_has(&config->choice, WH_CHOICE_RELATIVE))
		wh_walk_keep_paths(*walk);
	return error;
}

int wh_source_open(struct wh_source **source, const struct wh_source_config *config)
{
	struct wh_source *made = aligned_alloc(_Alignof(struct wh_source), sizeof(*made));
	int error;

	WH_ASSERT(config->lanes > 0 && config->lane < config->lanes);
	WH_ASSERT(config->splits == NULL || config->lanes <= WH_SPLIT_LANES_MAX);
	WH_ASSERT(config->chunk_bytes >= WH_BUNDLE_CHUNK_BYTES_MIN &&
		  config->chunk_bytes <= WH_EXTENT_BYTES_MAX);
	if (made == NULL)
		return -ENOMEM;
	memset(made, 0, sizeof(*made));
	made->config = *config;
	if (made->config.split_bytes_min == 0)
		made->config.split_bytes_min = WH_SPLIT_BYTES_MIN;
	if (made->config.extent_bytes_max == 0)
		made->config.extent_bytes_max =
			RTE_MAX(WH_SOURCE_EXTENT_BYTES, (uint64_t)config->chunk_bytes);
	made->extent_bytes = config->chunk_bytes;
	made->item_fd = -1;
	made->own_uid = geteuid();
	made->inline_bytes_max =
		RTE_MIN(WH_INLINE_BYTES_MAX, config->chunk_bytes - WH_BUNDLE_CHUNK_BYTES_MIN / 2);
	wh_pack_init(
		&made->pack, config->first_chunk, config->chunk_bytes, config->free, config->ready);
	wh_hasher_init(&made->answer_hasher);

	error = wh_ledger_init(&made->ledger,
		config->entries_max == 0 ? WH_LEDGER_ENTRIES_MAX : config->entries_max);
	if (error < 0)
		goto free_source;
	if (config->is_pipe) {
		made->item =
			(struct wh_walk_item){.found = WH_WALK_FILE, .path = "-", .path_bytes = 1};
		made->item_status = (struct stat){.st_mode = S_IFREG | 0644,
			.st_uid = made->own_uid,
			.st_nlink = 1,
			.st_mtim.tv_sec = config->pipe_s};
	}
	error = open_walk(made, &made->walk);
	if (error == 0 && wh_source_scouts(config))
		error = open_walk(made, &made->scout);
	if (error < 0)
		goto free_walk;
	made->progress.is_as_given = wh_walk_is_as_given(made->walk);
	wh_names_join(&made->given_names);
	wh_names_join(&made->contested_names);
	*source = made;
	return 0;

free_walk:
	wh_walk_close(made->walk);
	wh_ledger_free(&made->ledger);
free_source:
	free(made);
	return error;
}

void wh_source_hear(struct wh_source *source, struct wh_fifo *deliver, struct wh_fifo *recycled)
{
	WH_ASSERT(source->config.deliver == NULL && deliver != NULL && recycled != NULL);
	source->config.deliver = deliver;
	source->config.recycled = recycled;
}

void wh_source_close(struct wh_source *source)
{
	if (source == NULL)
		return;
	if (source->ring != NULL)
		wh_rings_give(source->config.rings, source->ring, source->reading.ahead.in_air);
	wh_source_stop_proof(source);
	for (uint32_t i = 0; i < WH_SOURCE_ASKED; i++) {
		if (source->asked[i].state == WH_ASKED_FREE)
			continue;
		wh_source_forget_blocks(source, &source->asked[i]);
		if (source->asked[i].fd >= 0)
			close(source->asked[i].fd);
	}
	if (source->config.splits != NULL)
		wh_splits_gone(source->config.splits, source->config.lane);
	if (source->item_fd >= 0)
		close(source->item_fd);
	wh_walk_close(source->walk);
	wh_walk_close(source->scout);
	wh_names_leave(&source->given_names, &(struct wh_blocks_account){.take = NULL});
	wh_names_leave(&source->contested_names, &(struct wh_blocks_account){.take = NULL});
	wh_source_free_links(source);
	wh_ledger_free(&source->ledger);
	free(source);
}
