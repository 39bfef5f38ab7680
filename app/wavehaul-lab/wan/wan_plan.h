/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * A wan's settings and the resources that it needs, calculated before anything is allocated: the
 * path each way, the ports, their MTU, and the most packets in transit.
 */

#include <stdint.h>

#include "cli/settings.h"
#include "host/memory_plan.h"
#include "netem/join.h"
#include "port/spec.h"
#include "wan/schedule.h"

struct wh_wan_plan {
	struct wh_settings settings;
	struct wh_port_spec spec[WH_EMULATOR_ENDS];
	struct wh_port_argument device[WH_EMULATOR_ENDS];
	struct wh_link_model netem[WH_EMULATOR_ENDS]; /* indexed by the sending end */
	struct wh_wan_schedule schedule;
	uint16_t mtu;
	uint32_t frame_bytes;                 /* mean size of the frames that are planned for */
	uint32_t items_max[WH_EMULATOR_ENDS]; /* packets held at once, each way */
	uint32_t mbufs[WH_EMULATOR_ENDS];     /* of the port at which the direction begins */
	struct wh_memory_plan memory;
};

/*
 * Reads the options and the schedule. -1: go on; else the exit status after --help or a complaint
 * was printed.
 */
int wh_wan_plan_read(struct wh_wan_plan *plan, int argc, char **argv);

/*
 * Plans for this machine: ports, MTU and memory. WH_EXIT_OK, or an exit status after a complaint.
 */
int wh_wan_plan_make(struct wh_wan_plan *plan);

void wh_wan_plan_free(struct wh_wan_plan *plan);
