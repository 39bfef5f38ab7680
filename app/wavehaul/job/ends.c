/* SPDX-License-Identifier: BSD-3-Clause */

/* Opens the reading, writing, examining or measuring end of a job, alike on both sides. */

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <string.h>

#include "base/clock.h"
#include "job/jobs.h"
#include "job/mailbox/mailbox.h"
#include "job/paths/paths.h"
#include "seal/sa.h"

/* Chunk 0 of a peer's stream is HELLO or READY. */
#define PEERS_FIRST_CHUNK 1

/*
 * Memory for the attributes of some 800,000 folders. The first of a peer's streams gets all of it;
 * a later one gets it divided by the number of the peer's jobs. That suffices, since lanes send
 * folders in the first stream only.
 */
#define PEERS_FOLDER_BYTES (UINT32_C(64) << 20)

static uint32_t folder_bytes(const struct wh_job *job)
{
	return job->role == WH_AT_SERVER ? PEERS_FOLDER_BYTES / job->place.peer_entry->places : 0;
}

/*
 * The owner of incomplete files: the peer, whichever of its keys it used, or its address if nothing
 * is sealed.
 */
static struct wh_keeping keeping_of(const struct wh_job *job)
{
	struct wh_keeping keeping = {
		.journal = job->jobs->journal,
		.resume = job->request.resume,
		.batch_bytes = job->jobs->batch_bytes,
	};
	const struct wh_address *peer = &job->place.peer;

	static_assert(WH_JOURNAL_OWNER_BYTES == WH_IDENTITY_BYTES, "a key is an owner");
	if (job->role == WH_AT_SERVER)
		keeping.owner.bytes_max = job->jobs->service->limits.peer_kept_bytes;
	if (job->streams.sa != NULL)
		memcpy(keeping.owner.id, job->streams.sa->config.owner, WH_JOURNAL_OWNER_BYTES);
	else
		memcpy(keeping.owner.id, peer->ip, sizeof(peer->ip));
	return keeping;
}

/*
 * Whether the writer ended the stream by shutdown(2): its end of the socket is then still open. A
 * writer that died has closed it, which poll(2) reports as a hang-up.
 */
static bool is_shut(int fd)
{
	struct pollfd polled = {.fd = fd};

	return poll(&polled, 1, 0) == 0;
}

static int open_source(struct wh_job *job)
{
	const struct wh_request *request = &job->request;
	/* A client's source hears the sink once READY was read: as_client.c. */
	struct wh_session *in = job->role == WH_AT_SERVER ? wh_job_in(job) : NULL;
	const struct wh_source_config config = {
		.root_fd = request->here.root_fd,
		.paths = request->here.path,
		.path_count = request->here.count,
		.is_pipe = request->here.is_pipe,
		.is_whole = request->here.is_shut ? is_shut : NULL,
		.pipe_fd = request->here.pipe_fd,
		.pipe_s = request->here.pipe_s,
		.recursive = request->recursive,
		.choice = request->choice,
		.block_seed = job->place.transfer,
		.account = wh_job_lists(job),
		.lane = job->place.lane,
		.lanes = request->lanes,
		.resume = request->resume,
		.extent_bytes_max = job->jobs->batch_bytes,
		.rings = &job->jobs->rings,
		.splits = job->lanes.lane_group != NULL ? &job->lanes.lane_group->splits : NULL,
		.chunk_bytes = WH_CHUNK_BYTES_DEFAULT,
		.asks_first = request->asks_first,
		.first_chunk = job->records.posted,
		.free = wh_paths_free(job),
		.ready = wh_paths_ready(job),
		.deliver = in == NULL ? NULL : wh_paths_deliver(job),
		.recycled = in == NULL ? NULL : wh_paths_recycled(job),
		.gate = job->listener.gate,
		.on_file = job->listener.on_file,
		.context = job->listener.context,
	};

	return wh_source_open(&job->ends.source, &config);
}

static void tell_removed(struct wh_job *job, const struct wh_file_result *result)
{
	const struct wh_service *service = job->jobs->service;

	wh_job_say(job, job->ends.polled_tsc, "%s: %s",
		result->would ? "would be removed" : "removed", result->path);
	if (!result->would && service->on_removed != NULL)
		service->on_removed(service->context, job, result->path);
}

/* A removal must be recorded, so it waits until there is room for its record. */
static bool may_remove(void *context)
{
	const struct wh_job *job = context;
	const struct wh_service *service = job->jobs->service;

	return job->role != WH_AT_SERVER || service->may_remove == NULL ||
	       service->may_remove(service->context);
}

/* Remembers the first file that came into a folder, so that the log names more than the folder. */
static void on_file(void *context, const struct wh_file_result *result)
{
	struct wh_job *job = context;

	if (result->removed && job->role == WH_AT_SERVER)
		tell_removed(job, result);
	else if (job->records.file == NULL && job->role == WH_AT_SERVER &&
		 !wh_sink_progress(job->ends.sink)->as_name)
		job->records.file = strdup(result->path);
	if (job->listener.on_file != NULL)
		job->listener.on_file(job->listener.context, result);
}

static int open_sink(struct wh_job *job, enum wh_doing *doing)
{
	const struct wh_request *request = &job->request;
	const struct wh_sink_config config = {
		.hz = job->jobs->ctx->hz,
		.root_fd = request->here.root_fd,
		.target = request->here.path[0],
		.into_folder = request->here.into_folder,
		.as_name = request->here.as_name,
		.is_pipe = request->here.is_pipe,
		.pipe_fd = request->here.pipe_fd,
		.choice = request->choice,
		.block_seed = job->place.transfer,
		.account = wh_job_lists(job),
		.blind = job->rights.blind,
		.anew = job->role == WH_AT_SERVER && job->jobs->service->anew,
		.chunk_bytes = WH_CHUNK_BYTES_DEFAULT,
		.first_chunk = PEERS_FIRST_CHUNK,
		.answer_bytes = WH_ANSWER_CHUNK_BYTES,
		.first_answer = job->records.posted,
		.deliver = wh_paths_deliver(job),
		.recycled = wh_paths_recycled(job),
		.free = wh_paths_free(job),
		.ready = wh_paths_ready(job),
		.gate = job->listener.gate,
		.assemblies =
			job->lanes.lane_group != NULL ? &job->lanes.lane_group->assemblies : NULL,
		.lane = job->place.lane,
		.lanes = request->lanes,
		.keeping = keeping_of(job),
		.rules = request->rules,
		.used = job->lanes.lane_group != NULL ? &job->lanes.lane_group->used : NULL,
		.rings = &job->jobs->rings,
		.room = &job->jobs->room,
		.share = job->role == WH_AT_SERVER ? &job->place.peer_entry->room : NULL,
		.folder_log_max_bytes = folder_bytes(job),
		.on_file = on_file,
		.may_remove = may_remove,
		.context = job,
	};

	return wh_sink_open(&job->ends.sink, &config, doing);
}

static bool put_order(void *context, const struct wh_ordering *order)
{
	struct wh_job *job = context;

	return wh_mailbox_put(job->jobs->service->mailbox, job->ends.mailbox, order,
		job->ends.polled_tsc, job->jobs->ctx->hz);
}

static bool take_status(void *context, struct wh_order_status *order_status)
{
	struct wh_job *job = context;

	return wh_mailbox_take(job->jobs->service->mailbox, job->ends.mailbox, order_status);
}

/* An order needs an identified peer, because only those have rights. */
static int enter_mailbox(struct wh_job *job)
{
	struct wh_mailbox *mailbox = job->jobs->service->mailbox;

	if (job->request.verb != WH_JOB_ORDER)
		return 0;
	if (mailbox == NULL || job->streams.sa == NULL)
		return -EOPNOTSUPP;
	job->ends.mailbox =
		wh_mailbox_enter(mailbox, job->rights.number, job->streams.sa->config.peer_identity,
			job->request.here.path, job->request.here.count);
	return job->ends.mailbox != NULL ? 0 : -EBUSY;
}

/* A remote operation: the server runs it, and the client receives the results. */
static int open_rpc(struct wh_job *job)
{
	const struct wh_request *request = &job->request;
	struct wh_session *in = wh_job_in(job);
	const struct wh_rpc_config config = {
		.verb = request->verb,
		.root_fd = request->here.root_fd,
		.paths = request->here.path,
		.path_count = request->here.count,
		.recursive = request->recursive,
		.plain_names = request->rules.plain_names,
		.links_inside = request->rules.links_inside,
		.mailbox = {.put = put_order, .take = take_status, .context = job},
		.chunk_bytes = WH_ANSWER_CHUNK_BYTES,
		.first_chunk = job->records.posted,
		.free = wh_session_free_chunks(wh_job_main(job)->out),
		.ready = wh_session_ready_chunks(wh_job_main(job)->out),
		.deliver = wh_session_deliver_chunks(in),
		.recycled = wh_session_recycled_chunks(in),
	};

	int rc = enter_mailbox(job);

	return rc == 0 ? wh_rpc_open(&job->ends.rpc, &config) : rc;
}

static int open_reader(struct wh_job *job)
{
	struct wh_session *in = wh_job_in(job);
	const struct wh_rpc_reader_config config = {
		.verb = job->request.verb,
		.path_count = job->request.there.count,
		.chunk_bytes = WH_ANSWER_CHUNK_BYTES,
		.first_chunk = job->records.posted,
		.free = wh_session_free_chunks(wh_job_main(job)->out),
		.ready = wh_session_ready_chunks(wh_job_main(job)->out),
		.deliver = wh_session_deliver_chunks(in),
		.recycled = wh_session_recycled_chunks(in),
		.listener = job->listener.rpc,
	};

	return wh_rpc_reader_open(&job->ends.reader, &config);
}

static int open_pump(struct wh_job *job, uint64_t now_tsc)
{
	if (!wh_job_sends(job))
		return wh_pump_init(&job->ends.pump, wh_job_in(job), WH_CHUNK_BYTES_DEFAULT, 1,
			PEERS_FIRST_CHUNK);

	int rc = wh_pump_init(&job->ends.pump, wh_job_main(job)->out, WH_CHUNK_BYTES_DEFAULT,
		wh_job_main(job)->out_chunks, job->records.posted);

	job->ends.pump.wanted_bytes = wh_request_lane_bytes(&job->request, job->place.lane);
	job->ends.pump.stop_tsc =
		wh_add_u64(now_tsc, wh_ns_to_tsc(job->jobs->ctx->hz, job->request.time_ns));
	return rc;
}

int wh_job_open_end(struct wh_job *job, uint64_t now_tsc, enum wh_doing *doing)
{
	*doing = WH_DOING_OPENING;
	if (job->request.verb == WH_JOB_BENCH)
		return open_pump(job, now_tsc);
	if (wh_job_is_rpc(job->request.verb))
		return job->role == WH_AT_SERVER ? open_rpc(job) : open_reader(job);

	int rc = wh_paths_begin(job);

	if (rc != 0)
		return rc;
	return wh_job_sends(job) ? open_source(job) : open_sink(job, doing);
}
