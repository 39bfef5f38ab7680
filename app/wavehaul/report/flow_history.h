/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * The course of a flow from its beginning to its end, in rows of equal time. Its size is fixed:
 * when all rows are used, each two are merged, and from then on a row covers twice the time.
 */

#include <stdint.h>

#include "report/flow_now.h"

#define WH_FLOW_ROWS       1024 /* even */
#define WH_FLOW_LOOK_NS    UINT64_C(10000000)
#define WH_FLOW_ROW_MIN_NS WH_FLOW_LOOK_NS
#define WH_FLOW_GAP_NS     UINT64_C(1000000000) /* longer without a look is a gap */

/* A value that is not always known: its mean over the time in which it was. */
struct wh_flow_mean {
	double sum; /* value times span */
	double span_ns;
};

struct wh_flow_row {
	uint64_t end_ns; /* since the beginning */
	/* Totals until end_ns. */
	uint64_t moved_bytes;
	uint64_t wire_bytes;
	uint64_t lost_pkts;
	uint64_t retransmitted_pkts;
	uint64_t repair_pkts;
	uint64_t limit_ns[WH_LIMITS]; /* summed over all lanes */
	uint32_t lanes;
	uint64_t gap_ns;     /* the part of its time that was spent in gaps */
	uint64_t rtt_min_ns; /* minimum so far; 0: unknown */
	struct wh_flow_mean rtt_ns;
	struct wh_flow_mean rate_bps;
};

/* Counters of the lanes of earlier tries: the lanes of each try count from zero. */
struct wh_flow_sums {
	uint64_t moved_bytes;
	uint64_t wire_bytes;
	uint64_t lost_pkts;
	uint64_t retransmitted_pkts;
	uint64_t repair_pkts;
	uint64_t limit_ns[WH_LIMITS];
};

struct wh_flow_history {
	struct wh_flow_sums gone;
	struct wh_flow_row row[WH_FLOW_ROWS];
	struct wh_flow_row open; /* not complete yet */
	uint32_t count;
	uint64_t row_ns;
};

void wh_flow_history_init(struct wh_flow_history *history);

/* The lanes have gone; those of another try will be looked at. */
void wh_flow_history_renew(struct wh_flow_history *history);

/* Adds the state at at_ns, which is later than the previous one; `last`: also ends the open row. */
void wh_flow_history_add(
	struct wh_flow_history *history, uint64_t at_ns, const struct wh_flow_now *now, bool last);

/* Adds the earlier row's time to the later one, whose counters include both. */
void wh_flow_row_merge(struct wh_flow_row *later, const struct wh_flow_row *earlier);

/* The mean; NAN: never known. */
double wh_flow_mean(const struct wh_flow_mean *mean);
