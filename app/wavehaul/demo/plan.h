/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_DEMO_PLAN_H
#define WH_APP_DEMO_PLAN_H

/*
 * What a demo is told, and how much of everything it needs, worked out before anything is
 * allocated: what its two hosts are told to take, what the lambda takes, and the sum.
 */

#include <stdbool.h>
#include <stdint.h>

#include "cli/settings.h"
#include "host/memory_plan.h"
#include "host/settings.h"
#include "lambda/lambda.h"
#include "port/spec.h"

#define WH_DEMO_SENDER   WH_LAMBDA_A
#define WH_DEMO_RECEIVER WH_LAMBDA_B

/* What a demo is told, and what follows from it. */
struct wh_demo_options {
	struct wh_settings settings; /* lambda: the data's direction, complete */
	double loss;                 /* of the whole model, for the report */
};

/* -1: go on; else the exit status to end with, --help or a complaint having been printed. */
int wh_demo_options_parse(int argc, char **argv, struct wh_demo_options *options);

#define WH_DEMO_LAMBDA "demo" /* its name, as part of its ports' */

/* The port at an end of it: what wh_host_open is given, once it is up. */
struct wh_port_spec wh_demo_port(enum wh_lambda_end end);

struct wh_demo_plan {
	uint64_t payload_line_bps; /* the line's rate times the payload's share of a frame */
	uint32_t chunks[WH_LAMBDA_ENDS];
	struct wh_settings settings[WH_LAMBDA_ENDS];
	struct wh_host_settings host[WH_LAMBDA_ENDS];
	uint32_t lambda_mbufs;
	struct wh_fibre_config reverse;
	struct wh_memory_plan memory;
	uint64_t budget_bytes;
	bool limited; /* fewer buffers than the fibre needs: the window will limit the flow */
};

/*
 * 0, or -ENOMEM: not even the least fits into the budget (--memory, else half of what is
 * available), which plan->memory and plan->budget_bytes tell.
 */
int wh_demo_plan_make(const struct wh_demo_options *options, struct wh_demo_plan *plan);

#endif
