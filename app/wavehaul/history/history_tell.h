/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Records and refusals as sentences of the log, and as JSON; text from a peer is without control
 * characters.
 */

#include <jansson.h>

#include "guard/refusals.h"
#include "history/history_record.h"

#define WH_TELL_BYTES 1536
#define WH_WHEN_BYTES 40

/* UTC, in the format of RFC 3339. */
const char *wh_when_text(int64_t us, char text[WH_WHEN_BYTES]);

void wh_history_tell(const struct wh_history_record *record, char sentence[WH_TELL_BYTES]);

/* `others`: number of further refusals that were not logged. */
void wh_refusal_tell(
	const struct wh_refusal *refusal, uint64_t others, char sentence[WH_TELL_BYTES]);

/* Everything in the history's record. */
json_t *wh_history_json(const struct wh_history_record *record);
