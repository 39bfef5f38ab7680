/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure/arrived_bitmap.h"

#include "unit.h"

const char wh_suite_name[] = "arrived_bitmap";

/* Not a multiple of 64, so that no word of a bitmap is one of the ring. */
#define FIRST ((UINT64_C(1) << 40) + 37)

/* [from, end) come in order; returns after which one a bitmap was due, 0 if after none. */
static uint64_t come(struct wh_arrived_bitmap *bitmap, uint64_t from, uint64_t end)
{
	uint64_t due = 0;

	for (uint64_t pn = from; pn < end; pn++)
		if (wh_arrived_bitmap_arrive(bitmap, FIRST + pn) && due == 0)
			due = pn + 1;
	return due;
}

static bool has(const struct wh_bitmap *taken, uint64_t pn)
{
	uint64_t i = FIRST + pn - taken->first;

	return taken->bits[i / 64] >> i % 64 & 1;
}

/* Packet numbers of the bitmap that did not come. */
static uint32_t missing(const struct wh_bitmap *taken)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < taken->pkts; i++)
		count += !has(taken, taken->first - FIRST + i);
	return count;
}

static void assert_taken(
	struct wh_arrived_bitmap *bitmap, struct wh_bitmap *taken, uint64_t first, uint32_t pkts)
{
	struct wh_packet packet = {.type = WH_PACKET_BITMAP};

	wh_arrived_bitmap_take(bitmap, taken);
	CU_ASSERT_EQUAL(taken->first, FIRST + first);
	CU_ASSERT_EQUAL(taken->pkts, pkts);
	/* Whatever was in the memory before, it is a packet. */
	packet.bitmap = *taken;
	CU_ASSERT_EQUAL(wh_packet_check(&packet), WH_WIRE_OK);
}

static void test_every_n(void)
{
	static const uint32_t sizes[] = {1, 2, 63, 64, 65, 100, 1000, 1023, 1024};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		uint32_t n = sizes[i];
		struct wh_arrived_bitmap bitmap;
		struct wh_bitmap taken;

		for (size_t word = 0; word < WH_BITMAP_WORDS_MAX; word++)
			taken.bits[word] = UINT64_MAX;
		wh_arrived_bitmap_init(&bitmap, FIRST, n, 2, 4);
		/* Through the ring several times: 1024 packets are all that it holds. */
		for (uint64_t at = 0; at < 10 * 1024; at += n) {
			CU_ASSERT_EQUAL(come(&bitmap, at, at + n), at + n);
			assert_taken(&bitmap, &taken, at, n);
			CU_ASSERT_EQUAL(missing(&taken), 0);
			wh_arrived_bitmap_pace(&bitmap, WH_BITMAP_BEARABLE);
		}
	}
}

static void test_fewer_than_n(void)
{
	struct wh_arrived_bitmap bitmap;
	struct wh_bitmap taken;

	wh_arrived_bitmap_init(&bitmap, FIRST, 1024, 2, 4);
	wh_arrived_bitmap_pace(&bitmap, WH_BITMAP_CONGESTED);
	CU_ASSERT_EQUAL(come(&bitmap, 0, 511), 0);
	CU_ASSERT_EQUAL(come(&bitmap, 511, 512), 512);
	assert_taken(&bitmap, &taken, 0, 512);
	CU_ASSERT_EQUAL(come(&bitmap, 512, 1023), 0);
	CU_ASSERT_EQUAL(come(&bitmap, 1023, 1024), 1024);
	assert_taken(&bitmap, &taken, 0, 1024);
	CU_ASSERT_EQUAL(come(&bitmap, 1024, 1536), 1536);
	assert_taken(&bitmap, &taken, 512, 1024);
	CU_ASSERT_EQUAL(missing(&taken), 0);
}

/* By packet numbers and not by arrivals: the gap counts. */
static void test_gaps(void)
{
	struct wh_arrived_bitmap bitmap;
	struct wh_bitmap taken;

	wh_arrived_bitmap_init(&bitmap, FIRST, 100, 2, 4);
	CU_ASSERT_EQUAL(come(&bitmap, 3, 60), 0);
	CU_ASSERT_EQUAL(come(&bitmap, 90, 101), 100);
	assert_taken(&bitmap, &taken, 1, 100);
	CU_ASSERT_EQUAL(missing(&taken), 2 + 30);
	CU_ASSERT_FALSE(has(&taken, 1));
	CU_ASSERT_FALSE(has(&taken, 2));
	CU_ASSERT_TRUE(has(&taken, 3));
	CU_ASSERT_TRUE(has(&taken, 59));
	CU_ASSERT_FALSE(has(&taken, 60));
	CU_ASSERT_FALSE(has(&taken, 89));
	CU_ASSERT_TRUE(has(&taken, 90));

	/* More lost than the ring holds: nothing of an earlier turn is left. */
	static const uint64_t gaps[] = {1022, 1023, 1024, 1025, 5000, UINT64_C(1) << 33};
	uint64_t at = 101;

	for (size_t i = 0; i < sizeof(gaps) / sizeof(gaps[0]); i++) {
		CU_ASSERT_EQUAL(come(&bitmap, at + gaps[i], at + gaps[i] + 1), at + gaps[i] + 1);
		assert_taken(&bitmap, &taken, at + gaps[i] - 99, 100);
		CU_ASSERT_EQUAL(missing(&taken), 99);
		CU_ASSERT_TRUE(has(&taken, at + gaps[i]));
		at += gaps[i] + 1;
		CU_ASSERT_EQUAL(come(&bitmap, at, at + 1100), at + 100);
		assert_taken(&bitmap, &taken, at + 1000, 100);
		CU_ASSERT_EQUAL(missing(&taken), 0);
		at += 1100;
	}
}

/* What was overtaken and comes before the bitmap is no loss; it makes none due itself. */
static void test_reordering(void)
{
	struct wh_arrived_bitmap bitmap;
	struct wh_bitmap taken;

	wh_arrived_bitmap_init(&bitmap, FIRST, 64, 2, 4);
	CU_ASSERT_EQUAL(come(&bitmap, 5, 62), 0);
	CU_ASSERT_EQUAL(come(&bitmap, 0, 3), 0);
	CU_ASSERT_EQUAL(come(&bitmap, 63, 64), 64);
	assert_taken(&bitmap, &taken, 0, 64);
	CU_ASSERT_EQUAL(taken.bits[0], ~(UINT64_C(3) << 3 | UINT64_C(1) << 62));

	/* Doubled, or too late: the next has it where it still tells of it, and none is due. */
	CU_ASSERT_EQUAL(come(&bitmap, 62, 64), 0);
	CU_ASSERT_EQUAL(come(&bitmap, 64, 126), 0);
	CU_ASSERT_EQUAL(come(&bitmap, 0, 64), 0);
	CU_ASSERT_EQUAL(come(&bitmap, 127, 128), 128);
	assert_taken(&bitmap, &taken, 64, 64);
	CU_ASSERT_EQUAL(taken.bits[0], ~(UINT64_C(1) << 62));

	/* 1024 and more behind is forgotten, and is not taken for what came after it. */
	CU_ASSERT_EQUAL(come(&bitmap, 128 + 2048, 128 + 2049), 128 + 2049);
	for (uint64_t pn = 0; pn <= 128 + 2048 - 1024; pn++)
		wh_arrived_bitmap_arrive(&bitmap, FIRST + pn);
	assert_taken(&bitmap, &taken, 128 + 2049 - 64, 64);
	CU_ASSERT_EQUAL(taken.bits[0], UINT64_C(1) << 63);
}

/* After which findings the next is due how much later. */
static void test_pace(void)
{
	static const struct {
		uint32_t n, stretch, stretch_max;
		enum wh_bitmap_finding findings[6];
		uint32_t due[6];
	} cases[] = {
		{100, 2, 4,
			{WH_BITMAP_CLEAN, WH_BITMAP_CLEAN, WH_BITMAP_CLEAN, WH_BITMAP_BEARABLE,
				WH_BITMAP_CONGESTED, WH_BITMAP_CONGESTED},
			{200, 400, 400, 100, 50, 50}},
		{100, 2, 4,
			{WH_BITMAP_CONGESTED, WH_BITMAP_CLEAN, WH_BITMAP_CLEAN, WH_BITMAP_CONGESTED,
				WH_BITMAP_BEARABLE, WH_BITMAP_CLEAN},
			{50, 100, 200, 50, 100, 200}},
		{100, 3, 5,
			{WH_BITMAP_CLEAN, WH_BITMAP_CLEAN, WH_BITMAP_CLEAN, WH_BITMAP_BEARABLE,
				WH_BITMAP_CLEAN, WH_BITMAP_BEARABLE},
			{300, 500, 500, 100, 300, 100}},
		{101, 1, 4,
			{WH_BITMAP_CLEAN, WH_BITMAP_CLEAN, WH_BITMAP_CONGESTED, WH_BITMAP_CLEAN,
				WH_BITMAP_BEARABLE, WH_BITMAP_CLEAN},
			{101, 101, 50, 50, 101, 101}},
		{101, 2, 1,
			{WH_BITMAP_CLEAN, WH_BITMAP_CLEAN, WH_BITMAP_CONGESTED, WH_BITMAP_CLEAN,
				WH_BITMAP_CLEAN, WH_BITMAP_BEARABLE},
			{101, 101, 50, 100, 101, 101}},
		{1, 2, 4,
			{WH_BITMAP_CONGESTED, WH_BITMAP_CONGESTED, WH_BITMAP_CLEAN, WH_BITMAP_CLEAN,
				WH_BITMAP_CLEAN, WH_BITMAP_BEARABLE},
			{1, 1, 2, 4, 4, 1}},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct wh_arrived_bitmap bitmap;
		struct wh_bitmap taken;
		uint64_t at = cases[i].n;

		wh_arrived_bitmap_init(
			&bitmap, FIRST, cases[i].n, cases[i].stretch, cases[i].stretch_max);
		CU_ASSERT_EQUAL(come(&bitmap, 0, at), at);
		for (uint32_t j = 0; j < 6; j++) {
			wh_arrived_bitmap_take(&bitmap, &taken);
			wh_arrived_bitmap_pace(&bitmap, cases[i].findings[j]);
			CU_ASSERT_EQUAL(
				come(&bitmap, at, at + cases[i].due[j]), at + cases[i].due[j]);
			at += cases[i].due[j];
		}
	}
}

/* Stretched to 400: a gap brings the bitmap forward to the next multiple of 100 that has it. */
static void test_gap_hurries(void)
{
	static const struct {
		uint32_t before, lost, due; /* packets since the last bitmap */
	} cases[] = {
		{0, 1, 100},
		{50, 1, 100},
		{98, 1, 100},
		{99, 1, 200},
		{100, 1, 200},
		{199, 1, 300},
		{250, 1, 300},
		{298, 1, 300},
		{299, 1, 400},
		{398, 1, 400},
		{50, 150, 300},
		{50, 49, 100},
		{50, 50, 200},
		{50, 500, 551},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct wh_arrived_bitmap bitmap;
		struct wh_bitmap taken;
		uint32_t after = cases[i].before + cases[i].lost;

		wh_arrived_bitmap_init(&bitmap, FIRST, 100, 4, 4);
		come(&bitmap, 0, 100);
		wh_arrived_bitmap_take(&bitmap, &taken);
		wh_arrived_bitmap_pace(&bitmap, WH_BITMAP_CLEAN);
		CU_ASSERT_EQUAL(come(&bitmap, 100, 100 + cases[i].before), 0);
		CU_ASSERT_EQUAL(come(&bitmap, 100 + after, 100 + 600), 100 + cases[i].due);
	}

	/* Every packet that was lost alone is in the bitmap that it made due. */
	struct wh_arrived_bitmap bitmap;
	struct wh_bitmap taken;

	wh_arrived_bitmap_init(&bitmap, FIRST, 100, 4, 4);
	come(&bitmap, 0, 100);
	wh_arrived_bitmap_take(&bitmap, &taken);
	wh_arrived_bitmap_pace(&bitmap, WH_BITMAP_CLEAN);
	come(&bitmap, 100, 301);
	CU_ASSERT_EQUAL(come(&bitmap, 302, 400), 400);
	assert_taken(&bitmap, &taken, 300, 100);
	CU_ASSERT_EQUAL(missing(&taken), 1);
	CU_ASSERT_FALSE(has(&taken, 301));
}

CU_TestInfo wh_tests[] = {
	{"every n packets", test_every_n},
	{"fewer than n", test_fewer_than_n},
	{"gaps", test_gaps},
	{"reordering", test_reordering},
	{"n / 2, and stretching", test_pace},
	{"a gap hurries", test_gap_hurries},
	CU_TEST_INFO_NULL,
};
