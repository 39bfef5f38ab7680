/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * What is known about the path when a transfer begins to send, and what it has found at its end:
 * for profiles that measure it. Other profiles neither use nor store such values.
 */

#include <jansson.h>

#include "cli/address_text.h"
#include "cli/settings.h"
#include "job/lanes.h"
#include "report/kept.h"

struct wh_learnt_path {
	char peer[WH_ADDRESS_TEXT_BYTES];
	struct wh_kept_place place;
	bool told;                  /* given by the operator */
	struct wh_kept kept;        /* from earlier runs; zeros: nothing */
	struct wh_known_path known; /* used at the beginning; capacity_bps 0: nothing */
	struct wh_known_path found; /* sum of all lanes; capacity_bps 0: nothing */
};

/* `settings` stay the caller's, and must be valid until the end. */
void wh_learnt_path_recall(struct wh_learnt_path *learnt, const struct wh_settings *settings,
	const struct wh_address *peer);

/* When the lanes are over: stores what they found; one sentence if that fails. */
void wh_learnt_path_keep(struct wh_learnt_path *learnt, const struct wh_settings *settings,
	const struct wh_lanes *lanes);

/* A line of the report, if anything was known: "path known from 2026-11-21: 9.80 Gb/s". */
void wh_learnt_path_print(const struct wh_learnt_path *learnt);

/* {"known": .., "found": ..}, null for unknown ones. */
json_t *wh_learnt_path_json(const struct wh_learnt_path *learnt);
