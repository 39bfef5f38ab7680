/* SPDX-License-Identifier: BSD-3-Clause */

/* What the receiving end of a bench has counted: of its session, its port and its cores. */

#include <string.h>

#include "base/clock.h"
#include "job/jobs.h"

void wh_bench_count(const struct wh_job *job, uint64_t now_tsc, struct wh_bench_report *report)
{
	const struct wh_ground *ground = job->jobs->ground;
	const struct wh_session_stats stats = wh_session_stats(wh_job_in(job));
	uint64_t began_tsc = job->flow_began_tsc;
	uint64_t flowed_tsc = began_tsc != 0 && now_tsc > began_tsc ? now_tsc - began_tsc : 0;
	struct wh_ground_counts counts;

	ground->count(ground, job->shard, &counts);
	*report = (struct wh_bench_report){
		.elapsed_ns = wh_max_u64(wh_tsc_to_ns(ground->hz, flowed_tsc), 1),
		.bytes = stats.received_bytes - job->record_bytes,
		.pkts = stats.received_pkts,
		.duplicate_pkts = stats.duplicate_pkts,
		.bad_pkts = stats.bad_pkts + counts.bad_pkts,
		.lost_pkts = stats.losses_detected_pkts,
		.dropped_pkts = counts.dropped_pkts,
		.cycles = wh_meter_sum(counts.cycles),
	};
}
