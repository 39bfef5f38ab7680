/* SPDX-License-Identifier: BSD-3-Clause */

/* What the receiving end of a bench has counted: of its session, its port and its cores. */

#include "base/clock.h"
#include "job/jobs.h"

static uint64_t dropped_pkts(const struct wh_host *host)
{
	struct wh_port_stats stats;
	uint64_t sum = 0;

	wh_port_stats_total(host->port, &stats);
	for (uint32_t i = 0; i < WH_PORT_DROPS; i++)
		sum += stats.dropped_pkts[i];
	return sum;
}

void wh_bench_count(const struct wh_job *job, uint64_t now_tsc, struct wh_bench_report *report)
{
	const struct wh_host *host = job->jobs->host;
	const struct wh_session_stats stats = wh_session_stats(wh_job_in(job));
	uint64_t began_tsc = job->flow_began_tsc;
	uint64_t flowed_tsc = began_tsc != 0 && now_tsc > began_tsc ? now_tsc - began_tsc : 0;

	*report = (struct wh_bench_report){
		.elapsed_ns = wh_max_u64(wh_tsc_to_ns(host->hz, flowed_tsc), 1),
		.bytes = stats.received_bytes - job->record_bytes,
		.pkts = stats.received_pkts,
		.duplicate_pkts = stats.duplicate_pkts,
		.bad_pkts = stats.bad_pkts + wh_station_bad_pkts(&host->shard[job->shard].station),
		.lost_pkts = stats.losses_detected_pkts,
		.dropped_pkts = dropped_pkts(host),
	};
	wh_runtime_cycles(host->runtime, report->cycles);
}
