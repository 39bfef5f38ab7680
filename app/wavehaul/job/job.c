/* SPDX-License-Identifier: BSD-3-Clause */

/* The parts common to both sides of a job. */

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/clock.h"
#include "cli/fault_text.h"
#include "cli/repair.h"
#include "job/desk/desk.h"
#include "job/hello.h"
#include "job/jobs.h"
#include "session/pacer.h"

/* Interval at which a job's visible progress is updated. */
#define NOTE_MS 10

struct wh_session *wh_job_in(const struct wh_job *job)
{
	return atomic_load_explicit(&job->seat.state, memory_order_acquire) == WH_SEAT_TAKEN
		       ? job->seat.in
		       : NULL;
}

#define BIT(state) (1U << (state))

/* The possible next states of each state; a server's sink may fail while it runs. */
static const uint8_t followers[] = {
	[WH_JOB_OPENING] = BIT(WH_JOB_GREETED) | BIT(WH_JOB_REFUSING) | BIT(WH_JOB_RUNNING) |
			   BIT(WH_JOB_ENDING),
	[WH_JOB_GREETED] = BIT(WH_JOB_RUNNING) | BIT(WH_JOB_ENDING),
	[WH_JOB_REFUSING] = BIT(WH_JOB_ENDING),
	[WH_JOB_RUNNING] = BIT(WH_JOB_REFUSING) | BIT(WH_JOB_ENDING),
	[WH_JOB_ENDING] = BIT(WH_JOB_OVER),
	[WH_JOB_OVER] = 0,
};

void wh_job_enter(struct wh_job *job, enum wh_job_state state)
{
	WH_ASSERT((followers[job->view.state] & BIT(state)) != 0);
	WH_ASSERT(state != WH_JOB_GREETED || job->role == WH_AT_CLIENT);
	WH_ASSERT(state != WH_JOB_REFUSING || job->role == WH_AT_SERVER);
	atomic_store_explicit(&job->view.state, state, memory_order_release);
}

static void check_streams(const struct wh_job *job)
{
	const struct wh_job_streams *streams = &job->streams;
	const struct wh_session *in = wh_job_in(job);
	bool has_out = streams->out != NULL && !streams->out_gone;

	/* A server's job begins with the peer's stream. */
	WH_ASSERT(job->role == WH_AT_CLIENT || in != NULL);
	WH_ASSERT(in == NULL || streams->in_gone == (job->seat.memory.chunks == NULL));
	WH_ASSERT(has_out == (streams->out_memory.chunks != NULL));
	WH_ASSERT(!streams->in_gone || streams->in_left);
	WH_ASSERT(!streams->out_gone || streams->out_left);
	WH_ASSERT(!streams->in_left || streams->out_left);
	WH_ASSERT(!streams->out_left || job->view.state >= WH_JOB_ENDING);
	WH_ASSERT(streams->out == NULL || job->place.lane < job->request.lanes);
}

static void check_ends(const struct wh_job *job)
{
	const struct wh_job_ends *ends = &job->ends;
	uint32_t count = (ends->source != NULL) + (ends->sink != NULL) +
			 (ends->pump.session != NULL) + (ends->errand != NULL) +
			 (ends->reader != NULL);

	WH_ASSERT(count <= 1);
	WH_ASSERT(count == 0 ||
		  (job->view.state != WH_JOB_OPENING && job->view.state != WH_JOB_GREETED));
	WH_ASSERT(!job->streams.out_left || (ends->source == NULL && ends->sink == NULL &&
						    ends->errand == NULL && ends->reader == NULL));
	WH_ASSERT(!ends->reports_ended || ends->pump.ended);
	WH_ASSERT(job->records.reading == NULL);
}

void wh_job_check(const struct wh_job *job)
{
	const struct wh_convoy *convoy = job->lanes.convoy;
	int state = job->view.state;
	bool works = state == WH_JOB_RUNNING && job->request.verb != WH_JOB_IDLE;

	WH_ASSERT(state != WH_JOB_OVER && job->crew != NULL);
	WH_ASSERT(state == WH_JOB_OPENING || state == WH_JOB_ENDING || job->role == WH_AT_SERVER ||
		  job->streams.out != NULL);
	WH_ASSERT(!works || (wh_job_in(job) != NULL && job->streams.out != NULL));
	WH_ASSERT(state != WH_JOB_ENDING || job->result.ended_tsc != 0);
	WH_ASSERT(job->place.shard < job->jobs->ground->settings->queues);
	WH_ASSERT(convoy == NULL || convoy->lanes == job->request.lanes);
	WH_ASSERT(job->lanes.share.share == NULL || (convoy != NULL && !job->streams.out_left));
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

static void configure_out(const struct wh_job *job, bool bundle, struct wh_session_config *config)
{
	struct wh_ground *ground = job->jobs->ground;
	const struct wh_peer_bounds bounds = wh_ground_bounds(ground, job->place.peer.family);
	enum wh_family family = (enum wh_family)job->place.peer.family;
	uint64_t rate_bps = wh_request_lane_bps(&job->request);

	wh_ground_session_config(ground, config);
	wh_request_configure(&job->request, bundle, &bounds, config);
	config->packet_bytes =
		WH_HEAD_BYTES + config->payload_bytes + wh_encap_ip_udp_bytes(family);
	config->wire_bytes =
		wh_ground_wire_bytes(ground, job->place.peer.family, config->payload_bytes);
	config->chunks = bundle ? wh_job_sender_chunks(job, wh_session_chunk_stride(config))
				: WH_ANSWER_CHUNKS;
	config->window_pkts = wh_stream_window(config);
	config->shared_rate = wh_job_shared_rate(job);
	/* Answers are few and urgent: only the data stream has a rate. 0 would mean none. */
	if (bundle && rate_bps != WH_RATE_MAX)
		config->rate_bps = rate_bps;
}

int wh_job_join(struct wh_job *job)
{
	const struct wh_request *request = &job->request;
	const struct wh_who who = {
		.address = &job->place.peer,
		.identity = job->place.guest != NULL ? job->place.guest->identity : NULL,
	};

	if (request->lanes <= 1 || request->verb == WH_JOB_IDLE)
		return 0;
	return wh_convoy_join(&job->jobs->convoys, job->place.transfer, &who, job->place.lane,
		request->lanes, &job->lanes.convoy);
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

/* Applies changes requested by other cores. */
static void see_wishes(struct wh_job *job)
{
	uint64_t rate_bps = atomic_load_explicit(&job->wishes.rate_bps, memory_order_relaxed);

	if (rate_bps == job->request.rate_bps)
		return;
	job->request.rate_bps = rate_bps;
	if (!wh_job_sends(job))
		job->waits.rate_untold = true;
	else if (job->lanes.share.share != NULL)
		wh_share_change(&job->lanes.share, wh_request_lane_bps(&job->request));
	else if (job->streams.out != NULL)
		wh_session_set_rate(job->streams.out, wh_request_lane_bps(&job->request));
}

static void share_rate(struct wh_job *job, const struct wh_session_stats *stats, uint64_t span_tsc)
{
	struct wh_lane_share *share = &job->lanes.share;
	struct wh_session *out = job->streams.out;

	if (share->share == NULL)
		return;

	bool busy = wh_share_is_busy(share, stats, span_tsc);

	wh_session_set_rate(out, wh_share_step(share, busy, wh_session_rate(out)));
}

bool wh_job_open_out(struct wh_job *job, const char *name, bool bundle)
{
	struct wh_jobs *jobs = job->jobs;
	struct wh_session_config config;

	configure_out(job, bundle, &config);
	config.bond = job->streams.bond;
	config.chunk_memory =
		config.chunks > 0 ? wh_job_take_memory(job, WH_TRANSMITTER, &config) : NULL;
	if (config.chunk_memory == NULL)
		return false;

	struct wh_session *out =
		wh_session_open(&config, &job->place.peer, name, WH_OBJECT_BYTES_UNKNOWN);

	if (out != NULL) {
		wh_session_set_context(out, job);
		if (wh_endpoint_open(jobs->ground->shard[job->place.shard].endpoint, out) == 0) {
			job->streams.out = out;
			wh_session_tell_reader(out, WH_LIMIT_START);
			job->streams.out_chunks = config.chunks;
			if (job->lanes.convoy != NULL && config.rate_bps > 0)
				wh_share_enter(&job->lanes.share, &job->lanes.convoy->share,
					job->place.lane, config.rate_bps);
			return true;
		}
	}
	wh_session_destroy(out);
	wh_job_give_memory(job, WH_TRANSMITTER);
	return false;
}

bool wh_job_post(struct wh_job *job, const struct wh_record *record)
{
	struct wh_chunk *chunk = wh_fifo_pop(wh_session_free_chunks(job->streams.out));

	if (chunk == NULL)
		return false;
	chunk->bytes = wh_record_encode(record, chunk->data, WH_ANSWER_CHUNK_BYTES);
	chunk->number = job->records.posted++;
	chunk->end = false;

	bool fits = chunk->bytes > 0;
	bool pushed = fits && wh_fifo_push(wh_session_ready_chunks(job->streams.out), chunk);

	WH_ASSERT(pushed); /* callers respect the capacity of a chunk of answers */
	wh_session_kick(job->streams.out);
	return true;
}

void wh_job_post_end(struct wh_job *job)
{
	job->records.end_marker = (struct wh_chunk){.number = job->records.posted, .end = true};

	bool pushed =
		wh_fifo_push(wh_session_ready_chunks(job->streams.out), &job->records.end_marker);

	WH_ASSERT(pushed); /* there is a slot for each chunk and one more */
	wh_session_kick(job->streams.out);
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
	wh_session_ask(wh_job_in(job), WH_WISH_SINK_DONE, WH_STATUS_VERIFIED);
}

static_assert(sizeof(struct wh_totals) % sizeof(uint64_t) == 0, "counters of 64 bits");

static void note_totals(struct wh_job *job, const struct wh_totals *totals)
{
	for (size_t i = 0; i < sizeof(*totals) / sizeof(uint64_t); i++)
		__atomic_store_n((uint64_t *)&job->view.totals + i, ((const uint64_t *)totals)[i],
			__ATOMIC_RELAXED);
}

struct wh_totals wh_job_totals(const struct wh_job *job)
{
	struct wh_totals totals;

	for (size_t i = 0; i < sizeof(totals) / sizeof(uint64_t); i++)
		((uint64_t *)&totals)[i] =
			__atomic_load_n((const uint64_t *)&job->view.totals + i, __ATOMIC_RELAXED);
	return totals;
}

static void note_found(struct wh_job *job, uint64_t files, uint64_t bytes, bool all)
{
	atomic_store_explicit(&job->view.bytes_found, bytes, memory_order_relaxed);
	atomic_store_explicit(&job->view.files_found, files, memory_order_relaxed);
	atomic_store_explicit(&job->view.all_found, all, memory_order_release);
}

/* Why the source has no chunk to send: it has work, which our core does, or what it waits for. */
static enum wh_limit source_limit(const struct wh_source *source, int32_t work)
{
	if (work > 0)
		return WH_LIMIT_CPU;
	switch (wh_source_waits(source)) {
	case WH_WAITS_DISK:
	case WH_WAITS_COMMIT:
		return WH_LIMIT_DISK;
	case WH_WAITS_SESSION:
		return WH_LIMIT_MEMORY;
	case WH_WAITS_PIPE:
		return WH_LIMIT_PIPE;
	case WH_WAITS_ANSWER:
		return wh_source_progress(source)->bytes_read == 0 ? WH_LIMIT_START : WH_LIMIT_PEER;
	case WH_WAITS_TOTALS:
		return WH_LIMIT_PEER;
	case WH_WAITS_LANES:
	case WH_WAITS_PARTS:
		return WH_LIMIT_NONE;
	default:
		return WH_LIMIT_CPU;
	}
}

static int32_t run_source(struct wh_job *job, uint64_t now_tsc)
{
	uint8_t before = wh_meter_enter(job->crew->meter, WH_METER_READER);
	const struct wh_source_progress *progress = wh_source_progress(job->ends.source);
	uint64_t waits_told = progress->waits_told;
	int32_t work = wh_source_poll(job->ends.source, now_tsc);

	/* A message about the peer's waits is no progress. */
	job->waits.worked += work > 0 && progress->waits_told == waits_told;
	wh_session_tell_reader(job->streams.out, source_limit(job->ends.source, work));
	wh_meter_leave(job->crew->meter, before);
	note_totals(job, &progress->totals);
	if (job->view.flow_began_tsc == 0 && progress->bytes_read > 0)
		job->view.flow_began_tsc = now_tsc;
	note_found(job, progress->files_found, progress->bytes_found, progress->walked);
	if (progress->state == WH_SOURCE_BROKEN && progress->refusal[0] != '\0') {
		job->result.refused_error = -progress->error;
		wh_job_fail(job, WH_STATUS_REFUSED, "%s", progress->refusal);
	} else if (progress->state == WH_SOURCE_BROKEN) {
		wh_job_fail(job, WH_STATUS_IO_ERROR, "the peer's answers are invalid (%s)",
			strerror(abs(progress->error)));
	} else if (progress->state == WH_SOURCE_DONE) {
		wh_job_tell_sink_done(job);
	}
	return work;
}

static enum wh_release_status status_of_error(int error)
{
	switch (abs(error)) {
	case ENOSPC:
	case EDQUOT:
		return WH_STATUS_NO_SPACE;
	case EPROTO:
	case EBADMSG:
		return WH_STATUS_MISMATCH;
	default:
		return WH_STATUS_IO_ERROR;
	}
}

static int32_t run_sink(struct wh_job *job, uint64_t now_tsc)
{
	uint8_t before = wh_meter_enter(job->crew->meter, WH_METER_WRITER);
	char text[WH_FAULT_TEXT_BYTES];
	const struct wh_sink_progress *progress = wh_sink_progress(job->ends.sink);
	uint64_t waits_told = progress->waits_told;
	int32_t work;

	job->ends.polled_tsc = now_tsc;
	work = wh_sink_poll(job->ends.sink, now_tsc);

	job->waits.worked += work > 0 && progress->waits_told == waits_told;
	wh_meter_leave(job->crew->meter, before);
	note_totals(job, &progress->totals);
	note_found(job, progress->files_found, progress->bytes_found, progress->all_found);
	/* At the server the client is told why before the job ends: as_server.c. */
	if (progress->state == WH_SINK_BROKEN && job->role == WH_AT_CLIENT)
		wh_job_fail(job, status_of_error(progress->error), "%s",
			wh_fault_text(text, progress->doing, progress->error));
	else if (progress->state == WH_SINK_DONE)
		wh_job_tell_sink_done(job);
	return work;
}

static void fail_errand(struct wh_job *job, int error)
{
	wh_job_fail(job, WH_STATUS_MISMATCH, "the peer's report on it is invalid (%s)",
		strerror(abs(error)));
}

static int32_t run_errand(struct wh_job *job, uint64_t now_tsc)
{
	const struct wh_errand_progress *progress = wh_errand_progress(job->ends.errand);
	uint64_t waits_told = progress->waits_told;

	job->ends.polled_tsc = now_tsc;

	int32_t work = wh_errand_poll(job->ends.errand);

	job->waits.worked += work > 0 && progress->waits_told == waits_told;
	if (progress->error != 0)
		fail_errand(job, progress->error);
	else if (progress->done)
		wh_job_tell_sink_done(job);
	return work;
}

static int32_t run_reader(struct wh_job *job, uint64_t now_tsc)
{
	const struct wh_errand_reading *progress = wh_errand_reader_progress(job->ends.reader);
	uint64_t waits_told = progress->waits_told;
	int32_t work = wh_errand_reader_poll(job->ends.reader, now_tsc);

	job->waits.worked += work > 0 && progress->waits_told == waits_told;
	if (progress->error != 0) {
		fail_errand(job, progress->error);
	} else if (progress->done) {
		job->result.tally = progress->tally;
		wh_job_tell_sink_done(job);
	}
	return work;
}

static int32_t run_pump(struct wh_job *job, uint64_t now_tsc)
{
	if (job->ends.pump.session == job->streams.out) {
		int32_t pumped = wh_pump_send(&job->ends.pump, now_tsc);

		wh_session_tell_reader(
			job->streams.out, pumped > 0 ? WH_LIMIT_CPU : WH_LIMIT_MEMORY);
		return pumped;
	}

	int32_t work = wh_pump_take(&job->ends.pump);

	if (job->view.flow_began_tsc == 0 &&
		wh_session_moved_bytes(job->ends.pump.session) > job->records.record_bytes)
		job->view.flow_began_tsc = now_tsc;
	if (job->ends.pump.ended && !job->ends.sink_told) {
		wh_bench_count(job, now_tsc, &job->result.final);
		wh_job_tell_sink_done(job);
	}
	return work;
}

/* The session that carries the data: ours, or the peer's; NULL: not yet. */
static struct wh_session *data_session(const struct wh_job *job)
{
	if (job->request.verb == WH_JOB_IDLE)
		return NULL;
	return wh_job_sends(job) ? job->streams.out : wh_job_in(job);
}

#define NOTE(field, value) atomic_store_explicit(&job->view.field, value, memory_order_relaxed)

static uint64_t full_wire_bytes(const struct wh_job *job, const struct wh_session *session)
{
	return wh_ground_wire_bytes(job->jobs->ground, job->place.peer.family,
		wh_session_params(session)->payload_bytes);
}

/* The present values of the sending end's controller, and its measurements of the path. */
static void note_flow(
	struct wh_job *job, const struct wh_session *session, const struct wh_session_stats *stats)
{
	uint64_t lost_pkts = wh_session_lost_pkts(session);
	uint64_t pkts = stats->received_pkts + lost_pkts;

	if (wh_job_sends(job)) {
		const struct wh_session_pace pace = wh_session_pace(session);

		pkts = stats->sent_pkts;
		NOTE(rate_now_bps, pace.rate_bps);
		NOTE(window_now_pkts, pace.window_pkts);
		NOTE(wire_bytes,
			(stats->sent_pkts + stats->repair_pkts) * full_wire_bytes(job, session));
	}
	NOTE(sent_pkts, pkts);
	NOTE(lost_pkts, lost_pkts);
	NOTE(rtt_min_ns, wh_tsc_to_ns(job->jobs->ground->hz, wh_session_rtt_min_tsc(session)));
	NOTE(rtt_now_ns, wh_tsc_to_ns(job->jobs->ground->hz, wh_session_rtt_tsc(session)));
	NOTE(again_pkts, stats->retransmitted_pkts);
	NOTE(repair_pkts, stats->repair_pkts);
	NOTE(limit_now, wh_session_limit_now(session));
	for (uint32_t i = 0; i < WH_LIMITS; i++)
		NOTE(limit_tsc[i], stats->limit_tsc[i]);
	NOTE(moved_bytes, wh_session_moved_bytes(session));
}

static void note_progress(struct wh_job *job, uint64_t span_tsc)
{
	const struct wh_session *session = data_session(job);

	if (session == NULL)
		return;

	const struct wh_session_stats stats = wh_session_stats(session);

	note_flow(job, session, &stats);
	share_rate(job, &stats, span_tsc);
}

static enum wh_release_status outcome_of(const struct wh_session *session)
{
	return session == NULL ? WH_STATUS_PENDING : wh_session_news(session).outcome;
}

/*
 * Nothing is missing here, and all that the peer still had to say is that it has heard so. It may
 * be gone by now, but a source that is to remove what has arrived must hear of it.
 */
static bool is_done_alone(const struct wh_job *job, enum wh_release_status outcome)
{
	bool moves = job->ends.sink != NULL && wh_choice_has(&job->request.choice, WH_CHOICE_MOVE);

	return job->ends.sink_told && !moves &&
	       (outcome == WH_STATUS_PEER_GONE || outcome == WH_STATUS_REPLACED);
}

static bool has_ended_well(const struct wh_job *job, const struct wh_session *session)
{
	enum wh_release_status outcome = outcome_of(session);

	return outcome == WH_STATUS_VERIFIED || is_done_alone(job, outcome);
}

static void see_news(struct wh_job *job, const struct wh_session *session, uint64_t now_tsc)
{
	enum wh_release_status outcome = outcome_of(session);

	if (is_done_alone(job, outcome))
		return;
	if (outcome == WH_STATUS_STALLED && (job->ends.source != NULL || job->ends.sink != NULL))
		wh_job_fail_stalled(job, now_tsc);
	else if (outcome != WH_STATUS_PENDING && outcome != WH_STATUS_VERIFIED)
		wh_job_fail(job, outcome, "%s", "");
}

int32_t wh_job_run(struct wh_job *job, uint64_t now_tsc)
{
	struct wh_session *in = wh_job_in(job);
	int32_t work = 0;

	if (job->ends.source != NULL)
		work += run_source(job, now_tsc);
	if (job->ends.sink != NULL)
		work += run_sink(job, now_tsc);
	if (job->ends.errand != NULL)
		work += run_errand(job, now_tsc);
	if (job->ends.reader != NULL)
		work += run_reader(job, now_tsc);
	if (job->ends.pump.session != NULL) {
		int32_t pumped = run_pump(job, now_tsc);

		job->waits.worked += pumped > 0;
		work += pumped;
	}
	if (work > 0) {
		wh_session_kick(in);
		wh_session_kick(job->streams.out);
	}
	if (now_tsc - job->turn.noted_tsc >
		wh_ns_to_tsc(job->jobs->ground->hz, NOTE_MS * 1000000)) {
		see_wishes(job);
		note_progress(job, now_tsc - job->turn.noted_tsc);
		job->turn.noted_tsc = now_tsc;
		wh_job_see_waits(job, now_tsc);
	}
	see_news(job, in, now_tsc);
	see_news(job, job->streams.out, now_tsc);
	if (job->result.failed != WH_STATUS_PENDING ||
		(has_ended_well(job, in) && has_ended_well(job, job->streams.out)))
		wh_job_end(job, now_tsc);
	return work;
}

/* What the core could not send because the port took no more is the line's. */
static void name_limits(const struct wh_job *job, struct wh_session_stats *stats)
{
	const struct wh_ground *ground = job->jobs->ground;
	struct wh_ground_counts counts;

	ground->count(ground, job->place.shard, &counts);
	if (!counts.port_is_full)
		return;
	stats->limit_tsc[WH_LIMIT_LINE] += stats->limit_tsc[WH_LIMIT_CPU];
	stats->limit_tsc[WH_LIMIT_CPU] = 0;
}

/* If a session could not go on, what it waited for at its end; full buffers wait for the peer. */
static enum wh_limit limit_of(
	const struct wh_session *session, const struct wh_session_stats *stats)
{
	enum wh_limit limit = wh_session_limit_now(session);

	if (outcome_of(session) != WH_STATUS_STALLED)
		return wh_limit_of(stats->limit_tsc);
	return limit == WH_LIMIT_MEMORY ? WH_LIMIT_PEER : limit;
}

/* If a controller found (almost) the operator's rate, it has not seen the path's capacity. */
#define BOUND_SHARE 16

static struct wh_known_path found_by(const struct wh_job *job, const struct wh_session *session)
{
	uint64_t bound_bps = wh_request_lane_bps(&job->request);
	struct wh_known_path found = {0};

	if (job->result.failed != WH_STATUS_PENDING)
		return found;
	found = wh_control_found(wh_session_control(session));
	if (bound_bps != WH_RATE_MAX && found.capacity_bps >= bound_bps - bound_bps / BOUND_SHARE)
		found = (struct wh_known_path){0};
	return found;
}

/*
 * For a server: each lane has found its part of the shared path. The result of a `get` stays here:
 * it concerns the path to the client, on which this end begins the next transfer.
 */
static void learn(struct wh_job *job, const struct wh_known_path *found)
{
	uint32_t lanes = job->request.lanes;
	struct wh_known_path way = *found;

	way.capacity_bps = wh_min_u64(way.capacity_bps, WH_KNOWN_BPS_MAX / lanes) * lanes;
	way.burst_pkts = (uint32_t)wh_min_u64((uint64_t)way.burst_pkts * lanes, WH_KNOWN_PKTS_MAX);
	wh_peers_learn(&job->jobs->peers, job->place.guest, &job->place.peer, &way,
		wh_tsc_to_ns(job->jobs->ground->hz, job->result.ended_tsc));
}

static void take_figures(struct wh_job *job)
{
	static const double shares[] = {0.5, 0.99, 0.999};
	const struct wh_session *session = data_session(job);
	struct wh_job_figures *figures = &job->result.figures;
	uint64_t hz = job->jobs->ground->hz;

	if (session == NULL)
		return;
	note_progress(job, 0);
	if (job->ends.source != NULL) {
		figures->digest_known = wh_source_progress(job->ends.source)->digest_known;
		figures->digest = wh_source_progress(job->ends.source)->digest;
	}
	if (job->ends.sink != NULL) {
		figures->digest_known = wh_sink_progress(job->ends.sink)->digest_known;
		figures->digest = wh_sink_progress(job->ends.sink)->digest;
	}
	figures->stats = wh_session_stats(session);
	figures->rtt_ns = wh_tsc_to_ns(hz, wh_session_rtt_tsc(session));
	figures->rtt_min_ns = wh_tsc_to_ns(hz, wh_session_rtt_min_tsc(session));
	if (session != job->streams.out)
		return;
	figures->found = found_by(job, session);
	if (job->place.guest != NULL && figures->found.capacity_bps > 0 &&
		!wh_job_is_errand(job->request.verb))
		learn(job, &figures->found);
	name_limits(job, &figures->stats);
	figures->limited_by = limit_of(session, &figures->stats);
	for (uint32_t i = 0; i < RTE_DIM(shares); i++)
		figures->lateness_ns[i] = wh_tsc_to_ns(
			hz, wh_pacer_lateness_quantile(wh_session_pacer(session), shares[i]));
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
static void shut_seat(struct wh_job *job)
{
	int free = WH_SEAT_FREE;

	atomic_compare_exchange_strong(&job->seat.state, &free, WH_SEAT_SHUT);
}

void wh_job_end(struct wh_job *job, uint64_t now_tsc)
{
	job->result.ended_tsc = now_tsc;
	if (job->ends.pump.session != NULL && job->view.flow_began_tsc != 0 &&
		!job->ends.pump.ended)
		wh_bench_count(job, now_tsc, &job->result.final); /* as far as it came */
	abort_session(job, job->streams.out);
	shut_seat(job);
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
	wh_errand_close(job->ends.errand);
	if (job->ends.desk != NULL)
		wh_desk_leave(job->jobs->service->desk, job->ends.desk);
	job->ends.desk = NULL;
	wh_errand_reader_close(job->ends.reader);
	wh_pump_free(&job->ends.pump);
	job->ends.source = NULL;
	job->ends.sink = NULL;
	job->ends.errand = NULL;
	job->ends.reader = NULL;
}

/*
 * When our session's outcome is known it takes no more from its FIFO: only then may the memory of
 * an end marker be freed, and are its figures final.
 */
static bool out_rests(const struct wh_job *job)
{
	return job->streams.out == NULL || outcome_of(job->streams.out) != WH_STATUS_PENDING;
}

bool wh_job_step_to_end(struct wh_job *job)
{
	struct wh_session *in = wh_job_in(job);

	shut_seat(job);
	if (!job->streams.out_left && out_rests(job)) {
		job->streams.out_left = true;
		wh_share_leave(&job->lanes.share);
		take_figures(job);
		wh_job_close_ends(job);
		if (job->streams.out != NULL)
			wh_session_ask(job->streams.out, WH_WISH_CLOSE, WH_STATUS_PENDING);
	}
	if (in != NULL && job->streams.out_left && !job->streams.in_left) {
		job->streams.in_left = true;
		abort_session(job, in);
		wh_session_ask(in, WH_WISH_CLOSE, WH_STATUS_PENDING);
	}

	bool in_over = atomic_load(&job->seat.state) == WH_SEAT_SHUT || job->streams.in_gone;

	return in_over && (job->streams.out == NULL || job->streams.out_gone);
}
