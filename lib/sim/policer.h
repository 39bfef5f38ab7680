/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_SIM_POLICER_H
#define WH_SIM_POLICER_H

/*
 * A token bucket that polices: a packet for which it holds too few tokens is dropped, none waits.
 * It is full at the beginning and fills at its rate; a packet that is dropped takes none. A packet
 * larger than the bucket never passes.
 */

#include <stdbool.h>
#include <stdint.h>

struct wh_sim_policer_config {
	uint64_t rate_bps; /* 0: no policer */
	uint64_t bucket_bytes;
};

struct wh_sim_policer {
	uint64_t rate_bps;
	/* In 1e-12 bits, which a rate makes in whole numbers a picosecond. */
	unsigned __int128 full;
	unsigned __int128 level;
	uint64_t filled_ps; /* the level is of then */
};

void wh_sim_policer_init(
	struct wh_sim_policer *policer, const struct wh_sim_policer_config *config);

/* Takes its tokens, where there are enough. Times never decrease. */
bool wh_sim_policer_passes(struct wh_sim_policer *policer, uint64_t now_ps, uint32_t bytes);

#endif
