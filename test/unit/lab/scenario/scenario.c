/* SPDX-License-Identifier: BSD-3-Clause */

#include "lab/scenario/scenario.h"

#include "unit.h"

#define MS (WH_PS_PER_S / 1000)

const char wh_suite_name[] = "sim_scenario";

/* A - B - C at 10 Mb/s and 8 Mb/s, 10 and 20 ms; D hangs on C by one direction alone. */
static const struct wh_sim_link_config chain[] = {
	{.from = 0, .to = 1, .rate_bps = 10000000, .delay_ps = 10 * MS, .queue.limit_pkts = 50},
	{.from = 1, .to = 0, .rate_bps = 10000000, .delay_ps = 10 * MS, .queue.limit_pkts = 50},
	{.from = 1, .to = 2, .rate_bps = 8000000, .delay_ps = 20 * MS, .queue.limit_pkts = 30},
	{.from = 2, .to = 1, .rate_bps = 8000000, .delay_ps = 20 * MS, .queue.limit_pkts = 30},
	{.from = 2, .to = 3, .rate_bps = 8000000, .delay_ps = 20 * MS, .queue.limit_pkts = 30},
	/* Longer than the two others together. */
	{.from = 0, .to = 2, .rate_bps = 1000000, .delay_ps = 31 * MS, .queue.limit_pkts = 1},
};

static const uint64_t marks_ps[] = {0, WH_PS_PER_S, 2 * WH_PS_PER_S, 4 * WH_PS_PER_S};

static struct wh_scenario scenario_of(const struct wh_scenario_group *groups, uint32_t n_groups)
{
	return (struct wh_scenario){
		.n_nodes = 4,
		.links = chain,
		.n_links = sizeof(chain) / sizeof(chain[0]),
		.groups = groups,
		.n_groups = n_groups,
		.duration_ps = 4 * WH_PS_PER_S,
		.marks_ps = marks_ps,
		.n_marks = 4,
	};
}

static struct wh_scenario_group cbr_group(uint32_t count)
{
	return (struct wh_scenario_group){
		.name = "cbr",
		.agent = WH_SCENARIO_SOURCE,
		.from = 0,
		.to = 2,
		.count = count,
		.stop_ps = WH_SIM_NEVER_PS,
		.size_bytes = WH_OBJECT_BYTES_UNKNOWN,
		.packet_bytes = 1000,
		.payload_bytes = 1000,
		.source = {.kind = WH_SIM_CBR, .packet_bytes = 1000, .rate_bps = 1000000},
	};
}

static struct wh_scenario_group tcp_group(uint32_t count, uint64_t size_bytes)
{
	struct wh_scenario_group group = cbr_group(count);

	group.name = "tcp";
	group.size_bytes = size_bytes;
	group.packet_bytes = 1500;
	wh_scenario_group_tcp(&group, WH_SCENARIO_TCP, WH_SIM_TCP_SACK, 40);
	CU_ASSERT_EQUAL(group.payload_bytes, 1460);
	CU_ASSERT_EQUAL(group.tcp.segment_bytes, 1460);
	return group;
}

static void test_ways(void)
{
	struct wh_scenario_group groups[] = {cbr_group(1), cbr_group(1)};
	struct wh_scenario scenario = scenario_of(groups, 2);

	CU_ASSERT_EQUAL(wh_scenario_first_cut_off(&scenario), 2);
	/* 8 Mb/s for 60 ms are 60 packets of 1000 bytes, and 80 wait; twice that is 280. */
	CU_ASSERT_EQUAL(wh_scenario_window_pkts(&scenario, 0, 2, 1000, 0), 512);
	/* 10 Mb/s for 20 ms are 50 packets of 500 bytes, and 50 wait: 200; 12 ms make it 260. */
	CU_ASSERT_EQUAL(wh_scenario_window_pkts(&scenario, 0, 1, 500, 0), 256);
	CU_ASSERT_EQUAL(wh_scenario_window_pkts(&scenario, 0, 1, 500, 12000), 512);
	CU_ASSERT_EQUAL(
		wh_scenario_window_pkts(&scenario, 0, 1, 500, UINT32_MAX), WH_WINDOW_PACKETS_MAX);
	groups[1].to = 3;
	CU_ASSERT_EQUAL(wh_scenario_first_cut_off(&scenario), 1);
	CU_ASSERT_EQUAL(wh_scenario_window_pkts(&scenario, 0, 3, 1000, 0), 64);
}

/* A packet every 8 ms at first, every 4 ms in the second second, then none. */
static void test_steps(void)
{
	static const struct wh_scenario_step steps[] = {
		{.at_ps = WH_PS_PER_S, .rate_bps = 2000000},
		{.at_ps = 2 * WH_PS_PER_S, .rate_bps = 0},
	};
	struct wh_scenario_group group = cbr_group(1);
	struct wh_scenario scenario = scenario_of(&group, 1);

	group.steps = steps;
	group.n_steps = 2;

	struct wh_scenario_run *run = wh_scenario_run_create(&scenario, 1);

	wh_scenario_run_until(run, scenario.duration_ps);

	const struct wh_monitor *monitor = wh_scenario_run_monitor(run);

	CU_ASSERT_EQUAL(wh_monitor_flow_span(monitor, 0, 0, marks_ps[1]).sent_pkts, 125);
	CU_ASSERT_EQUAL(wh_monitor_flow_span(monitor, 0, marks_ps[1], marks_ps[2]).sent_pkts, 250);
	CU_ASSERT_EQUAL(wh_monitor_flow_span(monitor, 0, marks_ps[2], marks_ps[3]).sent_pkts, 0);
	CU_ASSERT_EQUAL(wh_monitor_flow_span(monitor, 0, 0, marks_ps[3]).goodput_bytes, 375000);
	CU_ASSERT_EQUAL(wh_scenario_run_stats(run, 0)->finished_ps, WH_SIM_NEVER_PS);
	wh_scenario_run_destroy(run);
}

static void test_starts(void)
{
	struct wh_scenario_group groups[] = {cbr_group(3), tcp_group(2, WH_OBJECT_BYTES_UNKNOWN)};
	struct wh_scenario scenario = scenario_of(groups, 2);

	groups[0].start_ps = 100 * MS;
	groups[0].stagger_ps = 500 * MS;
	groups[0].stop_ps = 1000 * MS;
	groups[1].spread_ps = 300 * MS;

	struct wh_scenario_run *run = wh_scenario_run_create(&scenario, 5);
	struct wh_scenario_run *again = wh_scenario_run_create(&scenario, 5);
	struct wh_scenario_run *other = wh_scenario_run_create(&scenario, 6);

	CU_ASSERT_EQUAL(wh_scenario_flows(&scenario), 5);
	for (uint32_t i = 0; i < 3; i++)
		CU_ASSERT_EQUAL(wh_scenario_run_start_ps(run, i), 100 * MS + i * 500 * MS);
	for (uint32_t i = 3; i < 5; i++) {
		CU_ASSERT(wh_scenario_run_start_ps(run, i) < 300 * MS);
		CU_ASSERT_EQUAL(
			wh_scenario_run_start_ps(run, i), wh_scenario_run_start_ps(again, i));
		CU_ASSERT_NOT_EQUAL(
			wh_scenario_run_start_ps(run, i), wh_scenario_run_start_ps(other, i));
	}
	CU_ASSERT_NOT_EQUAL(wh_scenario_run_start_ps(run, 3), wh_scenario_run_start_ps(run, 4));
	wh_scenario_run_until(run, scenario.duration_ps);

	/* From 100 ms and from 600 ms until 1000 ms, when one is due; the third is too late. */
	static const uint64_t sent_pkts[] = {113, 50, 0};

	for (uint32_t i = 0; i < 3; i++)
		CU_ASSERT_EQUAL(
			wh_monitor_flow_span(wh_scenario_run_monitor(run), i, 0, marks_ps[3])
				.sent_pkts,
			sent_pkts[i]);
	wh_scenario_run_destroy(run);
	wh_scenario_run_destroy(again);
	wh_scenario_run_destroy(other);
}

/* A whole number of segments, rounded up: 10001 bytes are 7 of 1460. */
static void test_sizes(void)
{
	struct wh_scenario_group groups[] = {tcp_group(1, 14600), tcp_group(1, 10001),
		tcp_group(1, WH_OBJECT_BYTES_UNKNOWN), tcp_group(1, 146000)};
	static const uint64_t goodput_bytes[] = {14600, 10220, 0, 146000};
	struct wh_scenario scenario = scenario_of(groups, 4);

	groups[2].start_ps = 5 * WH_PS_PER_S; /* after the end */
	groups[3].agent = WH_SCENARIO_PSOCK;
	groups[3].connections = 3;

	struct wh_scenario_run *run = wh_scenario_run_create(&scenario, 1);

	wh_scenario_run_until(run, scenario.duration_ps);
	for (uint32_t i = 0; i < 4; i++) {
		uint64_t end_ps = wh_scenario_run_stats(run, i)->finished_ps;

		CU_ASSERT_EQUAL(
			wh_monitor_flow_span(wh_scenario_run_monitor(run), i, 0, marks_ps[3])
				.goodput_bytes,
			goodput_bytes[i]);
		CU_ASSERT_EQUAL(end_ps == WH_SIM_NEVER_PS, i == 2);
	}
	wh_scenario_run_destroy(run);
}

/* With times of their own: from 0 to 1 s, from 1 s on, too late, and from the group's start on. */
static void test_members(void)
{
	static const struct wh_scenario_member members[] = {
		{0, WH_PS_PER_S, WH_OBJECT_BYTES_UNKNOWN},
		{WH_PS_PER_S, WH_SIM_NEVER_PS, WH_OBJECT_BYTES_UNKNOWN},
		{5 * WH_PS_PER_S, WH_SIM_NEVER_PS, WH_OBJECT_BYTES_UNKNOWN},
		{WH_SIM_NEVER_PS, WH_SIM_NEVER_PS, WH_OBJECT_BYTES_UNKNOWN},
	};
	/* One each 8 ms; none at 1 s of the one that stops then. */
	static const uint64_t sent_pkts[] = {125, 375, 0, 125};
	struct wh_scenario_group group = cbr_group(4);
	struct wh_scenario scenario = scenario_of(&group, 1);

	group.members = members;
	group.start_ps = 3 * WH_PS_PER_S;

	struct wh_scenario_run *run = wh_scenario_run_create(&scenario, 1);

	wh_scenario_run_until(run, scenario.duration_ps);
	for (uint32_t i = 0; i < 4; i++) {
		CU_ASSERT_EQUAL(wh_scenario_run_start_ps(run, i),
			i < 3 ? members[i].start_ps : group.start_ps);
		CU_ASSERT_EQUAL(
			wh_monitor_flow_span(wh_scenario_run_monitor(run), i, 0, marks_ps[3])
				.sent_pkts,
			sent_pkts[i]);
	}
	wh_scenario_run_destroy(run);
}

/* A sender of full packets by that profile. */
static struct wh_scenario_group engine_group(const char *profile, uint32_t window_pkts)
{
	struct wh_scenario_group group = cbr_group(1);

	group.agent = WH_SCENARIO_ENGINE;
	group.packet_bytes = 1500;
	group.payload_bytes = wh_sim_engine_payload_bytes(1500);
	wh_sim_engine_config_init(&group.engine, wh_profile_find(profile));
	group.engine.window_pkts = window_pkts;
	return group;
}

/* 5 Mb/s by a profile, 60 ms there and back, for the 1.9 s after its start: within 5 %. */
static void test_engine(void)
{
	struct wh_scenario_group group = engine_group("fixed", 256);
	struct wh_scenario scenario = scenario_of(&group, 1);

	group.start_ps = 100 * MS;
	group.engine.rate_bps = 5000000;
	scenario.interval_ps = WH_PS_PER_S;

	struct wh_scenario_run *run = wh_scenario_run_create(&scenario, 1);

	wh_scenario_run_until(run, scenario.duration_ps);

	const struct wh_monitor *monitor = wh_scenario_run_monitor(run);

	/* Two seconds of full packets. */
	WH_ASSERT_NEAR(wh_monitor_flow_span(monitor, 0, marks_ps[2], marks_ps[3]).sent_pkts,
		2.0 * 5e6 / 12000.0, 0.05);
	CU_ASSERT_EQUAL(wh_monitor_samples(monitor), 4);
	WH_ASSERT_NEAR(wh_monitor_look_sample(monitor, 0, 3)->rate_bps, 5e6, 0.05);
	CU_ASSERT_EQUAL(wh_monitor_look_sample(monitor, 0, 3)->window_pkts, 256.0);
	CU_ASSERT_PTR_NULL(wh_monitor_look_sample(monitor, 0, 3)->mode);
	CU_ASSERT_EQUAL(wh_monitor_look_sample(monitor, 0, 3)->sequence_pkts,
		wh_monitor_flow_span(monitor, 0, 0, marks_ps[3]).sent_pkts);
	wh_scenario_run_destroy(run);
}

/* Samples say which part of a controller decided. */
static void test_mode(void)
{
	struct wh_scenario_group group = engine_group("lambda", 4096);
	struct wh_scenario scenario = scenario_of(&group, 1);

	scenario.interval_ps = WH_PS_PER_S;

	struct wh_scenario_run *run = wh_scenario_run_create(&scenario, 1);

	wh_scenario_run_until(run, scenario.duration_ps);
	CU_ASSERT_STRING_EQUAL(
		wh_monitor_look_sample(wh_scenario_run_monitor(run), 0, 3)->mode, "hold");
	wh_scenario_run_destroy(run);
}

CU_TestInfo wh_tests[] = {
	{"ways, and what has none", test_ways},
	{"steps of a source's rate", test_steps},
	{"starts: staggered, by chance, stopped", test_starts},
	{"sizes in whole segments", test_sizes},
	{"flows with times of their own", test_members},
	{"a profile", test_engine},
	{"mode", test_mode},
	CU_TEST_INFO_NULL,
};
