/* SPDX-License-Identifier: BSD-3-Clause */

/* One step of a running job: polls its reading, writing, examining or measuring end. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "cli/fault_text.h"
#include "job/jobs.h"
#include "job/paths/paths.h"

/* Interval at which a job's visible progress is updated. */
#define NOTE_MS 10

/* Applies changes requested by other cores. */
static void see_wishes(struct wh_job *job)
{
	uint64_t rate_bps = atomic_load_explicit(&job->wishes.rate_bps, memory_order_relaxed);

	if (rate_bps == job->request.rate_bps)
		return;
	job->request.rate_bps = rate_bps;
	if (!wh_job_sends(job)) {
		job->waits.rate_untold = true;
		return;
	}
	wh_paths_set_rate(job, wh_request_lane_bps(&job->request));
	if (job->lanes.share.share != NULL)
		wh_share_change(&job->lanes.share, wh_request_lane_bps(&job->request));
}

/* Why the source has no chunk to send: our core, if there is work, or what the source waits for. */
static enum wh_limit source_limit(const struct wh_source *source, int32_t work)
{
	if (work > 0)
		return WH_LIMIT_CPU;
	switch (wh_source_waits(source)) {
	case WH_WAITS_DISK:
		return WH_LIMIT_DISK;
	case WH_WAITS_COMMIT:
		return WH_LIMIT_PEER_DISK;
	case WH_WAITS_SESSION:
		return WH_LIMIT_MEMORY;
	case WH_WAITS_PIPE:
		return WH_LIMIT_PIPE;
	case WH_WAITS_ANSWER:
		return wh_source_progress(source)->bytes_read == 0 ? WH_LIMIT_START : WH_LIMIT_PEER;
	case WH_WAITS_TOTALS:
		return WH_LIMIT_PEER;
	case WH_WAITS_LANES:
	case WH_WAITS_SEGMENTS:
		return WH_LIMIT_NONE;
	default:
		return WH_LIMIT_CPU;
	}
}

int32_t wh_job_run_source(struct wh_job *job, uint64_t now_tsc)
{
	uint8_t before = wh_meter_enter(job->worker->meter, WH_METER_READER);
	const struct wh_source_progress *progress = wh_source_progress(job->ends.source);
	uint64_t waits_told = progress->waits_told;
	int32_t work = wh_source_poll(job->ends.source, now_tsc);

	/* A message about the peer's waits is no progress. */
	job->waits.worked += work > 0 && progress->waits_told == waits_told;
	wh_session_tell_reader(wh_job_main(job)->out, source_limit(job->ends.source, work));
	wh_meter_leave(job->worker->meter, before);
	wh_job_note_totals(job, &progress->totals);
	if (job->view.flow_began_tsc == 0 && (progress->bytes_read > 0 || progress->went_ahead))
		job->view.flow_began_tsc = now_tsc;
	wh_job_note_found(job, progress->files_found, progress->bytes_found, progress->walked);
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
	uint8_t before = wh_meter_enter(job->worker->meter, WH_METER_WRITER);
	char text[WH_FAULT_TEXT_BYTES];
	const struct wh_sink_progress *progress = wh_sink_progress(job->ends.sink);
	uint64_t waits_told = progress->waits_told;
	int32_t work;

	job->ends.polled_tsc = now_tsc;
	work = wh_sink_poll(job->ends.sink, now_tsc);

	job->waits.worked += work > 0 && progress->waits_told == waits_told;
	wh_meter_leave(job->worker->meter, before);
	wh_job_note_totals(job, &progress->totals);
	if (job->view.flow_began_tsc == 0 && progress->bytes > 0)
		job->view.flow_began_tsc = now_tsc;
	wh_job_note_found(job, progress->files_found, progress->bytes_found, progress->all_found);
	/* At the server the client is told why before the job ends: as_server.c. */
	if (progress->state == WH_SINK_BROKEN && job->role == WH_AT_CLIENT)
		wh_job_fail(job, status_of_error(progress->error), "%s",
			wh_fault_text(text, progress->doing, progress->error));
	else if (progress->state == WH_SINK_DONE)
		wh_job_tell_sink_done(job);
	return work;
}

static void fail_rpc(struct wh_job *job, int error)
{
	wh_job_fail(job, WH_STATUS_MISMATCH, "the peer's report on it is invalid (%s)",
		strerror(abs(error)));
}

static int32_t run_rpc(struct wh_job *job, uint64_t now_tsc)
{
	const struct wh_rpc_progress *progress = wh_rpc_progress(job->ends.rpc);
	uint64_t waits_told = progress->waits_told;

	job->ends.polled_tsc = now_tsc;

	int32_t work = wh_rpc_poll(job->ends.rpc);

	job->waits.worked += work > 0 && progress->waits_told == waits_told;
	if (progress->error != 0)
		fail_rpc(job, progress->error);
	else if (progress->done)
		wh_job_tell_sink_done(job);
	return work;
}

static int32_t run_reader(struct wh_job *job, uint64_t now_tsc)
{
	const struct wh_rpc_reading *progress = wh_rpc_reader_progress(job->ends.reader);
	uint64_t waits_told = progress->waits_told;
	int32_t work = wh_rpc_reader_poll(job->ends.reader, now_tsc);

	job->waits.worked += work > 0 && progress->waits_told == waits_told;
	if (progress->error != 0) {
		fail_rpc(job, progress->error);
	} else if (progress->done) {
		job->result.tally = progress->tally;
		wh_job_tell_sink_done(job);
	}
	return work;
}

static int32_t run_pump(struct wh_job *job, uint64_t now_tsc)
{
	if (job->ends.pump.session == wh_job_main(job)->out) {
		int32_t pumped = wh_pump_send(&job->ends.pump, now_tsc);

		wh_session_tell_reader(
			wh_job_main(job)->out, pumped > 0 ? WH_LIMIT_CPU : WH_LIMIT_MEMORY);
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

static enum wh_release_status outcome_of(const struct wh_session *session)
{
	return session == NULL ? WH_STATUS_PENDING : wh_session_news(session).outcome;
}

/*
 * Whether the job is done although the peer is gone: everything has arrived here, and the peer had
 * only to hear so. With WH_CHOICE_MOVE the source must hear it, to remove what has arrived.
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
	int32_t work = wh_paths_poll(job, now_tsc);
	struct wh_session *in = wh_job_in(job);

	if (job->ends.source != NULL)
		work += wh_job_run_source(job, now_tsc);
	if (job->ends.sink != NULL)
		work += run_sink(job, now_tsc);
	if (job->ends.rpc != NULL)
		work += run_rpc(job, now_tsc);
	if (job->ends.reader != NULL)
		work += run_reader(job, now_tsc);
	if (job->ends.pump.session != NULL) {
		int32_t pumped = run_pump(job, now_tsc);

		job->waits.worked += pumped > 0;
		work += pumped;
	}
	if (work > 0) {
		wh_session_kick(in);
		wh_session_kick(wh_job_main(job)->out);
	}
	if (now_tsc - job->turn.noted_tsc > wh_ns_to_tsc(job->jobs->ctx->hz, NOTE_MS * 1000000)) {
		see_wishes(job);
		wh_job_note_flow(job, now_tsc - job->turn.noted_tsc);
		job->turn.noted_tsc = now_tsc;
		wh_job_see_waits(job, now_tsc);
	}
	see_news(job, in, now_tsc);
	see_news(job, wh_job_main(job)->out, now_tsc);
	if (job->result.failed != WH_STATUS_PENDING ||
		(has_ended_well(job, in) && has_ended_well(job, wh_job_main(job)->out)))
		wh_job_end(job, now_tsc);
	return work;
}
