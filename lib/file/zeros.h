/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* Runs of zeros in a chunk, which become holes in its file. */

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <rte_common.h>

#include "base/assert.h"
#include "base/clock.h"

/* Granularity of the search: smaller holes would only fragment the file. */
#define WH_ZERO_PIECE_BYTES 65536

/* True if the first byte is zero and every byte equals the previous one. */
static inline bool wh_is_zero(const uint8_t *bytes, uint32_t count)
{
	WH_DEBUG_ASSERT(count > 0);
	return bytes[0] == 0 && memcmp(bytes, bytes + 1, count - 1) == 0;
}

static inline uint32_t wh_zero_piece_end(uint32_t at, uint32_t bytes)
{
	uint64_t end = RTE_ALIGN_FLOOR(at, WH_ZERO_PIECE_BYTES) + (uint64_t)WH_ZERO_PIECE_BYTES;

	return (uint32_t)wh_min_u64(end, bytes);
}

/* End of the run of pieces in data[0, bytes) that begins at `from`, either all zero or all not. */
static inline uint32_t wh_zero_run_end(
	const uint8_t *data, uint32_t from, uint32_t bytes, bool *zero)
{
	WH_ASSERT(from < bytes);

	uint32_t to = wh_zero_piece_end(from, bytes);

	*zero = wh_is_zero(data + from, to - from);
	while (to < bytes) {
		uint32_t end = wh_zero_piece_end(to, bytes);

		if (wh_is_zero(data + to, end - to) != *zero)
			break;
		to = end;
	}
	WH_ASSERT(to > from && to <= bytes);
	return to;
}
