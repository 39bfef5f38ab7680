/* SPDX-License-Identifier: BSD-3-Clause */
#include "fleet/fleet_plan.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "cli/complain.h"
#include "cli/exit.h"
#include "cli/json.h"
#include "cli/whole_file.h"

#define FORMAT      2
#define PLACE_CHARS 40 /* of "/state/N.sums" */

static int take_folder(struct wh_plan *plan, const char *folder)
{
	if (folder[0] == '\0')
		return wh_fail(WH_EXIT_USAGE,
			"--plan names the folder of the plan, which all nodes "
			"share; write for example --plan /scratch/run42.plan");
	if (realpath(folder, plan->folder) == NULL)
		return wh_fail(WH_EXIT_NO_FILE, "cannot read %s: %s", folder, strerror(errno));
	if (strlen(plan->folder) + PLACE_CHARS >= sizeof(plan->folder))
		return wh_fail(WH_EXIT_USAGE, "%s is too long a path", folder);
	if (!wh_is_json_text(plan->folder))
		return wh_fail(WH_EXIT_USAGE, "the path of the plan %s is not UTF-8", plan->folder);
	return -1;
}

int wh_plan_make(struct wh_plan *plan, const char *folder)
{
	static const char *const rooms[] = {"shards", "state", "tasks"};
	int status;

	if (folder[0] != '\0' && mkdir(folder, 0755) != 0)
		return wh_fail(WH_EXIT_OTHER, "cannot make the folder of the plan %s: %s", folder,
			strerror(errno));
	status = take_folder(plan, folder);
	for (size_t i = 0; status == -1 && i < sizeof(rooms) / sizeof(rooms[0]); i++) {
		char path[PATH_MAX];

		snprintf(path, sizeof(path), "%.*s/%s", PATH_MAX - PLACE_CHARS, plan->folder,
			rooms[i]);
		if (mkdir(path, 0755) != 0)
			status =
				wh_fail(WH_EXIT_OTHER, "cannot make %s: %s", path, strerror(errno));
	}
	return status;
}

static void path_of(const struct wh_plan *plan, char path[PATH_MAX])
{
	snprintf(path, PATH_MAX, "%.*s/plan.json", PATH_MAX - PLACE_CHARS, plan->folder);
}

int wh_plan_read(struct wh_plan *plan, const char *folder)
{
	char path[PATH_MAX];
	json_error_t error;
	int status = take_folder(plan, folder);

	if (status != -1)
		return status;
	path_of(plan, path);
	plan->json = json_load_file(path, 0, &error);
	if (plan->json == NULL)
		return wh_fail(WH_EXIT_NO_FILE, "%s is no plan of a fleet: %s", folder, error.text);
	if (wh_json_count(plan->json, "format") != FORMAT || wh_plan_shards(plan) == 0 ||
		wh_plan_shards(plan) % wh_plan_sites(plan) != 0)
		return wh_fail(WH_EXIT_OTHER,
			"%s is a plan of another version; make it again with `wavehaul fleet send`",
			folder);
	return -1;
}

int wh_plan_write(const struct wh_plan *plan)
{
	struct wh_whole_file whole;
	char path[PATH_MAX];
	int rc;

	path_of(plan, path);
	json_object_set_new(plan->json, "format", json_integer(FORMAT));
	rc = wh_whole_file_open(&whole, path);
	if (rc == 0) {
		(void)json_dumpf(plan->json, whole.file, JSON_INDENT(1));
		rc = wh_whole_file_close(&whole, true);
	}
	return rc == 0 ? -1 : wh_fail(WH_EXIT_OTHER, "cannot write %s: %s", path, strerror(-rc));
}

bool wh_plan_gets(const struct wh_plan *plan)
{
	return json_object_get(plan->json, "get") != NULL;
}

const json_t *wh_plan_options(const struct wh_plan *plan)
{
	return json_object_get(plan->json, wh_plan_gets(plan) ? "get" : "send");
}

uint32_t wh_plan_sites(const struct wh_plan *plan)
{
	size_t sites = json_array_size(json_object_get(plan->json, "targets"));

	return sites > 0 ? (uint32_t)sites : 1;
}

uint32_t wh_plan_site_shards(const struct wh_plan *plan)
{
	return wh_plan_shards(plan) / wh_plan_sites(plan);
}

const json_t *wh_plan_target(const struct wh_plan *plan, uint32_t shard)
{
	if (wh_plan_sites(plan) == 1)
		return plan->json;
	return json_array_get(
		json_object_get(plan->json, "targets"), shard / wh_plan_site_shards(plan));
}

uint32_t wh_plan_shards(const struct wh_plan *plan)
{
	return (uint32_t)json_array_size(json_object_get(plan->json, "shards"));
}

const json_t *wh_plan_shard(const struct wh_plan *plan, uint32_t shard)
{
	return json_array_get(json_object_get(plan->json, "shards"), shard);
}

json_t *wh_plan_divided_json(const struct wh_shards *shards)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < shards->larges; i++) {
		const struct wh_divided *file = &shards->large[i];
		const struct wh_version *version = &file->version;
		json_t *of = json_array();

		for (uint32_t k = 0; k < file->ranges; k++)
			json_array_append_new(of, json_integer(file->shard[k]));
		json_array_append_new(list,
			json_pack("{s:I, s:I, s:I, s:I, s:I, s:o}", "bytes",
				(json_int_t)version->bytes, "range_bytes",
				(json_int_t)file->range_bytes, "inode", (json_int_t)version->inode,
				"mtime_ns", (json_int_t)version->mtime_ns, "ctime_ns",
				(json_int_t)version->ctime_ns, "shards", of));
	}
	return list;
}

json_t *wh_plan_shards_json(const struct wh_shards *shards, uint32_t sites)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < sites * shards->count; i++) {
		const struct wh_shard *shard = &shards->shard[i % shards->count];
		json_t *one = json_pack("{s:I, s:I}", "files", (json_int_t)shard->files, "bytes",
			(json_int_t)shard->bytes);

		if (shard->ranges > 0)
			json_object_set_new(one, "ranges", json_array());
		json_array_append_new(list, one);
	}
	for (uint32_t i = 0; i < shards->larges; i++)
		for (uint32_t k = 0; k < shards->large[i].ranges; k++)
			json_array_append_new(
				json_object_get(
					json_array_get(list, shards->large[i].shard[k]), "ranges"),
				json_pack("[i, i]", i, k));
	return list;
}

uint32_t wh_plan_divided(const struct wh_plan *plan)
{
	return (uint32_t)json_array_size(json_object_get(plan->json, "divided"));
}

bool wh_plan_file_range(
	const struct wh_plan *plan, uint32_t file, uint32_t k, struct wh_file_range *range)
{
	const json_t *json = json_array_get(json_object_get(plan->json, "divided"), file);
	const json_t *shards = json_object_get(json, "shards");
	uint64_t bytes = wh_json_count(json, "bytes"), each = wh_json_count(json, "range_bytes");

	if (k >= json_array_size(shards) || k * each >= bytes)
		return false;
	*range = (struct wh_file_range){
		.file = file,
		.k = k,
		.ranges = (uint32_t)json_array_size(shards),
		.shard = (uint32_t)json_integer_value(json_array_get(shards, k)),
		.from = k * each,
		.end = wh_min_u64((k + 1) * each, bytes),
		.version = {.bytes = bytes,
			.inode = wh_json_count(json, "inode"),
			.mtime_ns = json_integer_value(json_object_get(json, "mtime_ns")),
			.ctime_ns = json_integer_value(json_object_get(json, "ctime_ns"))},
	};
	return range->shard < wh_plan_shards(plan);
}

bool wh_plan_file_is_done(const struct wh_plan *plan, uint32_t file, const bool *is_done)
{
	struct wh_file_range range;

	for (uint32_t k = 0; wh_plan_file_range(plan, file, k, &range); k++)
		if (!is_done[range.shard])
			return false;
	return true;
}

bool wh_plan_range(
	const struct wh_plan *plan, uint32_t shard, uint32_t i, struct wh_file_range *range)
{
	const json_t *pair =
		json_array_get(json_object_get(wh_plan_shard(plan, shard), "ranges"), i);

	return pair != NULL &&
	       wh_plan_file_range(plan, (uint32_t)json_integer_value(json_array_get(pair, 0)),
		       (uint32_t)json_integer_value(json_array_get(pair, 1)), range);
}

void wh_plan_range_path(const struct wh_plan *plan, const struct wh_file_range *range,
	const char *room, char path[PATH_MAX])
{
	if (strcmp(room, "shards") == 0)
		snprintf(path, PATH_MAX, "%.*s/shards/f%u", PATH_MAX - PLACE_CHARS, plan->folder,
			range->file);
	else
		snprintf(path, PATH_MAX, "%.*s/state/f%u-%u.sums", PATH_MAX - PLACE_CHARS,
			plan->folder, range->file, range->k);
}

void wh_plan_whole_path(const struct wh_plan *plan, uint32_t file, char path[PATH_MAX])
{
	snprintf(path, PATH_MAX, "%.*s/state/f%u.sums", PATH_MAX - PLACE_CHARS, plan->folder, file);
}

void wh_plan_path(const struct wh_plan *plan, uint32_t shard, const char *room, const char *end,
	char path[PATH_MAX])
{
	if (strcmp(room, "shards") == 0)
		shard %= wh_plan_site_shards(plan);
	snprintf(path, PATH_MAX, "%.*s/%s/%u%s", PATH_MAX - PLACE_CHARS, plan->folder, room, shard,
		end);
}

void wh_plan_free(struct wh_plan *plan)
{
	json_decref(plan->json);
	plan->json = NULL;
}
