/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/highspeed.h"

#include "unit.h"

const char wh_suite_name[] = "highspeed";

static const struct wh_highspeed_config rfc = {38, 83000, 1e-7, 0.1};

/*
 * RFC 3649, Table 12: where a(w) reaches each whole number. Its a(w) begins with
 * 0.96, at p = 1e-3, and ours with 1, so that it is a little above in the lower rows.
 */
static void agrees_with_the_table(void)
{
	static const struct {
		double w, a, b;
	} rows[] = {{38, 1, 0.50}, {118, 2, 0.44}, {221, 3, 0.41}, {347, 4, 0.38}, {495, 5, 0.37},
		{851, 7, 0.34}, {1058, 8, 0.33}, {2378, 13, 0.29}, {5036, 20, 0.25},
		{10661, 30, 0.21}, {18955, 40, 0.18}, {30975, 50, 0.15}, {48961, 60, 0.13},
		{84035, 71, 0.10}};
	struct wh_highspeed it;

	wh_highspeed_init(&it, &rfc);
	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		WH_ASSERT_NEAR(wh_highspeed_increase(&it, rows[i].w), rows[i].a, 0.05);
		CU_ASSERT_DOUBLE_EQUAL(wh_highspeed_decrease(&it, rows[i].w), rows[i].b, 0.006);
	}
	/* The ends of both lines, exactly: p(83000) = 1e-7, so a = 688.9 * 0.2 / 1.9. */
	CU_ASSERT_EQUAL(wh_highspeed_increase(&it, 38), 1);
	WH_ASSERT_NEAR(wh_highspeed_increase(&it, 38.0001), 1, 1e-5);
	WH_ASSERT_NEAR(wh_highspeed_increase(&it, 83000), 688.9 * 0.2 / 1.9, 1e-9);
	WH_ASSERT_NEAR(wh_highspeed_decrease(&it, 83000), 0.1, 1e-12);
	CU_ASSERT_EQUAL(wh_highspeed_increase(&it, 2), 1);
	CU_ASSERT_EQUAL(wh_highspeed_decrease(&it, 2), 0.5);
}

/* Beyond the upper window b stays, and a = w^2 p 2b / (2 - b) goes on: by 100^0.7972 at 100 w. */
static void goes_on_beyond_the_upper_window(void)
{
	struct wh_highspeed it;

	wh_highspeed_init(&it, &rfc);
	CU_ASSERT_EQUAL(wh_highspeed_decrease(&it, 83001), 0.1);
	CU_ASSERT_EQUAL(wh_highspeed_decrease(&it, 8300000), 0.1);
	/* The slope of log p is log(1e-7 / (1.5 / 38^2)) / log(83000 / 38) = -1.2028. */
	WH_ASSERT_NEAR(wh_highspeed_increase(&it, 8300000), 72.5157895 * 39.29956, 1e-6);
}

CU_TestInfo wh_tests[] = {
	{"agrees with the table", agrees_with_the_table},
	{"goes on beyond the upper window", goes_on_beyond_the_upper_window},
	CU_TEST_INFO_NULL,
};
