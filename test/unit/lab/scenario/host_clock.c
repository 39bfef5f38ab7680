/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab/scenario/host_clock.h"

#include "unit.h"

const char wh_suite_name[] = "sim_host_clock";

#define S_PS WH_PS_PER_S
#define S_NS WH_NS_PER_S

/* Each hour a clock of 100 ppm gains 0.36 s. */
static void test_shown(void)
{
	static const struct {
		struct wh_host_clock_config config;
		uint64_t now_ps;
		uint64_t shown_ns; /* beyond the second at which all begin */
	} cases[] = {
		{{0.0, 0}, 0, 0},
		{{0.0, 0}, 1999, 1},
		{{0.0, 5 * S_PS}, 3 * S_PS, 8 * S_NS},
		{{100e-6, 0}, 0, 0},
		{{100e-6, 0}, 3600 * S_PS, 3600 * S_NS + 360000000},
		{{-100e-6, 0}, 3600 * S_PS, 3600 * S_NS - 360000000},
		{{-100e-6, S_PS}, 3600 * S_PS, 3601 * S_NS - 360000000},
		{{1e-3, 0}, 100000 * S_PS, 100100 * S_NS},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct wh_host_clock clock;

		wh_host_clock_init(&clock, &cases[i].config);
		CU_ASSERT_EQUAL(wh_host_clock_tsc(&clock, cases[i].now_ps),
			WH_HOST_CLOCK_START + cases[i].shown_ns);
	}
}

/* The alarm is at the first nanosecond that is not too soon, at any skew. */
static void test_when(void)
{
	static const double skews[] = {0.0, 1e-9, -1e-9, 100e-6, -100e-6, 1e-3, -1e-3};

	for (size_t i = 0; i < sizeof(skews) / sizeof(skews[0]); i++) {
		struct wh_host_clock_config config = {skews[i], 7 * S_PS};
		struct wh_host_clock clock;

		wh_host_clock_init(&clock, &config);
		CU_ASSERT_EQUAL(wh_host_clock_when_ps(&clock, 0), 0);
		CU_ASSERT_EQUAL(wh_host_clock_when_ps(&clock, 8 * S_NS), 0);
		CU_ASSERT_EQUAL(wh_host_clock_when_ps(&clock, UINT64_MAX), WH_SIM_NEVER_PS);
		for (uint64_t ns = 1; ns < 100000 * S_NS; ns += ns / 3 + 1) {
			uint64_t when_ps = wh_host_clock_when_ps(&clock, 8 * S_NS + ns);

			CU_ASSERT_EQUAL(when_ps % WH_PS_PER_NS, 0);
			CU_ASSERT_TRUE(wh_host_clock_tsc(&clock, when_ps) >= 8 * S_NS + ns);
			CU_ASSERT_TRUE(
				wh_host_clock_tsc(&clock, when_ps - WH_PS_PER_NS) < 8 * S_NS + ns);
		}
	}
}

CU_TestInfo wh_tests[] = {
	{"what it shows", test_shown},
	{"when it shows something", test_when},
	CU_TEST_INFO_NULL,
};
