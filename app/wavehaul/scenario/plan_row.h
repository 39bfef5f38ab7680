/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_PLAN_ROW_H
#define WH_APP_PLAN_ROW_H

/* What one agent would do on a link: by formula, or by simulation of that very link. */

#include <stdbool.h>
#include <stdint.h>

#include "cli/settings.h"
#include "tcp/tcp.h"

struct wh_plan_link {
	uint64_t rate_bps; /* of IP packets */
	uint64_t rtt_ps;
	double loss;
	uint32_t packet_bytes;
	uint32_t queue_pkts;
	uint64_t file_bytes;
	const struct wh_profile_choices *choices; /* NULL: as the papers have them */
};

#define WH_PLAN_NAME_BYTES 32

struct wh_plan_row {
	char name[WH_PLAN_NAME_BYTES];
	const char *formula;   /* NULL: simulated */
	uint64_t simulated_ps; /* for so long, or until the file was there */
	double goodput_bps;    /* in the long run */
	double finish_s;       /* of the file; infinite: never */
};

/* One for each agent. */
uint32_t wh_plan_rows(void);

/* True when it can be told by formula, which is then done. */
bool wh_plan_row_by_formula(
	const struct wh_plan_link *link, uint32_t row, struct wh_plan_row *told);

/* Takes seconds. */
void wh_plan_row_simulate(const struct wh_plan_link *link, uint32_t row, struct wh_plan_row *told);

/*
 * What a TCP's window is in the long run when packets are lost by chance, each with probability
 * loss > 0, and nothing else limits it. Every segment is acknowledged.
 */
struct wh_formula {
	const char *source;
	double window_pkts;
};

struct wh_formula wh_formula_tcp(enum wh_sim_tcp_variety variety, double loss, double rtt_s);

#endif
