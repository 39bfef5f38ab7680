/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_PROFILE_LAMBDA_INTERNAL_H
#define WH_PROFILE_LAMBDA_INTERNAL_H

/* The controller's state, shared only by the files of this room; docs/controller.md explains it. */

#include <assert.h>

#include "base/assert.h"
#include "profile/lambda/compete.h"
#include "profile/lambda/loss.h"
#include "profile/lambda/params.h"
#include "profile/lambda/path.h"
#include "profile/lambda/yield.h"
#include "profile/profile.h"

enum {
	WH_LAMBDA_TRAIN,
	WH_LAMBDA_ALPHA,
	WH_LAMBDA_SHARE,
	WH_LAMBDA_OPTIONS,
};

/* The part that decides the rate. */
enum wh_lambda_mode {
	WH_LAMBDA_START,
	WH_LAMBDA_VERIFY,
	WH_LAMBDA_YIELD,  /* a scavenger */
	WH_LAMBDA_HOLD,   /* the line is ours: a small queue stands */
	WH_LAMBDA_CUT,    /* reduced; until the queue is gone */
	WH_LAMBDA_FILL,   /* rises by the same step for all flows of the line */
	WH_LAMBDA_WINDOW, /* beside flows that fill every queue */
};

struct wh_lambda {
	enum wh_lambda_mode mode;
	struct wh_lambda_path path;
	struct wh_lambda_loss loss;
	struct wh_lambda_compete compete;
	struct wh_lambda_yield yield;
	struct wh_lambda_train train;
	double rate_pps;
	double rate_max_pps; /* the bound of the operator and of the line */
	double train_pps;    /* the train's capacity, regardless of the bound */
	double line_pps;     /* capacity of the narrowest link, as far as known */
	double own_pps;      /* arrival rate when the line was ours */

	/* part.c: the queue */
	uint64_t low_seen_pkts, low_delivered_pkts, low_runs; /* the counts ... */
	bool was_low;                       /* ... of the report before, which showed a short one */
	bool stands;                        /* it is too long, ... */
	uint64_t stood_tsc, stood_pkts;     /* ... since this arrival; packets arrived before */
	double peak_s, longest_s;           /* since the last reduction; ever, but fading */
	double sure_peak_s, queue_before_s; /* seen by two reports in a row; by the one before */
	double full_s;                      /* time with a long queue, less the time without */
	uint64_t heard_tsc;

	/* hold.c: alone */
	double busy_pps;     /* arrival rate while a queue stood */
	double good_pps;     /* before the latest step */
	double growth, step; /* the next one is so many times as large */
	double short_s;      /* queue at which packets were lost; 0: none */
	double spared_s,
		spared_from_s; /* not sent while this queue stood, in seconds of the line */
	double drains;         /* part of the rate that is not sent; 0: no drain */
	uint64_t drained_tsc;
	bool seeks; /* no queue was seen yet */

	/* share.c: beside others */
	double cut;                 /* the part of the latest reduction */
	double slope_pps;           /* the rise in the first second after it */
	double peak_pps;            /* what arrived at it, ... */
	double cut_from_pps;        /* ... the rate before it, ... */
	double cut_queue_s;         /* ... and the queue, of a drain too */
	uint64_t cut_pkts, cut_tsc; /* sent then, and when, or at the latest check */
	uint64_t cut_seen_pkts, cut_lost_pkts;
	uint64_t event_tsc; /* the rise counts from here */
	uint64_t free_pkts; /* since a queue was seen; packets from here on were sent ... */
	double free_pps;    /* ... at this rate */
	uint32_t vain;      /* reductions in a row that changed nothing */
	uint32_t checks;    /* of the queue, since it became shorter */

	/* start.c, and what is the same for all */
	uint64_t now_tsc, sent_pkts;
	uint32_t trains, jump_pkts; /* of a path that is kept, behind the train */
	bool blind, train_ends_early, waits;
	uint64_t fetch_pkts, still_tsc;
};

static_assert(sizeof(struct wh_lambda) <= WH_CONTROL_STATE_BYTES, "a controller's state has room");
static_assert(WH_LAMBDA_OPTIONS <= WH_OPTIONS_MAX, "each option has a value");

static inline struct wh_lambda *wh_lambda_state_of(struct wh_control *control)
{
	return (struct wh_lambda *)control->state;
}

static inline const struct wh_lambda *wh_lambda_view_of(const struct wh_control *control)
{
	return (const struct wh_lambda *)control->state;
}

static inline double wh_lambda_option(const struct wh_control *control, uint32_t which)
{
	return control->config.options.value[which];
}

static inline bool wh_lambda_is_dedicated(const struct wh_control *control)
{
	return wh_lambda_option(control, WH_LAMBDA_SHARE) == WH_SHARING_DEDICATED;
}

static inline double wh_lambda_pps_of(const struct wh_control *control, double bps)
{
	return bps / (8.0 * control->config.wire_bytes);
}

static inline void wh_lambda_mark(struct wh_lambda *lambda, const struct wh_delivery_event *event)
{
	wh_lambda_path_mark(&lambda->path, event->now_tsc, event->sent_pkts);
}

/* Hosts make shorter waits, which are no queue that overflowed. */
static inline double wh_lambda_short_least_s(const struct wh_lambda *lambda)
{
	double sway_s = params.jitters * lambda->path.jitter_s;

	return sway_s > params.short_least_s ? sway_s : params.short_least_s;
}

/* part.c */
void wh_lambda_set_rate(struct wh_lambda *lambda, double rate_pps);

/* Of the narrowest link, never 0. */
double wh_lambda_line_pps(const struct wh_lambda *lambda);

/* A report, first of all. */
void wh_lambda_note_queue(struct wh_control *control, const struct wh_delivery_event *event);

/* The queue that may stand, the same for all flows of a line; a longer one is too long. */
double wh_lambda_target_s(const struct wh_control *control);
double wh_lambda_most_s(const struct wh_control *control);

/* For how long it has been too long; 0: it is not. */
double wh_lambda_stands_s(const struct wh_lambda *lambda);

/* What arrived meanwhile: our part of the line; 0: unknown. Of few packets: near our rate. */
double wh_lambda_part_pps(const struct wh_lambda *lambda);
double wh_lambda_likely_part_pps(const struct wh_lambda *lambda);

/* Arrivals of this time tell whether others are there. */
double wh_lambda_window_s(const struct wh_lambda *lambda);

/* The line is ours from now on. */
void wh_lambda_begin_hold(struct wh_lambda *lambda, const struct wh_delivery_event *event);

/* start.c. What was kept of the path. */
double wh_lambda_known_pps(const struct wh_control *control);
void wh_lambda_jump(struct wh_control *control, const struct wh_tick_event *event);
void wh_lambda_start(
	struct wh_control *control, const struct wh_delivery_event *event, uint64_t before_pkts);
void wh_lambda_verify(struct wh_control *control, const struct wh_delivery_event *event);

/* hold.c */
void wh_lambda_hold(struct wh_control *control, const struct wh_delivery_event *event);

/* share.c. Others are there: reduce with them; or they were there at the start: rise with them. */
void wh_lambda_begin_cut(struct wh_control *control, const struct wh_delivery_event *event);
void wh_lambda_begin_fill(struct wh_lambda *lambda, const struct wh_delivery_event *event);
void wh_lambda_begin_after_others(struct wh_lambda *lambda);
void wh_lambda_share(struct wh_control *control, const struct wh_delivery_event *event);

#endif
