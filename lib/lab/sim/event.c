/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab/sim/event.h"

#include <stdlib.h>

#include "base/assert.h"
#include "lab/sim/sim_memory.h"

/*
 * A heap with four children per entry has half the depth of a binary heap, and siblings lie within
 * two cache lines.
 */
#define CHILDREN   4
#define ROOM_FIRST 64

void wh_sim_events_init(struct wh_sim_events *events)
{
	*events = (struct wh_sim_events){.room = ROOM_FIRST};
	events->heap = wh_sim_allocate(ROOM_FIRST * sizeof(events->heap[0]));
}

void wh_sim_events_free(struct wh_sim_events *events)
{
	free(events->heap);
	*events = (struct wh_sim_events){0};
}

void wh_sim_event_init(
	struct wh_sim_event *event, void (*fire)(void *context, uint64_t now_ps), void *context)
{
	WH_ASSERT(fire != NULL);
	*event = (struct wh_sim_event){.fire = fire, .context = context};
}

static bool comes_before(const struct wh_sim_pending *a, const struct wh_sim_pending *b)
{
	return a->due_ps != b->due_ps ? a->due_ps < b->due_ps : a->order < b->order;
}

static uint32_t parent_of(uint32_t place)
{
	return (place - 2) / CHILDREN + 1;
}

static uint32_t first_child_of(uint32_t place)
{
	return CHILDREN * (place - 1) + 2;
}

static void settle(struct wh_sim_events *events, uint32_t place, const struct wh_sim_pending *entry)
{
	events->heap[place] = *entry;
	entry->event->place = place;
}

/* Puts the entry at the hole or above it. */
static void sift_up(struct wh_sim_events *events, uint32_t hole, struct wh_sim_pending entry)
{
	while (hole > 1 && comes_before(&entry, &events->heap[parent_of(hole)])) {
		settle(events, hole, &events->heap[parent_of(hole)]);
		hole = parent_of(hole);
	}
	settle(events, hole, &entry);
}

/* The earliest of the hole's children; 0: none. */
static uint32_t first_below(const struct wh_sim_events *events, uint32_t hole)
{
	uint32_t child = first_child_of(hole);

	if (child > events->count)
		return 0;

	uint32_t end = child + CHILDREN <= events->count + 1 ? child + CHILDREN : events->count + 1;
	uint32_t first = child;

	while (++child < end) {
		if (comes_before(&events->heap[child], &events->heap[first]))
			first = child;
	}
	return first;
}

/* Puts the entry at the hole or below it. */
static void sift_down(struct wh_sim_events *events, uint32_t hole, struct wh_sim_pending entry)
{
	for (;;) {
		uint32_t child = first_below(events, hole);

		if (child == 0 || !comes_before(&events->heap[child], &entry))
			break;
		settle(events, hole, &events->heap[child]);
		hole = child;
	}
	settle(events, hole, &entry);
}

/* Moves the entry up or down from the place to where it belongs. */
static void sift(struct wh_sim_events *events, uint32_t place, struct wh_sim_pending entry)
{
	if (place > 1 && comes_before(&entry, &events->heap[parent_of(place)]))
		sift_up(events, place, entry);
	else
		sift_down(events, place, entry);
}

static void grow(struct wh_sim_events *events)
{
	WH_ASSERT(events->room <= UINT32_MAX / (2 * CHILDREN));

	events->room *= 2;
	events->heap = wh_sim_resize(events->heap, events->room * sizeof(events->heap[0]));
}

void wh_sim_event_at(struct wh_sim_events *events, struct wh_sim_event *event, uint64_t due_ps)
{
	WH_ASSERT(due_ps >= events->now_ps);
	WH_ASSERT(due_ps != WH_SIM_NEVER_PS);

	struct wh_sim_pending entry = {due_ps, events->next_order++, event};

	if (event->place != 0) {
		WH_DEBUG_ASSERT(events->heap[event->place].event == event);
		sift(events, event->place, entry);
		return;
	}
	if (events->count + 1 == events->room)
		grow(events);
	sift_up(events, ++events->count, entry);
	WH_DEBUG_ASSERT(events->heap[event->place].event == event);
}

static void take_out(struct wh_sim_events *events, struct wh_sim_event *event)
{
	uint32_t place = event->place;

	WH_ASSERT(place != 0 && events->count > 0);
	struct wh_sim_pending last = events->heap[events->count--];

	WH_DEBUG_ASSERT(place <= events->count + 1);
	event->place = 0;
	if (last.event != event)
		sift(events, place, last);
}

void wh_sim_event_cancel(struct wh_sim_events *events, struct wh_sim_event *event)
{
	if (event->place != 0) {
		WH_ASSERT(events->heap[event->place].event == event);
		take_out(events, event);
	}
}

uint64_t wh_sim_event_due_ps(const struct wh_sim_events *events, const struct wh_sim_event *event)
{
	WH_ASSERT(event->place != 0 && events->heap[event->place].event == event);

	return events->heap[event->place].due_ps;
}

void wh_sim_events_run(struct wh_sim_events *events, uint64_t until_ps)
{
	WH_ASSERT(until_ps >= events->now_ps);

	while (events->count > 0 && events->heap[1].due_ps <= until_ps) {
		struct wh_sim_event *event = events->heap[1].event;

		WH_DEBUG_ASSERT(events->heap[1].due_ps >= events->now_ps);
		events->now_ps = events->heap[1].due_ps;
		events->fired++;
		take_out(events, event);
		event->fire(event->context, events->now_ps);
	}
	events->now_ps = until_ps;
}
