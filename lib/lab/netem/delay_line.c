/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab/netem/delay_line.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/clock.h"

int wh_delay_line_init(struct wh_delay_line *line, uint32_t items_max)
{
	WH_ASSERT(items_max > 0);

	*line = (struct wh_delay_line){.items_max = items_max};
	line->ring = calloc(items_max, sizeof(line->ring[0]));
	line->heap = calloc(items_max, sizeof(line->heap[0]));
	if (line->ring == NULL || line->heap == NULL) {
		wh_delay_line_free(line);
		return -ENOMEM;
	}
	return 0;
}

void wh_delay_line_free(struct wh_delay_line *line)
{
	free(line->ring);
	free(line->heap);
	*line = (struct wh_delay_line){0};
}

/* The new ring begins with the oldest entry. */
int wh_delay_line_grow(struct wh_delay_line *line)
{
	uint32_t to_end = line->items_max - line->ring_head;
	struct wh_delay_line more;
	int rc;

	WH_ASSERT(line->items_max <= UINT32_MAX / 2);
	rc = wh_delay_line_init(&more, 2 * line->items_max);
	if (rc != 0)
		return rc;
	to_end = to_end < line->ring_count ? to_end : line->ring_count;
	memcpy(more.ring, &line->ring[line->ring_head], to_end * sizeof(more.ring[0]));
	memcpy(more.ring + to_end, line->ring, (line->ring_count - to_end) * sizeof(more.ring[0]));
	memcpy(more.heap, line->heap, line->heap_count * sizeof(more.heap[0]));
	more.ring_tail = more.ring_count = line->ring_count;
	more.heap_count = line->heap_count;
	more.ring_last_tsc = line->ring_last_tsc;
	more.next_order = line->next_order;
	wh_delay_line_free(line);
	*line = more;
	return 0;
}

/* The ring's entries reach from head to tail, and at most items_max are held. */
static bool is_sound(const struct wh_delay_line *line)
{
	uint64_t end = (uint64_t)line->ring_head + line->ring_count;

	return line->ring_head < line->items_max &&
	       line->ring_tail == (end < line->items_max ? end : end - line->items_max) &&
	       (uint64_t)line->ring_count + line->heap_count <= line->items_max;
}

static bool comes_before(const struct wh_netem_item *a, const struct wh_netem_item *b)
{
	if (a->due_tsc != b->due_tsc)
		return a->due_tsc < b->due_tsc;
	return a->order < b->order;
}

static uint32_t ring_next(const struct wh_delay_line *line, uint32_t index)
{
	return index + 1 == line->items_max ? 0 : index + 1;
}

static void ring_push(struct wh_delay_line *line, const struct wh_netem_item *entry)
{
	WH_DEBUG_ASSERT(line->ring_count < line->items_max);
	WH_DEBUG_ASSERT(line->ring_count == 0 || entry->due_tsc >= line->ring_last_tsc);

	line->ring[line->ring_tail] = *entry;
	line->ring_tail = ring_next(line, line->ring_tail);
	line->ring_count++;
	line->ring_last_tsc = entry->due_tsc;
}

static struct wh_netem_item ring_pop(struct wh_delay_line *line)
{
	WH_DEBUG_ASSERT(line->ring_count > 0);

	struct wh_netem_item first = line->ring[line->ring_head];

	line->ring_head = ring_next(line, line->ring_head);
	line->ring_count--;
	return first;
}

static void heap_push(struct wh_delay_line *line, const struct wh_netem_item *entry)
{
	struct wh_netem_item *heap = line->heap;
	uint32_t hole = line->heap_count++;

	WH_DEBUG_ASSERT(hole < line->items_max);
	while (hole > 0 && comes_before(entry, &heap[(hole - 1) / 2])) {
		heap[hole] = heap[(hole - 1) / 2];
		hole = (hole - 1) / 2;
	}
	heap[hole] = *entry;
}

/* Puts an item into a hole of the heap, below which all is in order. */
static void sift_down(
	struct wh_netem_item *heap, uint64_t count, uint64_t hole, struct wh_netem_item moved)
{
	for (uint64_t child = 2 * hole + 1; child < count; child = 2 * hole + 1) {
		if (child + 1 < count && comes_before(&heap[child + 1], &heap[child]))
			child++;
		if (!comes_before(&heap[child], &moved))
			break;
		heap[hole] = heap[child];
		hole = child;
	}
	heap[hole] = moved;
}

static struct wh_netem_item heap_pop(struct wh_delay_line *line)
{
	WH_DEBUG_ASSERT(line->heap_count > 0);

	struct wh_netem_item *heap = line->heap;
	struct wh_netem_item first = heap[0];
	struct wh_netem_item moved = heap[--line->heap_count];

	sift_down(heap, line->heap_count, 0, moved);
	return first;
}

/* The smaller of the two heads; NULL when empty. */
static const struct wh_netem_item *first_item(const struct wh_delay_line *line)
{
	const struct wh_netem_item *ring_first = &line->ring[line->ring_head];

	if (line->heap_count == 0)
		return line->ring_count == 0 ? NULL : ring_first;
	if (line->ring_count == 0 || comes_before(&line->heap[0], ring_first))
		return &line->heap[0];
	return ring_first;
}

static struct wh_netem_item pop(struct wh_delay_line *line, const struct wh_netem_item *first)
{
	return first == &line->heap[0] ? heap_pop(line) : ring_pop(line);
}

bool wh_delay_line_hold(struct wh_delay_line *line, uint64_t due_tsc, bool late, void *item)
{
	WH_ASSERT(due_tsc != WH_TSC_NEVER);

	if (wh_delay_line_held(line) == line->items_max)
		return false;

	struct wh_netem_item entry = {due_tsc, line->next_order++, item};

	if (!late && (line->ring_count == 0 || due_tsc >= line->ring_last_tsc))
		ring_push(line, &entry);
	else
		heap_push(line, &entry);
	WH_DEBUG_ASSERT(is_sound(line));
	return true;
}

/* Restores the heap order, from the last parent up to the root. */
static void heap_mend(struct wh_delay_line *line)
{
	struct wh_netem_item *heap = line->heap;

	for (uint32_t parent = line->heap_count / 2; parent-- > 0;)
		sift_down(heap, line->heap_count, parent, heap[parent]);
}

void wh_delay_line_change(struct wh_delay_line *line,
	uint64_t (*due_tsc)(void *context, uint64_t due_tsc), void *context)
{
	uint32_t ring_count = line->ring_count;
	uint32_t index = line->ring_head;

	for (uint32_t i = 0; i < line->heap_count; i++)
		line->heap[i].due_tsc = due_tsc(context, line->heap[i].due_tsc);
	heap_mend(line);

	/*
	 * The ring is rewritten in place behind the read position; items no longer in order go to
	 * the heap.
	 */
	line->ring_count = 0;
	line->ring_tail = line->ring_head;
	for (uint32_t i = 0; i < ring_count; i++, index = ring_next(line, index)) {
		struct wh_netem_item entry = line->ring[index];

		entry.due_tsc = due_tsc(context, entry.due_tsc);
		if (line->ring_count == 0 || entry.due_tsc >= line->ring_last_tsc)
			ring_push(line, &entry);
		else
			heap_push(line, &entry);
	}
	WH_DEBUG_ASSERT(is_sound(line));
}

uint32_t wh_delay_line_take(
	struct wh_delay_line *line, uint64_t now_tsc, struct wh_netem_item *items, uint32_t count)
{
	uint32_t taken = 0;

	while (taken < count) {
		const struct wh_netem_item *first = first_item(line);

		if (first == NULL || first->due_tsc > now_tsc)
			break;
		items[taken++] = pop(line, first);
		WH_DEBUG_ASSERT(taken == 1 || !comes_before(&items[taken - 1], &items[taken - 2]));
	}
	WH_DEBUG_ASSERT(is_sound(line));
	return taken;
}

void *wh_delay_line_take_any(struct wh_delay_line *line)
{
	const struct wh_netem_item *first = first_item(line);

	return first == NULL ? NULL : pop(line, first).item;
}

void *wh_delay_line_first(const struct wh_delay_line *line)
{
	const struct wh_netem_item *first = first_item(line);

	return first == NULL ? NULL : first->item;
}

uint64_t wh_delay_line_deadline(const struct wh_delay_line *line)
{
	const struct wh_netem_item *first = first_item(line);

	return first == NULL ? WH_TSC_NEVER : first->due_tsc;
}
