/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_MEASURE_CONSTANTS_H
#define WH_MEASURE_CONSTANTS_H

/*
 * The constants of lib/measure in one table, each with its place in the papers.
 */

#include <assert.h>

/* udt.txt III B: alpha = 0.875 = 7/8 in all of UDT's moving averages. */
#define WH_EWMA_KEEP  7
#define WH_EWMA_PARTS 8

/* RFC 6298 (2.3): beta = 1/4 for the RTT's deviation; udt.txt names no constant for it. */
#define WH_RTT_VAR_KEEP  3
#define WH_RTT_VAR_PARTS 4

/* udt.txt III B: N0 arrival intervals; outside [M/8, 8M] are removed; more than half must stay. */
#define WH_ARRIVAL_INTERVALS      16
#define WH_ARRIVAL_OUTLIER_FACTOR 8

/* udt.txt III C: N1, every 16th packet starts a pair; N2 pair intervals in the median. */
#define WH_PAIR_PERIOD_PKTS 16
#define WH_PAIR_INTERVALS   16

/*
 * udt.txt III C: N3 delays. The thresholds are those of the Pathload tool that [7] describes: a
 * trend is increasing if one test is sure and the other at least leans that way.
 */
#define WH_TREND_DELAYS    16
#define WH_TREND_PCT_SURE  0.66
#define WH_TREND_PCT_LEANS 0.54
#define WH_TREND_PDT_SURE  0.55
#define WH_TREND_PDT_LEANS 0.45

/*
 * udt.txt V asks for a correction of skew without details: these are our choice. A block is long
 * enough for a queue that UDT fills to empty once; four blocks have six slopes. Crystals are within
 * 100 ppm of their rate, two of them within 200, plus some drift.
 */
#define WH_SKEW_BLOCK_MS 1000
#define WH_SKEW_BLOCKS   16
#define WH_SKEW_KNOWN    4
#define WH_SKEW_MOST_PPM 300

/* measure/straight.h: the eight blocks are 0.8 s, long enough for a lower rate to drain a queue. */
#define WH_STRAIGHT_BLOCK_MS 100
#define WH_STRAIGHT_BLOCKS   8
#define WH_STRAIGHT_LINE     10.0 /* the delay grows by this many times what the line is bent */
#define WH_STRAIGHT_SURE     40.0 /* a queue would be shorter by this many times that, ... */
#define WH_STRAIGHT_US       2.0  /* ... plus the rounding of stamps, ... */
#define WH_STRAIGHT_PKTS     4.0  /* ... plus the time of this many packets */

/*
 * ttp.txt II B: the short term is the last n packets, one control packet's bitmap, which III A
 * sets to 1K bits; the long term is the whole connection and needs no constant. II C takes a
 * weighted average of the two but names no weight: equal shares are our choice.
 */
#define WH_LOSS_SHORT_PKTS   1024
#define WH_LOSS_SHORT_WEIGHT 0.5

static_assert(WH_EWMA_KEEP > 0 && WH_EWMA_KEEP < WH_EWMA_PARTS, "old and new both count");
static_assert(WH_RTT_VAR_KEEP > 0 && WH_RTT_VAR_KEEP < WH_RTT_VAR_PARTS, "old and new both count");
static_assert(WH_PAIR_PERIOD_PKTS >= 2, "a pair has two packets");
static_assert(WH_TREND_DELAYS >= 2, "a trend has a step");
static_assert(WH_SKEW_KNOWN >= 2 && WH_SKEW_KNOWN <= WH_SKEW_BLOCKS, "a slope has two points");

#endif
