/* SPDX-License-Identifier: BSD-3-Clause */

/* Reports a job's progress and waits to its watch and its peer. */

#include "base/clock.h"
#include "job/jobs.h"
#include "job/paths/paths.h"

static enum wh_waits waits_of(const struct wh_job *job)
{
	if (job->ends.source != NULL)
		return wh_source_waits(job->ends.source);
	if (job->ends.sink != NULL)
		return wh_sink_waits(job->ends.sink);
	if (job->ends.rpc != NULL)
		return wh_rpc_waits(job->ends.rpc);
	if (job->ends.reader != NULL)
		return wh_rpc_reader_waits(job->ends.reader);
	return wh_job_sends(job) ? WH_WAITS_SESSION : WH_WAITS_ENTRIES;
}

static uint64_t stall_timeout_tsc(const struct wh_job *job)
{
	return wh_ns_to_tsc(job->jobs->ctx->hz, job->request.stall_timeout_ns);
}

static bool has_lane_group(const struct wh_job *job, uint64_t now_tsc)
{
	return job->lanes.lane_group != NULL &&
	       atomic_load_explicit(&job->lanes.lane_group->moved_tsc, memory_order_relaxed) +
			       stall_timeout_tsc(job) >
		       now_tsc;
}

/* If other lanes, or other jobs of the peer, make progress, this one may be waiting for them. */
static bool has_company(const struct wh_job *job, uint64_t now_tsc)
{
	uint64_t stall_timeout_ns = job->request.stall_timeout_ns;
	uint64_t now_ns = wh_tsc_to_ns(job->jobs->ctx->hz, now_tsc);

	if (has_lane_group(job, now_tsc))
		return true;
	return job->role == WH_AT_SERVER && now_ns > stall_timeout_ns &&
	       job->place.peer_entry->moved_ns > now_ns - stall_timeout_ns;
}

/* Repair packets carry no new data, but in a slow stream they may be all that moves for a while. */
static uint64_t moved_bytes(const struct wh_job *job, bool ours)
{
	struct wh_path_sum sum;

	wh_paths_sum(job, ours, &sum);
	return sum.moved_bytes + sum.stats.repair_pkts * WH_WATCH_MOVED_BYTES;
}

/*
 * Both sessions must be silent: one whose outcome is known hears nothing more, while the other goes
 * on.
 */
static bool hears_nothing(const struct wh_job *job, uint64_t now_tsc)
{
	uint64_t hz = job->jobs->ctx->hz;

	return wh_job_hears_nothing(wh_job_in(job), hz, now_tsc) &&
	       wh_job_hears_nothing(wh_job_main(job)->out, hz, now_tsc);
}

static struct wh_watch_sight look(const struct wh_job *job, uint64_t now_tsc)
{
	struct wh_watch_sight sight = {
		.worked = job->waits.worked,
		.moved_bytes = moved_bytes(job, false) + moved_bytes(job, true),
		.waits = waits_of(job),
		.company = has_company(job, now_tsc),
		.silent = hears_nothing(job, now_tsc),
	};

	if (job->ends.source != NULL) {
		const struct wh_source_progress *progress = wh_source_progress(job->ends.source);

		sight.waits_told = progress->waits_told;
		sight.peer = progress->peer;
	} else if (job->ends.sink != NULL) {
		const struct wh_sink_progress *progress = wh_sink_progress(job->ends.sink);

		sight.waits_told = progress->waits_told;
		sight.peer = progress->peer;
	} else if (job->ends.rpc != NULL) {
		const struct wh_rpc_progress *progress = wh_rpc_progress(job->ends.rpc);

		sight.waits_told = progress->waits_told;
		sight.peer = progress->peer;
	} else if (job->ends.reader != NULL) {
		const struct wh_rpc_reading *progress = wh_rpc_reader_progress(job->ends.reader);

		sight.waits_told = progress->waits_told;
		sight.peer = progress->peer;
	}
	return sight;
}

/*
 * A sink tells its waits, unless its answers already show progress. A source tells its own only
 * after a waiting sink has: otherwise messages to a sink that takes nothing would fill its buffers.
 */
static void tell_peer(struct wh_job *job, uint64_t now_tsc, const struct wh_watch_sight *sight)
{
	const struct wh_waits_told told = {
		.worked = sight->worked,
		.rate_bps = job->waits.rate_told_bps,
		.waits = (uint8_t)sight->waits,
	};
	struct wh_path_sum sum;

	wh_paths_sum(job, true, &sum);

	uint64_t sent_bytes = sum.moved_bytes;

	if (now_tsc < job->waits.next_tell_tsc)
		return;
	job->waits.next_tell_tsc =
		now_tsc + wh_ns_to_tsc(job->jobs->ctx->hz, WH_WATCH_TELL_MS * UINT64_C(1000000));
	if (job->ends.sink != NULL && sent_bytes == job->waits.told_bytes)
		wh_sink_tell_waits(job->ends.sink, &told);
	else if (job->ends.source != NULL && sight->waits_told != job->waits.waits_heard &&
		 sight->peer.waits == WH_WAITS_ENTRIES)
		wh_source_tell_waits(job->ends.source, &told);
	else if (job->ends.rpc != NULL && sent_bytes == job->waits.told_bytes)
		wh_rpc_tell_waits(job->ends.rpc, &told);
	else if (job->ends.reader != NULL && sight->waits == WH_WAITS_PIPE)
		wh_rpc_reader_tell_waits(job->ends.reader, &told);
	job->waits.told_bytes = sent_bytes;
	job->waits.waits_heard = sight->waits_told;
	wh_session_kick(wh_job_main(job)->out);
}

/* Tells the peer a new rate, at once or as soon as there is room. */
static void tell_rate(struct wh_job *job, const struct wh_watch_sight *sight)
{
	const struct wh_waits_told told = {
		.worked = sight->worked,
		.rate_bps = job->request.rate_bps,
		.waits = (uint8_t)sight->waits,
	};

	if (!job->waits.rate_untold || job->ends.sink == NULL ||
		!wh_sink_tell_waits(job->ends.sink, &told))
		return;
	job->waits.rate_untold = false;
	job->waits.rate_told_bps = told.rate_bps;
	wh_session_kick(wh_job_main(job)->out);
}

/* The client of a `get` requests another rate: applied within its rights. */
static void hear_rate(struct wh_job *job, const struct wh_waits_told *peer)
{
	struct wh_request request = {.rate_bps = wh_max_u64(peer->rate_bps, WH_RATE_MIN)};

	if (job->role != WH_AT_SERVER || job->ends.source == NULL || peer->rate_bps == 0 ||
		peer->rate_bps == job->waits.rate_heard_bps)
		return;
	job->waits.rate_heard_bps = peer->rate_bps;
	request.rate_bps = wh_min_u64(request.rate_bps, job->jobs->service->own.rate_bps);
	if (job->rights.rate_bps != 0)
		request.rate_bps = wh_min_u64(request.rate_bps, job->rights.rate_bps);
	(void)wh_job_change(job, &request);
}

void wh_job_fail_stalled(struct wh_job *job, uint64_t now_tsc)
{
	char text[WH_WATCH_TEXT_BYTES];
	bool is_bundle = job->ends.source != NULL || job->ends.sink != NULL;
	const char *sender = is_bundle ? "source" : "sender";
	const char *receiver = is_bundle ? "sink" : "receiver";
	bool sends = wh_job_sends(job);

	job->result.stalled |= job->result.failed == WH_STATUS_PENDING;
	wh_job_fail(job, WH_STATUS_STALLED, "%s",
		wh_watch_text(&job->waits.watch, now_tsc, stall_timeout_tsc(job),
			sends ? sender : receiver, sends ? receiver : sender, text));
}

void wh_job_see_waits(struct wh_job *job, uint64_t now_tsc)
{
	if (job->request.verb == WH_JOB_IDLE)
		return;
	if (job->waits.watch.progress_tsc == 0)
		wh_watch_begin(&job->waits.watch, job->jobs->ctx->hz, now_tsc);

	const struct wh_watch_sight sight = look(job, now_tsc);
	const struct wh_watch_patience patience = {
		.stall_tsc = stall_timeout_tsc(job),
		.pipe_tsc = wh_ns_to_tsc(job->jobs->ctx->hz, job->request.pipe_timeout_ns),
	};

	if (!wh_watch_see(&job->waits.watch, now_tsc, &patience, &sight))
		wh_job_fail_stalled(job, now_tsc);
	else if (!job->ends.sink_told) {
		tell_rate(job, &sight);
		tell_peer(job, now_tsc, &sight);
	}
	hear_rate(job, &sight.peer);
	if (job->waits.watch.progress_tsc != now_tsc)
		return;
	if (job->lanes.lane_group != NULL)
		atomic_store_explicit(
			&job->lanes.lane_group->moved_tsc, now_tsc, memory_order_relaxed);
	if (job->role == WH_AT_SERVER)
		job->place.peer_entry->moved_ns = wh_tsc_to_ns(job->jobs->ctx->hz, now_tsc);
}
