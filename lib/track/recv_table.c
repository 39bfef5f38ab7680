/* SPDX-License-Identifier: BSD-3-Clause */
#include "track/recv_table.h"

#include <errno.h>

#include "base/assert.h"
#include "base/clock.h"
#include "track/alloc.h"
#include "track/window_bits.h"

int wh_recv_table_init(struct wh_recv_table *table, uint32_t size, uint64_t first_pn)
{
	WH_ASSERT(size >= WH_TRACK_WINDOW_MIN && size <= WH_TRACK_WINDOW_MAX);
	WH_ASSERT((size & (size - 1)) == 0);

	*table = (struct wh_recv_table){
		.size = size,
		.mask = size - 1,
		.lower = first_pn,
		.highest_end = first_pn,
		.arrived = wh_track_alloc(size / WH_WORD_BITS, sizeof(*table->arrived)),
	};
	return table->arrived != NULL ? 0 : -ENOMEM;
}

uint64_t wh_recv_table_bytes(uint32_t size)
{
	return wh_track_bytes(size / WH_WORD_BITS, sizeof(uint64_t));
}

void wh_recv_table_free(struct wh_recv_table *table)
{
	wh_track_free(table->arrived);
	table->arrived = NULL;
}

enum wh_recv_verdict wh_recv_table_classify(const struct wh_recv_table *table, uint64_t pn)
{
	if (pn < table->lower)
		return WH_RECV_DUPLICATE;
	if (pn - table->lower >= table->size)
		return WH_RECV_BEYOND;
	return wh_window_test(table->arrived, table->mask, pn) ? WH_RECV_DUPLICATE : WH_RECV_NEW;
}

void wh_recv_table_enter(struct wh_recv_table *table, uint64_t pn)
{
	WH_ASSERT(wh_recv_table_classify(table, pn) == WH_RECV_NEW);

	*wh_window_word(table->arrived, table->mask, pn) |= wh_word_ones(pn % WH_WORD_BITS, 1);
	table->highest_end = wh_max_u64(table->highest_end, pn + 1);
	if (pn == table->lower)
		table->lower += wh_window_take_run(table->arrived, table->mask, pn);
	WH_ASSERT(table->lower <= table->highest_end);
}

/* The first packet number at or above `pn` that has arrived, or has not; or highest_end. */
static uint64_t scan(const struct wh_recv_table *table, uint64_t pn, bool arrived)
{
	uint64_t flip = arrived ? 0 : UINT64_MAX;

	while (pn < table->highest_end) {
		uint32_t low = pn % WH_WORD_BITS;
		uint64_t word = *wh_window_word(table->arrived, table->mask, pn);
		uint64_t wanted = (word ^ flip) >> low;

		if (wanted != 0)
			return wh_min_u64(
				pn + (uint32_t)__builtin_ctzll(wanted), table->highest_end);
		pn += WH_WORD_BITS - low;
	}
	return table->highest_end;
}

void wh_recv_table_extend(struct wh_recv_table *table, uint64_t end)
{
	WH_ASSERT(end <= wh_recv_table_upper(table));
	if (end > table->highest_end)
		table->highest_end = end;
	WH_ASSERT(table->highest_end - table->lower <= table->size);
}

bool wh_recv_table_next_hole(
	const struct wh_recv_table *table, uint64_t from, struct wh_loss_range *hole)
{
	WH_ASSERT(from >= table->lower);

	hole->first = scan(table, from, false);
	hole->end = scan(table, hole->first, true);
	WH_ASSERT(hole->first <= hole->end && hole->end <= table->highest_end);
	return hole->first < hole->end;
}

void wh_recv_table_check(const struct wh_recv_table *table)
{
	uint64_t held = 0;
	uint64_t bits = 0;

	WH_ASSERT(table->lower <= table->highest_end);
	WH_ASSERT(table->highest_end - table->lower <= table->size);
	WH_ASSERT(!wh_window_test(table->arrived, table->mask, table->lower));

	for (uint64_t pn = table->lower; pn < table->highest_end; pn++)
		held += wh_window_test(table->arrived, table->mask, pn);
	for (uint32_t word = 0; word < table->size / WH_WORD_BITS; word++)
		bits += (uint32_t)__builtin_popcountll(table->arrived[word]);
	WH_ASSERT(bits == held); /* so there are none outside of [lower, highest_end) */
}
