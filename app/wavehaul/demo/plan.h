/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_DEMO_PLAN_H
#define WH_APP_DEMO_PLAN_H

/*
 * How much of everything a demo needs, worked out before anything is allocated: memory is a sum
 * of named users.
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "demo/options.h"

#define WH_PLAN_USERS 7

struct wh_plan_user {
	const char *name;
	uint64_t bytes;
};

struct wh_plan {
	uint32_t payload_bytes;    /* of a full data packet */
	uint32_t wire_bytes;       /* that it takes on the line */
	uint64_t payload_line_bps; /* the line's rate times the payload's share of a frame */
	uint32_t sender_chunks;
	uint32_t receiver_chunks;
	uint32_t window_pkts;
	struct wh_repair_config repair;
	uint64_t stride_bytes;    /* a chunk and its repair packets */
	struct wh_fec_limits fec; /* of the core that encodes and decodes; r 0: none does */
	uint16_t room_bytes;      /* of an mbuf */
	uint32_t port_mbufs;
	uint32_t lambda_mbufs;
	struct wh_path_config reverse;
	struct wh_plan_user user[WH_PLAN_USERS];
	uint64_t total_bytes;
	uint64_t small_pages_bytes; /* the same without hugepages */
	uint64_t budget_bytes;
	bool limited; /* fewer buffers than the path needs: the window will limit the flow */
};

/*
 * 0, or -ENOMEM: not even the least fits into the budget (--memory, else half of what is
 * available), which plan->total_bytes and plan->budget_bytes tell.
 */
int wh_plan_make(const struct wh_demo_options *options, struct wh_plan *plan);

void wh_plan_print(const struct wh_plan *plan, FILE *to);

#endif
