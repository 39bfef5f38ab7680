/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_DEMO_LINK_H
#define WH_APP_DEMO_LINK_H

/* The demo's hardware: pools, the emulated lambda, its two ports, a station behind each. */

#include <stdint.h>

#include "demo/plan.h"
#include "lambda/lambda.h"
#include "port/station.h"

#define WH_DEMO_SENDER   WH_LAMBDA_A
#define WH_DEMO_RECEIVER WH_LAMBDA_B

struct wh_demo_link {
	struct rte_mempool *port_pool;
	struct rte_mempool *lambda_pool;
	struct wh_lambda *lambda;
	struct wh_port *port[WH_LAMBDA_ENDS];
	struct wh_station station[WH_LAMBDA_ENDS];
	struct wh_address address[WH_LAMBDA_ENDS];
	uint32_t stations;
	uint8_t *chunk_memory[WH_LAMBDA_ENDS];
};

/* 0, or a negative errno after one sentence on stderr. `receiver` is the receiver's endpoint. */
int wh_demo_link_up(const struct wh_demo_options *options, const struct wh_plan *plan,
	const struct wh_endpoint_config *receiver, uint64_t now_tsc, struct wh_demo_link *link);

/* Whatever of it is up. No lcore polls any more. */
void wh_demo_link_down(struct wh_demo_link *link);

#endif
