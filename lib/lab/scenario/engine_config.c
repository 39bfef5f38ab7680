/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab/scenario/engine_config.h"

#include <assert.h>

#include "base/assert.h"

#define MTU_BYTES_DEFAULT   1500
#define WINDOW_PKTS_DEFAULT (UINT32_C(1) << 16)

/* Most chunks of a window: slots are 16 bits wide. Larger windows have larger chunks. */
#define WINDOW_CHUNKS_MAX 16384

static_assert(WINDOW_CHUNKS_MAX + WH_SIM_READY_CHUNKS + 1 <= UINT16_MAX, "each chunk has a slot");

void wh_sim_engine_config_init(
	struct wh_sim_engine_config *config, const struct wh_profile *profile)
{
	*config = (struct wh_sim_engine_config){
		.profile = profile,
		.mtu_bytes = MTU_BYTES_DEFAULT,
		.size_bytes = WH_OBJECT_BYTES_UNKNOWN,
		.window_pkts = WINDOW_PKTS_DEFAULT,
		.burst_pkts = 1,
	};
	wh_profile_options_init(&config->options, profile);
}

uint32_t wh_sim_engine_payload_bytes(uint32_t mtu_bytes)
{
	return wh_encap_payload_bytes(WH_IPV4, mtu_bytes);
}

/*
 * Packets of a chunk: the fewest that fill a multiple of WH_CHUNK_ALIGN, so that all are full; for
 * a large window a multiple of that, to limit the number of chunks.
 */
uint32_t wh_sim_engine_chunk_pkts(const struct wh_sim_engine_config *config)
{
	uint32_t payload_bytes = wh_sim_engine_payload_bytes(config->mtu_bytes);

	WH_ASSERT(payload_bytes > 0);

	uint32_t odd_pkts = WH_CHUNK_ALIGN / (payload_bytes & -payload_bytes);
	uint32_t least_pkts = odd_pkts > 0 ? odd_pkts : 1;
	uint32_t groups = config->window_pkts / WINDOW_CHUNKS_MAX / least_pkts;

	if (groups < config->chunk_pkts / least_pkts)
		groups = config->chunk_pkts / least_pkts;
	return groups > 0 ? groups * least_pkts : least_pkts;
}

struct wh_session_config wh_sim_engine_session_config(
	const struct wh_sim_engine_config *config, uint64_t seed)
{
	struct wh_session_config session;
	uint32_t payload_bytes = wh_sim_engine_payload_bytes(config->mtu_bytes);
	uint32_t pkts = wh_sim_engine_chunk_pkts(config);

	WH_ASSERT(config->profile != NULL && payload_bytes > 0 && pkts > 0);
	wh_session_config_init(&session);
	session.hz = WH_HOST_CLOCK_HZ;
	session.profile = config->profile;
	session.payload_bytes = payload_bytes;
	session.packet_bytes = WH_SIM_IP_UDP_BYTES + WH_HEAD_BYTES + payload_bytes;
	session.wire_bytes = session.packet_bytes;
	session.chunk_bytes = pkts * payload_bytes;
	session.chunks = config->window_pkts / pkts + 1 + WH_SIM_READY_CHUNKS;
	if (config->tasks.arrival_ps > 0) /* a buffer per packet of the window */
		session.chunks = config->window_pkts + 1 + WH_SIM_READY_CHUNKS;
	WH_ASSERT(session.chunk_bytes % WH_CHUNK_ALIGN == 0 && session.chunks <= UINT16_MAX);
	session.payload_virtual = true;
	session.window_pkts = config->window_pkts;
	session.rate_bps = config->rate_bps;
	session.burst_pkts = config->burst_pkts;
	session.options = config->options;
	session.known = config->known;
	session.repair = config->repair;
	session.seed = seed;
	return session;
}
