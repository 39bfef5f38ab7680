/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* Output to stdout by a thread of its own, so that no polling core waits for a slow reader. */

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct wh_spool {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t more;
	char *bytes; /* under the lock, like the next: */
	size_t used;
	size_t room;
	bool closing;
	_Atomic size_t waiting; /* bytes not yet written */
	_Atomic bool broken;    /* the reader has gone, or the disk is full: errno in `error` */
	int error;
};

/* 0 or a negative errno. */
int wh_spool_open(struct wh_spool *spool);

/* Does not wait, except for memory. */
void wh_spool_put(struct wh_spool *spool, const char *text, size_t bytes);

/* False: callers that can wait should do so. */
bool wh_spool_has_room(const struct wh_spool *spool);

/* Waits until all is written: 0, or the negative errno of a failed write. */
int wh_spool_close(struct wh_spool *spool);
