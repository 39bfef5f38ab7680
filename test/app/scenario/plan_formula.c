/* SPDX-License-Identifier: BSD-3-Clause */

/* Published values, and limits where one formula goes over into another. */

#include "scenario/plan_row.h"

#include <math.h>

#include "unit.h"

const char wh_suite_name[] = "plan_formula";

static double window(enum wh_sim_tcp_variety variety, double loss, double rtt_s)
{
	return wh_formula_tcp(variety, loss, rtt_s).window_pkts;
}

/* sqrt(1.5 / p): 12.2 at 1 %, 387 at 1e-5. Timeouts take from Padhye's, the more loss there is. */
static void test_reno(void)
{
	WH_ASSERT_NEAR(window(WH_SIM_TCP_SACK, 0.01, 0.1), 12.2474487, 1e-6);
	WH_ASSERT_NEAR(window(WH_SIM_TCP_SACK, 1e-5, 0.1), 387.298335, 1e-6);
	WH_ASSERT_NEAR(window(WH_SIM_TCP_VEGAS, 0.035, 0.1), 10.0, 1e-9);
	/* 0.1 / (0.1 sqrt(0.02/3) + 0.2 * 3 sqrt(0.00375) * 0.01 * 1.0032) */
	WH_ASSERT_NEAR(window(WH_SIM_TCP_RENO, 0.01, 0.1), 11.7184, 1e-4);
	/* A round trip of 10 ms: the 200 ms of a timeout are twenty of them. */
	WH_ASSERT_NEAR(window(WH_SIM_TCP_NEWRENO, 0.01, 0.01), 8.4381, 1e-4);
	WH_ASSERT_NEAR(window(WH_SIM_TCP_RENO, 1e-9, 0.1), 38729.8335, 1e-4);
	CU_ASSERT_EQUAL(window(WH_SIM_TCP_BBR, 0.01, 0.1), HUGE_VAL);
}

/* RFC 3649, table 2: from 10^-3 on 38, 263, 1795, 12279, 83981. */
static void test_highspeed(void)
{
	static const double windows[] = {38.0, 263.0, 1795.0, 12279.0, 83981.0};
	double loss = 1e-3;

	WH_ASSERT_NEAR(window(WH_SIM_TCP_HIGHSPEED, 0.01, 0.1), 12.2474487, 1e-6);
	for (int i = 0; i < 5; i++, loss /= 10.0)
		WH_ASSERT_NEAR(window(WH_SIM_TCP_HIGHSPEED, loss, 0.1), windows[i], 0.02);
}

/* RFC 9438, table 1 (RTT 100 ms, C = 0.4): 12 at 1e-2, 39 at 1e-3, 187 at 1e-4, ... */
static void test_cubic(void)
{
	WH_ASSERT_NEAR(window(WH_SIM_TCP_CUBIC, 1e-2, 0.1), 12.0, 0.03);
	WH_ASSERT_NEAR(window(WH_SIM_TCP_CUBIC, 1e-3, 0.1), 39.0, 0.03);
	WH_ASSERT_NEAR(window(WH_SIM_TCP_CUBIC, 1e-4, 0.1), 187.0, 0.01);
	WH_ASSERT_NEAR(window(WH_SIM_TCP_CUBIC, 1e-5, 0.1), 1054.0, 0.01);
	WH_ASSERT_NEAR(window(WH_SIM_TCP_CUBIC, 1e-6, 0.1), 5926.0, 0.01);
	WH_ASSERT_NEAR(window(WH_SIM_TCP_CUBIC, 1e-8, 0.1), 187400.0, 0.01);
	/* Table 2, 10 ms: Reno's 387 at 1e-5, then its own. */
	WH_ASSERT_NEAR(window(WH_SIM_TCP_CUBIC, 1e-5, 0.01), 387.0, 0.01);
	WH_ASSERT_NEAR(window(WH_SIM_TCP_CUBIC, 1e-7, 0.01), 5926.0, 0.01);
}

static void test_sources(void)
{
	CU_ASSERT_STRING_EQUAL(wh_formula_tcp(WH_SIM_TCP_HIGHSPEED, 1e-5, 0.1).source, "RFC 3649");
	CU_ASSERT_STRING_EQUAL(wh_formula_tcp(WH_SIM_TCP_CUBIC, 1e-5, 0.1).source, "RFC 9438");
	CU_ASSERT_STRING_EQUAL(
		wh_formula_tcp(WH_SIM_TCP_SACK, 1e-5, 0.1).source, "Mathis et al. 1997");
}

CU_TestInfo wh_tests[] = {
	{"Reno, SACK, Vegas", test_reno},
	{"HighSpeed", test_highspeed},
	{"CUBIC", test_cubic},
	{"each names its source", test_sources},
	CU_TEST_INFO_NULL,
};
