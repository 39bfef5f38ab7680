/* SPDX-License-Identifier: BSD-3-Clause */
#include "track/sent_table.h"

#include "base/prng.h"
#include "memory_limit.h"
#include "unit.h"

const char wh_suite_name[] = "track/sent_table";

/* What the callback saw. */
struct seen {
	uint64_t count;
	uint64_t pns[256];
	uint16_t indexes[256];
};

static void note_acked(
	void *context, uint64_t pn, const struct wh_sent_record *record, uint32_t count)
{
	struct seen *seen = context;

	CU_ASSERT_FATAL(seen->count + count <= 256);
	for (uint32_t i = 0; i < count; i++) {
		seen->pns[seen->count] = pn + i;
		seen->indexes[seen->count] = (uint16_t)(record->index + i);
		seen->count++;
	}
}

static void note_queued(void *context, uint64_t pn)
{
	struct seen *seen = context;

	CU_ASSERT_FATAL(seen->count < 256);
	seen->pns[seen->count++] = pn;
}

static void admit_many(struct wh_sent_table *table, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		uint64_t expected = table->admitted_end;

		CU_ASSERT_EQUAL_FATAL(
			wh_sent_table_admit(table, 7, (uint16_t)table->admitted_end), expected);
	}
}

static void test_admit(void)
{
	struct wh_sent_table table;

	CU_ASSERT_EQUAL_FATAL(wh_sent_table_init(&table, 64, 1000), 0);
	CU_ASSERT_EQUAL(wh_sent_table_unacked(&table), 0);
	for (uint16_t i = 0; i < 64; i++) {
		CU_ASSERT_TRUE(wh_sent_table_has_room(&table));
		CU_ASSERT_EQUAL(wh_sent_table_admit(&table, 5, i), 1000 + i);
	}
	CU_ASSERT_FALSE(wh_sent_table_has_room(&table));
	CU_ASSERT_EQUAL(wh_sent_table_unacked(&table), 64);
	for (uint16_t i = 0; i < 64; i++) {
		const struct wh_sent_record *record = wh_sent_table_record(&table, 1000 + i);

		CU_ASSERT_EQUAL(record->chunk_slot, 5);
		CU_ASSERT_EQUAL(record->index, i);
	}
	wh_sent_table_check(&table);
	wh_sent_table_free(&table);
	wh_sent_table_free(&table);
}

/* A slot is used again: nothing of the packet before is left in it. */
static void test_slot_again(void)
{
	struct wh_sent_table table;
	struct seen seen = {0};

	CU_ASSERT_EQUAL_FATAL(wh_sent_table_init(&table, 64, 0), 0);
	admit_many(&table, 64);
	CU_ASSERT_EQUAL(wh_sent_table_queue(&table, 0, 1, note_queued, &seen), 1);
	seen.count = 0;
	CU_ASSERT_EQUAL(wh_sent_table_ack(&table, 0, 1, note_acked, &seen), 1);
	CU_ASSERT_TRUE(wh_sent_table_has_room(&table));
	CU_ASSERT_EQUAL(wh_sent_table_admit(&table, 9, 3), 64);
	CU_ASSERT_FALSE(wh_sent_table_acked(&table, 64));
	CU_ASSERT_EQUAL(wh_sent_table_record(&table, 64)->chunk_slot, 9);
	CU_ASSERT_EQUAL(wh_sent_table_record(&table, 64)->index, 3);
	seen.count = 0;
	CU_ASSERT_EQUAL(wh_sent_table_queue(&table, 64, 65, note_queued, &seen), 1);
	CU_ASSERT_EQUAL(seen.pns[0], 64);
	wh_sent_table_check(&table);
	wh_sent_table_free(&table);
}

static void count_acked(
	void *context, uint64_t pn, const struct wh_sent_record *record, uint32_t count)
{
	CU_ASSERT_EQUAL_FATAL(record->index, (uint16_t)pn);
	*(uint64_t *)context += count;
}

struct run {
	uint64_t pn;
	uint32_t chunk_slot, index, count;
};

struct runs {
	uint32_t count;
	struct run run[8];
};

static void note_run(
	void *context, uint64_t pn, const struct wh_sent_record *record, uint32_t count)
{
	struct runs *runs = context;

	CU_ASSERT_FATAL(runs->count < 8);
	runs->run[runs->count++] = (struct run){pn, record->chunk_slot, record->index, count};
}

static void check_runs(const struct runs *runs, const struct run *expected, uint32_t count)
{
	CU_ASSERT_EQUAL_FATAL(runs->count, count);
	for (uint32_t i = 0; i < count; i++) {
		CU_ASSERT_EQUAL(runs->run[i].pn, expected[i].pn);
		CU_ASSERT_EQUAL(runs->run[i].chunk_slot, expected[i].chunk_slot);
		CU_ASSERT_EQUAL(runs->run[i].index, expected[i].index);
		CU_ASSERT_EQUAL(runs->run[i].count, expected[i].count);
	}
}

/*
 * 64 records, packet numbers from 60 on: runs end with words, where the array begins again, with a
 * chunk and where some were acknowledged before.
 */
static void test_runs(void)
{
	static const struct run first[] = {{60, 3, 0, 4}, {64, 3, 4, 6}, {71, 3, 11, 49}};
	static const struct run second[] = {
		{70, 3, 10, 1}, {120, 3, 60, 8}, {128, 3, 68, 1}, {129, 3, 69, 1}, {130, 5, 0, 3}};
	struct wh_sent_table table;
	struct runs runs = {0};

	CU_ASSERT_EQUAL_FATAL(wh_sent_table_init(&table, 64, 60), 0);
	for (uint16_t i = 0; i < 60; i++)
		wh_sent_table_admit(&table, 3, i);
	CU_ASSERT_EQUAL(wh_sent_table_ack(&table, 60, 70, note_run, &runs), 10);
	CU_ASSERT_EQUAL(wh_sent_table_ack(&table, 71, 120, note_run, &runs), 49);
	check_runs(&runs, first, 3);

	runs.count = 0;
	for (uint16_t i = 60; i < 70; i++)
		wh_sent_table_admit(&table, 3, i);
	for (uint16_t i = 0; i < 3; i++)
		wh_sent_table_admit(&table, 5, i);
	CU_ASSERT_EQUAL(wh_sent_table_ack(&table, 0, 133, note_run, &runs), 14);
	check_runs(&runs, second, 5);
	CU_ASSERT_EQUAL(table.lower, 133);
	wh_sent_table_check(&table);
	wh_sent_table_free(&table);
}

/* The first and the last of a word are of different chunks. */
static void test_runs_of_short_chunks(void)
{
	static const struct run expected[] = {{0, 1, 0, 1}, {1, 2, 0, 2}};
	struct wh_sent_table table;
	struct runs runs = {0};

	CU_ASSERT_EQUAL_FATAL(wh_sent_table_init(&table, 64, 0), 0);
	wh_sent_table_admit(&table, 1, 0);
	wh_sent_table_admit(&table, 2, 0);
	wh_sent_table_admit(&table, 2, 1);
	CU_ASSERT_EQUAL(wh_sent_table_ack(&table, 0, 3, note_run, &runs), 3);
	check_runs(&runs, expected, 2);
	wh_sent_table_free(&table);
}

/* No more than a word, and no less. */
static void test_longest_run(void)
{
	static const struct run expected[] = {{64, 9, 0, 64}, {128, 9, 64, 64}};
	struct wh_sent_table table;
	struct runs runs = {0};

	CU_ASSERT_EQUAL_FATAL(wh_sent_table_init(&table, 128, 64), 0);
	for (uint16_t i = 0; i < 128; i++)
		wh_sent_table_admit(&table, 9, i);
	CU_ASSERT_EQUAL(wh_sent_table_ack(&table, 64, 192, note_run, &runs), 128);
	check_runs(&runs, expected, 2);
	wh_sent_table_free(&table);
}

/* The largest table, full and acknowledged at once, then once more across the array's end. */
static void test_largest(void)
{
	uint32_t size = 1 << 24;
	uint64_t calls = 0;
	struct wh_sent_table table;

	CU_ASSERT_EQUAL_FATAL(wh_sent_table_init(&table, size, 5), 0);
	for (uint64_t round = 1; round <= 2; round++) {
		admit_many(&table, size);
		CU_ASSERT_FALSE(wh_sent_table_has_room(&table));
		CU_ASSERT_EQUAL(
			wh_sent_table_ack(&table, 0, UINT64_MAX, count_acked, &calls), size);
		CU_ASSERT_EQUAL(calls, round * size);
		CU_ASSERT_EQUAL(table.lower, 5 + round * size);
		wh_sent_table_check(&table);
	}
	wh_sent_table_free(&table);
}

static void test_no_memory(void)
{
	if (!WH_MEMORY_LIMIT_WORKS)
		return;

	struct wh_sent_table table;

	wh_memory_limit(2 << 20); /* the records take 4 MiB */
	CU_ASSERT_EQUAL(wh_sent_table_init(&table, 1 << 20, 0), -ENOMEM);
	wh_memory_unlimit();
	wh_sent_table_free(&table);
}

/*
 * Packet numbers 1000 to 1099 of a window of 128, which ends within the word that it begins in;
 * 1010 to 1019 and 1070 are acknowledged. Queued one after the other.
 */
static const struct {
	uint64_t first, end;
	uint64_t count, lowest, highest;
} queue_cases[] = {
	{1050, 1050, 0, 0, 0},           /* nothing */
	{1060, 1050, 0, 0, 0},           /* less than nothing */
	{0, 1000, 0, 0, 0},              /* below the window */
	{1100, UINT64_MAX, 0, 0, 0},     /* not admitted yet */
	{1000, 1001, 1, 1000, 1000},     /* the first */
	{1099, 1200, 1, 1099, 1099},     /* the last, and what is not there */
	{1005, 1025, 10, 1005, 1024},    /* around what is acknowledged */
	{1005, 1025, 0, 0, 0},           /* once is enough */
	{1010, 1020, 0, 0, 0},           /* all acknowledged */
	{1023, 1030, 5, 1025, 1029},     /* half of it again; over the end of a word, 1024 */
	{0, UINT64_MAX, 72, 1001, 1098}, /* all the rest: 100 - 11 - 2 - 10 - 5 */
	{0, UINT64_MAX, 0, 0, 0},
};

static void test_queue(void)
{
	struct wh_sent_table table;
	struct seen seen = {0};

	CU_ASSERT_EQUAL_FATAL(wh_sent_table_init(&table, 128, 1000), 0);
	admit_many(&table, 100);
	wh_sent_table_ack(&table, 1010, 1020, note_acked, &seen);
	wh_sent_table_ack(&table, 1070, 1071, note_acked, &seen);
	for (size_t i = 0; i < sizeof(queue_cases) / sizeof(queue_cases[0]); i++) {
		uint64_t count = queue_cases[i].count;

		seen.count = 0;
		CU_ASSERT_EQUAL(wh_sent_table_queue(&table, queue_cases[i].first,
					queue_cases[i].end, note_queued, &seen),
			count);
		CU_ASSERT_EQUAL_FATAL(seen.count, count);
		for (uint64_t call = 1; call < count; call++)
			CU_ASSERT(seen.pns[call - 1] < seen.pns[call]);
		if (count > 0) {
			CU_ASSERT_EQUAL(seen.pns[0], queue_cases[i].lowest);
			CU_ASSERT_EQUAL(seen.pns[count - 1], queue_cases[i].highest);
		}
	}
	wh_sent_table_check(&table);
	wh_sent_table_free(&table);
}

/* Out of the queue and into it again; what is acknowledged meanwhile is not sent again. */
static void test_unqueue(void)
{
	struct wh_sent_table table;
	struct seen seen = {0};

	CU_ASSERT_EQUAL_FATAL(wh_sent_table_init(&table, 64, 30), 0);
	admit_many(&table, 64);
	CU_ASSERT_EQUAL(wh_sent_table_queue(&table, 30, 94, note_queued, &seen), 64);
	CU_ASSERT_TRUE(wh_sent_table_unqueue(&table, 30));
	CU_ASSERT_TRUE(wh_sent_table_unqueue(&table, 93));
	seen.count = 0;
	CU_ASSERT_EQUAL(wh_sent_table_queue(&table, 30, 94, note_queued, &seen), 2);
	CU_ASSERT_EQUAL(seen.pns[0], 30);
	CU_ASSERT_EQUAL(seen.pns[1], 93);
	seen.count = 0;
	CU_ASSERT_EQUAL(wh_sent_table_ack(&table, 40, 41, note_acked, &seen), 1);
	CU_ASSERT_FALSE(wh_sent_table_unqueue(&table, 40));
	CU_ASSERT_EQUAL(wh_sent_table_ack(&table, 30, 40, note_acked, &seen), 10);
	CU_ASSERT_EQUAL(table.lower, 41);
	CU_ASSERT_FALSE(wh_sent_table_unqueue(&table, 30)); /* below the window */
	wh_sent_table_free(&table);
}

#define MODEL_STEPS 200000
#define MODEL_PNS   (MODEL_STEPS * 16)

static uint8_t model[MODEL_PNS]; /* by packet number - start: acknowledged */

struct model_run {
	uint64_t start;
	uint64_t previous; /* packet number of the last call, within one ack */
	uint64_t calls;
};

static void model_acked(
	void *context, uint64_t pn, const struct wh_sent_record *record, uint32_t count)
{
	struct model_run *run = context;

	CU_ASSERT_FATAL(run->calls == 0 || pn > run->previous);
	CU_ASSERT_EQUAL_FATAL(record->index, (uint16_t)pn);
	for (uint32_t i = 0; i < count; i++) {
		CU_ASSERT_EQUAL_FATAL(record->chunk_slot, (uint16_t)((pn + i) >> 16));
		CU_ASSERT_EQUAL_FATAL(model[pn + i - run->start], 0);
		model[pn + i - run->start] = 1;
	}
	run->previous = pn + count - 1;
	run->calls += count;
}

static void ack_both(
	struct wh_sent_table *table, struct model_run *run, uint64_t first, uint64_t end)
{
	uint64_t fresh = 0;

	for (uint64_t pn = first; pn < end; pn++)
		fresh += pn >= run->start && pn < table->admitted_end && !model[pn - run->start];
	run->calls = 0;
	CU_ASSERT_EQUAL_FATAL(wh_sent_table_ack(table, first, end, model_acked, run), fresh);
	CU_ASSERT_EQUAL_FATAL(run->calls, fresh);
}

static void run_random(uint32_t size, uint64_t start, uint64_t seed)
{
	struct wh_sent_table table;
	struct wh_prng prng;
	struct model_run run = {.start = start};
	uint64_t lower = start;
	uint64_t end = start;
	uint64_t acked = 0;

	CU_ASSERT_EQUAL_FATAL(wh_sent_table_init(&table, size, start), 0);
	memset(model, 0, sizeof(model));
	wh_prng_init(&prng, seed);
	for (uint32_t step = 0; step < MODEL_STEPS; step++) {
		for (uint64_t left = wh_prng_below(&prng, 16); left > 0 && end - lower < size;
			left--) {
			wh_sent_table_admit(&table, (uint16_t)(end >> 16), (uint16_t)end);
			end++;
		}

		uint64_t low = start + 8 < lower ? lower - 8 : start;
		uint64_t first = low + wh_prng_below(&prng, wh_prng_below(&prng, 2) ? 12 : size);
		uint64_t length = wh_prng_below(&prng, wh_prng_below(&prng, 16) ? 16 : size);

		ack_both(&table, &run, first, first + length);
		acked += run.calls;
		while (lower < end && model[lower - start])
			lower++;

		CU_ASSERT_EQUAL_FATAL(table.lower, lower);
		CU_ASSERT_EQUAL_FATAL(table.admitted_end, end);
		CU_ASSERT_EQUAL_FATAL(wh_sent_table_unacked(&table), end - start - acked);
		CU_ASSERT_EQUAL_FATAL(wh_sent_table_has_room(&table), end - lower < size);
		if (end > start) {
			uint64_t look = low + wh_prng_below(&prng, end - low);

			CU_ASSERT_EQUAL_FATAL(
				wh_sent_table_acked(&table, look), model[look - start]);
		}
		if (step % 2048 == 0)
			wh_sent_table_check(&table);
	}
	CU_ASSERT(lower - start > 20 * size);
	wh_sent_table_check(&table);
	wh_sent_table_free(&table);
}

static void test_random(void)
{
	run_random(64, 0, 1);
	run_random(64, 12345, 2);
	run_random(128, (UINT64_C(1) << 32) - 100, 3);
	run_random(1024, 77, 4);
}

static uint64_t queue_due(struct wh_sent_table *table, uint32_t now, uint64_t sent_end,
	uint64_t first, uint64_t end, struct seen *seen)
{
	const struct wh_sent_due due = {.now = now, .sent_end = sent_end};

	seen->count = 0;
	return wh_sent_table_queue_due(table, &due, first, end, note_queued, seen);
}

/*
 * Packets 100 to 149 go at moments 2^32 - 25 to 24, one each, and are due 10 later: the clock wraps
 * in the middle. 103 and 130 are missing, and 103 goes again at 30.
 */
static void test_due(void)
{
	struct wh_sent_table table;
	struct seen seen = {0};
	uint32_t start = UINT32_MAX - 24;

	CU_ASSERT_EQUAL_FATAL(wh_sent_table_init(&table, 64, 100), 0);
	CU_ASSERT_EQUAL_FATAL(wh_sent_table_add_due(&table), 0);
	admit_many(&table, 60);
	for (uint32_t i = 0; i < 50; i++)
		wh_sent_table_set_due(&table, 100 + i, start + i + 10);
	wh_sent_table_ack(&table, 100, 103, note_acked, &seen);
	wh_sent_table_ack(&table, 104, 130, note_acked, &seen);
	CU_ASSERT_EQUAL(queue_due(&table, start + 12, 150, 0, 200, &seen), 0);
	CU_ASSERT_EQUAL(queue_due(&table, start + 13, 150, 104, 200, &seen), 0);
	CU_ASSERT_EQUAL(queue_due(&table, start + 13, 150, 0, 103, &seen), 0);
	CU_ASSERT_EQUAL(queue_due(&table, start + 13, 150, 0, 200, &seen), 1);
	CU_ASSERT_EQUAL(seen.pns[0], 103);
	CU_ASSERT_EQUAL(table.due_end, 104);
	CU_ASSERT_EQUAL(queue_due(&table, start + 39, 150, 0, 200, &seen), 0); /* it waits */
	CU_ASSERT_TRUE(wh_sent_table_unqueue(&table, 103));
	wh_sent_table_set_due(&table, 103, 30 + 10);
	CU_ASSERT_EQUAL(queue_due(&table, start + 40, 150, 0, 200, &seen), 1);
	CU_ASSERT_EQUAL(seen.pns[0], 130);
	CU_ASSERT_EQUAL(queue_due(&table, 39, 150, 0, 200, &seen), 19); /* 131 to 149 */
	CU_ASSERT_EQUAL(queue_due(&table, 40, 150, 0, 200, &seen), 1);
	CU_ASSERT_EQUAL(seen.pns[0], 103);
	CU_ASSERT_EQUAL(table.due_end, 150); /* the rest has not gone yet */
	wh_sent_table_check(&table);
	wh_sent_table_free(&table);
}

/* All was acknowledged, and then half of the clock goes by without a look. */
static void test_due_after_rest(void)
{
	struct wh_sent_table table;
	struct seen seen = {0};

	CU_ASSERT_EQUAL_FATAL(wh_sent_table_init(&table, 64, 0), 0);
	CU_ASSERT_EQUAL_FATAL(wh_sent_table_add_due(&table), 0);
	admit_many(&table, 3);
	for (uint32_t i = 0; i < 2; i++)
		wh_sent_table_set_due(&table, i, 10);
	wh_sent_table_ack(&table, 0, 2, note_acked, &seen);
	wh_sent_table_set_due(&table, 2, UINT32_C(0x80000020));
	CU_ASSERT_EQUAL(queue_due(&table, 0x8000001f, 3, 0, 64, &seen), 0);
	CU_ASSERT_EQUAL(queue_due(&table, 0x80000020, 3, 0, 64, &seen), 1);
	wh_sent_table_free(&table);
}

CU_TestInfo wh_tests[] = {
	{"admit until full", test_admit},
	{"a slot used again", test_slot_again},
	{"queue", test_queue},
	{"out of the queue", test_unqueue},
	{"runs of a chunk", test_runs},
	{"short chunks", test_runs_of_short_chunks},
	{"the longest run", test_longest_run},
	{"the largest table", test_largest},
	{"no memory", test_no_memory},
	{"due again", test_due},
	{"due after a rest", test_due_after_rest},
	{"random against a byte map", test_random},
	CU_TEST_INFO_NULL,
};
