/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Bytes between a pipe of this process and the server of this host that sends or gets them. They go
 * over a connection to its control socket that carries no more lines. So the server has an end that
 * nobody else can make block, and needs no right to the pipe.
 */

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "control/control_ask.h"

struct wh_piped {
	struct wh_asker line;
	int pipe_fd; /* borrowed, non-blocking */
	bool sends;
	bool runs;
	_Atomic bool stop;
	int error; /* of the pipe; valid after the end */
	pthread_t thread;
};

/* *stream: the connection's number. An exit status, after a complaint if not WH_EXIT_OK. */
int wh_piped_open(struct wh_piped *piped, const char *control, uint64_t *stream);

/* Moves bytes, on a thread, until either end is over. 0 or a negative errno. */
int wh_piped_start(struct wh_piped *piped, int pipe_fd, bool sends);

/* The job is over. With `whole`, waits for all that the server has written. */
void wh_piped_end(struct wh_piped *piped, bool whole);

/* Also for one that was never opened, if it is all zeros. */
void wh_piped_close(struct wh_piped *piped);
