/* SPDX-License-Identifier: BSD-3-Clause */
#include "tcp_rig.h"

const char wh_suite_name[] = "sim_tcp_receiver";

static struct rig rig;

/* The other way round: the test sends segments, and sees what the receiver answers. */
static void open_sink(bool delayed)
{
	rig_open(&rig, WH_SIM_TCP_SACK);
	rig.config.delayed_ack = delayed;
	rig_connect(&rig);
	rig.tcp->agent = wh_sim_add_agent(rig.sim, 0, rig_see, &rig);
}

static void send_segment(uint64_t pn)
{
	struct wh_sim_packet *packet = wh_sim_packet_get(wh_sim_pool(rig.sim));

	packet->bytes = 1500;
	packet->flow = rig.flow;
	packet->to = rig.tcp->receiver.agent;
	packet->segment = (struct wh_sim_segment){.pn = pn};
	wh_sim_send(rig.sim, 0, packet);
	rig_step(&rig);
}

static const struct wh_sim_segment *latest(void)
{
	CU_ASSERT_FATAL(rig.n_seen > 0);
	return &rig.seen[rig.n_seen - 1];
}

static uint64_t goodput_segments(void)
{
	return wh_sim_flow_stats(rig.sim, rig.flow)->goodput_bytes / 1460;
}

static void acknowledges_each(void)
{
	open_sink(false);
	for (uint64_t s = 0; s < 5; s++) {
		send_segment(s);
		CU_ASSERT_EQUAL(rig.n_seen, s + 1);
		CU_ASSERT_EQUAL(latest()->pn, s + 1);
		CU_ASSERT_EQUAL(latest()->n_sacks, 0);
		CU_ASSERT_EQUAL(goodput_segments(), s + 1);
	}
	/* One that was here before is answered, and delivered once. */
	send_segment(2);
	CU_ASSERT_EQUAL(rig.n_seen, 6);
	CU_ASSERT_EQUAL(latest()->pn, 5);
	CU_ASSERT_EQUAL(goodput_segments(), 5);
	/* An answer is as long as a head. */
	CU_ASSERT_EQUAL(wh_sim_link_stats(rig.sim, rig.link + 1)->left_bytes, 6 * 40);
	rig_close(&rig);
}

static void expect_sacks(uint64_t pn, unsigned int n, const struct wh_sim_sack *expected)
{
	CU_ASSERT_EQUAL(latest()->pn, pn);
	CU_ASSERT_EQUAL_FATAL(latest()->n_sacks, n);
	for (unsigned int i = 0; i < n; i++) {
		CU_ASSERT_EQUAL(latest()->sack[i].first, expected[i].first);
		CU_ASSERT_EQUAL(latest()->sack[i].end, expected[i].end);
	}
}

#define EXPECT_SACKS(pn, n, ...) expect_sacks(pn, n, (struct wh_sim_sack[]){__VA_ARGS__})

/* The range of the latest first, then those told before; three at most. */
static void tells_ranges_the_latest_first(void)
{
	open_sink(false);
	send_segment(0);
	send_segment(2);
	EXPECT_SACKS(1, 1, {2, 3});
	send_segment(5);
	EXPECT_SACKS(1, 2, {5, 6}, {2, 3});
	send_segment(8);
	EXPECT_SACKS(1, 3, {8, 9}, {5, 6}, {2, 3});
	send_segment(11);
	EXPECT_SACKS(1, 3, {11, 12}, {8, 9}, {5, 6});
	send_segment(6);
	EXPECT_SACKS(1, 3, {5, 7}, {11, 12}, {8, 9});
	send_segment(7);
	EXPECT_SACKS(1, 2, {5, 9}, {11, 12});
	/* 3 is delivered with 1 to 2, and what is beyond is told still. */
	send_segment(1);
	EXPECT_SACKS(3, 2, {5, 9}, {11, 12});
	CU_ASSERT_EQUAL(goodput_segments(), 3);
	send_segment(3);
	send_segment(4);
	EXPECT_SACKS(9, 1, {11, 12});
	CU_ASSERT_EQUAL(goodput_segments(), 9);
	send_segment(9);
	send_segment(10);
	EXPECT_SACKS(12, 0, {0, 0});
	CU_ASSERT_EQUAL(goodput_segments(), 12);
	CU_ASSERT_EQUAL(rig.tcp->receiver.beyond.count, 0);
	CU_ASSERT_EQUAL(wh_sim_link_stats(rig.sim, rig.link + 1)->left_bytes, 12 * 40 + 8 * 20);
	rig_close(&rig);
}

/* The first at once; then every second one, and an odd one after 100 ms. */
static void delays_every_other(void)
{
	open_sink(true);
	send_segment(0);
	CU_ASSERT_EQUAL(rig.n_seen, 1);
	for (uint64_t s = 1; s <= 10; s++)
		send_segment(s);
	CU_ASSERT_EQUAL(rig.n_seen, 6);
	CU_ASSERT_EQUAL(latest()->pn, 11);

	send_segment(11);
	uint64_t came_ps = rig.now_ps - RIG_STEP_PS;

	CU_ASSERT_EQUAL(rig.n_seen, 6);
	rig_run_to(&rig, came_ps + 99 * MS_PS);
	CU_ASSERT_EQUAL(rig.n_seen, 6);
	rig_run_to(&rig, came_ps + 101 * MS_PS);
	CU_ASSERT_EQUAL(rig.n_seen, 7);
	CU_ASSERT_EQUAL(latest()->pn, 12);
	CU_ASSERT_EQUAL(rig.seen_ps[6] / MS_PS, came_ps / MS_PS + 100);
	rig_close(&rig);
}

/* What is out of order, or fills a hole, is answered at once; and ends the waiting of another. */
static void delays_nothing_around_a_hole(void)
{
	open_sink(true);
	send_segment(0);
	send_segment(1);
	CU_ASSERT_EQUAL(rig.n_seen, 1);
	send_segment(3);
	CU_ASSERT_EQUAL(rig.n_seen, 2);
	EXPECT_SACKS(2, 1, {3, 4});
	send_segment(5);
	CU_ASSERT_EQUAL(rig.n_seen, 3);
	send_segment(2);
	CU_ASSERT_EQUAL(rig.n_seen, 4);
	EXPECT_SACKS(4, 1, {5, 6});
	send_segment(4);
	CU_ASSERT_EQUAL(rig.n_seen, 5);
	EXPECT_SACKS(6, 0, {0, 0});
	send_segment(6);
	CU_ASSERT_EQUAL(rig.n_seen, 5);
	send_segment(7);
	CU_ASSERT_EQUAL(rig.n_seen, 6);
	CU_ASSERT_EQUAL(latest()->pn, 8);
	/* 8 is in order, while 10 is there and 9 is not. */
	send_segment(10);
	send_segment(8);
	CU_ASSERT_EQUAL(rig.n_seen, 8);
	EXPECT_SACKS(9, 1, {10, 11});
	rig_close(&rig);
}

/* A handshake is no payload. */
static void delivers_no_handshake(void)
{
	rig_open(&rig, WH_SIM_TCP_RENO);
	rig.config.handshake = true;
	rig_connect(&rig);
	rig.tcp->agent = wh_sim_add_agent(rig.sim, 0, rig_see, &rig);
	send_segment(1);
	CU_ASSERT_EQUAL(goodput_segments(), 0);
	send_segment(0);
	CU_ASSERT_EQUAL(goodput_segments(), 1);
	CU_ASSERT_EQUAL(latest()->pn, 2);
	rig_close(&rig);
}

CU_TestInfo wh_tests[] = {
	{"acknowledges each", acknowledges_each},
	{"tells ranges, the latest first", tells_ranges_the_latest_first},
	{"delays every other", delays_every_other},
	{"delays nothing around a hole", delays_nothing_around_a_hole},
	{"delivers no handshake", delivers_no_handshake},
	CU_TEST_INFO_NULL,
};
