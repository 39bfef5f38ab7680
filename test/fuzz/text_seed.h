/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* Good inputs of a target that reads text, as wh_fuzz_seed() gives them. */

#include <string.h>

#include "base/assert.h"
#include "fuzz.h"

/* The number-th of `count` texts, without the NUL at its end; 0: there are no more. */
static inline size_t wh_fuzz_text_seed(
	const char *const *texts, size_t count, uint32_t number, uint8_t *bytes, size_t room)
{
	if (number >= count)
		return 0;

	size_t length = strlen(texts[number]);

	WH_ASSERT(length <= room);
	memcpy(bytes, texts[number], length);
	return length;
}
