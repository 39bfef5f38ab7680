/* SPDX-License-Identifier: BSD-3-Clause */

/* `wavehaul console`: commands to the server of this host. */

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "cli/complain.h"
#include "cli/exit.h"
#include "cli/json.h"
#include "cli/moment/system_clock.h"
#include "cli/signals.h"
#include "console/console_steer.h"
#include "console/console_words.h"
#include "console/editor.h"
#include "console/grammar.h"
#include "console/shown.h"
#include "verbs.h"

#define PROMPT "wavehaul> "

/* Interval of a live table's updates. */
#define LIVE_MS 1000

/* The most read from standard input at once; a script's last line need not end with a newline. */
#define SCRIPT_BYTES (UINT32_C(1) << 20)

struct console {
	struct wh_settings settings;
	struct wh_steer steer;
	struct wh_editor editor;
	bool terminal; /* interactive */
	bool quits;
	struct termios as_found;
};

static struct wh_shown_room room_of_terminal(void)
{
	struct winsize size = {0};

	if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0)
		return (struct wh_shown_room){0};
	return (struct wh_shown_room){.lines = size.ws_row, .columns = size.ws_col};
}

/* In raw mode each key is read at once, including Ctrl-C. */
static void cook(const struct console *console, bool cooked)
{
	struct termios raw = console->as_found;

	if (!console->terminal)
		return;
	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO | ISIG);
	tcsetattr(STDIN_FILENO, TCSADRAIN, cooked ? &console->as_found : &raw);
}

/* Whether a key was pressed within that time, which is consumed; or the end is requested. */
static bool is_interrupted(const struct console *console, int patience_ms)
{
	struct pollfd polled = {.fd = console->terminal ? STDIN_FILENO : -1, .events = POLLIN};
	char key[64];

	if (poll(&polled, 1, patience_ms) <= 0)
		return wh_signals_count() > 0;
	(void)!read(STDIN_FILENO, key, sizeof(key));
	return true;
}

static void show(struct console *console, const struct wh_saying *said, json_t *answer,
	const json_t *before, double seconds)
{
	struct wh_shown_room room = {0};

	if (console->settings.json) {
		wh_json_print(json_incref(answer), JSON_COMPACT);
		return;
	}
	if (said->live && isatty(STDOUT_FILENO)) {
		room = room_of_terminal();
		fputs("\x1b[H\x1b[2J", stdout);
	}
	wh_answer_show(said->form->command, answer, before, seconds, room, stdout);
	fflush(stdout);
}

/* Shows a table repeatedly, with rates, until a key is pressed or the given number of times. */
static int show_live(struct console *console, const struct wh_saying *said)
{
	json_t *before = NULL;
	double before_s = 0;
	int status = WH_EXIT_OK;

	if (said->times == 0 && !console->terminal && !isatty(STDOUT_FILENO))
		return wh_fail(WH_EXIT_USAGE,
			"without a terminal `live` wants a number of times behind it");
	for (uint64_t i = 0; status == WH_EXIT_OK && (said->times == 0 || i < said->times); i++) {
		json_t *answer = wh_steer_ask(&console->steer, said->request, &status);
		double asked_s = (double)wh_steady_ns() / WH_NS_PER_S;

		if (answer != NULL)
			show(console, said, answer, before, asked_s - before_s);
		json_decref(before);
		before = answer;
		before_s = asked_s;
		if (i + 1 != said->times && is_interrupted(console, LIVE_MS))
			break;
	}
	json_decref(before);
	return status;
}

static int on_saying(void *context, const struct wh_saying *said)
{
	struct console *console = context;
	json_t *answer;
	int status;

	if (said->live)
		return show_live(console, said);
	answer = wh_steer_ask(&console->steer, said->request, &status);
	if (answer != NULL)
		show(console, said, answer, NULL, 0);
	json_decref(answer);
	return status;
}

static void print_event(void *context, json_t *event)
{
	(void)context;
	wh_json_print(event, JSON_COMPACT);
}

/* Runs several lines in turn, until one fails. */
static int run_script(struct console *console, const char *text)
{
	int status = WH_EXIT_OK;
	char *line;

	while (status == WH_EXIT_OK && !console->quits && *text != '\0') {
		size_t bytes = wh_command_bytes(text);

		line = strndup(text, bytes);
		if (line == NULL)
			return WH_EXIT_OTHER;
		status = wh_steer_run(&console->steer, line);
		free(line);
		text += bytes + (text[bytes] != '\0');
		if (wh_signals_count() > 0)
			return WH_EXIT_INTERRUPTED;
	}
	return status;
}

/* Reads line by line, so that a script may wait for the answer to an earlier one. */
static int run_input(struct console *console)
{
	char *line = NULL;
	size_t room = 0;
	int status = WH_EXIT_OK;
	ssize_t bytes;

	while (status == WH_EXIT_OK && !console->quits &&
		(bytes = getline(&line, &room, stdin)) > 0) {
		if (bytes > (ssize_t)SCRIPT_BYTES || strlen(line) != (size_t)bytes) {
			wh_complain("a line is too long, or no text");
			status = WH_EXIT_USAGE;
		} else {
			status = run_script(console, line);
		}
	}
	free(line);
	return status;
}

/* False: the terminal was closed. */
static bool take_keys(struct console *console)
{
	char keys[256];
	ssize_t bytes = read(STDIN_FILENO, keys, sizeof(keys));

	if (bytes <= 0)
		return bytes < 0 && errno == EINTR;
	/* One by one: keys after a live command are for the next command. */
	for (ssize_t i = 0; i < bytes && !console->quits; i++)
		if (!wh_editor_key(&console->editor, keys[i]))
			return false;
	return !console->quits;
}

static void interact(struct console *console)
{
	struct pollfd polled[2] = {{.fd = STDIN_FILENO, .events = POLLIN}, {.events = POLLIN}};
	bool there = true;

	while (there && wh_signals_count() == 0) {
		polled[1].fd = console->steer.asker.fd;
		if (poll(polled, 2, -1) < 0)
			continue;
		if (polled[1].fd >= 0 && polled[1].revents != 0)
			wh_steer_hear(&console->steer);
		if (polled[0].revents != 0)
			there = take_keys(console);
	}
	printf("\n");
}

static int run(struct console *console)
{
	const char *commands = console->settings.commands;
	int status;

	console->terminal = commands[0] == '\0' && isatty(STDIN_FILENO) &&
			    tcgetattr(STDIN_FILENO, &console->as_found) == 0;
	console->steer.on_saying = on_saying;
	console->steer.on_event = print_event;
	console->steer.quits = &console->quits;
	console->steer.context = console;
	status = wh_steer_open(&console->steer, &console->settings);
	if (status != WH_EXIT_OK)
		return status;
	if (commands[0] != '\0')
		return run_script(console, commands);
	if (!console->terminal)
		return run_input(console);
	wh_signals_catch();
	cook(console, false);
	if (wh_editor_open(&console->editor, &console->steer.grammar, PROMPT) == 0)
		interact(console);
	else
		status = WH_EXIT_OTHER;
	cook(console, true);
	wh_editor_close(&console->editor);
	return status;
}

int wh_verb_console(int argc, char **argv)
{
	struct console *console = calloc(1, sizeof(*console));
	int status;

	if (console == NULL)
		return WH_EXIT_OTHER;
	status = wh_settings_read(&console->settings, WH_VERB_CONSOLE, argc, argv);
	if (status == -1 && console->settings.operand_count > 0) {
		wh_complain("'%s' is no option of console; -c 'COMMANDS' runs some",
			console->settings.operands[0]);
		status = WH_EXIT_USAGE;
	}
	if (status == -1)
		status = run(console);
	wh_steer_close(&console->steer);
	free(console);
	return status;
}
