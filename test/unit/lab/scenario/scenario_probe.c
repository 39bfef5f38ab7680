/* SPDX-License-Identifier: BSD-3-Clause */

/* A probe as a flow: what it finds is what its links are, and what is beside it on them shows. */

#include "lab/scenario/scenario.h"
#include "unit.h"

#define MS        (WH_PS_PER_S / 1000)
#define QUEUE_MAX 100

const char wh_suite_name[] = "sim_probe";

/* 1 Gb/s into a switch of a hundred packets, and 400 Mb/s out of it; 20 ms there and back. */
static const struct wh_sim_link_config switched[] = {
	{.from = 0, .to = 1, .rate_bps = 1000000000, .queue.limit_pkts = 20000},
	{.from = 1, .to = 0, .rate_bps = 1000000000, .queue.limit_pkts = 20000},
	{.from = 1,
		.to = 2,
		.rate_bps = 400000000,
		.delay_ps = 10 * MS,
		.queue.limit_pkts = QUEUE_MAX},
	{.from = 2,
		.to = 1,
		.rate_bps = 400000000,
		.delay_ps = 10 * MS,
		.queue.limit_pkts = QUEUE_MAX},
};

static const uint64_t marks_ps[] = {0, 5 * WH_PS_PER_S};

static struct wh_scenario_group probe_group(void)
{
	return (struct wh_scenario_group){
		.name = "way",
		.agent = WH_SCENARIO_PROBE,
		.from = 0,
		.to = 2,
		.count = 1,
		.stop_ps = WH_SIM_NEVER_PS,
		.size_bytes = WH_OBJECT_BYTES_UNKNOWN,
		.packet_bytes = 1500,
		.payload_bytes = 1500,
		.probe = {.mtu_bytes = 1500, .line_bps = 1000000000, .train_pkts = 4096},
	};
}

static struct wh_scenario_run *run_all(
	struct wh_scenario *scenario, const struct wh_scenario_group *groups, uint32_t n_groups)
{
	*scenario = (struct wh_scenario){
		.n_nodes = 3,
		.links = switched,
		.n_links = 4,
		.groups = groups,
		.n_groups = n_groups,
		.duration_ps = 5 * WH_PS_PER_S,
		.marks_ps = marks_ps,
		.n_marks = 2,
	};

	struct wh_scenario_run *run = wh_scenario_run_create(scenario, 1);

	wh_scenario_run_until(run, scenario->duration_ps);
	return run;
}

static void alone(void)
{
	struct wh_scenario_group group = probe_group();
	struct wh_scenario scenario;
	struct wh_scenario_run *run = run_all(&scenario, &group, 1);
	const struct wh_findings *found = wh_scenario_run_findings(run, 0);

	CU_ASSERT(wh_scenario_run_stats(run, 0)->finished_ps < 5 * WH_PS_PER_S);
	CU_ASSERT_EQUAL(found->mtu_bytes, 1500);
	CU_ASSERT_EQUAL(found->wire_bytes, 1500);
	WH_ASSERT_NEAR(found->trains_bps, 4e8, 0.001);
	WH_ASSERT_NEAR(found->pairs_bps, 4e8, 0.001);
	WH_ASSERT_NEAR(found->memory_bytes, 1500 * QUEUE_MAX, 0.03);
	CU_ASSERT_EQUAL(found->burst_end, WH_BURST_OVERFLOW);
	CU_ASSERT(found->burst_verified);
	/* Nobody else drops packets of its trains: the queue before the slow line does. */
	CU_ASSERT(wh_sim_link_stats(wh_scenario_run_sim(run), 2)->overflow_pkts > 0);
	CU_ASSERT_EQUAL(wh_sim_link_stats(wh_scenario_run_sim(run), 0)->overflow_pkts, 0);
	wh_scenario_run_destroy(run);
}

/* A steady 100 Mb/s of another takes its share of the line, and of what passes in a burst. */
static void beside_another(void)
{
	struct wh_scenario_group groups[2] = {probe_group(), probe_group()};
	struct wh_scenario scenario;

	groups[1].name = "other";
	groups[1].agent = WH_SCENARIO_SOURCE;
	groups[1].source = (struct wh_sim_traffic_config){
		.kind = WH_SIM_CBR, .packet_bytes = 1500, .rate_bps = 100000000};

	struct wh_scenario_run *run = run_all(&scenario, groups, 2);
	const struct wh_findings *found = wh_scenario_run_findings(run, 0);

	CU_ASSERT(wh_scenario_run_stats(run, 0)->finished_ps < 5 * WH_PS_PER_S);
	/* In the queue each has what it sends: 1000 of 1100 parts of 400 Mb/s. */
	WH_ASSERT_NEAR(found->trains_bps, 4e8 * 10 / 11, 0.05);
	CU_ASSERT_EQUAL(found->burst_end, WH_BURST_OVERFLOW);
	wh_scenario_run_destroy(run);
}

/* It is stopped in the middle, and can be freed. */
static void stopped(void)
{
	struct wh_scenario_group group = probe_group();
	struct wh_scenario scenario;

	group.stop_ps = 300 * MS;

	struct wh_scenario_run *run = run_all(&scenario, &group, 1);

	CU_ASSERT_EQUAL(wh_scenario_run_stats(run, 0)->finished_ps, WH_SIM_NEVER_PS);
	CU_ASSERT_EQUAL(wh_scenario_run_findings(run, 0)->echoes_got, 100);
	CU_ASSERT_EQUAL(wh_scenario_run_findings(run, 0)->steady_sent, 0);
	wh_scenario_run_destroy(run);
}

CU_TestInfo wh_tests[] = {
	{"alone", alone},
	{"beside another", beside_another},
	{"stopped", stopped},
	CU_TEST_INFO_NULL,
};
