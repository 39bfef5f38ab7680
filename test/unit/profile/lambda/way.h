/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_TEST_UNIT_PROFILE_LAMBDA_WAY_H
#define WH_TEST_UNIT_PROFILE_LAMBDA_WAY_H

/*
 * One flow through one link of a model of its own: packets go by the pacer, wait in a queue, are
 * lost by chance, and states come back. What the scenarios hold in the simulator, with real
 * sessions, is held here of the controller alone.
 */

#include <stdint.h>

#include "base/prng.h"
#include "profile/profile.h"
#include "session/pacer.h"

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

#define RTT (100 * MS)
#define BDP (1e9 / 8 * 0.1)

struct way *way_of(double bps, uint64_t rtt_tsc, double queue_bytes);
void way_begin(struct way *way, uint64_t rate_bps, uint64_t known_bps);
/* What arrives until then, as a part of what the link carries. */
double way_run(struct way *way, uint64_t until_tsc);

#endif
