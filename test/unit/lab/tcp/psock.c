/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab/tcp/psock.h"

#include "unit.h"

const char wh_suite_name[] = "sim_psock";

#define CONNECTIONS 5
#define SEGMENTS    4000
#define WINDOW      20

struct path {
	struct wh_sim *sim;
	struct wh_sim_psock *psock;
	uint32_t flow;
};

static uint64_t done_ps(const struct path *path)
{
	return wh_sim_flow_stats(path->sim, path->flow)->finished_ps;
}

static void open_path(struct path *path, uint32_t connections, uint32_t window_pkts, double loss)
{
	struct wh_sim_tcp_config config;
	struct wh_sim_link_config link = {.from = 0,
		.to = 1,
		.rate_bps = 10000000,
		.delay_ps = WH_PS_PER_S / 100,
		.queue = {.limit_pkts = 20},
		.loss = {.loss = loss}};

	path->sim = wh_sim_create(3);
	wh_sim_add_node(path->sim);
	wh_sim_add_node(path->sim);
	wh_sim_add_link(path->sim, &link);
	link.from = 1;
	link.to = 0;
	wh_sim_add_link(path->sim, &link);
	path->flow = wh_sim_add_flow(path->sim);
	wh_sim_tcp_config_init(&config, WH_SIM_TCP_NEWRENO);
	config.segment_bytes = 1000;
	config.window_pkts = window_pkts;
	path->psock = wh_sim_psock_create(path->sim, &config, connections, 0, 1, path->flow);
}

static void close_path(struct path *path)
{
	wh_sim_psock_destroy(path->psock);
	wh_sim_destroy(path->sim);
}

/* With 1 % loss both ways: as many segments as the file has, each delivered once. */
static void splits_a_file(void)
{
	struct path path;

	open_path(&path, CONNECTIONS, WINDOW, 0.01);
	wh_sim_psock_start(path.psock, 0, SEGMENTS);
	wh_sim_run(path.sim, WH_PS_PER_S);
	CU_ASSERT_EQUAL(done_ps(&path), WH_SIM_NEVER_PS);
	CU_ASSERT_TRUE(wh_sim_psock_cwnd_pkts(path.psock) >= CONNECTIONS);
	wh_sim_run(path.sim, 60 * WH_PS_PER_S);

	const struct wh_sim_flow_stats *stats = wh_sim_flow_stats(path.sim, path.flow);

	CU_ASSERT_EQUAL(wh_sim_psock_acked_pkts(path.psock), SEGMENTS);
	CU_ASSERT_EQUAL(stats->goodput_bytes, 1000 * SEGMENTS);
	CU_ASSERT_TRUE(stats->retransmitted_pkts > 20);
	/* Handshakes, repairs, and the file once. */
	CU_ASSERT_TRUE(stats->sent_pkts - stats->retransmitted_pkts == SEGMENTS + CONNECTIONS);
	CU_ASSERT_NOT_EQUAL(done_ps(&path), WH_SIM_NEVER_PS);
	CU_ASSERT_TRUE(done_ps(&path) > 3 * WH_PS_PER_S && done_ps(&path) < 20 * WH_PS_PER_S);
	close_path(&path);
}

/* Fewer segments than connections, and one. */
static void a_small_file_is_done(void)
{
	for (uint64_t segments = 1; segments <= 3; segments++) {
		struct path path;

		open_path(&path, CONNECTIONS, WINDOW, 0);
		wh_sim_psock_start(path.psock, 0, segments);
		wh_sim_run(path.sim, WH_PS_PER_S);
		CU_ASSERT_EQUAL(
			wh_sim_flow_stats(path.sim, path.flow)->goodput_bytes, 1000 * segments);
		CU_ASSERT_NOT_EQUAL(done_ps(&path), WH_SIM_NEVER_PS);
		CU_ASSERT_TRUE(done_ps(&path) > 40 * WH_PS_PER_S / 1000);
		CU_ASSERT_TRUE(done_ps(&path) < 50 * WH_PS_PER_S / 1000);
		close_path(&path);
	}
}

/* A segment a round trip of 20.9 ms each: 200 of them take 40 round trips, and alone 200. */
static void each_has_its_part(void)
{
	struct path path;

	open_path(&path, CONNECTIONS, 1, 0);
	wh_sim_psock_start(path.psock, 0, 200);
	wh_sim_run(path.sim, WH_PS_PER_S);
	CU_ASSERT_NOT_EQUAL(done_ps(&path), WH_SIM_NEVER_PS);
	CU_ASSERT_TRUE(done_ps(&path) > 40 * 20 * (WH_PS_PER_S / 1000));
	CU_ASSERT_TRUE(done_ps(&path) < 44 * 21 * (WH_PS_PER_S / 1000));
	close_path(&path);

	open_path(&path, 1, 1, 0);
	wh_sim_psock_start(path.psock, 0, 200);
	wh_sim_run(path.sim, 5 * WH_PS_PER_S);
	CU_ASSERT_NOT_EQUAL(done_ps(&path), WH_SIM_NEVER_PS);
	CU_ASSERT_TRUE(done_ps(&path) > 200 * 20 * (WH_PS_PER_S / 1000));
	close_path(&path);
}

/* 4 windows of 20 are more than the path holds: they share it without a gap, until they stop. */
static void stops(void)
{
	struct path path;

	open_path(&path, 4, WINDOW, 0);
	wh_sim_psock_start(path.psock, 0, UINT64_MAX);
	CU_ASSERT_EQUAL(wh_sim_flow_stats(path.sim, path.flow)->finished_ps, WH_SIM_NEVER_PS);
	wh_sim_run(path.sim, 5 * WH_PS_PER_S);
	uint64_t bytes = wh_sim_flow_stats(path.sim, path.flow)->goodput_bytes;

	CU_ASSERT_TRUE((double)bytes > 0.9 * 5 * 10e6 / 8 * 1000 / 1040);
	wh_sim_psock_stop(path.psock);
	wh_sim_run(path.sim, 7 * WH_PS_PER_S);
	bytes = wh_sim_flow_stats(path.sim, path.flow)->goodput_bytes;
	CU_ASSERT_EQUAL(bytes, 1000 * wh_sim_psock_acked_pkts(path.psock));
	CU_ASSERT_NOT_EQUAL(done_ps(&path), WH_SIM_NEVER_PS);
	wh_sim_run(path.sim, 9 * WH_PS_PER_S);
	CU_ASSERT_EQUAL(wh_sim_flow_stats(path.sim, path.flow)->goodput_bytes, bytes);
	close_path(&path);
}

CU_TestInfo wh_tests[] = {
	{"splits a file", splits_a_file},
	{"a small file is done", a_small_file_is_done},
	{"each has its part", each_has_its_part},
	{"stops", stops},
	CU_TEST_INFO_NULL,
};
