/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_REPLIES_H
#define WH_APP_REPLIES_H

/*
 * The jobs of a client, whichever server they are with, between their start and their end: a
 * server's stream is for the one whose number its name has, and whose peer opens it. Any core; a
 * lock is held for a moment.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_spinlock.h>

#include "job/job.h"

struct wh_replies {
	rte_spinlock_t lock;
	struct wh_job_list list;
};

void wh_replies_init(struct wh_replies *replies);
void wh_replies_await(struct wh_replies *replies, struct wh_job *job);
void wh_replies_forget(struct wh_replies *replies, struct wh_job *job);

/* Whether a job awaits a stream of that name; and its chunks. */
bool wh_replies_know(struct wh_replies *replies, const char *name, const struct wh_address *peer,
	uint32_t *chunk_bytes);

/* That job, its seat being taken from here on; NULL: there is none, or its seat is not free. */
struct wh_job *wh_replies_take(
	struct wh_replies *replies, const char *name, const struct wh_address *peer);

#endif
