/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/nearest/nearest.h"

#include <stdio.h>
#include <string.h>

#include "base/assert.h"

/* Longer words have no neighbours. */
#define CHARS_MAX 63

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/*
 * The optimal string alignment distance (Damerau and Levenshtein, restricted). The rows before last
 * and last of the table of distances between all beginnings of the two words are enough for the
 * next one.
 */
static uint32_t count_edits(const char *a, const char *b)
{
	size_t a_chars = strlen(a);
	size_t b_chars = strlen(b);
	uint32_t before[CHARS_MAX + 1] = {0};
	uint32_t last[CHARS_MAX + 1];
	uint32_t row[CHARS_MAX + 1];

	WH_ASSERT(a_chars <= CHARS_MAX && b_chars <= CHARS_MAX);
	for (uint32_t j = 0; j <= b_chars; j++)
		last[j] = j;
	for (uint32_t i = 1; i <= a_chars; i++) {
		row[0] = i;
		for (uint32_t j = 1; j <= b_chars; j++) {
			row[j] = least(last[j - 1] + (a[i - 1] != b[j - 1]),
				least(last[j], row[j - 1]) + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				row[j] = least(row[j], before[j - 2] + 1);
		}
		memcpy(before, last, sizeof(before));
		memcpy(last, row, sizeof(last));
	}
	return last[b_chars];
}

static size_t edits_max(size_t chars)
{
	if (chars < 2)
		return 0;
	return chars < 6 ? 1 : chars / 3;
}

void wh_nearest_try(struct wh_nearest *nearest, const char *word)
{
	size_t chars = strlen(nearest->typed);
	uint32_t edits;

	if (chars > CHARS_MAX || strlen(word) > CHARS_MAX)
		return;
	edits = count_edits(nearest->typed, word);
	if (chars > 1 && strncmp(nearest->typed, word, chars) == 0)
		edits = least(edits, 1);
	if (chars > 2 && strstr(word, nearest->typed) != NULL)
		edits = least(edits, 1);
	if (edits > edits_max(chars) || (nearest->word != NULL && edits >= nearest->edits))
		return;
	nearest->word = word;
	nearest->edits = edits;
}

const char *wh_nearest_text(const struct wh_nearest *nearest, const char *before,
	const char *otherwise, char text[WH_NEAREST_TEXT_BYTES])
{
	if (nearest->word == NULL)
		return otherwise;
	snprintf(text, WH_NEAREST_TEXT_BYTES, "did you mean '%s%s'?", before, nearest->word);
	return text;
}
