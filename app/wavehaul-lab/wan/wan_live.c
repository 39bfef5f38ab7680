/* SPDX-License-Identifier: BSD-3-Clause */
#include "wan/wan_live.h"

#include <inttypes.h>
#include <stdio.h>

#include <jansson.h>

#include "cli/complain.h"
#include "cli/json.h"

/* A terminal has some two dozen rows. */
#define ROWS_BY_HEAD 20

/* One direction since the last call. */
struct interval {
	double bps; /* delivered */
	uint64_t queue_bytes;
	uint64_t came_pkts;
	uint64_t path_pkts; /* lost by the path */
	uint64_t own_pkts;  /* dropped by wan itself */
	uint64_t late_pkts;
};

static struct interval interval_of(
	const struct wh_wan_figures *last, const struct wh_wan_figures *now, double span_s)
{
	return (struct interval){
		.bps = span_s > 0 ? (double)(now->to.tx_bytes - last->to.tx_bytes) * 8 / span_s : 0,
		.queue_bytes = now->queue_bytes,
		.came_pkts = now->join.came_pkts - last->join.came_pkts,
		.path_pkts = wh_netem_dropped_pkts(&now->path) - wh_netem_dropped_pkts(&last->path),
		.own_pkts = wh_wan_own_drops(now) - wh_wan_own_drops(last),
		.late_pkts = now->join.late_pkts - last->join.late_pkts,
	};
}

static void print_head(void)
{
	fprintf(stderr, "%8s |%34s |%34s\n", "", "A to B", "B to A");
	fprintf(stderr, "%8s |%9s %8s %7s %7s |%9s %8s %7s %7s\n", "s", "Mb/s", "queue kB", "lost",
		"own", "Mb/s", "queue kB", "lost", "own");
}

static void print_direction(const struct interval *direction)
{
	fprintf(stderr, " |%9.1f %8.1f %7" PRIu64 " %7" PRIu64, direction->bps / 1e6,
		(double)direction->queue_bytes / 1e3, direction->path_pkts, direction->own_pkts);
}

static json_t *interval_to_json(const struct interval *direction)
{
	return json_pack("{s:f, s:I, s:I, s:I, s:I, s:I}", "bps", direction->bps, "queue_bytes",
		(json_int_t)direction->queue_bytes, "came_pkts", (json_int_t)direction->came_pkts,
		"path_lost_pkts", (json_int_t)direction->path_pkts, "own_dropped_pkts",
		(json_int_t)direction->own_pkts, "late_pkts", (json_int_t)direction->late_pkts);
}

void wh_wan_live_tell(struct wh_wan_live *live, const struct wh_wan_result *now)
{
	double span_s = now->seconds - live->last.seconds;
	struct interval direction[WH_EMULATOR_ENDS];

	for (uint32_t end = 0; end < WH_EMULATOR_ENDS; end++)
		direction[end] =
			interval_of(&live->last.direction[end], &now->direction[end], span_s);
	live->last = *now;
	if (live->stream)
		wh_json_print(
			json_pack("{s:s, s:f, s:o, s:o}", "event", "interval", "seconds",
				now->seconds, "there", interval_to_json(&direction[WH_EMULATOR_A]),
				"back", interval_to_json(&direction[WH_EMULATOR_B])),
			JSON_COMPACT);
	if (!live->rows)
		return;
	if (live->shown++ % ROWS_BY_HEAD == 0)
		print_head();
	fprintf(stderr, "%8.1f", now->seconds);
	for (uint32_t end = 0; end < WH_EMULATOR_ENDS; end++)
		print_direction(&direction[end]);
	fputc('\n', stderr);
}

void wh_wan_live_change(
	const struct wh_wan_live *live, double seconds, const char *head, const char *file)
{
	wh_say("[%s] of %s", head, file);
	if (live->stream)
		wh_json_print(json_pack("{s:s, s:f, s:o}", "event", "change", "seconds", seconds,
				      "section", wh_text_to_json(head)),
			JSON_COMPACT);
}
