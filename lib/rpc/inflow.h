/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* Reads records from a received stream of packed chunks (bundle/record_pack.h), one by one. */

#include <stdbool.h>
#include <stdint.h>

#include "base/chunk.h"
#include "base/fifo.h"
#include "bundle/record.h"
#include "file/digest.h"

struct wh_inflow {
	struct wh_hasher hasher;
	struct wh_fifo *deliver;
	struct wh_fifo *recycled;
	struct wh_chunk *chunk; /* being read, or NULL */
	uint32_t at;            /* offset of the next record in it */
	bool ended;             /* the end marker was received */
};

void wh_inflow_init(struct wh_inflow *inflow, struct wh_fifo *deliver, struct wh_fifo *recycled);

/* Whether a chunk is partly read, so that its next record is available. */
static inline bool wh_inflow_is_amid(const struct wh_inflow *inflow)
{
	return inflow->chunk != NULL;
}

/*
 * 1: a record, whose texts are valid until the next call; 0: not yet, or no more, see `ended`;
 * -EPROTO or -EBADMSG: invalid stream.
 */
int wh_inflow_next(struct wh_inflow *inflow, struct wh_record *record);
