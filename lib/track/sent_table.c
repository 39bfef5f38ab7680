/* SPDX-License-Identifier: BSD-3-Clause */
#include "track/sent_table.h"

#include <assert.h>
#include <errno.h>

#include "base/assert.h"
#include "base/clock.h"
#include "track/alloc.h"
#include "track/window_bits.h"

static_assert(sizeof(struct wh_sent_record) == 4, "sixteen records share a cache line");

int wh_sent_table_init(struct wh_sent_table *table, uint32_t size, uint64_t first_pn)
{
	WH_ASSERT(size >= WH_TRACK_WINDOW_MIN && size <= WH_TRACK_WINDOW_MAX);
	WH_ASSERT((size & (size - 1)) == 0);

	*table = (struct wh_sent_table){
		.size = size,
		.mask = size - 1,
		.first_pn = first_pn,
		.lower = first_pn,
		.cleared_end = first_pn,
		.admitted_end = first_pn,
		.due_end = first_pn,
		.record = wh_track_alloc(size, sizeof(*table->record)),
		.acked = wh_track_alloc(size / WH_WORD_BITS, sizeof(*table->acked)),
		.queued = wh_track_alloc(size / WH_WORD_BITS, sizeof(*table->queued)),
	};
	if (table->record == NULL || table->acked == NULL || table->queued == NULL) {
		wh_sent_table_free(table);
		return -ENOMEM;
	}
	return 0;
}

uint64_t wh_sent_table_bytes(uint32_t size)
{
	return wh_track_bytes(size, sizeof(struct wh_sent_record)) +
	       2 * wh_track_bytes(size / WH_WORD_BITS, sizeof(uint64_t));
}

void wh_sent_table_free(struct wh_sent_table *table)
{
	wh_track_free(table->record);
	wh_track_free(table->acked);
	wh_track_free(table->queued);
	wh_track_free(table->due);
	table->record = NULL;
	table->acked = NULL;
	table->queued = NULL;
	table->due = NULL;
}

/* Acquires `lower` with it: a bit is cleared when `lower` has passed it. */
static uint64_t acked_word(const struct wh_sent_table *table, uint64_t pn)
{
	return __atomic_load_n(&table->acked[(pn & table->mask) / WH_WORD_BITS], __ATOMIC_ACQUIRE);
}

uint64_t wh_sent_table_admit(struct wh_sent_table *table, uint16_t chunk_slot, uint16_t index)
{
	uint64_t pn = table->admitted_end;

	WH_ASSERT(wh_sent_table_has_room(table));
	WH_DEBUG_ASSERT((acked_word(table, pn) >> pn % WH_WORD_BITS & 1) == 0);

	table->record[pn & table->mask] =
		(struct wh_sent_record){.chunk_slot = chunk_slot, .index = index};
	*wh_window_word(table->queued, table->mask, pn) &= ~wh_word_ones(pn % WH_WORD_BITS, 1);
	__atomic_store_n(&table->admitted_end, pn + 1, __ATOMIC_RELAXED);
	return pn;
}

struct wh_sent_record *wh_sent_table_record(struct wh_sent_table *table, uint64_t pn)
{
	WH_ASSERT(pn < table->admitted_end && table->admitted_end - pn <= table->size);
	return &table->record[pn & table->mask];
}

bool wh_sent_table_acked(const struct wh_sent_table *table, uint64_t pn)
{
	WH_ASSERT(pn < table->admitted_end);
	return (acked_word(table, pn) >> pn % WH_WORD_BITS & 1) != 0 ||
	       pn < wh_sent_table_lower(table);
}

/*
 * Reports `count` consecutive packet numbers, at most 64. Chunks are admitted one after the other,
 * so if the first and the last packet belong to the same chunk all do.
 */
static void tell_acked(const struct wh_sent_table *table, uint64_t first, uint32_t count,
	wh_sent_acked_fn acked, void *context)
{
	while (count > 0) {
		const struct wh_sent_record *from = &table->record[first & table->mask];
		const struct wh_sent_record *to = &table->record[(first + count - 1) & table->mask];
		uint32_t run = from->chunk_slot == to->chunk_slot ? count : 1;

		acked(context, first, from, run);
		first += run;
		count -= run;
	}
}

static uint64_t run_from(const struct wh_sent_table *table, uint64_t pn, uint64_t end)
{
	uint64_t first = pn;

	while (pn < end) {
		uint32_t low = pn % WH_WORD_BITS;
		uint64_t missing = ~*wh_window_word(table->acked, table->mask, pn) >> low;

		if (missing != 0)
			return wh_min_u64(pn + (uint32_t)__builtin_ctzll(missing), end) - first;
		pn += WH_WORD_BITS - low;
	}
	return end - first;
}

/*
 * In this order: who finds a bit of [first, end) cleared finds `lower` above it, and packet numbers
 * are admitted in its place only afterwards.
 */
static void pass(struct wh_sent_table *table, uint64_t first, uint64_t end)
{
	__atomic_store_n(&table->lower, end, __ATOMIC_RELEASE);
	while (first < end) {
		uint64_t *word = wh_window_word(table->acked, table->mask, first);
		uint32_t low = first % WH_WORD_BITS;
		uint32_t span = (uint32_t)wh_min_u64(WH_WORD_BITS - low, end - first);

		__atomic_store_n(word, *word & ~wh_word_ones(low, span), __ATOMIC_RELEASE);
		first += span;
	}
	__atomic_store_n(&table->cleared_end, end, __ATOMIC_RELEASE);
}

uint64_t wh_sent_table_ack(struct wh_sent_table *table, uint64_t first, uint64_t end,
	wh_sent_acked_fn acked, void *context)
{
	uint64_t admitted_end = __atomic_load_n(&table->admitted_end, __ATOMIC_RELAXED);
	uint64_t count = 0;

	first = wh_max_u64(first, table->lower);
	end = wh_min_u64(end, admitted_end);
	while (first < end) {
		uint64_t *word = wh_window_word(table->acked, table->mask, first);
		uint32_t low = first % WH_WORD_BITS;
		uint32_t span = (uint32_t)wh_min_u64(WH_WORD_BITS - low, end - first);
		uint64_t fresh = wh_word_ones(low, span) & ~*word;

		__atomic_store_n(word, *word | fresh, __ATOMIC_RELEASE);
		count += (uint32_t)__builtin_popcountll(fresh);
		while (fresh != 0) {
			uint32_t at = (uint32_t)__builtin_ctzll(fresh);
			uint64_t gaps = ~(fresh >> at);
			uint32_t run = gaps == 0 ? WH_WORD_BITS : (uint32_t)__builtin_ctzll(gaps);

			tell_acked(table, first - low + at, run, acked, context);
			fresh &= ~wh_word_ones(at, run);
		}
		first += span;
	}

	__atomic_store_n(&table->acked_pkts, table->acked_pkts + count, __ATOMIC_RELAXED);

	uint64_t run = run_from(table, table->lower, admitted_end);

	if (run > 0)
		pass(table, table->lower, table->lower + run);
	WH_ASSERT(table->lower - table->first_pn <= table->acked_pkts);
	WH_ASSERT(table->acked_pkts <= admitted_end - table->first_pn);
	return count;
}

/*
 * Packet numbers of [first, first + span), in one word, that are neither acknowledged nor queued.
 */
static uint64_t waiting(const struct wh_sent_table *table, uint64_t first, uint32_t span)
{
	uint32_t low = first % WH_WORD_BITS;
	uint64_t bits = wh_word_ones(low, span) & ~acked_word(table, first) &
			~*wh_window_word(table->queued, table->mask, first);
	uint64_t lower = wh_sent_table_lower(table);

	if (lower > first)
		bits &= ~wh_word_ones(low, (uint32_t)wh_min_u64(lower - first, span));
	return bits;
}

uint64_t wh_sent_table_queue(struct wh_sent_table *table, uint64_t first, uint64_t end,
	wh_sent_queued_fn queued, void *context)
{
	uint64_t count = 0;

	first = wh_max_u64(first, wh_sent_table_lower(table));
	end = wh_min_u64(end, table->admitted_end);
	while (first < end) {
		uint64_t *word = wh_window_word(table->queued, table->mask, first);
		uint32_t low = first % WH_WORD_BITS;
		uint32_t span = (uint32_t)wh_min_u64(WH_WORD_BITS - low, end - first);
		uint64_t fresh = waiting(table, first, span);

		*word |= fresh;
		count += (uint32_t)__builtin_popcountll(fresh);
		for (; fresh != 0; fresh &= fresh - 1)
			queued(context, first - low + (uint32_t)__builtin_ctzll(fresh));
		first += span;
	}
	return count;
}

uint64_t wh_sent_table_due_bytes(uint32_t size)
{
	return wh_track_bytes(size, sizeof(uint32_t));
}

int wh_sent_table_add_due(struct wh_sent_table *table)
{
	WH_ASSERT(table->due == NULL && table->admitted_end == table->first_pn);
	table->due = wh_track_alloc(table->size, sizeof(*table->due));
	return table->due != NULL ? 0 : -ENOMEM;
}

static bool is_due(const struct wh_sent_table *table, uint64_t pn, uint32_t now)
{
	return (int32_t)(table->due[pn & table->mask] - now) <= 0;
}

/*
 * Advances due_end. First transmissions are in order, so nothing at or above due_end can be due:
 * each packet is checked once, and then only while it is missing.
 */
static void pass_due(struct wh_sent_table *table, const struct wh_sent_due *due)
{
	WH_ASSERT(due->sent_end <= table->admitted_end);
	table->due_end = wh_max_u64(table->due_end, wh_sent_table_lower(table));
	while (table->due_end < due->sent_end && is_due(table, table->due_end, due->now))
		table->due_end++;
}

uint64_t wh_sent_table_queue_due(struct wh_sent_table *table, const struct wh_sent_due *due,
	uint64_t first, uint64_t end, wh_sent_queued_fn queued, void *context)
{
	uint64_t count = 0;

	pass_due(table, due);
	first = wh_max_u64(first, wh_sent_table_lower(table));
	end = wh_min_u64(end, table->due_end);
	while (first < end) {
		uint64_t base = first - first % WH_WORD_BITS;
		uint32_t span = (uint32_t)wh_min_u64(base + WH_WORD_BITS - first, end - first);

		for (uint64_t bits = waiting(table, first, span); bits != 0; bits &= bits - 1) {
			uint64_t pn = base + (uint32_t)__builtin_ctzll(bits);

			if (is_due(table, pn, due->now))
				count += wh_sent_table_queue(table, pn, pn + 1, queued, context);
		}
		first += span;
	}
	return count;
}

bool wh_sent_table_unqueue(struct wh_sent_table *table, uint64_t pn)
{
	if (wh_sent_table_acked(table, pn))
		return false;
	WH_ASSERT(wh_window_test(table->queued, table->mask, pn));
	*wh_window_word(table->queued, table->mask, pn) &= ~wh_word_ones(pn % WH_WORD_BITS, 1);
	return true;
}

void wh_sent_table_check(const struct wh_sent_table *table)
{
	uint64_t above = 0;
	uint64_t bits = 0;

	WH_ASSERT(table->lower <= table->admitted_end);
	WH_ASSERT(table->admitted_end - table->lower <= table->size);
	WH_ASSERT(!wh_window_test(table->acked, table->mask, table->lower));

	for (uint64_t pn = table->lower; pn < table->admitted_end; pn++)
		above += wh_window_test(table->acked, table->mask, pn);
	for (uint32_t word = 0; word < table->size / WH_WORD_BITS; word++)
		bits += (uint32_t)__builtin_popcountll(table->acked[word]);
	WH_ASSERT(table->cleared_end == table->lower);
	WH_ASSERT(above == table->acked_pkts - (table->lower - table->first_pn));
	WH_ASSERT(bits == above); /* so there are none outside of [lower, admitted_end) */
}
