/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* A wan's counters as a table or a JSON object. */

#include <stdbool.h>
#include <stdint.h>

#include "netem/join.h"
#include "port/port.h"

/* One direction so far: effects of the path, and losses for lack of wan's own resources. */
struct wh_wan_figures {
	struct wh_join_stats join;
	struct wh_netem_stats path;
	struct wh_port_stats from;
	struct wh_port_stats to;
	uint32_t held_pkts;
	uint64_t queue_bytes; /* waiting at the last measurement */
	uint64_t late_ns_max;
};

struct wh_wan_result {
	const char *port[WH_EMULATOR_ENDS]; /* as the operator named them */
	int exit_status;
	double seconds;
	bool captured;
	uint64_t pcap_written_pkts;
	uint64_t pcap_missed_pkts;                         /* not written in time */
	uint64_t pcap_beyond_pkts;                         /* beyond --pcap-max */
	struct wh_wan_figures direction[WH_EMULATOR_ENDS]; /* indexed by the sending end */
};

/* Losses for lack of wan's resources, or in its ports: all that the path did not lose. */
uint64_t wh_wan_own_drops(const struct wh_wan_figures *direction);

void wh_wan_print_table(const struct wh_wan_result *result);

/* One object on stdout; with `stream`, as its last event. */
void wh_wan_print_json(const struct wh_wan_result *result, bool stream);
