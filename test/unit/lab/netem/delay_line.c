/* SPDX-License-Identifier: BSD-3-Clause */
#include "unit.h"

#include "base/clock.h"
#include "base/prng.h"
#include "lab/netem/delay_line.h"

const char wh_suite_name[] = "delay_line";

static char names[64]; /* items are opaque: their addresses are enough */

static void *item(unsigned int n)
{
	return &names[n];
}

static void empty_line(void)
{
	struct wh_delay_line line;
	struct wh_netem_item items[1];

	CU_ASSERT_EQUAL_FATAL(wh_delay_line_init(&line, 4), 0);
	CU_ASSERT_EQUAL(wh_delay_line_held(&line), 0);
	CU_ASSERT_EQUAL(wh_delay_line_deadline(&line), WH_TSC_NEVER);
	CU_ASSERT_PTR_NULL(wh_delay_line_take_any(&line));
	CU_ASSERT_EQUAL(wh_delay_line_take(&line, WH_TSC_NEVER, items, 1), 0);
	wh_delay_line_free(&line);
}

static void due_times_are_exact(void)
{
	struct wh_delay_line line;
	struct wh_netem_item items[4];

	CU_ASSERT_EQUAL_FATAL(wh_delay_line_init(&line, 4), 0);
	CU_ASSERT_TRUE(wh_delay_line_hold(&line, 100, false, item(0)));
	CU_ASSERT_TRUE(wh_delay_line_hold(&line, 150, true, item(1)));
	CU_ASSERT_TRUE(wh_delay_line_hold(&line, 120, false, item(2)));
	CU_ASSERT_EQUAL(wh_delay_line_held(&line), 3);
	CU_ASSERT_EQUAL(wh_delay_line_deadline(&line), 100);

	CU_ASSERT_EQUAL(wh_delay_line_take(&line, 99, items, 4), 0);
	CU_ASSERT_EQUAL(wh_delay_line_take(&line, 100, items, 4), 1);
	CU_ASSERT_PTR_EQUAL(items[0].item, item(0));
	CU_ASSERT_EQUAL(items[0].due_tsc, 100);
	CU_ASSERT_EQUAL(wh_delay_line_deadline(&line), 120);
	CU_ASSERT_EQUAL(wh_delay_line_take(&line, 149, items, 4), 1);
	CU_ASSERT_PTR_EQUAL(items[0].item, item(2));
	CU_ASSERT_EQUAL(wh_delay_line_deadline(&line), 150);
	CU_ASSERT_EQUAL(wh_delay_line_take(&line, 150, items, 4), 1);
	CU_ASSERT_PTR_EQUAL(items[0].item, item(1));
	CU_ASSERT_EQUAL(wh_delay_line_held(&line), 0);
	wh_delay_line_free(&line);
}

/* Grown while the ring wraps and the heap holds some: all come in order of due time and hold(). */
static void it_grows(void)
{
	struct wh_delay_line line;

	CU_ASSERT_EQUAL_FATAL(wh_delay_line_init(&line, 4), 0);
	CU_ASSERT_TRUE(wh_delay_line_hold(&line, 1, false, item(0)));
	CU_ASSERT_TRUE(wh_delay_line_hold(&line, 20, false, item(2)));
	CU_ASSERT_TRUE(wh_delay_line_hold(&line, 30, false, item(4)));
	CU_ASSERT_PTR_EQUAL(wh_delay_line_take_any(&line), item(0));
	CU_ASSERT_TRUE(wh_delay_line_hold(&line, 25, true, item(3)));
	CU_ASSERT_TRUE(wh_delay_line_hold(&line, 40, false, item(6)));
	CU_ASSERT_FALSE(wh_delay_line_hold(&line, 50, false, item(8)));
	CU_ASSERT_EQUAL(wh_delay_line_grow(&line), 0);
	CU_ASSERT_EQUAL(wh_delay_line_held(&line), 4);
	CU_ASSERT_TRUE(wh_delay_line_hold(&line, 40, false, item(7)));
	CU_ASSERT_TRUE(wh_delay_line_hold(&line, 35, false, item(5)));
	CU_ASSERT_TRUE(wh_delay_line_hold(&line, 10, false, item(1)));
	CU_ASSERT_TRUE(wh_delay_line_hold(&line, 50, false, item(8)));
	CU_ASSERT_FALSE(wh_delay_line_hold(&line, 60, false, item(9)));
	for (unsigned int i = 1; i < 9; i++) {
		CU_ASSERT_PTR_EQUAL(wh_delay_line_first(&line), item(i));
		CU_ASSERT_PTR_EQUAL(wh_delay_line_take_any(&line), item(i));
	}
	CU_ASSERT_PTR_NULL(wh_delay_line_first(&line));
	wh_delay_line_free(&line);
}

static void take_gives_no_more_than_asked(void)
{
	struct wh_delay_line line;
	struct wh_netem_item items[3];

	CU_ASSERT_EQUAL_FATAL(wh_delay_line_init(&line, 5), 0);
	for (unsigned int n = 0; n < 5; n++)
		CU_ASSERT_TRUE(wh_delay_line_hold(&line, n, n % 2 == 1, item(n)));
	CU_ASSERT_EQUAL(wh_delay_line_take(&line, 10, items, 0), 0);
	CU_ASSERT_EQUAL(wh_delay_line_take(&line, 10, items, 3), 3);
	CU_ASSERT_EQUAL(wh_delay_line_held(&line), 2);
	CU_ASSERT_EQUAL(wh_delay_line_take(&line, 10, items, 3), 2);
	CU_ASSERT_PTR_EQUAL(items[0].item, item(3));
	CU_ASSERT_PTR_EQUAL(items[1].item, item(4));
	wh_delay_line_free(&line);
}

static void equal_due_times_leave_in_order_of_hold(void)
{
	struct wh_delay_line line;
	struct wh_netem_item items[60];

	/* Ring and heap by turns, and a round of pops between to move the heads. */
	CU_ASSERT_EQUAL_FATAL(wh_delay_line_init(&line, 60), 0);
	for (unsigned int round = 0; round < 5; round++) {
		for (unsigned int n = 0; n < 60; n++)
			CU_ASSERT_TRUE(wh_delay_line_hold(&line, 7, n % 3 != 0, item(n)));
		CU_ASSERT_EQUAL(wh_delay_line_take(&line, 7, items, 60), 60);
		for (unsigned int n = 0; n < 60; n++) {
			CU_ASSERT_PTR_EQUAL(items[n].item, item(n));
			CU_ASSERT_EQUAL(items[n].order, round * 60 + n);
		}
	}
	wh_delay_line_free(&line);
}

static void items_max_counts_ring_and_heap_together(void)
{
	static const uint32_t sizes[] = {1, 2, 3, 7, 64};

	for (unsigned int i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		for (unsigned int late_of_4 = 0; late_of_4 <= 4; late_of_4++) {
			struct wh_delay_line line;

			CU_ASSERT_EQUAL_FATAL(wh_delay_line_init(&line, sizes[i]), 0);
			for (uint32_t n = 0; n < sizes[i]; n++)
				CU_ASSERT_TRUE(
					wh_delay_line_hold(&line, n, n % 4 < late_of_4, item(n)));
			CU_ASSERT_FALSE(wh_delay_line_hold(&line, 1000, false, item(0)));
			CU_ASSERT_FALSE(wh_delay_line_hold(&line, 1000, true, item(0)));
			CU_ASSERT_EQUAL(wh_delay_line_held(&line), sizes[i]);

			/* Room for one again, at either end of the order. */
			CU_ASSERT_PTR_EQUAL(wh_delay_line_take_any(&line), item(0));
			CU_ASSERT_TRUE(wh_delay_line_hold(&line, 0, false, item(63)));
			CU_ASSERT_FALSE(wh_delay_line_hold(&line, 0, false, item(0)));
			CU_ASSERT_PTR_EQUAL(wh_delay_line_take_any(&line), item(63));
			wh_delay_line_free(&line);
		}
	}
}

static void monotone_items_never_meet_the_heap(void)
{
	struct wh_delay_line line;
	struct wh_netem_item items[8];

	/* One late item in ten: the heap has those alone, whatever the ring does. */
	CU_ASSERT_EQUAL_FATAL(wh_delay_line_init(&line, 64), 0);
	for (uint64_t now_tsc = 0; now_tsc < 1000; now_tsc++) {
		bool late = now_tsc % 10 == 0;

		wh_delay_line_take(&line, now_tsc, items, 8);
		CU_ASSERT_TRUE(wh_delay_line_hold(
			&line, now_tsc + (late ? 40 : 20), late, item(now_tsc % 64)));
		CU_ASSERT_TRUE(line.heap_count <= 4);
	}
	CU_ASSERT_EQUAL(line.ring_count, 18); /* due from 1000 to 1019, but 1000 and 1010 */
	CU_ASSERT_EQUAL(line.heap_count, 4);
	wh_delay_line_free(&line);
}

/* A line by exhaustive search: the item with the smallest (due time, order of hold). */
struct reference {
	uint64_t due_tsc[32];
	uint64_t order[32];
	uint32_t count;
	uint64_t next_order;
};

static uint32_t reference_first(const struct reference *r)
{
	uint32_t first = 0;

	for (uint32_t i = 1; i < r->count; i++) {
		if (r->due_tsc[i] < r->due_tsc[first] ||
			(r->due_tsc[i] == r->due_tsc[first] && r->order[i] < r->order[first]))
			first = i;
	}
	return first;
}

static void check_take(struct wh_delay_line *line, struct reference *r, uint64_t now_tsc)
{
	struct wh_netem_item taken;

	while (wh_delay_line_take(line, now_tsc, &taken, 1) == 1) {
		CU_ASSERT_FATAL(r->count > 0);

		uint32_t first = reference_first(r);

		CU_ASSERT_EQUAL(taken.due_tsc, r->due_tsc[first]);
		CU_ASSERT_EQUAL(taken.order, r->order[first]);
		r->count--;
		r->due_tsc[first] = r->due_tsc[r->count];
		r->order[first] = r->order[r->count];
	}
	if (r->count > 0)
		CU_ASSERT_TRUE(r->due_tsc[reference_first(r)] > now_tsc);
}

static void any_order_comes_out_sorted(void)
{
	for (uint64_t seed = 0; seed < 200; seed++) {
		struct wh_delay_line line;
		struct reference r = {.count = 0};
		struct wh_prng prng;
		uint64_t now_tsc = 0;

		wh_prng_init(&prng, seed);
		CU_ASSERT_EQUAL_FATAL(wh_delay_line_init(&line, 32), 0);
		for (unsigned int n = 0; n < 500; n++) {
			uint64_t due_tsc = now_tsc + wh_prng_below(&prng, 20);
			bool late = wh_prng_below(&prng, 3) == 0;
			bool held = wh_delay_line_hold(&line, due_tsc, late, item(0));

			CU_ASSERT_EQUAL(held, r.count < 32);
			if (held) {
				r.due_tsc[r.count] = due_tsc;
				r.order[r.count++] = r.next_order++;
			}
			now_tsc += wh_prng_below(&prng, 2);
			if (wh_prng_below(&prng, 4) == 0)
				check_take(&line, &r, now_tsc);
			CU_ASSERT_EQUAL(wh_delay_line_held(&line), r.count);
		}
		check_take(&line, &r, WH_TSC_NEVER);
		CU_ASSERT_EQUAL(r.count, 0);
		wh_delay_line_free(&line);
	}
}

static void take_any_drains_in_order(void)
{
	static const uint64_t due_tsc[] = {5, 9, 1, 9, 3, UINT64_MAX - 1, 0};
	static const unsigned int expected[] = {6, 2, 4, 0, 1, 3, 5};
	struct wh_delay_line line;

	CU_ASSERT_EQUAL_FATAL(wh_delay_line_init(&line, 7), 0);
	for (unsigned int n = 0; n < 7; n++)
		CU_ASSERT_TRUE(wh_delay_line_hold(&line, due_tsc[n], false, item(n)));
	for (unsigned int n = 0; n < 7; n++)
		CU_ASSERT_PTR_EQUAL(wh_delay_line_take_any(&line), item(expected[n]));
	CU_ASSERT_PTR_NULL(wh_delay_line_take_any(&line));
	wh_delay_line_free(&line);
}

CU_TestInfo wh_tests[] = {
	{"empty line", empty_line},
	{"due times are exact", due_times_are_exact},
	{"it grows", it_grows},
	{"take gives no more than asked", take_gives_no_more_than_asked},
	{"equal due times leave in order of hold", equal_due_times_leave_in_order_of_hold},
	{"items_max counts ring and heap together", items_max_counts_ring_and_heap_together},
	{"monotone items never meet the heap", monotone_items_never_meet_the_heap},
	{"any order comes out sorted", any_order_comes_out_sorted},
	{"take_any drains in order", take_any_drains_in_order},
	CU_TEST_INFO_NULL,
};
