/* SPDX-License-Identifier: BSD-3-Clause */
#include "job/jobs.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/clock.h"
#include "cli/address_text.h"
#include "cli/cli_repair.h"
#include "cli/complain.h"
#include "job/paths/awaited.h"
#include "job/paths/paths.h"
#include "seal/sa.h"
#include "trust/trust_store.h"

/* A job without work for this long is stepped less often. */
#define IDLE_AFTER_MS 10

/*
 * One idle job is stepped every this many turns: a thousand of them cost a busy one almost nothing.
 */
#define IDLE_EVERY 16

/*
 * Slots of the rings for arrivals, and for closed sessions that wait while telemetry reads: two
 * sessions for each possible job.
 */
#define RING_SLOTS 16384

/*
 * While a spare place is in use, a job without progress is ended after this long: after the shorter
 * time if its peer has other jobs.
 */
#define EVICT_OTHERS_S 2
#define EVICT_ONLY_S   10
#define EVICT_EVERY    256 /* in turns */

static uint64_t to_ns(const struct wh_jobs *jobs, uint64_t now_tsc)
{
	return wh_tsc_to_ns(jobs->ctx->hz, now_tsc);
}

static struct wh_who who_of(const struct wh_address *peer, const struct wh_sa *sa)
{
	return (struct wh_who){
		.address = peer,
		.identity = sa != NULL ? sa->config.owner : NULL,
	};
}

static enum wh_release_status welcome_job(struct wh_jobs *jobs, uint64_t now_tsc,
	const struct wh_open_params *params, const struct wh_who *who, const struct wh_sa *sa)
{
	if (jobs->service == NULL || strcmp(params->name, WH_JOB_NAME) != 0)
		return WH_STATUS_REFUSED;
	if (!wh_service_may_be_at(jobs->service, who->address, sa))
		return WH_STATUS_REFUSED;
	if (atomic_load(&jobs->draining) ||
		!wh_peers_would_admit(&jobs->peers, who, to_ns(jobs, now_tsc)))
		return WH_STATUS_BUSY;
	return WH_STATUS_PENDING;
}

/* Arena memory of a chunk with the repair packets that OPEN announces. */
static uint64_t stride_of(const struct wh_open_params *params)
{
	struct wh_session_config config = {
		.chunk_bytes = params->chunk_bytes,
		.payload_bytes = params->payload_bytes,
	};

	wh_repair_follow(params, &config);
	return wh_session_chunk_stride(&config);
}

static enum wh_release_status welcome(void *owner, uint64_t now_tsc,
	const struct wh_open_params *params, const struct wh_address *peer, const struct wh_sa *sa,
	uint32_t *buffer_chunks)
{
	struct wh_jobs *jobs = owner;
	const struct wh_who who = who_of(peer, sa);
	enum wh_release_status status = WH_STATUS_PENDING;
	uint32_t chunk_bytes = wh_awaited_chunk_bytes(jobs, params->name, peer, sa);

	if (chunk_bytes == 0)
		status = welcome_job(jobs, now_tsc, params, &who, sa);
	else if (params->chunk_bytes != chunk_bytes)
		status = WH_STATUS_REFUSED;
	/* The guaranteed number; the session's first report announces the rest. */
	*buffer_chunks = WH_JOB_CHUNKS_MIN;
	if (status == WH_STATUS_PENDING &&
		wh_jobs_free_bytes(jobs) < WH_JOB_CHUNKS_MIN * stride_of(params))
		status = WH_STATUS_BUSY;
	if (status != WH_STATUS_PENDING && jobs->service != NULL)
		wh_refusals_note(&jobs->refusals, peer,
			sa != NULL ? sa->config.peer_identity : NULL,
			wh_release_status_name(status), "");
	return status;
}

static struct wh_job *new_job(struct wh_jobs *jobs, const struct wh_request *request)
{
	struct wh_job *job = calloc(1, sizeof(*job));

	if (job == NULL)
		return NULL;
	job->jobs = jobs;
	job->request = *request;
	atomic_store(&job->wishes.rate_bps, request->rate_bps);
	return job;
}

/* The limit of the peer's rate here: the lower of its right's and the operator's; 0: none. */
static uint64_t peer_bps(const struct wh_jobs *jobs, const struct wh_sa *sa)
{
	const struct wh_service *service = jobs->service;
	uint64_t bps = service->own.rate_bps;
	char name[WH_PEER_NAME_BYTES];
	struct wh_rights rights;

	if (sa != NULL && service->store != NULL && sa->config.rights != 0 &&
		wh_store_rights(service->store, sa->config.rights, &rights, name))
		bps = wh_min_u64(bps, rights.rate_bps);
	return wh_rate_is_paced(bps) ? bps : 0;
}

/* Creates and counts a job for a peer's stream. NULL: the last place was taken since OPEN. */
static struct wh_job *admit_job(struct wh_jobs *jobs, uint64_t now_tsc,
	const struct wh_open_params *params, const struct wh_who *who, const struct wh_sa *sa)
{
	if (welcome_job(jobs, now_tsc, params, who, sa) != WH_STATUS_PENDING)
		return NULL;

	struct wh_peer *peer_entry = wh_peers_admit(&jobs->peers, who, to_ns(jobs, now_tsc));

	if (peer_entry == NULL)
		return NULL;
	wh_shared_rate_set(&peer_entry->rate, peer_bps(jobs, sa));

	struct wh_job *job = new_job(jobs, &jobs->service->own);

	if (job == NULL) {
		wh_peers_dismiss(&jobs->peers, peer_entry);
		return NULL;
	}
	atomic_fetch_add(&jobs->live, 1);
	job->role = WH_AT_SERVER;
	atomic_store(&job->streams.path[0].seat.state, WH_SEAT_TAKING);
	job->place.peer = *who->address;
	job->place.peer_entry = peer_entry;
	job->listener.on_file = jobs->service->on_file;
	job->listener.context = jobs->service->context;
	return job;
}

static void drop_job(struct wh_jobs *jobs, struct wh_job *job)
{
	if (job->role == WH_AT_SERVER)
		wh_peers_dismiss(&jobs->peers, job->place.peer_entry);

	uint32_t live = atomic_fetch_sub_explicit(&jobs->live, 1, memory_order_release);

	WH_ASSERT(live > 0);
}

static void give_to_worker(struct wh_job *job, uint64_t now_tsc)
{
	struct wh_jobs *jobs = job->jobs;
	uint32_t next = atomic_fetch_add(&jobs->next_worker, 1);

	WH_ASSERT(job->worker == NULL && job->view.state == WH_JOB_OPENING);
	job->worker = &jobs->worker[next % jobs->workers];
	job->turn.came_tsc = now_tsc;
	job->turn.give_up_tsc = job->turn.came_tsc + WH_HELLO_PATIENCE_S * jobs->ctx->hz;

	int rc = rte_ring_mp_enqueue(job->worker->arrivals, job);

	WH_ASSERT(rc == 0); /* more slots than places for sessions */
}

/* Creates the job's session; this core has set the seat to TAKING. */
static bool seat_session(struct wh_job *job, struct wh_job_path *path,
	const struct wh_session_config *wanted, uint64_t now_tsc, uint32_t cid,
	const struct wh_address *peer, const struct wh_open_params *params, uint64_t rtt_tsc)
{
	struct wh_session_config config = *wanted;

	wh_request_apply(&job->request, &config);
	config.chunks = wh_job_receiver_chunks(job, params, stride_of(params));
	config.shared_rate = wh_job_shared_rate(job);
	config.peer_moves = job->role == WH_AT_SERVER;
	config.chunk_memory = wh_job_take_memory(job, path, WH_RECEIVER, &config);
	if (config.chunk_memory == NULL)
		return false;
	path->seat.in = wh_session_accept(&config, now_tsc, cid, peer, params, rtt_tsc);
	if (path->seat.in == NULL) {
		wh_job_give_memory(job, path, WH_RECEIVER);
		return false;
	}
	wh_session_set_context(path->seat.in, job);
	return true;
}

static struct wh_session *accept_session(void *owner, uint32_t shard,
	const struct wh_session_config *config, uint64_t now_tsc, uint32_t cid,
	const struct wh_address *peer, const struct wh_sa *sa, const struct wh_open_params *params,
	uint64_t rtt_tsc)
{
	struct wh_jobs *jobs = owner;
	const struct wh_who who = who_of(peer, sa);
	uint32_t index;
	struct wh_job *job = wh_awaited_take(jobs, params->name, peer, sa, &index);
	bool new_one = job == NULL;

	if (new_one)
		job = admit_job(jobs, now_tsc, params, &who, sa);
	if (job == NULL)
		return NULL;

	struct wh_job_path *path = &job->streams.path[new_one ? 0 : index];

	if (!seat_session(job, path, config, now_tsc, cid, peer, params, rtt_tsc)) {
		atomic_store(&path->seat.state, WH_SEAT_FREE);
		if (new_one) {
			drop_job(jobs, job);
			free(job);
		}
		return NULL;
	}

	struct wh_session *session = path->seat.in;

	path->seat.shard = shard;
	if (new_one)
		path->shard = job->place.shard = shard;
	atomic_store_explicit(&path->seat.state, WH_SEAT_TAKEN, memory_order_release);
	if (new_one)
		give_to_worker(job, now_tsc);
	return session;
}

static void session_gone(void *owner, struct wh_session *session)
{
	const struct wh_job *job = wh_session_context(session);
	int rc = rte_ring_mp_enqueue(job->worker->gone, session);

	(void)owner;
	WH_ASSERT(rc == 0); /* more slots than places for sessions */
}

/* Checked before any costly work for a stranger; refusals are noted, at a limited rate. */
static bool may_knock(void *owner, const struct wh_address *peer, const struct wh_sa *sa)
{
	struct wh_jobs *jobs = owner;

	if (jobs->service == NULL || wh_service_may_be_at(jobs->service, peer, sa))
		return true;
	wh_refusals_note(&jobs->refusals, peer, sa != NULL ? sa->config.peer_identity : NULL,
		wh_release_status_name(WH_STATUS_REFUSED), "");
	return false;
}

/* A peer may measure by the same right as `bench`. */
static bool may_measure(const struct wh_service *service, const struct wh_sa *sa)
{
	char name[WH_PEER_NAME_BYTES];
	struct wh_rights rights;

	return sa == NULL || service->store == NULL || sa->config.rights == 0 ||
	       (wh_store_rights(service->store, sa->config.rights, &rights, name) &&
		       rights.measure);
}

enum wh_release_status wh_jobs_may_probe(
	void *owner, uint64_t now_tsc, const struct wh_address *peer, const struct wh_sa *sa)
{
	struct wh_jobs *jobs = owner;

	(void)now_tsc;
	if (jobs->service == NULL || !wh_service_may_come(jobs->service, peer))
		return WH_STATUS_REFUSED;
	if (atomic_load(&jobs->draining) || atomic_load(&jobs->live) > 0)
		return WH_STATUS_BUSY;
	if (may_measure(jobs->service, sa))
		return WH_STATUS_PENDING;
	wh_refusals_note(&jobs->refusals, peer, sa->config.peer_identity,
		wh_release_status_name(WH_STATUS_REFUSED), "it may not run measurements here");
	return WH_STATUS_REFUSED;
}

const struct wh_host_ctx_hooks wh_jobs_hooks = {
	.welcome = welcome,
	.accept = accept_session,
	.gone = session_gone,
	.may_come = may_knock,
};

static struct wh_job_path *path_of(struct wh_job *job, const struct wh_session *session)
{
	for (uint32_t i = 0; i < WH_JOB_PATHS_MAX; i++) {
		struct wh_job_path *path = &job->streams.path[i];

		if (session == path->out || session == wh_path_in(path))
			return path;
	}
	WH_ASSERT(!"a session of a job is on one of its paths");
	return NULL;
}

/* Frees a session that no packet core uses any more. */
static void bury(struct wh_job *job, struct wh_session *session)
{
	struct wh_job_path *path = path_of(job, session);
	bool is_in = session != path->out;

	WH_ASSERT(is_in ? !path->in_gone : !path->out_gone);
	wh_job_give_memory(job, path, is_in ? WH_RECEIVER : WH_TRANSMITTER);
	wh_past_add(&job->jobs->past, is_in ? WH_RECEIVER : WH_TRANSMITTER, session);
	path->in_gone |= is_in;
	path->out_gone |= !is_in;
	job->turn.worked_tsc = 0; /* it may be over now */
	wh_session_destroy(session);
}

static int32_t bury_sessions(struct wh_worker *worker)
{
	void *found;
	int32_t work = 0;

	/* Never waits: while telemetry reads sessions, they are freed in a later turn. */
	if (rte_ring_empty(worker->gone) || rte_spinlock_trylock(&worker->jobs->burial) == 0)
		return 0;
	while (rte_ring_sc_dequeue(worker->gone, &found) == 0) {
		struct wh_session *session = found;
		struct wh_job *job = wh_session_context(session);

		/* A session that has gone must not be told to close again. */
		WH_ASSERT(session == path_of(job, session)->out ? path_of(job, session)->out_left
								: path_of(job, session)->in_left);
		bury(job, session);
		work++;
	}
	rte_spinlock_unlock(&worker->jobs->burial);
	return work;
}

static int32_t take_arrivals(struct wh_worker *worker, uint64_t now_tsc)
{
	void *found;
	int32_t work = 0;

	while (rte_ring_sc_dequeue(worker->arrivals, &found) == 0) {
		struct wh_job *job = found;

		/* The job may have been handed over after the time of this turn was read. */
		job->turn.came_tsc = wh_min_u64(job->turn.came_tsc, now_tsc);
		TAILQ_INSERT_TAIL(&worker->busy, job, next);
		work++;
	}
	return work;
}

/* Removes the job from its worker: when over, a client's job is read and freed by its verb. */
static void dismiss(struct wh_worker *worker, struct wh_job_list *list, struct wh_job *job)
{
	struct wh_jobs *jobs = worker->jobs;

	TAILQ_REMOVE(list, job, next);
	wh_job_drop_rights(job);
	if (job->role == WH_AT_SERVER && jobs->service->on_over != NULL)
		jobs->service->on_over(jobs->service->context, job);
	wh_job_await_no_more(job);
	wh_paths_end(job);
	/* The job's creator may keep it for longer than the SAs exist. */
	wh_sa_let_go(job->streams.sa);
	job->streams.sa = NULL;
	drop_job(jobs, job);
	if (job->role == WH_AT_SERVER)
		wh_job_free(job);
	else
		wh_job_enter(job, WH_JOB_OVER);
}

/* One chunk per turn for each session with repair packets, so that other jobs get their turns. */
static int32_t code_chunks(const struct wh_worker *worker, const struct wh_job *job)
{
	uint8_t before = wh_meter_enter(worker->meter, WH_METER_CODER);
	int32_t work = 0;

	for (uint32_t i = 0; i < WH_JOB_PATHS_MAX; i++) {
		const struct wh_job_path *path = &job->streams.path[i];
		struct wh_session *in = wh_path_in(path);

		if (in != NULL && !path->in_left && wh_repair_is_on(in))
			work += wh_session_decode(in, worker->fec);
		if (path->out != NULL && !path->out_left && wh_repair_is_on(path->out))
			work += wh_session_encode(path->out, worker->fec);
	}
	wh_meter_leave(worker->meter, before);
	return work;
}

/* Whether this job, or all jobs, are asked to end. */
static bool is_hurried(const struct wh_job *job)
{
	return atomic_load_explicit(&job->wishes.hurry, memory_order_relaxed) ||
	       atomic_load_explicit(&job->jobs->hurry, memory_order_relaxed);
}

/* One step of a job that has not ended. */
static int32_t work_on(struct wh_worker *worker, struct wh_job *job, uint64_t now_tsc)
{
	bool serves = job->role == WH_AT_SERVER;

	if (is_hurried(job)) {
		wh_job_give_up(job, now_tsc, WH_STATUS_INTERRUPTED,
			serves ? "the server is stopping" : "interrupted");
		return 1;
	}

	if (!wh_job_see_rights(job, now_tsc))
		return 1;

	int32_t work = serves ? wh_job_server_step(job, now_tsc) : wh_job_client_step(job, now_tsc);

	/* A job's end frees the memory of its streams' end markers. */
	return job->view.state < WH_JOB_ENDING ? work + code_chunks(worker, job) : work;
}

/* Moves the job between the lists, or removes it. */
static int32_t step(
	struct wh_worker *worker, struct wh_job_list *list, struct wh_job *job, uint64_t now_tsc)
{
	int before = job->view.state;
	int32_t work = 0;

	if (before == WH_JOB_ENDING) {
		if (wh_job_step_to_end(job, now_tsc)) {
			dismiss(worker, list, job);
			return 1;
		}
	} else {
		work = work_on(worker, job, now_tsc);
	}
	if (job->view.state != before)
		wh_job_check(job);
	if (work > 0 || job->turn.worked_tsc == 0)
		job->turn.worked_tsc = now_tsc;

	bool busy = now_tsc - job->turn.worked_tsc <
		    wh_ns_to_tsc(worker->jobs->ctx->hz, IDLE_AFTER_MS * 1000000);

	if ((list == &worker->busy) != busy) {
		TAILQ_REMOVE(list, job, next);
		TAILQ_INSERT_TAIL(busy ? &worker->busy : &worker->idle, job, next);
	} else if (!busy) {
		TAILQ_REMOVE(list, job, next);
		TAILQ_INSERT_TAIL(list, job, next); /* so that the next one has its turn */
	}
	return work;
}

static uint64_t stale_tsc(const struct wh_job *job, uint64_t now_tsc)
{
	uint64_t since_tsc = wh_max_u64(job->turn.came_tsc, job->waits.watch.progress_tsc);

	return now_tsc > since_tsc ? now_tsc - since_tsc : 0;
}

/* Of the peer with the most places, the job with the longest time without progress. */
static struct wh_job *stalest(struct wh_worker *worker, uint64_t now_tsc)
{
	struct wh_job_list *const lists[] = {&worker->busy, &worker->idle};
	struct wh_job *found = NULL;
	uint32_t found_places = 0;
	struct wh_job *job;

	for (uint32_t i = 0; i < RTE_DIM(lists); i++)
		TAILQ_FOREACH(job, lists[i], next)
		{
			if (job->role != WH_AT_SERVER)
				continue;

			uint32_t places = job->place.peer_entry->places;
			uint64_t patience_s = places > 1 ? EVICT_OTHERS_S : EVICT_ONLY_S;

			if (job->view.state >= WH_JOB_ENDING || places < found_places ||
				stale_tsc(job, now_tsc) < patience_s * worker->jobs->ctx->hz)
				continue;
			if (places > found_places ||
				stale_tsc(job, now_tsc) > stale_tsc(found, now_tsc))
				found = job;
			found_places = places;
		}
	return found;
}

/* Ends one stale job at a time, since an end takes a moment. */
static int32_t make_room(struct wh_worker *worker, uint64_t now_tsc)
{
	struct wh_jobs *jobs = worker->jobs;

	if (jobs->service == NULL || worker->turns % EVICT_EVERY != 0 ||
		now_tsc < worker->evict_tsc || !wh_peers_are_crowded(&jobs->peers))
		return 0;

	struct wh_job *job = stalest(worker, now_tsc);

	if (job == NULL)
		return 0;
	worker->evict_tsc = now_tsc + jobs->ctx->hz;
	wh_job_say(job, now_tsc,
		"its place was given to another peer: its job made no progress for %u s",
		(unsigned)(stale_tsc(job, now_tsc) / jobs->ctx->hz));
	wh_job_give_up(job, now_tsc, WH_STATUS_BUSY, "another peer needs its place");
	return 1;
}

static int32_t poll_worker(void *state, uint64_t now_tsc)
{
	struct wh_worker *worker = state;
	uint8_t before = wh_meter_enter(worker->meter, WH_METER_JOB);
	int32_t work =
		bury_sessions(worker) + take_arrivals(worker, now_tsc) + make_room(worker, now_tsc);
	struct wh_job *job = TAILQ_FIRST(&worker->busy);

	while (job != NULL) {
		struct wh_job *following = TAILQ_NEXT(job, next);

		work += step(worker, &worker->busy, job, now_tsc);
		job = following;
	}
	/* When all are to end, idle jobs are stepped every turn. */
	if (atomic_load_explicit(&worker->jobs->hurry, memory_order_relaxed))
		TAILQ_CONCAT(&worker->busy, &worker->idle, next);
	if (worker->turns++ % IDLE_EVERY == 0 && !TAILQ_EMPTY(&worker->idle))
		work += step(worker, &worker->idle, TAILQ_FIRST(&worker->idle), now_tsc);
	wh_meter_leave(worker->meter, before);
	return work;
}

static struct rte_ring *make_ring(void)
{
	ssize_t bytes = rte_ring_get_memsize(RING_SLOTS);
	struct rte_ring *ring = aligned_alloc(
		RTE_CACHE_LINE_SIZE, RTE_ALIGN_CEIL((size_t)bytes, (size_t)RTE_CACHE_LINE_SIZE));

	if (ring != NULL && rte_ring_init(ring, "worker", RING_SLOTS, RING_F_SC_DEQ) == 0)
		return ring;
	free(ring);
	return NULL;
}

/*
 * Plans the repair tables for sessions of peers, or of our own jobs, with any allowed options and
 * MTU.
 */
static void plan_fec(struct wh_jobs *jobs)
{
	const struct wh_host_settings *settings = jobs->ctx->settings;

	jobs->ctx->fec = wh_repair_limits(WH_CHUNK_BYTES_DEFAULT, WH_STREAM_PAYLOAD_BYTES_MIN,
		wh_encap_payload_bytes(WH_IPV4, settings->mtu_bytes));
	if (settings->verbose)
		wh_say("memory: tables of erasure codes, %" PRIu64 " KiB of each of %u cores",
			wh_fec_bytes(&jobs->ctx->fec) >> 10, jobs->workers);
}

int wh_jobs_init(struct wh_jobs *jobs, struct wh_host_ctx *ctx, const struct wh_service *service,
	bool repair)
{
	jobs->ctx = ctx;
	jobs->service = service;
	rte_spinlock_init(&jobs->burial);
	wh_lane_groups_init(&jobs->lane_groups);
	wh_refusals_init(&jobs->refusals);
	TAILQ_INIT(&jobs->awaiting);
	jobs->workers = (uint32_t)wh_min_u64(ctx->workers, WH_WORKERS_MAX);
	WH_ASSERT(jobs->workers > 0 && ctx->hz > 0);
	if (service != NULL || repair)
		plan_fec(jobs);
	if (service != NULL) {
		const uint64_t seed[] = {wh_host_ctx_draw(ctx), wh_host_ctx_draw(ctx)};

		if (wh_peers_init(&jobs->peers, &service->limits, seed) != 0)
			return -ENOMEM;
	}
	for (uint32_t i = 0; i < jobs->workers; i++) {
		struct wh_worker *worker = &jobs->worker[i];

		worker->jobs = jobs;
		TAILQ_INIT(&worker->busy);
		TAILQ_INIT(&worker->idle);
		worker->arrivals = make_ring();
		worker->gone = make_ring();
		if (jobs->ctx->fec.r > 0)
			worker->fec = wh_fec_create(&jobs->ctx->fec);
		if (worker->arrivals == NULL || worker->gone == NULL ||
			(jobs->ctx->fec.r > 0 && worker->fec == NULL))
			return -ENOMEM;
		wh_loop_add(ctx->worker[i], "jobs", poll_worker, worker);
		worker->meter = &ctx->worker[i]->meter;
	}
	return 0;
}

void wh_jobs_open_rings(struct wh_jobs *jobs, uint32_t count)
{
	wh_rings_open(&jobs->rings, count);
	if (jobs->rings.made == 0)
		wh_say("io_uring is not available: files are read and written by ordinary system "
		       "calls; `wavehaul doctor` explains why");
}

/* When no core uses its sessions any more, whether they were closed properly or not. */
static void end_job(struct wh_worker *worker, struct wh_job *job)
{
	if (job->view.state < WH_JOB_ENDING) {
		wh_job_fail(job, WH_STATUS_INTERRUPTED, "it was still running");
		wh_job_enter(job, WH_JOB_ENDING);
	}
	wh_job_close_ends(job);
	for (uint32_t i = 0; i < WH_JOB_PATHS_MAX; i++) {
		struct wh_job_path *path = &job->streams.path[i];
		struct wh_session *in = wh_path_in(path);

		if (in != NULL && !path->in_gone)
			bury(job, in);
		if (path->out != NULL && !path->out_gone)
			bury(job, path->out);
	}
	dismiss(worker, &worker->busy, job);
}

void wh_jobs_end(struct wh_jobs *jobs)
{
	struct wh_job *job;

	for (uint32_t i = 0; i < jobs->workers; i++) {
		struct wh_worker *worker = &jobs->worker[i];

		take_arrivals(worker, UINT64_MAX);
		TAILQ_CONCAT(&worker->busy, &worker->idle, next);
		while ((job = TAILQ_FIRST(&worker->busy)) != NULL)
			end_job(worker, job);
	}
}

void wh_jobs_check(struct wh_jobs *jobs)
{
	struct wh_job *job;

	for (uint32_t i = 0; i < jobs->workers; i++) {
		struct wh_worker *worker = &jobs->worker[i];

		TAILQ_FOREACH(job, &worker->busy, next)
		wh_job_check(job);
		TAILQ_FOREACH(job, &worker->idle, next)
		wh_job_check(job);
	}
	wh_arena_check(&jobs->ctx->arena);
}

void wh_jobs_free(struct wh_jobs *jobs)
{
	for (uint32_t i = 0; i < jobs->workers; i++) {
		free(jobs->worker[i].arrivals);
		free(jobs->worker[i].gone);
		wh_fec_destroy(jobs->worker[i].fec);
	}
	wh_rings_close(&jobs->rings);
	wh_peers_free(&jobs->peers);
}

struct wh_job *wh_job_create(struct wh_jobs *jobs, const struct wh_request *request, uint32_t lane)
{
	struct wh_job *job = new_job(jobs, request);

	WH_ASSERT(lane < request->lanes);
	if (job != NULL)
		job->place.lane = lane;
	return job;
}

void wh_job_start(struct wh_job *job, uint64_t now_tsc)
{
	WH_ASSERT(job->role == WH_AT_CLIENT && job->request.profile != NULL);
	if (wh_job_awaits_reply(job))
		wh_job_await(job);
	else
		atomic_store(&job->streams.path[0].seat.state, WH_SEAT_SHUT);
	atomic_fetch_add(&job->jobs->live, 1);
	give_to_worker(job, now_tsc);
	wh_loop_ring(job->jobs->ctx->worker[0]);
}

void wh_job_free(struct wh_job *job)
{
	if (job == NULL)
		return;
	WH_ASSERT(job->ends.source == NULL && job->ends.sink == NULL); /* they point into the job */
	if (job->lanes.lane_group != NULL)
		wh_lane_group_leave(
			&job->jobs->lane_groups, job->lanes.lane_group, job->place.lane);
	for (uint32_t i = 0; job->records.paths != NULL && job->records.paths[i] != NULL; i++)
		free(job->records.paths[i]);
	free(job->records.paths);
	free(job->records.file);
	free(job);
}

void wh_jobs_tell_untold(struct wh_jobs *jobs, uint64_t now_tsc)
{
	char text[WH_ADDRESS_TEXT_BYTES];
	struct wh_address address;
	uint64_t lines;

	if (!wh_peers_next_untold(
		    &jobs->peers, wh_tsc_to_ns(jobs->ctx->hz, now_tsc), &address, &lines))
		return;
	wh_say("%s: %" PRIu64 " more lines are suppressed",
		address.family != 0 ? wh_address_text(&address, text) : "other peers", lines);
}
