/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The tasks of two ends as FIFOs and processors, with whole sessions between them, over a
 * network that takes 10 ms each way and loses nothing.
 */

#include "lab/scenario/engine.h"
#include "unit.h"

const char wh_suite_name[] = "scenario_processes";

#define US       (1000 * WH_PS_PER_NS)
#define DELAY_MS 10
#define MTU      1116 /* 1024 of payload */

static char busiest[96]; /* of the last run */

static double run(const struct wh_sim_engine_config *config, uint64_t seconds, uint64_t *again)
{
	struct wh_sim *sim = wh_sim_create(1);
	struct wh_sim_link_config link = {
		.rate_bps = UINT64_C(10000000000),
		.delay_ps = DELAY_MS * 1000 * US,
	};
	struct wh_sim_engine *engine;
	struct wh_sim_flow_stats *stats;
	uint32_t from = wh_sim_add_node(sim);
	uint32_t to = wh_sim_add_node(sim);
	uint32_t flow = wh_sim_add_flow(sim);
	double pps;

	link.to = to;
	wh_sim_add_link(sim, &link);
	link.from = to;
	link.to = from;
	wh_sim_add_link(sim, &link);
	engine = wh_sim_engine_create(sim, config, from, to, flow, 7);
	stats = wh_sim_flow_stats(sim, flow);
	wh_sim_engine_start(engine, 0);
	wh_sim_run(sim, WH_PS_PER_S);
	pps = -(double)stats->goodput_bytes / 1024;
	wh_sim_run(sim, (1 + seconds) * WH_PS_PER_S);
	pps = (pps + (double)stats->goodput_bytes / 1024) / (double)seconds;
	*again = stats->retransmitted_pkts;
	snprintf(busiest, sizeof(busiest), "%s", stats->busiest);
	wh_session_check(wh_sim_engine_sender(engine), true);
	wh_session_check(wh_sim_engine_receiver(engine), true);
	wh_sim_engine_destroy(engine);
	wh_sim_destroy(sim);
	return pps;
}

/* The paper's tasks are alike. */
static void take(uint64_t task_ps[WH_TASKS], uint64_t us)
{
	for (uint32_t i = 0; i < WH_TASKS_PAPER; i++)
		task_ps[i] = us * US;
}

static struct wh_sim_engine_config config_of(const char *profile, uint32_t window_pkts)
{
	struct wh_sim_engine_config config;

	wh_sim_engine_config_init(&config, wh_profile_find(profile));
	config.mtu_bytes = MTU;
	config.rate_bps = 1000000000;
	config.window_pkts = window_pkts;
	config.tasks = (struct wh_tasks_config){
		.arrival_ps = 80 * US,
		.cores = 4,
		.sealing = 1,
	};
	take(config.tasks.task_ps, 80);
	take(config.tasks.receiver_task_ps, 80);
	return config;
}

static void set(struct wh_sim_engine_config *config, const char *option, double value)
{
	CU_ASSERT_EQUAL(
		wh_profile_options_put(&config->options, config->profile, option, value), 0);
}

/*
 * What arrives gets through when tasks are faster than it comes: 12,500 a second. The first
 * packet overtakes CONFIRM, which two tasks work on, and is lost; an acknowledgement of all in
 * order holds up a round trip's packets for that.
 */
static void test_all_gets_through(void)
{
	static const char *const profiles[] = {"pxp", "pack"};
	static const uint64_t again_most[] = {1, 300};

	for (uint32_t i = 0; i < 2; i++) {
		struct wh_sim_engine_config config = config_of(profiles[i], 1024);
		uint64_t again;
		double pps;

		take(config.tasks.task_ps, 60);
		take(config.tasks.receiver_task_ps, 60);
		set(&config, "timeout", 50e6);
		pps = run(&config, 5, &again);
		CU_ASSERT(pps > 0.98 * 12500 && pps < 1.02 * 12500);
		CU_ASSERT(again <= again_most[i]);
	}
}

/* The slowest task decides: 100 us are 10,000 packets a second; trans also has the states. */
static void test_slowest(void)
{
	struct wh_sim_engine_config config = config_of("pxp", 1024);
	uint64_t again;
	double pps;

	take(config.tasks.task_ps, 100);
	set(&config, "timeout", 50e6);
	pps = run(&config, 5, &again);
	CU_ASSERT(pps > 9700 && pps <= 9850);
	take(config.tasks.receiver_task_ps, 125);
	pps = run(&config, 5, &again);
	CU_ASSERT(pps > 7900 && pps <= 8001);
}

/* One processor does both for each packet, and the states: less than half. */
static void test_single(void)
{
	struct wh_sim_engine_config config = config_of("pxp", 1024);
	uint64_t again;
	double pps;

	config.tasks.cores = 1;
	set(&config, "timeout", 50e6);
	pps = run(&config, 5, &again);
	CU_ASSERT(pps > 5800 && pps < 6250);
}

/*
 * A real end by its cores, at each end the same: one does all (133 us), two the half with sealing
 * (120, and 10 for the way between), four have two that seal (120 by two), or the paper's one.
 */
static void test_cores(void)
{
	static const struct {
		uint32_t cores;
		uint32_t sealing;
		double pps;
		const char *busiest;
	} cases[] = {
		{1, 4, 7519, "get_rcv_stat+send_trans_stat+trans+host_trans+seal+port"},
		{2, 4, 7692, "seal+port"},
		{4, 4, 16667, "seal"},
		{4, 1, 8333, "seal"},
	};
	static const uint64_t task_us[WH_TASKS] = {1, 1, 10, 1, 100, 20};

	for (uint32_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct wh_sim_engine_config config = config_of("pxp", 1024);
		uint64_t again;
		double pps;

		config.tasks.arrival_ps = 20 * US;
		config.tasks.real = true;
		for (uint32_t k = 0; k < WH_TASKS; k++) {
			config.tasks.task_ps[k] = task_us[k] * US;
			config.tasks.receiver_task_ps[k] = task_us[k] * US;
		}
		config.tasks.handing_ps = 10 * US;
		config.tasks.cores = cases[i].cores;
		config.tasks.sealing = cases[i].sealing;
		set(&config, "timeout", 500e6);
		pps = run(&config, 2, &again);
		CU_ASSERT(pps > 0.97 * cases[i].pps && pps < 1.03 * cases[i].pps);
		CU_ASSERT_STRING_EQUAL(busiest, cases[i].busiest);
		CU_ASSERT(again <= 1);
	}
}

/* 64 packets in two delays, four tasks, and a state that waits for up to 5 ms. */
static void test_window(void)
{
	struct wh_sim_engine_config config = config_of("pxp", 64);
	uint64_t again;
	double pps;

	set(&config, "timeout", 50e6);
	set(&config, "window", 64);
	pps = run(&config, 5, &again);
	CU_ASSERT(pps < 64 / 0.020 && pps > 64 / 0.030);
	CU_ASSERT(again <= 1);
}

/*
 * A receiver four times slower than the line, and nothing is lost: what goes again does so in vain.
 * Without the part of the interval that grows with the load it is an avalanche.
 */
static void test_slow_receiver(void)
{
	struct wh_sim_engine_config config = config_of("pxp", 1024);
	uint64_t again;
	double pps;

	take(config.tasks.receiver_task_ps, 320);
	set(&config, "timeout", 30e6);
	pps = run(&config, 10, &again);
	CU_ASSERT(pps > 0.98 * 3125 && pps <= 3126);
	CU_ASSERT(again <= 11 * 3125 / 100);
	set(&config, "load", 0);
	pps = run(&config, 10, &again);
	CU_ASSERT(again > 11 * 3125);
	CU_ASSERT(pps < 3125 / 2);
}

CU_TestInfo wh_tests[] = {
	{"all gets through", test_all_gets_through},
	{"the slowest task", test_slowest},
	{"one processor an end", test_single},
	{"a real end by its cores", test_cores},
	{"a window", test_window},
	{"a slow receiver", test_slow_receiver},
	CU_TEST_INFO_NULL,
};
