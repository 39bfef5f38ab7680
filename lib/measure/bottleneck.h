/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_MEASURE_BOTTLENECK_H
#define WH_MEASURE_BOTTLENECK_H

/*
 * What a switch of some memory between a fast link and a slow line does to bursts, and the rates
 * that a flow in slow start reaches through it: (1) to (4) of lambda-tcp.txt 2. Bits flow here, as
 * in the paper; a switch that takes whole packets (lib/fibre) loses s / (f - s) packets sooner,
 * since the first one leaves when all of it has come.
 */

#include <stdbool.h>

struct wh_bottleneck {
	double fast_bps;     /* f, of the incoming interface; above slow_bps */
	double slow_bps;     /* s, of the outgoing one; above 0 */
	double memory_bytes; /* M, in front of it */
	double rtt_s;        /* R */
};

/* (1) solved for the memory, by the longest burst that loses nothing. */
double wh_bottleneck_memory_bytes(
	double fast_bps, double slow_bps, double burst_pkts, double packet_bytes);

/* (2): what a flow reaches when the longest burst is all that may be under way. */
double wh_bottleneck_rate_bps(const struct wh_bottleneck *bottleneck);

/* (3): the memory with which that is the slow line's rate. */
double wh_bottleneck_wanted_bytes(double fast_bps, double slow_bps, double rtt_s);

/*
 * (4): between low and high a slow line wants more memory than there is; its own rate is no matter.
 * False when there is no such area: the round trip is too short, by wh_bottleneck_close_rtt_s.
 */
bool wh_bottleneck_forbidden(
	const struct wh_bottleneck *bottleneck, double *low_bps, double *high_bps);

/* R = 4 M / f: up to there no rate is forbidden. */
double wh_bottleneck_close_rtt_s(const struct wh_bottleneck *bottleneck);

#endif
