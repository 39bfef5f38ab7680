/* SPDX-License-Identifier: BSD-3-Clause */
#include "console/forms.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GROUPS_MAX 4
#define SPELT_MAX  1024

/* Optional words have a bit in `chosen`, by their position. */
struct form_reading {
	const json_t *command;
	struct wh_form *form;
	uint32_t chosen;
	uint32_t groups;
	bool in_group;
	bool good;
};

static const json_t *argument_of(const json_t *command, const char *name)
{
	const json_t *list = json_object_get(command, "arguments");

	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *argument = json_array_get(list, i);
		const char *found = json_string_value(json_object_get(argument, "name"));

		if (found != NULL && strcmp(found, name) == 0)
			return argument;
	}
	return NULL;
}

static bool type_of(const json_t *argument, enum wh_control_type *type)
{
	static const char *const names[] = {
		[WH_CONTROL_TEXT] = "text",
		[WH_CONTROL_COUNT] = "count",
		[WH_CONTROL_SWITCH] = "switch",
		[WH_CONTROL_TEXTS] = "texts",
	};
	const char *name = json_string_value(json_object_get(argument, "type"));

	for (uint32_t i = 0; name != NULL && i < sizeof(names) / sizeof(names[0]); i++) {
		*type = (enum wh_control_type)i;
		if (strcmp(names[i], name) == 0)
			return true;
	}
	return false;
}

/* Reads "<name>", "{name}" or a word, without the brackets. */
static bool read_word(const json_t *command, const char *text, struct wh_form_word *word)
{
	size_t bytes = strlen(text);
	char last = bytes > 2 ? text[bytes - 1] : '\0';
	const json_t *argument;

	*word = (struct wh_form_word){.kind = WH_FORM_LITERAL};
	if (text[0] == '<' && last == '>')
		word->kind = WH_FORM_ARGUMENT;
	else if (text[0] == '{' && last == '}')
		word->kind = WH_FORM_UNSAID;
	if (word->kind != WH_FORM_LITERAL) {
		text++;
		bytes -= 2;
	}
	word->rest = word->kind == WH_FORM_ARGUMENT && bytes > 3 &&
		     strncmp(text + bytes - 3, "...", 3) == 0;
	bytes -= word->rest ? 3 : 0;
	if (bytes == 0 || bytes >= sizeof(word->text))
		return false;
	memcpy(word->text, text, bytes);
	for (size_t i = 0; i < bytes; i++)
		if (!isalnum((unsigned char)text[i]) && strchr("._-", text[i]) == NULL)
			return false;
	argument = argument_of(command, word->text);
	if (argument == NULL || !type_of(argument, &word->type))
		return word->kind == WH_FORM_LITERAL;
	word->sets = word->kind == WH_FORM_LITERAL && word->type == WH_CONTROL_SWITCH;
	if (word->kind == WH_FORM_UNSAID)
		return word->type == WH_CONTROL_SWITCH;
	return word->kind == WH_FORM_LITERAL || word->type != WH_CONTROL_SWITCH;
}

static void take_word(struct form_reading *reading, const char *text)
{
	struct wh_form *form = reading->form;
	struct wh_form_word word;
	bool left_out = reading->in_group && (reading->chosen >> (reading->groups - 1) & 1) == 0;

	if (form->words == WH_FORM_WORDS_MAX || !read_word(reading->command, text, &word) ||
		(form->words > 0 && form->word[form->words - 1].rest && !left_out))
		reading->good = false;
	else if (!left_out)
		form->word[form->words++] = word;
}

/* Reads one alternative of a spelling; modifies the text. */
static void read_alternative(struct form_reading *reading, char *text)
{
	char *state;

	reading->groups = 0;
	reading->in_group = false;
	for (char *at = strtok_r(text, " ", &state); at != NULL && reading->good;
		at = strtok_r(NULL, " ", &state)) {
		size_t bytes = strlen(at);
		bool closes = bytes > 1 && at[bytes - 1] == ']';

		if (at[0] == '[') {
			reading->good = !reading->in_group && reading->groups < GROUPS_MAX;
			reading->in_group = true;
			reading->groups++;
			at++;
		}
		if (closes)
			at[strlen(at) - 1] = '\0';
		if (reading->good)
			take_word(reading, at);
		if (closes)
			reading->in_group = false;
	}
	reading->good = reading->good && !reading->in_group && reading->form->words > 0 &&
			reading->form->word[0].kind == WH_FORM_LITERAL;
}

static struct wh_form *new_form(struct wh_forms *forms)
{
	if (forms->count == forms->room) {
		uint32_t room = forms->room > 0 ? 2 * forms->room : 64;
		struct wh_form *larger =
			room <= WH_FORMS_MAX ? realloc(forms->form, room * sizeof(*larger)) : NULL;

		if (larger == NULL)
			return NULL;
		forms->form = larger;
		forms->room = room;
	}
	forms->form[forms->count] = (struct wh_form){0};
	return &forms->form[forms->count];
}

/* Adds one alternative, with and without each of its optional words. */
static bool add_alternative(
	struct wh_forms *forms, const json_t *command, const char *alternative, size_t bytes)
{
	struct form_reading reading = {.command = command, .good = true, .groups = 0};
	const char *name = json_string_value(json_object_get(command, "name"));
	const char *help = json_string_value(json_object_get(command, "help"));
	char text[SPELT_MAX];

	for (uint32_t chosen = 0; reading.good && chosen < 1U << reading.groups; chosen++) {
		memcpy(text, alternative, bytes);
		text[bytes] = '\0';
		reading.chosen = chosen;
		reading.form = new_form(forms);
		if (reading.form == NULL)
			return false;
		read_alternative(&reading, text);
		reading.form->command = strdup(name);
		reading.form->help = strdup(help != NULL ? help : "");
		forms->count++;
		reading.good =
			reading.good && reading.form->command != NULL && reading.form->help != NULL;
	}
	return reading.good;
}

bool wh_forms_add(struct wh_forms *forms, const json_t *command)
{
	const char *spelt = json_string_value(json_object_get(command, "words"));

	if (spelt == NULL)
		return true;
	if (strlen(spelt) >= SPELT_MAX ||
		json_string_value(json_object_get(command, "name")) == NULL)
		return false;
	for (;;) {
		size_t bytes = strcspn(spelt, "|");

		if (!add_alternative(forms, command, spelt, bytes))
			return false;
		if (spelt[bytes] == '\0')
			return true;
		spelt += bytes + 1;
	}
}

void wh_forms_free(struct wh_forms *forms)
{
	for (uint32_t i = 0; i < forms->count; i++) {
		free(forms->form[i].command);
		free(forms->form[i].help);
	}
	free(forms->form);
	*forms = (struct wh_forms){0};
}

void wh_form_print(const struct wh_form *form, char *text, size_t room)
{
	size_t length = 0;

	text[0] = '\0';
	for (uint32_t i = 0; i < form->words && length < room; i++) {
		const struct wh_form_word *word = &form->word[i];
		char shown[WH_FORM_WORD_BYTES];
		size_t c = 0;

		if (word->kind == WH_FORM_UNSAID)
			continue;
		for (; word->text[c] != '\0'; c++)
			shown[c] = word->kind == WH_FORM_ARGUMENT
					   ? (char)toupper((unsigned char)word->text[c])
					   : word->text[c];
		shown[c] = '\0';
		length += (size_t)snprintf(text + length, room - length, "%s%s%s",
			length > 0 ? " " : "", shown, word->rest ? "..." : "");
	}
}
