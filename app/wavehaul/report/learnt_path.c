/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/learnt_path.h"

#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/units.h"
#include "cli/complain.h"
#include "report/flow_now.h"

void wh_learnt_path_recall(struct wh_learnt_path *learnt, const struct wh_settings *settings,
	const struct wh_address *peer)
{
	struct wh_address nameless = *peer;

	*learnt = (struct wh_learnt_path){.told = settings->known.by == WH_KNOWN_TOLD};
	nameless.port = 0;
	wh_address_text(&nameless, learnt->peer);
	learnt->place = (struct wh_kept_place){
		.folder = settings->state,
		.peer = learnt->peer,
		.port = settings->port[0].name,
	};
	if (settings->profile->found == NULL)
		return;
	if (learnt->told)
		learnt->known = settings->known.path;
	else if (settings->known.by == WH_KNOWN_KEPT &&
		 wh_kept_recall(&learnt->place, &learnt->kept))
		learnt->known = learnt->kept.path;
	WH_ASSERT(wh_known_path_valid(&learnt->known));
}

/* Lanes share the path: each has found its part of it. */
static struct wh_known_path found_by(const struct wh_lanes *lanes)
{
	struct wh_known_path sum = {0};

	for (uint32_t i = 0; i < lanes->started; i++) {
		const struct wh_known_path *found = &lanes->job[i]->result.figures.found;

		if (found->capacity_bps == 0)
			continue;
		sum.capacity_bps =
			wh_min_u64(sum.capacity_bps + found->capacity_bps, WH_KNOWN_BPS_MAX);
		sum.rtt_ns = wh_least_known(sum.rtt_ns, found->rtt_ns);
		sum.burst_pkts =
			(uint32_t)wh_min_u64(sum.burst_pkts + found->burst_pkts, WH_KNOWN_PKTS_MAX);
	}
	return sum;
}

void wh_learnt_path_keep(struct wh_learnt_path *learnt, const struct wh_settings *settings,
	const struct wh_lanes *lanes)
{
	int rc;

	learnt->found = found_by(lanes);
	if (learnt->found.capacity_bps == 0)
		return;
	rc = wh_kept_transfer(&learnt->place, &learnt->found, settings->profile);
	if (rc != 0)
		wh_say("cannot save what was measured of the path (%s); --state names another "
		       "folder",
			strerror(-rc));
}

void wh_learnt_path_print(const struct wh_learnt_path *learnt)
{
	char rate[WH_UNITS_MAX], rtt[WH_UNITS_MAX];

	if (learnt->known.capacity_bps == 0)
		return;
	printf("path known from %.10s%s: %s, %s\n",
		learnt->told ? "--known" : learnt->kept.path_when,
		!learnt->told && strcmp(learnt->kept.path_by, "probe") == 0 ? " (probe)" : "",
		wh_format_rate(rate, sizeof(rate), (double)learnt->known.capacity_bps),
		wh_format_time(rtt, sizeof(rtt), learnt->known.rtt_ns));
}

static json_t *path_json(const struct wh_known_path *path)
{
	if (path->capacity_bps == 0)
		return json_null();
	return json_pack("{s:I, s:f, s:o}", "capacity_bps", (json_int_t)path->capacity_bps,
		"rtt_ms", (double)path->rtt_ns / 1e6, "burst_packets",
		path->burst_pkts > 0 ? json_integer(path->burst_pkts) : json_null());
}

json_t *wh_learnt_path_json(const struct wh_learnt_path *learnt)
{
	json_t *known = path_json(&learnt->known);

	if (json_is_object(known)) {
		json_object_set_new(
			known, "by", json_string(learnt->told ? "operator" : learnt->kept.path_by));
		json_object_set_new(known, "when",
			learnt->told ? json_null() : json_string(learnt->kept.path_when));
	}
	return json_pack("{s:o, s:o}", "known", known, "found", path_json(&learnt->found));
}
