/* SPDX-License-Identifier: BSD-3-Clause */

/* What has arrived, and who has carried it: the logs of the shards and their checksums. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/complain.h"
#include "cli/exit.h"
#include "cli/json.h"
#include "cli/plain_text.h"
#include "fleet/charged.h"
#include "fleet/fleet_tell.h"
#include "fleet/nodes.h"
#include "fleet/shard_log.h"

json_t *wh_fleet_report(const struct wh_plan *plan, bool *all_done)
{
	json_t *shards = json_array(), *nodes = json_object();

	*all_done = true;
	for (uint32_t i = 0; i < wh_plan_shards(plan); i++) {
		struct wh_shard_past past;
		char sums[PATH_MAX];

		wh_shard_past_read(&past, plan, i);
		wh_nodes_take(nodes, plan, i, &past);
		wh_plan_path(plan, i % wh_plan_site_shards(plan), "state", ".sums", sums);
		*all_done &= past.state == WH_SHARD_DONE;
		json_array_append_new(shards,
			json_pack("{s:i, s:b, s:s, s:s, s:i, s:i, s:s, s:O}", "shard", i, "done",
				past.state == WH_SHARD_DONE, "node",
				wh_json_text(past.begin, "node"), "receiver",
				wh_json_text(past.begin, "receiver"), "cut_off", past.cut_off,
				"moved", past.moved, "sums", sums, "events", past.events));
		wh_shard_past_free(&past);
	}
	wh_nodes_finish(nodes);
	return json_pack("{s:s, s:s, s:s, s:O, s:O, s:o, s:o, s:o}", "plan", plan->folder, "site",
		wh_json_text(plan->json, "site"), "path", wh_json_text(plan->json, "path"), "names",
		json_object_get(plan->json, "names"), "bytes", json_object_get(plan->json, "bytes"),
		"shards", shards, "nodes", nodes, "charged", wh_fleet_charged(plan));
}

/*
 * A line of md5sum is a checksum, two characters, and the name. Behind a backslash the name's
 * backslashes and newlines are escaped as in C, like all that is escaped here.
 */
static void print_line(char *line, const json_t *begin)
{
	char plain[4 * WH_PATH_BYTES_MAX + 1];
	size_t sum_chars;

	line += line[0] == '\\';
	line[strcspn(line, "\n")] = '\0';
	sum_chars = strcspn(line, " ");
	if (line[sum_chars] == '\0' || line[sum_chars + 1] == '\0')
		return;
	printf("%.*s  %s  %s  %s\n", (int)sum_chars, line,
		wh_json_text(begin, json_object_get(begin, "from") != NULL ? "from" : "node"),
		wh_json_text(begin, "receiver"),
		wh_plain_text(line + sum_chars + 2, false, plain, sizeof(plain)));
}

static bool print_shard(const struct wh_plan *plan, uint32_t shard, const json_t *begin)
{
	char path[PATH_MAX];
	char *line = NULL;
	size_t room = 0;
	FILE *file;

	wh_plan_path(plan, shard % wh_plan_site_shards(plan), "state", ".sums", path);
	file = fopen(path, "re");
	if (file == NULL)
		return wh_fail(false, "cannot read %s: %s", path, strerror(errno));
	while (getline(&line, &room, file) >= 0)
		print_line(line, begin);
	free(line);
	fclose(file);
	return true;
}

int wh_fleet_report_print(const struct wh_plan *plan)
{
	json_t *charged = wh_fleet_charged(plan);
	uint32_t left = 0;
	bool good = true;

	for (uint32_t i = 0; i < wh_plan_shards(plan); i++) {
		struct wh_shard_past past;

		wh_shard_past_read(&past, plan, i);
		if (past.state == WH_SHARD_DONE)
			good &= print_shard(plan, i, past.begin);
		left += past.state != WH_SHARD_DONE;
		wh_shard_past_free(&past);
	}
	fflush(stdout);
	wh_fleet_charged_tell(charged);
	json_decref(charged);
	if (left > 0)
		return wh_fail(WH_EXIT_PARTIAL,
			"%u of %u shards are not done; `wavehaul fleet "
			"status` says why",
			left, wh_plan_shards(plan));
	return good ? WH_EXIT_OK : WH_EXIT_OTHER;
}
