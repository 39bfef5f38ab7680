/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * The address of a session's peer, which may change (lib/endpoint/moves.h). The RX core writes it,
 * any core reads it. A new address is written beside the one in use, which stays as it is.
 */

#include <stdatomic.h>

#include "wire/encap.h"

struct wh_peer_address {
	struct wh_address at[2];
	_Atomic uint32_t index; /* of the one in use */

	/* RX core */
	struct wh_address candidate; /* the newest packets come from there; family 0: none do */
	uint64_t token;              /* of the challenge to the candidate */
	uint64_t next_ask_tsc;
	uint64_t next_move_tsc;
	uint64_t turn; /* from this turn of the TX core on it does not use the former address */
};

static inline const struct wh_address *wh_peer_address_now(const struct wh_peer_address *peer)
{
	return &peer->at[atomic_load_explicit(&peer->index, memory_order_acquire)];
}
