/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* Two processes that know each other, without a handshake: a table each, and an SA in both. */

#include "base/assert.h"
#include "seal/sa.h"

struct wh_rig_sadb {
	struct wh_sadb sadb[2];
	struct wh_sa *sa[2]; /* [0] asked; each is held by this rig */
};

/* Other SAs for each seed. */
static inline void wh_rig_sadb_open(struct wh_rig_sadb *rig, uint64_t seed, enum wh_cipher cipher)
{
	uint32_t number[2];

	for (uint32_t end = 0; end < 2; end++) {
		int rc = wh_sadb_init(&rig->sadb[end], WH_SA_PLACES_MIN);

		WH_ASSERT(rc == 0);
		number[end] = wh_sadb_reserve(&rig->sadb[end], (uint32_t)(seed << 8) + end * 256);
	}
	for (uint32_t end = 0; end < 2; end++) {
		struct wh_sa_config config = {
			.own_identity = {(uint8_t)(end + 1)},
			.peer_identity = {(uint8_t)(2 - end)},
			.owner = {(uint8_t)(2 - end)},
			.peer_number = number[!end],
			.cipher = cipher,
			.asked = end == 0,
		};

		for (uint32_t i = 0; i < sizeof(seed); i++)
			config.secret[i] = (uint8_t)(seed >> 8 * i);
		rig->sa[end] = wh_sadb_fill(&rig->sadb[end], number[end], &config);
	}
}

/* All sessions are gone. */
static inline void wh_rig_sadb_close(struct wh_rig_sadb *rig)
{
	for (uint32_t end = 0; end < 2; end++) {
		WH_ASSERT(wh_sa_holders(rig->sa[end]) == 1);
		wh_sa_let_go(rig->sa[end]);
		wh_sadb_free(&rig->sadb[end]);
	}
}
