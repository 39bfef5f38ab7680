/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_PROFILE_LAMBDA_INTERNAL_H
#define WH_PROFILE_LAMBDA_INTERNAL_H

/*
 * The controller's state, shared only by the files of this room; lambda.c explains the rules. Calls
 * go from there to cruise.c, overload.c and alpha.c, in this order.
 */

#include <assert.h>

#include "base/assert.h"
#include "profile/lambda/compete.h"
#include "profile/lambda/loss.h"
#include "profile/lambda/others.h"
#include "profile/lambda/path.h"
#include "profile/lambda/share.h"
#include "profile/lambda/yield.h"
#include "profile/profile.h"

#define WH_LAMBDA_ALPHA_AT_BPS   1e9
#define WH_LAMBDA_RATE_LEAST_PPS 1.0 /* below one packet a second nothing can be learnt */
#define WH_LAMBDA_ARRIVAL_PKTS   32  /* give the arrival rate to a few percent */

enum {
	WH_LAMBDA_TRAIN,
	WH_LAMBDA_ALPHA,
	WH_LAMBDA_SHARE,
	WH_LAMBDA_OPTIONS,
};
enum wh_lambda_phase { WH_LAMBDA_START, WH_LAMBDA_LOW, WH_LAMBDA_VERIFY, WH_LAMBDA_CRUISE };

/* Before the latest reduction for an overload; rate_pps is 0 if it can no longer be disproved. */
struct wh_lambda_before {
	double rate_pps, busy_pps;
	double least_pps; /* an arrival rate that disproves it */
	uint64_t arrived_tsc, delivered_pkts, seen_pkts;
	uint64_t until_pkts; /* sent before it */
};

struct wh_lambda {
	enum wh_lambda_phase phase;
	struct wh_lambda_path path;
	struct wh_lambda_loss loss;
	struct wh_lambda_others others;
	struct wh_lambda_compete compete;
	struct wh_lambda_yield yield;
	struct wh_lambda_share share;
	double rate_pps;
	double rate_max_pps;    /* the bound of the operator and of the line */
	double train_pps;       /* the train's capacity, regardless of the bound */
	double told_pps;        /* likewise, whatever was learnt later */
	bool poor;              /* much of the train was lost, so that it says too little */
	uint64_t began_tsc;     /* when it was over */
	uint32_t trains;        /* that arrived all at once ... */
	bool blind;             /* ... and told nothing */
	bool train_ends_early;  /* the rest of it is still on its way */
	double estimate_pps;    /* train_pps within the bound */
	double sent_most_pps;   /* in a sample */
	double busy_pps;        /* arrival rate while a queue stood: all that we can have */
	double alpha_most_pkts; /* bound after losses in a short queue; 0: none */
	double good_pps;        /* before the latest step */
	double growth;
	double step_pkts;            /* in the queue at that time */
	double step;                 /* the latest increase, as a share of the rate; 0: none */
	double shed_queue_s, shed_s; /* the queue at the last reduction, and what was to go of it */
	double shed_from_pps;        /* the rate before consecutive reductions */
	double shed_arrival_pps;
	uint32_t shed_in_vain;
	uint64_t now_tsc, sent_pkts; /* of the latest event */
	struct wh_lambda_train train;
	uint64_t drained_tsc; /* when the queue was last seen empty */
	bool heeded;          /* acted on an overload, and no sample has ended since */
	bool relieves;        /* drains a queue that others have made */
	bool waits;           /* packets are on their way */
	struct wh_lambda_before before;
	double drains;       /* draining, by this share of the rate; 0: not */
	uint64_t fetch_pkts; /* packets sent including the one to fetch news; 0: none */
	uint64_t still_tsc;
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

/* alpha.c: within what is allowed. */
void wh_lambda_set_rate(struct wh_lambda *lambda, double rate_pps);

/* Packets that we keep in the queue: the fewer per flow, the more flows there are. */
double wh_lambda_own_alpha_pkts(const struct wh_control *control, double rate_pps);

/* Likewise, but at least what exceeds the hosts' jitter, and at most what a short queue takes. */
double wh_lambda_alpha_pkts(const struct wh_control *control, double rate_pps);

/* cruise.c: flows that fill every queue are present. */
void wh_lambda_begin_competing(struct wh_control *control);

/* overload.c: of the path, as far as is known. */
double wh_lambda_capacity_pps(const struct wh_lambda *lambda);

/* A queue longer than this is an overload. */
double wh_lambda_overload_s(const struct wh_control *control);

/*
 * Packets that were sent before the reduction are still on their way. If they arrive as fast as
 * they were sent, and no more are lost than by noise, as where TCPs have made room, the line was
 * not overloaded: a host had no CPU for a moment.
 */
void wh_lambda_doubt_overload(struct wh_control *control, const struct wh_delivery_event *event);

/* Far too much queue, and less arrives than is sent: the rate goes below the arrival rate. */
void wh_lambda_heed_overload(struct wh_control *control, const struct wh_delivery_event *event);

/*
 * After a full sample: while a queue drains more arrives than is sent, and what keeps it standing
 * lies between. The rate is that of the pacer: after a reduction what is in flight holds packets
 * back at first.
 */
void wh_lambda_learn_left(struct wh_lambda *lambda);

/* A queue that others made is gone, or they are. What they leave is known by now. */
void wh_lambda_end_relief(struct wh_lambda *lambda);

/* cruise.c: a report of the receiver, after the start. */
void wh_lambda_cruise(struct wh_control *control, const struct wh_delivery_event *event);

/*
 * If the queue was not seen empty for a long time, the minimal delay may include a queue. Flows of
 * our kind that share the path see it empty at the same time, and drain it at the same time.
 */
void wh_lambda_drain(struct wh_control *control, const struct wh_delivery_event *event);

#endif
