/* SPDX-License-Identifier: BSD-3-Clause */
#include "wan/wan_report.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

#include <jansson.h>

#include "base/units.h"
#include "cli/json.h"

static_assert(WH_JOIN_LATE_NS == 50000, "the table says so");

/* Effects of the path, by name in the table and in JSON. */
static const struct {
	const char *name;
	const char *key;
	enum wh_netem_drop drop;
} path_drops[] = {
	{"queue full", "queue", WH_NETEM_DROP_QUEUE},
	{"loss", "loss", WH_NETEM_DROP_LOSS},
	{"bit errors", "bit_error", WH_NETEM_DROP_BIT_ERROR},
	{"outage", "outage", WH_NETEM_DROP_OUTAGE},
};

/* Losses for lack of wan's own resources. */
static const struct {
	const char *key;
	enum wh_join_drop drop;
} join_drops[] = {
	{"oversize", WH_JOIN_DROP_OVERSIZE},
	{"no_room", WH_JOIN_DROP_NO_ROOM},
	{"no_mbuf", WH_JOIN_DROP_NO_MBUF},
	{"port_full", WH_JOIN_DROP_PORT_FULL},
};

/* Counters of the ports at which a direction begins and ends. */
static const struct {
	const char *key;
	enum wh_port_drop drop;
	bool at_end;
} port_drops[] = {
	{"rx_missed", WH_PORT_RX_MISSED, false},
	{"rx_error", WH_PORT_RX_ERROR, false},
	{"rx_segments", WH_PORT_RX_CHAIN, false},
	{"rx_segments_no_mbuf", WH_PORT_RX_NO_MBUF, false},
	{"tx_segments", WH_PORT_TX_CHAIN, true},
	{"tx_link_down", WH_PORT_TX_LINK_DOWN, true},
	{"tx_stopped", WH_PORT_TX_STOPPED, true},
};

static uint64_t port_dropped(const struct wh_wan_figures *direction, size_t i)
{
	return (port_drops[i].at_end ? &direction->to : &direction->from)
		->dropped_pkts[port_drops[i].drop];
}

uint64_t wh_wan_own_drops(const struct wh_wan_figures *direction)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < RTE_DIM(join_drops); i++)
		sum += direction->join.dropped_pkts[join_drops[i].drop];
	for (size_t i = 0; i < RTE_DIM(port_drops); i++)
		sum += port_dropped(direction, i);
	return sum;
}

static void row(const char *name, uint64_t there, uint64_t back)
{
	printf("  %-36s %14" PRIu64 " %14" PRIu64 "\n", name, there, back);
}

static void row_of_text(const char *name, const char *there, const char *back)
{
	printf("  %-36s %14s %14s\n", name, there, back);
}

static void row_if(const char *name, uint64_t there, uint64_t back)
{
	if (there + back > 0)
		row(name, there, back);
}

static void print_rates(const struct wh_wan_result *result)
{
	char text[WH_EMULATOR_ENDS][WH_UNITS_MAX];

	for (uint32_t end = 0; end < WH_EMULATOR_ENDS; end++)
		wh_format_rate(text[end], sizeof(text[end]),
			result->seconds > 0
				? (double)result->direction[end].to.tx_bytes * 8 / result->seconds
				: 0);
	row_of_text("mean rate of those", text[WH_EMULATOR_A], text[WH_EMULATOR_B]);
}

static void print_latest(const struct wh_wan_figures *there, const struct wh_wan_figures *back)
{
	char text[WH_EMULATOR_ENDS][WH_UNITS_MAX];

	row_of_text("latest by", wh_format_time(text[0], WH_UNITS_MAX, there->late_ns_max),
		wh_format_time(text[1], WH_UNITS_MAX, back->late_ns_max));
}

static void print_capture(const struct wh_wan_result *result)
{
	if (result->captured)
		printf("pcap: %" PRIu64 " frames written, %" PRIu64 " not in time, %" PRIu64
		       " beyond --pcap-max\n",
			result->pcap_written_pkts, result->pcap_missed_pkts,
			result->pcap_beyond_pkts);
}

void wh_wan_print_table(const struct wh_wan_result *result)
{
	const struct wh_wan_figures *there = &result->direction[WH_EMULATOR_A];
	const struct wh_wan_figures *back = &result->direction[WH_EMULATOR_B];

	printf("wan: A %s, B %s, %.1f s\n", result->port[WH_EMULATOR_A],
		result->port[WH_EMULATOR_B], result->seconds);
	row_of_text("frames", "A to B", "B to A");
	row("came", there->join.came_pkts, back->join.came_pkts);
	row("  their bytes", there->join.came_bytes, back->join.came_bytes);
	row("went on", there->to.tx_pkts, back->to.tx_pkts);
	row("  their bytes", there->to.tx_bytes, back->to.tx_bytes);
	print_rates(result);
	row("under way", there->held_pkts, back->held_pkts);
	for (size_t i = 0; i < RTE_DIM(path_drops); i++) {
		char name[48];

		snprintf(name, sizeof(name), "lost by the path: %s", path_drops[i].name);
		row(name, there->path.dropped_pkts[path_drops[i].drop],
			back->path.dropped_pkts[path_drops[i].drop]);
	}
	row_if("came twice", there->path.duplicated_pkts, back->path.duplicated_pkts);
	row_if("with a wrong bit", there->path.corrupted_pkts, back->path.corrupted_pkts);
	row_if("overtaken", there->path.reordered_pkts, back->path.reordered_pkts);
	row_if("late by more than 50 us", there->join.late_pkts, back->join.late_pkts);
	print_latest(there, back);
	row("dropped by wan itself", wh_wan_own_drops(there), wh_wan_own_drops(back));
	for (size_t i = 0; i < RTE_DIM(join_drops); i++) {
		char name[48];

		snprintf(name, sizeof(name), "  %s", wh_join_drop_name(join_drops[i].drop));
		row_if(name, there->join.dropped_pkts[join_drops[i].drop],
			back->join.dropped_pkts[join_drops[i].drop]);
	}
	for (size_t i = 0; i < RTE_DIM(port_drops); i++) {
		char name[48];

		snprintf(name, sizeof(name), "  %s", wh_port_drop_name(port_drops[i].drop));
		row_if(name, port_dropped(there, i), port_dropped(back, i));
	}
	print_capture(result);
}

static json_t *count(uint64_t value)
{
	return json_integer((json_int_t)value);
}

static json_t *direction_to_json(const struct wh_wan_figures *direction)
{
	json_t *lost = json_object();
	json_t *own = json_object();

	for (size_t i = 0; i < RTE_DIM(path_drops); i++)
		json_object_set_new(lost, path_drops[i].key,
			count(direction->path.dropped_pkts[path_drops[i].drop]));
	for (size_t i = 0; i < RTE_DIM(join_drops); i++)
		json_object_set_new(own, join_drops[i].key,
			count(direction->join.dropped_pkts[join_drops[i].drop]));
	for (size_t i = 0; i < RTE_DIM(port_drops); i++)
		json_object_set_new(own, port_drops[i].key, count(port_dropped(direction, i)));
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
		"late_pkts", count(direction->join.late_pkts), "late_ns_max",
		count(direction->late_ns_max), "came_pkts", count(direction->join.came_pkts),
		"came_bytes", count(direction->join.came_bytes), "went_pkts",
		count(direction->to.tx_pkts), "went_bytes", count(direction->to.tx_bytes),
		"held_pkts", count(direction->held_pkts), "duplicated_pkts",
		count(direction->path.duplicated_pkts), "corrupted_pkts",
		count(direction->path.corrupted_pkts), "reordered_pkts",
		count(direction->path.reordered_pkts), "queue_bytes_max",
		count(direction->path.queue_bytes_max), "path_lost_pkts", lost, "own_dropped_pkts",
		own);
}

void wh_wan_print_json(const struct wh_wan_result *result, bool stream)
{
	json_t *object = wh_head_json("wan", result->exit_status);

	wh_json_add(object, json_pack("{s:f, s:o, s:o}", "seconds", result->seconds, "there",
				    direction_to_json(&result->direction[WH_EMULATOR_A]), "back",
				    direction_to_json(&result->direction[WH_EMULATOR_B])));
	if (result->captured)
		json_object_set_new(object, "pcap",
			json_pack("{s:o, s:o, s:o}", "written_pkts",
				count(result->pcap_written_pkts), "missed_pkts",
				count(result->pcap_missed_pkts), "beyond_pkts",
				count(result->pcap_beyond_pkts)));
	if (stream)
		json_object_set_new(object, "event", json_string("end"));
	wh_json_print(object, JSON_COMPACT);
}
