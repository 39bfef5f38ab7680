/* SPDX-License-Identifier: BSD-3-Clause */
#include "job/lanes.h"

#include "base/assert.h"
#include "base/clock.h"

/* Time to tell the peer about an end, which it may never receive. */
#define LAST_WORDS_S 3

static uint64_t random_number(const struct wh_lanes *lanes)
{
	return wh_host_ctx_draw(lanes->jobs->ctx) | 1; /* 0 means none */
}

bool wh_lanes_make(struct wh_lanes *lanes, struct wh_jobs *jobs, const struct wh_address *peer,
	const struct wh_request *request)
{
	*lanes = (struct wh_lanes){.jobs = jobs, .peer = *peer, .count = request->lanes};
	WH_ASSERT(lanes->count <= WH_LANES_MAX);
	lanes->transfer = random_number(lanes);
	for (uint32_t lane = 0; lane < lanes->count; lane++) {
		lanes->job[lane] = wh_job_create(jobs, request, lane);
		if (lanes->job[lane] == NULL)
			return false;
	}
	return true;
}

void wh_lanes_place(const struct wh_lanes *lanes, uint32_t peer_queues, struct wh_job *job)
{
	const struct wh_host_settings *settings = lanes->jobs->ctx->settings;
	struct wh_job_place *place = &job->place;

	WH_ASSERT(peer_queues > 0);
	place->transfer = lanes->transfer;
	place->reply = random_number(lanes);

	uint32_t queue = place->lane % RTE_MIN(settings->queues, peer_queues);

	place->shard = wh_host_settings_toward(settings, &lanes->peer) + queue;
	place->peer = lanes->peer;
	place->peer.port = (uint16_t)(settings->udp_port + queue);
	job->streams.path[0].shard = place->shard;
	job->streams.path[0].peer = place->peer;
}

/* Lanes start in order; only this thread accesses a job that was not started. */
static void check(const struct wh_lanes *lanes)
{
	WH_ASSERT(lanes->count > 0 && lanes->count <= WH_LANES_MAX);
	WH_ASSERT(lanes->started <= lanes->count && lanes->transfer != 0);
	for (uint32_t lane = 0; lane < lanes->count; lane++) {
		WH_ASSERT(lanes->job[lane] != NULL && lanes->job[lane]->place.lane == lane);
		WH_ASSERT((lanes->job[lane]->worker != NULL) == (lane < lanes->started));
	}
}

static void start_next(struct wh_lanes *lanes, uint32_t peer_queues, uint64_t now_tsc)
{
	struct wh_job *job = lanes->job[lanes->started];

	WH_ASSERT(lanes->started < lanes->count);
	wh_lanes_place(lanes, peer_queues, job);
	wh_job_start(job, now_tsc);
	lanes->started++;
	check(lanes);
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
	/* The first lane may have ended, before READY came or since. */
	if (atomic_load(&first->view.state) < WH_JOB_RUNNING || first->ready.queues == 0)
		return;
	while (lanes->started < lanes->count) {
		/*
		 * The first lane may have created a folder that others would mistake for an
		 * existing one.
		 */
		struct wh_request *request = &lanes->job[lanes->started]->request;

		if (request->verb == WH_JOB_SEND) {
			request->there.as_name = first->ready.as_name;
		} else {
			request->here.into_folder = first->request.here.into_folder;
			request->here.as_name = first->request.here.as_name;
			request->here.by_match = false;
		}
		start_next(lanes, first->ready.queues, now_tsc);
	}
}

bool wh_lanes_ended(const struct wh_lanes *lanes, uint32_t first)
{
	if (lanes->started < lanes->count)
		return false;
	for (uint32_t lane = first; lane < lanes->count; lane++)
		if (atomic_load(&lanes->job[lane]->view.state) < WH_JOB_ENDING)
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

bool wh_lanes_were_ready(const struct wh_lanes *lanes)
{
	for (uint32_t lane = 0; lane < lanes->started; lane++)
		if (lanes->job[lane]->ready.began_tsc != 0)
			return true;
	return false;
}

bool wh_lanes_flowed(const struct wh_lanes *lanes)
{
	for (uint32_t lane = 0; lane < lanes->started; lane++)
		if (atomic_load(&lanes->job[lane]->view.flow_began_tsc) != 0)
			return true;
	return false;
}

bool wh_lanes_lack_room(const struct wh_lanes *lanes)
{
	bool lack = false;

	for (uint32_t lane = 0; lane < lanes->started; lane++) {
		enum wh_release_status failed = lanes->job[lane]->result.failed;

		if (failed == WH_STATUS_BUSY)
			lack = true;
		else if (failed != WH_STATUS_PENDING && failed != WH_STATUS_INTERRUPTED)
			return false;
	}
	return lack;
}

void wh_lanes_hurry(struct wh_lanes *lanes, uint64_t now_tsc)
{
	if (lanes->give_up_tsc != 0)
		return;
	lanes->give_up_tsc = now_tsc + LAST_WORDS_S * lanes->jobs->ctx->hz;
	for (uint32_t lane = 0; lane < lanes->started; lane++)
		wh_job_hurry(lanes->job[lane]);
}

bool wh_lanes_change(struct wh_lanes *lanes, const struct wh_request *request)
{
	bool can = true;

	for (uint32_t lane = 0; lane < lanes->count; lane++)
		can = wh_job_change(lanes->job[lane], request) && can;
	return can;
}

bool wh_lanes_over(const struct wh_lanes *lanes)
{
	for (uint32_t lane = 0; lane < lanes->started; lane++)
		if (!wh_job_is_over(lanes->job[lane]))
			return false;
	return true;
}

bool wh_lanes_gone(const struct wh_lanes *lanes, uint64_t now_tsc)
{
	return wh_lanes_over(lanes) || (lanes->give_up_tsc != 0 && now_tsc > lanes->give_up_tsc);
}

struct wh_totals wh_lanes_totals(const struct wh_lanes *lanes)
{
	struct wh_totals sum = {0};

	WH_ASSERT(lanes->started <= lanes->count);
	for (uint32_t lane = 0; lane < lanes->started; lane++) {
		const struct wh_totals totals = wh_job_totals(lanes->job[lane]);

		for (size_t i = 0; i < sizeof(sum) / sizeof(uint64_t); i++)
			((uint64_t *)&sum)[i] += ((const uint64_t *)&totals)[i];
	}
	return sum;
}

uint64_t wh_lanes_moved_bytes(const struct wh_lanes *lanes)
{
	uint64_t bytes = 0;

	for (uint32_t lane = 0; lane < lanes->started; lane++)
		bytes += atomic_load_explicit(
			&lanes->job[lane]->view.moved_bytes, memory_order_relaxed);
	return bytes;
}

double wh_lanes_seconds(const struct wh_lanes *lanes)
{
	uint64_t began_tsc = lanes->started > 0 ? lanes->job[0]->ready.began_tsc : 0;
	uint64_t ended_tsc = 0;

	for (uint32_t lane = 0; lane < lanes->started; lane++)
		ended_tsc = wh_max_u64(ended_tsc, wh_job_flowed_tsc(lanes->job[lane]));
	if (began_tsc == 0 || ended_tsc <= began_tsc)
		return 0;
	return (double)(ended_tsc - began_tsc) / (double)lanes->jobs->ctx->hz;
}

void wh_lanes_free(struct wh_lanes *lanes)
{
	for (uint32_t lane = 0; lane < WH_LANES_MAX; lane++)
		wh_job_free(lanes->job[lane]);
}
