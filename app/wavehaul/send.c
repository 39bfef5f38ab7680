/* SPDX-License-Identifier: BSD-3-Clause */

/* `wavehaul send` and `wavehaul get`. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/complain.h"
#include "cli/exit.h"
#include "cli/signals.h"
#include "ssh/destination.h"
#include "transfer/handed.h"
#include "transfer/own_port.h"
#include "verbs.h"

static struct wh_hook hook; /* of --then-run */
static struct wh_hook_event event;

/* Moves the files through the server that has the port, or through a port of our own. */
static int move_files(struct wh_transfer *transfer, bool *handed)
{
	bool keeps_owners = wh_wanted_sends(&transfer->wanted) || geteuid() == 0;
	int status = wh_transfer_read_words(&transfer->wanted);

	if (status != 0)
		return status;
	wh_signals_catch();
	*handed = !wh_destination_has_user(transfer->wanted.server) &&
		  wh_transfer_hand_over(&transfer->wanted, &transfer->told, &event, &status);
	if (*handed)
		return status;
	wh_settings_archive(&transfer->wanted.settings, keeps_owners, keeps_owners);
	return wh_transfer_by_port(transfer, &hook);
}

/* --then-run, when everything else is over; its outcome is not that of the transfer. */
static void run_hook(const struct wh_transfer *transfer, bool handed, int status)
{
	const struct wh_wanted *wanted = &transfer->wanted;
	struct wh_totals totals = wh_lanes_totals(&transfer->running.lanes);
	int told;

	if (!handed) {
		event.files = totals.files;
		event.failed = totals.failed;
		event.bytes = totals.bytes;
	}
	event.status = status;
	strcpy(event.side, "client");
	strcpy(event.state, status == WH_EXIT_OK            ? "done"
			    : status == WH_EXIT_INTERRUPTED ? "cancelled"
							    : "failed");
	strcpy(event.verb, wh_wanted_sends(wanted) ? "send" : "get");
	snprintf(event.peer, sizeof(event.peer), "%s", wanted->server);
	snprintf(event.error, sizeof(event.error), "%s",
		status == WH_EXIT_OK ? "" : wh_last_complaint());
	if (wanted->locals > 0 && strcmp(wanted->local[0], "-") != 0)
		snprintf(event.path, sizeof(event.path), "%s", wanted->local[0]);
	if (hook.fd < 0)
		return;
	wh_hook_tell(&hook, &event);
	told = wh_hook_end(&hook);
	if (told > 0)
		wh_say("the command of --then-run ended with exit status %d", told);
	else if (told < 0)
		wh_say("the command of --then-run did not come to its end");
}

/* Moves the files and reports; without operands, if they could not be read. */
static int move_and_tell(struct wh_transfer *transfer)
{
	bool handed = false;
	int status = wh_hook_start(&hook, transfer->wanted.settings.on_end, 0);

	if (status == WH_EXIT_OK)
		status = move_files(transfer, &handed);
	if (!handed)
		wh_transfer_tell_end(transfer, status);
	if (status != WH_EXIT_USAGE)
		run_hook(transfer, handed, status);
	return status;
}

static int run_verb(enum wh_verb verb, int argc, char **argv)
{
	struct wh_transfer *transfer = calloc(1, sizeof(*transfer));

	if (transfer == NULL)
		return WH_EXIT_OTHER;
	transfer->wanted.verb = verb;
	transfer->wanted.dest_fd = -1;
	transfer->told.same_terminal = isatty(STDOUT_FILENO) == 1;
	wh_told_init(&transfer->told);

	int status = wh_settings_read(&transfer->wanted.settings, verb, argc, argv);

	if (transfer->wanted.settings.quiet)
		wh_say_nothing();
	if (status < 0) {
		status = move_and_tell(transfer);
	} else if (status != WH_EXIT_OK) {
		/* The error may have been found before these flags were read. */
		transfer->wanted.settings.json |= wh_words_contain(argc, argv, "--json");
		transfer->wanted.settings.json_stream |=
			wh_words_contain(argc, argv, "--json-stream");
		wh_transfer_tell_end(transfer, status);
	}
	wh_lanes_free(&transfer->running.lanes);
	wh_manifest_free(&transfer->running.manifest);
	wh_transfer_free_operands(&transfer->wanted);
	free(transfer);
	return status;
}

int wh_verb_send(int argc, char **argv)
{
	return run_verb(WH_VERB_SEND, argc, argv);
}

int wh_verb_get(int argc, char **argv)
{
	return run_verb(WH_VERB_GET, argc, argv);
}
