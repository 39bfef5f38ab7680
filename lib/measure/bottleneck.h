/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * What a switch with limited memory between a fast link and a slow line does to bursts, and the
 * rates that a flow in slow start reaches through it: (1) to (4) of lambda-tcp.txt 2. The paper's
 * switch forwards bits. A switch that forwards whole packets (lib/lab/netem) loses s / (f - s)
 * packets earlier, because the first packet leaves only when it has arrived completely.
 */

#include <stdbool.h>

struct wh_bottleneck {
	double fast_bps;     /* f, of the incoming interface; above slow_bps */
	double slow_bps;     /* s, of the outgoing one; above 0 */
	double memory_bytes; /* M, of the queue before it */
	double rtt_s;        /* R */
};

/* (1) solved for the memory, by the longest burst without loss. */
double wh_bottleneck_memory_bytes(
	double fast_bps, double slow_bps, double burst_pkts, double packet_bytes);

/* (2): the rate of a flow that has no more than the longest burst in flight. */
double wh_bottleneck_rate_bps(const struct wh_bottleneck *bottleneck);

/* (3): the memory at which (2) is the slow line's rate. */
double wh_bottleneck_wanted_bytes(double fast_bps, double slow_bps, double rtt_s);

/*
 * (4): slow lines between low and high need more memory than there is; slow_bps is not used. False
 * if there is no such range, because the round trip is too short: wh_bottleneck_close_rtt_s.
 */
bool wh_bottleneck_forbidden(
	const struct wh_bottleneck *bottleneck, double *low_bps, double *high_bps);

/* R = 4 M / f: up to this round trip no rate is forbidden. */
double wh_bottleneck_close_rtt_s(const struct wh_bottleneck *bottleneck);
