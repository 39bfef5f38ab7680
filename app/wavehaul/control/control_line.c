/* SPDX-License-Identifier: BSD-3-Clause */
#include "control/control_line.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "cli/exit.h"
#include "cli/json.h"

/* Members of every request. */
static const char *const common[] = {"id", "do"};

/* Requests the list of all commands. */
#define COMMANDS "commands"

void wh_control_add(struct wh_control_tables *tables, const struct wh_control_command *command,
	uint32_t count, void *context)
{
	WH_ASSERT(tables->count < WH_CONTROL_TABLES_MAX && count > 0);
	tables->table[tables->count++] = (struct wh_control_table){command, count, context};
}

void wh_control_fail(struct wh_control_call *call, int status, const char *format, ...)
{
	va_list args;

	WH_ASSERT(status != WH_EXIT_OK);
	if (call->status != WH_EXIT_OK)
		return;
	call->status = status;
	va_start(args, format);
	vsnprintf(call->why, sizeof(call->why), format, args);
	va_end(args);
}

const char *wh_control_text(const struct wh_control_call *call, const char *name)
{
	return json_string_value(json_object_get(call->request, name));
}

uint64_t wh_control_count(const struct wh_control_call *call, const char *name, uint64_t otherwise)
{
	const json_t *value = json_object_get(call->request, name);

	return value != NULL ? (uint64_t)json_integer_value(value) : otherwise;
}

bool wh_control_switch(const struct wh_control_call *call, const char *name)
{
	return json_is_true(json_object_get(call->request, name));
}

static const char *const type_names[] = {
	[WH_CONTROL_TEXT] = "text",
	[WH_CONTROL_COUNT] = "count",
	[WH_CONTROL_SWITCH] = "switch",
	[WH_CONTROL_TEXTS] = "texts",
};

static bool is_text(const json_t *value)
{
	return json_is_string(value) && json_string_length(value) < WH_CONTROL_TEXT_BYTES &&
	       strlen(json_string_value(value)) == json_string_length(value);
}

static bool is_of(const json_t *value, enum wh_control_type type)
{
	switch (type) {
	case WH_CONTROL_TEXT:
		return is_text(value);
	case WH_CONTROL_COUNT:
		return json_is_integer(value) && json_integer_value(value) >= 0;
	case WH_CONTROL_SWITCH:
		return json_is_boolean(value);
	default:
		WH_ASSERT(type == WH_CONTROL_TEXTS);
		if (!json_is_array(value) || json_array_size(value) > WH_CONTROL_LIST_MAX)
			return false;
		for (size_t i = 0; i < json_array_size(value); i++)
			if (!is_text(json_array_get(value, i)))
				return false;
		return true;
	}
}

static const struct wh_control_argument *find_argument(
	const struct wh_control_command *command, const char *name)
{
	for (uint32_t i = 0; i < WH_CONTROL_ARGUMENTS_MAX; i++) {
		if (command->argument[i].name == NULL)
			return NULL;
		if (strcmp(command->argument[i].name, name) == 0)
			return &command->argument[i];
	}
	return NULL;
}

static bool is_common(const char *name)
{
	for (size_t i = 0; i < sizeof(common) / sizeof(common[0]); i++)
		if (strcmp(common[i], name) == 0)
			return true;
	return false;
}

/* Checks the arguments against those of the command. */
static void judge(struct wh_control_call *call, const struct wh_control_command *command)
{
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)call->request, name, value)
	{
		const struct wh_control_argument *argument = find_argument(command, name);

		if (is_common(name))
			continue;
		if (argument == NULL)
			wh_control_fail(call, WH_EXIT_USAGE, "%s has no argument '%.60s'",
				command->name, name);
		else if (!is_of(value, argument->type))
			wh_control_fail(call, WH_EXIT_USAGE, "'%s' of %s is a %s", name,
				command->name, type_names[argument->type]);
	}
	for (uint32_t i = 0; i < WH_CONTROL_ARGUMENTS_MAX && command->argument[i].name != NULL; i++)
		if (command->argument[i].needed &&
			json_object_get(call->request, command->argument[i].name) == NULL)
			wh_control_fail(call, WH_EXIT_USAGE, "%s wants '%s'", command->name,
				command->argument[i].name);
	if (command->administers && !call->administers)
		wh_control_fail(call, WH_EXIT_OTHER,
			"%s is for root and the server's own user, not for user %u", command->name,
			call->uid);
}

static json_t *describe(const struct wh_control_command *command)
{
	json_t *arguments = json_array();

	for (uint32_t i = 0; i < WH_CONTROL_ARGUMENTS_MAX && command->argument[i].name != NULL;
		i++) {
		const struct wh_control_argument *argument = &command->argument[i];

		json_array_append_new(
			arguments, json_pack("{s:s, s:s, s:b, s:s}", "name", argument->name, "type",
					   type_names[argument->type], "needed", argument->needed,
					   "help", argument->help));
	}
	json_t *described = json_pack("{s:s, s:s, s:b, s:o}", "name", command->name, "help",
		command->help, "administers", command->administers, "arguments", arguments);

	if (command->words != NULL)
		json_object_set_new(described, "words", json_string(command->words));
	return described;
}

static void list_commands(const struct wh_control_tables *tables, struct wh_control_call *call)
{
	json_t *list = json_array();

	for (uint32_t t = 0; t < tables->count; t++)
		for (uint32_t i = 0; i < tables->table[t].count; i++)
			json_array_append_new(list, describe(&tables->table[t].command[i]));
	json_object_set_new(call->answer, COMMANDS, list);
}

static void run(const struct wh_control_tables *tables, struct wh_control_call *call)
{
	const char *name = json_string_value(json_object_get(call->request, "do"));

	if (name == NULL) {
		wh_control_fail(call, WH_EXIT_USAGE,
			"a request names its command: {\"do\": \"" COMMANDS "\"} lists them");
		return;
	}
	if (strcmp(name, COMMANDS) == 0) {
		list_commands(tables, call);
		return;
	}
	for (uint32_t t = 0; t < tables->count; t++) {
		for (uint32_t i = 0; i < tables->table[t].count; i++) {
			const struct wh_control_command *command = &tables->table[t].command[i];

			if (strcmp(command->name, name) != 0)
				continue;
			judge(call, command);
			call->context = tables->table[t].context;
			if (call->status == WH_EXIT_OK)
				command->run(call);
			return;
		}
	}
	wh_control_fail(call, WH_EXIT_USAGE,
		"there is no command '%.60s'; {\"do\": \"" COMMANDS "\"} lists them", name);
}

json_t *wh_control_answer(const struct wh_control_tables *tables, const char *line, size_t bytes,
	struct wh_control_call *call)
{
	json_error_t error;
	json_t *request = json_loadb(line, bytes, JSON_REJECT_DUPLICATES, &error);
	json_t *answer = json_object();

	call->status = WH_EXIT_OK;
	call->why[0] = '\0';
	call->request = request;
	call->answer = answer;
	if (!json_is_object(request))
		wh_control_fail(call, WH_EXIT_USAGE, "a request is one JSON object on one line%s%s",
			request == NULL ? ": " : "", request == NULL ? error.text : "");
	else
		run(tables, call);
	if (call->status != WH_EXIT_OK) {
		json_object_clear(answer);
		json_object_set_new(answer, "error", wh_word_to_json(call->why));
		json_object_set_new(answer, "status", json_integer(call->status));
	}
	json_object_set_new(answer, "ok", json_boolean(call->status == WH_EXIT_OK));
	if (json_object_get(request, "id") != NULL)
		json_object_set(answer, "id", json_object_get(request, "id"));
	json_decref(request);
	call->request = NULL;
	call->answer = NULL;
	return answer;
}
