/* SPDX-License-Identifier: BSD-3-Clause */
#include "tcp_rig.h"

const char wh_suite_name[] = "sim_tcp_highspeed";

static struct rig rig;

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
	tcp->ssthresh = 2;
	tcp->cwnd = 8300000; /* beyond the table b stays 0.1 */
	WH_ASSERT_NEAR(tcp->ops->keep(tcp, 8300000, WH_SIM_CUT_BY_DUPLICATES), 7470000, 1e-12);
	tcp->cwnd = 30;
	tcp->ssthresh = 10;
	CU_ASSERT_EQUAL(tcp->ops->keep(tcp, 30, WH_SIM_CUT_BY_DUPLICATES), 15);
	rig_close(&rig);
}

CU_TestInfo wh_tests[] = {
	{"grows by a(w)", grows_by_a_of_w},
	{"keeps all but b(w)", keeps_all_but_b_of_w},
	CU_TEST_INFO_NULL,
};
