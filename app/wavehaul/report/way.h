/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_WAY_H
#define WH_APP_WAY_H

/*
 * What a transfer that sends is told of its way before it begins, and what it has found at its end:
 * for profiles that find something of it. Others are told nothing, and nothing is kept.
 */

#include <jansson.h>

#include "cli/address_text.h"
#include "cli/settings.h"
#include "job/lanes.h"
#include "probe/kept.h"

struct wh_way {
	char peer[WH_ADDRESS_TEXT_BYTES];
	struct wh_kept_place place;
	bool told;                  /* by the operator */
	struct wh_kept kept;        /* zeros: nothing */
	struct wh_known_path known; /* what it begins with; capacity_bps 0: nothing */
	struct wh_known_path found; /* likewise, of all lanes together */
};

/* `settings` stay the caller's, and are needed until the end. */
void wh_way_recall(
	struct wh_way *way, const struct wh_settings *settings, const struct wh_address *peer);

/* When the lanes are over: what they found is kept; a sentence where it cannot be. */
void wh_way_keep(
	struct wh_way *way, const struct wh_settings *settings, const struct wh_lanes *lanes);

/* A line of the report, if it began with something: "path known from 2026-11-21: 9.80 Gb/s". */
void wh_way_print(const struct wh_way *way);

/* {"known": .., "found": ..}, null where there is none. */
json_t *wh_way_json(const struct wh_way *way);

#endif
