/* SPDX-License-Identifier: BSD-3-Clause */

/* What runs, waits, is done or has failed: the logs of the shards, and the queue of Slurm. */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "cli/exit.h"
#include "cli/json.h"
#include "cli/moment/system_clock.h"
#include "cli/plain_text.h"
#include "fleet/deadline.h"
#include "fleet/fleet_tell.h"
#include "fleet/nodes.h"
#include "fleet/shard_log.h"
#include "fleet/slurm.h"

enum place { NOT_QUEUED, IS_WAITING, IS_RUNNING };

struct queued {
	enum place *place; /* of each shard */
	uint32_t shards;
	bool checks;      /* tasks of verify, or those that send */
	char reason[256]; /* of one that waits */
};

static void take_task(void *context, const struct wh_slurm_task *task)
{
	struct queued *queued = context;

	if (task->shard >= queued->shards || task->checks != queued->checks)
		return;
	queued->place[task->shard] = strcmp(task->state, "PENDING") == 0 ? IS_WAITING : IS_RUNNING;
	if (strcmp(task->state, "PENDING") == 0)
		strcpy(queued->reason, task->reason);
}

/* False after a complaint. Free its places. */
static bool look(struct queued *queued, const struct wh_plan *plan, bool checks)
{
	*queued = (struct queued){.shards = wh_plan_shards(plan), .checks = checks};
	queued->place = calloc(queued->shards, sizeof(*queued->place));
	return queued->place != NULL && wh_slurm_look(plan, take_task, queued);
}

static void add_to(json_t *object, const char *key, uint64_t more)
{
	json_object_set_new(
		object, key, json_integer((json_int_t)(wh_json_count(object, key) + more)));
}

static json_t *running_json(
	const struct wh_plan *plan, uint32_t shard, const struct wh_shard_past *past, double *bps)
{
	char path[PATH_MAX];
	json_t *second;
	json_t *one = json_pack("{s:i, s:s, s:s, s:I}", "shard", shard, "node",
		wh_json_text(past->begin, "node"), "receiver",
		wh_json_text(past->begin, "receiver"), "of_bytes",
		(json_int_t)wh_json_count(wh_plan_shard(plan, shard), "bytes"));

	wh_plan_path(plan, shard, "state", ".now", path);
	second = json_load_file(path, 0, NULL);
	*bps = json_number_value(json_object_get(second, "bps"));
	json_object_set_new(one, "bytes", json_integer((json_int_t)wh_json_count(second, "bytes")));
	json_object_set_new(one, "rate_bps", json_real(*bps));
	json_decref(second);
	return one;
}

static json_t *failed_json(uint32_t shard, const struct wh_shard_past *past)
{
	json_t *error = json_object_get(past->end, "error");

	return json_pack("{s:i, s:b, s:i, s:s, s:s, s:O?}", "shard", shard, "given_up",
		past->state == WH_SHARD_GIVEN_UP, "failures", past->failures, "node",
		wh_json_text(past->begin, "node"), "receiver",
		wh_json_text(past->begin, "receiver"), "error", error);
}

/* What the last check of a shard has found. */
static void take_check(json_t *now, uint32_t shard, const json_t *check)
{
	uint64_t status = wh_json_count(check, "exit_status");
	json_t *verified = json_object_get(now, "verified");

	add_to(verified,
		status == WH_EXIT_OK       ? "same"
		: status == WH_EXIT_VERIFY ? "differed"
					   : "failed",
		1);
	if (status != WH_EXIT_OK)
		json_array_append_new(json_object_get(verified, "shards"),
			json_pack("{s:i, s:O, s:O, s:O, s:O}", "shard", shard, "exit_status",
				json_object_get(check, "exit_status"), "differed",
				json_object_get(check, "differed"), "differing",
				json_object_get(check, "differing"), "receiver",
				json_object_get(check, "receiver")));
}

/* When the first try began, and the last one of what is done ended. */
static void take_times(json_t *now, const struct wh_shard_past *past)
{
	double began_s = json_number_value(json_object_get(now, "began_s"));
	double ended_s = json_number_value(json_object_get(now, "ended_s"));
	double first_s =
		json_number_value(json_object_get(json_array_get(past->events, 0), "at_s"));
	double last_s = json_number_value(json_object_get(past->end, "at_s"));

	if (first_s > 0 && (began_s == 0 || first_s < began_s))
		json_object_set_new(now, "began_s", json_real(first_s));
	if (past->state == WH_SHARD_DONE && last_s > ended_s)
		json_object_set_new(now, "ended_s", json_real(last_s));
}

/* By the mean so far; what is done has its time. */
static void take_deadline(json_t *now, const struct wh_plan *plan)
{
	json_int_t by_s =
		(json_int_t)wh_json_count(json_object_get(plan->json, "deadline"), "by_s");
	const json_t *shards = json_object_get(now, "shards"), *one;
	double now_s = (double)wh_wall_us() / 1e6;
	double span_s = now_s - json_number_value(json_object_get(now, "began_s"));
	uint64_t all = wh_json_count(now, "bytes"), moved = wh_json_count(now, "bytes_done");
	size_t i;

	if (by_s == 0)
		return;
	json_array_foreach(json_object_get(now, "running"), i, one)
	{
		moved += wh_json_count(one, "bytes");
	}
	moved = moved < all ? moved : all;
	if (wh_json_count(shards, "done") == wh_json_count(shards, "all"))
		now_s = json_number_value(json_object_get(now, "ended_s"));
	json_object_set_new(now, "deadline",
		wh_deadline_look(by_s, (int64_t)now_s, all - moved,
			span_s > 0 ? (double)moved * 8 / span_s : 0));
}

/* Whether it is done. */
static bool take_shard(json_t *now, const struct wh_plan *plan, uint32_t shard, enum place place)
{
	json_t *running = json_object_get(now, "running");
	json_t *failed = json_object_get(now, "failed");
	const json_t *size = wh_plan_shard(plan, shard);
	struct wh_shard_past past;
	const char *state = "stopped";
	double bps = 0;
	bool is_done;

	wh_shard_past_read(&past, plan, shard);
	is_done = past.state == WH_SHARD_DONE;
	wh_nodes_take(json_object_get(now, "nodes"), plan, shard, &past);
	take_times(now, &past);
	if (past.state == WH_SHARD_DONE)
		state = "done";
	else if (past.state == WH_SHARD_GIVEN_UP)
		state = "given_up";
	else if (place == IS_WAITING)
		state = "waiting";
	else if (place == IS_RUNNING)
		state = "running";
	if (past.check != NULL)
		take_check(now, shard, past.check);
	if (past.state == WH_SHARD_DONE) {
		add_to(now, "bytes_done", wh_json_count(size, "bytes"));
		add_to(now, "files_done", wh_json_count(size, "files"));
	} else if (place == IS_RUNNING && past.state == WH_SHARD_BEGUN) {
		json_array_append_new(running, running_json(plan, shard, &past, &bps));
	} else if (past.failures > 0) {
		json_array_append_new(failed, failed_json(shard, &past));
	}
	json_object_set_new(now, "rate_bps",
		json_real(json_number_value(json_object_get(now, "rate_bps")) + bps));
	add_to(json_object_get(now, "shards"), state, 1);
	add_to(now, "cut_off", past.cut_off);
	wh_shard_past_free(&past);
	return is_done;
}

/* Each shard, then files that several of them have. False: no memory. */
static bool take_shards(json_t *now, const struct wh_plan *plan, const struct queued *queued)
{
	uint32_t shards = wh_plan_shards(plan);
	bool *is_done = calloc(shards, sizeof(*is_done));

	if (is_done == NULL)
		return false;
	for (uint32_t i = 0; i < shards; i++)
		is_done[i] = take_shard(now, plan, i, queued->place[i]);
	for (uint32_t file = 0; file < wh_plan_divided(plan); file++)
		add_to(now, "files_done", wh_plan_file_is_done(plan, file, is_done));
	free(is_done);
	return true;
}

json_t *wh_fleet_now(const struct wh_plan *plan)
{
	struct queued queued;
	bool good = look(&queued, plan, false);
	json_t *shards = json_pack("{s:i, s:i, s:i, s:i, s:i, s:i}", "all", wh_plan_shards(plan),
		"done", 0, "running", 0, "waiting", 0, "stopped", 0, "given_up", 0);
	json_t *now = json_pack(
		"{s:s, s:s, s:b, s:O, s:o, s:O, s:O, s:i, s:i, s:i, s:f, s:[], s:[], s:{}, "
		"s:{s:i, s:i, s:i, s:[]}}",
		"plan", plan->folder, "site", wh_json_text(plan->json, "site"), "gets",
		wh_plan_gets(plan), "jobs", json_object_get(plan->json, "jobs"), "shards", shards,
		"files", json_object_get(plan->json, "names"), "bytes",
		json_object_get(plan->json, "bytes"), "files_done", 0, "bytes_done", 0, "cut_off",
		0, "rate_bps", 0.0, "running", "failed", "nodes", "verified", "same", 0, "differed",
		0, "failed", 0, "shards");

	good = good && take_shards(now, plan, &queued);
	wh_nodes_finish(json_object_get(now, "nodes"));
	take_deadline(now, plan);
	json_object_set_new(now, "waits_for", json_string(queued.reason));
	free(queued.place);
	if (!good) {
		json_decref(now);
		now = NULL;
	}
	return now;
}

static const char *size_of(const json_t *object, const char *key, char text[WH_UNITS_MAX])
{
	return wh_format_size(text, WH_UNITS_MAX, wh_json_count(object, key));
}

static const char *rate_of(const json_t *object, char text[WH_UNITS_MAX])
{
	return wh_format_rate(
		text, WH_UNITS_MAX, json_number_value(json_object_get(object, "rate_bps")));
}

/* Between a node and a server of the site. */
static const char *way_of(const json_t *now)
{
	return json_is_true(json_object_get(now, "gets")) ? "from" : "to";
}

static void print_failed(const json_t *one, const char *way)
{
	char plain[1024];

	printf("%s shard %" PRIu64 " has failed %" PRIu64
	       " time%s, the last time by %s %s %s: %s\n",
		json_is_true(json_object_get(one, "given_up")) ? "given up:" : "to be tried again:",
		wh_json_count(one, "shard"), wh_json_count(one, "failures"),
		wh_plural(wh_json_count(one, "failures")), wh_json_text(one, "node"), way,
		wh_json_text(one, "receiver"),
		wh_plain_text(wh_json_text(one, "error"), false, plain, sizeof(plain)));
}

static void print_excluded(const json_t *nodes)
{
	const char *name;
	json_t *node;

	json_object_foreach((json_t *)nodes, name, node)
	{
		if (json_is_true(json_object_get(node, "excluded")))
			printf("excluded: node %s, as shards failed on it one after the other, "
			       "%" PRIu64 " in all\n",
				name, wh_json_count(node, "failures"));
	}
}

/* A shard that differed, or whose check failed. */
static void print_check(const json_t *one, const char *way)
{
	const json_t *names = json_object_get(one, "differing");
	char plain[1024];

	printf("verify: shard %" PRIu64 ": %" PRIu64 " file%s differed; exit status %" PRIu64
	       " %s %s\n",
		wh_json_count(one, "shard"), wh_json_count(one, "differed"),
		wh_plural(wh_json_count(one, "differed")), wh_json_count(one, "exit_status"), way,
		wh_json_text(one, "receiver"));
	for (size_t i = 0; i < json_array_size(names); i++)
		printf("  %s\n", wh_plain_text(json_string_value(json_array_get(names, i)), false,
					 plain, sizeof(plain)));
}

static void print_checks(const json_t *verified, const char *way)
{
	uint64_t same = wh_json_count(verified, "same");
	uint64_t differed = wh_json_count(verified, "differed");
	uint64_t failed = wh_json_count(verified, "failed");
	const json_t *one;
	size_t i;

	if (same + differed + failed > 0)
		printf("verified: %" PRIu64 " shards the same, %" PRIu64 " differed, %" PRIu64
		       " could not be compared\n",
			same, differed, failed);
	json_array_foreach(json_object_get(verified, "shards"), i, one)
	{
		print_check(one, way);
	}
}

void wh_fleet_now_print(const json_t *now)
{
	static const char *const states[] = {"done", "running", "waiting", "stopped", "given_up"};
	const json_t *shards = json_object_get(now, "shards");
	char text[WH_UNITS_MAX], more[WH_UNITS_MAX];
	const json_t *one;
	size_t i;

	printf("%" PRIu64 " shards:", wh_json_count(shards, "all"));
	for (i = 0; i < sizeof(states) / sizeof(states[0]); i++)
		if (wh_json_count(shards, states[i]) > 0)
			printf(" %" PRIu64 " %s", wh_json_count(shards, states[i]), states[i]);
	printf("\n%" PRIu64 " of %" PRIu64 " names, %s of %s; now %s",
		wh_json_count(now, "files_done"), wh_json_count(now, "files"),
		size_of(now, "bytes_done", text), size_of(now, "bytes", more),
		rate_of(now, (char[WH_UNITS_MAX]){0}));
	if (wh_json_count(now, "cut_off") > 0)
		printf("; %" PRIu64 " begun without an end: cancelled, or the node died",
			wh_json_count(now, "cut_off"));
	if (wh_json_count(shards, "waiting") > 0)
		printf("; waiting: %s", wh_json_text(now, "waits_for"));
	putchar('\n');
	json_array_foreach(json_object_get(now, "running"), i, one)
		printf("shard %" PRIu64 ": %s %s %s, %s of %s, %s\n", wh_json_count(one, "shard"),
			wh_json_text(one, "node"), way_of(now), wh_json_text(one, "receiver"),
			size_of(one, "bytes", text), size_of(one, "of_bytes", more),
			rate_of(one, (char[WH_UNITS_MAX]){0}));
	json_array_foreach(json_object_get(now, "failed"), i, one) print_failed(one, way_of(now));
	print_excluded(json_object_get(now, "nodes"));
	print_checks(json_object_get(now, "verified"), way_of(now));
	if (json_object_get(now, "deadline") != NULL)
		wh_deadline_print(json_object_get(now, "deadline"), "the mean so far is");
}

int64_t wh_fleet_wanted(const struct wh_plan *plan, bool checks, bool *is_wanted)
{
	struct queued queued;
	bool good = look(&queued, plan, checks);
	int64_t count = good ? 0 : -1;

	for (uint32_t i = 0; good && i < wh_plan_shards(plan); i++) {
		struct wh_shard_past past;

		wh_shard_past_read(&past, plan, i);
		is_wanted[i] =
			(past.state == WH_SHARD_DONE) == checks && queued.place[i] == NOT_QUEUED;
		if (is_wanted[i] && !checks && past.failures > 0)
			good = wh_shard_note(plan, i, json_pack("{s:s}", "event", "retry")) == -1;
		count += is_wanted[i];
		wh_shard_past_free(&past);
	}
	free(queued.place);
	return good ? count : -1;
}
