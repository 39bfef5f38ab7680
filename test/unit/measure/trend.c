/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure/trend.h"

#include "unit.h"

const char wh_suite_name[] = "trend";

/* 15 steps: `ups` of +up, `downs` of -down in turn as long as there are both, the rest level. */
static void fill(struct wh_trend *trend, int64_t base, int ups, int64_t up, int downs, int64_t down)
{
	uint64_t delay = (uint64_t)base;

	wh_trend_add(trend, base);
	for (int i = 0; i < 15; i++) {
		if (ups > 0 && (ups >= downs || i % 2 == 0)) {
			delay += (uint64_t)up;
			ups--;
		} else if (downs > 0) {
			delay -= (uint64_t)down;
			downs--;
		}
		wh_trend_add(trend, (int64_t)delay);
	}
}

static void test_verdicts(void)
{
	static const struct {
		int ups, up, downs, down;
		double pct, pdt;
		bool increasing;
	} cases[] = {
		{15, 1, 0, 0, 1.0, 1.0, true},
		{0, 0, 15, 1, 0.0, -1.0, false},
		{0, 0, 0, 0, 0.0, 0.0, false}, /* level: no movement to divide by */
		/* PCT 10/15: sure; PDT 625 / 1375 = 0.4545 leans, 620 / 1380 = 0.449 not */
		{10, 100, 5, 75, 0.6667, 0.4545, true},
		{10, 100, 5, 76, 0.6667, 0.4493, false},
		/* PCT 9/15 leans; PDT 642 / 1158 = 0.5544 is sure, 636 / 1164 = 0.5464 is not */
		{9, 100, 6, 43, 0.6, 0.5544, true},
		{9, 100, 6, 44, 0.6, 0.5464, false},
		/* PCT 8/15 does not even lean, however sure PDT is */
		{8, 100, 0, 0, 0.5333, 1.0, false},
		{9, 100, 0, 0, 0.6, 1.0, true},
		/* Many small steps up and one great step down: (14 - 20) / 34 */
		{14, 1, 1, 20, 0.9333, -0.1765, false},
	};
	static const int64_t bases[] = {0, -5000000, INT64_MAX - 3, INT64_MIN + 3};

	for (unsigned int b = 0; b < sizeof(bases) / sizeof(bases[0]); b++) {
		for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
			struct wh_trend trend;

			wh_trend_init(&trend);
			fill(&trend, bases[b], cases[i].ups, cases[i].up, cases[i].downs,
				cases[i].down);
			WH_ASSERT_NEAR(wh_trend_pct(&trend), cases[i].pct, 1e-3);
			WH_ASSERT_NEAR(wh_trend_pdt(&trend), cases[i].pdt, 1e-3);
			CU_ASSERT_EQUAL(wh_trend_increasing(&trend), cases[i].increasing);
		}
	}
}

static void test_needs_full_window(void)
{
	struct wh_trend trend;

	wh_trend_init(&trend);
	for (int i = 0; i < 15; i++) {
		wh_trend_add(&trend, i);
		CU_ASSERT_EQUAL(wh_trend_pct(&trend), 0.0);
		CU_ASSERT_EQUAL(wh_trend_pdt(&trend), 0.0);
		CU_ASSERT_FALSE(wh_trend_increasing(&trend));
	}
	wh_trend_add(&trend, 15);
	CU_ASSERT_TRUE(wh_trend_increasing(&trend));
}

/* What is older than 16 delays does not count, and the oldest is no neighbour of the newest. */
static void test_window_slides(void)
{
	struct wh_trend trend;

	for (int before = 0; before < 20; before++) {
		wh_trend_init(&trend);
		for (int i = 0; i < before; i++)
			wh_trend_add(&trend, 1000000 - i);
		fill(&trend, 50, 15, 7, 0, 0);
		CU_ASSERT_EQUAL(wh_trend_pct(&trend), 1.0);
		CU_ASSERT_EQUAL(wh_trend_pdt(&trend), 1.0);
	}
	wh_trend_add(&trend, 0); /* 14 up by 7 from 57 to 155, then down to 0 */
	WH_ASSERT_NEAR(wh_trend_pct(&trend), 14.0 / 15.0, 1e-12);
	WH_ASSERT_NEAR(wh_trend_pdt(&trend), -57.0 / 253.0, 1e-12);
}

CU_TestInfo wh_tests[] = {
	{"both tests and the verdict, both sides of each threshold", test_verdicts},
	{"needs a full window", test_needs_full_window},
	{"the window slides", test_window_slides},
	CU_TEST_INFO_NULL,
};
