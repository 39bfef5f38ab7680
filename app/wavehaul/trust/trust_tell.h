/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* Output of `wavehaul keygen` and `wavehaul trust` about keys and trusted peers. */

#include <jansson.h>

#include "trust/peer_list.h"

/* "key" and "fingerprint". */
json_t *wh_id_json(const uint8_t id[WH_IDENTITY_BYTES]);

/* Everything in a peer's file. */
json_t *wh_peer_json(const struct wh_peer_file *peer);

void wh_peer_print(const struct wh_peer_file *peer, const char *path);
void wh_peer_list_print(const struct wh_peer_list *list);
