/* SPDX-License-Identifier: BSD-3-Clause */
#include "history/removals.h"

#include <stdlib.h>
#include <string.h>

#include "job/jobs.h"

uint32_t wh_removals_add(
	struct wh_removals *removals, int64_t us, const struct wh_job *job, const char *file)
{
	struct wh_removal removal = {
		.us = us,
		.peer = job->place.peer,
		.path = strdup(job->records.paths[0]),
		.file = strdup(file),
	};
	bool whole = removal.path != NULL && removal.file != NULL;
	bool room;
	uint32_t count;

	if (job->streams.sa != NULL)
		memcpy(removal.identity, job->streams.sa->config.peer_identity,
			sizeof(removal.identity));
	wh_spin_lock(&removals->lock);
	room = whole && removals->count < WH_REMOVALS_MAX;
	if (room)
		removals->waiting[removals->count++] = removal;
	else
		removals->lost++;
	count = removals->count;
	wh_spin_unlock(&removals->lock);
	if (!room)
		wh_removal_free(&removal);
	return count;
}

bool wh_removals_have_room(struct wh_removals *removals)
{
	WH_HOLD(&removals->lock);
	return removals->count + WH_WORKERS_MAX <= WH_REMOVALS_MAX;
}

uint32_t wh_removals_take(
	struct wh_removals *removals, struct wh_removal taken[WH_REMOVALS_MAX], uint64_t *lost)
{
	uint32_t count;

	WH_HOLD(&removals->lock);
	count = removals->count;
	memcpy(taken, removals->waiting, count * sizeof(taken[0]));
	*lost += removals->lost;
	removals->count = 0;
	removals->lost = 0;
	return count;
}

void wh_removal_free(struct wh_removal *removal)
{
	free(removal->path);
	free(removal->file);
}
