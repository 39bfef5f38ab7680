/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_CONSOLE_STEER_H
#define WH_CONSOLE_STEER_H

/*
 * Words for the server of this host: it is asked for its commands, whose forms are the grammar, and
 * what is said by them is asked of it. For the console and for `wavehaul job`.
 */

#include "cli/settings.h"
#include "console/grammar.h"
#include "control/ask.h"

struct wh_steer {
	struct wh_settings *settings;
	struct wh_asker asker;
	struct wh_grammar grammar;
	bool gone_told;
	/* The caller's. */
	int (*on_saying)(void *context, const struct wh_saying *said);
	void (*on_event)(void *context, json_t *event);
	bool *quits; /* NULL: nobody can */
	void *context;
};

/* An exit status, after a complaint. The caller has filled in his part. */
int wh_steer_open(struct wh_steer *steer, struct wh_settings *settings, const char *prompt,
	int in_fd, int out_fd);
void wh_steer_close(struct wh_steer *steer);

/* One command: an exit status. */
int wh_steer_run(struct wh_steer *steer, const char *line);

/*
 * The answer to a request, whose own part is not freed; NULL after a complaint, and *status. A
 * server that was gone and is there again is asked without further words.
 */
json_t *wh_steer_ask(struct wh_steer *steer, json_t *request, int *status);

/* Whatever the server says unasked: events, or that it is gone. */
void wh_steer_hear(struct wh_steer *steer);

#endif
