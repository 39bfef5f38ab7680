/* SPDX-License-Identifier: BSD-3-Clause */

/* What has arrived, and who has carried it: the logs of the shards and their checksums. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/complain.h"
#include "cli/exit.h"
#include "cli/json.h"
#include "cli/plain_text.h"
#include "file/all_bytes.h"
#include "file/file_checksum.h"
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
 * backslashes and newlines are escaped as in C, like all that is escaped here. False: it is none.
 */
static bool split_line(char *line, const char **sum, const char **name)
{
	size_t sum_chars;

	line += line[0] == '\\';
	line[strcspn(line, "\n")] = '\0';
	sum_chars = strcspn(line, " ");
	if (line[sum_chars] == '\0' || line[sum_chars + 1] == '\0')
		return false;
	line[sum_chars] = '\0';
	*sum = line;
	*name = line + sum_chars + 2;
	return true;
}

static void print_line(char *line, const json_t *begin)
{
	char plain[4 * WH_PATH_BYTES_MAX + 1];
	const char *sum, *name;

	if (split_line(line, &sum, &name))
		printf("%s  %s  %s  %s\n", sum,
			wh_json_text(
				begin, json_object_get(begin, "from") != NULL ? "from" : "node"),
			wh_json_text(begin, "receiver"),
			wh_plain_text(name, false, plain, sizeof(plain)));
}

/* A line, and a list of one file. */
#define LINE_CHARS (WH_PATH_BYTES_MAX * 2 + WH_CHECKSUM_TEXT_BYTES + 8)

/* The only line of a list. False: there is none. */
static bool read_line(const char *path, char line[LINE_CHARS], const char **sum, const char **name)
{
	FILE *file = fopen(path, "re");
	bool good;

	if (file == NULL)
		return false;
	good = fgets(line, LINE_CHARS, file) != NULL;
	fclose(file);
	return good && split_line(line, sum, name);
}

/* What the lines of the ranges of one file say together. */
struct joined {
	int fd; /* their checksums, as bytes */
	uint32_t ranges;
	json_t *nodes; /* as keys, in order */
	json_t *receivers;
	char name[LINE_CHARS]; /* as it stands in a line */
};

static bool add_sum(int fd, const char *text)
{
	uint8_t bytes[WH_CHECKSUM_TEXT_BYTES / 2];
	size_t count = strlen(text) / 2;

	if (count > sizeof(bytes))
		return false;
	for (size_t i = 0; i < count; i++)
		if (sscanf(text + 2 * i, "%2hhx", &bytes[i]) != 1)
			return false;
	return wh_write_all(fd, bytes, count) == 0;
}

static bool add_range(
	struct joined *joined, const struct wh_plan *plan, const struct wh_file_range *range)
{
	char path[PATH_MAX], line[LINE_CHARS];
	const char *sum, *name;
	struct wh_shard_past past;

	wh_plan_range_path(plan, range, "state", path);
	if (!read_line(path, line, &sum, &name) || !add_sum(joined->fd, sum))
		return wh_fail(false, "%s has no checksum", path);
	strcpy(joined->name, name);
	wh_shard_past_read(&past, plan, range->shard);
	json_object_set_new(joined->nodes, wh_json_text(past.begin, "node"), json_null());
	json_object_set_new(joined->receivers, wh_json_text(past.begin, "receiver"), json_null());
	wh_shard_past_free(&past);
	joined->ranges++;
	return true;
}

static void print_keys(json_t *object)
{
	const char *key, *comma = "";
	json_t *value;

	json_object_foreach(object, key, value)
	{
		printf("%s%s", comma, key);
		comma = ",";
	}
	printf("  ");
}

/* The whole's checksum, or one of those of the ranges, in their order, and how many these are. */
static bool print_joined(
	struct joined *joined, const struct wh_plan *plan, uint32_t file, enum wh_checksum kind)
{
	char of_sums[WH_CHECKSUM_TEXT_BYTES], plain[4 * sizeof(joined->name)];
	char path[PATH_MAX], line[LINE_CHARS];
	const char *sum, *name;

	wh_plan_whole_path(plan, file, path);
	if (read_line(path, line, &sum, &name))
		printf("%s  ", sum); /* a second pass has read the whole */
	else if (lseek(joined->fd, 0, SEEK_SET) == 0 &&
		 wh_checksum_of(joined->fd, UINT64_MAX, kind, NULL, of_sums) == 0)
		printf("%s-%u  ", of_sums, joined->ranges);
	else
		return wh_fail(false, "cannot sum the checksums of %s",
			wh_plain_text(joined->name, true, plain, sizeof(plain)));
	print_keys(joined->nodes);
	print_keys(joined->receivers);
	printf("%s\n", wh_plain_text(joined->name, false, plain, sizeof(plain)));
	return true;
}

/* A file of which all ranges have arrived. */
static bool print_divided(const struct wh_plan *plan, uint32_t file)
{
	struct joined joined = {.fd = memfd_create("sums", MFD_CLOEXEC),
		.nodes = json_object(),
		.receivers = json_object()};
	struct wh_file_range range;
	enum wh_checksum kind;
	bool good = joined.fd >= 0 && wh_checksum_find(wh_json_text(plan->json, "digest"), &kind);

	for (uint32_t k = 0; good && wh_plan_file_range(plan, file, k, &range); k++)
		good = add_range(&joined, plan, &range);
	good = good && print_joined(&joined, plan, file, kind);
	json_decref(joined.nodes);
	json_decref(joined.receivers);
	if (joined.fd >= 0)
		close(joined.fd);
	return good;
}

static bool print_all_divided(const struct wh_plan *plan, const bool *is_done)
{
	bool good = true;

	for (uint32_t file = 0; file < wh_plan_divided(plan); file++)
		if (wh_plan_file_is_done(plan, file, is_done))
			good &= print_divided(plan, file);
	return good;
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

	bool good =
		ferror(file) == 0 || wh_fail(false, "cannot read %s: %s", path, strerror(errno));

	free(line);
	fclose(file);
	return good;
}

int wh_fleet_report_print(const struct wh_plan *plan)
{
	uint32_t shards = wh_plan_shards(plan), left = 0;
	bool *is_done = calloc(shards, sizeof(*is_done));
	json_t *charged;
	bool good = true;

	if (is_done == NULL)
		return WH_EXIT_OTHER;
	for (uint32_t i = 0; i < shards; i++) {
		struct wh_shard_past past;

		wh_shard_past_read(&past, plan, i);
		is_done[i] = past.state == WH_SHARD_DONE;
		if (is_done[i] && wh_json_count(wh_plan_shard(plan, i), "files") > 0)
			good &= print_shard(plan, i, past.begin);
		left += !is_done[i];
		wh_shard_past_free(&past);
	}
	good &= print_all_divided(plan, is_done);
	free(is_done);
	fflush(stdout);
	charged = wh_fleet_charged(plan);
	wh_fleet_charged_tell(charged);
	json_decref(charged);
	if (left > 0)
		return wh_fail(WH_EXIT_PARTIAL,
			"%u of %u shards are not done; `wavehaul fleet "
			"status` says why",
			left, shards);
	return good ? WH_EXIT_OK : WH_EXIT_OTHER;
}
