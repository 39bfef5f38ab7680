/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile/interval.h"

#include "base/assert.h"
#include "profile/profile.h"

uint64_t wh_interval_fp(uint64_t hz, uint32_t wire_bytes, uint64_t rate_bps)
{
	WH_ASSERT(hz > 0 && hz < UINT64_C(1) << 40);
	WH_ASSERT(wire_bytes > 0 && rate_bps > 0);

	unsigned __int128 cycles_bits = (unsigned __int128)hz * wire_bytes * 8;
	unsigned __int128 interval_fp =
		((cycles_bits << WH_INTERVAL_FRACTION_BITS) + rate_bps / 2) / rate_bps;

	if (interval_fp < WH_INTERVAL_MIN_FP)
		return WH_INTERVAL_MIN_FP;
	if (interval_fp > WH_INTERVAL_MAX_FP)
		return WH_INTERVAL_MAX_FP;
	return (uint64_t)interval_fp;
}

uint64_t wh_control_rate_fp(const struct wh_control *control)
{
	const struct wh_control_config *config = &control->config;

	if (config->rate_bps == 0)
		return 0;
	return wh_interval_fp(config->hz, config->wire_bytes, config->rate_bps);
}
