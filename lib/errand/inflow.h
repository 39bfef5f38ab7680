/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_ERRAND_INFLOW_H
#define WH_ERRAND_INFLOW_H

/* Records of a stream of packed chunks (bundle/pack.h), one by one as they come. */

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
	uint32_t at;            /* in it, of the next record */
	bool ended;             /* the end marker has come */
};

void wh_inflow_init(struct wh_inflow *inflow, struct wh_fifo *deliver, struct wh_fifo *recycled);

/* Whether a chunk was begun, so that its other records need no waiting for. */
static inline bool wh_inflow_is_amid(const struct wh_inflow *inflow)
{
	return inflow->chunk != NULL;
}

/*
 * 1: there is one, whose texts are good until the next call; 0: not yet, or never again, see
 * `ended`; -EPROTO or -EBADMSG: what came is no such stream.
 */
int wh_inflow_next(struct wh_inflow *inflow, struct wh_record *record);

#endif
