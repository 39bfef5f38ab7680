/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_ERRAND_SPOOL_H
#define WH_APP_ERRAND_SPOOL_H

/*
 * What goes to standard output by a thread of its own: whoever reads it may take his time, and no
 * core that polls waits for him.
 */

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct wh_spool {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t more;
	char *bytes; /* under the lock, as are: */
	size_t used;
	size_t room;
	bool closing;
	_Atomic size_t waiting; /* of bytes, not written yet */
	_Atomic bool broken;    /* nobody reads any more, or the disk is full: an errno in ... */
	int error;
};

/* 0 or a negative errno. */
int wh_spool_open(struct wh_spool *spool);

/* Never waits, but for memory. */
void wh_spool_put(struct wh_spool *spool, const char *text, size_t bytes);

/* Whether somebody who can wait had better do so. */
bool wh_spool_has_room(const struct wh_spool *spool);

/* When all is written: 0, or the negative errno of what was not. */
int wh_spool_close(struct wh_spool *spool);

#endif
