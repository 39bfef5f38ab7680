/* SPDX-License-Identifier: BSD-3-Clause */
#include "fleet/nodes.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/exit.h"
#include "cli/json.h"

/* As a task notes it. By hand there is none. */
static void last_job(const struct wh_plan *plan, char text[24])
{
	const json_t *jobs = json_object_get(plan->json, "jobs");
	size_t count = json_array_size(jobs);

	text[0] = '\0';
	if (count > 0)
		snprintf(text, 24, "%" PRIu64,
			(uint64_t)json_integer_value(json_array_get(jobs, count - 1)));
}

static json_t *node_of(json_t *nodes, const char *name)
{
	json_t *node = json_object_get(nodes, name);

	if (node == NULL) {
		node = json_pack("{s:i, s:i, s:b, s:f, s:[]}", "done", 0, "failures", 0, "excluded",
			false, "last_done_s", 0.0, "failed");
		json_object_set_new(nodes, name, node);
	}
	return node;
}

static void add_one(json_t *node, const char *key)
{
	json_object_set_new(node, key, json_integer((json_int_t)wh_json_count(node, key) + 1));
}

/* The end of a try on a node. One that another receiver took the place of is no failure yet. */
static void take_end(json_t *node, uint32_t shard, const json_t *begin, const json_t *end)
{
	double at_s = json_number_value(json_object_get(end, "at_s"));

	if (wh_json_count(end, "exit_status") == WH_EXIT_OK) {
		add_one(node, "done");
		if (at_s > json_number_value(json_object_get(node, "last_done_s")))
			json_object_set_new(node, "last_done_s", json_real(at_s));
	} else {
		bool passed = json_is_true(json_object_get(end, "passed"));
		int status = (int)wh_json_count(end, "exit_status");

		if (!passed)
			add_one(node, "failures");
		json_array_append_new(json_object_get(node, "failed"),
			json_pack("{s:i, s:s, s:f, s:b, s:b}", "shard", shard, "receiver",
				wh_json_text(begin, "receiver"), "at_s", at_s, "passed", passed,
				"unreached", wh_shard_is_unreached(status)));
	}
}

void wh_nodes_take(
	json_t *nodes, const struct wh_plan *plan, uint32_t shard, const struct wh_shard_past *past)
{
	const json_t *begin = NULL, *event;
	char job[24];
	size_t i;

	last_job(plan, job);
	json_array_foreach(past->events, i, event)
	{
		const char *what = wh_json_text(event, "event");

		if (strcmp(what, "begin") == 0)
			begin = strcmp(wh_json_text(event, "job"), job) == 0 ? event : NULL;
		else if (strcmp(what, "end") == 0 && begin != NULL)
			take_end(node_of(nodes, wh_json_text(begin, "node")), shard, begin, event);
		else if (strcmp(what, "exclude") == 0 &&
			 strcmp(wh_json_text(event, "job"), job) == 0)
			json_object_set_new(node_of(nodes, wh_json_text(event, "node")), "excluded",
				json_true());
	}
}

/*
 * Shards, and receivers, among what has failed since the node last did a shard. A node that reaches
 * no receiver passes all over but the last, and fails to all of them.
 */
static void count_row(json_t *node)
{
	double since_s = json_number_value(json_object_get(node, "last_done_s"));
	json_t *shards = json_object(), *receivers = json_object(), *passed = json_object();
	const json_t *one;
	size_t i;

	json_array_foreach(json_object_get(node, "failed"), i, one)
	{
		const char *receiver = wh_json_text(one, "receiver");
		char name[16];

		if (json_number_value(json_object_get(one, "at_s")) <= since_s)
			continue;
		if (json_is_true(json_object_get(one, "passed"))) {
			json_object_set_new(passed, receiver, json_true());
			continue;
		}
		snprintf(name, sizeof(name), "%u", (uint32_t)wh_json_count(one, "shard"));
		json_object_set_new(shards, name, json_true());
		json_object_set_new(receivers, receiver, json_true());
		if (json_is_true(json_object_get(one, "unreached")))
			json_object_update(receivers, passed);
		json_object_clear(passed);
	}
	json_object_set_new(node, "row", json_integer((json_int_t)json_object_size(shards)));
	json_object_set_new(
		node, "row_receivers", json_integer((json_int_t)json_object_size(receivers)));
	json_decref(shards);
	json_decref(receivers);
	json_decref(passed);
}

void wh_nodes_finish(json_t *nodes)
{
	const char *name;
	json_t *node;

	json_object_foreach(nodes, name, node)
	{
		count_row(node);
		json_object_del(node, "failed");
		json_object_del(node, "last_done_s");
	}
}

json_t *wh_fleet_nodes(const struct wh_plan *plan)
{
	json_t *nodes = json_object();

	for (uint32_t i = 0; i < wh_plan_shards(plan); i++) {
		struct wh_shard_past past;

		wh_shard_past_read(&past, plan, i);
		wh_nodes_take(nodes, plan, i, &past);
		wh_shard_past_free(&past);
	}
	wh_nodes_finish(nodes);
	return nodes;
}

/* What fails to one receiver of several is that receiver's fault: its disk may be full. */
bool wh_node_is_broken(const json_t *nodes, const char *name, uint32_t receivers)
{
	const json_t *node = json_object_get(nodes, name);

	return wh_json_count(node, "row") >= WH_NODE_ROW_MAX &&
	       wh_json_count(node, "row_receivers") >= (receivers > 1 ? 2 : 1);
}
