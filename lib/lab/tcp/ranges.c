/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab/tcp/ranges.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "lab/sim/sim_memory.h"

#define ROOM_FIRST 16

static void give_back_spare(struct wh_sim_ranges *ranges)
{
	ranges->room += ranges->spare;
	ranges->range -= ranges->spare;
	ranges->spare = 0;
}

void wh_sim_ranges_free(struct wh_sim_ranges *ranges)
{
	give_back_spare(ranges);
	free(ranges->range);
	*ranges = (struct wh_sim_ranges){0};
}

void wh_sim_ranges_clear(struct wh_sim_ranges *ranges)
{
	give_back_spare(ranges);
	ranges->count = 0;
}

/* The index of the first range that ends at or after this packet number. */
static uint32_t place_of(const struct wh_sim_ranges *ranges, uint64_t pn)
{
	uint32_t low = 0;
	uint32_t high = ranges->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (ranges->range[middle].end < pn)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void move(struct wh_sim_ranges *ranges, uint32_t to, uint32_t from, uint32_t count)
{
	memmove(&ranges->range[to], &ranges->range[from], count * sizeof(ranges->range[0]));
}

/* Moves spare entries from the front to the end; doubles the capacity unless half is free then. */
static void make_room(struct wh_sim_ranges *ranges)
{
	uint32_t spare = ranges->spare;

	if (ranges->count < ranges->room)
		return;
	if (spare > 0) {
		give_back_spare(ranges);
		move(ranges, 0, spare, ranges->count);
	}
	if (ranges->count < ranges->room / 2)
		return;
	ranges->room = ranges->room == 0 ? ROOM_FIRST : 2 * ranges->room;
	ranges->range = wh_sim_resize(ranges->range, ranges->room * sizeof(ranges->range[0]));
}

static void insert(struct wh_sim_ranges *ranges, uint32_t place, uint64_t first, uint64_t end)
{
	WH_ASSERT(place <= ranges->count);
	make_room(ranges);
	WH_ASSERT(ranges->count < ranges->room);
	move(ranges, place + 1, place, ranges->count - place);
	ranges->range[place] = (struct wh_sim_sack){.first = first, .end = end};
	ranges->count++;
}

/* Moves the shorter side. */
static void remove_from(struct wh_sim_ranges *ranges, uint32_t place, uint32_t count)
{
	WH_ASSERT(place + count <= ranges->count);
	if (count == 0)
		return;
	ranges->count -= count;
	if (place < ranges->count - place) {
		move(ranges, count, 0, place);
		ranges->range += count;
		ranges->spare += count;
		ranges->room -= count;
	} else {
		move(ranges, place, place + count, ranges->count - place);
	}
}

/* Asserts that a range is not empty and not adjacent to its neighbours. */
static void check_around(const struct wh_sim_ranges *ranges, uint32_t place)
{
	const struct wh_sim_sack *range = ranges->range;

	WH_ASSERT(place < ranges->count && range[place].first < range[place].end);
	WH_ASSERT(place == 0 || range[place - 1].end < range[place].first);
	WH_ASSERT(place + 1 == ranges->count || range[place].end < range[place + 1].first);
}

bool wh_sim_ranges_add(struct wh_sim_ranges *ranges, uint64_t first, uint64_t end)
{
	WH_ASSERT(first < end);

	uint32_t place = place_of(ranges, first);
	struct wh_sim_sack *range = &ranges->range[place];

	if (place == ranges->count || end < range->first) {
		insert(ranges, place, first, end);
		check_around(ranges, place);
		return true;
	}
	if (first >= range->first && end <= range->end)
		return false;
	if (first < range->first)
		range->first = first;

	uint32_t joined = 0; /* ranges merged from behind */

	while (place + joined + 1 < ranges->count && range[joined + 1].first <= end)
		joined++;
	if (range[joined].end > end)
		end = range[joined].end;
	if (end > range->end)
		range->end = end;
	remove_from(ranges, place + 1, joined);
	check_around(ranges, place);
	return true;
}

bool wh_sim_ranges_forget(struct wh_sim_ranges *ranges, uint64_t end)
{
	if (ranges->count == 0 || ranges->range[0].first >= end)
		return false;

	uint32_t gone = place_of(ranges, end);

	if (gone < ranges->count && ranges->range[gone].end == end)
		gone++;
	if (gone < ranges->count && ranges->range[gone].first < end)
		ranges->range[gone].first = end;
	remove_from(ranges, 0, gone);
	WH_ASSERT(ranges->count == 0 || ranges->range[0].first >= end);
	return true;
}

const struct wh_sim_sack *wh_sim_ranges_find(const struct wh_sim_ranges *ranges, uint64_t pn)
{
	uint32_t place = place_of(ranges, pn + 1);

	if (place == ranges->count || ranges->range[place].first > pn)
		return NULL;
	return &ranges->range[place];
}

uint64_t wh_sim_ranges_hole(const struct wh_sim_ranges *ranges, uint64_t pn)
{
	uint32_t place = place_of(ranges, pn + 1);

	if (place == ranges->count)
		return WH_SIM_NO_HOLE;
	if (pn < ranges->range[place].first)
		return pn;
	return place + 1 == ranges->count ? WH_SIM_NO_HOLE : ranges->range[place].end;
}
