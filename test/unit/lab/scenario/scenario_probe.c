/* SPDX-License-Identifier: BSD-3-Clause */

/* A probe as a flow: what it finds is what its links are, and what is beside it on them shows. */

#include "base/prng.h"
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

/* Two switches in a row, each with a line and a memory behind 1 Gb/s. */
struct pair {
	double bps[2];
	double pkts[2];
};

/* Of a burst at 1 Gb/s: how much arrives before each runs over, and which does first. */
static double burst_of(const struct pair *pair, uint32_t *first)
{
	double in_bps = 1e9;
	double least = INFINITY;

	for (uint32_t i = 0; i < 2; i++) {
		double lost = fmax(1 - pair->bps[i] / in_bps, 0);
		double burst = lost > 0 ? pair->pkts[i] / lost : INFINITY;

		if (burst < least) {
			least = burst;
			*first = i;
		}
		in_bps = fmin(in_bps, pair->bps[i]);
	}
	return least;
}

static void draw_pair(struct pair *pair, struct wh_prng *prng)
{
	for (uint32_t i = 0; i < 2; i++) {
		pair->bps[i] = 1e8 * (2 + 7.5 * wh_prng_unit(prng));
		pair->pkts[i] = floor(40 + 400 * wh_prng_unit(prng));
	}
}

/* What a run is of is kept for it. */
static struct wh_scenario_run *run_pair(const struct pair *pair, uint64_t cross_bps)
{
	static struct wh_sim_link_config links[6];
	static struct wh_scenario_group groups[2];
	static struct wh_scenario scenario;

	groups[0] = groups[1] = probe_group();
	scenario = (struct wh_scenario){.n_nodes = 4,
		.links = links,
		.n_links = 6,
		.groups = groups,
		.n_groups = cross_bps > 0 ? 2 : 1,
		.duration_ps = 5 * WH_PS_PER_S,
		.marks_ps = marks_ps,
		.n_marks = 2};
	for (uint32_t i = 0; i < 6; i++)
		links[i] = (struct wh_sim_link_config){.from = i / 2 + i % 2,
			.to = i / 2 + 1 - i % 2,
			.rate_bps = i < 2 ? 1000000000 : (uint64_t)pair->bps[i / 2 - 1],
			.delay_ps = i < 2 ? 0 : 5 * MS,
			.queue.limit_pkts = i < 2 ? 20000 : (uint32_t)pair->pkts[i / 2 - 1]};
	groups[0].to = groups[1].to = 3;
	groups[1].name = "other";
	groups[1].agent = WH_SCENARIO_SOURCE;
	groups[1].source = (struct wh_sim_traffic_config){
		.kind = WH_SIM_CBR, .packet_bytes = 1500, .rate_bps = cross_bps};

	struct wh_scenario_run *run = wh_scenario_run_create(&scenario, 1);

	wh_scenario_run_until(run, scenario.duration_ps);
	return run;
}

/*
 * Burst and memory are of the switch that runs over first. Each pair is probed alone and beside
 * 40 Mb/s of another, which take their part of the capacity, too. What a train did not confirm is
 * told as an upper bound.
 */
static void behind_two_switches(void)
{
	/* It loses 16 % from 362 packets on, and 78 % from some 780 on. */
	static const struct pair late = {.bps = {837e6, 220e6}, .pkts = {59, 540}};
	struct wh_prng prng;
	struct pair pair = late;
	uint32_t verified = 0;

	wh_prng_init(&prng, 38);
	for (uint32_t i = 0; i < 42; i++) {
		uint64_t cross_bps = i % 2 * 40000000;
		uint32_t first = 0;

		if (i > 1 && cross_bps == 0)
			draw_pair(&pair, &prng);

		double least_bps = fmin(pair.bps[0], pair.bps[1]);
		double burst_pkts = burst_of(&pair, &first);
		struct wh_scenario_run *run = run_pair(&pair, cross_bps);
		const struct wh_findings *found = wh_scenario_run_findings(run, 0);

		CU_ASSERT_EQUAL(found->burst_end, WH_BURST_OVERFLOW);
		CU_ASSERT(found->burst_pkts <= 1.01 * burst_pkts);
		CU_ASSERT(found->burst_pkts >= 0.93 * burst_pkts);
		WH_ASSERT_NEAR(found->memory_bytes / 1500, pair.pkts[first], 0.15);
		/* Of each 1040 packets that enter the first switch 40 are the other's. */
		CU_ASSERT(found->trains_bps <= 1.001 * least_bps);
		CU_ASSERT(found->trains_bps >= (cross_bps > 0 ? 0.95 : 0.999) * least_bps);
		CU_ASSERT(cross_bps == 0 || found->trains_bps <= 0.975 * least_bps);
		verified += found->burst_verified;
		wh_scenario_run_destroy(run);
	}
	CU_ASSERT(verified >= 38);
}

CU_TestInfo wh_tests[] = {
	{"alone", alone},
	{"beside another", beside_another},
	{"stopped", stopped},
	{"behind two switches", behind_two_switches},
	CU_TEST_INFO_NULL,
};
