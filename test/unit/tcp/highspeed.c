/* SPDX-License-Identifier: BSD-3-Clause */
#include "tcp_rig.h"

const char wh_suite_name[] = "sim_tcp_highspeed";

static struct rig rig;

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

	rig_open(&rig, WH_SIM_TCP_HIGHSPEED);
	rig_connect(&rig);
	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		WH_ASSERT_NEAR(wh_sim_highspeed_increase(rig.tcp, rows[i].w), rows[i].a, 0.05);
		CU_ASSERT_DOUBLE_EQUAL(
			wh_sim_highspeed_decrease(rig.tcp, rows[i].w), rows[i].b, 0.006);
	}
	/* The ends of both lines, exactly: p(83000) = 1e-7, so a = 688.9 * 0.2 / 1.9. */
	CU_ASSERT_EQUAL(wh_sim_highspeed_increase(rig.tcp, 38), 1);
	WH_ASSERT_NEAR(wh_sim_highspeed_increase(rig.tcp, 38.0001), 1, 1e-5);
	WH_ASSERT_NEAR(wh_sim_highspeed_increase(rig.tcp, 83000), 688.9 * 0.2 / 1.9, 1e-9);
	WH_ASSERT_NEAR(wh_sim_highspeed_decrease(rig.tcp, 83000), 0.1, 1e-12);
	CU_ASSERT_EQUAL(wh_sim_highspeed_increase(rig.tcp, 2), 1);
	CU_ASSERT_EQUAL(wh_sim_highspeed_decrease(rig.tcp, 2), 0.5);
	rig_close(&rig);
}

/* Beyond the upper window b stays, and a = w^2 p 2b / (2 - b) goes on: by 100^0.7972 at 100 w. */
static void goes_on_beyond_the_upper_window(void)
{
	rig_open(&rig, WH_SIM_TCP_HIGHSPEED);
	rig_connect(&rig);
	CU_ASSERT_EQUAL(wh_sim_highspeed_decrease(rig.tcp, 83001), 0.1);
	CU_ASSERT_EQUAL(wh_sim_highspeed_decrease(rig.tcp, 8300000), 0.1);
	/* The slope of log p is log(1e-7 / (1.5 / 38^2)) / log(83000 / 38) = -1.2028. */
	WH_ASSERT_NEAR(wh_sim_highspeed_increase(rig.tcp, 8300000), 72.5157895 * 39.29956, 1e-6);
	rig.tcp->cwnd = 8300000;
	rig.tcp->ssthresh = 2;
	rig.tcp->cut = WH_SIM_CUT_REPAIRED;
	WH_ASSERT_NEAR(
		rig.tcp->ops->keep(rig.tcp, 8300000, WH_SIM_CUT_BY_DUPLICATES), 7470000, 1e-12);
	rig_close(&rig);
}

static void grows_by_a_of_w(void)
{
	rig_open(&rig, WH_SIM_TCP_HIGHSPEED);
	rig.config.initial_ssthresh_pkts = 2;
	rig_start(&rig);
	rig.tcp->cwnd = 20;
	rig.tcp->ops->grow(rig.tcp, 0);
	WH_ASSERT_NEAR(rig.tcp->cwnd, 20.05, 1e-12);
	rig.tcp->cwnd = 83000;
	rig.tcp->ops->grow(rig.tcp, 0);
	WH_ASSERT_NEAR(rig.tcp->cwnd - 83000, 72.5157895 / 83000, 1e-6);
	rig.tcp->cwnd = 1;
	rig.tcp->ops->grow(rig.tcp, 0);
	CU_ASSERT_EQUAL(rig.tcp->cwnd, 2);
	rig_close(&rig);
}

/* Half after slow start and after a timeout, else 1 - b(w). */
static void keeps_all_but_b_of_w(void)
{
	rig_open(&rig, WH_SIM_TCP_HIGHSPEED);
	rig_start(&rig);

	struct wh_sim_tcp *tcp = rig.tcp;

	tcp->cwnd = 1000;
	tcp->ssthresh = 500;
	CU_ASSERT_EQUAL(tcp->ops->keep(tcp, 1000, WH_SIM_CUT_BY_DUPLICATES), 500);
	tcp->cut = WH_SIM_CUT_REPAIRED;
	WH_ASSERT_NEAR(tcp->ops->keep(tcp, 1000, WH_SIM_CUT_BY_DUPLICATES), 670.1, 1e-3);
	CU_ASSERT_EQUAL(tcp->ops->keep(tcp, 1000, WH_SIM_CUT_BY_TIMEOUT), 500);
	tcp->ssthresh = 2000;
	CU_ASSERT_EQUAL(tcp->ops->keep(tcp, 1000, WH_SIM_CUT_BY_DUPLICATES), 500);
	tcp->cwnd = 30;
	tcp->ssthresh = 10;
	CU_ASSERT_EQUAL(tcp->ops->keep(tcp, 30, WH_SIM_CUT_BY_DUPLICATES), 15);
	rig_close(&rig);
}

CU_TestInfo wh_tests[] = {
	{"agrees with the table", agrees_with_the_table},
	{"goes on beyond the upper window", goes_on_beyond_the_upper_window},
	{"grows by a(w)", grows_by_a_of_w},
	{"keeps all but b(w)", keeps_all_but_b_of_w},
	CU_TEST_INFO_NULL,
};
