/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* The client's end of the control socket: a verb sends requests to the server of its host. */

#include <stdbool.h>

#include "control/control_line.h"

struct wh_asker {
	int fd;    /* -1: not connected */
	bool gone; /* no more messages will come */
	char *line;
	size_t line_bytes;
	size_t room;
	/* Receives events between answers, and frees them; NULL: they are dropped. */
	void (*on_event)(void *context, json_t *event);
	void *context;
};

/*
 * Connects by --control. 0, or a negative errno: no server there. -EPROTO: not a wavehaul server.
 */
int wh_asker_open(struct wh_asker *asker, const char *option);
void wh_asker_close(struct wh_asker *asker);

/*
 * Sends the request, which it frees, and waits for the answer. NULL: the server has gone, or does
 * not answer.
 */
json_t *wh_asker_ask(struct wh_asker *asker, json_t *request);

/*
 * Waits for the next message, at most that long (-1: unlimited). NULL: none, or the server has
 * gone.
 */
json_t *wh_asker_next(struct wh_asker *asker, int timeout_ms);

/* The exit status of an answer, after a complaint if not WH_EXIT_OK; NULL: the server has gone. */
int wh_answer_conclude(const json_t *answer);
