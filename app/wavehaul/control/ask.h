/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_CONTROL_ASK_H
#define WH_CONTROL_ASK_H

/* The other end of the control socket: a verb that asks the server of its host. */

#include <stdbool.h>

#include "control/line.h"

struct wh_asker {
	int fd;    /* -1: nobody answers */
	bool gone; /* nothing more will come */
	char *line;
	size_t line_bytes;
	size_t room;
	/* Gets what comes between answers, and frees it; NULL: it is dropped. */
	void (*on_event)(void *context, json_t *event);
	void *context;
};

/* By --control. 0, or a negative errno: nobody answers there. -EPROTO: it is no wavehaul. */
int wh_asker_open(struct wh_asker *asker, const char *option);
void wh_asker_close(struct wh_asker *asker);

/*
 * Sends the request, which is freed, and waits for its answer: NULL: the server is gone, or as good
 * as that.
 */
json_t *wh_asker_ask(struct wh_asker *asker, json_t *request);

/* Waits for whatever comes next, at most so long (-1: for ever). NULL: nothing, or it is gone. */
json_t *wh_asker_next(struct wh_asker *asker, int timeout_ms);

/* The exit status of an answer, after a complaint if it is not WH_EXIT_OK; NULL: it is gone. */
int wh_answer_conclude(const json_t *answer);

#endif
