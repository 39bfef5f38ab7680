/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * A token bucket policer: a packet for which there are too few tokens is dropped, none waits. The
 * bucket starts full and fills at its rate; a dropped packet consumes no tokens. A packet larger
 * than the bucket never passes.
 */

#include <stdbool.h>
#include <stdint.h>

struct wh_sim_policer_config {
	uint64_t rate_bps; /* 0: no policer */
	uint64_t bucket_bytes;
};

struct wh_sim_policer {
	uint64_t rate_bps;
	/* In units of 1e-12 bits, so that each picosecond adds a whole number. */
	unsigned __int128 full;
	unsigned __int128 level;
	uint64_t filled_ps; /* time of the level */
};

void wh_sim_policer_init(
	struct wh_sim_policer *policer, const struct wh_sim_policer_config *config);

/* Consumes the packet's tokens if there are enough. Times never decrease. */
bool wh_sim_policer_passes(struct wh_sim_policer *policer, uint64_t now_ps, uint32_t bytes);
