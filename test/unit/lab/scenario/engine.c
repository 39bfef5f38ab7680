/* SPDX-License-Identifier: BSD-3-Clause */

/* Connections in the simulator: rates, bytes and ends by hand, and the same run twice. */

#include "lab/scenario/engine.h"

#include <string.h>

#include "profile/udt.h"
#include "unit.h"

const char wh_suite_name[] = "sim_engine";

#define MS_PS (WH_PS_PER_S / 1000)
#define S_PS  WH_PS_PER_S
#define FLOWS 50

/* Two nodes, a line each way, and connections from the first to the second. */
struct rig {
	struct wh_sim *sim;
	uint32_t node[2];
	uint32_t link[2];
	uint32_t flow[FLOWS];
	struct wh_sim_engine *engine[FLOWS];
	uint32_t engines;
};

static void rig_open(struct rig *rig, uint64_t seed, uint64_t rate_bps, uint64_t delay_ps,
	uint32_t queue_pkts, double loss)
{
	*rig = (struct rig){.sim = wh_sim_create(seed)};
	for (uint32_t i = 0; i < 2; i++)
		rig->node[i] = wh_sim_add_node(rig->sim);
	for (uint32_t i = 0; i < 2; i++) {
		const struct wh_sim_link_config link = {
			.from = rig->node[i],
			.to = rig->node[1 - i],
			.rate_bps = rate_bps,
			.delay_ps = delay_ps,
			.queue = {.discipline = WH_SIM_DROPTAIL, .limit_pkts = queue_pkts},
			.loss = {.loss = loss},
		};

		rig->link[i] = wh_sim_add_link(rig->sim, &link);
	}
}

/* Sessions that are closed, well or not. */
static uint32_t closed(const struct rig *rig)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < rig->engines; i++)
		count += wh_session_phase(wh_sim_engine_sender(rig->engine[i])) == WH_PHASE_CLOSED;
	return count;
}

static struct wh_sim_engine *add(struct rig *rig, const struct wh_sim_engine_config *config)
{
	uint32_t i = rig->engines++;

	rig->flow[i] = wh_sim_add_flow(rig->sim);
	rig->engine[i] = wh_sim_engine_create(
		rig->sim, config, rig->node[0], rig->node[1], rig->flow[i], 100 + i);
	return rig->engine[i];
}

static const struct wh_sim_flow_stats *stats_of(const struct rig *rig, uint32_t i)
{
	return wh_sim_flow_stats(rig->sim, rig->flow[i]);
}

static void rig_close(struct rig *rig)
{
	for (uint32_t i = 0; i < rig->engines; i++) {
		const struct wh_session *receiver = wh_sim_engine_receiver(rig->engine[i]);

		wh_session_check(wh_sim_engine_sender(rig->engine[i]), true);
		if (receiver != NULL)
			wh_session_check(receiver, true);
		wh_sim_engine_destroy(rig->engine[i]);
	}
	wh_sim_destroy(rig->sim);
}

static struct wh_sim_engine_config fixed_at(uint64_t rate_bps, uint64_t size_bytes)
{
	struct wh_sim_engine_config config;

	wh_sim_engine_config_init(&config, wh_profile_find("fixed"));
	config.rate_bps = rate_bps;
	config.size_bytes = size_bytes;
	config.window_pkts = 4096;
	return config;
}

static void check_verified(const struct rig *rig, uint32_t i, uint64_t size_bytes)
{
	CU_ASSERT_EQUAL(
		wh_session_outcome(wh_sim_engine_sender(rig->engine[i])), WH_STATUS_VERIFIED);
	CU_ASSERT_EQUAL(
		wh_session_outcome(wh_sim_engine_receiver(rig->engine[i])), WH_STATUS_VERIFIED);
	CU_ASSERT_EQUAL(stats_of(rig, i)->goodput_bytes, size_bytes);
}

static void test_before_and_after(void)
{
	struct rig rig;
	struct wh_sim_engine_config config = fixed_at(100000000, 1000000);

	rig_open(&rig, 1, 1000000000, 5 * MS_PS, 100, 0);

	struct wh_sim_engine *engine = add(&rig, &config);

	CU_ASSERT_PTR_NULL(wh_sim_engine_sender(engine));
	CU_ASSERT_EQUAL(wh_sim_engine_rate_bps(engine), 0);
	wh_sim_engine_start(engine, 0);
	CU_ASSERT_PTR_NOT_NULL(wh_sim_engine_sender(engine));
	CU_ASSERT_PTR_NULL(wh_sim_engine_receiver(engine));
	CU_ASSERT_EQUAL(wh_sim_engine_window_pkts(engine), 0);
	wh_sim_run(rig.sim, 50 * MS_PS);
	CU_ASSERT_PTR_NOT_NULL(wh_sim_engine_receiver(engine));
	WH_ASSERT_NEAR(wh_sim_engine_rate_bps(engine), 100e6, 1e-6);
	CU_ASSERT_EQUAL(wh_sim_engine_window_pkts(engine), 4096);
	wh_sim_run(rig.sim, WH_PS_PER_S);
	CU_ASSERT_EQUAL(closed(&rig), 1);
	CU_ASSERT_EQUAL(wh_sim_engine_rate_bps(engine), 0);
	CU_ASSERT_EQUAL(wh_sim_engine_window_pkts(engine), 0);
	rig_close(&rig);
}

/* 12.5 MB at 100 Mb/s, over a line that is never full: 8877 full packets and one of 1184 bytes. */
static void test_fixed_rate_and_bytes(void)
{
	struct rig rig;
	struct wh_sim_engine_config config = fixed_at(100000000, 12500000);

	rig_open(&rig, 1, 1000000000, 5 * MS_PS, 100, 0);
	wh_sim_engine_start(add(&rig, &config), 0);
	wh_sim_run(rig.sim, 100 * MS_PS);

	uint64_t before_bytes = wh_sim_link_stats(rig.sim, rig.link[0])->entered_bytes;

	wh_sim_run(rig.sim, 900 * MS_PS);

	uint64_t bytes = wh_sim_link_stats(rig.sim, rig.link[0])->entered_bytes - before_bytes;

	/* What the rate means is the line: the transmitter's states are in it. */
	WH_ASSERT_NEAR(bytes, 100e6 / 8 * 0.8, 0.001);
	CU_ASSERT_EQUAL(closed(&rig), 0);
	wh_sim_run(rig.sim, 2 * WH_PS_PER_S);
	check_verified(&rig, 0, 12500000);
	CU_ASSERT_EQUAL(stats_of(&rig, 0)->sent_pkts, 8878);
	CU_ASSERT_EQUAL(stats_of(&rig, 0)->retransmitted_pkts, 0);
	CU_ASSERT_EQUAL(stats_of(&rig, 0)->dropped_pkts, 0);
	CU_ASSERT_EQUAL(closed(&rig), 1);
	rig_close(&rig);
}

/*
 * By hand, at 8 ns a byte. OPEN takes 135 bytes with UDP and IP, ACCEPT 92: there and back is
 * 10 ms and 1816 ns. CONFIRM (135) and the first state (92) leave at once and are paced: data goes
 * 1816 ns later. Ten packets are 12 us apart. Behind the last (1500) goes the request for release
 * (108), answered by two replies (108 each): that it is at work, and that all is well. The sender
 * tells that it knows, and stays for the round trip after which it hears that this is known.
 */
static void test_opening_takes_a_round_trip(void)
{
	struct rig rig;
	struct wh_sim_engine_config config = fixed_at(1000000000, 10 * 1408);

	rig_open(&rig, 1, 1000000000, 5 * MS_PS, 100, 0);
	wh_sim_run(rig.sim, 3 * MS_PS);
	wh_sim_engine_start(add(&rig, &config), 3 * MS_PS);
	wh_sim_run(rig.sim, 30 * MS_PS);

	uint64_t first_ns = 3000000 + 10000000 + 8 * (163 + 92) + 8 * (163 + 92);
	uint64_t finished_ns = first_ns + 9 * 12000 + 10000000 + 8 * (1500 + 3 * 108);

	CU_ASSERT_EQUAL(stats_of(&rig, 0)->first_sent_ps, first_ns * WH_PS_PER_NS);
	CU_ASSERT_EQUAL(stats_of(&rig, 0)->finished_ps, finished_ns * WH_PS_PER_NS);
	wh_sim_run(rig.sim, finished_ns * WH_PS_PER_NS + 10 * MS_PS);
	CU_ASSERT_EQUAL(closed(&rig), 0);
	wh_sim_run(rig.sim, finished_ns * WH_PS_PER_NS + 10 * MS_PS + MS_PS / 20);
	CU_ASSERT_EQUAL(closed(&rig), 1);
	check_verified(&rig, 0, 10 * 1408);
	rig_close(&rig);
}

/* Runs until the sender knows that all has arrived, and compares with when that was. */
static void check_finished(const struct rig *rig, uint64_t size_bytes)
{
	const struct wh_session *sender = wh_sim_engine_sender(rig->engine[0]);
	uint64_t at_ps = 0;

	while (at_ps < 100 * WH_PS_PER_S && wh_session_moved_bytes(sender) < size_bytes &&
		wh_session_outcome(sender) == WH_STATUS_PENDING) {
		at_ps += MS_PS;
		wh_sim_run(rig->sim, at_ps);
	}
	CU_ASSERT_TRUE(stats_of(rig, 0)->finished_ps <= at_ps);
	CU_ASSERT_TRUE(stats_of(rig, 0)->finished_ps > at_ps - MS_PS);
}

static void test_loss_is_repaired(void)
{
	static const struct {
		const char *profile;
		double loss;
		uint64_t size_bytes;
	} cases[] = {{"fixed", 0.01, 12500000}, {"udt", 0.01, 12500000}, {"fixed", 0.3, 300000}};

	for (uint32_t i = 0; i < 3; i++) {
		struct rig rig;
		struct wh_sim_engine_config config = fixed_at(100000000, cases[i].size_bytes);

		config.profile = wh_profile_find(cases[i].profile);
		wh_profile_options_init(&config.options, config.profile);
		rig_open(&rig, 5, 1000000000, 5 * MS_PS, 1000, cases[i].loss);
		wh_sim_engine_start(add(&rig, &config), 0);
		check_finished(&rig, cases[i].size_bytes);
		wh_sim_run(rig.sim, 200 * WH_PS_PER_S);
		check_verified(&rig, 0, cases[i].size_bytes);
		CU_ASSERT_EQUAL(closed(&rig), 1);

		const struct wh_sim_flow_stats *stats = stats_of(&rig, 0);
		const struct wh_sim_link_stats *link = wh_sim_link_stats(rig.sim, rig.link[0]);
		uint64_t pkts = (cases[i].size_bytes + 1407) / 1408;

		/* Each that was lost went again; nothing else did, but what a NAK said too soon. */
		WH_ASSERT_NEAR(link->lost_pkts, link->entered_pkts * cases[i].loss, 0.25);
		CU_ASSERT_EQUAL(stats->sent_pkts, pkts + stats->retransmitted_pkts);
		CU_ASSERT_TRUE(stats->retransmitted_pkts >= stats->sent_pkts * cases[i].loss / 2);
		rig_close(&rig);
	}
}

/*
 * Of ten packets seven are lost, either way: CONFIRM may not come through for as long as its cookie
 * lives. Then it is asked anew, and what is said to have arrived arrived once.
 */
static void test_asks_anew(void)
{
	uint32_t verified = 0, late = 0;

	for (uint64_t seed = 1; seed <= 32; seed++) {
		struct rig rig;
		struct wh_sim_engine_config config = fixed_at(100000000, 1408);

		rig_open(&rig, seed, 1000000000, 5 * MS_PS, 1000, 0.7);
		wh_sim_engine_start(add(&rig, &config), 0);
		wh_sim_run(rig.sim, 100 * WH_PS_PER_S);
		CU_ASSERT_EQUAL(closed(&rig), 1);
		if (wh_session_outcome(wh_sim_engine_sender(rig.engine[0])) == WH_STATUS_VERIFIED) {
			check_verified(&rig, 0, 1408);
			verified++;
			late += stats_of(&rig, 0)->opened_ps > 7 * WH_PS_PER_S;
		}
		rig_close(&rig);
	}
	CU_ASSERT(verified >= 12);
	CU_ASSERT(late >= 4);
}

/* Whichever comes through first, the last state or the last word: it is finished then. */
static void test_finished_in_time(void)
{
	uint32_t by_state = 0;

	/* A state comes every 10 ms, and the request for the last word every round trip. */
	for (uint64_t seed = 1; seed <= 16; seed++) {
		struct rig rig;
		struct wh_sim_engine_config config = fixed_at(100000000, 1);

		rig_open(&rig, seed, 1000000000, 50 * MS_PS, 1000, 0.4);
		wh_sim_engine_start(add(&rig, &config), 0);
		check_finished(&rig, 1);
		by_state += wh_session_moved_bytes(wh_sim_engine_sender(rig.engine[0])) == 1;
		rig_close(&rig);
	}
	CU_ASSERT_TRUE(by_state > 0 && by_state < 16);
}

/* 100 Mb/s and 10 ms, a queue of the product of both: 83 packets. */
static void test_udt_alone(void)
{
	struct rig rig;
	struct wh_sim_engine_config config;

	wh_sim_engine_config_init(&config, wh_profile_find("udt"));
	rig_open(&rig, 1, 100000000, 5 * MS_PS, 83, 0);

	struct wh_sim_engine *engine = add(&rig, &config);

	wh_sim_engine_start(engine, 0);
	wh_sim_run(rig.sim, 20 * WH_PS_PER_S);

	/* Of 1500 bytes 1408 are goodput. */
	double share = (double)stats_of(&rig, 0)->goodput_bytes * 8 / 20 / 100e6 * 1500 / 1408;

	CU_ASSERT_TRUE(share > 0.9 && share <= 1);

	const struct wh_control *control = wh_session_control(wh_sim_engine_sender(engine));
	const struct wh_udt *udt = (const struct wh_udt *)control->state;

	CU_ASSERT_FALSE(udt->slow_start);
	/* B of (6), what pairs measure: 8333 packets a second. */
	WH_ASSERT_NEAR(udt->capacity_pps, 100e6 / 8 / 1500, 0.01);
	CU_ASSERT_TRUE(wh_sim_engine_rate_bps(engine) > 80e6);
	CU_ASSERT_TRUE(wh_sim_engine_rate_bps(engine) < 125e6);
	rig_close(&rig);
}

/* Everything that is counted, of two seconds of a lossy line that three flows share. */
static void run_for_stats(uint64_t seed, struct wh_sim_flow_stats *flows,
	struct wh_sim_link_stats *links, struct wh_session_stats *sessions)
{
	struct rig rig;
	struct wh_sim_engine_config config;

	wh_sim_engine_config_init(&config, wh_profile_find("udt"));
	rig_open(&rig, seed, 100000000, 5 * MS_PS, 50, 0.001);
	for (uint32_t i = 0; i < 3; i++) {
		wh_sim_run(rig.sim, i * MS_PS);
		wh_sim_engine_start(add(&rig, &config), i * MS_PS);
	}
	wh_sim_run(rig.sim, 2 * WH_PS_PER_S);
	for (uint32_t i = 0; i < 3; i++) {
		flows[i] = *stats_of(&rig, i);
		sessions[i] = wh_session_stats(wh_sim_engine_sender(rig.engine[i]));
	}
	for (uint32_t i = 0; i < 2; i++)
		links[i] = *wh_sim_link_stats(rig.sim, rig.link[i]);
	rig_close(&rig);
}

static void test_same_seed_same_run(void)
{
	struct wh_sim_flow_stats flows[3][3];
	struct wh_sim_link_stats links[3][2];
	struct wh_session_stats sessions[3][3];

	memset(links, 0, sizeof(links));
	for (uint32_t i = 0; i < 3; i++)
		run_for_stats(i < 2 ? 11 : 12, flows[i], links[i], sessions[i]);
	CU_ASSERT_EQUAL(memcmp(flows[0], flows[1], sizeof(flows[0])), 0);
	CU_ASSERT_EQUAL(memcmp(links[0], links[1], sizeof(links[0])), 0);
	CU_ASSERT_EQUAL(memcmp(sessions[0], sessions[1], sizeof(sessions[0])), 0);
	CU_ASSERT_NOT_EQUAL(memcmp(flows[0], flows[2], sizeof(flows[0])), 0);
}

/* A second of 10 Mb/s each, which a line of 1 Gb/s carries twice. */
static void test_fifty_at_once(void)
{
	struct rig rig;
	struct wh_sim_engine_config config = fixed_at(10000000, 1250000);

	config.window_pkts = 64;
	rig_open(&rig, 1, 1000000000, MS_PS, 200, 0);
	for (uint32_t i = 0; i < FLOWS; i++)
		wh_sim_engine_start(add(&rig, &config), 0);
	wh_sim_run(rig.sim, 3 * WH_PS_PER_S);
	CU_ASSERT_EQUAL(closed(&rig), FLOWS);
	/* Each starts where its seed says. */
	CU_ASSERT_NOT_EQUAL(wh_session_params(wh_sim_engine_sender(rig.engine[0]))->first_pn,
		wh_session_params(wh_sim_engine_sender(rig.engine[1]))->first_pn);
	for (uint32_t i = 0; i < FLOWS; i++) {
		check_verified(&rig, i, 1250000);
		CU_ASSERT_EQUAL(stats_of(&rig, i)->dropped_pkts, 0);
	}
	rig_close(&rig);
}

/* A source stops within what is on its way; the session ends, though the stream had no size. */
static void test_stop(void)
{
	struct rig rig;
	struct wh_sim_engine_config config = fixed_at(100000000, WH_OBJECT_BYTES_UNKNOWN);

	rig_open(&rig, 1, 1000000000, 5 * MS_PS, 100, 0);
	wh_sim_engine_start(add(&rig, &config), 0);
	wh_sim_run(rig.sim, WH_PS_PER_S);

	uint64_t sent_pkts = stats_of(&rig, 0)->sent_pkts;

	wh_sim_engine_stop(rig.engine[0]);
	wh_sim_run(rig.sim, 1200 * MS_PS);
	CU_ASSERT_EQUAL(closed(&rig), 1);
	wh_sim_engine_stop(rig.engine[0]);
	CU_ASSERT_EQUAL(closed(&rig), 1);
	/* The FIFO of admitted packets (255), the chunk in hand and two that are ready. */
	CU_ASSERT_TRUE(stats_of(&rig, 0)->sent_pkts <= sent_pkts + 255 + 3 * 32);
	check_verified(&rig, 0, stats_of(&rig, 0)->sent_pkts * 1408);
	CU_ASSERT_EQUAL(stats_of(&rig, 0)->finished_ps, WH_SIM_NEVER_PS);
	rig_close(&rig);
}

/* Before it has begun a stream may end, too; asked twice it ends once. */
static void test_stop_at_once(void)
{
	struct rig rig;
	struct wh_sim_engine_config config = fixed_at(100000000, 1000000);

	rig_open(&rig, 1, 1000000000, 5 * MS_PS, 100, 0);
	wh_sim_engine_start(add(&rig, &config), 0);
	wh_sim_engine_stop(rig.engine[0]);
	wh_sim_run(rig.sim, 5 * MS_PS);
	wh_sim_engine_stop(rig.engine[0]);
	wh_sim_run(rig.sim, WH_PS_PER_S);
	CU_ASSERT_EQUAL(closed(&rig), 1);
	/* Two chunks of 32 packets were ready. */
	check_verified(&rig, 0, 64 * 1408);
	CU_ASSERT_EQUAL(stats_of(&rig, 0)->finished_ps, WH_SIM_NEVER_PS);
	rig_close(&rig);
}

static void test_small_sizes(void)
{
	static const struct {
		uint64_t size_bytes;
		uint64_t pkts;
	} cases[] = {{0, 0}, {1, 1}, {1408, 1}, {1409, 2}, {32 * 1408, 32}, {32 * 1408 + 1, 33}};

	for (uint32_t i = 0; i < 6; i++) {
		struct rig rig;
		struct wh_sim_engine_config config = fixed_at(100000000, cases[i].size_bytes);

		rig_open(&rig, 1, 1000000000, 5 * MS_PS, 100, 0);
		wh_sim_engine_start(add(&rig, &config), 0);
		wh_sim_run(rig.sim, WH_PS_PER_S);
		CU_ASSERT_EQUAL(closed(&rig), 1);
		check_verified(&rig, 0, cases[i].size_bytes);
		CU_ASSERT_EQUAL(stats_of(&rig, 0)->sent_pkts, cases[i].pkts);
		CU_ASSERT_TRUE(stats_of(&rig, 0)->finished_ps < WH_PS_PER_S);
		rig_close(&rig);
	}
}

/* Several connections may belong to one flow, which counts them together. */
static void test_two_of_one_flow(void)
{
	struct rig rig;
	struct wh_sim_engine_config config = fixed_at(100000000, 1000000);

	rig_open(&rig, 1, 1000000000, 5 * MS_PS, 100, 0);
	add(&rig, &config);
	rig.engine[rig.engines++] =
		wh_sim_engine_create(rig.sim, &config, rig.node[0], rig.node[1], rig.flow[0], 7);
	for (uint32_t i = 0; i < 2; i++)
		wh_sim_engine_start(rig.engine[i], 0);
	wh_sim_run(rig.sim, WH_PS_PER_S);
	CU_ASSERT_EQUAL(stats_of(&rig, 0)->goodput_bytes, 2000000);
	CU_ASSERT_EQUAL(stats_of(&rig, 0)->sent_pkts, 2 * 711);
	rig_close(&rig);
}

/* Of windows and packets whose chunks take other numbers of packets. */
static void test_windows_and_packets(void)
{
	static const struct {
		uint32_t mtu_bytes;
		uint32_t window_pkts;
	} cases[] = {{124, 64}, {9000, 64}, {8284, 128}, {1500, 1 << 22}};

	for (uint32_t i = 0; i < 4; i++) {
		struct rig rig;
		struct wh_sim_engine_config config = fixed_at(50000000, 1000001);

		config.mtu_bytes = cases[i].mtu_bytes;
		config.window_pkts = cases[i].window_pkts;
		rig_open(&rig, 1, 1000000000, MS_PS, 1000, 0.001);
		wh_sim_engine_start(add(&rig, &config), 0);
		wh_sim_run(rig.sim, 10 * WH_PS_PER_S);
		check_verified(&rig, 0, 1000001);
		rig_close(&rig);
	}
}

/* Nobody answers: the connection ends by its patience of 30 s. */
static void test_no_answer(void)
{
	struct rig rig;
	struct wh_sim_engine_config config = fixed_at(50000000, 1000);

	rig_open(&rig, 1, 1000000000, MS_PS, 1000, 1);
	wh_sim_engine_start(add(&rig, &config), 0);
	wh_sim_run(rig.sim, 30 * WH_PS_PER_S);
	CU_ASSERT_EQUAL(closed(&rig), 0);
	wh_sim_run(rig.sim, 35 * WH_PS_PER_S);
	CU_ASSERT_EQUAL(closed(&rig), 1);
	CU_ASSERT_EQUAL(
		wh_session_outcome(wh_sim_engine_sender(rig.engine[0])), WH_STATUS_PEER_GONE);
	CU_ASSERT_EQUAL(stats_of(&rig, 0)->finished_ps, WH_SIM_NEVER_PS);
	CU_ASSERT_EQUAL(stats_of(&rig, 0)->sent_pkts, 0);
	rig_close(&rig);
}

/*
 * 0.5 % of loss over a round trip of 200 ms: repair packets bring back nearly all of it, so that
 * next to nothing is sent again.
 */
static void test_repair_packets(void)
{
	static const enum wh_fec_code codes[] = {WH_FEC_RS, WH_FEC_TORNADO};

	for (uint32_t i = 0; i < 2; i++) {
		struct rig rig;
		struct wh_sim_engine_config config = fixed_at(100000000, 30000000);

		config.window_pkts = 16384;
		config.chunk_pkts = 736;
		config.repair.recovery = WH_RECOVERY_HYBRID;
		config.repair.repair_pkts = 240;
		wh_fec_planner_config_init(&config.repair.planner, codes[i]);
		config.repair.planner.initial_loss = 0.005;
		rig_open(&rig, 1, 1000000000, 100 * MS_PS, 1000, 0.005);
		add(&rig, &config);
		wh_sim_engine_start(rig.engine[0], 0);
		wh_sim_run(rig.sim, 20 * S_PS);
		check_verified(&rig, 0, 30000000);

		struct wh_session_stats stats =
			wh_session_stats(wh_sim_engine_receiver(rig.engine[0]));

		/* 21,307 data packets, 107 of them lost, and 6 to 8 % more of repair. */
		CU_ASSERT_TRUE(stats.losses_detected_pkts > 80);
		CU_ASSERT_TRUE(stats.repaired_pkts > 80);
		CU_ASSERT_TRUE(stats.repair_pkts < 21307 / 10);
		CU_ASSERT_TRUE(stats_of(&rig, 0)->retransmitted_pkts <= 5);
		rig_close(&rig);
	}
}

/* Three chunks of 64 packets; each is encoded when the one before it begins to be sent. */
static struct wh_sim_engine_config three_chunks(void)
{
	struct wh_sim_engine_config config = fixed_at(100000000, 3 * UINT64_C(64) * 1408);

	config.chunk_pkts = 64;
	config.repair = (struct wh_repair_config){
		.recovery = WH_RECOVERY_HYBRID,
		.code = WH_FEC_RS,
		.repair_pkts = 8,
		.fixed_k = 32,
		.fixed_r = 4,
	};
	return config;
}

static void test_repair_is_counted(void)
{
	struct rig rig;
	struct wh_sim_engine_config config = three_chunks();

	rig_open(&rig, 1, 1000000000, 5 * MS_PS, 1000, 0);
	add(&rig, &config);
	wh_sim_engine_start(rig.engine[0], 0);
	wh_sim_run(rig.sim, S_PS);
	check_verified(&rig, 0, config.size_bytes);
	CU_ASSERT_EQUAL(wh_sim_engine_chunk_pkts(&config), 64);
	CU_ASSERT_EQUAL(stats_of(&rig, 0)->sent_pkts, 3 * 72);
	CU_ASSERT_EQUAL(stats_of(&rig, 0)->repair_pkts, 3 * 8);
	CU_ASSERT_EQUAL(stats_of(&rig, 0)->retransmitted_pkts, 0);
	rig_close(&rig);
}

/*
 * The first chunk is encoded while the connection is opened, for a round trip of 10 ms, and each
 * other one while the one before it is sent: 72 packets of 120 us are 8.64 ms.
 */
static void test_encoding_takes_time(void)
{
	static const struct {
		uint64_t encode_ms;
		double begins_later_ms;
		double ends_later_ms;
	} cases[] = {
		{0, 0.0, 0.0},
		{5, 0.0, 0.0},
		{20, 10.0, 10.0 + 2 * (20.0 - 8.64)},
		{100, 90.0, 90.0 + 2 * (100.0 - 8.64)},
	};
	double first_sent_ms = 0.0;
	double finished_ms = 0.0;

	for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rig rig;
		struct wh_sim_engine_config config = three_chunks();

		config.encode_ps = cases[i].encode_ms * MS_PS;
		rig_open(&rig, 1, 1000000000, 5 * MS_PS, 1000, 0);
		add(&rig, &config);
		wh_sim_engine_start(rig.engine[0], 0);
		wh_sim_run(rig.sim, S_PS);
		check_verified(&rig, 0, config.size_bytes);
		if (i == 0) {
			first_sent_ms = (double)stats_of(&rig, 0)->first_sent_ps / MS_PS;
			finished_ms = (double)stats_of(&rig, 0)->finished_ps / MS_PS;
		}
		WH_ASSERT_NEAR((double)stats_of(&rig, 0)->first_sent_ps / MS_PS - first_sent_ms,
			cases[i].begins_later_ms, 0.1);
		/* The last state says that all has come, and has a period of 10 ms. */
		CU_ASSERT(fabs((double)stats_of(&rig, 0)->finished_ps / MS_PS - finished_ms -
				  cases[i].ends_later_ms) <= 11.0);
		rig_close(&rig);
	}
}

/*
 * No chunk is planned before the one ahead of it begins to be sent, so that only those that begin
 * within a round trip, 10 ms of 8.64 or more, and the one behind them, are planned by what is
 * projected: three of twenty. The others need less and less, as no loss is seen; five more planned
 * by the projection make it 13 times what it takes.
 */
static void test_planned_when_wanted(void)
{
	struct rig rig;
	struct wh_sim_engine_config config = three_chunks();
	struct wh_fec_planner planner;
	struct wh_fec_shape shape = {.k = 64};

	config.size_bytes = 20 * UINT64_C(64) * 1408;
	config.repair.fixed_k = 0;
	config.repair.fixed_r = 0;
	config.repair.repair_pkts = 64;
	wh_fec_planner_config_init(&config.repair.planner, WH_FEC_RS);
	config.repair.planner.initial_loss = 0.05;
	config.repair.planner.r_max = 64;
	wh_fec_planner_init(&planner, &config.repair.planner);
	wh_fec_planner_plan(&planner, &shape);
	CU_ASSERT_TRUE(shape.r >= 8);
	rig_open(&rig, 1, 1000000000, 5 * MS_PS, 1000, 0);
	add(&rig, &config);
	wh_sim_engine_start(rig.engine[0], 0);
	wh_sim_run(rig.sim, S_PS);
	check_verified(&rig, 0, config.size_bytes);
	CU_ASSERT_TRUE(stats_of(&rig, 0)->repair_pkts >= 3 * shape.r);
	CU_ASSERT_TRUE(stats_of(&rig, 0)->repair_pkts < 11 * shape.r);
	rig_close(&rig);
}

/* At 8 Mb/s for 20 s from 1 s on, what a clock sends that goes so wrong and is so far ahead. */
static double sent_by(double skew, uint64_t ahead_ps)
{
	struct wh_sim_engine_config config = fixed_at(8000000, WH_OBJECT_BYTES_UNKNOWN);
	uint64_t before_pkts;
	struct rig rig;

	rig_open(&rig, 1, 100000000, 5 * MS_PS, 1000, 0.0);
	config.sender_clock.skew = skew;
	config.sender_clock.offset_ps = ahead_ps;
	config.receiver_clock.skew = -skew;
	wh_sim_engine_start(add(&rig, &config), 0);
	wh_sim_run(rig.sim, S_PS);
	before_pkts = stats_of(&rig, 0)->sent_pkts;
	CU_ASSERT_TRUE(before_pkts > 600);
	CU_ASSERT_EQUAL(stats_of(&rig, 0)->opened_ps / MS_PS, 10);
	wh_sim_run(rig.sim, 21 * S_PS);

	double sent_pkts = (double)(stats_of(&rig, 0)->sent_pkts - before_pkts);

	rig_close(&rig);
	return sent_pkts;
}

/*
 * A sender whose clock goes a thousandth too fast sends two thousandths more than one whose clock
 * is as slow. Nobody minds how far it is ahead.
 */
static void test_clocks(void)
{
	WH_ASSERT_NEAR(sent_by(1e-3, 0) / sent_by(-1e-3, 0), 1.002, 2e-4);
	CU_ASSERT_EQUAL(sent_by(1e-3, 100 * S_PS), sent_by(1e-3, 0));
}

/*
 * Hosts that are away for a fifth of the time lose nothing, and a sender that catches up by a burst
 * at most sends four fifths of its rate.
 */
static void test_absences(void)
{
	struct wh_sim_engine_config config = fixed_at(80000000, WH_OBJECT_BYTES_UNKNOWN);
	struct rig rig;

	config.sender_absence = (struct wh_absence_config){.mean = {40 * MS_PS, 10 * MS_PS}};
	config.receiver_absence = (struct wh_absence_config){.mean = {4 * MS_PS, 1 * MS_PS}};
	rig_open(&rig, 1, 100000000, 5 * MS_PS, 1000, 0.0);
	wh_sim_engine_start(add(&rig, &config), 0);
	wh_sim_run(rig.sim, 100 * S_PS);
	WH_ASSERT_NEAR((double)stats_of(&rig, 0)->sent_pkts, 0.8 * 80e6 * 100 / 8 / 1500, 0.0225);
	CU_ASSERT_EQUAL(stats_of(&rig, 0)->retransmitted_pkts, 0);
	rig_close(&rig);
}

CU_TestInfo wh_tests[] = {
	{"absences", test_absences},
	{"clocks of their own", test_clocks},
	{"repair packets", test_repair_packets},
	{"repair is counted", test_repair_is_counted},
	{"encoding takes time", test_encoding_takes_time},
	{"planned when wanted", test_planned_when_wanted},
	{"before and after", test_before_and_after},
	{"fixed: rate and bytes", test_fixed_rate_and_bytes},
	{"opening takes a round trip", test_opening_takes_a_round_trip},
	{"loss is repaired", test_loss_is_repaired},
	{"asks anew", test_asks_anew},
	{"finished in time", test_finished_in_time},
	{"udt alone", test_udt_alone},
	{"same seed, same run", test_same_seed_same_run},
	{"fifty at once", test_fifty_at_once},
	{"stop", test_stop},
	{"stop at once", test_stop_at_once},
	{"small sizes", test_small_sizes},
	{"two of one flow", test_two_of_one_flow},
	{"windows and packets", test_windows_and_packets},
	{"no answer", test_no_answer},
	CU_TEST_INFO_NULL,
};
