/* SPDX-License-Identifier: BSD-3-Clause */

/* What others may read of a job: its progress while it runs, and its figures at the end. */

#include <assert.h>

#include "base/clock.h"
#include "job/jobs.h"
#include "job/paths/paths.h"
#include "session/pacer.h"

static_assert(sizeof(struct wh_totals) % sizeof(uint64_t) == 0, "counters of 64 bits");

void wh_job_note_totals(struct wh_job *job, const struct wh_totals *totals)
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

void wh_job_note_found(struct wh_job *job, uint64_t files, uint64_t bytes, bool all)
{
	atomic_store_explicit(&job->view.bytes_found, bytes, memory_order_relaxed);
	atomic_store_explicit(&job->view.files_found, files, memory_order_relaxed);
	atomic_store_explicit(&job->view.all_found, all, memory_order_release);
}

/* The session that carries the data: ours, or the peer's; NULL: not yet. */
static struct wh_session *data_session(const struct wh_job *job)
{
	if (job->request.verb == WH_JOB_IDLE)
		return NULL;
	return wh_job_sends(job) ? wh_job_main(job)->out : wh_job_in(job);
}

#define NOTE(field, value) atomic_store_explicit(&job->view.field, value, memory_order_relaxed)

static uint64_t full_wire_bytes(const struct wh_job *job, const struct wh_session *session)
{
	return wh_host_ctx_wire_bytes(
		job->jobs->ctx, job->place.peer.family, wh_session_params(session)->payload_bytes);
}

/* The present values of the sending end's controller, and its measurements of the path. */
static void note_flow(
	struct wh_job *job, const struct wh_session *session, const struct wh_path_sum *sum)
{
	const struct wh_session_stats *stats = &sum->stats;
	uint64_t lost_pkts = sum->lost_pkts;
	uint64_t pkts = stats->received_pkts + lost_pkts;

	if (wh_job_sends(job)) {
		pkts = stats->sent_pkts;
		NOTE(rate_now_bps, sum->rate_bps);
		NOTE(window_now_pkts, wh_session_pace(session).window_pkts);
		NOTE(wire_bytes,
			(stats->sent_pkts + stats->repair_pkts) * full_wire_bytes(job, session));
	}
	NOTE(sent_pkts, pkts);
	NOTE(lost_pkts, lost_pkts);
	NOTE(rtt_min_ns, wh_tsc_to_ns(job->jobs->ctx->hz, wh_session_rtt_min_tsc(session)));
	NOTE(rtt_now_ns, wh_tsc_to_ns(job->jobs->ctx->hz, wh_session_rtt_tsc(session)));
	NOTE(retransmitted_pkts, stats->retransmitted_pkts);
	NOTE(repair_pkts, stats->repair_pkts);
	NOTE(limit_now, wh_session_limit_now(session));
	for (uint32_t i = 0; i < WH_LIMITS; i++)
		NOTE(limit_tsc[i], stats->limit_tsc[i]);
	NOTE(moved_bytes, sum->moved_bytes);
}

/*
 * Of several paths only the main one shares its rate with other lanes. What limited it is the sum
 * of all, which never falls when another path takes its place.
 */
static void share_rate(struct wh_job *job, const struct wh_session_stats *stats, uint64_t span_tsc)
{
	struct wh_lane_share *share = &job->lanes.share;
	struct wh_session *out = wh_job_main(job)->out;

	if (share->share == NULL)
		return;

	bool busy = wh_share_is_busy(share, stats, span_tsc);

	wh_session_set_rate(out, wh_share_step(share, busy, wh_session_rate(out)));
}

void wh_job_note_flow(struct wh_job *job, uint64_t span_tsc)
{
	const struct wh_session *session = data_session(job);

	if (session == NULL)
		return;

	struct wh_path_sum sum;

	wh_paths_sum(job, wh_job_sends(job), &sum);
	note_flow(job, session, &sum);
	share_rate(job, &sum.stats, span_tsc);
}

void wh_job_port_limits(const struct wh_host_ctx_counts *counts, uint64_t limit[WH_LIMITS])
{
	if (counts->port_is_full)
		wh_limit_is_line(limit, WH_LIMIT_CPU);
	if (counts->nic_holds)
		wh_limit_is_line(limit, WH_LIMIT_LOSS);
}

static void note_host(const struct wh_job *job, struct wh_job_figures *figures)
{
	const struct wh_host_ctx *ctx = job->jobs->ctx;
	struct wh_host_ctx_counts counts;

	ctx->count(ctx, job->place.shard, &counts);
	wh_job_port_limits(&counts, figures->stats.limit_tsc);
	figures->cycles = wh_meter_sum(counts.cycles);
	figures->worker_cycles = wh_meter_workers(counts.cycles);
}

/*
 * What limited a session. If it stalled, that is what it waited for at its end; full buffers then
 * wait for the peer.
 */
static enum wh_limit limit_of(
	const struct wh_session *session, const struct wh_session_stats *stats)
{
	enum wh_limit limit = wh_session_limit_now(session);

	if (wh_session_news(session).outcome != WH_STATUS_STALLED)
		return wh_limit_of(stats->limit_tsc);
	return limit == WH_LIMIT_MEMORY ? WH_LIMIT_PEER : limit;
}

/*
 * A controller that found the operator's rate, less at most 1/BOUND_SHARE, has not seen the path's
 * capacity.
 */
#define BOUND_SHARE 16

static struct wh_known_path found_by(const struct wh_job *job, const struct wh_session *session)
{
	uint64_t bound_bps = wh_request_lane_bps(&job->request);
	struct wh_known_path found = {0};

	if (job->result.failed != WH_STATUS_PENDING || wh_job_is_striped(job))
		return found;
	found = wh_control_found(wh_session_control(session));
	if (bound_bps != WH_RATE_MAX && found.capacity_bps >= bound_bps - bound_bps / BOUND_SHARE)
		found = (struct wh_known_path){0};
	return found;
}

/*
 * For a server: each lane has found its part of the shared path, so the whole is that times the
 * lanes. The result of a `get` is kept here: it concerns the path to the client, on which this end
 * begins the next transfer.
 */
static void learn(struct wh_job *job, const struct wh_known_path *found)
{
	uint32_t lanes = job->request.lanes;
	struct wh_known_path path = *found;

	path.capacity_bps = wh_min_u64(path.capacity_bps, WH_KNOWN_BPS_MAX / lanes) * lanes;
	path.burst_pkts =
		(uint32_t)wh_min_u64((uint64_t)path.burst_pkts * lanes, WH_KNOWN_PKTS_MAX);
	wh_peers_learn(&job->jobs->peers, job->place.peer_entry, &job->place.peer, &path,
		wh_tsc_to_ns(job->jobs->ctx->hz, job->result.ended_tsc));
}

void wh_job_take_figures(struct wh_job *job)
{
	static const double shares[] = {0.5, 0.99, 0.999};
	const struct wh_session *session = data_session(job);
	struct wh_job_figures *figures = &job->result.figures;
	uint64_t hz = job->jobs->ctx->hz;
	struct wh_path_sum sum;

	if (session == NULL)
		return;
	wh_job_note_flow(job, 0);
	if (job->ends.source != NULL) {
		figures->digest_known = wh_source_progress(job->ends.source)->digest_known;
		figures->digest = wh_source_progress(job->ends.source)->digest;
	}
	if (job->ends.sink != NULL) {
		figures->digest_known = wh_sink_progress(job->ends.sink)->digest_known;
		figures->digest = wh_sink_progress(job->ends.sink)->digest;
	}
	wh_paths_sum(job, wh_job_sends(job), &sum);
	figures->stats = sum.stats;
	figures->rtt_ns = wh_tsc_to_ns(hz, wh_session_rtt_tsc(session));
	figures->rtt_min_ns = wh_tsc_to_ns(hz, wh_session_rtt_min_tsc(session));
	note_host(job, figures);
	if (session != wh_job_main(job)->out)
		return;
	figures->found = found_by(job, session);
	if (job->place.peer_entry != NULL && figures->found.capacity_bps > 0 &&
		!wh_job_is_rpc(job->request.verb))
		learn(job, &figures->found);
	figures->limited_by = limit_of(session, &figures->stats);
	for (uint32_t i = 0; i < RTE_DIM(shares); i++)
		figures->lateness_ns[i] = wh_tsc_to_ns(
			hz, wh_pacer_lateness_quantile(wh_session_pacer(session), shares[i]));
}

void wh_bench_count(const struct wh_job *job, uint64_t now_tsc, struct wh_bench_report *report)
{
	const struct wh_host_ctx *ctx = job->jobs->ctx;
	const struct wh_session_stats stats = wh_session_stats(wh_job_in(job));
	uint64_t began_tsc = job->view.flow_began_tsc;
	uint64_t flowed_tsc = began_tsc != 0 && now_tsc > began_tsc ? now_tsc - began_tsc : 0;
	struct wh_host_ctx_counts counts;

	ctx->count(ctx, job->place.shard, &counts);
	*report = (struct wh_bench_report){
		.elapsed_ns = wh_max_u64(wh_tsc_to_ns(ctx->hz, flowed_tsc), 1),
		.bytes = stats.received_bytes - job->records.record_bytes,
		.pkts = stats.received_pkts,
		.duplicate_pkts = wh_session_retransmitted_in_pkts(&stats),
		.bad_pkts = stats.bad_pkts + counts.bad_pkts,
		.lost_pkts = stats.losses_detected_pkts,
		.dropped_pkts = counts.dropped_pkts,
		.cycles = wh_meter_sum(counts.cycles),
		.worker_cycles = wh_meter_workers(counts.cycles),
	};
}
