/* SPDX-License-Identifier: BSD-3-Clause */
#include "host/bounds.h"

#include <assert.h>

#include "cli/cli_repair.h"
#include "profile/profile.h"
#include "wire/packet.h"

static_assert(WH_STREAM_WINDOW_PKTS_MAX % WH_WINDOW_PACKETS_MIN == 0 &&
		      (WH_STREAM_WINDOW_PKTS_MAX & (WH_STREAM_WINDOW_PKTS_MAX - 1)) == 0,
	"wh_stream_window doubles from the one to the other");
static_assert(WH_STREAM_PAYLOAD_BYTES_MIN % WH_PAYLOAD_ALIGN == 0, "the least is possible");

bool wh_payload_is_possible(uint32_t payload_bytes, uint32_t payload_bytes_max)
{
	return payload_bytes >= WH_STREAM_PAYLOAD_BYTES_MIN && payload_bytes <= payload_bytes_max &&
	       payload_bytes % WH_PAYLOAD_ALIGN == 0;
}

bool wh_open_is_possible(const struct wh_open_params *params, const struct wh_peer_bounds *bounds)
{
	const struct wh_profile *profile = wh_profile_by_number(params->profile);
	struct wh_profile_options options;

	if (profile == NULL ||
		!wh_profile_options_hear(&options, profile, params->options, params->n_options))
		return false;
	/* With another period our receiver reports would not come at the pace of the profile. */
	if (params->period_us != wh_profile_feedback(profile, &options).period_us)
		return false;
	if (!wh_payload_is_possible(params->payload_bytes, bounds->payload_bytes) ||
		params->window_pkts > WH_STREAM_WINDOW_PKTS_MAX)
		return false;
	/* Only the sizes that a bundle and its answers need; others would only take memory. */
	if (params->chunk_bytes != WH_CHUNK_BYTES_DEFAULT &&
		params->chunk_bytes != WH_ANSWER_CHUNK_BYTES)
		return false;
	if (params->object_bytes != WH_OBJECT_BYTES_UNKNOWN)
		return false;
	if (params->recovery == WH_RECOVERY_NAK)
		return params->repair_pkts == 0;
	return params->recovery < WH_RECOVERIES && wh_repair_fits(params, &bounds->fec);
}

uint32_t wh_stream_window(const struct wh_session_config *config)
{
	const struct wh_fec_limits chunk = wh_session_fec_limits(config);
	uint64_t pkts = (uint64_t)config->chunks * (chunk.k + chunk.r);
	uint32_t window_pkts = WH_WINDOW_PACKETS_MIN;

	while (window_pkts < pkts && window_pkts < WH_STREAM_WINDOW_PKTS_MAX)
		window_pkts *= 2;
	return window_pkts;
}
