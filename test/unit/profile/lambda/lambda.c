/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * One flow through one link of a model of its own: packets go by the pacer, wait in a queue, are
 * lost by chance, and states come back. What the scenarios hold in the simulator, with real
 * sessions, is held here of the controller alone.
 */

#include "profile/lambda/lambda.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/prng.h"
#include "base/units.h"
#include "profile/lambda/lambda_internal.h"
#include "session/pacer.h"
#include "unit.h"

const char wh_suite_name[] = "lambda";

#define HZ         UINT64_C(1000000000)
#define MS         UINT64_C(1000000)
#define WIRE_BYTES 1538
#define UNDERWAY   (1 << 16)
#define STATES     1024
#define AWAY_TSC   (10 * MS)

struct underway {
	uint64_t arrives_tsc, sent_tsc;
	uint64_t number; /* sent before it, and itself */
};

struct told {
	uint64_t heard_tsc, stamp_tsc;
	struct wh_delivery_event event;
};

struct way {
	double bps, queue_bytes, loss;
	uint64_t line_bps;                /* of the sender, as far as it knows; 0: it does not */
	uint64_t kept_rtt_ns;             /* 0: the path's */
	double policed_bps, bucket_bytes; /* 0: no policer */
	uint64_t there_tsc, back_tsc;
	uint64_t dark_until_tsc;
	uint64_t tells_tsc; /* the receiver tells so often; 0: in quarters of a round trip */
	uint64_t turn_tsc;  /* the receiver takes what has come so often; 0: at once */
	uint64_t away_from_tsc,
		away_until_tsc; /* it takes nothing, and then one after the other, */
	uint64_t away_reads_tsc;
	uint64_t away_every_tsc; /* in the mean for some milliseconds; 0: once */
	struct wh_control control;
	struct wh_pacer pacer;
	struct wh_prng prng;
	uint64_t now_tsc, free_tsc, tick_tsc, report_tsc;
	double tokens_bytes;
	uint64_t tokens_tsc;
	uint64_t sent_pkts, dropped_pkts;
	struct underway underway[UNDERWAY];
	uint64_t first, end;
	struct told told[STATES];
	uint64_t told_first, told_end;
	struct wh_delivery_event says; /* of the receiver's next state */
	uint64_t stamp_tsc, span_from_tsc;
	uint64_t span_pkts; /* 0: none came since the state before */
};

static struct way *way_of(double bps, uint64_t rtt_tsc, double queue_bytes)
{
	struct way *way = calloc(1, sizeof(*way));

	CU_ASSERT_PTR_NOT_NULL_FATAL(way);
	way->bps = bps;
	way->queue_bytes = queue_bytes;
	way->there_tsc = way->back_tsc = rtt_tsc / 2;
	way->report_tsc = WH_TSC_NEVER;
	wh_prng_init(&way->prng, 1);
	return way;
}

static void begin(struct way *way, uint64_t rate_bps, uint64_t known_bps)
{
	struct wh_control_config config = {
		.hz = HZ,
		.syn_tsc = 10 * MS,
		.packet_bytes = 1500,
		.wire_bytes = WIRE_BYTES,
		.rate_bps = rate_bps,
		.line_bps = way->line_bps,
		.window_pkts_max = 1 << 20,
	};

	if (known_bps > 0)
		config.known = (struct wh_known_path){.capacity_bps = known_bps,
			.rtt_ns = way->kept_rtt_ns > 0 ? way->kept_rtt_ns : 2 * way->there_tsc};
	wh_profile_options_init(&config.options, &wh_profile_lambda);
	wh_control_init(&way->control, &wh_profile_lambda, &config);
	wh_pacer_init(&way->pacer, 0, WIRE_BYTES, 1);
}

static void follow(struct way *way)
{
	struct wh_decision decision = way->control.profile->decide(&way->control);

	wh_pacer_set_interval(&way->pacer, decision.interval_fp);
	wh_pacer_allow(&way->pacer, decision.tokens);
	wh_pacer_hasten(&way->pacer, way->now_tsc);
}

static bool policed(struct way *way)
{
	double fed = (double)(way->now_tsc - way->tokens_tsc) / 8e9 * way->policed_bps;

	if (way->policed_bps == 0.0)
		return false;
	way->tokens_bytes = fmin(way->tokens_bytes + fed, way->bucket_bytes);
	way->tokens_tsc = way->now_tsc;
	if (way->tokens_bytes < WIRE_BYTES)
		return true;
	way->tokens_bytes -= WIRE_BYTES;
	return false;
}

static void send_one(struct way *way)
{
	uint64_t from_tsc = wh_max_u64(way->free_tsc, way->now_tsc);
	double waits_bytes = (double)(from_tsc - way->now_tsc) / 8e9 * way->bps;

	wh_pacer_charge(&way->pacer, way->now_tsc, WIRE_BYTES);
	way->sent_pkts++;
	if (policed(way) || waits_bytes + WIRE_BYTES > way->queue_bytes) {
		way->dropped_pkts++;
		return;
	}
	way->free_tsc = from_tsc + (uint64_t)(WIRE_BYTES * 8e9 / way->bps);
	if (way->now_tsc < way->dark_until_tsc ||
		wh_prng_below(&way->prng, 1000000) < (uint64_t)(way->loss * 1e6))
		return;
	CU_ASSERT_FATAL(way->end - way->first < UNDERWAY);
	uint64_t arrives_tsc = way->free_tsc + way->there_tsc;

	if (way->turn_tsc > 0)
		arrives_tsc += way->turn_tsc - arrives_tsc % way->turn_tsc;
	while (way->away_every_tsc > 0 && arrives_tsc >= way->away_until_tsc) {
		way->away_from_tsc =
			way->away_until_tsc + wh_prng_below(&way->prng, 2 * way->away_every_tsc);
		way->away_until_tsc = way->away_from_tsc + MS + wh_prng_below(&way->prng, AWAY_TSC);
	}
	if (arrives_tsc >= way->away_from_tsc && arrives_tsc < way->away_until_tsc) {
		arrives_tsc = way->away_until_tsc;
		way->away_until_tsc += way->away_reads_tsc;
	}
	way->underway[way->end++ % UNDERWAY] = (struct underway){
		.arrives_tsc = arrives_tsc,
		.sent_tsc = way->now_tsc,
		.number = way->sent_pkts,
	};
}

static void arrive(struct way *way)
{
	const struct underway *packet = &way->underway[way->first++ % UNDERWAY];
	struct wh_delivery_event *says = &way->says;
	int64_t delay_tsc = (int64_t)(way->now_tsc - packet->sent_tsc) - 4711;

	if (way->span_pkts++ == 0) {
		way->span_from_tsc = way->now_tsc;
		says->least_delay_tsc = delay_tsc;
	}
	says->seen_pkts = packet->number;
	says->delivered_pkts++;
	says->arrived_tsc = way->now_tsc;
	says->delay_tsc = delay_tsc;
	if (delay_tsc < says->least_delay_tsc)
		says->least_delay_tsc = delay_tsc;
	way->stamp_tsc = packet->sent_tsc;
	if (way->report_tsc == WH_TSC_NEVER)
		way->report_tsc = way->now_tsc;
}

static void tell(struct way *way)
{
	struct told *told = &way->told[way->told_end++ % STATES];

	CU_ASSERT_FATAL(way->told_end - way->told_first <= STATES);
	told->heard_tsc = way->now_tsc + way->back_tsc;
	told->stamp_tsc = way->stamp_tsc + way->now_tsc - way->says.arrived_tsc;
	told->event = way->says;
	if (way->span_pkts > 0) {
		told->event.span_pkts = (uint32_t)way->span_pkts - 1;
		told->event.span_tsc = way->says.arrived_tsc - way->span_from_tsc;
	}
	way->span_pkts = 0;
	way->report_tsc =
		way->now_tsc +
		(way->tells_tsc > 0 ? way->tells_tsc : wh_min_u64(way->there_tsc / 2, 10 * MS));
}

static void hear(struct way *way)
{
	struct told *told = &way->told[way->told_first++ % STATES];

	told->event.now_tsc = way->now_tsc;
	told->event.sent_pkts = way->sent_pkts;
	told->event.rtt_tsc = way->now_tsc - told->stamp_tsc;
	WH_CONTROL_TELL(&way->control, on_delivery, &told->event);
	follow(way);
}

static void tick(struct way *way)
{
	const struct wh_tick_event event = {
		.now_tsc = way->now_tsc, .sent_pkts_total = way->sent_pkts};

	way->tick_tsc += 10 * MS;
	WH_CONTROL_TELL(&way->control, on_tick, &event);
	follow(way);
}

static void sooner(uint64_t *next_tsc, void (**what)(struct way *), uint64_t when_tsc,
	void (*then)(struct way *))
{
	if (when_tsc >= *next_tsc)
		return;
	*next_tsc = when_tsc;
	*what = then;
}

/* Payload of the line's share that arrives from now until then. */
static double run(struct way *way, uint64_t until_tsc)
{
	uint64_t delivered_pkts = way->says.delivered_pkts, from_tsc = way->now_tsc;

	while (way->now_tsc < until_tsc) {
		uint64_t next_tsc = until_tsc;
		void (*what)(struct way *) = NULL;

		sooner(&next_tsc, &what, way->tick_tsc, tick);
		sooner(&next_tsc, &what, way->report_tsc, tell);
		if (way->first < way->end)
			sooner(&next_tsc, &what, way->underway[way->first % UNDERWAY].arrives_tsc,
				arrive);
		if (way->told_first < way->told_end)
			sooner(&next_tsc, &what, way->told[way->told_first % STATES].heard_tsc,
				hear);
		if (wh_pacer_next_tsc(&way->pacer) != WH_TSC_NEVER)
			sooner(&next_tsc, &what,
				wh_max_u64(wh_pacer_next_tsc(&way->pacer), way->now_tsc), send_one);
		way->now_tsc = wh_max_u64(way->now_tsc, next_tsc);
		if (what != NULL)
			what(way);
	}
	delivered_pkts = way->says.delivered_pkts - delivered_pkts;
	return (double)delivered_pkts * WIRE_BYTES * 8e9 /
	       ((double)(way->now_tsc - from_tsc) * way->bps);
}

#define RTT (100 * MS)
#define BDP (1e9 / 8 * 0.1)

/* A train, half for a round trip, and all of it; nothing stands in the queue for long. */
static void test_start(void)
{
	struct way *way = way_of(1e9, RTT, BDP);

	begin(way, 0, 0);
	run(way, RTT - 10 * MS);
	CU_ASSERT_EQUAL(way->sent_pkts, 32);
	run(way, RTT + 20 * MS);
	WH_ASSERT_NEAR(wh_lambda_view(&way->control).estimate_pps, 1e9 / 8 / WIRE_BYTES, 0.01);
	run(way, RTT + 90 * MS);
	WH_ASSERT_NEAR(wh_lambda_view(&way->control).rate_pps, 0.5e9 / 8 / WIRE_BYTES, 0.01);
	run(way, 3 * RTT);
	CU_ASSERT(run(way, 30 * RTT) >= 0.99);
	CU_ASSERT_EQUAL(way->dropped_pkts, 0);
	CU_ASSERT(wh_lambda_view(&way->control).queue_s < 1e-3);
	free(way);
}

/* A train that a short queue does not hold is no sign of others. */
static void test_short_queue(void)
{
	struct way *way = way_of(1e9, RTT, 10 * WIRE_BYTES);

	begin(way, 0, 0);
	run(way, 8 * RTT);
	CU_ASSERT_STRING_EQUAL(wh_lambda_view(&way->control).phase, "hold");
	CU_ASSERT(wh_lambda_view(&way->control).rate_pps > 0.4e9 / 8 / WIRE_BYTES);
	free(way);
}

/* On a slow and short way states are ten round trips apart, and no outage. */
static void test_rare_reports(void)
{
	struct way *way = way_of(10e6, MS, 10 * WIRE_BYTES);

	way->tells_tsc = 97 * MS / 10;
	begin(way, 0, 0);
	run(way, 2000 * MS);
	for (unsigned int i = 0; i < 3000; i++) {
		run(way, way->now_tsc + MS);
		CU_ASSERT_EQUAL(wh_lambda_view_of(&way->control)->fetch_pkts, 0);
	}
	CU_ASSERT(run(way, way->now_tsc + 3000 * MS) >= 0.97);
	free(way);
}

/* A drain costs little, whoever else may be there. */
static void test_drains(void)
{
	for (unsigned int i = 0; i < 2; i++) {
		struct way *way = way_of(10e6, MS, 10 * WIRE_BYTES);

		way->tells_tsc = 97 * MS / 10;
		begin(way, 0, 0);
		way->control.config.options.value[WH_LAMBDA_SHARE] =
			i > 0 ? WH_SHARING_DEDICATED : WH_SHARING_FAIR;
		run(way, 2000 * MS);
		CU_ASSERT(run(way, 32000 * MS) >= 0.997);
		free(way);
	}
}

static void test_noise(void)
{
	static const double losses[] = {1e-4, 1e-3, 1e-2};

	for (unsigned int i = 0; i < 3; i++) {
		struct way *way = way_of(1e9, RTT, BDP / 100);

		way->loss = losses[i];
		begin(way, 0, 0);
		run(way, 3 * RTT);
		CU_ASSERT(run(way, 40 * RTT) >= 0.97 * (1 - losses[i]));
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

		begin(way, 0, 0);
		run(way, wh_max_u64(5 * cases[i].rtt_tsc, cases[i].end_tsc / 20));
		CU_ASSERT(run(way, cases[i].end_tsc) >= cases[i].least);
		CU_ASSERT((double)way->dropped_pkts <= 0.02 * (double)way->sent_pkts + 17);
		free(way);
	}
}

/* 1 to 0.2 to 1 Gb/s, with a queue of one product. */
static void test_steps(void)
{
	struct way *way = way_of(1e9, 50 * MS, BDP / 2);

	begin(way, 0, 0);
	run(way, 1000 * MS);
	way->bps = 0.2e9;
	run(way, 1500 * MS);
	CU_ASSERT(run(way, 2500 * MS) >= 0.84);
	CU_ASSERT((double)way->dropped_pkts * WIRE_BYTES <= 1.2 * 0.8 * BDP / 2);
	CU_ASSERT(wh_lambda_view(&way->control).queue_s < 2e-3);
	way->bps = 1e9;
	run(way, 3200 * MS);
	CU_ASSERT(run(way, 4000 * MS) >= 0.95);
	free(way);
}

static void test_outage(void)
{
	struct way *way = way_of(1e9, 50 * MS, BDP / 2);

	begin(way, 0, 0);
	run(way, 1000 * MS);
	way->dark_until_tsc = 1200 * MS;
	run(way, 1500 * MS);
	CU_ASSERT(run(way, 2500 * MS) >= 0.95);
	free(way);
}

/* 40 to 90 ms: no queue, though it looks like one until three reductions have changed nothing. */
static void test_longer_path(void)
{
	struct way *way = way_of(1e9, 40 * MS, BDP);

	begin(way, 0, 0);
	run(way, 2000 * MS);
	way->there_tsc = way->back_tsc = 45 * MS;
	run(way, 3300 * MS);
	CU_ASSERT(run(way, 4400 * MS) >= 0.95);
	free(way);
}

/* 2 of 10 Gb/s by a bucket of 250 kB: no delay tells of it. */
static void test_policer(void)
{
	struct way *way = way_of(1e9, 50 * MS, BDP / 2);

	way->policed_bps = 0.2e9;
	way->bucket_bytes = 250000;
	begin(way, 0, 0);
	run(way, 3000 * MS);

	uint64_t dropped_pkts = way->dropped_pkts, sent_pkts = way->sent_pkts;

	CU_ASSERT(run(way, 8000 * MS) >= 0.2 * 0.95);
	CU_ASSERT((double)(way->dropped_pkts - dropped_pkts) <=
		  0.01 * (double)(way->sent_pkts - sent_pkts));
	free(way);
}

/* A train that its host takes all at once says nothing: rates double until a queue is felt. */
static void test_host_pauses(void)
{
	struct way *way = way_of(1e9, RTT, BDP);

	way->turn_tsc = 4 * MS;
	begin(way, 0, 0);
	run(way, 12 * RTT);
	CU_ASSERT(run(way, 20 * RTT) >= 0.85);
	CU_ASSERT((double)way->dropped_pkts * WIRE_BYTES <= 1.2 * BDP);
	free(way);
}

/* The line is slow for a moment: packets on their way show that it was no overload. */
static void test_doubt(void)
{
	struct way *way = way_of(1e9, RTT, BDP);
	double line_pps = 1e9 / 8 / WIRE_BYTES;

	begin(way, 0, 0);
	run(way, 30 * RTT);
	CU_ASSERT(wh_lambda_view(&way->control).rate_pps > 0.95 * line_pps);
	uint64_t slow_tsc = way->now_tsc;
	double least_pps = INFINITY;

	way->bps *= 0.4;
	run(way, slow_tsc + 6 * MS);
	way->bps /= 0.4;

	for (int ms = 6; ms < 300; ms++) {
		run(way, slow_tsc + (uint64_t)ms * MS);
		least_pps = fmin(least_pps, wh_lambda_view(&way->control).rate_pps);
	}
	CU_ASSERT(least_pps > 0.9 * line_pps);
	/* Half of the capacity that is lost for good is not doubted. */
	way->bps /= 2.0;
	run(way, way->now_tsc + 2 * RTT);
	CU_ASSERT(wh_lambda_view(&way->control).rate_pps < 0.6 * line_pps);
	free(way);
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

	begin(way, 0, 0);
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
	begin(way, 0, 0);
	run(way, 3 * RTT);
	WH_ASSERT_NEAR(wh_lambda_view(&way->control).estimate_pps, 0.1e9 / 8 / WIRE_BYTES, 0.05);
	free(way);
}

/* The operator's bound is one, whatever a peer says. */
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
	begin(way, 0, 0);
	run(way, RTT + 20 * MS);
	CU_ASSERT(wh_lambda_view(&way->control).estimate_pps > 0.8e9 / 8 / WIRE_BYTES);
	run(way, 10 * RTT);
	WH_ASSERT_NEAR(wh_lambda_view(&way->control).estimate_pps, 0.1e9 / 8 / WIRE_BYTES, 0.05);

	uint64_t dropped_pkts = way->dropped_pkts;

	CU_ASSERT(run(way, 100 * RTT) >= 0.97);
	CU_ASSERT(way->dropped_pkts - dropped_pkts < 100);
	CU_ASSERT(wh_lambda_view(&way->control).queue_s < 5e-3);
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
		begin(way, 0, 0);
		run(way, 3 * RTT);
		CU_ASSERT(run(way, 80 * RTT) >= 0.75);
		free(way);
	}
}

static void test_bound(void)
{
	struct way *way = way_of(1e9, 10 * MS, BDP);

	begin(way, 100000000, 0);
	run(way, 1000 * MS);
	CU_ASSERT((double)way->sent_pkts * WIRE_BYTES * 8 <= 0.101e9);
	CU_ASSERT(run(way, 2000 * MS) >= 0.097);
	free(way);
}

/* What a way bears is kept; what TCPs leave of it, or a scavenger takes beside others, is not. */
static void test_found(void)
{
	struct way *way = way_of(1e9, 20 * MS, 2.5e6);
	struct wh_lambda *lambda = wh_lambda_state_of(&way->control);

	begin(way, 0, 0);
	run(way, 2000 * MS);
	WH_ASSERT_NEAR((double)wh_control_found(&way->control).capacity_bps, 1e9, 0.05e9);
	lambda->compete.on = true;
	CU_ASSERT_EQUAL(wh_control_found(&way->control).capacity_bps, 0);
	lambda->compete.on = false;
	lambda->yield.capacity_pps = 2.0 * lambda->rate_pps;
	CU_ASSERT_EQUAL(wh_control_found(&way->control).capacity_bps, 0);
	free(way);
}

/* On a line of ten times the path's rate; the receiver takes what has come once a `turn_tsc`. */
static struct way *way_of_lie(uint64_t turn_tsc, uint64_t known_bps)
{
	struct way *way = way_of(1e9, RTT, 0.05 * BDP);

	way->line_bps = UINT64_C(10000000000);
	way->turn_tsc = turn_tsc;
	begin(way, 0, known_bps);
	return way;
}

/* Where the first train tells the capacity, nothing that was kept is used. */
static void test_kept_lies_and_a_train(void)
{
	static const uint64_t lies_bps[] = {1, 1000000, UINT64_C(10000000000), WH_KNOWN_BPS_MAX};

	for (size_t i = 0; i < sizeof(lies_bps) / sizeof(lies_bps[0]); i++) {
		struct way *way = way_of_lie(0, lies_bps[i]);

		run(way, 3 * RTT);
		CU_ASSERT(run(way, 11 * RTT) >= 0.95);
		CU_ASSERT_EQUAL(way->dropped_pkts, 0);
		free(way);
	}
}

/*
 * The receiver naps, and the trains come all at once. A lie of too little is as nothing known. One
 * of too much costs three quarters of as many products as our line is faster.
 */
static void test_kept_lies(void)
{
	static const struct {
		uint64_t bps;
		double products, least;
	} lies[] = {
		{0, 0.1, 0.88},
		{1, 0.1, 0.88},
		{1000, 0.1, 0.88},
		{1000000, 0.1, 0.88},
		{UINT64_C(1000000000), 0.1, 0.98},
		{UINT64_C(10000000000), 7.1, 0.98},
		{WH_KNOWN_BPS_MAX, 7.1, 0.98},
	};

	for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		struct way *way = way_of_lie(MS, lies[i].bps);

		run(way, 10 * RTT);
		CU_ASSERT(run(way, 20 * RTT) >= lies[i].least);
		CU_ASSERT(run(way, 50 * RTT) >= 0.99);
		CU_ASSERT((double)way->dropped_pkts * WIRE_BYTES <= lies[i].products * BDP);
		free(way);
	}
}

/*
 * RFC 9959: a round trip of half of what was kept, or of more than ten times that, is of another
 * path. What was kept is as nothing then, and its lie costs nothing.
 */
static void test_kept_of_another_path(void)
{
	static const struct {
		uint64_t rtt_ns;
		double products;
	} kept[] = {{RTT * 21 / 10, 0.1}, {RTT / 11, 0.1}, {RTT * 3 / 2, 7.1}, {RTT / 9, 7.1}};

	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
		struct way *way = way_of_lie(MS, 0);

		way->kept_rtt_ns = kept[i].rtt_ns;
		begin(way, 0, WH_KNOWN_BPS_MAX);
		run(way, 10 * RTT);
		double products = (double)way->dropped_pkts * WIRE_BYTES / BDP;

		CU_ASSERT(products <= kept[i].products);
		CU_ASSERT(products >= kept[i].products - 1.5);
		free(way);
	}
}

/* The 32 packets of the train arrived, as the peer says: when, and after which round trip. */
static struct wh_known_path found_from(struct way *way, uint64_t span_tsc, uint64_t rtt_tsc)
{
	struct wh_delivery_event says = {
		.now_tsc = RTT,
		.sent_pkts = 32,
		.seen_pkts = 32,
		.delivered_pkts = 32,
		.arrived_tsc = span_tsc,
		.span_tsc = span_tsc,
		.span_pkts = 31,
		.rtt_tsc = rtt_tsc,
	};

	for (uint32_t i = 0; i < 200; i++) {
		WH_CONTROL_TELL(&way->control, on_delivery, &says);
		says.now_tsc += RTT;
		says.sent_pkts += 1000;
		says.seen_pkts += 1000;
		says.delivered_pkts += 1000;
		says.arrived_tsc += span_tsc;
	}
	return wh_control_found(&way->control);
}

/* The queue of others was almost too long, and is gone: they have reduced, and so does who saw it. */
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

		begin(way, 0, 0);
		run(way, 2000 * MS);
		lambda->phase = WH_LAMBDA_FILL;
		wh_lambda_set_rate(lambda, 0.3 * lambda->rate_pps);
		for (uint64_t now_tsc = 2000 * MS; now_tsc < 2080 * MS; now_tsc += MS / 10) {
			double queue_s = cases[i].queue * wh_lambda_most_s(&way->control);

			if (now_tsc >= 2025 * MS && now_tsc < 2050 * MS)
				way->free_tsc = now_tsc + (uint64_t)(queue_s * HZ);
			run(way, now_tsc);
			reduced |= lambda->phase == WH_LAMBDA_CUT;
		}
		CU_ASSERT_EQUAL(reduced, cases[i].reduces);
		free(way);
	}
}

/* Whatever a peer tells of times, what is kept of it is within our line and within a clock. */
static void test_lies_found(void)
{
	static const uint64_t rtts_tsc[] = {1, RTT, UINT64_C(1000) * HZ};
	static const uint64_t spans_tsc[] = {1, MS, UINT64_C(100) * HZ};
	struct way *way = way_of(1e9, RTT, BDP);

	way->line_bps = UINT64_C(10000000000);
	for (size_t i = 0; i < 9; i++) {
		begin(way, 0, 0);

		struct wh_known_path found = found_from(way, spans_tsc[i % 3], rtts_tsc[i / 3]);

		CU_ASSERT(found.capacity_bps >= 8 * WIRE_BYTES);
		CU_ASSERT(found.capacity_bps <= way->line_bps);
		CU_ASSERT_EQUAL(found.rtt_ns, wh_min_u64(rtts_tsc[i / 3], WH_KNOWN_RTT_MAX_NS));
	}
	begin(way, 0, 0);
	CU_ASSERT_EQUAL(found_from(way, 1, 0).capacity_bps, 0);
	way->line_bps = 0;
	begin(way, 0, 0);
	CU_ASSERT(found_from(way, 1, RTT).capacity_bps <= WH_KNOWN_BPS_MAX);
	free(way);
}

/* A host that sends 1000 packets in a round trip, and no more, does not keep the lie for ever. */
static void test_kept_lie_ends(void)
{
	struct way *way = way_of(1e9, RTT, BDP);

	begin(way, 0, WH_KNOWN_BPS_MAX);
	CU_ASSERT(found_from(way, 0, RTT).capacity_bps <= 10000 * 8 * WIRE_BYTES);
	free(way);
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

	begin(way, 0, 0);
	run(way, 2000 * MS);
	lambda->compete.on = true;
	lambda->compete.window_pkts = 20;
	run(way, 2200 * MS);
	live_as(way, WH_SHARING_FAIR);
	CU_ASSERT_TRUE(lambda->compete.on);
	live_as(way, WH_SHARING_DEDICATED);
	CU_ASSERT_FALSE(lambda->compete.on);
	run(way, 2500 * MS);
	CU_ASSERT(run(way, 3500 * MS) >= 0.9);
	live_as(way, WH_SHARING_SCAVENGER);
	run(way, 5500 * MS);
	CU_ASSERT(lambda->yield.heard_tsc != 0);
	wh_lambda_set_rate(lambda, lambda->rate_pps / 20.0);
	live_as(way, WH_SHARING_FAIR);
	CU_ASSERT_EQUAL(lambda->yield.heard_tsc, 0);
	run(way, 5800 * MS);
	CU_ASSERT(run(way, 6800 * MS) >= 0.9);
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
	{"policer", test_policer},
	{"a host that pauses", test_host_pauses},
	{"doubt", test_doubt},
	{"idle", test_idle},
	{"train again", test_train_again},
	{"false train", test_false_train},
	{"busy machine", test_busy_machine},
	{"bound", test_bound},
	{"found", test_found},
	{"kept lies and a train", test_kept_lies_and_a_train},
	{"kept lies", test_kept_lies},
	{"kept of another path", test_kept_of_another_path},
	{"lies found", test_lies_found},
	{"a kept lie ends", test_kept_lie_ends},
	{"others reduced", test_others_reduced},
	{"another share", test_another_share},
	CU_TEST_INFO_NULL,
};
