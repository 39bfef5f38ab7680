/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_DEMO_LINK_H
#define WH_APP_DEMO_LINK_H

/* The demo's lambda, and what a host is to open at its ends. */

#include <stdint.h>

#include "demo/plan.h"
#include "lambda/lambda.h"
#include "port/spec.h"

struct wh_demo_link {
	struct rte_mempool *pool;
	struct wh_lambda *lambda;
};

/* 0, or a negative errno after one sentence on stderr. */
int wh_demo_link_up(const struct wh_demo_options *options, const struct wh_demo_plan *plan,
	uint64_t hz, struct wh_demo_link *link);

/* The port at an end of it: what wh_host_open is given, once it is up. */
struct wh_port_spec wh_demo_port(enum wh_lambda_end end);

/* Whatever of it is up. Its ports are closed. */
void wh_demo_link_down(struct wh_demo_link *link);

#endif
