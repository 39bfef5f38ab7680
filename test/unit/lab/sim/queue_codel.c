/* SPDX-License-Identifier: BSD-3-Clause */
#include "unit.h"

#include <math.h>

#include "sim_queue_rig.h"

const char wh_suite_name[] = "sim_queue_codel";

#define MS       UINT64_C(1000000000)
#define RATE_BPS 100000000
#define BYTES    1000

static const struct wh_sim_queue_config codel = {.discipline = WH_SIM_CODEL};

/* Long enough that no drop is the last of its queue. */
static void fill(struct queue_rig *rig, uint64_t now_ps, unsigned int packets)
{
	for (unsigned int i = 0; i < packets; i++)
		rig_put(rig, now_ps, BYTES);
}

/*
 * One packet leaves each step, all have waited `wait_ps`: when each drop came goes into drop_ps.
 * Returns how many came before end_ps.
 */
static unsigned int drive(struct queue_rig *rig, uint64_t from_ps, uint64_t end_ps,
	uint64_t wait_ps, uint64_t step_ps, uint64_t *drop_ps, unsigned int room)
{
	unsigned int drops = 0;

	for (uint64_t now_ps = from_ps; now_ps < end_ps; now_ps += step_ps) {
		unsigned int before = rig->early;

		while (rig->queue.fifo.count_pkts > 0)
			wh_sim_packet_put(&rig->pool, wh_sim_fifo_pop(&rig->queue.fifo));
		fill(rig, now_ps - wait_ps, 10);
		rig_take(rig, now_ps);
		CU_ASSERT_TRUE(rig->early <= before + 1);
		if (rig->early > before && drops < room)
			drop_ps[drops++] = now_ps;
	}
	return drops;
}

/* A drop after 100 ms above target, and the next after 100 ms / sqrt(1), / sqrt(2), / sqrt(3). */
static void drops_come_closer_by_the_square_root(void)
{
	static uint64_t drop_ps[200];
	struct queue_rig rig;
	uint64_t step_ps = MS / 100;

	rig_init(&rig, &codel, RATE_BPS, 1);

	unsigned int drops = drive(&rig, 1000 * MS, 4000 * MS, 20 * MS, step_ps, drop_ps, 200);

	/* 1 + 1/sqrt(2) + ... + 1/sqrt(n) is 29 at 232. */
	CU_ASSERT_EQUAL(drops, 200);

	double due_ps = 1100.0 * MS;

	for (unsigned int n = 0; n < drops; n++) {
		CU_ASSERT_TRUE((double)drop_ps[n] >= due_ps - 1000.0);
		CU_ASSERT_TRUE((double)drop_ps[n] < due_ps + (double)step_ps);
		due_ps += 100.0 * MS / sqrt(n + 1.0);
	}
	CU_ASSERT_EQUAL(drop_ps[0], 1100 * MS);
	CU_ASSERT_EQUAL(drop_ps[1], 1200 * MS);
	CU_ASSERT_EQUAL(drop_ps[2], 1270 * MS + 72 * step_ps); /* 1270.711 */
	CU_ASSERT_EQUAL(drop_ps[3], 1328 * MS + 45 * step_ps); /* 1328.446 */
	rig_free(&rig);
}

static void waits_below_target_are_left_alone(void)
{
	static const struct {
		uint64_t wait_ps;
		bool drops;
	} cases[] = {{0, false}, {MS, false}, {5 * MS - 1, false}, {5 * MS, true}, {6 * MS, true}};

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct queue_rig rig;
		uint64_t drop_ps[1];

		rig_init(&rig, &codel, RATE_BPS, 1);
		CU_ASSERT_EQUAL(
			drive(&rig, 10 * MS, 120 * MS, cases[i].wait_ps, MS, drop_ps, 1) == 1,
			cases[i].drops);
		rig_free(&rig);
	}
}

/* One good moment begins the interval anew. */
static void the_wait_must_be_long_all_the_time(void)
{
	struct queue_rig rig;
	uint64_t drop_ps[1];

	rig_init(&rig, &codel, RATE_BPS, 1);
	CU_ASSERT_EQUAL(drive(&rig, 100 * MS, 199 * MS, 20 * MS, MS, drop_ps, 1), 0);
	CU_ASSERT_EQUAL(drive(&rig, 199 * MS, 200 * MS, 2 * MS, MS, drop_ps, 1), 0);
	CU_ASSERT_EQUAL(drive(&rig, 200 * MS, 400 * MS, 20 * MS, MS, drop_ps, 1), 1);
	CU_ASSERT_EQUAL(drop_ps[0], 300 * MS);
	rig_free(&rig);
}

/* As much as the largest packet may stay behind the head, however long it waits. */
static void a_short_queue_is_left_alone(void)
{
	static const struct {
		uint32_t bytes[3];
		unsigned int early;
	} cases[] = {
		{{1000, 1000, 0}, 0}, /* one behind the head */
		{{1000, 600, 401}, 1},
		{{1000, 600, 400}, 0},
		{{100, 600, 500}, 1},
	};

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct queue_rig rig;

		rig_init(&rig, &codel, RATE_BPS, 1);
		for (uint64_t now_ps = 0; now_ps <= 100 * MS; now_ps += 100 * MS) {
			for (unsigned int n = 0; n < 3 && cases[i].bytes[n] != 0; n++)
				rig_put(&rig, now_ps, cases[i].bytes[n]);
			rig_take(&rig, now_ps + 50 * MS);
			CU_ASSERT_EQUAL(rig.early, now_ps == 0 ? 0 : cases[i].early);
			while (rig.queue.fifo.count_pkts > 0)
				wh_sim_packet_put(&rig.pool, wh_sim_fifo_pop(&rig.queue.fifo));
		}
		rig_free(&rig);
	}
}

/*
 * Dropping ends with a good wait. When it begins again within 16 intervals of the drop that was
 * due, it begins with as many as it had added, RFC 8289, section 5.5; later with one.
 */
static void dropping_remembers_where_it_ended(void)
{
	static const struct {
		uint64_t pause_ps;
		double gap_ps; /* after the first drop of the second time */
	} cases[] = {
		{50 * MS, 1e11 / 2.8284271}, /* sqrt(9 - 1) */
		{1510 * MS, 1e11 / 2.8284271},
		{1511 * MS, 1e11},
	};

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct queue_rig rig;
		uint64_t drop_ps[20];
		uint64_t step_ps = MS / 10;
		uint64_t begin_ps = 660 * MS;

		/* Drops at 200, 300, ... ms, the ninth at 637.1; the tenth was due at 670.5. */
		rig_init(&rig, &codel, RATE_BPS, 1);

		unsigned int drops = drive(&rig, 100 * MS, begin_ps, 20 * MS, step_ps, drop_ps, 20);

		CU_ASSERT_EQUAL(drops, 9);
		CU_ASSERT_EQUAL(rig.queue.codel.drops, 9);
		drive(&rig, begin_ps, begin_ps + step_ps, MS, step_ps, drop_ps, 20);
		CU_ASSERT_FALSE(rig.queue.codel.dropping);
		begin_ps += cases[i].pause_ps;
		drops = drive(&rig, begin_ps, begin_ps + 210 * MS, 20 * MS, step_ps, drop_ps, 20);
		CU_ASSERT_TRUE(drops >= 2);
		CU_ASSERT_EQUAL(drop_ps[0], begin_ps + 100 * MS);
		CU_ASSERT_TRUE(fabs((double)(drop_ps[1] - drop_ps[0]) - cases[i].gap_ps) <=
			       (double)step_ps);
		rig_free(&rig);
	}
}

/* Several drops may be due at once, when the line was busy for long. */
static void catches_up_on_drops(void)
{
	struct queue_rig rig;
	uint64_t drop_ps[2];

	rig_init(&rig, &codel, RATE_BPS, 1);
	CU_ASSERT_EQUAL(drive(&rig, 100 * MS, 301 * MS, 20 * MS, MS, drop_ps, 2), 2);

	/* Due: 370.7, 428.4, 478.4, 523.2 ms. */
	fill(&rig, 400 * MS, 100);

	unsigned int before = rig.early;

	rig_take(&rig, 500 * MS);
	CU_ASSERT_EQUAL(rig.early - before, 3);
	rig_free(&rig);
}

CU_TestInfo wh_tests[] = {
	{"drops come closer by the square root", drops_come_closer_by_the_square_root},
	{"waits below target are left alone", waits_below_target_are_left_alone},
	{"the wait must be long all the time", the_wait_must_be_long_all_the_time},
	{"a short queue is left alone", a_short_queue_is_left_alone},
	{"dropping remembers where it ended", dropping_remembers_where_it_ended},
	{"catches up on drops", catches_up_on_drops},
	CU_TEST_INFO_NULL,
};
