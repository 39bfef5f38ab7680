/* SPDX-License-Identifier: BSD-3-Clause */

/* What a session's configuration is before the caller fills it in. */

#include "base/clock.h"
#include "session/session.h"

void wh_repair_config_init(struct wh_repair_config *repair, const struct wh_profile *profile)
{
	*repair = (struct wh_repair_config){
		.recovery = profile->recovery,
		.code = profile->code,
	};
	wh_fec_planner_config_init(&repair->planner, profile->code);
	if (profile->repair_ceiling > 0.0)
		repair->planner.ceiling = profile->repair_ceiling;
}

void wh_session_config_init(struct wh_session_config *config)
{
	*config = (struct wh_session_config){
		.chunk_bytes = WH_CHUNK_BYTES_DEFAULT,
		.burst_pkts = 1,
		.initial_rtt_ns = 100 * UINT64_C(1000000),
		.peer_timeout_ns = 30 * WH_NS_PER_S,
		.stall_timeout_ns = 30 * WH_NS_PER_S,
	};
}

void wh_session_config_profile(struct wh_session_config *config, const struct wh_profile *profile)
{
	config->profile = profile;
	wh_profile_options_init(&config->options, profile);
}
