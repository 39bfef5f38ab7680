/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_WAN_REPORT_H
#define WH_APP_WAN_REPORT_H

/* What became of the frames of a wan: a table, or a JSON object. */

#include <stdbool.h>
#include <stdint.h>

#include "lambda/join.h"
#include "port/port.h"

/* Of one way, so far. What of it the path did, and what happened for want of wan's own means. */
struct wh_wan_figures {
	struct wh_join_stats join;
	struct wh_fibre_stats path;
	struct wh_port_stats from;
	struct wh_port_stats to;
	uint32_t held_pkts;
	uint64_t queue_bytes; /* that wait, a moment ago */
	uint64_t late_ns_max;
};

struct wh_wan_result {
	const char *port[WH_LAMBDA_ENDS]; /* as the operator names them */
	int exit_status;
	double seconds;
	bool captured;
	uint64_t pcap_written_pkts;
	uint64_t pcap_missed_pkts;                 /* not written in time */
	uint64_t pcap_beyond_pkts;                 /* beyond --pcap-max */
	struct wh_wan_figures way[WH_LAMBDA_ENDS]; /* by the end that sends */
};

/* Lost by what wan had not, or its ports: all that the path did not lose. */
uint64_t wh_wan_own_drops(const struct wh_wan_figures *way);

void wh_wan_print_table(const struct wh_wan_result *result);

/* One object on stdout; the last event of a stream, where there is one. */
void wh_wan_print_json(const struct wh_wan_result *result, bool stream);

#endif
