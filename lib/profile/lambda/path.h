/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_PROFILE_LAMBDA_PATH_H
#define WH_PROFILE_LAMBDA_PATH_H

/*
 * The state of a path, from the receiver's reports (states): delay without a queue, queue, arrivals
 * and losses. A sample covers packets sent after a mark, that is, after the last change of the
 * rate: the first report on marked packets begins it, later ones fill it.
 *
 * All input comes from a peer that may lie.
 */

#include <stdbool.h>
#include <stdint.h>

#include "profile/profile.h"

struct wh_lambda_least {
	bool known;
	int64_t delay_tsc; /* one way, with an unknown offset */
	uint64_t rtt_tsc;
};

struct wh_lambda_sample {
	uint64_t seen_pkts; /* transmissions in the sample */
	uint64_t lost_pkts; /* of these */
	uint64_t lost_runs; /* losses in a row are one */
	double arrival_pps; /* by the receiver's clock; 0: unknown */
	double queue_s;     /* minimal delay of the sample above the minimum: the standing queue */
	double peak_s;      /* maximal delay of the reports' latest packets, likewise */
	double span_s;
	double sent_pps; /* sent since the mark */
	bool held_up;    /* something else than the controller limited it for a time */
	bool starved;    /* less was sent than the rate allows, for whatever reason */
};

struct wh_lambda_path {
	double hz;
	struct wh_lambda_least least[2]; /* of this period, of the previous one */
	uint64_t least_since_tsc;
	double there_and_back_s; /* round trip without our queue, the recent maximum */
	double floor_s;          /* above the minimum: usual delays, no queue */
	double jitter_s;         /* mean difference of consecutive minimal delays, by hosts */
	double late_pkts;        /* sent at once because we were late, the recent maximum */
	double gap_s;            /* between two reports, the recent maximum */
	uint64_t heard_tsc;      /* the latest report; 0: none yet */
	uint64_t moved_tsc;      /* the latest report with news */
	uint64_t seen_pkts;      /* by the latest report */
	uint64_t delivered_pkts;
	uint64_t lost_runs;
	uint64_t arrived_tsc;
	double before_s; /* that of the report before */
	double queue_s;  /* minimum of the latest report's packets */
	double latest_s; /* wait of its latest packet */

	uint64_t mark_pkts; /* packets sent when the rate was changed */
	uint64_t mark_tsc;
	bool filling; /* marked packets are arriving */
	uint64_t from_seen_pkts, from_delivered_pkts, from_lost_runs;
	uint64_t from_arrived_tsc, from_tsc;
	double paused_s; /* since the mark */
	uint32_t states;
	struct wh_lambda_sample sample;
	uint64_t part_tsc, part_pkts; /* arrivals are counted from here */
	double arrived_most_pps;      /* 0: never enough to tell */
};

/*
 * The first packets are sent at once; their spacing at arrival gives the rate of the narrowest
 * link. Reports may split the train, a stream may have too few packets for one, and some may be
 * lost.
 */
struct wh_lambda_train {
	uint64_t from_pkts; /* packets sent before it */
	uint64_t pkts;      /* spacings measured, ... */
	double s;           /* ... and their sum */
	uint64_t arrived_tsc, arrived_pkts;
	uint32_t still_reports;
};

void wh_lambda_path_init(struct wh_lambda_path *path, uint64_t hz);

/* A report. Values that go backwards are ignored. `rate_pps`: the allowed rate. */
void wh_lambda_path_hear(
	struct wh_lambda_path *path, const struct wh_delivery_event *event, double rate_pps);

/* Packets sent from now on belong to the next sample. */
void wh_lambda_path_mark(struct wh_lambda_path *path, uint64_t now_tsc, uint64_t sent_pkts);

/*
 * Whether the sample is full: at least `pkts` packets and `span_s`. `rate_pps` is the rate allowed
 * since the mark.
 */
bool wh_lambda_path_full(struct wh_lambda_path *path, const struct wh_delivery_event *event,
	uint64_t pkts, double span_s, double rate_pps);

/* 0 if `then_tsc` is yet to come. */
static inline double wh_lambda_since_s(
	const struct wh_lambda_path *path, uint64_t now_tsc, uint64_t then_tsc)
{
	return now_tsc > then_tsc ? (double)(now_tsc - then_tsc) / path->hz : 0.0;
}

/* The minimal round trip; 0: unknown. */
double wh_lambda_path_rtt_s(const struct wh_lambda_path *path);

/*
 * The recent time for which a host had no CPU; 0: none. Within it delays are no queue and arrivals
 * no rate, so that samples must be longer. At a low rate reports are rare, which is no pause.
 */
double wh_lambda_path_pause_s(const struct wh_lambda_path *path, double rate_pps);

/* A packet's way there through the queue, and back. */
double wh_lambda_path_round_s(const struct wh_lambda_path *path);

/* What lasts for so long is no event, but how the path is now. */
double wh_lambda_path_patience_s(const struct wh_lambda_path *path);

/* Packets sent within this time are in flight, or not reported yet. */
double wh_lambda_path_covered_s(const struct wh_lambda_path *path);

/* Keeps the minimal delays for another period: a queue of other flows hides lower ones. */
void wh_lambda_path_keep(struct wh_lambda_path *path, uint64_t now_tsc);

/* The path has become longer: the present delay is that without a queue. */
void wh_lambda_path_forget(struct wh_lambda_path *path);

/* After wh_lambda_path_hear of a report. True: the train is over. `pkts`: its length. */
bool wh_lambda_train_hear(struct wh_lambda_train *train, const struct wh_lambda_path *path,
	const struct wh_delivery_event *event, uint64_t before_pkts, uint64_t pkts);

/* The path was down, and what arrives next was sent after that: the wait is no spacing. */
void wh_lambda_train_interrupted(struct wh_lambda_train *train);

/* The capacity it gives; without spacings, the one known before, or what has arrived. */
double wh_lambda_train_pps(
	const struct wh_lambda_train *train, const struct wh_lambda_path *path, double known_pps);

/*
 * Whether the train was false: `sent_pps` overload the path and only `arrives_pps` arrive. Other
 * flows send at most the capacity, and a queue treats all alike; if we get less than that leaves, a
 * host has read the train faster than it arrived.
 */
bool wh_lambda_train_false(double train_pps, double sent_pps, double arrives_pps);

#endif
