/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_TEST_RIG_BONDS_H
#define WH_TEST_RIG_BONDS_H

/* Two processes that know each other, without a handshake: a table each, and a bond in both. */

#include "base/assert.h"
#include "seal/bond.h"

struct wh_rig_bonds {
	struct wh_bonds bonds[2];
	struct wh_bond *bond[2]; /* [0] asked; each is held by this rig */
};

/* Other bonds for each seed. */
static inline void wh_rig_bonds_open(struct wh_rig_bonds *rig, uint64_t seed, enum wh_cipher cipher)
{
	uint32_t number[2];

	for (uint32_t end = 0; end < 2; end++) {
		int rc = wh_bonds_init(&rig->bonds[end], WH_BOND_PLACES_MIN);

		WH_ASSERT(rc == 0);
		number[end] = wh_bonds_reserve(&rig->bonds[end], (uint32_t)(seed << 8) + end * 256);
	}
	for (uint32_t end = 0; end < 2; end++) {
		struct wh_bond_config config = {
			.own_identity = {(uint8_t)(end + 1)},
			.peer_identity = {(uint8_t)(2 - end)},
			.owner = {(uint8_t)(2 - end)},
			.peer_number = number[!end],
			.cipher = cipher,
			.asked = end == 0,
		};

		for (uint32_t i = 0; i < sizeof(seed); i++)
			config.secret[i] = (uint8_t)(seed >> 8 * i);
		rig->bond[end] = wh_bonds_fill(&rig->bonds[end], number[end], &config);
	}
}

/* All sessions are gone. */
static inline void wh_rig_bonds_close(struct wh_rig_bonds *rig)
{
	for (uint32_t end = 0; end < 2; end++) {
		WH_ASSERT(wh_bond_holders(rig->bond[end]) == 1);
		wh_bond_let_go(rig->bond[end]);
		wh_bonds_free(&rig->bonds[end]);
	}
}

#endif
