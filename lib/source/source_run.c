/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/assert.h"
#include "bundle/beneath.h"
#include "source/source_internal.h"

bool wh_source_is_in_extents(const struct wh_source *source)
{
	const struct wh_reading *reading = &source->reading;

	return reading->step == WH_READING_STREAMS || reading->step == WH_READING_SENDS ||
	       reading->step == WH_READING_ANNOUNCES ||
	       ((reading->step == WH_READING_ENDS || reading->step == WH_READING_DIFFERS) &&
		       reading->offset > reading->from);
}

/* NULL if reading never blocks, or if no ring is available. */
static struct io_uring *ring_for(struct wh_source *source, int fd)
{
	if (wh_beneath_in_memory(fd))
		return NULL;
	if (!source->ring_tried)
		source->ring = wh_rings_take(source->config.rings);
	source->ring_tried = true;
	return source->ring;
}

void wh_source_read_segment(struct wh_source *source, const struct wh_segment *segment)
{
	struct wh_reading *reading = &source->reading;
	const struct wh_source_asked *file = reading->file;

	wh_read_ahead_init(&reading->ahead, ring_for(source, file->fd), file->fd, &file->status,
		source->config.chunk_bytes, reading->blocks != NULL || wh_source_has_range(source));
	wh_read_ahead_limit(&reading->ahead, file->base + segment->from, file->base + segment->end);
}

void wh_source_read_run(struct wh_source *source, uint64_t offset, uint64_t end)
{
	struct wh_reading *reading = &source->reading;
	const struct wh_segment run = {.from = offset, .end = end};

	if (reading->offset == reading->from) /* the first run */
		reading->from = offset;
	reading->offset = offset;
	reading->end = end;
	wh_source_read_segment(source, &run);
	reading->step = WH_READING_ANNOUNCES;
}

/* Sends FILE_END next. error 0: everything was sent. */
void wh_source_end_reading(struct wh_reading *reading, int error, enum wh_doing doing)
{
	WH_ASSERT(error >= 0 && (error == 0) == (doing == WH_DOING_NOTHING));
	reading->error = error;
	reading->doing = doing;
	reading->step = WH_READING_ENDS;
}

void wh_source_push_raw(struct wh_source *source, struct wh_chunk *chunk)
{
	struct wh_reading *reading = &source->reading;

	WH_ASSERT(chunk->bytes <= reading->extent_left);
	reading->offset += chunk->bytes;
	reading->extent_left -= chunk->bytes;
	WH_ASSERT(reading->file->is_stream ||
		  reading->offset + reading->extent_left <= reading->file->segment.end);
	chunk->number = source->pack.number++;

	bool pushed = wh_fifo_push(source->config.ready, chunk);

	WH_ASSERT(pushed); /* we are the only producer, so room does not disappear */
}
