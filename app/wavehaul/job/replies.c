/* SPDX-License-Identifier: BSD-3-Clause */
#include "job/replies.h"

#include <stdio.h>

#include "base/assert.h"

void wh_replies_init(struct wh_replies *replies)
{
	rte_spinlock_init(&replies->lock);
	TAILQ_INIT(&replies->list);
}

void wh_replies_await(struct wh_replies *replies, struct wh_job *job)
{
	WH_ASSERT(job->role == WH_AT_CLIENT && job->place.reply != 0);
	rte_spinlock_lock(&replies->lock);
	TAILQ_INSERT_TAIL(&replies->list, job, awaiting);
	rte_spinlock_unlock(&replies->lock);
}

void wh_replies_forget(struct wh_replies *replies, struct wh_job *job)
{
	WH_ASSERT(atomic_load(&job->seat.state) != WH_SEAT_TAKING);
	rte_spinlock_lock(&replies->lock);
	TAILQ_REMOVE(&replies->list, job, awaiting);
	rte_spinlock_unlock(&replies->lock);
}

/* Under the lock. */
static struct wh_job *find(
	const struct wh_replies *replies, const char *name, const struct wh_address *peer)
{
	struct wh_job *job;
	uint64_t reply;
	int used = 0;

	if (sscanf(name, "reply %16" SCNx64 "%n", &reply, &used) != 1 || name[used] != '\0')
		return NULL;
	TAILQ_FOREACH(job, &replies->list, awaiting)
	if (job->place.reply == reply && wh_address_equal(&job->place.peer, peer))
		return job;
	return NULL;
}

bool wh_replies_know(struct wh_replies *replies, const char *name, const struct wh_address *peer,
	uint32_t *chunk_bytes)
{
	rte_spinlock_lock(&replies->lock);

	const struct wh_job *job = find(replies, name, peer);

	if (job != NULL)
		*chunk_bytes = wh_job_sends(job) ? WH_ANSWER_CHUNK_BYTES : WH_CHUNK_BYTES_DEFAULT;
	rte_spinlock_unlock(&replies->lock);
	return job != NULL;
}

struct wh_job *wh_replies_take(
	struct wh_replies *replies, const char *name, const struct wh_address *peer)
{
	int free = WH_SEAT_FREE;

	rte_spinlock_lock(&replies->lock);

	struct wh_job *job = find(replies, name, peer);

	if (job != NULL && !atomic_compare_exchange_strong(&job->seat.state, &free, WH_SEAT_TAKING))
		job = NULL;
	rte_spinlock_unlock(&replies->lock);
	return job;
}
