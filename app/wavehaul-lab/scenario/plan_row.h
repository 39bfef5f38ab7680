/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* The performance of one agent on a link: by formula, or by simulation of that link. */

#include <stdbool.h>
#include <stdint.h>

#include "cli/settings.h"
#include "lab/tcp/tcp.h"

struct wh_plan_link {
	uint64_t rate_bps; /* of IP packets */
	uint64_t rtt_ps;
	double loss;
	uint32_t packet_bytes;
	uint32_t queue_pkts;
	uint64_t file_bytes;
	const struct wh_profile_choices *choices; /* NULL: as in the papers */
};

#define WH_PLAN_NAME_BYTES 32

struct wh_plan_row {
	char name[WH_PLAN_NAME_BYTES];
	const char *formula;   /* NULL: simulated */
	uint64_t simulated_ps; /* simulated time, or the time until the file was complete */
	double goodput_bps;    /* in the steady state */
	double finish_s;       /* of the file; infinite: never */
};

/* The number of agents. */
uint32_t wh_plan_rows(void);

/* True: calculated by formula. */
bool wh_plan_row_by_formula(
	const struct wh_plan_link *link, uint32_t row, struct wh_plan_row *told);

/* Takes seconds. */
void wh_plan_row_simulate(const struct wh_plan_link *link, uint32_t row, struct wh_plan_row *told);

/*
 * A TCP's mean window in the steady state if packets are lost at random, each with probability loss
 * > 0, and nothing else limits it. Every segment is acknowledged.
 */
struct wh_formula {
	const char *source;
	double window_pkts;
};

struct wh_formula wh_formula_tcp(enum wh_sim_tcp_variety variety, double loss, double rtt_s);
