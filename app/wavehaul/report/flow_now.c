/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/flow_now.h"

#include <inttypes.h>

#include "base/assert.h"
#include "base/clock.h"

uint64_t wh_least_known(uint64_t a, uint64_t b)
{
	return a == 0 || b == 0 ? wh_max_u64(a, b) : wh_min_u64(a, b);
}

#define LOOK(job, field) atomic_load_explicit(&(job)->view.field, memory_order_relaxed)

static void add_lane(struct wh_flow_now *flow, const struct wh_job *job)
{
	uint64_t hz = job->jobs->ctx->hz;

	flow->rate_bps += LOOK(job, rate_now_bps);
	flow->window_pkts += LOOK(job, window_now_pkts);
	flow->rtt_ns = wh_max_u64(flow->rtt_ns, LOOK(job, rtt_now_ns));
	flow->rtt_min_ns = wh_least_known(flow->rtt_min_ns, LOOK(job, rtt_min_ns));
	flow->pkts += LOOK(job, sent_pkts);
	flow->lost_pkts += LOOK(job, lost_pkts);
	flow->retransmitted_pkts += LOOK(job, retransmitted_pkts);
	flow->repair_pkts += LOOK(job, repair_pkts);
	flow->moved_bytes += LOOK(job, moved_bytes);
	flow->wire_bytes += LOOK(job, wire_bytes);
	for (uint32_t i = 0; i < WH_LIMITS; i++)
		flow->limit_ns[i] += wh_tsc_to_ns(hz, LOOK(job, limit_tsc[i]));
}

void wh_flow_now_look(struct wh_flow_now *flow, struct wh_job *const *lanes, uint32_t count)
{
	bool paced = true;

	WH_ASSERT(count > 0);
	*flow = (struct wh_flow_now){
		.sends = wh_job_sends(lanes[0]),
		.lanes = count,
		.limit = (enum wh_limit)LOOK(lanes[0], limit_now),
	};
	for (uint32_t i = 0; i < count; i++) {
		paced &= LOOK(lanes[i], rate_now_bps) != 0;
		add_lane(flow, lanes[i]);
	}
	if (!paced)
		flow->rate_bps = 0;
}

void wh_flow_now_count_host(struct wh_flow_now *flow, const struct wh_job *lane)
{
	const struct wh_host_ctx *ctx = lane->jobs->ctx;

	ctx->count(ctx, lane->place.shard, &flow->host);
}

/* A loss may be reported later than its packet was sent; limited to all packets. */
static double loss_between(const struct wh_flow_now *before, const struct wh_flow_now *now)
{
	uint64_t pkts = now->pkts - before->pkts;
	uint64_t lost_pkts = now->lost_pkts - before->lost_pkts;

	return pkts > 0 ? (double)wh_min_u64(lost_pkts, pkts) / (double)pkts : 0;
}

enum wh_limit wh_flow_now_limit(const struct wh_flow_now *before, const struct wh_flow_now *now)
{
	uint64_t limit_ns[WH_LIMITS], all_ns = 0;

	for (uint32_t i = 0; i < WH_LIMITS; i++) {
		bool is_new = now->limit_ns[i] < before->limit_ns[i]; /* another session's */

		limit_ns[i] = now->limit_ns[i] - (is_new ? 0 : before->limit_ns[i]);
		all_ns += limit_ns[i];
	}
	wh_job_port_limits(&now->host, limit_ns);
	return all_ns > 0 ? wh_limit_of(limit_ns) : now->limit;
}

void wh_flow_now_to_json(
	json_t *object, const struct wh_flow_now *before, const struct wh_flow_now *now)
{
	json_object_set_new(object, "rate_bps",
		now->sends && now->rate_bps > 0 ? json_integer((json_int_t)now->rate_bps)
						: json_null());
	json_object_set_new(object, "window_packets",
		now->sends ? json_integer((json_int_t)now->window_pkts) : json_null());
	json_object_set_new(object, "rtt_ms",
		now->rtt_ns > 0 ? json_real((double)now->rtt_ns / 1e6) : json_null());
	json_object_set_new(object, "loss", json_real(loss_between(before, now)));
	json_object_set_new(object, "limited_by",
		now->sends ? json_string(wh_limit_name(wh_flow_now_limit(before, now)))
			   : json_null());
}

void wh_flow_now_print_head(const struct wh_flow_now *flow, FILE *to)
{
	if (flow->sends)
		fprintf(to, " %10s %9s", "paced Gb/s", "window");
	fprintf(to, " %9s %8s", "RTT ms", "loss %");
	if (flow->sends)
		fprintf(to, " %10s", "limited by");
}

void wh_flow_now_print(const struct wh_flow_now *before, const struct wh_flow_now *now, FILE *to)
{
	if (now->sends && now->rate_bps > 0)
		fprintf(to, " %10.3f %9" PRIu64, (double)now->rate_bps / 1e9, now->window_pkts);
	else if (now->sends)
		fprintf(to, " %10s %9" PRIu64, "no", now->window_pkts);
	fprintf(to, " %9.3f %8.3f", (double)now->rtt_ns / 1e6, 100 * loss_between(before, now));
	if (now->sends)
		fprintf(to, " %10s", wh_limit_name(wh_flow_now_limit(before, now)));
}

json_t *wh_limits_json(const uint64_t limit_tsc[WH_LIMITS])
{
	json_t *object = json_object();
	uint64_t all_tsc = 0;

	for (uint32_t i = 0; i < WH_LIMITS; i++)
		all_tsc += limit_tsc[i];
	for (uint32_t i = 0; i < WH_LIMITS; i++)
		if (limit_tsc[i] > 0)
			json_object_set_new(object, wh_limit_name((enum wh_limit)i),
				json_real((double)limit_tsc[i] / (double)all_tsc));
	return object;
}
