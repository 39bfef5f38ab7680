/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_FLOW_HISTORY_H
#define WH_APP_FLOW_HISTORY_H

/*
 * How a flow went from its beginning to its end, in rows of equal time. It takes a fixed room: when
 * all rows are used two become one, and from then on each has twice the time.
 */

#include <stdint.h>

#include "report/flow_now.h"

#define WH_FLOW_ROWS       1024 /* even */
#define WH_FLOW_LOOK_NS    UINT64_C(10000000)
#define WH_FLOW_ROW_MIN_NS WH_FLOW_LOOK_NS

/* Of what is not always known: the mean of the time in which it was. */
struct wh_flow_mean {
	double sum; /* value times span */
	double span_ns;
};

struct wh_flow_row {
	uint64_t end_ns; /* since the beginning; so far: */
	uint64_t moved_bytes;
	uint64_t wire_bytes;
	uint64_t lost_pkts;
	uint64_t again_pkts;
	uint64_t repair_pkts;
	uint64_t limit_ns[WH_LIMITS]; /* time of all lanes */
	uint32_t lanes;
	uint64_t rtt_min_ns; /* the least until then; 0: unknown */
	struct wh_flow_mean rtt_ns;
	struct wh_flow_mean rate_bps;
};

struct wh_flow_history {
	struct wh_flow_row row[WH_FLOW_ROWS];
	struct wh_flow_row open; /* not over yet: as far as it was looked at */
	uint32_t count;
	uint64_t row_ns;
};

void wh_flow_history_init(struct wh_flow_history *history);

/* How it goes at at_ns > the time of the look before; `last`: what is open is over then. */
void wh_flow_history_add(
	struct wh_flow_history *history, uint64_t at_ns, const struct wh_flow_now *now, bool last);

/* The earlier one's time becomes the later one's, whose counters are those of both. */
void wh_flow_row_merge(struct wh_flow_row *later, const struct wh_flow_row *earlier);

/* What the mean is; NAN: it was never known. */
double wh_flow_mean(const struct wh_flow_mean *mean);

#endif
