/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab/sim/policer.h"

#include "base/assert.h"
#include "lab/sim/event.h"

static unsigned __int128 tokens_of(uint64_t bytes)
{
	return (unsigned __int128)bytes * 8 * WH_PS_PER_S;
}

void wh_sim_policer_init(struct wh_sim_policer *policer, const struct wh_sim_policer_config *config)
{
	WH_ASSERT(config->rate_bps == 0 || config->bucket_bytes > 0);

	*policer = (struct wh_sim_policer){
		.rate_bps = config->rate_bps,
		.full = tokens_of(config->bucket_bytes),
		.level = tokens_of(config->bucket_bytes),
	};
}

bool wh_sim_policer_passes(struct wh_sim_policer *policer, uint64_t now_ps, uint32_t bytes)
{
	if (policer->rate_bps == 0)
		return true;
	WH_DEBUG_ASSERT(now_ps >= policer->filled_ps);
	policer->level += (unsigned __int128)policer->rate_bps * (now_ps - policer->filled_ps);
	if (policer->level > policer->full)
		policer->level = policer->full;
	policer->filled_ps = now_ps;
	if (policer->level < tokens_of(bytes))
		return false;
	policer->level -= tokens_of(bytes);
	return true;
}
