/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* A demo's final report: a table, or a JSON object. */

#include <stdbool.h>
#include <stdint.h>

#include "demo/demo_plan.h"
#include "job/jobs.h"
#include "netem/emulator.h"

/* The results of a demo; zeros for parts that it did not reach. */
struct wh_demo_result {
	const struct wh_demo_options *options;
	const struct wh_demo_plan *plan;
	bool hugepages;
	uint64_t memory_bytes; /* of all pools */
	uint32_t lcores;
	int exit_status;
	uint64_t bytes; /* of the file; those that arrived if it failed */
	double seconds;
	double first_sent_s, first_received_s; /* of the file's bytes, since the handshake began */
	bool verified;
	struct wh_job_sealed sealed;
	bool digest_known;
	struct wh_digest digest;
	uint64_t bad_pkts;
	struct wh_job_figures sender;
	struct wh_session_stats receiver;
	struct wh_netem_stats forward;
	struct wh_netem_stats reverse;
	struct wh_emulator_stats forward_emulator;
};

void wh_demo_print_table(const struct wh_demo_result *result);

/* One object on stdout. */
void wh_demo_print_json(const struct wh_demo_result *result);
