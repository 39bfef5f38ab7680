/* SPDX-License-Identifier: BSD-3-Clause */
#include <rte_common.h>

#include "base/assert.h"
#include "source/source_internal.h"

void wh_source_fail(struct wh_source *source, int error)
{
	WH_ASSERT(error < 0);
	if (source->progress.state == WH_SOURCE_BROKEN)
		return;
	source->progress.state = WH_SOURCE_BROKEN;
	source->progress.error = error;
}

bool wh_source_has_room(struct wh_source *source, uint32_t bytes)
{
	struct wh_pack *pack = &source->pack;

	if (pack->chunk != NULL && bytes > pack->chunk_bytes - pack->chunk->bytes &&
		!wh_source_flush(source))
		return false;
	/* Uses spare chunks first: the session cannot use them. */
	if (pack->chunk == NULL && source->spare_count > 0) {
		pack->chunk = source->spare[--source->spare_count];
		pack->chunk->bytes = 0;
		pack->chunk->end = false;
	}
	return wh_pack_has_room(pack, bytes);
}

void wh_source_put(struct wh_source *source)
{
	uint32_t before = source->pack.chunk->bytes;

	WH_ASSERT(!source->finish_is_put);
	wh_pack_put(&source->pack, &source->record);
	source->packed_bytes += source->pack.chunk->bytes - before;
}

bool wh_source_flush(struct wh_source *source)
{
	if (!wh_pack_flush(&source->pack))
		return false;
	source->ids_out = source->ledger.next;
	return true;
}

struct wh_chunk *wh_source_take_chunk(struct wh_source *source)
{
	if (source->spare_count > 0)
		return source->spare[--source->spare_count];
	return wh_fifo_pop(source->config.free);
}

/* The session fills `free`: a chunk taken from it and not sent is kept here. */
void wh_source_keep_chunk(struct wh_source *source, struct wh_chunk *chunk)
{
	WH_ASSERT(source->spare_count < RTE_DIM(source->spare));
	source->spare[source->spare_count++] = chunk;
}

void wh_source_tell(struct wh_source *source, const struct wh_file_result *result)
{
	struct wh_totals *totals = &source->progress.totals;
	bool is_file = result->kind == WH_ENTRY_FILE;

	if (result->removed) {
		totals->removed++;
	} else if (result->doing == WH_DOING_PASSING) {
		totals->passed_over++;
	} else if (result->error != 0) {
		totals->failed++;
	} else if (is_file && result->skipped) {
		totals->skipped++;
	} else if (is_file) {
		totals->files++;
		totals->bytes += result->bytes;
	}
	if ((is_file || result->removed || result->error != 0) && source->config.on_file != NULL)
		source->config.on_file(source->config.context, result);
}
