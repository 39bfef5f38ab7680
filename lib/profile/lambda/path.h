/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_PROFILE_LAMBDA_PATH_H
#define WH_PROFILE_LAMBDA_PATH_H

/*
 * What the receiver's states tell of a way: its delay without a queue, the queue that stands, what
 * arrives and what is lost. A sample is of packets that went after a mark, that is, after the last
 * change of the rate: the marked packets' first state begins it, later ones fill it.
 *
 * Everything that comes in here was said by a peer who may lie.
 */

#include <stdbool.h>
#include <stdint.h>

#include "profile/profile.h"

#define WH_LAMBDA_FLOOR_S 200e-6 /* hosts delay by no more when nothing else does */

struct wh_lambda_least {
	bool known;
	int64_t delay_tsc; /* one way, of an unknown zero */
	uint64_t rtt_tsc;
};

struct wh_lambda_sample {
	uint64_t seen_pkts; /* transmissions that it is of */
	uint64_t lost_pkts; /* of them */
	double arrival_pps; /* by the receiver's clock; 0: unknown */
	double queue_s;     /* the least of the delays less the least ever: what stands */
	double peak_s;      /* the most of the delays of states' latest packets, likewise */
	double span_s;
	double sent_pps; /* what went since the mark */
	bool held_up;    /* part of the time something else than the decision did */
	bool starved;    /* or less went than the rate allows, for whatever reason */
};

struct wh_lambda_path {
	double hz;
	struct wh_lambda_least least[2]; /* of this period, of the one before */
	uint64_t least_since_tsc;
	double there_and_back_s; /* a round trip without our queue, the longest of late */
	double floor_s;          /* of the delays above the least: no queue, hosts' doing, too */
	double jitter_s;    /* least delays of states in a row differ by so much: hosts' doing */
	double late_s;      /* that our packets went, several at once, the most of late */
	double gap_s;       /* from one state to the next, the longest of late */
	uint64_t heard_tsc; /* the latest state; 0: none yet */
	uint64_t moved_tsc; /* the latest one that saw something new */
	uint64_t seen_pkts; /* by the latest state ... */
	uint64_t delivered_pkts;
	uint64_t arrived_tsc;
	double queue_s;   /* ... least of its packets */
	double latest_s;  /* that its latest packet waited */
	double short_pps; /* by its own packets' distances; 0: too few of them */

	uint64_t mark_pkts; /* sent when the rate was changed */
	uint64_t mark_tsc;
	bool filling; /* the marked packets arrive */
	uint64_t from_seen_pkts, from_delivered_pkts, from_arrived_tsc, from_tsc;
	double paused_s; /* since the mark */
	uint32_t states;
	struct wh_lambda_sample sample;
};

/*
 * The first packets go at once, and how far apart they come is how fast the narrowest link is.
 * States may cut the train, a stream may have too few packets for one, and some may be lost.
 */
struct wh_lambda_train {
	uint64_t from_pkts; /* sent before it */
	uint64_t pkts;      /* distances of it that were measured, ... */
	double s;           /* ... so long together */
	double best_pps;    /* the closest ones of one state: a host may pause within a train */
	uint64_t arrived_tsc, arrived_pkts;
	uint32_t still_states;
};

void wh_lambda_path_init(struct wh_lambda_path *path, uint64_t hz);

/* One state. Nothing is believed that goes backwards. `rate_pps`: what is allowed. */
void wh_lambda_path_hear(
	struct wh_lambda_path *path, const struct wh_delivery_event *event, double rate_pps);

/* What goes from now on is of the next sample. */
void wh_lambda_path_mark(struct wh_lambda_path *path, uint64_t now_tsc, uint64_t sent_pkts);

/*
 * The sample is full: so many packets at least, and for so long. `rate_pps` is what was allowed
 * since the mark.
 */
bool wh_lambda_path_full(struct wh_lambda_path *path, const struct wh_delivery_event *event,
	uint64_t pkts, double span_s, double rate_pps);

/* What went since the mark; as allowed, where that was just now. */
double wh_lambda_path_sent_pps(const struct wh_lambda_path *path,
	const struct wh_delivery_event *event, double allowed_pps);

/* The least round trip; 0: unknown. */
double wh_lambda_path_rtt_s(const struct wh_lambda_path *path);

/*
 * So long a host had no CPU of late, 0: it had one. What stands is no queue then, and what arrives
 * no rate, but in samples that are longer. At a low rate states are rare, and that is no pause.
 */
double wh_lambda_path_pause_s(const struct wh_lambda_path *path, double rate_pps);

/* What goes in so long is under way, or not told of yet. */
double wh_lambda_path_covered_s(const struct wh_lambda_path *path);

/*
 * Of what stood before, `shed_s` was to go, which is all, and nothing went, though all arrives: it
 * is no queue, but hosts that are so slow, and no longer counted. `rate_pps`: what went.
 */
bool wh_lambda_path_learn_floor(
	struct wh_lambda_path *path, double rate_pps, double before_s, double shed_s);

/* The least delays stay what they are: a queue of others hides what is less. */
void wh_lambda_path_keep(struct wh_lambda_path *path, uint64_t now_tsc);

/* The way has become longer: the delay of now is that without a queue. */
void wh_lambda_path_forget(struct wh_lambda_path *path);

/* One state that `path` has heard; true: the train is over. `pkts`: a whole one. */
bool wh_lambda_train_hear(struct wh_lambda_train *train, const struct wh_lambda_path *path,
	const struct wh_delivery_event *event, uint64_t before_pkts, uint64_t pkts);

/* What it says of the capacity; without a distance that was known before, or what has arrived. */
double wh_lambda_train_pps(
	const struct wh_lambda_train *train, const struct wh_lambda_path *path, double known_pps);

/*
 * It was false, when `sent_pps` overload the way and no more than `arrives_pps` come through:
 * others send what the way bears at most, and a queue treats all alike. With less than that leaves,
 * a host has read the train faster than it came.
 */
bool wh_lambda_train_false(double train_pps, double sent_pps, double arrives_pps);

#endif
