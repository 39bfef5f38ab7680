/* SPDX-License-Identifier: BSD-3-Clause */
#define ALLOW_EXPERIMENTAL_API /* rdline_new, since DPDK 21.11 */

#include "console/editor.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <cmdline_parse.h>
#include <cmdline_rdline.h>

#define COLUMNS     78
#define CHOICES_MAX 256
#define TEXT_BYTES  64

/* What DPDK's editor takes, and more. */
#define LINE_BYTES 1024

#define CTRL(letter) ((letter)&0x1f)

/* Answers of cmdline_complete. */
#define CHOICE 1

struct choices {
	uint32_t count;
	char text[CHOICES_MAX][TEXT_BYTES];
};

static int put(struct rdline *line, char c)
{
	(void)line;
	return putchar(c) == EOF ? -1 : 0;
}

static struct wh_editor *editor_of(struct rdline *line)
{
	return rdline_get_opaque(line);
}

static void run(struct rdline *line, const char *text, unsigned int bytes)
{
	char command[LINE_BYTES];

	(void)bytes;
	snprintf(command, sizeof(command), "%s", text);
	command[strcspn(command, "\r\n")] = '\0';
	fflush(stdout);
	(void)wh_grammar_run(editor_of(line)->grammar, command);
}

/* "word [word]: help", "[WORD]: help" or "[RETURN]": what can be typed, without the help. */
static void add(struct choices *choices, const char *told)
{
	bool named = told[0] != '[';
	const char *text = named ? told : told + 1;
	size_t bytes = strcspn(text, named ? " [" : "]");
	char *into = choices->text[choices->count];

	if (strncmp(told, "[RETURN]", 8) == 0) {
		text = "Enter";
		bytes = strlen(text);
	}
	if (choices->count == CHOICES_MAX || bytes == 0 || bytes >= TEXT_BYTES)
		return;
	memcpy(into, text, bytes);
	into[bytes] = '\0';
	for (uint32_t i = 0; i < choices->count; i++)
		if (strcmp(choices->text[i], into) == 0)
			return;
	choices->count++;
}

static void print(const struct choices *choices)
{
	size_t used = 0;

	for (uint32_t i = 0; i < choices->count; i++) {
		size_t bytes = strlen(choices->text[i]) + 2;

		if (used == 0 || used + bytes > COLUMNS) {
			printf("\r\n");
			used = 0;
		}
		printf("%s  ", choices->text[i]);
		used += bytes;
	}
	printf("\r\n");
}

/* Completes what is certain, else lists the words that are possible. '?' explains each. */
static int complete(
	struct rdline *line, const char *text, char *into, unsigned int room, int *state)
{
	static struct choices choices;
	struct wh_editor *editor = editor_of(line);
	struct cmdline *parser = editor->grammar->parser;
	int rc;

	if (*state <= 0)
		editor->explains = *state < 0;
	rc = cmdline_complete(parser, text, state, into, room);
	if (editor->explains || rc != CHOICE)
		return rc;
	choices.count = 0;
	for (; rc == CHOICE; rc = cmdline_complete(parser, text, state, into, room))
		add(&choices, into);
	print(&choices);
	rdline_redisplay(line);
	return 0;
}

int wh_editor_open(struct wh_editor *editor, struct wh_grammar *grammar, const char *prompt)
{
	*editor = (struct wh_editor){.grammar = grammar, .prompt = prompt};
	editor->line = rdline_new(put, run, complete, editor);
	if (editor->line == NULL)
		return -ENOMEM;
	rdline_newline(editor->line, prompt);
	fflush(stdout);
	return 0;
}

void wh_editor_close(struct wh_editor *editor)
{
	rdline_free(editor->line);
	editor->line = NULL;
}

/* Empty lines, and the same line again, are not worth remembering. */
static void remember(struct rdline *line)
{
	char text[LINE_BYTES];
	const char *last = rdline_get_history_item(line, 0);

	snprintf(text, sizeof(text), "%s", rdline_get_buffer(line));
	text[strcspn(text, "\r\n")] = '\0';
	if (text[strspn(text, " \t")] != '\0' && (last == NULL || strcmp(last, text) != 0))
		(void)rdline_add_history(line, text);
}

static bool take(struct wh_editor *editor, char key)
{
	int rc = rdline_char_in(editor->line, key);

	if (rc == RDLINE_RES_EOF || rc == RDLINE_RES_EXITED)
		return false;
	if (rc == RDLINE_RES_VALIDATED) {
		remember(editor->line);
		rdline_newline(editor->line, editor->prompt);
	}
	return true;
}

/* Ctrl-U, which DPDK's editor lacks, is Ctrl-A and Ctrl-K. */
bool wh_editor_key(struct wh_editor *editor, char key)
{
	bool goes_on = key == CTRL('U') ? take(editor, CTRL('A')) && take(editor, CTRL('K'))
					: take(editor, key);

	fflush(stdout);
	return goes_on;
}
