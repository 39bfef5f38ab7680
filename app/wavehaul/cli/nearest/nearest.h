/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* Which of the known words the operator may have meant by a mistyped one. */

#include <stdint.h>

#define WH_NEAREST_TEXT_BYTES 256

struct wh_nearest {
	const char *typed; /* set by the caller, the rest zeros */
	const char *word;  /* NULL: none of those tried is near */
	uint32_t edits;
};

/*
 * Remembers `word` if it is nearer than all before, by the number of characters inserted, removed,
 * replaced or swapped. One edit is allowed per three characters, and one if there are two to five.
 * A word that begins with two characters typed, or contains three, is one edit away.
 */
void wh_nearest_try(struct wh_nearest *nearest, const char *word);

/*
 * "did you mean '--profile'?", or `otherwise`, to follow a semicolon; `before` is put before the
 * word.
 */
const char *wh_nearest_text(const struct wh_nearest *nearest, const char *before,
	const char *otherwise, char text[WH_NEAREST_TEXT_BYTES]);
