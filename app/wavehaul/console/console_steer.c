/* SPDX-License-Identifier: BSD-3-Clause */
#include "console/console_steer.h"

#include <stdio.h>
#include <string.h>

#include "cli/complain.h"
#include "cli/exit.h"
#include "cli/plain_text.h"

/* Commands of the console itself; no command of a server has such a name. */
#define HELP "console help"
#define QUIT "console quit"

static int open_asker(struct wh_steer *steer)
{
	int rc = wh_asker_open(&steer->asker, steer->settings->control);

	steer->asker.on_event = steer->on_event;
	steer->asker.context = steer->context;
	if (rc == 0)
		return WH_EXIT_OK;
	return wh_fail(WH_EXIT_NETWORK,
		"no server of this host answers on its control socket: %s; --control names it",
		strerror(-rc));
}

json_t *wh_steer_ask(struct wh_steer *steer, json_t *request, int *status)
{
	json_t *answer;

	*status = WH_EXIT_OK;
	if (steer->asker.fd < 0)
		*status = open_asker(steer);
	if (*status != WH_EXIT_OK)
		return NULL;
	answer = wh_asker_ask(&steer->asker, json_incref(request));
	*status = wh_answer_conclude(answer);
	if (answer == NULL)
		wh_asker_close(&steer->asker);
	if (*status == WH_EXIT_OK)
		return answer;
	json_decref(answer);
	return NULL;
}

void wh_steer_hear(struct wh_steer *steer)
{
	json_t *event;

	while ((event = wh_asker_next(&steer->asker, 0)) != NULL)
		steer->on_event(steer->context, event);
	if (!steer->asker.gone)
		return;
	wh_asker_close(&steer->asker);
	wh_say("the server is gone");
}

static int help(const struct wh_steer *steer, const json_t *request)
{
	const struct wh_forms *forms = &steer->grammar.forms;
	const char *about = json_string_value(json_object_get(request, "about"));
	size_t bytes = about != NULL ? strlen(about) : 0;
	bool found = false;

	for (uint32_t i = 0; i < forms->count; i++) {
		const struct wh_form *form = &forms->form[i];
		char spelt[512];
		char text[512];

		/* Only the longest form is listed: it has all the optional words. */
		if (i + 1 < forms->count && strcmp(form[1].command, form->command) == 0 &&
			strcmp(form[1].word[0].text, form->word[0].text) == 0)
			continue;
		wh_form_print(form, spelt, sizeof(spelt));
		if (strncmp(spelt, about != NULL ? about : "", bytes) != 0)
			continue;
		found = true;
		printf("%-44s %s\n", spelt, wh_plain_text(form->help, false, text, sizeof(text)));
	}
	if (found)
		return WH_EXIT_OK;
	return wh_fail(WH_EXIT_USAGE, "no command begins with '%s'", about);
}

static int on_saying(void *context, const struct wh_saying *said)
{
	struct wh_steer *steer = context;
	int status = WH_EXIT_OK;

	if (strcmp(said->form->command, HELP) == 0)
		status = help(steer, said->request);
	else if (strcmp(said->form->command, QUIT) == 0)
		*steer->quits = true;
	else
		status = steer->on_saying(steer->context, said);
	json_decref(said->request);
	return status;
}

static void add_value(struct wh_grammar_values *values, const json_t *value)
{
	char *text = values->value[values->count];

	if (values->count < sizeof(values->value) / sizeof(values->value[0]) &&
		snprintf(text, sizeof(values->value[0]), "%" JSON_INTEGER_FORMAT,
			json_integer_value(value)) > 0)
		values->count++;
}

/* Arguments whose values are numbers of a list; as many as one answer has. */
static const struct {
	const char *argument;
	const char *command;
	const char *list;
	const char *member; /* NULL: the list is of numbers */
} numbers[] = {
	{"job", "job.list", "jobs", "job"},
	{"session", "sessions", "sessions", NULL},
	{"capture", "capture.list", "captures", "capture"},
	{"queue", "queues", "queues", "queue"},
};

/* Other arguments have fixed values. */
static bool find_words(const char *argument, struct wh_grammar_values *values)
{
	static const char *const verbs[] = {"send", "get"};

	if (strcmp(argument, "verb") != 0)
		return false;
	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
		snprintf(values->value[values->count++], sizeof(values->value[0]), "%s", verbs[i]);
	return true;
}

static void find_values(void *context, const char *argument, struct wh_grammar_values *values)
{
	struct wh_steer *steer = context;
	json_t *answer;
	json_t *list;
	size_t i = 0;

	if (find_words(argument, values))
		return;
	while (i < sizeof(numbers) / sizeof(numbers[0]) &&
		strcmp(numbers[i].argument, argument) != 0)
		i++;
	if (steer->asker.fd < 0 || i == sizeof(numbers) / sizeof(numbers[0]))
		return;
	answer = wh_asker_ask(&steer->asker, json_pack("{s:s}", "do", numbers[i].command));
	list = json_object_get(answer, numbers[i].list);
	for (size_t at = 0; at < json_array_size(list); at++) {
		const json_t *one = json_array_get(list, at);

		add_value(values,
			numbers[i].member != NULL ? json_object_get(one, numbers[i].member) : one);
	}
	json_decref(answer);
}

static bool add_own(struct wh_steer *steer)
{
	static const struct {
		const char *name;
		const char *words;
		const char *help;
	} own[] = {
		{HELP, "help [<about...>]", "what can be said, or what begins with these words"},
		{QUIT, "quit | exit", "ends this console; the server goes on"},
	};
	bool good = true;

	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]) && steer->quits != NULL; i++) {
		json_t *command = json_pack("{s:s, s:s, s:s, s:[{s:s, s:s}]}", "name", own[i].name,
			"words", own[i].words, "help", own[i].help, "arguments", "name", "about",
			"type", "text");

		good = good && wh_forms_add(&steer->grammar.forms, command);
		json_decref(command);
	}
	return good;
}

static bool add_forms(struct wh_steer *steer, const json_t *commands)
{
	bool good = json_is_array(commands) && add_own(steer);

	for (size_t i = 0; good && i < json_array_size(commands); i++)
		good = wh_forms_add(&steer->grammar.forms, json_array_get(commands, i));
	return good;
}

int wh_steer_open(struct wh_steer *steer, struct wh_settings *settings)
{
	json_t *request = json_pack("{s:s}", "do", "commands");
	json_t *answer;
	int status;

	steer->settings = settings;
	steer->asker.fd = -1;
	answer = wh_steer_ask(steer, request, &status);
	json_decref(request);
	if (answer == NULL)
		return status;
	steer->grammar.on_saying = on_saying;
	steer->grammar.find_values = find_values;
	steer->grammar.context = steer;
	if (!add_forms(steer, json_object_get(answer, "commands"))) {
		wh_complain("the server's commands are not valid for this console: is it another "
			    "version?");
		status = WH_EXIT_OTHER;
	} else if (wh_grammar_make(&steer->grammar) != 0) {
		wh_complain("no memory for the grammar");
		status = WH_EXIT_OTHER;
	}
	json_decref(answer);
	return status;
}

void wh_steer_close(struct wh_steer *steer)
{
	wh_grammar_free(&steer->grammar);
	if (steer->settings != NULL)
		wh_asker_close(&steer->asker);
}

int wh_steer_run(struct wh_steer *steer, const char *line)
{
	return wh_grammar_run(&steer->grammar, line);
}
