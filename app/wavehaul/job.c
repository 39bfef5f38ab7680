/* SPDX-License-Identifier: BSD-3-Clause */

/* `wavehaul job`: asks the server of this host about its queue. */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/units.h"
#include "cli/address_text.h"
#include "cli/complain.h"
#include "cli/exit.h"
#include "cli/json.h"
#include "cli/nearest/nearest.h"
#include "console/console_steer.h"
#include "console/console_words.h"
#include "console/shown.h"
#include "control/control_ask.h"
#include "queue/timetable.h"
#include "queue/when.h"
#include "transfer/hand.h"
#include "transfer/order_words.h"
#include "verbs.h"

struct job {
	struct wh_settings settings;
	struct wh_steer steer;
	const char *word;
	char **words; /* operands after the command */
	uint32_t n_words;
};

static json_t *request(const char *command)
{
	return json_pack("{s:s}", "do", command);
}

static bool take_number(const char *text, json_t *into, const char *key)
{
	uint64_t number;

	if (wh_parse_count(text, &number) != 0 || number == 0 || number > INT64_MAX)
		return wh_fail(
			false, "'%s' is no job; `wavehaul job list` has their numbers", text);
	json_object_set_new(into, key, json_integer((json_int_t)number));
	return true;
}

/* The answer to a successful request, which it frees; else *status, after a complaint. */
static json_t *ask(struct job *job, json_t *asked, int *status)
{
	json_t *answer = wh_steer_ask(&job->steer, asked, status);

	json_decref(asked);
	return answer;
}

static int print_answer(const struct job *job, json_t *answer, const char *text)
{
	if (job->settings.json)
		wh_json_print(answer, JSON_INDENT(2));
	else {
		printf("%s", text);
		json_decref(answer);
	}
	return WH_EXIT_OK;
}

/* Adds the order's settings of the queue, beside those of the transfer. */
static int add_queue_words(const struct wh_settings *settings, json_t *order)
{
	struct wh_timetable table;
	const char *wrong = wh_timetable_parse(settings->timetable, &table);
	int64_t due_s = 0;

	if (wrong != NULL)
		return wh_fail(WH_EXIT_USAGE, "--rate '%s' %s", settings->timetable, wrong);
	if (settings->not_before[0] != '\0' &&
		!wh_when_parse(settings->not_before, time(NULL), &due_s))
		return wh_fail(WH_EXIT_USAGE,
			"--not-before '%s' is no time; write 22:00, 'Thu 08:00', "
			"'2026-11-30 22:00' or 90m",
			settings->not_before);
	json_object_set_new(order, "rate", json_string(settings->timetable));
	json_object_set_new(order, "priority", json_integer(settings->priority));
	json_object_set_new(order, "retries", json_integer(settings->retries));
	json_object_set_new(order, "not_before", json_integer(due_s));
	if (settings->after > 0)
		json_object_set_new(order, "after", json_integer(settings->after));
	return WH_EXIT_OK;
}

/*
 * A request job.add for an order between two other hosts, HOST:PATH... THIRD:PATH, with HOST's
 * paths relative to its root. NULL after a complaint.
 */
static json_t *copy_request(const struct job *job)
{
	char host[WH_HOST_BYTES] = "";
	char third[WH_HOST_BYTES] = "";
	json_auto_t *here = json_array();
	json_auto_t *there = json_array();
	json_t *words;

	if (job->n_words < 3) {
		wh_complain("copy wants HOST:PATH... THIRD:PATH; `wavehaul job --help` explains");
		return NULL;
	}
	if (job->settings.files_from[0] != '\0') {
		wh_complain("--files-from names paths of this host, and copy has none");
		return NULL;
	}
	for (uint32_t i = 1; i + 1 < job->n_words; i++) {
		const char *path = wh_remote_path(job->words[i], host);

		if (path == NULL)
			return NULL;
		path += strspn(path, "/");
		if (!wh_list_add(here, json_string(path[0] != '\0' ? path : "."), path))
			return NULL;
	}
	if (wh_remote_path(job->words[job->n_words - 1], third) == NULL ||
		!wh_list_add(there, json_string(job->words[job->n_words - 1]),
			job->words[job->n_words - 1]))
		return NULL;
	words = wh_order_words(&job->settings, "/");
	if (words == NULL)
		return NULL;
	return json_pack("{s:s, s:s, s:o, s:O, s:O, s:o}", "do", "job.add", "verb", "copy", "host",
		wh_word_to_json(host), "here", here, "there", there, "options", words);
}

static int read_wanted(struct job *job, struct wh_wanted *wanted)
{
	const char *verb = job->n_words > 0 ? job->words[0] : "";

	wanted->settings = job->settings;
	wanted->dest_fd = -1;
	wanted->verb = strcmp(verb, "send") == 0 ? WH_VERB_SEND : WH_VERB_GET;
	if (wanted->verb == WH_VERB_GET && strcmp(verb, "get") != 0)
		return wh_fail(
			WH_EXIT_USAGE, "`wavehaul job add` wants send, get or copy behind it");
	wanted->settings.operands = job->words + 1;
	wanted->settings.operand_count = (int)job->n_words - 1;

	int status = wh_transfer_read_words(wanted);

	if (status == 0 && wanted->is_piped)
		return wh_fail(WH_EXIT_USAGE, "a queue takes no pipe: name a file instead of -");
	return status;
}

static bool copies(const struct job *job)
{
	return job->n_words > 0 && strcmp(job->words[0], "copy") == 0;
}

/* In the server's format: paths below its root. NULL: *status. */
static json_t *order_of(struct job *job, struct wh_wanted *wanted, int *status)
{
	json_auto_t *server = NULL;
	json_t *order = NULL;

	if (copies(job)) {
		order = copy_request(job);
	} else {
		*status = read_wanted(job, wanted);
		if (*status == 0)
			server = ask(job, request("status"), status);
		if (server != NULL)
			order = wh_order_request(wanted, wh_json_text(server, "root"));
	}
	if (*status == WH_EXIT_OK && order == NULL)
		*status = WH_EXIT_USAGE;
	return order;
}

static int add(struct job *job)
{
	struct wh_wanted *wanted = calloc(1, sizeof(*wanted));
	json_t *order = NULL;
	json_t *answer = NULL;
	char text[64];
	int status = wanted != NULL ? WH_EXIT_OK : WH_EXIT_OTHER;

	if (wanted != NULL)
		order = order_of(job, wanted, &status);
	if (status == 0)
		status = add_queue_words(&job->settings, order);
	if (status == 0)
		answer = ask(job, json_incref(order), &status);
	json_decref(order);
	if (wanted != NULL)
		wh_transfer_free_operands(wanted);
	free(wanted);
	if (answer == NULL)
		return status;
	snprintf(text, sizeof(text), "job %" PRIu64 "\n", wh_json_count(answer, "job"));
	return print_answer(job, answer, text);
}

/* As JSON, or as the console shows it. */
static void show_answer(const struct job *job, const char *command, json_t *answer)
{
	bool shows = strcmp(command, "job.show") == 0;

	if (job->settings.json)
		wh_json_print(json_incref(shows ? json_object_get(answer, "job") : answer),
			JSON_INDENT(2));
	else
		wh_answer_show(command, answer, NULL, 0, (struct wh_shown_room){0}, stdout);
}

static void show_list(const struct job *job, json_t *jobs, json_t *counts)
{
	json_auto_t *answer = json_pack("{s:O, s:O}", "jobs", jobs, "counts", counts);

	if (job->settings.json || json_array_size(jobs) > 0)
		show_answer(job, "job.list", answer);
	else
		printf("no jobs%s\n",
			job->settings.all ? ""
					  : " in the queue; --all lists those that are over, too");
}

/* Fetches the list page by page, until a page is empty. */
static int list(struct job *job)
{
	json_auto_t *all = json_array();
	json_int_t from = 0;
	int status;

	for (;;) {
		json_auto_t *page = ask(job,
			json_pack("{s:s, s:I, s:b}", "do", "job.list", "from", from, "all",
				job->settings.all),
			&status);
		json_t *jobs = json_object_get(page, "jobs");
		size_t count = json_array_size(jobs);

		if (page == NULL)
			return status;
		json_array_extend(all, jobs);
		if (count == 0) {
			show_list(job, all, json_object_get(page, "counts"));
			return WH_EXIT_OK;
		}
		from = json_integer_value(json_object_get(json_array_get(jobs, count - 1), "job"));
	}
}

static int print_plain(void *context, const struct wh_saying *said)
{
	struct job *job = context;
	int status;
	json_auto_t *answer = wh_steer_ask(&job->steer, said->request, &status);

	if (answer != NULL && (job->settings.json || strcmp(said->form->command, "job.show") == 0))
		show_answer(job, said->form->command, answer);
	return status;
}

/* Other subcommands are passed on as commands of the console. */
static int say(struct job *job)
{
	char line[2 * WH_SETTINGS_TEXT_BYTES] = "job";
	char priority[16];
	size_t length = strlen(line);
	int rc = wh_word_add(line, sizeof(line), &length, job->word);
	int status;

	for (uint32_t i = 0; rc == 0 && i < job->n_words; i++)
		rc = wh_word_add(line, sizeof(line), &length, job->words[i]);
	snprintf(priority, sizeof(priority), "%u", job->settings.priority);
	if (rc == 0 && wh_settings_given(&job->settings, WH_VERB_JOB, "priority") &&
		wh_word_add(line, sizeof(line), &length, "priority") == 0)
		rc = wh_word_add(line, sizeof(line), &length, priority);
	if (rc != 0)
		return wh_fail(WH_EXIT_USAGE, "that is too much for one command");
	job->steer.on_saying = print_plain;
	job->steer.context = job;
	status = wh_steer_open(&job->steer, &job->settings);
	if (status == WH_EXIT_OK)
		status = wh_steer_run(&job->steer, line);
	return status;
}

static int watch(struct job *job)
{
	json_auto_t *asked = request("watch");
	json_t *event;
	int status;

	if (job->n_words > 1 || (job->n_words == 1 && !take_number(job->words[0], asked, "job")))
		return WH_EXIT_USAGE;
	event = ask(job, json_incref(asked), &status);
	json_decref(event);
	if (status != WH_EXIT_OK)
		return status;
	while ((event = wh_asker_next(&job->steer.asker, -1)) != NULL) {
		wh_json_print(event, JSON_COMPACT);
		fflush(stdout);
	}
	return wh_fail(WH_EXIT_NETWORK, "the server is gone");
}

static const struct command {
	const char *word;
	int (*run)(struct job *job);
	const char *option; /* beside --json and --control */
} commands[] = {
	{"add", add, NULL},
	{"list", list, "all"},
	{"show", say, NULL},
	{"pause", say, NULL},
	{"resume", say, NULL},
	{"cancel", say, NULL},
	{"retry", say, NULL},
	{"set", say, NULL},
	{"move", say, "priority"},
	{"watch", watch, NULL},
};

/* Options that the command would ignore; `add` has them all. */
static int check_options(const struct job *job, const struct command *command)
{
	const char *const allowed[] = {"json", "control", "config", command->option, NULL};
	const char *idle =
		command->run == add ? NULL : wh_settings_given_beside(&job->settings, allowed);

	return idle == NULL ? -1
			    : wh_fail(WH_EXIT_USAGE, "--%s is no option of `wavehaul job %s`", idle,
				      command->word);
}

static int run(struct job *job)
{
	struct wh_nearest nearest = {.typed = job->word};
	char text[WH_NEAREST_TEXT_BYTES];

	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		wh_nearest_try(&nearest, commands[i].word);
		if (strcmp(commands[i].word, job->word) == 0) {
			int status = check_options(job, &commands[i]);

			return status == -1 ? commands[i].run(job) : status;
		}
	}
	return wh_fail(WH_EXIT_USAGE,
		"`wavehaul job` wants add, list, show, pause, resume, cancel, retry, set, move or "
		"watch; %s",
		wh_nearest_text(&nearest, "", "`wavehaul job --help` explains", text));
}

int wh_verb_job(int argc, char **argv)
{
	struct job *job = calloc(1, sizeof(*job));
	int status;

	if (job == NULL)
		return WH_EXIT_OTHER;
	job->steer.settings = &job->settings;
	job->steer.asker.fd = -1;
	status = wh_settings_read(&job->settings, WH_VERB_JOB, argc, argv);
	if (status == -1) {
		bool some = job->settings.operand_count > 0;

		job->word = some ? job->settings.operands[0] : "";
		job->words = job->settings.operands + some;
		job->n_words = (uint32_t)(job->settings.operand_count - some);
		status = run(job);
	}
	wh_steer_close(&job->steer);
	free(job);
	return status;
}
