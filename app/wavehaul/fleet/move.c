/* SPDX-License-Identifier: BSD-3-Clause */
#include "fleet/move.h"

#include <stdlib.h>
#include <string.h>

#include "cli/complain.h"
#include "cli/json.h"
#include "fleet/nodes.h"
#include "fleet/shard_log.h"
#include "fleet/slurm.h"

/* A set of names: the keys of an object. */
static void add_name(json_t *names, const char *name)
{
	json_object_set_new(names, name, json_true());
}

static json_t *array_of(const json_t *names)
{
	json_t *array = json_array();
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)names, name, value)
	{
		json_array_append_new(array, json_string(name));
	}
	return array;
}

/* What no shard of this job shall use: what the operator excludes, and what was found broken. */
static json_t *names_off(const struct wh_plan *plan, const json_t *nodes)
{
	json_t *off = json_object();
	const json_t *given = json_object_get(plan->json, "exclude");
	const char *name;
	json_t *node;

	for (size_t i = 0; i < json_array_size(given); i++)
		add_name(off, json_string_value(json_array_get(given, i)));
	json_object_foreach((json_t *)nodes, name, node)
	{
		if (json_is_true(json_object_get(node, "excluded")))
			add_name(off, name);
	}
	return off;
}

static bool has_other(const json_t *working, const json_t *off)
{
	for (size_t i = 0; i < json_array_size(working); i++)
		if (json_object_get(off, json_string_value(json_array_get(working, i))) == NULL)
			return true;
	return false;
}

static void exclude_here(
	const struct wh_plan *plan, uint32_t shard, const char *node, const json_t *off)
{
	const char *job = getenv("SLURM_ARRAY_JOB_ID");
	json_t *list = array_of(off);

	if (job != NULL && wh_slurm_keep_off(list)) {
		wh_say("node %s is excluded: %d shards that it began have failed one after the "
		       "other",
			node, WH_NODE_ROW_MAX);
		(void)wh_shard_note(plan, shard,
			json_pack("{s:s, s:s, s:s}", "event", "exclude", "node", node, "job", job));
	}
	json_decref(list);
}

static bool move_off(const struct wh_plan *plan, uint32_t shard, const json_t *off)
{
	json_t *list = array_of(off);
	bool moved = wh_slurm_requeue(list);

	if (moved) {
		wh_say("shard %u goes to another node", shard);
		(void)wh_shard_note(
			plan, shard, json_pack("{s:s, s:O}", "event", "moved", "but", list));
	}
	json_decref(list);
	return moved;
}

bool wh_fleet_move(const struct wh_plan *plan, uint32_t shard, uint32_t receivers)
{
	const char *here = getenv("SLURMD_NODENAME");
	json_t *working, *nodes, *off;
	struct wh_shard_past past;
	bool moved = false;

	if (here == NULL)
		return false;
	working = wh_slurm_nodes();
	nodes = wh_fleet_nodes(plan);
	off = names_off(plan, nodes);
	if (wh_node_is_broken(nodes, here, receivers) && json_object_get(off, here) == NULL) {
		add_name(off, here);
		if (has_other(working, off))
			exclude_here(plan, shard, here, off);
	}
	wh_shard_past_read(&past, plan, shard);
	wh_shard_failed_on(&past, off);
	if (has_other(working, off))
		moved = move_off(plan, shard, off);
	wh_shard_past_free(&past);
	json_decref(working);
	json_decref(nodes);
	json_decref(off);
	return moved;
}
