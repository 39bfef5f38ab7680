/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/flow_history.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/assert.h"

static_assert(WH_FLOW_ROWS % 2 == 0, "rows are merged in pairs");

void wh_flow_history_init(struct wh_flow_history *history)
{
	history->open = (struct wh_flow_row){0};
	history->gone = (struct wh_flow_sums){0};
	history->count = 0;
	history->row_ns = WH_FLOW_ROW_MIN_NS;
}

double wh_flow_mean(const struct wh_flow_mean *mean)
{
	return mean->span_ns > 0 ? mean->sum / mean->span_ns : NAN;
}

static void add_mean(struct wh_flow_mean *to, const struct wh_flow_mean *from)
{
	to->sum += from->sum;
	to->span_ns += from->span_ns;
}

static void look_mean(struct wh_flow_mean *mean, uint64_t value, double span_ns)
{
	if (value == 0)
		return;
	mean->sum += (double)value * span_ns;
	mean->span_ns += span_ns;
}

void wh_flow_row_merge(struct wh_flow_row *later, const struct wh_flow_row *earlier)
{
	WH_ASSERT(earlier->end_ns < later->end_ns);
	add_mean(&later->rtt_ns, &earlier->rtt_ns);
	add_mean(&later->rate_bps, &earlier->rate_bps);
	later->gap_ns += earlier->gap_ns;
}

static void halve(struct wh_flow_history *history)
{
	for (uint32_t i = 0; i < WH_FLOW_ROWS / 2; i++) {
		wh_flow_row_merge(&history->row[2 * i + 1], &history->row[2 * i]);
		history->row[i] = history->row[2 * i + 1];
	}
	history->count = WH_FLOW_ROWS / 2;
	history->row_ns *= 2;
}

void wh_flow_history_renew(struct wh_flow_history *history)
{
	const struct wh_flow_row *last = history->count > 0 && history->open.lanes == 0
						 ? &history->row[history->count - 1]
						 : &history->open;

	history->gone = (struct wh_flow_sums){
		.moved_bytes = last->moved_bytes,
		.wire_bytes = last->wire_bytes,
		.lost_pkts = last->lost_pkts,
		.retransmitted_pkts = last->retransmitted_pkts,
		.repair_pkts = last->repair_pkts,
	};
	memcpy(history->gone.limit_ns, last->limit_ns, sizeof(last->limit_ns));
}

static void look(struct wh_flow_row *row, uint64_t at_ns, const struct wh_flow_now *now,
	const struct wh_flow_sums *gone)
{
	double span_ns = (double)(at_ns - row->end_ns);

	if (at_ns - row->end_ns >= WH_FLOW_GAP_NS)
		row->gap_ns += at_ns - row->end_ns;
	row->end_ns = at_ns;
	row->moved_bytes = gone->moved_bytes + now->moved_bytes;
	row->wire_bytes = gone->wire_bytes + now->wire_bytes;
	row->lost_pkts = gone->lost_pkts + now->lost_pkts;
	row->retransmitted_pkts = gone->retransmitted_pkts + now->retransmitted_pkts;
	row->repair_pkts = gone->repair_pkts + now->repair_pkts;
	/* The peer's smoothed round trip may be smaller than any measured here. */
	row->rtt_min_ns =
		wh_least_known(row->rtt_min_ns, wh_least_known(now->rtt_min_ns, now->rtt_ns));
	look_mean(&row->rtt_ns, now->rtt_ns, span_ns);
	look_mean(&row->rate_bps, now->rate_bps, span_ns);
	for (uint32_t k = 0; k < WH_LIMITS; k++)
		row->limit_ns[k] = gone->limit_ns[k] + now->limit_ns[k];
	row->lanes = now->lanes;
}

void wh_flow_history_add(
	struct wh_flow_history *history, uint64_t at_ns, const struct wh_flow_now *now, bool last)
{
	uint64_t begin_ns = history->count > 0 ? history->row[history->count - 1].end_ns : 0;

	WH_ASSERT(at_ns > history->open.end_ns);
	WH_ASSERT(history->count < WH_FLOW_ROWS && history->row_ns > 0);
	look(&history->open, at_ns, now, &history->gone);
	if (at_ns - begin_ns < history->row_ns && !last)
		return;
	history->row[history->count++] = history->open;
	history->open = (struct wh_flow_row){
		.end_ns = at_ns,
		.rtt_min_ns = history->open.rtt_min_ns,
	};
	if (history->count == WH_FLOW_ROWS)
		halve(history);
}
