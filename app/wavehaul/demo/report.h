/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_DEMO_REPORT_H
#define WH_APP_DEMO_REPORT_H

/* What a demo says: one line while it runs, a table or a JSON object at its end. */

#include <stdbool.h>
#include <stdint.h>

#include "demo/options.h"
#include "demo/plan.h"
#include "job/jobs.h"
#include "lambda/lambda.h"
#include "port/station.h"

/* Everything about a demo that is over; zeros where it did not get that far. */
struct wh_demo_result {
	const struct wh_demo_options *options;
	const struct wh_demo_plan *plan;
	bool hugepages;
	uint64_t memory_bytes; /* of all pools */
	uint32_t lcores;
	int exit_status;
	uint64_t bytes; /* of the file; that arrived, when it failed */
	double seconds;
	bool verified;
	bool digest_known;
	struct wh_digest digest;
	uint64_t bad_pkts;
	struct wh_job_figures sender;
	struct wh_session_stats receiver;
	struct wh_fibre_stats forward;
	struct wh_fibre_stats reverse;
	struct wh_lambda_stats forward_lambda;
	struct wh_endpoint_stats endpoint[WH_LAMBDA_ENDS];
	struct wh_station_stats station[WH_LAMBDA_ENDS];
};

/* The progress line on a terminal; ask for it as often as you like. */
struct wh_demo_progress {
	bool shown; /* only on a terminal */
	bool line_open;
	uint64_t hz;
	uint64_t bytes_total;
	uint64_t started_tsc; /* 0: no data yet */
	uint64_t next_tsc;
	uint64_t last_tsc;
	uint64_t last_bytes;
};

void wh_demo_progress_init(struct wh_demo_progress *progress, uint64_t hz, uint64_t bytes_total);
void wh_demo_progress_show(
	struct wh_demo_progress *progress, uint64_t now_tsc, const struct wh_job *job);
void wh_demo_progress_end(struct wh_demo_progress *progress);

void wh_demo_print_table(const struct wh_demo_result *result);

/* One object on stdout. */
void wh_demo_print_json(const struct wh_demo_result *result);

#endif
