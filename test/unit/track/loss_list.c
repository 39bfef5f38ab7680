/* SPDX-License-Identifier: BSD-3-Clause */
#include "track/loss_list.h"

#include "base/clock.h"
#include "base/prng.h"
#include "memory_limit.h"
#include "unit.h"

const char wh_suite_name[] = "track/loss_list";

static void expect_range(const struct wh_loss_range *range, uint64_t first, uint64_t end)
{
	CU_ASSERT_EQUAL(range->first, first);
	CU_ASSERT_EQUAL(range->end, end);
}

static void expect_due(
	struct wh_loss_list *list, uint64_t now_tsc, uint64_t rtt_tsc, uint64_t first, uint64_t end)
{
	struct wh_loss_range range = {0};

	CU_ASSERT_TRUE(wh_loss_list_next_due(list, now_tsc, rtt_tsc, &range));
	expect_range(&range, first, end);
}

static void expect_none_due(struct wh_loss_list *list, uint64_t now_tsc, uint64_t rtt_tsc)
{
	struct wh_loss_range range;

	CU_ASSERT_FALSE(wh_loss_list_next_due(list, now_tsc, rtt_tsc, &range));
}

static void test_empty(void)
{
	struct wh_loss_list list;
	struct wh_loss_range range;

	CU_ASSERT_EQUAL_FATAL(wh_loss_list_init(&list, 64), 0);
	CU_ASSERT_EQUAL(list.lost_pkts, 0);
	CU_ASSERT_FALSE(wh_loss_list_contains(&list, 0));
	CU_ASSERT_FALSE(wh_loss_list_remove(&list, 0));
	CU_ASSERT_FALSE(wh_loss_list_next(&list, 0, 0, &range));
	CU_ASSERT_FALSE(wh_loss_list_next(&list, 0, 63, &range));
	CU_ASSERT_EQUAL(wh_loss_list_due_tsc(&list, 10), WH_TSC_NEVER);
	expect_none_due(&list, 1000, 10);
	wh_loss_list_check(&list);
	wh_loss_list_free(&list);
	wh_loss_list_free(&list);
}

static void test_no_memory(void)
{
	if (!WH_MEMORY_LIMIT_WORKS)
		return;

	struct wh_loss_list list;

	wh_memory_limit(4 << 20); /* the bitset takes 130 KiB, the nodes 32 MiB */
	CU_ASSERT_EQUAL(wh_loss_list_init(&list, 1 << 20), -ENOMEM);
	wh_memory_unlimit();
	CU_ASSERT_PTR_NULL(list.starts.level[0]); /* given back already */
	wh_loss_list_free(&list);
}

/* A packet number a window away has the same position and is another. */
static void test_a_window_away(void)
{
	struct wh_loss_list list;
	struct wh_loss_range range;

	CU_ASSERT_EQUAL_FATAL(wh_loss_list_init(&list, 64), 0);
	wh_loss_list_insert(&list, 1000, 1005, 0);
	CU_ASSERT_TRUE(wh_loss_list_contains(&list, 1000));
	CU_ASSERT_FALSE(wh_loss_list_contains(&list, 1000 - 64));
	CU_ASSERT_FALSE(wh_loss_list_contains(&list, 1000 + 64));
	CU_ASSERT_FALSE(wh_loss_list_remove(&list, 1004 + 64));
	CU_ASSERT_FALSE(wh_loss_list_remove(&list, 1004 - 64));
	CU_ASSERT_EQUAL(list.lost_pkts, 5);

	CU_ASSERT_TRUE(wh_loss_list_next(&list, 990, 3, &range)); /* below: from the bottom */
	expect_range(&range, 1000, 1005);
	CU_ASSERT_TRUE(wh_loss_list_next(&list, 990, 1004, &range));
	expect_range(&range, 1000, 1005);
	CU_ASSERT_FALSE(wh_loss_list_next(&list, 990, 1005, &range));
	CU_ASSERT_FALSE(wh_loss_list_next(&list, 990, 990 + 64, &range));
	CU_ASSERT_FALSE(wh_loss_list_next(&list, 990, 5000, &range));
	wh_loss_list_free(&list);
}

static void test_k_stops_growing(void)
{
	struct wh_loss_list list;
	uint64_t due_tsc = 2;

	CU_ASSERT_EQUAL_FATAL(wh_loss_list_init(&list, 64), 0);
	wh_loss_list_insert(&list, 63, 65, 0); /* across the array's end */
	for (uint64_t k = 2; k < 70; k++) {
		CU_ASSERT_EQUAL(wh_loss_list_due_tsc(&list, 1), due_tsc);
		expect_none_due(&list, due_tsc - 1, 1);
		expect_due(&list, due_tsc, 1, 63, 65);
		wh_loss_list_check(&list);
		due_tsc += k + 1 < 63 ? k + 1 : 63;
	}
	CU_ASSERT_EQUAL(due_tsc, 2456); /* 2 + 3 + ... + 63 = 2015, and 7 * 63 */

	/* Two at the limit take turns. */
	wh_loss_list_insert(&list, 70, 71, 2393);
	for (uint32_t report = 0; report < 200; report++) {
		struct wh_loss_range range;

		due_tsc = wh_loss_list_due_tsc(&list, 1);
		CU_ASSERT_TRUE(wh_loss_list_next_due(&list, due_tsc, 1, &range));
		wh_loss_list_check(&list);
	}

	struct wh_loss_range one, other;

	CU_ASSERT_TRUE(wh_loss_list_next_due(&list, due_tsc + 1000, 1, &one));
	CU_ASSERT_TRUE(wh_loss_list_next_due(&list, due_tsc + 1000, 1, &other));
	CU_ASSERT_NOT_EQUAL(one.first, other.first);
	wh_loss_list_free(&list);
}

/* The naive model: the state of every packet number, by packet number & mask. */
#define MODEL_SIZE_MAX 8192

struct model_entry {
	bool lost;
	bool starts; /* a range */
	uint32_t k;
	uint64_t reported_tsc;
};

static struct {
	struct wh_loss_list list;
	struct wh_prng prng;
	struct model_entry entries[MODEL_SIZE_MAX];
	uint32_t size;
	uint64_t base; /* nothing below is lost */
	uint64_t now_tsc;
	uint64_t lost_pkts;
} model;

static struct model_entry *entry_of(uint64_t pn)
{
	return &model.entries[pn & (model.size - 1)];
}

static bool model_lost(uint64_t pn)
{
	return pn >= model.base && pn - model.base < model.size && entry_of(pn)->lost;
}

static uint64_t model_end(uint64_t first)
{
	uint64_t end = first + 1;

	while (model_lost(end) && !entry_of(end)->starts)
		end++;
	return end;
}

/* The first lost packet number at or above `pn`, or base + size. */
static uint64_t model_next_lost(uint64_t pn)
{
	while (pn < model.base + model.size && !model_lost(pn))
		pn++;
	return pn;
}

static void step_insert(void)
{
	uint64_t first = model.base + wh_prng_below(&model.prng, model.size);
	uint64_t room = model.base + model.size - first;
	uint64_t kind = wh_prng_below(&model.prng, 32);
	uint64_t length = 1;

	if (kind == 0)
		length = 1 + wh_prng_below(&model.prng, room);
	else if (kind < 12)
		length = 1 + wh_prng_below(&model.prng, wh_min_u64(room, 8));

	bool run = false;

	wh_loss_list_insert(&model.list, first, first + length, model.now_tsc);
	for (uint64_t pn = first; pn < first + length; pn++) {
		struct model_entry *entry = entry_of(pn);

		if (entry->lost) {
			run = false;
			continue;
		}
		*entry = (struct model_entry){
			.lost = true, .starts = !run, .k = 2, .reported_tsc = model.now_tsc};
		run = true;
		model.lost_pkts++;
	}
}

static void remove_both(uint64_t pn)
{
	bool lost = model_lost(pn);

	CU_ASSERT_EQUAL_FATAL(wh_loss_list_remove(&model.list, pn), lost);
	if (!lost)
		return;
	if (model_lost(pn + 1))
		entry_of(pn + 1)->starts = true;
	entry_of(pn)->lost = false;
	model.lost_pkts--;
}

static void step_remove(void)
{
	/* Around the window, and often one that is there. */
	uint64_t pn = model.base - 8 + wh_prng_below(&model.prng, model.size + 16);

	if (wh_prng_below(&model.prng, 2))
		pn = model_next_lost(wh_max_u64(pn, model.base));
	remove_both(pn);
}

static void expect_model_next(uint64_t pn, bool found, const struct wh_loss_range *range)
{
	uint64_t lost = model_next_lost(wh_max_u64(pn, model.base));

	CU_ASSERT_EQUAL_FATAL(found, lost < model.base + model.size);
	if (!found)
		return;

	uint64_t first = lost;

	while (!entry_of(first)->starts)
		first--;
	CU_ASSERT_EQUAL_FATAL(range->first, first);
	CU_ASSERT_EQUAL_FATAL(range->end, model_end(first));
}

static void step_look(void)
{
	uint64_t pn = model.base - 8 + wh_prng_below(&model.prng, model.size + 16);
	struct wh_loss_range range;
	bool found = wh_loss_list_next(&model.list, model.base, pn, &range);

	CU_ASSERT_EQUAL_FATAL(wh_loss_list_contains(&model.list, pn), model_lost(pn));
	expect_model_next(pn, found, &range);
	found = wh_loss_list_next(&model.list, model.base, model.base, &range);
	expect_model_next(model.base, found, &range);
}

static uint64_t model_due_tsc(uint64_t rtt_tsc)
{
	uint64_t due_tsc = WH_TSC_NEVER;

	for (uint32_t i = 0; i < model.size; i++) {
		const struct model_entry *entry = &model.entries[i];

		if (entry->lost)
			due_tsc = wh_min_u64(due_tsc, entry->reported_tsc + entry->k * rtt_tsc);
	}
	return due_tsc;
}

static void step_due(void)
{
	uint64_t rtt_tsc = wh_prng_below(&model.prng, 64) + 1;
	uint64_t due_tsc = model_due_tsc(rtt_tsc);
	struct wh_loss_range range;

	CU_ASSERT_EQUAL_FATAL(wh_loss_list_due_tsc(&model.list, rtt_tsc), due_tsc);

	bool found = wh_loss_list_next_due(&model.list, model.now_tsc, rtt_tsc, &range);

	CU_ASSERT_EQUAL_FATAL(found, due_tsc <= model.now_tsc);
	if (!found)
		return;
	CU_ASSERT_FATAL(model_lost(range.first) && entry_of(range.first)->starts);
	CU_ASSERT_EQUAL_FATAL(range.end, model_end(range.first));
	for (uint64_t pn = range.first; pn < range.end; pn++) {
		struct model_entry *entry = entry_of(pn);

		CU_ASSERT_EQUAL_FATAL(entry->reported_tsc + entry->k * rtt_tsc, due_tsc);
		entry->reported_tsc = model.now_tsc;
		entry->k = entry->k < 63 ? entry->k + 1 : 63;
	}
}

/* The bottom rises; what it leaves below has arrived. */
static void step_rise(void)
{
	uint64_t base = model.base + wh_prng_below(&model.prng, model.size / 8);

	for (uint64_t pn = model.base; pn < base; pn++)
		remove_both(pn);
	model.base = base;
}

static void run_random(uint32_t size, uint64_t base, uint32_t steps, uint64_t seed)
{
	memset(&model, 0, sizeof(model));
	model.size = size;
	model.base = base;
	wh_prng_init(&model.prng, seed);
	CU_ASSERT_EQUAL_FATAL(wh_loss_list_init(&model.list, size), 0);

	uint32_t emptied = 0;

	for (uint32_t step = 0; step < steps; step++) {
		uint64_t kind = wh_prng_below(&model.prng, 100);
		/* By turns the list fills up and runs empty. */
		uint64_t inserts = step / 8192 % 2 == 0 ? 30 : 2;

		model.now_tsc += wh_prng_below(&model.prng, 8);
		if (kind < inserts)
			step_insert();
		else if (kind < 62)
			step_remove();
		else if (kind < 80)
			step_look();
		else if (kind < 97)
			step_due();
		else
			step_rise();
		CU_ASSERT_EQUAL_FATAL(model.list.lost_pkts, model.lost_pkts);
		emptied += model.lost_pkts == 0;
		if (step % 2048 == 0)
			wh_loss_list_check(&model.list);
	}
	CU_ASSERT(emptied > 0);
	CU_ASSERT(model.base - base > 4 * size);
	wh_loss_list_check(&model.list);
	wh_loss_list_free(&model.list);
}

static void test_random(void)
{
	run_random(64, 64, 500000, 1);
	run_random(128, (UINT64_C(1) << 32) - 300, 250000, 2);
	run_random(1024, 1000000, 200000, 3);
	run_random(MODEL_SIZE_MAX, UINT64_C(1) << 40, 50000, 4);
}

CU_TestInfo wh_tests[] = {
	{"empty", test_empty},
	{"no memory", test_no_memory},
	{"a window away", test_a_window_away},
	{"k stops growing", test_k_stops_growing},
	{"random against a model per packet number", test_random},
	CU_TEST_INFO_NULL,
};
