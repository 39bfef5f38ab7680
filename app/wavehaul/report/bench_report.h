/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* Output of bench: a row a second, a summary with the cycles of every task, or JSON. */

#include <stdint.h>

#include <jansson.h>
#include <rte_spinlock.h>

#include "cli/settings.h"
#include "host/host.h"
#include "job/lanes.h"
#include "report/flow_now.h"
#include "report/learnt_path.h"

/*
 * A lane's counters at the receiving end, and the number of reports; written by the lane's worker.
 */
struct wh_bench_lane {
	rte_spinlock_t lock;
	struct wh_bench_report report;
	uint32_t reports;
};

uint32_t wh_bench_lane_reports(struct wh_bench_lane *lane);

/* Sum of all lanes. */
struct wh_bench_sum {
	struct wh_bench_report receiver; /* elapsed_ns: the longest */
	double bps;                      /* of payload, over that time */
	double pps;
	uint64_t sent_pkts;
	uint64_t retransmitted_pkts;
	uint64_t repair_pkts;            /* sent, or received */
	uint64_t cycles[WH_METER_TASKS]; /* of this end */
	struct wh_flow_now flow;
};

struct wh_bench_rows {
	const struct wh_settings *settings;
	const char *server;
	const struct wh_host *host; /* NULL: it ended before it had a port */
	const struct wh_lanes *lanes;
	const struct wh_learnt_path *learnt;     /* if bench sends */
	struct wh_bench_lane lane[WH_LANES_MAX]; /* of each that has started */
	json_t *intervals;
	uint32_t printed;
	/* State after the first row, during which caches, windows and rates warm up. */
	struct wh_bench_sum warm;
	uint64_t warm_busy_tsc[WH_SETTINGS_CPUS_MAX];
	uint64_t warm_total_tsc[WH_SETTINGS_CPUS_MAX];
};

void wh_bench_add_up(struct wh_bench_rows *rows, struct wh_bench_sum *sum);

/* One interval, from `before` to `now`. */
void wh_bench_row(struct wh_bench_rows *rows, const struct wh_bench_sum *before,
	const struct wh_bench_sum *now);

/* The summary, or the JSON object; frees the rows. */
void wh_bench_end(struct wh_bench_rows *rows, const struct wh_bench_sum *total, int status);
