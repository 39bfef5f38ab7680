/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * The destination of an order: a trusted peer's name, which requires its key and may have several
 * addresses; or an address.
 */

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "cli/settings.h"
#include "job/request.h"
#include "trust/peer_file.h"

struct wh_place {
	uint32_t addresses;                               /* at least one */
	struct wh_address address[WH_PEER_ADDRESSES_MAX]; /* the first is tried first */
	bool has_key;
	uint8_t id[WH_IDENTITY_BYTES];
};

/* By the server's settings. -1, or an exit status after a complaint. Does not use DNS. */
int wh_place_find(const struct wh_settings *settings, const char *host, struct wh_place *place);

/* The request is for that host, and for its key if that is known. */
static inline void wh_place_aim(const struct wh_place *place, struct wh_request *request)
{
	request->peer_known = place->has_key;
	memcpy(request->peer_id, place->id, sizeof(request->peer_id));
}
