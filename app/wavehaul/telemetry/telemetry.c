/* SPDX-License-Identifier: BSD-3-Clause */
#include "telemetry/telemetry.h"

#include <errno.h>
#include <string.h>

#include <jansson.h>
#include <rte_telemetry.h>

#include "base/assert.h"
#include "cli/complain.h"
#include "telemetry/answer.h"

static const struct {
	const char *name;
	json_t *(*answer)(const char *params, bool at_once);
	const char *help;
} commands[] = {
	{"/wavehaul/sessions", wh_tel_sessions,
		"Numbers of sessions, ascending, 512 at most. Parameter: the first, if not 0"},
	{"/wavehaul/session", wh_tel_session,
		"A session's peer, rates, counters and limit. Parameter: its number"},
	{"/wavehaul/totals", wh_tel_totals,
		"Of all sessions so far, by role: counters, pace, limits. Parameter: none"},
	{"/wavehaul/ports", wh_tel_ports,
		"Packets, bytes and drops by reason. Parameter: a queue, if not all"},
	{"/wavehaul/cores", wh_tel_cores,
		"Work and busy share of each core. Parameter: a CPU, for its cycles by task"},
};

static int to_dict(struct rte_tel_data *data, const json_t *object);

static int to_member(struct rte_tel_data *data, const char *name, const json_t *value)
{
	if (json_is_integer(value))
		return rte_tel_data_add_dict_u64(data, name, (uint64_t)json_integer_value(value));
	if (json_is_string(value)) {
		int rc = rte_tel_data_add_dict_string(data, name, json_string_value(value));

		return rc == E2BIG ? 0 : rc; /* truncated */
	}

	struct rte_tel_data *inner = rte_tel_data_alloc();

	WH_ASSERT(json_is_object(value));
	if (inner == NULL || to_dict(inner, value) != 0)
		return -ENOMEM;
	return rte_tel_data_add_dict_container(data, name, inner, 0);
}

static int to_dict(struct rte_tel_data *data, const json_t *object)
{
	const char *name;
	json_t *value;
	int rc = rte_tel_data_start_dict(data);

	json_object_foreach((json_t *)object, name, value)
	{
		if (rc == 0)
			rc = to_member(data, name, value);
		/* The names are ours, and fewer than DPDK's limit. */
		WH_ASSERT(rc == 0 || rc == -ENOMEM);
	}
	return rc;
}

static int to_array(struct rte_tel_data *data, const json_t *list)
{
	int rc = rte_tel_data_start_array(data, RTE_TEL_U64_VAL);

	WH_ASSERT(json_array_size(list) <= RTE_TEL_MAX_ARRAY_ENTRIES);
	for (size_t i = 0; rc == 0 && i < json_array_size(list); i++)
		rc = rte_tel_data_add_array_u64(
			data, (uint64_t)json_integer_value(json_array_get(list, i)));
	return rc;
}

/* Rates are measured over the time that the answer takes. */
static int answer_dpdk(const char *command, const char *params, struct rte_tel_data *data)
{
	json_t *answer = NULL;
	int rc;

	for (size_t i = 0; i < RTE_DIM(commands); i++)
		if (strcmp(commands[i].name, command) == 0)
			answer = commands[i].answer(params, false);
	if (answer == NULL)
		return -EINVAL;
	rc = json_is_array(answer) ? to_array(data, answer) : to_dict(data, answer);
	json_decref(answer);
	return rc;
}

void wh_telemetry_start(struct wh_host *host, struct wh_jobs *jobs)
{
	static bool registered;

	WH_ASSERT(!registered && host != NULL && jobs != NULL);
	registered = true;
	wh_tel_watch(host, jobs);
	for (size_t i = 0; i < RTE_DIM(commands); i++) {
		int rc =
			rte_telemetry_register_cmd(commands[i].name, answer_dpdk, commands[i].help);

		if (rc != 0)
			wh_say("DPDK's telemetry does not take %s: %s", commands[i].name,
				strerror(-rc));
	}
}

void wh_telemetry_stop(void)
{
	wh_tel_watch(NULL, NULL);
}
