/* SPDX-License-Identifier: BSD-3-Clause */

/* What both sides of a job share: its state, its failure, its stream, its end. */

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/assert.h"
#include "base/clock.h"
#include "cli/address_text.h"
#include "cli/complain.h"
#include "endpoint/lifecycle.h"
#include "job/jobs.h"
#include "job/mailbox/mailbox.h"
#include "job/paths/paths.h"

/* Further paths have this much time to end after the job's main one. */
#define PATH_PATIENCE_S 2

#define BIT(state) (1U << (state))

/* The possible next states of each state; a server's sink may fail while it runs. */
static const uint8_t followers[] = {
	[WH_JOB_OPENING] =
		BIT(WH_JOB_TOLD) | BIT(WH_JOB_REFUSING) | BIT(WH_JOB_RUNNING) | BIT(WH_JOB_ENDING),
	[WH_JOB_TOLD] = BIT(WH_JOB_RUNNING) | BIT(WH_JOB_ENDING),
	[WH_JOB_REFUSING] = BIT(WH_JOB_ENDING),
	[WH_JOB_RUNNING] = BIT(WH_JOB_REFUSING) | BIT(WH_JOB_ENDING),
	[WH_JOB_ENDING] = BIT(WH_JOB_OVER),
	[WH_JOB_OVER] = 0,
};

void wh_job_enter(struct wh_job *job, enum wh_job_state state)
{
	WH_ASSERT((followers[job->view.state] & BIT(state)) != 0);
	WH_ASSERT(state != WH_JOB_TOLD || job->role == WH_AT_CLIENT);
	WH_ASSERT(state != WH_JOB_REFUSING || job->role == WH_AT_SERVER);
	atomic_store_explicit(&job->view.state, state, memory_order_release);
}

static void check_path(const struct wh_job_path *path)
{
	const struct wh_session *in = wh_path_in(path);
	bool has_out = path->out != NULL && !path->out_gone;

	WH_ASSERT(in == NULL || path->in_gone == (path->seat.memory.chunks == NULL));
	WH_ASSERT(has_out == (path->out_memory.chunks != NULL));
	WH_ASSERT(!path->in_gone || path->in_left);
	WH_ASSERT(!path->out_gone || path->out_left);
	WH_ASSERT(!path->in_left || path->out_left);
}

static void check_streams(const struct wh_job *job)
{
	const struct wh_job_path *main = wh_job_main(job);

	/* A server's job begins with the peer's stream. */
	WH_ASSERT(job->role == WH_AT_CLIENT || wh_path_in(main) != NULL);
	for (uint32_t i = 0; i < WH_JOB_PATHS_MAX; i++)
		check_path(&job->streams.path[i]);
	WH_ASSERT(!main->out_left || job->view.state >= WH_JOB_ENDING);
	WH_ASSERT(main->out == NULL || job->place.lane < job->request.lanes);
}

static void check_ends(const struct wh_job *job)
{
	const struct wh_job_ends *ends = &job->ends;
	uint32_t count = (ends->source != NULL) + (ends->sink != NULL) +
			 (ends->pump.session != NULL) + (ends->rpc != NULL) +
			 (ends->reader != NULL);

	WH_ASSERT(count <= 1);
	WH_ASSERT(count == 0 || job->view.state != WH_JOB_OPENING);
	WH_ASSERT(count == 0 || job->view.state != WH_JOB_TOLD || ends->source != NULL);
	WH_ASSERT(
		!wh_job_main(job)->out_left || (ends->source == NULL && ends->sink == NULL &&
						       ends->rpc == NULL && ends->reader == NULL));
	WH_ASSERT(!ends->reports_ended || ends->pump.ended);
	WH_ASSERT(job->records.reading == NULL);
}

void wh_job_check(const struct wh_job *job)
{
	const struct wh_lane_group *lane_group = job->lanes.lane_group;
	int state = job->view.state;
	bool works = state == WH_JOB_RUNNING && job->request.verb != WH_JOB_IDLE;

	WH_ASSERT(state != WH_JOB_OVER && job->worker != NULL);
	WH_ASSERT(state == WH_JOB_OPENING || state == WH_JOB_ENDING || job->role == WH_AT_SERVER ||
		  wh_job_main(job)->out != NULL);
	WH_ASSERT(!works || (wh_job_in(job) != NULL && wh_job_main(job)->out != NULL));
	WH_ASSERT(state != WH_JOB_ENDING || job->result.ended_tsc != 0);
	WH_ASSERT(job->place.shard < wh_host_settings_shards(job->jobs->ctx->settings));
	WH_ASSERT(lane_group == NULL || lane_group->lanes == job->request.lanes);
	WH_ASSERT(job->lanes.share.share == NULL ||
		  (lane_group != NULL && !wh_job_main(job)->out_left));
	check_streams(job);
	check_ends(job);
}

void wh_job_fail(struct wh_job *job, enum wh_release_status status, const char *format, ...)
{
	va_list args;

	if (job->result.failed != WH_STATUS_PENDING)
		return;
	job->result.failed = status;
	va_start(args, format);
	vsnprintf(job->result.why, sizeof(job->result.why), format, args);
	va_end(args);
}

/* Log lines caused by peers are limited: otherwise a peer could fill a disk. */
void wh_job_say(const struct wh_job *job, uint64_t now_tsc, const char *format, ...)
{
	struct wh_jobs *jobs = job->jobs;
	char peer[WH_ADDRESS_TEXT_BYTES];
	char line[512];
	va_list args;

	WH_ASSERT(job->role == WH_AT_SERVER);
	if (!wh_peers_may_log(
		    &jobs->peers, job->place.peer_entry, wh_tsc_to_ns(jobs->ctx->hz, now_tsc)))
		return;
	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	wh_say("%s: %s", wh_address_text(&job->place.peer, peer), line);
}

static void configure_out(const struct wh_job *job, const struct wh_job_path *path, bool bundle,
	struct wh_session_config *config)
{
	struct wh_host_ctx *ctx = job->jobs->ctx;
	const struct wh_peer_bounds bounds = wh_host_ctx_bounds(ctx, job->place.peer.family);
	enum wh_family family = (enum wh_family)job->place.peer.family;
	uint64_t rate_bps = wh_request_lane_bps(&job->request);

	wh_host_ctx_session_config(ctx, path->shard, config);
	wh_request_configure(&job->request, bundle, &bounds, config);
	config->packet_bytes =
		WH_HEAD_BYTES + config->payload_bytes + wh_encap_ip_udp_bytes(family);
	config->wire_bytes =
		wh_host_ctx_wire_bytes(ctx, job->place.peer.family, config->payload_bytes);
	config->chunks = bundle ? wh_job_sender_chunks(job, wh_session_chunk_stride(config))
				: WH_ANSWER_CHUNKS;
	config->window_pkts = wh_stream_window(config);
	config->shared_rate = wh_job_shared_rate(job);
	config->peer_moves = job->role == WH_AT_SERVER;
	config->awaits_reply = wh_job_awaits_reply(job);
	/* Answers are few and urgent: only the data stream has a rate. 0 would mean none. */
	if (bundle && rate_bps != WH_RATE_MAX)
		config->rate_bps = rate_bps;
}

int wh_job_join(struct wh_job *job)
{
	const struct wh_request *request = &job->request;
	const struct wh_who who = {
		.address = &job->place.peer,
		.identity = job->place.peer_entry != NULL ? job->place.peer_entry->identity : NULL,
	};

	if (request->lanes <= 1 || request->verb == WH_JOB_IDLE)
		return 0;
	return wh_lane_group_join(&job->jobs->lane_groups, job->place.transfer, &who,
		job->place.lane, request->lanes, &job->lanes.lane_group);
}

bool wh_job_change(struct wh_job *job, const struct wh_request *request)
{
	bool asks = job->role == WH_AT_CLIENT && job->request.verb == WH_JOB_GET;

	/* A job without a rate can never get one. */
	if (!(wh_job_sends(job) || asks) || !wh_rate_is_paced(request->rate_bps) ||
		!wh_rate_is_paced(atomic_load(&job->wishes.rate_bps)))
		return false;
	WH_ASSERT(request->rate_bps > 0);
	atomic_store(&job->wishes.rate_bps, request->rate_bps);
	return true;
}

bool wh_job_open_out(struct wh_job *job, struct wh_job_path *path, const char *name, bool bundle)
{
	struct wh_jobs *jobs = job->jobs;
	struct wh_session_config config;

	configure_out(job, path, bundle, &config);
	config.sa = job->streams.sa;
	config.chunk_memory =
		config.chunks > 0 ? wh_job_take_memory(job, path, WH_TRANSMITTER, &config) : NULL;
	if (config.chunk_memory == NULL)
		return false;

	/* A client may have moved since it came. */
	const struct wh_address *peer =
		job->role == WH_AT_SERVER ? wh_session_peer(path->seat.in) : &path->peer;
	struct wh_session *out = wh_session_open(&config, peer, name, WH_OBJECT_BYTES_UNKNOWN);

	if (out != NULL) {
		wh_session_set_context(out, job);
		if (job->role == WH_AT_SERVER)
			wh_session_reply_to(out, wh_path_in(path));
		if (wh_endpoint_open(jobs->ctx->shard[path->shard].endpoint, out) == 0) {
			path->out = out;
			wh_session_tell_reader(out, WH_LIMIT_START);
			path->out_chunks = config.chunks;
			if (job->lanes.lane_group != NULL && config.rate_bps > 0 &&
				path == wh_job_main(job))
				wh_share_enter(&job->lanes.share, &job->lanes.lane_group->share,
					job->place.lane, config.rate_bps);
			return true;
		}
	}
	wh_session_destroy(out);
	wh_job_give_memory(job, path, WH_TRANSMITTER);
	return false;
}

bool wh_job_post(struct wh_job *job, const struct wh_record *record)
{
	struct wh_chunk *chunk = wh_fifo_pop(wh_session_free_chunks(wh_job_main(job)->out));

	if (chunk == NULL)
		return false;
	chunk->bytes = wh_record_encode(record, chunk->data, WH_ANSWER_CHUNK_BYTES);
	chunk->number = job->records.posted++;
	chunk->end = false;

	bool fits = chunk->bytes > 0;
	bool pushed = fits && wh_fifo_push(wh_session_ready_chunks(wh_job_main(job)->out), chunk);

	WH_ASSERT(pushed); /* callers respect the capacity of a chunk of answers */
	wh_session_kick(wh_job_main(job)->out);
	return true;
}

void wh_job_post_end(struct wh_job *job)
{
	job->records.end_marker = (struct wh_chunk){.number = job->records.posted, .end = true};

	bool pushed = wh_fifo_push(
		wh_session_ready_chunks(wh_job_main(job)->out), &job->records.end_marker);

	WH_ASSERT(pushed); /* there is a slot for each chunk and one more */
	wh_session_kick(wh_job_main(job)->out);
}

int wh_job_read(struct wh_job *job, struct wh_record *record)
{
	WH_ASSERT(job->records.reading == NULL);
	job->records.reading = wh_fifo_pop(wh_session_deliver_chunks(wh_job_in(job)));
	if (job->records.reading == NULL)
		return 0;
	if (job->records.reading->end) {
		job->records.reading = NULL;
		return -ENODATA;
	}
	job->records.record_bytes += job->records.reading->bytes;

	uint32_t bytes =
		wh_record_decode(job->records.reading->data, job->records.reading->bytes, record);

	if (bytes > 0 && bytes == job->records.reading->bytes)
		return 1;

	bool hello = wh_hello_peek(job->records.reading->data, job->records.reading->bytes,
		&job->records.their_version, &job->records.their_reply);

	wh_job_read_done(job);
	return hello && job->records.their_version != WH_BUNDLE_VERSION ? -EPROTONOSUPPORT
									: -EPROTO;
}

void wh_job_read_done(struct wh_job *job)
{
	struct wh_session *in = wh_job_in(job);
	bool pushed = wh_fifo_push(wh_session_recycled_chunks(in), job->records.reading);

	WH_ASSERT(pushed);
	job->records.reading = NULL;
	wh_session_kick(in);
}

void wh_job_tell_sink_done(struct wh_job *job)
{
	if (job->ends.sink_told)
		return;
	job->ends.sink_told = true;
	for (uint32_t i = 0; i < WH_JOB_PATHS_MAX; i++) {
		const struct wh_job_path *path = &job->streams.path[i];
		struct wh_session *in = wh_path_in(path);

		if (in != NULL && !path->in_left)
			wh_session_ask(in, WH_WISH_SINK_DONE, WH_STATUS_VERIFIED);
	}
}

/* If the job failed, tells the peer why. */
static void abort_session(const struct wh_job *job, struct wh_session *session)
{
	if (session != NULL && job->result.failed != WH_STATUS_PENDING)
		wh_session_ask(session, WH_WISH_ABORT,
			job->result.failed == WH_STATUS_PEER_GONE ? WH_STATUS_UNHEARD
								  : job->result.failed);
}

/* From here on a session of the peer's is too late, unless one is being accepted just now. */
static void shut_seat(struct wh_job_path *path)
{
	int free = WH_SEAT_FREE;

	atomic_compare_exchange_strong(&path->seat.state, &free, WH_SEAT_SHUT);
}

void wh_job_end(struct wh_job *job, uint64_t now_tsc)
{
	job->result.ended_tsc = now_tsc;
	if (job->ends.pump.session != NULL && job->view.flow_began_tsc != 0 &&
		!job->ends.pump.ended)
		wh_bench_count(job, now_tsc, &job->result.final); /* as far as it came */
	for (uint32_t i = 0; i < WH_JOB_PATHS_MAX; i++) {
		struct wh_job_path *path = &job->streams.path[i];

		if (!path->out_left)
			abort_session(job, path->out);
		shut_seat(path);
	}
	wh_job_enter(job, WH_JOB_ENDING);
}

void wh_job_give_up(
	struct wh_job *job, uint64_t now_tsc, enum wh_release_status status, const char *why)
{
	wh_job_fail(job, status, "%s", why);
	wh_job_end(job, now_tsc);
}

void wh_job_close_ends(struct wh_job *job)
{
	wh_source_close(job->ends.source);
	wh_sink_close(job->ends.sink);
	wh_rpc_close(job->ends.rpc);
	if (job->ends.mailbox != NULL)
		wh_mailbox_leave(job->jobs->service->mailbox, job->ends.mailbox);
	job->ends.mailbox = NULL;
	wh_rpc_reader_close(job->ends.reader);
	wh_pump_free(&job->ends.pump);
	job->ends.source = NULL;
	job->ends.sink = NULL;
	job->ends.rpc = NULL;
	job->ends.reader = NULL;
}

/*
 * Once its outcome is known, our session takes no more from its FIFO. Only then are its figures
 * final, and may the memory of an end marker be freed.
 */
static bool out_rests(const struct wh_job_path *path)
{
	return path->out == NULL || wh_session_news(path->out).outcome != WH_STATUS_PENDING;
}

/* A further path ends by itself, or not at all: then the peer is not told how. */
static bool is_at_rest(const struct wh_job *job, const struct wh_job_path *path, uint64_t now_tsc)
{
	return out_rests(path) ||
	       (path != wh_job_main(job) &&
		       now_tsc > job->result.ended_tsc + PATH_PATIENCE_S * job->jobs->ctx->hz);
}

/* True when both its sessions are gone, or never were. */
static bool step_to_end(struct wh_job *job, struct wh_job_path *path, uint64_t now_tsc)
{
	struct wh_session *in = wh_path_in(path);

	shut_seat(path);
	if (!path->out_left && is_at_rest(job, path, now_tsc)) {
		path->out_left = true;
		if (path == wh_job_main(job)) {
			wh_share_leave(&job->lanes.share);
			wh_job_take_figures(job);
			wh_job_close_ends(job);
		}
		wh_path_note(job, path, true);
		if (path->out != NULL)
			wh_session_ask(path->out, WH_WISH_CLOSE, WH_STATUS_PENDING);
	}
	if (in != NULL && path->out_left && !path->in_left) {
		path->in_left = true;
		wh_path_note(job, path, false);
		abort_session(job, in);
		wh_session_ask(in, WH_WISH_CLOSE, WH_STATUS_PENDING);
	}

	bool in_over = atomic_load(&path->seat.state) == WH_SEAT_SHUT || path->in_gone;

	return in_over && (path->out == NULL || path->out_gone);
}

bool wh_job_step_to_end(struct wh_job *job, uint64_t now_tsc)
{
	bool over = true;

	for (uint32_t i = 0; i < WH_JOB_PATHS_MAX; i++)
		over = step_to_end(job, &job->streams.path[i], now_tsc) && over;
	return over;
}
