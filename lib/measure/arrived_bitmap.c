/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure/arrived_bitmap.h"

#include <string.h>

#include "base/assert.h"

void wh_arrived_bitmap_init(struct wh_arrived_bitmap *bitmap, uint64_t first_pn, uint32_t n_pkts,
	uint32_t stretch, uint32_t stretch_max)
{
	WH_ASSERT(n_pkts > 0 && n_pkts <= WH_BITMAP_PKTS_MAX);
	WH_ASSERT(stretch > 0 && stretch_max > 0 && stretch_max <= UINT32_MAX / n_pkts);
	*bitmap = (struct wh_arrived_bitmap){
		.n_pkts = n_pkts,
		.stretch = stretch,
		.stretch_max = stretch_max,
		.interval_pkts = n_pkts,
		.first_pn = first_pn,
		.end = first_pn,
		.told_end = first_pn,
	};
}

static uint64_t bit_of(uint64_t pn)
{
	return UINT64_C(1) << pn % 64;
}

static uint64_t *word_of(struct wh_arrived_bitmap *bitmap, uint64_t pn)
{
	return &bitmap->arrived[pn / 64 % WH_BITMAP_WORDS_MAX];
}

/* Clears the bits of packet numbers below `end` that are new to the window. */
static void move_up(struct wh_arrived_bitmap *bitmap, uint64_t end)
{
	WH_DEBUG_ASSERT(end > bitmap->end);
	if (end - bitmap->end >= WH_BITMAP_PKTS_MAX)
		memset(bitmap->arrived, 0, sizeof(bitmap->arrived));
	else
		for (uint64_t pn = bitmap->end; pn < end; pn++)
			*word_of(bitmap, pn) &= ~bit_of(pn);
	bitmap->end = end;
}

/* There is a gap after clean bitmaps: the next bitmap is due at the next multiple of n. */
static void hurry(struct wh_arrived_bitmap *bitmap)
{
	uint64_t pkts = bitmap->end - bitmap->told_end;

	WH_ASSERT(pkts > 0 && bitmap->told_end < bitmap->end);

	uint64_t next = (pkts + bitmap->n_pkts - 1) / bitmap->n_pkts * bitmap->n_pkts;

	if (next < bitmap->interval_pkts)
		bitmap->interval_pkts = (uint32_t)next;
}

bool wh_arrived_bitmap_arrive(struct wh_arrived_bitmap *bitmap, uint64_t pn)
{
	WH_ASSERT(pn >= bitmap->first_pn);
	if (pn < bitmap->end) {
		if (bitmap->end - pn <= WH_BITMAP_PKTS_MAX)
			*word_of(bitmap, pn) |= bit_of(pn);
		return false;
	}

	bool gap = pn > bitmap->end;

	WH_DEBUG_ASSERT(bitmap->told_end <= bitmap->end);
	move_up(bitmap, pn + 1);
	*word_of(bitmap, pn) |= bit_of(pn);
	if (gap && bitmap->interval_pkts > bitmap->n_pkts)
		hurry(bitmap);
	return bitmap->end - bitmap->told_end >= bitmap->interval_pkts;
}

void wh_arrived_bitmap_take(struct wh_arrived_bitmap *bitmap, struct wh_bitmap *taken)
{
	uint64_t seen_pkts = bitmap->end - bitmap->first_pn;
	uint32_t pkts = seen_pkts < bitmap->n_pkts ? (uint32_t)seen_pkts : bitmap->n_pkts;
	uint64_t first = bitmap->end - pkts;
	uint32_t shift = first % 64;

	WH_ASSERT(pkts > 0);
	WH_ASSERT(bitmap->told_end <= bitmap->end);
	taken->first = first;
	taken->pkts = (uint16_t)pkts;
	for (uint32_t i = 0; i < wh_bitmap_words(pkts); i++) {
		taken->bits[i] = *word_of(bitmap, first + i * 64) >> shift;
		if (shift > 0)
			taken->bits[i] |= *word_of(bitmap, first + (i + 1) * 64) << (64 - shift);
	}
	if (pkts % 64 != 0)
		taken->bits[pkts / 64] &= bit_of(pkts) - 1;
	bitmap->told_end = bitmap->end;
}

void wh_arrived_bitmap_pace(struct wh_arrived_bitmap *bitmap, enum wh_bitmap_finding finding)
{
	uint32_t n_pkts = bitmap->n_pkts;
	uint64_t stretched = (uint64_t)bitmap->interval_pkts * bitmap->stretch;
	uint64_t longest = (uint64_t)n_pkts * bitmap->stretch_max;

	switch (finding) {
	case WH_BITMAP_CLEAN:
		bitmap->interval_pkts = (uint32_t)(stretched < longest ? stretched : longest);
		break;
	case WH_BITMAP_BEARABLE:
		bitmap->interval_pkts = n_pkts;
		break;
	case WH_BITMAP_CONGESTED:
		bitmap->interval_pkts = n_pkts > 1 ? n_pkts / 2 : 1;
		break;
	}
	WH_ASSERT(bitmap->interval_pkts > 0 && bitmap->interval_pkts <= longest);
}
