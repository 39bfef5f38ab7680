/* SPDX-License-Identifier: BSD-3-Clause */
#include "fleet/charged.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/complain.h"
#include "cli/json.h"
#include "fleet/shard_log.h"

/* `rows` has them by job. */
static json_t *row_of(json_t *rows, const struct wh_plan *plan, const json_t *event)
{
	const char *job = wh_json_text(event, "job");
	json_t *row = json_object_get(rows, job);

	if (row != NULL)
		return row;
	row = json_pack("{s:o, s:n, s:n, s:n, s:i, s:i, s:i, s:f}", "job",
		job[0] != '\0' ? json_integer(strtoll(job, NULL, 10)) : json_null(), "account",
		"partition", "licenses", "tries", 0, "checks", 0, "cut_off", 0, "node_s", 0.0);
	json_object_update(row, json_object_get(json_object_get(plan->json, "charged"), job));
	json_object_set_new(rows, job, row);
	return row;
}

static void add_one(json_t *row, const char *key)
{
	json_object_set_new(row, key, json_integer((json_int_t)wh_json_count(row, key) + 1));
}

/* A clock that was set back takes nothing away. */
static void add_seconds(json_t *row, double seconds)
{
	if (seconds > 0)
		json_object_set_new(row, "node_s",
			json_real(json_number_value(json_object_get(row, "node_s")) + seconds));
}

static double at_s(const json_t *event)
{
	return json_number_value(json_object_get(event, "at_s"));
}

static void take_shard(json_t *rows, const struct wh_plan *plan, const json_t *events)
{
	const json_t *begin = NULL, *event;
	size_t i;

	json_array_foreach(events, i, event)
	{
		const char *what = wh_json_text(event, "event");

		if (strcmp(what, "begin") == 0) {
			if (begin != NULL)
				add_one(row_of(rows, plan, begin), "cut_off");
			add_one(row_of(rows, plan, event), "tries");
			begin = event;
		} else if (strcmp(what, "end") == 0 && begin != NULL) {
			add_seconds(row_of(rows, plan, begin), at_s(event) - at_s(begin));
			begin = NULL;
		} else if (strcmp(what, "check") == 0) {
			add_one(row_of(rows, plan, event), "checks");
			add_seconds(row_of(rows, plan, event),
				json_number_value(json_object_get(event, "seconds")));
		}
	}
	if (begin != NULL)
		add_one(row_of(rows, plan, begin), "cut_off");
}

json_t *wh_fleet_charged(const struct wh_plan *plan)
{
	json_t *rows = json_object(), *list = json_array(), *row;
	const char *job;

	for (uint32_t i = 0; i < wh_plan_shards(plan); i++) {
		struct wh_shard_past past;

		wh_shard_past_read(&past, plan, i);
		take_shard(rows, plan, past.events);
		wh_shard_past_free(&past);
	}
	json_object_foreach(rows, job, row) json_array_append(list, row);
	json_decref(rows);
	return list;
}

/* "Slurm's default": it was not told. */
static const char *told(const json_t *row, const char *key)
{
	const char *text = wh_json_text(row, key);

	return text[0] != '\0' ? text : "Slurm's default";
}

static void tell(const json_t *row)
{
	const char *licenses = wh_json_text(row, "licenses");
	uint64_t cut_off = wh_json_count(row, "cut_off");
	char name[32] = "by hand", lost[64] = "";

	if (json_is_integer(json_object_get(row, "job")))
		snprintf(name, sizeof(name), "job %" PRIu64, wh_json_count(row, "job"));
	if (cut_off > 0)
		snprintf(lost, sizeof(lost), ", and %" PRIu64 " cut off, for an unknown time",
			cut_off);
	wh_say("%s: account %s, partition %s, licences %s: %" PRIu64 " tries and %" PRIu64
	       " checks, %.0f node seconds%s",
		name, told(row, "account"), told(row, "partition"),
		licenses[0] != '\0' ? licenses : "none", wh_json_count(row, "tries"),
		wh_json_count(row, "checks"), json_number_value(json_object_get(row, "node_s")),
		lost);
}

void wh_fleet_charged_tell(const json_t *charged)
{
	for (size_t i = 0; i < json_array_size(charged); i++)
		tell(json_array_get(charged, i));
}
