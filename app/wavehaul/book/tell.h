/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_BOOK_TELL_H
#define WH_BOOK_TELL_H

/* Entries and refusals as sentences of the log, and as JSON; what a peer says moves no terminal. */

#include <jansson.h>

#include "book/entry.h"
#include "guard/refusals.h"

#define WH_TELL_BYTES 1536
#define WH_WHEN_BYTES 40

/* As RFC 3339 has it, of UTC. */
const char *wh_when_text(int64_t us, char text[WH_WHEN_BYTES]);

void wh_entry_tell(const struct wh_book_entry *entry, char sentence[WH_TELL_BYTES]);

/* `others`: so many more, of which nothing was said. */
void wh_refusal_tell(
	const struct wh_refusal *refusal, uint64_t others, char sentence[WH_TELL_BYTES]);

/* All that the book has of it. */
json_t *wh_entry_json(const struct wh_book_entry *entry);

#endif
