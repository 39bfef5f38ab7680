/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_PROFILE_LAMBDA_YIELD_H
#define WH_PROFILE_LAMBDA_YIELD_H

/*
 * A scavenger. It leaves a little of the capacity free, so that a queue, and losses beyond the
 * noise, are due to other flows. At the first report of either it withdraws all but a crumb of its
 * rate. It returns so slowly that a short queue takes what it adds until it is told. Packets that
 * a host delivered late look like a queue, too, but arrive faster than the line carries them.
 */

#include <stdbool.h>
#include <stdint.h>

#include "profile/lambda/path.h"

struct wh_lambda_yield {
	double capacity_pps;   /* the highest seen on the path */
	double felt_pps;       /* the rate at which a queue appeared the last time, ... */
	double felt_s;         /* ... and the wait; 0: that of a test */
	uint64_t heard_tsc;    /* the latest report */
	uint64_t gave_way_tsc; /* 0: never */
	uint64_t heed_pkts;    /* reports on packets sent before this one have been acted on */
	uint64_t looked_tsc;   /* when it last tested for more capacity, ... */
	double look;           /* ... by this share; 0: not testing */
	uint64_t seen_pkts, delivered_pkts, window_tsc; /* when the latest round trip began */
	double noise_pkts, noise_lost_pkts;             /* while there was no queue */

	double held_pps;   /* the rate before it gave way; 0: not to be taken again */
	bool rises;        /* a longer wait since then */
	double spike_s;    /* waits that hosts caused; fades */
	double sway_s;     /* mean wait of the latest packet beyond the least */
	double rest_s;     /* mean of the least while it sends little */
	double line_pps;   /* nothing arrives faster, unless a host was late */
	double most_pps;   /* the highest arrival rate of two consecutive windows, ... */
	double before_pps; /* ... that of the latest, ... */
	uint64_t from_tsc, from_pkts, from_now_tsc; /* ... and where this one began */
	uint64_t stood_tsc;                         /* every report since has a queue; 0: not so */
	uint64_t arrived_tsc, arrived_pkts;         /* by the previous report, ... */
	double waited_s;                            /* ... and the wait of its latest packet */
};

/* The train told nothing: tests begin with twice the rate. */
void wh_lambda_yield_begin_blind(struct wh_lambda_yield *yield);

/*
 * A report. `own_s` is the queue that one flow of our kind would leave, `rate_pps` the present
 * rate, `capacity_pps` what the train found. Returns the new rate.
 */
double wh_lambda_yield_hear(struct wh_lambda_yield *yield, const struct wh_lambda_path *path,
	const struct wh_delivery_event *event, double own_s, double rate_pps, double capacity_pps);

#endif
