/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile/lambda/lambda.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "profile/lambda/lambda_internal.h"
#include "unit.h"
#include "way.h"

const char wh_suite_name[] = "lambda";

static const char *mode_of(const struct way *way)
{
	return way->control.profile->decide(&way->control).mode;
}

/* A train, half for a round trip, and all of it; nothing stands in the queue for long. */
static void test_start(void)
{
	struct way *way = way_of(1e9, RTT, BDP);

	way_begin(way, 0, 0);
	way_run(way, RTT - 10 * MS);
	CU_ASSERT_EQUAL(way->sent_pkts, 32);
	way_run(way, RTT + 20 * MS);
	WH_ASSERT_NEAR(wh_lambda_view_of(&way->control)->line_pps, 1e9 / 8 / WIRE_BYTES, 0.01);
	way_run(way, RTT + 90 * MS);
	WH_ASSERT_NEAR(wh_lambda_view_of(&way->control)->rate_pps, 0.5e9 / 8 / WIRE_BYTES, 0.01);
	way_run(way, 3 * RTT);
	CU_ASSERT(way_run(way, 30 * RTT) >= 0.99);
	CU_ASSERT_EQUAL(way->dropped_pkts, 0);
	CU_ASSERT(wh_lambda_view_of(&way->control)->path.queue_s < 1e-3);
	free(way);
}

/* A train that a short queue does not hold is no sign of others. */
static void test_short_queue(void)
{
	struct way *way = way_of(1e9, RTT, 10 * WIRE_BYTES);

	way_begin(way, 0, 0);
	way_run(way, 8 * RTT);
	CU_ASSERT_STRING_EQUAL(mode_of(way), "hold");
	CU_ASSERT(wh_lambda_view_of(&way->control)->rate_pps > 0.4e9 / 8 / WIRE_BYTES);
	free(way);
}

/* On a slow and short way states are ten round trips apart, and no outage. */
static void test_rare_reports(void)
{
	struct way *way = way_of(10e6, MS, 10 * WIRE_BYTES);

	way->tells_tsc = 97 * MS / 10;
	way_begin(way, 0, 0);
	way_run(way, 2000 * MS);
	for (unsigned int i = 0; i < 3000; i++) {
		way_run(way, way->now_tsc + MS);
		CU_ASSERT_EQUAL(wh_lambda_view_of(&way->control)->fetch_pkts, 0);
	}
	CU_ASSERT(way_run(way, way->now_tsc + 3000 * MS) >= 0.97);
	free(way);
}

/* A drain costs little, whoever else may be there. */
static void test_drains(void)
{
	for (unsigned int i = 0; i < 2; i++) {
		struct way *way = way_of(10e6, MS, 10 * WIRE_BYTES);

		way->tells_tsc = 97 * MS / 10;
		way_begin(way, 0, 0);
		way->control.config.options.value[WH_LAMBDA_SHARE] =
			i > 0 ? WH_SHARING_DEDICATED : WH_SHARING_FAIR;
		way_run(way, 2000 * MS);
		CU_ASSERT(way_run(way, 32000 * MS) >= 0.997);
		free(way);
	}
}

static void test_noise(void)
{
	static const double losses[] = {1e-4, 1e-3, 1e-2};

	for (unsigned int i = 0; i < 3; i++) {
		struct way *way = way_of(1e9, RTT, BDP / 100);

		way->loss = losses[i];
		way_begin(way, 0, 0);
		way_run(way, 3 * RTT);
		CU_ASSERT(way_run(way, 40 * RTT) >= 0.97 * (1 - losses[i]));
		CU_ASSERT((double)way->dropped_pkts <= 0.003 * (double)way->sent_pkts);
		free(way);
	}
}

/* Short ways and slow ones, with 16 packets of queue. */
static void test_extremes(void)
{
	static const struct {
		double bps;
		uint64_t rtt_tsc;
		uint64_t end_tsc;
		double least;
	} cases[] = {
		{1e9, MS / 20, 300 * MS, 0.97},
		{1e10, MS / 20, 50 * MS, 0.97},
		{1e10, MS, 100 * MS, 0.97},
		{1e8, 10 * MS, 2000 * MS, 0.97},
		{1e5, 100 * MS, 120000 * MS, 0.9},
	};

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct way *way = way_of(cases[i].bps, cases[i].rtt_tsc, 16 * WIRE_BYTES);

		way_begin(way, 0, 0);
		way_run(way, wh_max_u64(5 * cases[i].rtt_tsc, cases[i].end_tsc / 20));
		CU_ASSERT(way_run(way, cases[i].end_tsc) >= cases[i].least);
		CU_ASSERT((double)way->dropped_pkts <= 0.02 * (double)way->sent_pkts + 17);
		free(way);
	}
}

/* 1 to 0.2 to 1 Gb/s, with a queue of one product. */
static void test_steps(void)
{
	struct way *way = way_of(1e9, 50 * MS, BDP / 2);

	way_begin(way, 0, 0);
	way_run(way, 1000 * MS);
	way->bps = 0.2e9;
	way_run(way, 1500 * MS);
	CU_ASSERT(way_run(way, 2500 * MS) >= 0.84);
	CU_ASSERT((double)way->dropped_pkts * WIRE_BYTES <= 1.2 * 0.8 * BDP / 2);
	CU_ASSERT(wh_lambda_view_of(&way->control)->path.queue_s < 2e-3);
	way->bps = 1e9;
	way_run(way, 3200 * MS);
	CU_ASSERT(way_run(way, 4000 * MS) >= 0.95);
	free(way);
}

static void test_outage(void)
{
	struct way *way = way_of(1e9, 50 * MS, BDP / 2);

	way_begin(way, 0, 0);
	way_run(way, 1000 * MS);
	way->dark_until_tsc = 1200 * MS;
	way_run(way, 1500 * MS);
	CU_ASSERT(way_run(way, 2500 * MS) >= 0.95);
	free(way);
}

/* 40 to 90 ms: no queue, though it looks like one until three reductions have changed nothing. */
static void test_longer_path(void)
{
	struct way *way = way_of(1e9, 40 * MS, BDP);

	way_begin(way, 0, 0);
	way_run(way, 2000 * MS);
	way->there_tsc = way->back_tsc = 45 * MS;
	way_run(way, 3300 * MS);
	CU_ASSERT(way_run(way, 4400 * MS) >= 0.95);
	free(way);
}

/* A little longer, and at that moment losses begin: both look like a queue that overflows. */
static void test_longer_with_losses(void)
{
	struct way *way = way_of(1e9, 40 * MS, BDP);

	way_begin(way, 0, 0);
	way_run(way, 2000 * MS);
	way->there_tsc += 15 * MS / 100;
	way->loss = 0.014;
	way_run(way, 4000 * MS);
	CU_ASSERT(way_run(way, 5000 * MS) >= 0.95);
	free(way);
}

/* 2 of 10 Gb/s by a bucket of 250 kB: no delay tells of it. */
static void test_policer(void)
{
	struct way *way = way_of(1e9, 50 * MS, BDP / 2);

	way->policed_bps = 0.2e9;
	way->bucket_bytes = 250000;
	way_begin(way, 0, 0);
	way_run(way, 3000 * MS);

	uint64_t dropped_pkts = way->dropped_pkts, sent_pkts = way->sent_pkts;

	CU_ASSERT(way_run(way, 8000 * MS) >= 0.2 * 0.95);
	CU_ASSERT((double)(way->dropped_pkts - dropped_pkts) <=
		  0.01 * (double)(way->sent_pkts - sent_pkts));
	free(way);
}

/* A train that its host takes all at once says nothing: rates double until a queue is felt. */
static void test_host_pauses(void)
{
	struct way *way = way_of(1e9, RTT, BDP);

	way->turn_tsc = 4 * MS;
	way_begin(way, 0, 0);
	way_run(way, 12 * RTT);
	CU_ASSERT(way_run(way, 20 * RTT) >= 0.85);
	CU_ASSERT((double)way->dropped_pkts * WIRE_BYTES <= 1.2 * BDP);
	free(way);
}

/* The line is slow for a moment: packets on their way show that it was no overload. */
static void test_doubt(void)
{
	struct way *way = way_of(1e9, RTT, BDP);
	double line_pps = 1e9 / 8 / WIRE_BYTES;

	way_begin(way, 0, 0);
	way_run(way, 30 * RTT);
	CU_ASSERT(wh_lambda_view_of(&way->control)->rate_pps > 0.95 * line_pps);
	uint64_t slow_tsc = way->now_tsc;
	double least_pps = INFINITY;

	way->bps *= 0.4;
	way_run(way, slow_tsc + 4 * MS);
	way->bps /= 0.4;

	for (int ms = 4; ms < 300; ms++) {
		way_run(way, slow_tsc + (uint64_t)ms * MS);
		least_pps = fmin(least_pps, wh_lambda_view_of(&way->control)->rate_pps);
	}
	CU_ASSERT(least_pps > 0.9 * line_pps);
	/* Half of the capacity that is lost for good is not doubted. */
	way->bps /= 2.0;
	way_run(way, way->now_tsc + 2 * RTT);
	CU_ASSERT(wh_lambda_view_of(&way->control)->rate_pps < 0.6 * line_pps);
	free(way);
}

/*
 * Others have taken a part little by little: while a queue stands, little less arrives than was
 * sent a moment ago, but much less than once arrived alone.
 */
static void test_taken_slowly(void)
{
	const double alone[] = {1.05, 1.2};

	for (size_t i = 0; i < 2; i++) {
		struct way *way = way_of(1e9, RTT, BDP);
		bool shares = false;

		way_begin(way, 0, 0);
		way_run(way, 30 * RTT);

		struct wh_lambda *lambda = wh_lambda_state_of(&way->control);

		CU_ASSERT_EQUAL(lambda->mode, WH_LAMBDA_HOLD);
		lambda->own_pps *= alone[i];
		way->bps *= 0.98;
		for (uint64_t turn = 31; turn <= 40; turn++) {
			way_run(way, turn * RTT);
			shares |= lambda->mode >= WH_LAMBDA_CUT;
		}
		CU_ASSERT_EQUAL(shares, i == 1);
		free(way);
	}
}

/* What is sent after a pause of the stream is news only a round trip later: nothing is fetched. */
static void test_idle(void)
{
	struct way *way = way_of(1e9, RTT, BDP);
	struct wh_delivery_event says = {
		.now_tsc = RTT,
		.rtt_tsc = RTT,
		.seen_pkts = 1,
		.delivered_pkts = 1,
		.sent_pkts = 1,
	};
	struct wh_tick_event ticks = {.now_tsc = 2 * RTT - MS, .sent_pkts_total = 33};

	way_begin(way, 0, 0);
	WH_CONTROL_TELL(&way->control, on_delivery, &says);
	WH_CONTROL_TELL(&way->control, on_tick, &ticks);
	ticks.now_tsc += 150 * MS;
	WH_CONTROL_TELL(&way->control, on_tick, &ticks);
	CU_ASSERT_EQUAL(wh_lambda_view_of(&way->control)->fetch_pkts, 0);
	ticks.now_tsc += 20 * MS;
	WH_CONTROL_TELL(&way->control, on_tick, &ticks);
	CU_ASSERT_EQUAL(wh_lambda_view_of(&way->control)->fetch_pkts, 34);
	free(way);
}

/* A receiver that is away for all of the train: another one says what that did not. */
static void test_train_again(void)
{
	struct way *way = way_of(0.1e9, RTT, BDP / 10);

	way->away_from_tsc = RTT / 2;
	way->away_until_tsc = RTT / 2 + 20 * MS;
	way_begin(way, 0, 0);
	way_run(way, 3 * RTT);
	WH_ASSERT_NEAR(wh_lambda_view_of(&way->control)->line_pps, 0.1e9 / 8 / WIRE_BYTES, 0.05);
	free(way);
}

/* Of a train one packet came, and one that was sent 330 ms later: no rate, so another train. */
static void test_train_lost(void)
{
	struct way *way = way_of(1e9, RTT, BDP);
	struct wh_delivery_event says = {
		.now_tsc = RTT + 330 * MS,
		.rtt_tsc = RTT,
		.seen_pkts = 12,
		.delivered_pkts = 2,
		.sent_pkts = 12,
		.arrived_tsc = RTT / 2 + 330 * MS,
		.span_pkts = 1,
		.span_tsc = 330 * MS,
	};

	way_begin(way, 0, 0);
	WH_CONTROL_TELL(&way->control, on_delivery, &says);
	CU_ASSERT_STRING_EQUAL(mode_of(way), "start");
	CU_ASSERT_EQUAL(way->control.profile->decide(&way->control).tokens, 12 + 32);
	free(way);
}

/*
 * A receiver that is away for most of the train, and reads it as if the line were nine times as
 * fast. What arrives then is no share that others leave us: nobody is pushed for.
 */
static void test_false_train(void)
{
	struct way *way = way_of(0.1e9, RTT, BDP / 10);

	way->away_from_tsc = RTT / 2 + MS / 5;
	way->away_until_tsc = RTT / 2 + 9 * MS / 2;
	way->away_reads_tsc = 14000;
	way_begin(way, 0, 0);
	way_run(way, RTT + 20 * MS);
	CU_ASSERT(wh_lambda_view_of(&way->control)->line_pps > 0.8e9 / 8 / WIRE_BYTES);
	way_run(way, 10 * RTT);
	WH_ASSERT_NEAR(wh_lambda_view_of(&way->control)->line_pps, 0.1e9 / 8 / WIRE_BYTES, 0.05);

	uint64_t dropped_pkts = way->dropped_pkts;

	CU_ASSERT(way_run(way, 100 * RTT) >= 0.97);
	CU_ASSERT(way->dropped_pkts - dropped_pkts < 100);
	CU_ASSERT(wh_lambda_view_of(&way->control)->path.queue_s < 5e-3);
	free(way);
}

/* Its CPU is another's for milliseconds, thirty times a second: nobody fills the queue. */
static void test_busy_machine(void)
{
	for (uint64_t seed = 50; seed < 90; seed++) {
		struct way *way = way_of(1e9, RTT, BDP);

		wh_prng_init(&way->prng, seed);
		way->loss = seed % 2 == 0 ? 1e-3 : 1e-4;
		way->away_every_tsc = 30 * MS;
		way->away_reads_tsc = 2000;
		way_begin(way, 0, 0);
		way_run(way, 3 * RTT);
		CU_ASSERT(way_run(way, 80 * RTT) >= 0.75);
		free(way);
	}
}

/* The operator's bound is one, whatever a peer says. */
static void test_bound(void)
{
	struct way *way = way_of(1e9, 10 * MS, BDP);

	way_begin(way, 100000000, 0);
	way_run(way, 1000 * MS);
	CU_ASSERT((double)way->sent_pkts * WIRE_BYTES * 8 <= 0.101e9);
	CU_ASSERT(way_run(way, 2000 * MS) >= 0.097);
	free(way);
}

/* A queue of others was almost too long, and is gone: they reduced, and so does who saw it. */
static void test_others_reduced(void)
{
	static const struct {
		double queue; /* of others, of the longest that is borne */
		bool reduces;
	} cases[] = {{0.95, true}, {0.5, false}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct way *way = way_of(1e9, 20 * MS, 2.5e6);
		struct wh_lambda *lambda = wh_lambda_state_of(&way->control);
		bool reduced = false;

		way_begin(way, 0, 0);
		way_run(way, 2000 * MS);
		lambda->mode = WH_LAMBDA_FILL;
		wh_lambda_set_rate(lambda, 0.3 * lambda->rate_pps);
		for (uint64_t now_tsc = 2000 * MS; now_tsc < 2080 * MS; now_tsc += MS / 10) {
			double queue_s = cases[i].queue * wh_lambda_most_s(&way->control);

			if (now_tsc >= 2025 * MS && now_tsc < 2050 * MS)
				way->free_tsc = now_tsc + (uint64_t)(queue_s * HZ);
			way_run(way, now_tsc);
			reduced |= lambda->mode == WH_LAMBDA_CUT;
		}
		CU_ASSERT_EQUAL(reduced, cases[i].reduces);
		free(way);
	}
}

/* A queue that is taken for the path is not seen: what it loses tells. */
static void test_drowned(void)
{
	static const struct {
		double of_line, loss; /* what is sent, and what of that is lost */
		bool reduces;
	} cases[] = {{0.3, 0.3, false}, {0.3, 0.7, true}, {1.11, 0.09, true}, {0.95, 0.09, false}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct way *way = way_of(1e9, 20 * MS, 2.5e6);
		struct wh_lambda *lambda = wh_lambda_state_of(&way->control);
		double least_pps, before_pps;

		way_begin(way, 0, 0);
		way_run(way, 2000 * MS);
		lambda->mode = WH_LAMBDA_FILL;
		wh_lambda_set_rate(lambda, 0.3 * lambda->rate_pps);
		way_run(way, 2050 * MS); /* until the queue of before is gone */
		wh_lambda_path_mark(&lambda->path, way->now_tsc, way->sent_pkts);
		lambda->cut_seen_pkts = lambda->path.seen_pkts;
		lambda->cut_lost_pkts = lambda->path.seen_pkts - lambda->path.delivered_pkts;
		lambda->peak_s = lambda->sure_peak_s = 0.0;
		before_pps = least_pps = lambda->rate_pps;
		way->loss = cases[i].loss;
		for (uint64_t now_tsc = 2050 * MS; now_tsc < 2130 * MS; now_tsc += MS / 10) {
			way_run(way, now_tsc);
			lambda->line_pps = before_pps / cases[i].of_line;
			least_pps = fmin(least_pps, lambda->rate_pps);
		}
		CU_ASSERT_EQUAL(least_pps < 0.8 * before_pps, cases[i].reduces);
		CU_ASSERT(lambda->path.queue_s < 1e-3);
		free(way);
	}
}

static void live_as(struct way *way, enum wh_sharing share)
{
	struct wh_profile_options options = way->control.config.options;

	options.value[WH_LAMBDA_SHARE] = share;
	wh_control_set_options(&way->control, &options);
}

/* Whoever competed or gave way has the whole way again once he is told that it is his. */
static void test_another_share(void)
{
	struct way *way = way_of(1e9, 20 * MS, 2.5e6);
	struct wh_lambda *lambda = wh_lambda_state_of(&way->control);

	way_begin(way, 0, 0);
	way_run(way, 2000 * MS);
	lambda->mode = WH_LAMBDA_WINDOW;
	lambda->compete.window_pkts = 20;
	way_run(way, 2200 * MS);
	live_as(way, WH_SHARING_FAIR);
	CU_ASSERT_STRING_EQUAL(mode_of(way), "window");
	live_as(way, WH_SHARING_DEDICATED);
	CU_ASSERT_STRING_EQUAL(mode_of(way), "verify");
	way_run(way, 2500 * MS);
	CU_ASSERT(way_run(way, 3500 * MS) >= 0.9);
	live_as(way, WH_SHARING_SCAVENGER);
	way_run(way, 5500 * MS);
	CU_ASSERT(lambda->yield.heard_tsc != 0);
	wh_lambda_set_rate(lambda, lambda->rate_pps / 20.0);
	live_as(way, WH_SHARING_FAIR);
	CU_ASSERT_EQUAL(lambda->yield.heard_tsc, 0);
	way_run(way, 5800 * MS);
	CU_ASSERT(way_run(way, 6800 * MS) >= 0.9);
	free(way);
}

/* In flight while no report comes: what the line holds, and what a port has room for or as much. */
static void test_room_of_a_port(void)
{
	static const uint64_t rtt_tsc[] = {MS, 200 * MS};
	static const double port_pkts[] = {8e6 / WIRE_BYTES, 1e9 / 8 * 0.2 / WIRE_BYTES};

	for (unsigned int i = 0; i < 2; i++) {
		struct way *way = way_of(1e9, rtt_tsc[i], BDP);
		struct wh_lambda *lambda = wh_lambda_state_of(&way->control);

		way_begin(way, 0, 0);
		way_run(way, 30 * rtt_tsc[1]);
		CU_ASSERT_EQUAL(lambda->mode, WH_LAMBDA_HOLD);
		lambda->path.gap_s = 2.0;

		double line_pkts = lambda->rate_pps * wh_lambda_path_rtt_s(&lambda->path);
		double flight_pkts = (double)(way->control.profile->decide(&way->control).tokens -
					      lambda->path.seen_pkts);

		WH_ASSERT_NEAR(flight_pkts, line_pkts + port_pkts[i], 0.01);
		free(way);
	}
}

/* Each decision says which part made it: the train, its proof, the search for a queue, alone. */
static void test_mode(void)
{
	struct way *way = way_of(1e9, RTT, BDP);
	struct wh_lambda *lambda = wh_lambda_state_of(&way->control);

	way_begin(way, 0, 0);
	CU_ASSERT_STRING_EQUAL(mode_of(way), "start");
	way_run(way, RTT + 90 * MS);
	CU_ASSERT_STRING_EQUAL(mode_of(way), "verify");
	way_run(way, 2 * RTT + 30 * MS);
	CU_ASSERT_STRING_EQUAL(mode_of(way), "seek");
	way_run(way, 30 * RTT);
	CU_ASSERT_STRING_EQUAL(mode_of(way), "hold");
	lambda->loss.trial = WH_LAMBDA_LOWER;
	CU_ASSERT_STRING_EQUAL(mode_of(way), "trial");
	lambda->drains = 0.1;
	CU_ASSERT_STRING_EQUAL(mode_of(way), "drain");
	lambda->mode = WH_LAMBDA_CUT;
	CU_ASSERT_STRING_EQUAL(mode_of(way), "cut");
	free(way);
}

CU_TestInfo wh_tests[] = {
	{"start", test_start},
	{"short queue", test_short_queue},
	{"rare states", test_rare_reports},
	{"drains", test_drains},
	{"noise", test_noise},
	{"extremes", test_extremes},
	{"steps", test_steps},
	{"outage", test_outage},
	{"longer way", test_longer_path},
	{"longer with losses", test_longer_with_losses},
	{"policer", test_policer},
	{"a host that pauses", test_host_pauses},
	{"doubt", test_doubt},
	{"taken slowly", test_taken_slowly},
	{"idle", test_idle},
	{"train again", test_train_again},
	{"a train is lost but for one packet", test_train_lost},
	{"false train", test_false_train},
	{"busy machine", test_busy_machine},
	{"bound", test_bound},
	{"others reduced", test_others_reduced},
	{"drowned", test_drowned},
	{"another share", test_another_share},
	{"room of a port", test_room_of_a_port},
	{"mode", test_mode},
	CU_TEST_INFO_NULL,
};
