/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab/sim/machine/absence.h"

#include "unit.h"

const char wh_suite_name[] = "sim_absence";

#define MS_PS (WH_PS_PER_S / 1000)
#define S_PS  WH_PS_PER_S

struct rig {
	struct wh_sim_events events;
	struct wh_sim_pool pool;
	struct wh_absence absence;
	uint64_t away_ps;
	uint64_t left_ps;
	uint32_t returns;
	uint32_t taken;
};

static void come_back(void *context, uint64_t now_ps)
{
	struct rig *rig = context;
	struct wh_sim_packet *packet;
	uint32_t flow = 0;

	CU_ASSERT_TRUE(!wh_absence_is_away(&rig->absence));
	rig->returns++;
	rig->away_ps += now_ps - rig->left_ps;
	while ((packet = wh_absence_next(&rig->absence)) != NULL) {
		CU_ASSERT_EQUAL(packet->flow, flow++);
		wh_sim_packet_put(&rig->pool, packet);
	}
	rig->taken += flow;
}

static void open_rig(struct rig *rig, struct wh_absence_config config)
{
	*rig = (struct rig){0};
	wh_sim_events_init(&rig->events);
	wh_sim_pool_init(&rig->pool);
	wh_absence_init(&rig->absence, &config, &rig->events, 7, come_back, rig);
	wh_absence_start(&rig->absence, 0);
}

static void close_rig(struct rig *rig)
{
	wh_absence_stop(&rig->absence, &rig->pool);
	CU_ASSERT_EQUAL(rig->pool.in_use_pkts, 0);
	wh_sim_pool_free(&rig->pool);
	wh_sim_events_free(&rig->events);
}

/* Three packets come in each absence. */
static void run_until(struct rig *rig, uint64_t until_ps)
{
	while (rig->events.now_ps < until_ps) {
		uint64_t next_ps = wh_sim_event_due_ps(&rig->events, &rig->absence.change);
		bool away = wh_absence_is_away(&rig->absence);

		wh_sim_events_run(&rig->events, next_ps);
		if (away)
			continue;
		rig->left_ps = next_ps;
		for (uint32_t i = 0; i < 3; i++) {
			struct wh_sim_packet *packet = wh_sim_packet_get(&rig->pool);

			packet->flow = i;
			wh_absence_keep(&rig->absence, packet);
		}
	}
}

/* Of 100 s it is away for 2 of 10 ms, some 10,000 times, and what came then is in order. */
static void test_away(void)
{
	struct rig rig;

	open_rig(&rig, (struct wh_absence_config){.mean = {8 * MS_PS, 2 * MS_PS}});
	run_until(&rig, 100 * S_PS);
	WH_ASSERT_NEAR((double)rig.returns, 10000.0, 0.03);
	WH_ASSERT_NEAR((double)rig.away_ps / (double)S_PS, 20.0, 0.04);
	CU_ASSERT_EQUAL(rig.taken, 3 * rig.returns);
	close_rig(&rig);
}

/* Pairs of a machine: after 1 ms it is away for 9, after 19 for 1, in equal parts. */
static void test_spans(void)
{
	static const struct wh_absence_span spans[] = {
		{1 * MS_PS, 9 * MS_PS}, {19 * MS_PS, 1 * MS_PS}};
	struct rig rig;

	open_rig(&rig, (struct wh_absence_config){.spans = spans, .n_spans = 2});
	while (rig.returns < 1000) {
		uint64_t here_ps = wh_sim_event_due_ps(&rig.events, &rig.absence.change);
		uint64_t back_ps = rig.events.now_ps;

		here_ps -= back_ps;
		run_until(&rig, back_ps + here_ps);
		CU_ASSERT_EQUAL(
			wh_sim_event_due_ps(&rig.events, &rig.absence.change) - rig.events.now_ps,
			here_ps == 1 * MS_PS ? 9 * MS_PS : 1 * MS_PS);
		run_until(&rig, rig.events.now_ps + 1);
	}
	WH_ASSERT_NEAR((double)rig.away_ps / (double)S_PS, 5.0, 0.1);
	CU_ASSERT_EQUAL(rig.taken, 3 * rig.returns);
	close_rig(&rig);
}

static void test_never(void)
{
	struct rig rig;

	open_rig(&rig, (struct wh_absence_config){0});
	CU_ASSERT_TRUE(!wh_sim_event_is_pending(&rig.absence.change));
	CU_ASSERT_TRUE(!wh_absence_is_away(&rig.absence));
	close_rig(&rig);
}

CU_TestInfo wh_tests[] = {
	{"away now and then", test_away},
	{"away as a machine was", test_spans},
	{"never away", test_never},
	CU_TEST_INFO_NULL,
};
