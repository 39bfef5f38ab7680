/* SPDX-License-Identifier: BSD-3-Clause */
#include "way.h"

#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/units.h"
#include "profile/lambda/lambda.h"
#include "unit.h"

struct way *way_of(double bps, uint64_t rtt_tsc, double queue_bytes)
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

void way_begin(struct way *way, uint64_t rate_bps, uint64_t known_bps)
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
	const struct wh_tick_event event = {.now_tsc = way->now_tsc,
		.sent_pkts_total = way->sent_pkts,
		.rtt_tsc = way->there_tsc + way->back_tsc};

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
double way_run(struct way *way, uint64_t until_tsc)
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
