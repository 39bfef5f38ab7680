/* SPDX-License-Identifier: BSD-3-Clause */
#include "transfer/handed.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "cli/complain.h"
#include "cli/exit.h"
#include "cli/json.h"
#include "cli/moment/system_clock.h"
#include "cli/settings_table.h"
#include "cli/signals.h"
#include "control/control_ask.h"
#include "control/piped.h"
#include "job/retry/retry.h"
#include "plot/svg.h"
#include "transfer/hand.h"

/* How often a request of the operator to end is checked for. */
#define LOOK_MS 100

struct handed {
	const struct wh_wanted *wanted;
	struct wh_told *told;
	struct wh_asker asker;
	uint64_t job;
	json_t *end; /* the event about its end; NULL: not yet */
	struct wh_piped piped;
	char *picture; /* of its last try */
	bool cancelled;
	bool over;
	int status;
	char why[400];
};

static void take_end(struct handed *handed, json_t *event)
{
	json_decref(handed->end);
	handed->end = event;
}

/* "ready" and "waiting" are between two tries. */
static void take_state(struct handed *handed, const json_t *event)
{
	const char *state = wh_json_text(event, "state");

	handed->over = strcmp(state, "done") == 0 || strcmp(state, "failed") == 0 ||
		       strcmp(state, "cancelled") == 0;
	if (!handed->over)
		return;
	handed->status = strcmp(state, "cancelled") == 0 ? WH_EXIT_INTERRUPTED
							 : (int)wh_json_count(event, "exit_status");
	snprintf(handed->why, sizeof(handed->why), "%s", wh_json_text(event, "error"));
}

static void take_picture(struct handed *handed, const json_t *event)
{
	free(handed->picture);
	handed->picture = strdup(wh_json_text(event, "svg"));
}

static void show_interval(struct handed *handed, const json_t *event)
{
	struct wh_told *told = handed->told;
	uint64_t now_tsc = wh_steady_ns();
	uint64_t bytes = wh_json_count(event, "bytes");
	const struct wh_left left = {
		.files = wh_json_count(event, "files_left"),
		.bytes = wh_json_count(event, "bytes_left"),
		.at_least = json_is_true(json_object_get(event, "at_least")),
	};
	char words[WH_PROGRESS_TEXT_BYTES];

	if (!told->line_shown)
		return;
	if (told->progress.began_tsc == 0)
		told->progress.began_tsc = told->progress.last_tsc = now_tsc;
	wh_progress_left(
		words, wh_json_count(event, "files") + wh_json_count(event, "skipped"), &left);
	wh_progress_show(
		&told->progress, now_tsc, bytes, 0, left.at_least ? 0 : bytes + left.bytes, words);
	wh_progress_told(&told->progress, now_tsc, bytes);
}

static void show_file(const struct handed *handed, const json_t *event)
{
	const char *status = wh_json_text(event, "status");
	char path[WH_PATH_BYTES_MAX + 1];

	if (strcmp(status, "skipped") == 0 || strcmp(status, "failed") == 0)
		return;
	wh_path_from_json(event, "path", path);
	wh_transfer_name(handed->wanted, handed->told, path, wh_json_count(event, "bytes"), status);
}

static void on_event(void *context, json_t *event)
{
	struct handed *handed = context;
	const char *name = wh_json_text(event, "event");

	if (strcmp(name, "job") == 0)
		take_state(handed, event);
	else if (strcmp(name, "end") == 0) {
		take_end(handed, event);
		return;
	} else if (strcmp(name, "picture") == 0)
		take_picture(handed, event);
	else if (handed->wanted->settings.json_stream) {
		wh_json_print(event, JSON_COMPACT);
		fflush(stdout);
		return;
	} else if (strcmp(name, "interval") == 0)
		show_interval(handed, event);
	else if (strcmp(name, "file") == 0)
		show_file(handed, event);
	else if (strcmp(name, "untold") == 0 && handed->wanted->settings.names)
		wh_say("%llu names are missing: there were too many for the server to tell",
			(unsigned long long)wh_json_count(event, "files"));
	json_decref(event);
}

static void see_signals(struct handed *handed)
{
	json_t *answer;

	if (wh_signals_count() == 0 || handed->cancelled)
		return;
	handed->cancelled = true;
	answer = wh_asker_ask(&handed->asker,
		json_pack("{s:s, s:I}", "do", "job.cancel", "job", (json_int_t)handed->job));
	json_decref(answer);
}

/* Follows the job until it is over, the server is gone, or the operator has asked twice to end. */
static void follow(struct handed *handed)
{
	while (!handed->over && wh_signals_count() < 2) {
		json_t *event = wh_asker_next(&handed->asker, LOOK_MS);

		if (event != NULL)
			on_event(handed, event);
		else if (handed->asker.gone)
			break;
		see_signals(handed);
	}
	if (handed->over)
		return;
	handed->status = handed->cancelled ? WH_EXIT_INTERRUPTED : WH_EXIT_NETWORK;
	snprintf(handed->why, sizeof(handed->why), "%s",
		handed->cancelled ? "interrupted"
				  : "this host's server has exited, or has closed the connection");
}

static void print_text(const struct handed *handed)
{
	wh_transfer_print_end(handed->wanted, handed->end);
	if (!handed->wanted->settings.quiet)
		fprintf(wh_wanted_output(handed->wanted), ", by this host's server\n");
}

/* Ends the job's pipe, and writes its picture: both are this process's own. */
static void finish(struct handed *handed)
{
	const struct wh_settings *settings = &handed->wanted->settings;
	bool good = handed->status == WH_EXIT_OK;
	bool reads = wh_wanted_sends(handed->wanted);
	int rc = 0;

	wh_piped_end(&handed->piped, good);
	if (handed->piped.error != 0)
		snprintf(handed->why, sizeof(handed->why), "cannot %s standard %s: %s",
			reads ? "read" : "write", reads ? "input" : "output",
			strerror(handed->piped.error));
	if (handed->piped.error != 0 && good)
		handed->status = WH_EXIT_OTHER;
	if (settings->plot[0] != '\0')
		rc = handed->picture != NULL ? wh_svg_keep(settings->plot, handed->picture)
					     : -ENODATA;
	if (rc == 0 || handed->status != WH_EXIT_OK)
		return;
	handed->status = WH_EXIT_OTHER;
	snprintf(handed->why, sizeof(handed->why), "cannot write the picture %.300s: %s",
		settings->plot, strerror(-rc));
}

static void conclude(struct handed *handed)
{
	const struct wh_settings *settings = &handed->wanted->settings;

	wh_progress_clear(&handed->told->progress);
	if (handed->why[0] != '\0' && handed->status != WH_EXIT_PARTIAL)
		wh_complain("%s", handed->why);
	if (settings->json || settings->json_stream) {
		if (handed->end == NULL)
			handed->end = wh_head_json(
				wh_wanted_sends(handed->wanted) ? "send" : "get", handed->status);
		if (!settings->json_stream)
			json_object_del(handed->end, "event");
		wh_json_print(handed->end, JSON_COMPACT);
		handed->end = NULL;
	} else if (handed->end != NULL) {
		print_text(handed);
	}
}

/* The queue has no --wait. Allow as many retries as have that much patience together. */
static json_int_t retries_of(const struct wh_settings *settings)
{
	uint64_t waited_ns = 0;
	json_int_t retries = 0;

	for (; waited_ns < settings->wait_ns; retries++)
		waited_ns += wh_retry_patience_ns((uint32_t)retries + 1);
	return retries > settings->retries ? retries : settings->retries;
}

/* The order in the server's format; NULL after a complaint. */
static json_t *order_of(const struct wh_wanted *wanted, const json_t *server)
{
	const struct wh_setting *rate = wh_setting_find("transfer", "rate");
	char text[WH_SETTINGS_TEXT_BYTES];
	json_t *order = wh_order_request(wanted, wh_json_text(server, "root"));

	if (order == NULL)
		return NULL;
	wh_setting_format(rate, &wanted->settings, text);
	json_object_set_new(order, "rate", json_string(text));
	json_object_set_new(order, "priority", json_integer(9));
	json_object_set_new(order, "retries", json_integer(retries_of(&wanted->settings)));
	json_object_set_new(order, "attached", json_true());
	json_object_set_new(order, "watch", json_true());
	if (wanted->settings.plot[0] != '\0')
		json_object_set_new(order, "plot", json_true());
	return order;
}

/* For "-": opens the connection for its bytes. Returns an exit status. */
static int open_pipe(struct handed *handed, json_t *order)
{
	const struct wh_wanted *wanted = handed->wanted;
	uint64_t stream = 0;
	int status = WH_EXIT_OK;

	if (wanted->is_piped)
		status = wh_piped_open(&handed->piped, wanted->settings.control, &stream);
	if (stream != 0)
		json_object_set_new(order, "stream", json_integer((json_int_t)stream));
	return status;
}

static int start_pipe(struct handed *handed)
{
	const struct wh_wanted *wanted = handed->wanted;
	int rc = 0;

	if (wanted->is_piped)
		rc = wh_piped_start(&handed->piped, wanted->pipe_fd, wh_wanted_sends(wanted));
	if (rc != 0)
		wh_complain("no thread for the pipe: %s", strerror(-rc));
	return rc == 0 ? WH_EXIT_OK : WH_EXIT_OTHER;
}

static void fill_event(const struct handed *handed, struct wh_hook_event *event)
{
	event->job = handed->job;
	event->files = wh_json_count(handed->end, "files");
	event->failed = wh_json_count(handed->end, "failed");
	event->bytes = wh_json_count(handed->end, "bytes");
}

static int run(struct handed *handed, const json_t *server, struct wh_hook_event *event)
{
	const char *plot = handed->wanted->settings.plot;
	json_t *order = order_of(handed->wanted, server);
	json_t *answer;

	if (order == NULL)
		return WH_EXIT_USAGE;
	handed->status = plot[0] == '\0' || wh_svg_may_write(plot) ? open_pipe(handed, order)
								   : WH_EXIT_OTHER;
	if (handed->status != WH_EXIT_OK) {
		json_decref(order);
		return handed->status;
	}
	handed->asker.on_event = on_event;
	handed->asker.context = handed;
	answer = wh_asker_ask(&handed->asker, order);
	handed->status = wh_answer_conclude(answer);
	handed->job = wh_json_count(answer, "job");
	json_decref(answer);
	if (handed->status == WH_EXIT_OK)
		handed->status = start_pipe(handed);
	if (handed->status != WH_EXIT_OK)
		return handed->status;
	handed->told->line_shown = wh_progress_has_terminal() && !handed->wanted->settings.quiet &&
				   !handed->wanted->settings.json_stream &&
				   !handed->wanted->settings.json;
	follow(handed);
	finish(handed);
	fill_event(handed, event);
	conclude(handed);
	return handed->status;
}

bool wh_transfer_hand_over(
	struct wh_wanted *wanted, struct wh_told *told, struct wh_hook_event *event, int *status)
{
	struct handed handed = {.wanted = wanted, .told = told, .asker = {.fd = -1}};
	json_t *server = NULL;

	server = wh_hand_to(&handed.asker, &wanted->settings, wanted->verb, status);
	if (server != NULL) {
		told->progress.hz = WH_NS_PER_S;
		*status = run(&handed, server, event);
	}
	json_decref(server);
	json_decref(handed.end);
	free(handed.picture);
	wh_piped_close(&handed.piped);
	wh_asker_close(&handed.asker);
	return *status != -1;
}
