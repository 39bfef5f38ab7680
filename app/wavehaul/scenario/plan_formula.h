/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_PLAN_FORMULA_H
#define WH_APP_PLAN_FORMULA_H

/*
 * What a TCP's window is in the long run when packets are lost by chance, each with probability
 * loss > 0, and nothing else limits it. Every segment is acknowledged.
 */

#include "tcp/tcp.h"

struct wh_formula {
	const char *source;
	double window_pkts;
};

struct wh_formula wh_formula_tcp(enum wh_sim_tcp_variety variety, double loss, double rtt_s);

#endif
