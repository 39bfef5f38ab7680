/* SPDX-License-Identifier: BSD-3-Clause */
#include "fleet/relay.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/units.h"
#include "cli/child/child.h"
#include "cli/complain.h"
#include "cli/exit.h"
#include "cli/json.h"
#include "cli/moment/system_clock.h"
#include "fleet/pieces.h"
#include "session/session.h"

/* An order has room for 1 MiB and 16384 names (wavehaul-job(1)), and a command for 2 MiB. */
#define ORDER_NAMES 15000
#define ORDER_CHARS 700000

static volatile sig_atomic_t is_cancelled;

static void note_cancel(int signal)
{
	(void)signal;
	is_cancelled = 1;
}

/* What a command prints, as JSON; NULL: nothing, or it is none. */
static json_t *run_json(char *const *command, int *status)
{
	struct wh_child child;
	json_t *told = NULL;
	FILE *from;
	int error = wh_child_start(&child, command, true);

	*status = WH_EXIT_OTHER;
	if (error != 0) {
		(void)wh_fail(-1, "cannot run `wavehaul job`: %s", strerror(error));
		return NULL;
	}
	from = fdopen(child.from_fd, "r");
	if (from != NULL) {
		told = json_loadf(from, 0, NULL);
		fclose(from);
		child.from_fd = -1;
	}
	*status = wh_child_wait(&child);
	return told;
}

/* An option of the order that begins so; NULL: none. */
static const char *find_option(const struct wh_relay *relay, const char *begins)
{
	const json_t *options = json_object_get(relay->plan->json, "order");

	for (size_t i = 0; i < json_array_size(options); i++) {
		const char *option = json_string_value(json_array_get(options, i));

		if (strncmp(option, begins, strlen(begins)) == 0)
			return option;
	}
	return NULL;
}

/* `wavehaul job WORD NUMBER --json`, at the same server. */
static json_t *ask(const struct wh_relay *relay, const char *word, uint64_t job, int *status)
{
	char number[24];
	char *command[8] = {relay->own, (char[]){"job"}, (char *)word, number, (char[]){"--json"},
		(char *)find_option(relay, "--control=")};

	snprintf(number, sizeof(number), "%" PRIu64, job);
	return run_json(command, status);
}

/* The names of a list behind each other; the caller frees the text. NULL after a complaint. */
static char *read_names(const char *list, size_t *bytes)
{
	FILE *file = fopen(list, "re");
	char *text = malloc(2 * ORDER_CHARS);

	if (file != NULL && text != NULL)
		*bytes = fread(text, 1, 2 * ORDER_CHARS, file);
	if (file != NULL)
		fclose(file);
	if (file != NULL && text != NULL && *bytes > 0 && text[*bytes - 1] == '\0')
		return text;
	free(text);
	(void)wh_fail(-1, "cannot read %s", list);
	return NULL;
}

/* The words of the order; they point to others. NULL: no memory. */
static char **command_of(
	const struct wh_relay *relay, char *names, size_t bytes, char *target, char *const fixed[7])
{
	const json_t *options = json_object_get(relay->plan->json, "order");
	char **words = calloc(ORDER_NAMES + json_array_size(options) + 8, sizeof(words[0]));
	size_t count = 0;

	for (; words != NULL && fixed[count] != NULL; count++)
		words[count] = fixed[count];
	for (size_t i = 0; words != NULL && i < json_array_size(options); i++)
		words[count++] = (char *)json_string_value(json_array_get(options, i));
	for (char *name = names; words != NULL && name < names + bytes; name += strlen(name) + 1)
		words[count++] = name;
	if (words != NULL)
		words[count] = target;
	return words;
}

/* The number of the order's job; 0 after a complaint. */
static uint64_t give_order(const struct wh_relay *relay, const char *list, int *status)
{
	char *const fixed[7] = {relay->own, (char[]){"job"}, (char[]){"add"}, (char[]){"copy"},
		(char[]){"-rR"}, (char[]){"--json"}};
	size_t bytes = 0;
	char *target = NULL, **words = NULL;
	char *names = read_names(list, &bytes);
	json_t *told = NULL;
	uint64_t job;

	*status = WH_EXIT_OTHER;
	if (names != NULL &&
		asprintf(&target, "%s:%s/", relay->to,
			wh_json_text(wh_plan_target(relay->plan, relay->shard), "path")) >= 0)
		words = command_of(relay, names, bytes, target, fixed);
	if (words != NULL)
		told = run_json(words, status);
	job = wh_json_count(told, "job");
	json_decref(told);
	free(words);
	free(target);
	free(names);
	return job;
}

static json_t *end_of(const json_t *row)
{
	static const char *const kept[] = {
		"error", "files", "skipped", "failed", "bytes", "moved_bytes", "seconds"};
	json_t *end = json_object();

	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
		json_object_set(end, kept[i], json_object_get(row, kept[i]));
	return end;
}

void wh_end_add(json_t *end, const json_t *before)
{
	static const char *const sums[] = {
		"files", "skipped", "failed", "bytes", "moved_bytes", "resumed_bytes"};
	const json_t *error = json_object_get(before, "error");

	for (size_t i = 0; i < sizeof(sums) / sizeof(sums[0]); i++)
		json_object_set_new(end, sums[i],
			json_integer((json_int_t)(wh_json_count(end, sums[i]) +
						  wh_json_count(before, sums[i]))));
	json_object_set_new(end, "seconds",
		json_real(json_number_value(json_object_get(end, "seconds")) +
			  json_number_value(json_object_get(before, "seconds"))));
	/* The rate of one alone would say nothing of the shard. */
	json_object_del(end, "goodput_bps");
	if (json_is_string(error))
		json_object_set(end, "error", (json_t *)error);
}

/* For the status. */
static void tell_now(struct wh_relay *relay, const json_t *row)
{
	json_t *now = json_object();

	json_object_set_new(now, "bytes",
		json_integer((json_int_t)(wh_json_count(relay->end, "bytes") +
					  wh_json_count(row, "bytes"))));
	json_object_set(now, "bps", json_object_get(row, "now_bps"));
	relay->on_now(relay->context, now);
	json_decref(now);
}

/* The order is not this task's any more, whether its server hears that or not. */
static _Noreturn void end_cancelled(const struct wh_relay *relay, uint64_t job)
{
	int status;

	json_decref(ask(relay, "cancel", job, &status));
	signal(SIGTERM, SIG_DFL);
	raise(SIGTERM);
	_exit(WH_EXIT_INTERRUPTED);
}

/* What the order does, and since when nothing of it has moved. */
struct watch {
	char does[16]; /* as in a job's row */
	uint64_t moved_bytes;
	uint64_t since_ns;
	uint64_t patience_ns;
};

/* Behind the watches of both ends, which accept so many stall timeouts of a peer that works. */
static void watch_begin(struct watch *watch, const struct wh_relay *relay)
{
	static const char flag[] = "--stall-timeout=";
	const char *option = find_option(relay, flag);
	struct wh_session_config standard;
	uint64_t stall_ns;

	wh_session_config_init(&standard);
	if (option == NULL || wh_parse_time(option + strlen(flag), &stall_ns) != 0)
		stall_ns = standard.stall_timeout_ns;
	*watch = (struct watch){
		.does = "running",
		.since_ns = wh_steady_ns(),
		.patience_ns = (WH_DISK_PATIENCE + 1) * stall_ns,
	};
}

static bool watch_waits(const struct watch *watch)
{
	return wh_steady_ns() - watch->since_ns <= watch->patience_ns;
}

/*
 * Whether the order is stuck. In a queue it may stay for any time, behind others or as an operator
 * wishes, and that is told; where it runs its two servers end it when it stalls, unless one of them
 * is at fault.
 */
static bool watch_sees(
	struct watch *watch, const struct wh_relay *relay, uint64_t job, const json_t *row)
{
	const char *state = wh_json_text(row, "state");
	const char *there = wh_json_text(row, "delegated_state");
	bool is_there = strcmp(state, "running") == 0 && there[0] != '\0';
	const char *does = is_there ? there : state;
	uint64_t moved_bytes = wh_json_count(row, "moved_bytes"), now_ns = wh_steady_ns();
	bool runs = strcmp(does, "running") == 0;

	if (strcmp(does, watch->does) != 0)
		wh_say("shard %u is passed on by job %" PRIu64 " of this host's server, which is "
		       "%s%s",
			relay->shard, job, does,
			is_there && !runs ? " in the queue of the site that has the shard" : "");
	if (!runs || strcmp(does, watch->does) != 0 || moved_bytes != watch->moved_bytes)
		watch->since_ns = now_ns;
	snprintf(watch->does, sizeof(watch->does), "%s", does);
	watch->moved_bytes = moved_bytes;
	return !watch_waits(watch);
}

/* The order is to end, and another server takes the place of those that have it. */
static int end_stuck(struct wh_relay *relay, uint64_t job, const struct watch *watch)
{
	char text[WH_UNITS_MAX];
	int status;
	json_t *end;

	json_decref(ask(relay, "cancel", job, &status));
	wh_complain("job %" PRIu64 " of this host's server has moved nothing for %s, though it "
		    "runs; it is cancelled",
		job, wh_format_time(text, sizeof(text), watch->patience_ns));
	end = json_pack("{s:s}", "error", wh_last_complaint());
	if (relay->end != NULL)
		wh_end_add(end, relay->end);
	json_decref(relay->end);
	relay->end = end;
	return WH_EXIT_STALLED;
}

/* Asks once a second, as its server asks the other one. */
static int follow(struct wh_relay *relay, uint64_t job)
{
	struct watch watch;

	watch_begin(&watch, relay);
	for (;;) {
		bool is_stuck;
		int status;
		json_t *row = ask(relay, "show", job, &status), *end;
		const char *state = wh_json_text(row, "state");
		bool is_done = strcmp(state, "done") == 0;

		if (is_done || strcmp(state, "failed") == 0 || strcmp(state, "cancelled") == 0) {
			status = is_done ? WH_EXIT_OK : (int)wh_json_count(row, "exit_status");
			end = end_of(row);
			if (relay->end != NULL)
				wh_end_add(end, relay->end);
			json_decref(relay->end);
			relay->end = end;
			json_decref(row);
			return is_done || status != WH_EXIT_OK ? status : WH_EXIT_INTERRUPTED;
		}
		if (row != NULL)
			tell_now(relay, row);
		is_stuck = row != NULL && watch_sees(&watch, relay, job, row);
		json_decref(row);
		/* A server that is restarted goes on with the order. */
		if (status != WH_EXIT_OK && !(status == WH_EXIT_NETWORK && watch_waits(&watch)))
			return status;
		if (is_stuck)
			return end_stuck(relay, job, &watch);
		if (!is_cancelled)
			(void)sleep(1);
		if (is_cancelled)
			end_cancelled(relay, job);
	}
}

static int relay_piece(void *context, const char *list, const char *sums)
{
	struct wh_relay *relay = context;
	int status;
	uint64_t job = give_order(relay, list, &status);

	(void)sums;
	if (job > 0)
		return follow(relay, job);
	return status != WH_EXIT_OK ? status : WH_EXIT_OTHER;
}

int wh_relay_run(struct wh_relay *relay)
{
	struct wh_pieces_how how = {.host = relay->from,
		.above = relay->from_path,
		.names = ORDER_NAMES,
		.chars = ORDER_CHARS};
	int status;

	signal(SIGTERM, note_cancel);
	status = wh_pieces_go(relay->plan, relay->shard, &how, relay_piece, relay);
	signal(SIGTERM, SIG_DFL);
	return status;
}
