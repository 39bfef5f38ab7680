/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* How packets of a peer are closed and opened: by tokens, or under the attacker's SA by keys. */

#include "peer.h"

/* Under an SA it names it, and has a packet number of it; else it stays as it is. */
void wh_peer_address(struct wh_peer *peer, struct wh_packet *packet);

/* False: for no connection of this peer. */
bool wh_peer_close(struct wh_peer *peer, uint8_t *bytes, uint32_t count);
bool wh_peer_open_packet(struct wh_peer *peer, uint8_t *bytes, size_t count);

/* The keys of a stream whose two ends have said all that they come of. */
void wh_peer_seal_ours(struct wh_peer *peer);
void wh_peer_seal_theirs(struct wh_peer *peer);

void wh_peer_seal_free(struct wh_peer *peer);
