/* SPDX-License-Identifier: BSD-3-Clause */
#include "job/paths/paths.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/assert.h"
#include "base/clock.h"
#include "job/jobs.h"

/* Chunk 0 of the first path is HELLO or READY; others begin with the stream's. */
#define RECORDS_FIRST 1

/* A path that ended, or did not open, is opened again after this. */
#define AGAIN_S 2

/* The main path is left if it is silent for so much longer than another. */
#define SILENT_S 1

/* One that does not open in this time is given up; meanwhile the others carry all. */
#define OPEN_PATIENCE_S 5

bool wh_path_name_parse(const char *name, uint32_t *index, uint64_t *reply)
{
	int used = 0;

	return sscanf(name, "path %1" SCNu32 " of %16" SCNx64 "%n", index, reply, &used) == 2 &&
	       name[used] == '\0' && *index < WH_JOB_PATHS_MAX;
}

int wh_paths_begin(struct wh_job *job)
{
	struct wh_job_path *first = &job->streams.path[0];
	struct wh_job_stripe *stripe;
	int rc;

	if (!wh_job_is_striped(job) || job->streams.stripe != NULL)
		return 0;
	stripe = calloc(1, sizeof(*stripe));
	if (stripe == NULL)
		return -ENOMEM;
	job->streams.stripe = stripe;
	rc = wh_stripe_out_init(&stripe->out, job->jobs->ctx->hz);
	if (rc == 0)
		rc = wh_stripe_in_init(&stripe->in, RECORDS_FIRST);
	if (rc == 0)
		rc = wh_stripe_out_add(&stripe->out, 0, wh_session_free_chunks(first->out),
			wh_session_ready_chunks(first->out), first->out_chunks,
			job->records.posted);
	first->out_joined = rc == 0;
	return rc;
}

/* The peer's stream on the first path: a client's files go before it. */
static void hear(struct wh_job *job)
{
	struct wh_job_stripe *stripe = job->streams.stripe;
	struct wh_session *in = wh_path_in(&job->streams.path[0]);

	if (stripe->hears || job->view.state != WH_JOB_RUNNING)
		return;
	stripe->hears = job->streams.path[0].in_joined = true;
	wh_stripe_in_add(
		&stripe->in, 0, wh_session_deliver_chunks(in), wh_session_recycled_chunks(in));
}

struct wh_fifo *wh_paths_free(const struct wh_job *job)
{
	return job->streams.stripe != NULL ? &job->streams.stripe->out.free
					   : wh_session_free_chunks(wh_job_main(job)->out);
}

struct wh_fifo *wh_paths_ready(const struct wh_job *job)
{
	return job->streams.stripe != NULL ? &job->streams.stripe->out.ready
					   : wh_session_ready_chunks(wh_job_main(job)->out);
}

struct wh_fifo *wh_paths_deliver(const struct wh_job *job)
{
	return job->streams.stripe != NULL ? &job->streams.stripe->in.deliver
					   : wh_session_deliver_chunks(wh_job_in(job));
}

struct wh_fifo *wh_paths_recycled(const struct wh_job *job)
{
	return job->streams.stripe != NULL ? &job->streams.stripe->in.recycled
					   : wh_session_recycled_chunks(wh_job_in(job));
}

static bool is_good(const struct wh_session *session)
{
	enum wh_release_status outcome = wh_session_news(session).outcome;

	return outcome == WH_STATUS_PENDING || outcome == WH_STATUS_VERIFIED;
}

static bool is_open(const struct wh_session *session)
{
	struct wh_session_news news = wh_session_news(session);

	return news.phase == WH_PHASE_RUNNING && news.outcome == WH_STATUS_PENDING;
}

/* Neither session has failed. */
static bool is_alive(const struct wh_job_path *path)
{
	const struct wh_session *in = wh_path_in(path);

	return path->out != NULL && !path->out_left && is_good(path->out) &&
	       (in == NULL || is_good(in));
}

static void see(struct wh_job *job, uint32_t index)
{
	const struct wh_job_path *path = &job->streams.path[index];
	const struct wh_session *in = wh_path_in(path);
	struct wh_stripe_out_path *striped = &job->streams.stripe->out.path[index];

	if (striped->free == NULL)
		return;
	striped->view = (struct wh_stripe_view){
		.alive = is_alive(path) && is_open(path->out),
		.heard_tsc = wh_session_heard_tsc(path->out),
		.rtt_tsc = wh_session_rtt_tsc(path->out),
		.moved_bytes = wh_session_moved_bytes(path->out),
		.rate_bps = wh_session_pace(path->out).rate_bps,
		.peer_chunks = wh_session_credit(path->out).chunks,
	};
	if (in != NULL)
		striped->view.heard_tsc =
			wh_max_u64(striped->view.heard_tsc, wh_session_heard_tsc(in));
}

/*
 * The stream each way goes by this path as soon as its session is open. Without memory it goes
 * without.
 */
static int32_t join(struct wh_job *job, uint32_t index)
{
	struct wh_job_path *path = &job->streams.path[index];
	struct wh_job_stripe *stripe = job->streams.stripe;
	struct wh_session *in = wh_path_in(path);
	int32_t joined = 0;

	if (!path->out_joined && path->out != NULL && is_open(path->out)) {
		path->out_joined =
			wh_stripe_out_add(&stripe->out, index, wh_session_free_chunks(path->out),
				wh_session_ready_chunks(path->out), path->out_chunks, 0) == 0;
		joined += path->out_joined;
	}
	if (!path->in_joined && in != NULL) {
		wh_stripe_in_add(&stripe->in, index, wh_session_deliver_chunks(in),
			wh_session_recycled_chunks(in));
		path->in_joined = true;
		joined++;
	}
	return joined;
}

static bool open_out(struct wh_job *job, uint32_t index)
{
	char name[WH_NAME_BYTES_MAX];

	snprintf(name, sizeof(name), WH_PATH_NAME, index, job->place.reply);
	return wh_job_open_out(job, &job->streams.path[index], name, wh_job_sends(job));
}

/* The client's: our port and the server's address. False: one of both has none left. */
static bool place(struct wh_job *job, uint32_t index)
{
	const struct wh_host_ctx *ctx = job->jobs->ctx;
	uint32_t queues = ctx->settings->queues, ports = ctx->settings->ports;
	struct wh_job_path *path = &job->streams.path[index];
	uint32_t port = (job->place.shard / queues + index) % ports;
	uint32_t queue = job->place.shard % queues;
	uint8_t family = job->place.peer.family;

	if (index >= ports || wh_host_ctx_address(ctx, family, port * queues).family != family)
		return false;
	path->shard = port * queues + queue;
	/* Cores that receive compare it with whoever opens a stream. */
	WH_HOLD(&job->jobs->awaiting_lock);
	path->peer =
		index > 0 && index < job->ready.peers ? job->ready.peer[index] : job->place.peer;
	path->peer.port = job->place.peer.port;
	return true;
}

/* A path of which nothing exists. */
static int32_t open_again(struct wh_job *job, uint32_t index, uint64_t now_tsc)
{
	struct wh_job_path *path = &job->streams.path[index];

	if (job->role != WH_AT_CLIENT || now_tsc < path->due_tsc)
		return 0;
	path->due_tsc = now_tsc + AGAIN_S * job->jobs->ctx->hz;
	if (!place(job, index))
		return 0;
	path->opened_tsc = now_tsc;
	return open_out(job, index);
}

/* Asks its sessions to end, once nothing in their memory is needed; forgets it when they have. */
static int32_t leave(struct wh_job *job, uint32_t index, uint64_t now_tsc)
{
	struct wh_job_path *path = &job->streams.path[index];
	struct wh_session *in = wh_path_in(path);
	struct wh_job_stripe *stripe = job->streams.stripe;

	see(job, index);
	path->out_joined = path->out_joined && !wh_stripe_out_drop(&stripe->out, index);
	path->in_joined = path->in_joined && !wh_stripe_in_drop(&stripe->in, index);
	if (path->out_joined || path->in_joined)
		return 0;
	if (!path->out_left) {
		path->out_left = true;
		if (path->out != NULL) {
			wh_path_note(job, path, true);
			wh_session_ask(path->out, WH_WISH_ABORT, WH_STATUS_INTERRUPTED);
			wh_session_ask(path->out, WH_WISH_CLOSE, WH_STATUS_PENDING);
		}
	}
	if (in != NULL && !path->in_left) {
		path->in_left = true;
		wh_path_note(job, path, false);
		wh_session_ask(in, WH_WISH_ABORT, WH_STATUS_INTERRUPTED);
		wh_session_ask(in, WH_WISH_CLOSE, WH_STATUS_PENDING);
	}
	if ((path->out != NULL && !path->out_gone) || (in != NULL && !path->in_gone))
		return 0;
	path->out = NULL;
	path->seat.in = NULL;
	path->out_left = path->out_gone = path->in_left = path->in_gone = false;
	path->summed[0] = path->summed[1] = false;
	path->due_tsc = now_tsc + AGAIN_S * job->jobs->ctx->hz;
	atomic_store_explicit(&path->seat.state, WH_SEAT_FREE, memory_order_release);
	return 1;
}

/* Whether our session is not open, and will not be. */
static bool is_late(const struct wh_job *job, const struct wh_job_path *path, uint64_t now_tsc)
{
	return !path->out_joined && now_tsc > path->opened_tsc &&
	       now_tsc - path->opened_tsc > OPEN_PATIENCE_S * job->jobs->ctx->hz;
}

static int32_t step(struct wh_job *job, uint32_t index, uint64_t now_tsc)
{
	struct wh_job_path *path = &job->streams.path[index];
	struct wh_session *in = wh_path_in(path);
	bool is_main = index == atomic_load(&job->streams.main);

	if (path->out == NULL && in == NULL)
		return open_again(job, index, now_tsc);
	if (path->out == NULL && !path->in_left) {
		path->opened_tsc = now_tsc;
		path->shard = path->seat.shard;
		if (!open_out(job, index))
			return leave(job, index, now_tsc);
	}
	/* The job itself ends on its main path. */
	if (!is_main && (path->out_left || !is_alive(path) || is_late(job, path, now_tsc)))
		return leave(job, index, now_tsc);
	return join(job, index);
}

static uint64_t heard_tsc(const struct wh_job_path *path)
{
	const struct wh_session *in = wh_path_in(path);

	return wh_max_u64(
		wh_session_heard_tsc(path->out), in != NULL ? wh_session_heard_tsc(in) : 0);
}

/*
 * If the main path has failed, or is silent while others are heard, the one heard last takes its
 * place: the job's end must not wait for it.
 */
static void choose_main(struct wh_job *job)
{
	const struct wh_job_path *main = wh_job_main(job);
	bool alive = is_alive(main);
	uint64_t last_tsc = alive ? heard_tsc(main) + SILENT_S * job->jobs->ctx->hz : 0;

	for (uint32_t i = 0; i < WH_JOB_PATHS_MAX; i++) {
		const struct wh_job_path *path = &job->streams.path[i];

		if (path == main || !path->out_joined || !path->in_joined || !is_alive(path) ||
			heard_tsc(path) <= last_tsc)
			continue;
		last_tsc = heard_tsc(path);
		atomic_store_explicit(&job->streams.main, i, memory_order_relaxed);
	}
}

static void kick(struct wh_job *job)
{
	const struct wh_job_stripe *stripe = job->streams.stripe;

	for (uint32_t i = 0; i < WH_JOB_PATHS_MAX; i++) {
		const struct wh_job_path *path = &job->streams.path[i];

		if (stripe->out.kicks >> i & 1)
			wh_session_kick(path->out);
		if (stripe->in.kicks >> i & 1)
			wh_session_kick(wh_path_in(path));
	}
}

int32_t wh_paths_poll(struct wh_job *job, uint64_t now_tsc)
{
	struct wh_job_stripe *stripe = job->streams.stripe;
	int32_t work = 0;

	if (stripe == NULL)
		return 0;
	hear(job);
	if (job->view.state == WH_JOB_RUNNING)
		for (uint32_t i = 0; i < WH_JOB_PATHS_MAX; i++)
			work += step(job, i, now_tsc);
	for (uint32_t i = 0; i < WH_JOB_PATHS_MAX; i++)
		see(job, i);
	work += wh_stripe_out_poll(&stripe->out, now_tsc) + wh_stripe_in_poll(&stripe->in);
	kick(job);
	if (stripe->in.wrong)
		wh_job_fail(job, WH_STATUS_MISMATCH,
			"the peer's chunks have places that no stream has");
	choose_main(job);
	return work;
}

void wh_paths_set_rate(const struct wh_job *job, uint64_t rate_bps)
{
	for (uint32_t i = 0; i < WH_JOB_PATHS_MAX; i++) {
		const struct wh_job_path *path = &job->streams.path[i];

		/* The main path's is the lane's part of what all lanes share. */
		if (path->out == NULL || path->out_left ||
			(path == wh_job_main(job) && job->lanes.share.share != NULL))
			continue;
		wh_session_set_rate(path->out, rate_bps);
	}
}

void wh_paths_end(struct wh_job *job)
{
	struct wh_job_stripe *stripe = job->streams.stripe;

	if (stripe == NULL)
		return;
	wh_stripe_out_free(&stripe->out);
	wh_stripe_in_free(&stripe->in);
	free(stripe);
	job->streams.stripe = NULL;
}
