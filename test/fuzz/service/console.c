/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Fuzz target: the console's words, and orders to the queue. A first byte says what the others are:
 * a line as somebody types it, by the grammar that the queue's own commands spell; an order as a
 * line of the control socket; or a command as a server of another version describes it. What a line
 * asks for is heard by the queue, whose rows are real, and gets an answer.
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/prng.h"
#include "cli/exit.h"
#include "console/console_words.h"
#include "console/grammar.h"
#include "console/shown.h"
#include "fuzz.h"
#include "journal/database.h"
#include "queue/runner.h"

enum kind {
	LINE,
	ORDER,
	FORM,
	KINDS,
};

static struct wh_control_socket control;
static const struct wh_settings own_settings; /* the server's */
static struct wh_runner runner = {.control = &control, .ctx = {.settings = &own_settings}};
static struct wh_grammar grammar;
static uint64_t said, refused_lines, taken, refused, forms, no_forms;

static const char *const seeds[] = {
	"\0pause 1 2 3",
	"\0set rate 1 'weekdays 8:00-18:00 2G, else 9.5G'",
	"\0show orders all live 3",
	"\0job move 1 before 2 priority 7 # behind",
	"\1{\"do\":\"job.add\",\"verb\":\"send\",\"host\":\"10.0.0.2\",\"here\":[\"a\"],\"there\":["
	"\"b\"],"
	"\"options\":[\"--parallel=4\",\"-r\"],\"rate\":\"2G\",\"priority\":9,\"not_before\":1,"
	"\"after\":0,"
	"\"retries\":3,\"watch\":true}",
	"\1{\"do\":\"job.list\",\"all\":true}",
	"\1{\"do\":\"job.set\",\"job\":1,\"rate\":\"max\"}",
	"\2{\"name\":\"a\",\"help\":\"b\",\"words\":\"do [it <n>] {s} <t...> | c "
	"<n...>\",\"arguments\":[{"
	"\"name\":\"n\",\"type\":\"count\"},{\"name\":\"s\",\"type\":\"switch\"},{\"name\":\"t\","
	"\"type\":"
	"\"texts\"}]}",
};

/* As a client's, and as the terminal shows it. */
static json_t *ask(const char *line, size_t bytes)
{
	static char shown[1 << 16];
	struct wh_control_call call = {.uid = 1000, .administers = bytes % 2 == 0};
	json_t *answer = wh_control_answer(&control.tables, line, bytes, &call);
	FILE *to = fmemopen(shown, sizeof(shown), "w");
	long length;

	WH_ASSERT(to != NULL && json_is_boolean(json_object_get(answer, "ok")));
	wh_answer_show("job.list", answer, NULL, 1, (struct wh_shown_room){0}, to);
	length = ftell(to);
	fclose(to);
	for (long i = 0; i < length; i++)
		WH_ASSERT((shown[i] & 0xe0) != 0 || shown[i] == '\n');
	return answer;
}

static int on_saying(void *context, const struct wh_saying *saying)
{
	char *text = json_dumps(saying->request, JSON_COMPACT);
	json_t *answer;

	(void)context;
	WH_ASSERT(text != NULL);
	answer = ask(text, strlen(text));
	/* What the grammar makes of a line has the arguments of its command. */
	WH_ASSERT(json_integer_value(json_object_get(answer, "status")) != WH_EXIT_USAGE ||
		  strcmp(saying->form->command, "job.set") == 0);
	json_decref(answer);
	json_decref(saying->request);
	free(text);
	said++;
	return WH_EXIT_OK;
}

static void open_all(void)
{
	static const char list[] = "{\"do\":\"commands\"}";
	struct wh_control_call call = {.uid = 0};
	json_t *answer;
	json_t *commands;

	for (uint32_t i = 0; i < WH_CONTROL_CLIENTS_MAX; i++)
		control.client[i].fd = -1;
	WH_ASSERT(sqlite3_open(":memory:", &runner.database) == SQLITE_OK);
	WH_ASSERT(
		wh_database_run(runner.database, "CREATE TABLE room(name TEXT PRIMARY KEY, version "
						 "INTEGER NOT NULL) WITHOUT ROWID") == 0);
	WH_ASSERT(wh_queue_open(&runner.queue, runner.database, 1000000) == 0);
	wh_runner_add(&control.tables, &runner);
	answer = wh_control_answer(&control.tables, list, sizeof(list) - 1, &call);
	commands = json_object_get(answer, "commands");
	for (size_t i = 0; i < json_array_size(commands); i++)
		WH_ASSERT(wh_forms_add(&grammar.forms, json_array_get(commands, i)));
	json_decref(answer);
	grammar.on_saying = on_saying;
	WH_ASSERT(wh_grammar_make(&grammar) == 0);
}

/* Up to its first NUL or end, as lines are read. */
static void run_line(const char *text)
{
	size_t bytes = wh_command_bytes(text);
	char *line = strndup(text, bytes);

	WH_ASSERT(line != NULL);
	refused_lines += wh_grammar_run(&grammar, line) != WH_EXIT_OK;
	free(line);
}

static void run_order(const char *text, size_t bytes)
{
	static uint64_t orders;
	json_t *answer = ask(text, bytes);
	bool ok = json_is_true(json_object_get(answer, "ok"));

	WH_ASSERT(ok || json_object_get(answer, "error") != NULL);
	taken += ok;
	refused += !ok;
	json_decref(answer);
	if (++orders % 1024 == 0)
		WH_ASSERT(wh_database_run(runner.database, "DELETE FROM job WHERE id>2") == 0);
}

static void add_form(const char *text, size_t bytes)
{
	json_t *command = json_loadb(text, bytes, 0, NULL);
	struct wh_forms some = {0};
	char spelt[80];

	if (json_is_object(command) && wh_forms_add(&some, command))
		forms += some.count;
	else
		no_forms++;
	for (uint32_t i = 0; i < some.count; i++) {
		WH_ASSERT(some.form[i].words <= WH_FORM_WORDS_MAX);
		wh_form_print(&some.form[i], spelt, sizeof(spelt));
	}
	wh_forms_free(&some);
	json_decref(command);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	enum kind kind = length > 0 ? (enum kind)(bytes[0] % KINDS) : KINDS;
	char *text;

	if (grammar.parser == NULL)
		open_all();
	if (kind == KINDS)
		return 0;
	text = calloc(length, 1);
	WH_ASSERT(text != NULL);
	memcpy(text, bytes + 1, length - 1);
	if (kind == LINE)
		run_line(text);
	else if (kind == ORDER)
		run_order(text, length - 1);
	else
		add_form(text, length - 1);
	free(text);
	return 0;
}

size_t wh_fuzz_seed(uint32_t number, uint8_t *bytes, size_t room)
{
	if (number >= sizeof(seeds) / sizeof(seeds[0]))
		return 0;

	size_t length = 1 + strlen(seeds[number] + 1);

	WH_ASSERT(length <= room);
	memcpy(bytes, seeds[number], length);
	return length;
}

static size_t add(uint8_t *bytes, size_t room, size_t used, const char *text)
{
	size_t chars = strlen(text);

	if (used + chars > room)
		return used;
	memcpy(bytes + used, text, chars);
	return used + chars;
}

/* Most begin as commands do, and go on with what is near to an argument. */
static size_t make_line(struct wh_prng *prng, uint8_t *bytes, size_t room)
{
	static const char *const begins[] = {"pause ", "job pause ", "resume ", "cancel ", "retry ",
		"show order ", "show orders ", "set rate 1 ", "job set 1 ", "job move 1 before ",
		"job move 1 priority ", "show orders live ", "", "job "};
	static const char *const words[] = {"1", "2", "9", "0", "all", "live", "before", "priority",
		"18446744073709551615", "9223372036854775808",
		"0000000000000000000000000000000000000001",
		"000000000000000000000000000000000000000x", "'2G'", "\"max\"", "'", "\\", "#", ";",
		"1k", "-1", "\xff", "'weekdays 8:00-18:00 2G, else 1G'", "''"};
	size_t used = add(
		bytes, room, 1, begins[wh_prng_below(prng, sizeof(begins) / sizeof(begins[0]))]);

	for (uint64_t left = wh_prng_below(prng, 4); left > 0; left--) {
		used = add(bytes, room, used,
			words[wh_prng_below(prng, sizeof(words) / sizeof(words[0]))]);
		used = add(bytes, room, used, wh_prng_below(prng, 8) > 0 ? " " : "\t");
	}
	return used;
}

static size_t make_order(struct wh_prng *prng, uint8_t *bytes, size_t room)
{
	static const char *const commands[] = {"add", "add", "add", "list", "show", "pause",
		"resume", "cancel", "retry", "move", "set"};
	static const char *const members[] = {",\"verb\":\"send\"", ",\"host\":\"10.0.0.2\"",
		",\"here\":[\"a\"]", ",\"there\":[\"b\"]", ",\"rate\":\"2G\"", ",\"job\":1"};
	static const char *const others[] = {",\"host\":\"\"", ",\"here\":[]",
		",\"here\":[\"../a\"]", ",\"here\":[\"\\u0001\"]", ",\"options\":[\"--help\"]",
		",\"options\":[\"--parallel=99999\"]", ",\"options\":[\"--config=/etc/shadow\"]",
		",\"options\":[\"--set\",\"lambda.share=x\"]", ",\"options\":[\"a\"]",
		",\"options\":[\"\"]", ",\"options\":[\"-\"]", ",\"options\":[\"--\"]",
		",\"options\":[\"--rate=1G\",\"--fec\",\"1,2\"]", ",\"after\":1",
		",\"after\":9223372036854775807", ",\"not_before\":9223372036854775807",
		",\"priority\":10", ",\"retries\":4294967296", ",\"attached\":true",
		",\"before\":1", ",\"job\":2", ",\"from\":1", ",\"all\":true"};
	size_t used = add(bytes, room, 1, "{\"do\":\"job.");
	uint64_t command = wh_prng_below(prng, 11);
	bool adds = command < 3;

	used = add(bytes, room, used, commands[command]);
	used = add(bytes, room, used, "\"");
	for (uint32_t i = adds ? 0 : command == 10 ? 4 : 5; i < (adds ? 5 : 6); i++)
		if (wh_prng_below(prng, 16) > 0)
			used = add(bytes, room, used, members[i]);
	if (wh_prng_below(prng, 2) == 0)
		used = add(bytes, room, used,
			others[wh_prng_below(prng, sizeof(others) / sizeof(others[0]))]);
	return add(bytes, room, used, "}");
}

static size_t make_form(struct wh_prng *prng, uint8_t *bytes, size_t room)
{
	static const char *const parts[] = {"do ", "[it ", "<n>", "<n...>", "<t...>", "<t>", "{s}",
		"] ", " | ", " ", "[", "]", "{n}", "<>", "<...>", "s", "<x>"};
	size_t used = add(bytes, room, 1, "{\"name\":\"a\",\"words\":\"");

	for (uint64_t left = 1 + wh_prng_below(prng, 12); left > 0; left--)
		used = add(bytes, room, used,
			parts[wh_prng_below(prng, sizeof(parts) / sizeof(parts[0]))]);
	return add(bytes, room, used,
		"\",\"arguments\":[{\"name\":\"n\",\"type\":\"count\"},{\"name\":\"s\",\"type\":"
		"\"switch\"},"
		"{\"name\":\"t\",\"type\":\"texts\"}]}");
}

size_t wh_fuzz_make(struct wh_prng *prng, uint8_t *bytes, size_t room)
{
	bytes[0] = (uint8_t)wh_prng_below(prng, KINDS);
	if (bytes[0] == LINE)
		return make_line(prng, bytes, room);
	return bytes[0] == ORDER ? make_order(prng, bytes, room) : make_form(prng, bytes, room);
}

void wh_fuzz_report(void)
{
	printf("%" PRIu64 " requests of lines, %" PRIu64 " lines refused; %" PRIu64
	       " orders taken, %" PRIu64 " refused; %" PRIu64 " forms, %" PRIu64 " none\n",
		said, refused_lines, taken, refused, forms, no_forms);
}
