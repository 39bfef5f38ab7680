/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "source/source_internal.h"

/* Most equal blocks skipped per poll. */
#define BLOCKS_PER_POLL 4096

static uint64_t size_of(const struct wh_source_asked *file)
{
	return (uint64_t)file->status.st_size;
}

static uint32_t blocks_of(const struct wh_source_asked *file)
{
	return wh_block_count(size_of(file), wh_block_bytes(size_of(file)));
}

/* Without memory for it the file is sent as a whole. False: too many lists. */
static bool begin_list(struct wh_source *source, struct wh_source_asked *file)
{
	if (source->lists == WH_SOURCE_LISTS_MAX)
		return false;
	if (wh_blocks_charge(&source->config.account, blocks_of(file), &file->charged))
		file->told = malloc(blocks_of(file) * sizeof(file->told[0]));
	source->lists++;
	return true;
}

/* Blocks are listed in order, each once, before the file is answered. */
bool wh_source_take_blocks(struct wh_source *source, const struct wh_record *record)
{
	const struct wh_ledger_entry *entry = wh_source_find_open(source, record->blocks.id);
	uint32_t count = record->blocks.count;
	struct wh_source_asked *file;

	if (entry == NULL || entry->asked == WH_LEDGER_NO_ASKED ||
		!wh_choice_has(&source->config.choice, WH_CHOICE_BLOCKS))
		return false;
	file = &source->asked[entry->asked];
	if (file->state != WH_ASKED_OUT || file->is_segment || file->is_stream ||
		record->blocks.first != file->told_count ||
		count > blocks_of(file) - file->told_count)
		return false;

	if (file->told_count == 0 && !begin_list(source, file))
		return false;
	if (file->told != NULL)
		memcpy(file->told + file->told_count, record->blocks.digests,
			count * sizeof(file->told[0]));
	file->told_count += count;
	return true;
}

void wh_source_begin_blocks(struct wh_source *source)
{
	struct wh_reading *reading = &source->reading;
	struct wh_source_asked *file = reading->file;

	wh_hasher_init(&reading->hasher);
	reading->block = 0;
	reading->likened = 0;
	/* The comparison takes over the received digests. */
	reading->blocks = wh_blocks_compare(file->fd, size_of(file), wh_block_bytes(size_of(file)),
		source->config.block_seed, file->told, file->told_count);
	file->told = NULL;
	if (reading->blocks == NULL)
		wh_source_end_reading(reading, ENOMEM, WH_DOING_READING);
	else
		reading->step = WH_READING_DIFFERS;
}

/* End of the run of blocks that differ, as far as known and allowed at once. */
static uint32_t run_end(const struct wh_reading *reading, uint32_t known, uint32_t most)
{
	uint32_t end = reading->block;

	while (end < known && end - reading->block < most &&
		wh_blocks_differs(reading->blocks, end))
		end++;
	return end;
}

/* Sends a run that was found, or continues to search. */
static int32_t pass(struct wh_source *source, uint32_t known, bool over)
{
	struct wh_reading *reading = &source->reading;
	uint64_t size_bytes = size_of(reading->file);
	uint64_t block_bytes = wh_block_bytes(size_bytes);
	uint32_t most = (uint32_t)wh_max_u64(source->config.extent_bytes_max / block_bytes, 1);
	uint32_t first = reading->block;

	while (reading->block < known && reading->block - first < BLOCKS_PER_POLL &&
		!wh_blocks_differs(reading->blocks, reading->block))
		reading->block++;

	uint32_t end = run_end(reading, known, most);

	/* Waits if the run may become longer. */
	if (end == reading->block || (end == known && end - reading->block < most && !over)) {
		if (over && reading->block == known)
			wh_source_end_reading(reading, 0, WH_DOING_NOTHING);
		return reading->block > first;
	}

	uint64_t from = reading->block * block_bytes;

	reading->block = end;
	wh_source_read_run(source, from, wh_min_u64(end * block_bytes, size_bytes));
	return 1;
}

/* Having compared more counts as work. */
int32_t wh_source_differ(struct wh_source *source)
{
	struct wh_reading *reading = &source->reading;
	uint64_t before = reading->likened;
	int rc = wh_blocks_end(reading->blocks, &reading->likened);
	uint32_t known = wh_blocks_known(reading->blocks);

	if (reading->file->is_cancelled)
		wh_source_end_reading(reading, ECANCELED, WH_DOING_WRITING);
	else if (rc == -ENODATA)
		wh_source_end_reading(reading, EBUSY, WH_DOING_CHANGED);
	else if (rc < 0 && rc != -EINPROGRESS)
		wh_source_end_reading(reading, -rc, WH_DOING_READING);
	else
		return pass(source, known, rc == 0) + (reading->likened != before);
	return 1;
}
