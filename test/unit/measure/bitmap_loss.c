/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure/bitmap_loss.h"

#include "unit.h"

const char wh_suite_name[] = "bitmap_loss";

#define FIRST (UINT64_C(1) << 40)
#define WORDS 16

/* Bits of `pkts` packets, as the ranges say that are lost: {from, end}, closed by {0, 0}. */
struct lost {
	uint32_t from, end;
};

static void make_bits(uint32_t pkts, const struct lost *lost, uint64_t *bits)
{
	for (uint32_t i = 0; i < WORDS; i++)
		bits[i] = 0;
	for (uint32_t i = 0; i < pkts; i++)
		bits[i / 64] |= UINT64_C(1) << i % 64;
	for (; lost->end > 0; lost++)
		for (uint32_t i = lost->from; i < lost->end; i++)
			bits[i / 64] &= ~(UINT64_C(1) << i % 64);
}

static enum wh_bitmap_finding add(
	struct wh_bitmap_loss *loss, uint64_t first, uint32_t pkts, const struct lost *lost)
{
	uint64_t bits[WORDS];

	make_bits(pkts, lost, bits);
	return wh_bitmap_loss_add(loss, FIRST + first, pkts, bits);
}

/* A first bitmap of 100 packets, against what is projected: missing / received > projected. */
static void test_first_bitmap(void)
{
	static const struct {
		double projected;
		uint32_t q_pkts;
		struct lost lost[8];
		enum wh_bitmap_finding finding;
		uint32_t lost_pkts, events;
	} cases[] = {
		{0.5, 3, {{0, 0}}, WH_BITMAP_CLEAN, 0, 0},
		{0.0, 3, {{0, 0}}, WH_BITMAP_CLEAN, 0, 0},
		{0.5, 3, {{7, 8}}, WH_BITMAP_BEARABLE, 1, 1},
		{0.0, 3, {{7, 8}}, WH_BITMAP_CONGESTED, 1, 1},
		{0.5, 3, {{0, 1}}, WH_BITMAP_BEARABLE, 1, 1},
		{0.5, 3, {{99, 100}}, WH_BITMAP_BEARABLE, 1, 1},
		/* q: two in a row, then three, at a border of words and at both ends. */
		{0.5, 3, {{63, 65}}, WH_BITMAP_BEARABLE, 2, 1},
		{0.5, 3, {{62, 65}}, WH_BITMAP_CONGESTED, 3, 1},
		{0.5, 3, {{0, 3}}, WH_BITMAP_CONGESTED, 3, 1},
		{0.5, 3, {{97, 100}}, WH_BITMAP_CONGESTED, 3, 1},
		{0.5, 3, {{10, 12}, {13, 15}, {16, 18}}, WH_BITMAP_BEARABLE, 6, 3},
		{0.5, 1, {{10, 11}}, WH_BITMAP_CONGESTED, 1, 1},
		{0.5, 4, {{10, 13}}, WH_BITMAP_BEARABLE, 3, 1},
		/* 33 / 67 = 0.4925, 34 / 66 = 0.515; 20 / 80 is a quarter and not above it. */
		{0.5, 100, {{0, 33}}, WH_BITMAP_BEARABLE, 33, 1},
		{0.5, 100, {{0, 34}}, WH_BITMAP_CONGESTED, 34, 1},
		{0.25, 100, {{0, 20}}, WH_BITMAP_BEARABLE, 20, 1},
		{0.25, 100, {{0, 21}}, WH_BITMAP_CONGESTED, 21, 1},
		/* None received: above any rate. */
		{1.0, 101, {{0, 100}}, WH_BITMAP_CONGESTED, 100, 1},
		{1.0, 101, {{1, 100}}, WH_BITMAP_CONGESTED, 99, 1},
		{1.0, 101, {{0, 50}}, WH_BITMAP_BEARABLE, 50, 1},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct wh_bitmap_loss loss;

		wh_bitmap_loss_init(&loss, FIRST, cases[i].q_pkts, cases[i].projected);
		CU_ASSERT_EQUAL(wh_bitmap_loss_pkts(&loss), 0);
		CU_ASSERT_EQUAL(wh_bitmap_loss_link(&loss), cases[i].projected);
		CU_ASSERT_EQUAL(add(&loss, 0, 100, cases[i].lost), cases[i].finding);
		CU_ASSERT_EQUAL(loss.lost_pkts, cases[i].lost_pkts);
		CU_ASSERT_EQUAL(loss.loss_events, cases[i].events);
		CU_ASSERT_EQUAL(wh_bitmap_loss_pkts(&loss), 100);
		CU_ASSERT_EQUAL(wh_bitmap_loss_link(&loss), cases[i].lost_pkts / 100.0);
	}
}

/*
 * The link's rate is the one before the bitmap. 2 of 100 lost: 1 / 49 = 0.0204 of the next 50 is
 * above 0.02 and would be with the bitmap counted (3 / 150), too; 1 / 99 is not. After these, 4 of
 * 250 = 0.016: 4 / 246 = 0.01626 of 250 is above it, and would be above (4 + 4) / 500, too.
 */
static void test_link_before(void)
{
	struct wh_bitmap_loss loss;

	wh_bitmap_loss_init(&loss, FIRST, 3, 0.5);
	CU_ASSERT_EQUAL(
		add(&loss, 0, 100, (struct lost[]){{3, 4}, {9, 10}, {0, 0}}), WH_BITMAP_BEARABLE);
	CU_ASSERT_EQUAL(add(&loss, 100, 50, (struct lost[]){{3, 4}, {0, 0}}), WH_BITMAP_CONGESTED);
	CU_ASSERT_EQUAL(add(&loss, 150, 100, (struct lost[]){{3, 4}, {0, 0}}), WH_BITMAP_BEARABLE);
	WH_ASSERT_NEAR(wh_bitmap_loss_link(&loss), 0.016, 1e-15);
	CU_ASSERT_EQUAL(
		add(&loss, 250, 250, (struct lost[]){{1, 2}, {3, 4}, {5, 6}, {7, 8}, {0, 0}}),
		WH_BITMAP_CONGESTED);

	/* A perceived rate that only the bitmap's own losses would keep below the link's. */
	wh_bitmap_loss_init(&loss, FIRST, 300, 0.5);
	CU_ASSERT_EQUAL(add(&loss, 0, 100, (struct lost[]){{0, 0}}), WH_BITMAP_CLEAN);
	CU_ASSERT_EQUAL(add(&loss, 100, 1, (struct lost[]){{0, 0}}), WH_BITMAP_CLEAN);
	CU_ASSERT_EQUAL(wh_bitmap_loss_link(&loss), 0.0);
	CU_ASSERT_EQUAL(
		add(&loss, 101, 1000, (struct lost[]){{5, 6}, {0, 0}}), WH_BITMAP_CONGESTED);
}

/* Bitmaps of 100 every 50: what was told before is neither counted nor judged again as a run. */
static void test_overlap(void)
{
	struct wh_bitmap_loss loss;

	wh_bitmap_loss_init(&loss, FIRST, 3, 0.5);
	CU_ASSERT_EQUAL(add(&loss, 0, 100, (struct lost[]){{60, 63}, {99, 100}, {0, 0}}),
		WH_BITMAP_CONGESTED);
	CU_ASSERT_EQUAL(loss.lost_pkts, 4);
	CU_ASSERT_EQUAL(loss.loss_events, 2);

	/* The same three, and 99: 4 / 96 is above 4 / 100. With a higher link's rate it is not. */
	CU_ASSERT_EQUAL(add(&loss, 50, 100, (struct lost[]){{10, 13}, {49, 50}, {0, 0}}),
		WH_BITMAP_CONGESTED);
	CU_ASSERT_EQUAL(loss.lost_pkts, 4);
	CU_ASSERT_EQUAL(wh_bitmap_loss_pkts(&loss), 150);

	wh_bitmap_loss_init(&loss, FIRST, 3, 0.5);
	add(&loss, 0, 100, (struct lost[]){{0, 40}, {60, 63}, {99, 100}, {0, 0}});
	CU_ASSERT_EQUAL(loss.lost_pkts, 44);
	CU_ASSERT_EQUAL(add(&loss, 50, 100, (struct lost[]){{10, 13}, {49, 50}, {0, 0}}),
		WH_BITMAP_BEARABLE);
	CU_ASSERT_EQUAL(loss.lost_pkts, 44);
	CU_ASSERT_EQUAL(loss.loss_events, 3);

	/* One told and two new in a row are three, and one event. */
	wh_bitmap_loss_init(&loss, FIRST, 3, 0.5);
	add(&loss, 0, 100, (struct lost[]){{0, 2}, {10, 12}, {20, 22}, {99, 100}, {0, 0}});
	CU_ASSERT_EQUAL(loss.loss_events, 4);
	CU_ASSERT_EQUAL(
		add(&loss, 50, 100, (struct lost[]){{49, 52}, {0, 0}}), WH_BITMAP_CONGESTED);
	CU_ASSERT_EQUAL(loss.lost_pkts, 9);
	CU_ASSERT_EQUAL(loss.loss_events, 4);
}

/* Bitmaps further apart than they are long: what is between was sent and not lost. */
static void test_apart(void)
{
	struct wh_bitmap_loss loss;

	wh_bitmap_loss_init(&loss, FIRST, 3, 0.5);
	CU_ASSERT_EQUAL(add(&loss, 0, 64, (struct lost[]){{63, 64}, {0, 0}}), WH_BITMAP_BEARABLE);
	CU_ASSERT_EQUAL(add(&loss, 936, 64, (struct lost[]){{0, 2}, {0, 0}}), WH_BITMAP_CONGESTED);
	CU_ASSERT_EQUAL(wh_bitmap_loss_pkts(&loss), 1000);
	CU_ASSERT_EQUAL(loss.lost_pkts, 3);
	CU_ASSERT_EQUAL(loss.loss_events, 2);
	WH_ASSERT_NEAR(wh_bitmap_loss_link(&loss), 0.003, 1e-15);

	/* Where one begins at the end of the other, a run may go over the border. */
	wh_bitmap_loss_init(&loss, FIRST, 3, 0.5);
	add(&loss, 0, 64, (struct lost[]){{63, 64}, {0, 0}});
	add(&loss, 64, 1, (struct lost[]){{0, 1}, {0, 0}});
	CU_ASSERT_EQUAL(loss.lost_pkts, 2);
	CU_ASSERT_EQUAL(loss.loss_events, 1);
}

CU_TestInfo wh_tests[] = {
	{"the first bitmap", test_first_bitmap},
	{"against the link before", test_link_before},
	{"bitmaps that overlap", test_overlap},
	{"bitmaps apart", test_apart},
	CU_TEST_INFO_NULL,
};
