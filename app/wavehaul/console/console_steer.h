/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Commands as words for the server of this host: its commands' forms make the grammar, and each
 * parsed command is sent to it as a request. For the console and for `wavehaul job`.
 */

#include "cli/settings.h"
#include "console/grammar.h"
#include "control/control_ask.h"

struct wh_steer {
	struct wh_settings *settings;
	struct wh_asker asker;
	struct wh_grammar grammar;
	/* Set by the caller. */
	int (*on_saying)(void *context, const struct wh_saying *said);
	void (*on_event)(void *context, json_t *event);
	bool *quits; /* set to end the console; NULL: it cannot be ended so */
	void *context;
};

/* An exit status, after a complaint. The caller's fields must be set. */
int wh_steer_open(struct wh_steer *steer, struct wh_settings *settings);
void wh_steer_close(struct wh_steer *steer);

/* Runs one command: an exit status. */
int wh_steer_run(struct wh_steer *steer, const char *line);

/*
 * The answer to a request, which stays the caller's; NULL after a complaint, with *status set. If
 * the server has gone and is there again, this connects again by itself.
 */
json_t *wh_steer_ask(struct wh_steer *steer, json_t *request, int *status);

/* Handles messages that the server sends unasked: events, or the end of the connection. */
void wh_steer_hear(struct wh_steer *steer);
