/* SPDX-License-Identifier: BSD-3-Clause */
#include "job/paths/awaited.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "job/paths/paths.h"
#include "seal/sa.h"

void wh_job_await(struct wh_job *job)
{
	WH_ASSERT(job->place.reply != 0 && !job->awaits);
	job->awaits = true;
	WH_HOLD(&job->jobs->awaiting_lock);
	TAILQ_INSERT_TAIL(&job->jobs->awaiting, job, awaiting);
}

void wh_job_await_no_more(struct wh_job *job)
{
	if (!job->awaits)
		return;
	job->awaits = false;
	WH_HOLD(&job->jobs->awaiting_lock);
	TAILQ_REMOVE(&job->jobs->awaiting, job, awaiting);
}

/*
 * A further path is of the peer that the job is with; a server's client has opened it from an
 * address from which it may come.
 */
static bool is_path_of(const struct wh_job *job, uint32_t index, const struct wh_address *peer,
	const struct wh_sa *sa)
{
	if (!wh_job_is_striped(job) || (sa != NULL) != (job->sealed.cipher != 0) ||
		(sa != NULL && memcmp(sa->config.peer_identity, job->sealed.peer_id,
				       WH_IDENTITY_BYTES) != 0))
		return false;
	return job->role == WH_AT_CLIENT ? wh_address_equal(&job->streams.path[index].peer, peer)
					 : wh_service_may_be_at(job->jobs->service, peer, sa);
}

/*
 * The job here for which the peer opens a stream of that name, and its path. The caller holds the
 * lock.
 */
static struct wh_job *find(const struct wh_jobs *jobs, const char *name,
	const struct wh_address *peer, const struct wh_sa *sa, uint32_t *index)
{
	struct wh_job *job;
	uint64_t reply;
	int used = 0;

	*index = 0;

	bool is_path = wh_path_name_parse(name, index, &reply);

	if ((sscanf(name, "reply %16" SCNx64 "%n", &reply, &used) != 1 || name[used] != '\0') &&
		!is_path)
		return NULL;
	TAILQ_FOREACH(job, &jobs->awaiting, awaiting)
	{
		if (job->place.reply != reply)
			continue;
		if (is_path ? is_path_of(job, *index, peer, sa)
			    : job->role == WH_AT_CLIENT && wh_address_equal(&job->place.peer, peer))
			return job;
	}
	return NULL;
}

uint32_t wh_awaited_chunk_bytes(struct wh_jobs *jobs, const char *name,
	const struct wh_address *peer, const struct wh_sa *sa)
{
	uint32_t chunk_bytes = 0;
	uint32_t index;

	WH_HOLD(&jobs->awaiting_lock);

	const struct wh_job *job = find(jobs, name, peer, sa, &index);

	if (job != NULL)
		chunk_bytes = wh_job_sends(job) || wh_job_is_rpc(job->request.verb)
				      ? WH_ANSWER_CHUNK_BYTES
				      : WH_CHUNK_BYTES_DEFAULT;
	return chunk_bytes;
}

struct wh_job *wh_awaited_take(struct wh_jobs *jobs, const char *name,
	const struct wh_address *peer, const struct wh_sa *sa, uint32_t *index)
{
	int free = WH_SEAT_FREE;

	WH_HOLD(&jobs->awaiting_lock);

	struct wh_job *job = find(jobs, name, peer, sa, index);

	if (job != NULL && !atomic_compare_exchange_strong(
				   &job->streams.path[*index].seat.state, &free, WH_SEAT_TAKING))
		job = NULL;
	return job;
}
