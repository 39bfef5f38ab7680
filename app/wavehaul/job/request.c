/* SPDX-License-Identifier: BSD-3-Clause */
#include "job/request.h"

#include "base/assert.h"
#include "base/clock.h"

uint64_t wh_request_lane_bytes(const struct wh_request *request, uint32_t lane)
{
	WH_ASSERT(lane < request->lanes);
	return request->size_bytes / request->lanes + (lane < request->size_bytes % request->lanes);
}

uint64_t wh_request_lane_bps(const struct wh_request *request)
{
	WH_ASSERT(request->lanes > 0);
	return wh_rate_is_paced(request->rate_bps)
		       ? wh_max_u64(
				 request->rate_bps / request->lanes / wh_max_u64(request->ports, 1),
				 1)
		       : WH_RATE_MAX;
}

struct wh_known_path wh_request_lane_known(const struct wh_request *request)
{
	struct wh_known_path known = request->known;

	WH_ASSERT(request->lanes > 0);
	/* By several paths each finds its own. */
	if (request->ports > 1)
		return (struct wh_known_path){0};
	if (known.capacity_bps == 0)
		return known;
	known.capacity_bps = wh_max_u64(known.capacity_bps / request->lanes, 1);
	if (known.burst_pkts > 0)
		known.burst_pkts = (uint32_t)wh_max_u64(known.burst_pkts / request->lanes, 1);
	return known;
}

void wh_request_apply(const struct wh_request *request, struct wh_session_config *config)
{
	if (request->burst_pkts != 0)
		config->burst_pkts = request->burst_pkts;
	config->peer_timeout_ns = request->peer_timeout_ns;
	config->stall_timeout_ns = request->stall_timeout_ns;
	if (config->profile == request->profile)
		config->options = request->options;
}

void wh_request_configure(const struct wh_request *request, bool bundle,
	const struct wh_peer_bounds *bounds, struct wh_session_config *config)
{
	WH_ASSERT(request->profile != NULL && bounds->payload_bytes >= WH_STREAM_PAYLOAD_BYTES_MIN);
	config->profile = request->profile;
	wh_request_apply(request, config);
	config->payload_bytes = (uint32_t)wh_min_u64(bounds->payload_bytes, request->payload_bytes);
	config->chunk_bytes = bundle ? WH_CHUNK_BYTES_DEFAULT : WH_ANSWER_CHUNK_BYTES;
	if (!bundle)
		return;
	config->known = wh_request_lane_known(request);
	wh_repair_configure(&request->repair, config);
}
