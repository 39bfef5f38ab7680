/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A line of 8 Mb/s (a byte a microsecond), 1 ms long, and packets of 1000 bytes every 2 ms from
 * time 0 on: each is on the line for 1 ms, and arrives 2 ms after it was sent.
 */

#include "lab/sim/monitor.h"

#include <math.h>

#include "lab/sim/traffic.h"
#include "unit.h"

#define MS (WH_PS_PER_S / 1000)

const char wh_suite_name[] = "sim_monitor";

struct world {
	struct wh_sim *sim;
	struct wh_sim_traffic *source;
	struct wh_monitor *monitor;
	uint32_t looks;
};

static void look(void *context, uint32_t flow, struct wh_monitor_look *seen)
{
	struct world *world = context;

	CU_ASSERT_EQUAL(flow, 0);
	world->looks++;
	seen->window_pkts = world->looks;
	seen->rate_bps = 10.0 * world->looks;
	seen->sequence_pkts = 100 * world->looks;
}

static void open_world(struct world *world, uint64_t rate_bps, uint32_t queue_pkts,
	const struct wh_monitor_config *config)
{
	struct wh_monitor_config full = *config;

	*world = (struct world){.sim = wh_sim_create(1)};
	wh_sim_add_node(world->sim);
	wh_sim_add_node(world->sim);
	wh_sim_add_link(world->sim, &(struct wh_sim_link_config){.from = 0,
					    .to = 1,
					    .rate_bps = rate_bps,
					    .delay_ps = MS,
					    .counts_delays = true,
					    .queue.limit_pkts = queue_pkts});
	wh_sim_add_flow(world->sim);
	world->source = wh_sim_traffic_create(world->sim,
		&(struct wh_sim_traffic_config){
			.kind = WH_SIM_CBR, .packet_bytes = 1000, .rate_bps = 4000000},
		0, 1, 0);
	full.n_flows = 1;
	full.look = look;
	full.context = world;
	world->monitor = wh_monitor_create(world->sim, &full);
	wh_sim_traffic_start(world->source, 0);
}

static void close_world(struct world *world)
{
	wh_monitor_destroy(world->monitor);
	wh_sim_traffic_destroy(world->source);
	wh_sim_destroy(world->sim);
}

/* At 10 ms the mark comes before what else happens then: it was set first. */
static void test_spans(void)
{
	const uint64_t marks_ps[] = {0, 10 * MS, 11 * MS, 100 * MS};
	struct world world;

	open_world(&world, 8000000, 10,
		&(struct wh_monitor_config){
			.marks_ps = marks_ps, .n_marks = 4, .until_ps = 100 * MS});
	wh_sim_run(world.sim, 100 * MS);

	struct wh_sim_flow_stats flow = wh_monitor_flow_span(world.monitor, 0, 0, 10 * MS);

	CU_ASSERT_EQUAL(flow.sent_pkts, 5);
	CU_ASSERT_EQUAL(flow.goodput_bytes, 4000);
	CU_ASSERT_EQUAL(flow.dropped_pkts, 0);
	flow = wh_monitor_flow_span(world.monitor, 0, 10 * MS, 11 * MS);
	CU_ASSERT_EQUAL(flow.sent_pkts, 1);
	CU_ASSERT_EQUAL(flow.goodput_bytes, 1000);
	flow = wh_monitor_flow_span(world.monitor, 0, 10 * MS, 100 * MS);
	CU_ASSERT_EQUAL(flow.sent_pkts, 45);
	CU_ASSERT_EQUAL(flow.goodput_bytes, 45000);

	struct wh_sim_link_stats link = wh_monitor_link_span(world.monitor, 0, 0, 10 * MS);

	CU_ASSERT_EQUAL(link.entered_pkts, 5);
	CU_ASSERT_EQUAL(link.busy_ps, 5 * MS);
	link = wh_monitor_link_span(world.monitor, 0, 10 * MS, 100 * MS);
	CU_ASSERT_EQUAL(link.entered_pkts, 45);
	CU_ASSERT_EQUAL(link.busy_ps, 45 * MS);
	CU_ASSERT_EQUAL((uint64_t)link.queue_pkt_ps, 0);
	CU_ASSERT_EQUAL(wh_monitor_samples(world.monitor), 0);
	CU_ASSERT_EQUAL(world.looks, 0);
	close_world(&world);
}

/*
 * At a quarter of that rate a packet is on the line for 4 ms, and of a limit of three two may
 * wait. Sent at 0, 2, 4...: from 2 on one waits, from 6 on two. At 8 one leaves the queue and one
 * comes; at 10 there are two already, and it is dropped.
 */
static void test_queue(void)
{
	const uint64_t marks_ps[] = {0, 9 * MS, 11 * MS};
	struct world world;

	open_world(&world, 2000000, 3,
		&(struct wh_monitor_config){
			.marks_ps = marks_ps, .n_marks = 3, .until_ps = 11 * MS});
	wh_sim_run(world.sim, 11 * MS);

	struct wh_sim_link_stats link = wh_monitor_link_span(world.monitor, 0, 0, 9 * MS);

	CU_ASSERT_EQUAL(link.queue_pkt_ps / MS, 2 * 1 + 2 * 1 + 2 * 2 + 1 * 2);
	CU_ASSERT_EQUAL(link.overflow_pkts, 0);
	CU_ASSERT_EQUAL(link.queue_pkts, 2);
	link = wh_monitor_link_span(world.monitor, 0, 9 * MS, 11 * MS);
	CU_ASSERT_EQUAL(link.overflow_pkts, 1);
	CU_ASSERT_EQUAL(link.busy_ps, 2 * MS);
	CU_ASSERT_EQUAL(wh_monitor_flow_span(world.monitor, 0, 9 * MS, 11 * MS).dropped_pkts, 1);
	close_world(&world);
}

static uint64_t delay_us(const struct world *world, uint64_t from_ps, uint64_t to_ps, double share)
{
	return wh_monitor_delay_ps(world->monitor, 0, from_ps, to_ps, share) / (MS / 1000);
}

/*
 * As above, on to 101 ms: packets leave the queue every 4 ms, and waited 0, 2, 4, 6 ms and then 6
 * or 8, as two wait or three behind the line. Told are at most 1/64 more.
 */
static void test_delays(void)
{
	const uint64_t marks_ps[] = {0, 1 * MS, 13 * MS, 101 * MS};
	struct world world;

	open_world(&world, 2000000, 3,
		&(struct wh_monitor_config){.marks_ps = marks_ps,
			.n_marks = 4,
			.interval_ps = 10 * MS,
			.until_ps = 101 * MS});
	wh_sim_run(world.sim, 101 * MS);
	CU_ASSERT_EQUAL(delay_us(&world, 0, 1 * MS, 1.0), 0);
	/* At 4, 8 and 12 ms those of 2, 4 and 6 ms. */
	CU_ASSERT_EQUAL(delay_us(&world, 1 * MS, 13 * MS, 0.3), 2015);
	CU_ASSERT_EQUAL(delay_us(&world, 1 * MS, 13 * MS, 0.5), 4030);
	CU_ASSERT_EQUAL(delay_us(&world, 1 * MS, 13 * MS, 1.0), 6029);
	CU_ASSERT_TRUE(delay_us(&world, 13 * MS, 101 * MS, 1.0) >= 6000);
	CU_ASSERT_TRUE(delay_us(&world, 13 * MS, 101 * MS, 1.0) <= 8127);

	const struct wh_monitor_delays *first = wh_monitor_delays_sample(world.monitor, 0, 0);

	CU_ASSERT_EQUAL(first->p50_ps / (MS / 1000), 2015);
	CU_ASSERT_EQUAL(first->p99_ps, first->longest_ps);
	CU_ASSERT_EQUAL(first->longest_ps / (MS / 1000), 4030);
	close_world(&world);
}

/* Goodput every 7 ms: a packet arrives at 2, 4, 6... ms. */
static void test_series(void)
{
	const uint64_t marks_ps[] = {0};
	const uint64_t series_ps[] = {7 * MS, 50 * MS};
	struct world world;

	open_world(&world, 8000000, 10,
		&(struct wh_monitor_config){.marks_ps = marks_ps,
			.n_marks = 1,
			.series_ps = series_ps,
			.n_series = 2,
			.until_ps = 100 * MS});
	wh_sim_run(world.sim, 100 * MS);
	for (uint32_t i = 0; i < 15; i += 2) /* at odd ones it arrives before or after */
		CU_ASSERT_EQUAL(wh_monitor_series_bytes(world.monitor, 0, i, 0) / 1000,
			i == 0 ? 0 : (7 * i - 1) / 2);
	CU_ASSERT_EQUAL(wh_monitor_series_bytes(world.monitor, 1, 1, 0), 24000);
	close_world(&world);
}

/* 100 ms have room for six samples of 15 ms; the looks are one more, at time 0. */
static void test_samples(void)
{
	const uint64_t marks_ps[] = {0};
	struct world world;

	open_world(&world, 8000000, 10,
		&(struct wh_monitor_config){.marks_ps = marks_ps,
			.n_marks = 1,
			.interval_ps = 15 * MS,
			.until_ps = 100 * MS});
	wh_sim_run(world.sim, 100 * MS);
	CU_ASSERT_EQUAL(wh_monitor_samples(world.monitor), 6);
	CU_ASSERT_EQUAL(world.looks, 7);

	uint64_t sent_pkts = 0;

	for (uint32_t i = 0; i < 6; i++) {
		struct wh_sim_flow_stats flow = wh_monitor_flow_sample(world.monitor, 0, i);
		const struct wh_monitor_look *look = wh_monitor_look_sample(world.monitor, 0, i);

		sent_pkts += flow.sent_pkts;
		CU_ASSERT_EQUAL(look->window_pkts, i + 2);
		CU_ASSERT_EQUAL(look->rate_bps, 10 * (i + 2));
		CU_ASSERT_EQUAL(look->sequence_pkts, 100 * (i + 2));
	}
	CU_ASSERT_EQUAL(sent_pkts, 45);
	CU_ASSERT_EQUAL(wh_monitor_link_sample(world.monitor, 0, 0).busy_ps, 8 * MS);
	CU_ASSERT_EQUAL(wh_monitor_link_sample(world.monitor, 0, 1).busy_ps, 7 * MS);
	close_world(&world);
}

/* An interval that divides the time has a sample at its very end. */
static void test_last_sample(void)
{
	const uint64_t marks_ps[] = {0, 30 * MS};
	struct world world;

	open_world(&world, 8000000, 10,
		&(struct wh_monitor_config){.marks_ps = marks_ps,
			.n_marks = 2,
			.interval_ps = 10 * MS,
			.until_ps = 30 * MS});
	wh_sim_run(world.sim, 30 * MS);
	CU_ASSERT_EQUAL(wh_monitor_samples(world.monitor), 3);
	close_world(&world);
}

static void test_statistics(void)
{
	static const struct {
		double values[4];
		uint32_t count;
		double jain;
		double mean;
		double stddev;
	} cases[] = {
		{{0}, 0, 1.0, 0.0, 0.0},
		{{7.0}, 1, 1.0, 7.0, 0.0},
		{{0.0, 0.0}, 2, 1.0, 0.0, 0.0},
		{{5.0, 5.0, 5.0, 5.0}, 4, 1.0, 5.0, 0.0},
		{{4.0, 0.0, 0.0, 0.0}, 4, 0.25, 1.0, 1.7320508075688772},
		{{1.0, 3.0}, 2, 0.8, 2.0, 1.0},
		{{1.0, 2.0, 3.0, 4.0}, 4, 100.0 / 120.0, 2.5, 1.118033988749895},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		CU_ASSERT(fabs(wh_jain(cases[i].values, cases[i].count) - cases[i].jain) < 1e-12);
		CU_ASSERT(fabs(wh_mean(cases[i].values, cases[i].count) - cases[i].mean) < 1e-12);
		CU_ASSERT(
			fabs(wh_stddev(cases[i].values, cases[i].count) - cases[i].stddev) < 1e-12);
	}
}

CU_TestInfo wh_tests[] = {
	{"what happened between two marks", test_spans},
	{"queues and drops between marks", test_queue},
	{"how long packets waited", test_delays},
	{"series of goodput", test_series},
	{"samples", test_samples},
	{"a sample at the very end", test_last_sample},
	{"Jain's index, mean, standard deviation", test_statistics},
	CU_TEST_INFO_NULL,
};
