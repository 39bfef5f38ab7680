/* SPDX-License-Identifier: BSD-3-Clause */

/* The memory of sessions: how many chunks they get, and which peer is charged for them. */

#include "base/assert.h"
#include "base/clock.h"
#include "job/jobs.h"

/*
 * A session gets a quarter of the free memory, at most a third of what its peer may still have, and
 * never less than a few chunks. So the first sessions have plenty, and there is room for many.
 */
#define SHARE_OF_FREE 4
#define SHARE_OF_PEER 3

/*
 * A session that may have all the memory leaves a sixteenth and 1 MiB for tables and answers, but
 * at most a quarter.
 */
#define BESIDE_PART  16
#define BESIDE_BYTES (UINT64_C(1) << 20)

/* Chunks held by writers, beyond those of the window. */
#define STORE_CHUNKS 8

uint64_t wh_jobs_free_bytes(struct wh_jobs *jobs)
{
	uint64_t free_bytes = wh_arena_free_bytes(&jobs->ctx->arena);
	uint64_t table_bytes = atomic_load_explicit(&jobs->table_bytes, memory_order_relaxed);

	/* The tables of sessions are counted as part of the same memory. */
	return free_bytes - wh_min_u64(free_bytes, table_bytes);
}

/*
 * A client has all its memory for itself. So has the peer of a server that runs one job at a time.
 */
static bool has_all(const struct wh_job *job)
{
	return job->role == WH_AT_CLIENT || job->jobs->service->limits.places == 1;
}

static uint64_t whole_share(uint64_t bytes)
{
	return bytes - wh_min_u64(bytes / 4, bytes / BESIDE_PART + BESIDE_BYTES);
}

uint64_t wh_jobs_buffers_for(uint64_t chunk_bytes)
{
	return (chunk_bytes + BESIDE_BYTES) / (BESIDE_PART - 1) * BESIDE_PART + BESIDE_BYTES;
}

/* Among how many sessions each way a job's memory is divided; before HELLO, as many as we have. */
static uint32_t ports_of(const struct wh_job *job)
{
	uint32_t own = job->jobs->ctx->settings->ports;

	return job->request.ports > 0 ? job->request.ports : (uint32_t)wh_max_u64(own, 1);
}

static uint32_t share_chunks(const struct wh_job *job, uint64_t stride_bytes, uint64_t wanted)
{
	uint64_t share_bytes = wh_jobs_free_bytes(job->jobs) / SHARE_OF_FREE;

	if (job->role == WH_AT_SERVER && has_all(job))
		share_bytes = whole_share(wh_jobs_free_bytes(job->jobs)) / ports_of(job);
	else if (job->role == WH_AT_SERVER)
		share_bytes = wh_min_u64(
			share_bytes, wh_peers_left_bytes(&job->jobs->peers, job->place.peer_entry) /
					     SHARE_OF_PEER);

	uint64_t chunks = wh_max_u64(share_bytes / stride_bytes, WH_JOB_CHUNKS_MIN);

	return (uint32_t)wh_min_u64(wh_min_u64(wanted, chunks), UINT16_MAX);
}

uint32_t wh_job_sender_chunks(const struct wh_job *job, uint64_t stride_bytes)
{
	struct wh_jobs *jobs = job->jobs;
	uint64_t own_bytes = job->request.memory_bytes / job->request.lanes;

	/*
	 * Idle streams that were opened before have their memory and tables already. Part of the
	 * rest stays free for answers.
	 */
	if (has_all(job)) {
		uint64_t share_bytes = whole_share(
			wh_min_u64(own_bytes / ports_of(job), wh_jobs_free_bytes(jobs)));

		/* Ask for at least one: if there is none, allocating the session fails. */
		return (uint32_t)wh_min_u64(wh_max_u64(share_bytes / stride_bytes, 1), UINT16_MAX);
	}
	return share_chunks(job, stride_bytes, UINT64_MAX);
}

uint32_t wh_job_chunks_wanted(uint32_t window_pkts, uint32_t payload_bytes, uint32_t chunk_bytes)
{
	return (uint32_t)((uint64_t)window_pkts * payload_bytes / chunk_bytes) + STORE_CHUNKS;
}

uint32_t wh_job_receiver_chunks(
	const struct wh_job *job, const struct wh_open_params *params, uint64_t stride_bytes)
{
	uint32_t wanted = wh_job_chunks_wanted(
		params->window_pkts, params->payload_bytes, params->chunk_bytes);

	if (params->chunk_bytes <= WH_ANSWER_CHUNK_BYTES)
		wanted = WH_ANSWER_CHUNKS;
	return share_chunks(job, stride_bytes, wanted);
}

static struct wh_job_memory *memory_of(struct wh_job_path *path, enum wh_role role)
{
	return role == WH_RECEIVER ? &path->seat.memory : &path->out_memory;
}

uint8_t *wh_job_take_memory(struct wh_job *job, struct wh_job_path *path, enum wh_role role,
	const struct wh_session_config *config)
{
	struct wh_jobs *jobs = job->jobs;
	struct wh_job_memory *memory = memory_of(path, role);
	uint64_t bytes = config->chunks * wh_session_chunk_stride(config);
	uint64_t table_bytes =
		wh_session_table_bytes(role, config) + wh_session_sealing_bytes(role);
	uint64_t charged_bytes = job->role == WH_AT_SERVER ? bytes + table_bytes : 0;

	WH_ASSERT(memory->chunks == NULL && memory->table_bytes == 0);
	WH_ASSERT(config->chunks > 0 && config->chunks <= UINT16_MAX);
	if (charged_bytes > wh_jobs_free_bytes(jobs) ||
		(charged_bytes > 0 &&
			!wh_peers_take_bytes(&jobs->peers, job->place.peer_entry, charged_bytes)))
		return NULL;
	*memory = (struct wh_job_memory){
		.chunks = wh_arena_take(&jobs->ctx->arena, bytes),
		.table_bytes = table_bytes,
		.charged_bytes = charged_bytes,
	};
	atomic_fetch_add(&jobs->table_bytes, table_bytes);
	if (memory->chunks == NULL) {
		wh_job_give_memory(job, path, role);
		return NULL;
	}
	return memory->chunks;
}

void wh_job_give_memory(struct wh_job *job, struct wh_job_path *path, enum wh_role role)
{
	struct wh_jobs *jobs = job->jobs;
	struct wh_job_memory *memory = memory_of(path, role);

	wh_arena_give(&jobs->ctx->arena, memory->chunks);

	uint64_t table_bytes = atomic_fetch_sub(&jobs->table_bytes, memory->table_bytes);

	WH_ASSERT(table_bytes >= memory->table_bytes);
	if (memory->charged_bytes > 0)
		wh_peers_give_bytes(job->place.peer_entry, memory->charged_bytes);
	*memory = (struct wh_job_memory){0};
}

static bool take_list(void *context, uint64_t bytes)
{
	struct wh_job *job = context;
	struct wh_jobs *jobs = job->jobs;

	if (bytes > wh_jobs_free_bytes(jobs) ||
		!wh_peers_take_bytes(&jobs->peers, job->place.peer_entry, bytes))
		return false;
	atomic_fetch_add(&jobs->table_bytes, bytes);
	return true;
}

static void give_list(void *context, uint64_t bytes)
{
	struct wh_job *job = context;
	uint64_t table_bytes = atomic_fetch_sub(&job->jobs->table_bytes, bytes);

	WH_ASSERT(table_bytes >= bytes);
	wh_peers_give_bytes(job->place.peer_entry, bytes);
}

struct wh_blocks_account wh_job_lists(struct wh_job *job)
{
	const struct wh_blocks_account of_peer = {take_list, give_list, job};

	return job->role == WH_AT_SERVER ? of_peer : (struct wh_blocks_account){0};
}
