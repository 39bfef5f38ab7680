/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_TRUST_TELL_H
#define WH_APP_TRUST_TELL_H

/* What `wavehaul keygen` and `wavehaul trust` say of keys and of those who are trusted. */

#include <jansson.h>

#include "trust/peer_list.h"

/* "key", "fingerprint" and "scenes". */
json_t *wh_id_json(const uint8_t id[WH_IDENTITY_BYTES]);

/* All that a peer's file says. */
json_t *wh_peer_json(const struct wh_peer_file *peer);

void wh_peer_print(const struct wh_peer_file *peer, const char *path);
void wh_peer_list_print(const struct wh_peer_list *list);

#endif
