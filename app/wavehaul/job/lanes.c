/* SPDX-License-Identifier: BSD-3-Clause */
#include "job/lanes.h"

#include "base/assert.h"

/* How long the peer is told about an end that it may never hear of. */
#define LAST_WORDS_S 3

/* Queue i of ours talks to queue i of theirs as far as they go. */
static void start_next(struct wh_lanes *lanes, uint32_t peer_queues, uint64_t now_tsc)
{
	uint32_t lane = lanes->started;
	struct wh_job *job = lanes->job[lane];

	WH_ASSERT(lane < lanes->count);
	wh_client_place(lanes->client, lane, peer_queues, job);
	wh_job_start(job, lane, now_tsc);
	lanes->started++;
}

void wh_lanes_start_first(struct wh_lanes *lanes, uint64_t now_tsc)
{
	WH_ASSERT(lanes->started == 0);
	start_next(lanes, 1, now_tsc);
}

void wh_lanes_start_others(struct wh_lanes *lanes, uint64_t now_tsc)
{
	const struct wh_job *first = lanes->job[0];

	WH_ASSERT(lanes->started > 0);
	/* It may have ended before READY came, or since. */
	if (atomic_load(&first->state) < WH_JOB_RUNNING || first->peer_queues == 0)
		return;
	while (lanes->started < lanes->count) {
		/* The first may have made what others would take for a folder that was there. */
		lanes->job[lanes->started]->request.there.as_name = first->as_name;
		start_next(lanes, first->peer_queues, now_tsc);
	}
}

bool wh_lanes_over(const struct wh_lanes *lanes, uint32_t first)
{
	if (lanes->started < lanes->count)
		return false;
	for (uint32_t lane = first; lane < lanes->count; lane++)
		if (atomic_load(&lanes->job[lane]->state) < WH_JOB_ENDING)
			return false;
	return true;
}

bool wh_lanes_failed(const struct wh_lanes *lanes)
{
	for (uint32_t lane = 0; lane < lanes->started; lane++)
		if (wh_job_has_failed(lanes->job[lane]))
			return true;
	return false;
}

void wh_lanes_hurry(struct wh_lanes *lanes, uint64_t now_tsc)
{
	if (lanes->give_up_tsc != 0)
		return;
	lanes->give_up_tsc = now_tsc + LAST_WORDS_S * lanes->jobs->ground->hz;
	atomic_store(&lanes->jobs->hurry, true);
}

bool wh_lanes_gone(const struct wh_lanes *lanes, uint64_t now_tsc)
{
	return atomic_load(&lanes->jobs->live) == 0 ||
	       (lanes->give_up_tsc != 0 && now_tsc > lanes->give_up_tsc);
}

void wh_lanes_free(struct wh_lanes *lanes)
{
	for (uint32_t lane = 0; lane < WH_LANES_MAX; lane++)
		wh_job_free(lanes->job[lane]);
}
