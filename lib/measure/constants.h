/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * The constants of lib/measure, each with its place in the papers.
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

/* udt.txt III C: every N1-th packet starts a pair; the median is of N2 pair intervals. */
#define WH_PAIR_PERIOD_PKTS 16
#define WH_PAIR_INTERVALS   16

/*
 * udt.txt III C: N3 delays. The thresholds are those of the Pathload tool, the paper's reference
 * [7]: a trend is increasing if one test is sure and the other at least leans that way.
 */
#define WH_TREND_DELAYS    16
#define WH_TREND_PCT_SURE  0.66
#define WH_TREND_PCT_LEANS 0.54
#define WH_TREND_PDT_SURE  0.55
#define WH_TREND_PDT_LEANS 0.45

/*
 * udt.txt V asks for a correction of skew and gives no details, so these are our choice. In a block
 * a queue that UDT fills empties at least once. Four blocks give six slopes. A crystal is within
 * 100 ppm of its rate, so two differ by 200 ppm at most, plus some drift.
 */
#define WH_SKEW_BLOCK_MS 1000
#define WH_SKEW_BLOCKS   16
#define WH_SKEW_KNOWN    4
#define WH_SKEW_MOST_PPM 300

/* measure/straight.h: the eight blocks are 0.8 s, long enough for a lower rate to drain a queue. */
#define WH_STRAIGHT_BLOCK_MS 100
#define WH_STRAIGHT_BLOCKS   8

/* A line is straight if the delay grows along it by this many times its bend. */
#define WH_STRAIGHT_LINE 10.0

/*
 * The clocks cause the slope if a queue would be shorter by SURE times the sum of the bend and US
 * microseconds of rounding. Of the shortening the time of PKTS packets does not count.
 */
#define WH_STRAIGHT_SURE 40.0
#define WH_STRAIGHT_US   2.0
#define WH_STRAIGHT_PKTS 4.0

/*
 * ttp.txt II B: the short term is the last n packets, the bitmap of one control packet, which III A
 * sets to 1K bits. The long term is the whole connection. II C takes a weighted average of the two
 * but names no weight: equal shares are our choice.
 */
#define WH_LOSS_SHORT_PKTS   1024
#define WH_LOSS_SHORT_WEIGHT 0.5

static_assert(WH_EWMA_KEEP > 0 && WH_EWMA_KEEP < WH_EWMA_PARTS, "old and new both count");
static_assert(WH_RTT_VAR_KEEP > 0 && WH_RTT_VAR_KEEP < WH_RTT_VAR_PARTS, "old and new both count");
static_assert(WH_PAIR_PERIOD_PKTS >= 2, "a pair has two packets");
static_assert(WH_TREND_DELAYS >= 2, "a trend has a step");
static_assert(WH_SKEW_KNOWN >= 2 && WH_SKEW_KNOWN <= WH_SKEW_BLOCKS, "a slope has two points");
