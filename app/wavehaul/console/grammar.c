/* SPDX-License-Identifier: BSD-3-Clause */
#include "console/grammar.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmdline.h>
#include <cmdline_parse.h>

#include "base/assert.h"
#include "base/units.h"
#include "cli/complain.h"
#include "cli/exit.h"
#include "cli/nearest/nearest.h"
#include "cli/plain_text.h"
#include "console/console_words.h"

/* A line of a script, longer than any path; DPDK's own editor takes 511 bytes. */
#define LINE_BYTES (UINT32_C(32) << 10)

/* The most words that are listed where one is wrong. */
#define EXPECTED_MAX 64

/* Spellings of each command: plain, live, and live with a number of times. */
#define WAYS 3

enum live {
	LIVE_NOT,
	LIVE_ON,
	LIVE_TIMES,
};

/* A token's text in the line given to cmdline. */
struct found {
	const char *at;
	size_t bytes;
};

struct wh_grammar_token {
	cmdline_parse_token_hdr_t head; /* first: cmdline accesses only this */
	struct wh_grammar *grammar;
	const struct wh_form_word *word;
};

struct wh_grammar_instance {
	struct wh_grammar *grammar;
	const struct wh_form *form;
	enum live live;
	char *told; /* help text: "pause JOB: it stops ..." */
	cmdline_parse_inst_t *inst;
	struct wh_grammar_token token[WH_FORM_WORDS_MAX + 2];
};

static const struct wh_form_word live_words[] = {
	{.kind = WH_FORM_LITERAL, .text = "live"},
	{.kind = WH_FORM_ARGUMENT, .text = "times", .type = WH_CONTROL_COUNT},
};

static bool is_count(const char *text)
{
	uint64_t value;

	return wh_parse_count(text, &value) == 0 && value <= INT64_MAX;
}

/* The length of the line's text that the token matches; -1: no match. */
static int parse_word(const struct wh_form_word *word, const char *line)
{
	char text[WH_FORM_WORD_BYTES + 1];
	ssize_t bytes = wh_word_take(line, text, sizeof(text));
	/* A longer word is truncated. */
	bool whole = bytes > 0 && strlen(text) < WH_FORM_WORD_BYTES;

	if (bytes <= 0)
		return -1;
	if (word->kind == WH_FORM_LITERAL)
		return whole && strcmp(word->text, text) == 0 ? (int)bytes : -1;
	return word->type != WH_CONTROL_COUNT || (whole && is_count(text)) ? (int)bytes : -1;
}

static int parse_rest(const struct wh_form_word *word, const char *line)
{
	int taken = 0;

	for (;;) {
		size_t blanks = taken > 0 ? wh_word_blanks(line + taken) : 0;
		int bytes = parse_word(word, line + taken + blanks);
		char none;

		if (bytes < 0)
			/* The end of the line, or text that does not match. */
			return wh_word_take(line + taken + blanks, &none, 1) == 0 && taken > 0
				       ? taken
				       : -1;
		taken += (int)blanks + bytes;
	}
}

static int parse_token(
	cmdline_parse_token_hdr_t *head, const char *line, void *result, unsigned int room)
{
	const struct wh_grammar_token *token = (const struct wh_grammar_token *)head;
	const struct wh_form_word *word = token->word;
	int bytes = word->rest ? parse_rest(word, line) : parse_word(word, line);

	if (bytes < 0)
		return -1;
	if (result != NULL) {
		WH_ASSERT(room >= sizeof(struct found));
		memcpy(result, &(struct found){line, (size_t)bytes}, sizeof(struct found));
	}
	return bytes;
}

static int count_values(cmdline_parse_token_hdr_t *head)
{
	const struct wh_grammar_token *token = (const struct wh_grammar_token *)head;
	struct wh_grammar *grammar = token->grammar;

	if (token->word->kind == WH_FORM_LITERAL)
		return 1;
	grammar->values.count = 0;
	if (grammar->find_values != NULL)
		grammar->find_values(grammar->context, token->word->text, &grammar->values);
	return (int)grammar->values.count;
}

static int give_value(cmdline_parse_token_hdr_t *head, int i, char *text, unsigned int room)
{
	const struct wh_grammar_token *token = (const struct wh_grammar_token *)head;
	const char *value = token->word->text;

	if (token->word->kind == WH_FORM_ARGUMENT) {
		if (i < 0 || (uint32_t)i >= token->grammar->values.count)
			return -1;
		value = token->grammar->values.value[i];
	}
	return snprintf(text, room, "%s", value) < (int)room ? 0 : -1;
}

static int tell_token(cmdline_parse_token_hdr_t *head, char *text, unsigned int room)
{
	const struct wh_grammar_token *token = (const struct wh_grammar_token *)head;
	const struct wh_form form = {.words = 1, .word = {*token->word}};

	wh_form_print(&form, text, room);
	return 0;
}

static struct cmdline_token_ops ops = {
	.parse = parse_token,
	.complete_get_nb = count_values,
	.complete_get_elt = give_value,
	.get_help = tell_token,
};

/* All words of `found` as a list. False: one is not UTF-8. */
static bool take_list(const struct found *found, json_t *list)
{
	char word[LINE_BYTES + 1];
	size_t at = 0;

	while (at < found->bytes) {
		ssize_t bytes;

		at += wh_word_blanks(found->at + at);
		bytes = wh_word_take(found->at + at, word, sizeof(word));
		if (bytes <= 0)
			break;
		at += (size_t)bytes;
		if (json_array_append_new(list, json_string(word)) != 0)
			return false;
	}
	return true;
}

static json_t *joined(const json_t *list)
{
	char text[LINE_BYTES + 1];
	size_t length = 0;

	text[0] = '\0';
	for (size_t i = 0; i < json_array_size(list) && length < sizeof(text); i++)
		length += (size_t)snprintf(text + length, sizeof(text) - length, "%s%s",
			i > 0 ? " " : "", json_string_value(json_array_get(list, i)));
	return json_string(text);
}

static bool take_argument(
	const struct wh_form_word *word, const struct found *found, json_t *request, json_t **each)
{
	json_t *list = json_array();
	bool good = take_list(found, list);
	const char *first = json_string_value(json_array_get(list, 0));
	uint64_t count = 0;

	good = good && first != NULL;
	if (good && word->type == WH_CONTROL_TEXTS)
		json_object_set(request, word->text, list);
	else if (good && word->type == WH_CONTROL_TEXT)
		good = json_object_set_new(request, word->text, joined(list)) == 0;
	else if (good && word->rest)
		*each = json_incref(list);
	else if (good && wh_parse_count(first, &count) == 0)
		json_object_set_new(request, word->text, json_integer((json_int_t)count));
	json_decref(list);
	return good;
}

/* NULL: a word is not UTF-8. *each: numbers that need a request each. */
static json_t *request_of(const struct wh_form *form, const struct found *found, json_t **each)
{
	json_t *request = json_pack("{s:s}", "do", form->command);
	uint32_t said = 0;

	for (uint32_t i = 0; i < form->words; i++) {
		const struct wh_form_word *word = &form->word[i];

		if (word->kind == WH_FORM_UNSAID || word->sets)
			json_object_set_new(request, word->text, json_true());
		if (word->kind == WH_FORM_ARGUMENT &&
			!take_argument(word, &found[said], request, each)) {
			json_decref(request);
			return NULL;
		}
		said += word->kind != WH_FORM_UNSAID;
	}
	return request;
}

static int say(const struct wh_grammar_instance *instance, json_t *request, uint64_t times)
{
	const struct wh_saying said = {
		.form = instance->form,
		.request = request,
		.live = instance->live != LIVE_NOT,
		.times = times,
	};

	return instance->grammar->on_saying(instance->grammar->context, &said);
}

/* Sends a request for each number of the list that ends a form. */
static int say_each(const struct wh_grammar_instance *instance, json_t *request, const json_t *each)
{
	const char *name = instance->form->word[instance->form->words - 1].text;
	int worst = WH_EXIT_OK;

	for (size_t i = 0; i < json_array_size(each); i++) {
		json_t *one = json_copy(request);
		uint64_t count = 0;
		int rc = wh_parse_count(json_string_value(json_array_get(each, i)), &count);

		WH_ASSERT(rc == 0); /* the token has parsed it */
		json_object_set_new(one, name, json_integer((json_int_t)count));

		int status = say(instance, one, 0);

		worst = status != WH_EXIT_OK ? status : worst;
	}
	return worst;
}

/* Called by cmdline with its parsed tokens. */
static void on_command(void *result, struct cmdline *parser, void *data)
{
	const struct wh_grammar_instance *instance = data;
	struct found found[WH_FORM_WORDS_MAX + 2];
	json_t *each = NULL;
	uint64_t times = 0;
	uint32_t said = 0;

	(void)parser;
	memcpy(found, result, sizeof(found));
	for (uint32_t i = 0; i < instance->form->words; i++)
		said += instance->form->word[i].kind != WH_FORM_UNSAID;
	if (instance->live == LIVE_TIMES) {
		char text[WH_FORM_WORD_BYTES];
		ssize_t bytes = wh_word_take(found[said + 1].at, text, sizeof(text));

		WH_ASSERT(bytes > 0 && wh_parse_count(text, &times) == 0);
	}

	json_t *request = request_of(instance->form, found, &each);

	if (request == NULL) {
		wh_complain("the input is not valid UTF-8");
		instance->grammar->status = WH_EXIT_USAGE;
	} else if (each != NULL) {
		instance->grammar->status = say_each(instance, request, each);
		json_decref(request);
	} else {
		instance->grammar->status = say(instance, request, times);
	}
	json_decref(each);
}

static void add_token(
	struct wh_grammar_instance *instance, uint32_t *count, const struct wh_form_word *word)
{
	struct wh_grammar_token *token = &instance->token[*count];

	*token = (struct wh_grammar_token){
		.head = {.ops = &ops, .offset = *count * (unsigned int)sizeof(struct found)},
		.grammar = instance->grammar,
		.word = word,
	};
	instance->inst->tokens[(*count)++] = &token->head;
}

static struct wh_grammar_instance *make_instance(
	struct wh_grammar *grammar, const struct wh_form *form, enum live live)
{
	struct wh_grammar_instance *instance = calloc(1, sizeof(*instance));
	char spelt[512];
	uint32_t count = 0;

	if (instance == NULL)
		return NULL;
	instance->grammar = grammar;
	instance->form = form;
	instance->live = live;
	wh_form_print(form, spelt, sizeof(spelt));
	instance->inst =
		calloc(1, sizeof(*instance->inst) +
				  (WH_FORM_WORDS_MAX + 3) * sizeof(instance->inst->tokens[0]));
	if (instance->inst == NULL || asprintf(&instance->told, "%s%s: %s", spelt,
					      live == LIVE_NOT  ? ""
					      : live == LIVE_ON ? " live"
								: " live TIMES",
					      form->help) < 0) {
		free(instance->inst);
		free(instance);
		return NULL;
	}
	instance->inst->f = on_command;
	instance->inst->data = instance;
	instance->inst->help_str = instance->told;
	for (uint32_t i = 0; i < form->words; i++)
		if (form->word[i].kind != WH_FORM_UNSAID)
			add_token(instance, &count, &form->word[i]);
	for (uint32_t i = 0; i < (uint32_t)live; i++)
		add_token(instance, &count, &live_words[i]);
	return instance;
}

static bool add_instance(struct wh_grammar *grammar, const struct wh_form *form, enum live live)
{
	struct wh_grammar_instance *instance = make_instance(grammar, form, live);

	if (instance == NULL)
		return false;
	grammar->instance[grammar->count] = instance;
	grammar->context_of_parser[grammar->count++] = instance->inst;
	return true;
}

static bool make_instances(struct wh_grammar *grammar)
{
	uint32_t room = WAYS * grammar->forms.count;
	bool good;

	grammar->instance = calloc(room + 1, sizeof(grammar->instance[0]));
	grammar->context_of_parser = calloc(room + 1, sizeof(grammar->context_of_parser[0]));
	good = grammar->instance != NULL && grammar->context_of_parser != NULL;
	for (uint32_t i = 0; i < grammar->forms.count && good; i++) {
		const struct wh_form *form = &grammar->forms.form[i];
		bool shows = strcmp(form->word[0].text, "show") == 0;

		for (uint32_t live = LIVE_NOT; live <= LIVE_TIMES && good; live++)
			if (live == LIVE_NOT || (shows && !form->word[form->words - 1].rest))
				good = add_instance(grammar, form, (enum live)live);
	}
	return good;
}

int wh_grammar_make(struct wh_grammar *grammar)
{
	WH_ASSERT(grammar->parser == NULL && grammar->on_saying != NULL);
	if (make_instances(grammar))
		grammar->parser =
			cmdline_new((cmdline_parse_ctx_t *)grammar->context_of_parser, "", -1, -1);
	return grammar->parser != NULL ? 0 : -ENOMEM;
}

void wh_grammar_free(struct wh_grammar *grammar)
{
	if (grammar->parser != NULL)
		cmdline_free(grammar->parser);
	for (uint32_t i = 0; i < grammar->count; i++) {
		struct wh_grammar_instance *instance = grammar->instance[i];

		free(instance->inst);
		free(instance->told);
		free(instance);
	}
	free(grammar->instance);
	free(grammar->context_of_parser);
	wh_forms_free(&grammar->forms);
	*grammar = (struct wh_grammar){0};
}

static bool is_open(const char *line)
{
	ssize_t bytes;
	char none;

	do {
		line += wh_word_blanks(line);
		bytes = wh_word_take(line, &none, 1);
		line += bytes > 0 ? bytes : 0;
	} while (bytes > 0);
	return bytes < 0;
}

/* What could stand where the line is wrong, each word once: "jobs, ports or JOB". */
struct expected {
	uint32_t matched; /* words before that place */
	const char *rest; /* the line from there on */
	uint32_t count;
	char word[EXPECTED_MAX][WH_FORM_WORD_BYTES];
};

static void expect(struct expected *expected, const struct wh_form_word *word)
{
	const struct wh_form form = {.words = 1, .word = {*word}};
	char text[WH_FORM_WORD_BYTES];

	wh_form_print(&form, text, sizeof(text));
	for (uint32_t i = 0; i < expected->count; i++)
		if (strcmp(expected->word[i], text) == 0)
			return;
	if (expected->count < EXPECTED_MAX)
		strcpy(expected->word[expected->count++], text);
}

/* How many of the form's words the line begins with; *next: the first that it does not have. */
static uint32_t match(
	const struct wh_form *form, const char **rest, const struct wh_form_word **next)
{
	uint32_t matched = 0;

	*next = NULL;
	for (uint32_t i = 0; i < form->words; i++) {
		const struct wh_form_word *word = &form->word[i];
		const char *at = *rest + wh_word_blanks(*rest);
		int bytes;

		if (word->kind == WH_FORM_UNSAID)
			continue;
		bytes = word->rest ? parse_rest(word, at) : parse_word(word, at);
		if (bytes < 0 && word->rest) /* skip its valid words */
			for (int one; (one = parse_word(word, at)) > 0; at += wh_word_blanks(at))
				*rest = at += one;
		if (bytes < 0) {
			*next = word;
			break;
		}
		*rest = at + bytes;
		matched++;
	}
	return matched;
}

/* Finds how far the line agrees with a form at most, and the words that forms have there. */
static void look_where(
	const struct wh_grammar *grammar, const char *line, struct expected *expected)
{
	*expected = (struct expected){.rest = line};
	for (uint32_t i = 0; i < grammar->forms.count; i++) {
		const struct wh_form_word *next;
		const char *rest = line;
		uint32_t matched = match(&grammar->forms.form[i], &rest, &next);

		if (matched < expected->matched)
			continue;
		if (matched > expected->matched)
			*expected = (struct expected){.matched = matched, .rest = rest};
		if (next != NULL)
			expect(expected, next);
	}
}

static void list_expected(const struct expected *expected, char *text, size_t room)
{
	text[0] = '\0';
	for (uint32_t i = 0; i < expected->count; i++)
		wh_text_add(
			text, room, i + 1 == expected->count ? " or " : ", ", expected->word[i]);
}

/* Names the word that is unknown or missing, and what could stand there. */
static void complain(const struct wh_grammar *grammar, const char *line)
{
	struct expected expected;
	char word[WH_FORM_WORD_BYTES] = "";
	char hint[WH_NEAREST_TEXT_BYTES];
	char known[1024];
	char must[sizeof(known) + 8];
	struct wh_nearest nearest = {.typed = word};
	int before;

	if (is_open(line)) {
		wh_complain("a quote is not closed");
		return;
	}
	look_where(grammar, line, &expected);
	(void)wh_word_take(expected.rest + wh_word_blanks(expected.rest), word, sizeof(word));
	for (uint32_t i = 0; i < expected.count; i++)
		wh_nearest_try(&nearest, expected.word[i]);
	line += wh_word_blanks(line);
	before = (int)(expected.rest > line ? expected.rest - line : 0);
	list_expected(&expected, known, sizeof(known));
	snprintf(must, sizeof(must), "%s can", known);
	if (expected.matched == 0)
		wh_complain("there is no command '%s'; %s", word,
			wh_nearest_text(&nearest, "", "help lists them", hint));
	else if (word[0] == '\0')
		wh_complain("'%.*s' is not complete: %s must follow", before, line, known);
	else if (expected.count == 0)
		wh_complain("'%s' cannot follow '%.*s'; nothing can", word, before, line);
	else
		wh_complain("'%s' cannot follow '%.*s'; %s", word, before, line,
			wh_nearest_text(&nearest, "", must, hint));
}

int wh_grammar_run(struct wh_grammar *grammar, const char *line)
{
	char *whole;
	int rc;

	WH_ASSERT(strchr(line, '\n') == NULL);
	if (strlen(line) > LINE_BYTES || asprintf(&whole, "%s\n", line) < 0)
		return wh_fail(WH_EXIT_USAGE, "a command has %u bytes at most", LINE_BYTES);
	grammar->status = WH_EXIT_OK;
	rc = cmdline_parse(grammar->parser, whole);
	free(whole);
	if (rc >= 0)
		return grammar->status;
	complain(grammar, line);
	return WH_EXIT_USAGE;
}
