/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * A demo's settings and the resources that it needs, calculated before anything is allocated:
 * settings of its two hosts, memory of the emulated link, and the sum.
 */

#include <stdbool.h>
#include <stdint.h>

#include "cli/settings.h"
#include "host/host_settings.h"
#include "host/memory_plan.h"
#include "netem/emulator.h"
#include "port/spec.h"

#define WH_DEMO_SENDER   WH_EMULATOR_A
#define WH_DEMO_RECEIVER WH_EMULATOR_B

/* A demo's settings, and values derived from them. */
struct wh_demo_options {
	struct wh_settings settings; /* of the link: the data's direction, complete */
	double loss;                 /* mean loss of the whole loss model, for the report */
};

/* -1: go on; else the exit status after --help or a complaint was printed. */
int wh_demo_options_parse(int argc, char **argv, struct wh_demo_options *options);

/* The names of links, part of their ports' names. */
extern const char *const wh_demo_link[WH_PORTS_MAX];

/* The ports at an end of the links, for wh_host_open once the links exist. */
void wh_demo_ports(enum wh_emulator_end end, struct wh_port_spec ports[WH_PORTS_MAX]);

struct wh_demo_plan {
	uint64_t payload_line_bps; /* the lines' rates times the payload's share of a frame */
	uint32_t chunks[WH_EMULATOR_ENDS];
	struct wh_settings settings[WH_EMULATOR_ENDS];
	struct wh_host_settings host[WH_EMULATOR_ENDS];
	uint32_t link_mbufs; /* of all links */
	struct wh_link_model reverse;
	struct wh_memory_plan memory;
	uint64_t budget_bytes;
	bool limited; /* fewer buffers than the link needs: the window will limit the flow */
};

/*
 * 0, or -ENOMEM: not even the minimum fits into the budget (--memory, else half of the available
 * memory); see plan->memory and plan->budget_bytes.
 */
int wh_demo_plan_make(const struct wh_demo_options *options, struct wh_demo_plan *plan);
