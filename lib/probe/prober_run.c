/* SPDX-License-Identifier: BSD-3-Clause */

/* How a run of packets begins, and how the probe ends with its findings. */

#include "measure/bottleneck.h"
#include "probe/probe_internal.h"

/* Derives the remaining findings; (1) to (4) of lambda-tcp.txt 2. */
static void conclude(struct wh_prober *prober)
{
	struct wh_findings *found = &prober->findings;
	struct wh_bottleneck bottleneck = {
		.fast_bps = found->line_bps,
		.slow_bps = found->trains_bps,
		.rtt_s = (double)found->rtt_p50_ns / (double)WH_NS_PER_S,
	};

	if (found->burst_end != WH_BURST_OVERFLOW || bottleneck.slow_bps <= 0)
		return;
	/* Sent all at once: the whole burst is queued. */
	if (bottleneck.fast_bps == 0) {
		found->memory_bytes = (double)found->burst_pkts * found->wire_bytes;
		return;
	}
	if (bottleneck.fast_bps <= bottleneck.slow_bps)
		return;
	/* (1): what is lost behind a burst is what waits of it. */
	bottleneck.memory_bytes =
		prober->overflow_share > 0
			? prober->overflow_share * found->burst_pkts * found->wire_bytes
			: wh_bottleneck_memory_bytes(bottleneck.fast_bps, bottleneck.slow_bps,
				  found->burst_pkts, found->wire_bytes);
	found->memory_bytes = bottleneck.memory_bytes;
	if (bottleneck.rtt_s <= 0)
		return;
	found->initial_bps = wh_bottleneck_rate_bps(&bottleneck);
	found->wanted_bytes = wh_bottleneck_wanted_bytes(
		bottleneck.fast_bps, bottleneck.slow_bps, bottleneck.rtt_s);
	found->forbidden = wh_bottleneck_forbidden(
		&bottleneck, &found->forbidden_low_bps, &found->forbidden_high_bps);
}

void wh_prober_finish(struct wh_prober *prober, uint64_t now_tsc, enum wh_prober_end end)
{
	WH_ASSERT(end != WH_PROBER_RUNNING && wh_prober_ended(prober) == WH_PROBER_RUNNING);
	prober->last_stage = (int)prober->stage;
	prober->stage = WH_PROBER_OVER;
	prober->run.count = prober->run.sent = 0;
	prober->fetch.active = false;
	prober->findings.elapsed_ns = wh_tsc_to_ns(prober->config.hz, now_tsc - prober->begun_tsc);
	conclude(prober);
	atomic_store_explicit(&prober->end, end, memory_order_release);
}

void wh_prober_run(struct wh_prober *prober, uint64_t now_tsc, uint8_t flags, uint32_t count,
	uint32_t packet_bytes, uint32_t group, uint64_t gap_tsc)
{
	WH_ASSERT(count > 0 && count <= WH_PROBE_PKTS_MAX && group > 0);
	WH_ASSERT(packet_bytes >= WH_HEAD_BYTES && packet_bytes <= prober->config.packet_bytes);
	prober->run = (struct wh_prober_run){
		.number = ++prober->trains,
		.flags = flags,
		.count = count,
		.packet_bytes = packet_bytes,
		.group = group,
		.gap_tsc = gap_tsc,
		.begun_tsc = now_tsc,
	};
}
