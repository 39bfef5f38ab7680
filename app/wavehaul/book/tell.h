/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_BOOK_TELL_H
#define WH_BOOK_TELL_H

/*
 * Entries and refusals as sentences of the log, and as JSON; text from a peer is without control
 * characters.
 */

#include <jansson.h>

#include "book/entry.h"
#include "guard/refusals.h"

#define WH_TELL_BYTES 1536
#define WH_WHEN_BYTES 40

/* UTC, in the format of RFC 3339. */
const char *wh_when_text(int64_t us, char text[WH_WHEN_BYTES]);

void wh_entry_tell(const struct wh_book_entry *entry, char sentence[WH_TELL_BYTES]);

/* `others`: number of further refusals that were not logged. */
void wh_refusal_tell(
	const struct wh_refusal *refusal, uint64_t others, char sentence[WH_TELL_BYTES]);

/* Everything in the book's entry. */
json_t *wh_entry_json(const struct wh_book_entry *entry);

#endif
