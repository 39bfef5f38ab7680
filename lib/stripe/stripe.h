/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * One stream by several sessions, each on a path of its own: two NICs, or two lambdas of different
 * rate, delay and loss. The unit is the chunk, which goes by one path as a whole:
 *
 *   reader -> ready -> wh_stripe_out -> ready of session 0, 1, ..   deliver of session 0, 1, ..
 *                                                   -> wh_stripe_in -> deliver -> writer
 *
 * Each chunk has a number among all, its order, which its packets carry modulo 2^16. A path gets
 * its next chunk when it has sent nearly all of the one before, so that each carries what it can.
 *
 * A session delivers its chunks in order. So one has arrived when it and all before it on its path
 * are acknowledged; until then its contents stay here. Those of a path that falls silent, makes no
 * progress or ends are copied and go by another. What arrives twice is dropped by its order. The
 * path is used again when its session makes progress.
 *
 * A writer needs the chunks in their order, so what comes early waits in the memory of its session.
 * Of a path less is under way or waiting than the peer has buffers for it: the chunk that all wait
 * for has room on every path.
 *
 * Both belong to one core. They touch sessions by their FIFOs alone; the caller tells how each
 * session is, and kicks those that `kicks` names.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/chunk.h"
#include "base/fifo.h"

#define WH_STRIPE_PATHS_MAX 4

/* Orders between the first chunk that has not arrived and the last one sent. */
#define WH_STRIPE_SPAN 16384

/* Chunks with the reader, or the writer, at once. */
#define WH_STRIPE_LENT_MAX 1023

/* How a path is now. */
struct wh_stripe_view {
	bool alive; /* its session is open, and has no outcome */
	uint64_t heard_tsc;
	uint64_t rtt_tsc;
	uint64_t moved_bytes; /* acknowledged */
	uint64_t rate_bps;    /* 0: unknown */
	uint32_t peer_chunks; /* buffers that the peer has for it */
};

/* A chunk on its path, by its slot, until it has arrived there. */
struct wh_stripe_sent {
	uint64_t order;
	struct wh_chunk *chunk; /* NULL: it is not under way */
	bool back;              /* acknowledged */
};

struct wh_stripe_out_path {
	struct wh_fifo *free; /* of its session; NULL: there is no such path */
	struct wh_fifo *ready;
	struct wh_stripe_view view;
	uint32_t chunks;
	uint64_t next_number; /* of its next chunk, in its session */
	struct wh_chunk **spare;
	uint32_t spares;
	uint32_t lent;               /* with the reader */
	struct wh_stripe_sent *sent; /* by slot */
	uint32_t *queue;             /* a ring of `chunks` slots, in the order in which they went */
	uint32_t first_sent, sents;
	uint32_t waiting; /* arrived by it, and wait at the peer for an earlier one */
	bool suspended;
	uint64_t moved_bytes;  /* at its last progress ... */
	uint64_t progress_tsc; /* ... and when that was, by awake_tsc */
	uint64_t heard_tsc;    /* of `view`, when it last changed ... */
	uint64_t news_tsc;     /* ... and when that was */
	bool ended;
	struct wh_chunk end_marker;
};

/* A chunk by its order, from the first that has not arrived to the last one sent. */
struct wh_stripe_place {
	uint8_t path;
	bool arrived;
	bool again; /* to be sent by another path */
	uint32_t slot;
};

struct wh_stripe_out {
	struct wh_fifo free; /* to the reader */
	struct wh_fifo ready;
	struct wh_stripe_out_path path[WH_STRIPE_PATHS_MAX];
	struct wh_stripe_place *place; /* WH_STRIPE_SPAN of them */
	uint64_t hz;
	uint64_t first, next; /* orders: the first that has not arrived; of the next chunk */
	uint32_t lent;
	bool lent_beyond; /* one more than the paths should have; until the reader sends */
	uint32_t turn;
	uint64_t polled_tsc; /* the latest poll */
	uint64_t awake_tsc;  /* time that passed here, without most of long pauses between polls */
	uint64_t resent;     /* chunks that went by a second path */
	const struct wh_chunk *end; /* the reader's; NULL: not yet */
	uint32_t kicks;             /* a bit for each path to kick */
};

int wh_stripe_out_init(struct wh_stripe_out *out, uint64_t hz); /* 0 or -ENOMEM */
void wh_stripe_out_free(struct wh_stripe_out *out);

/* A session with that many chunks, of which `first_number` were sent before. 0 or -ENOMEM. */
int wh_stripe_out_add(struct wh_stripe_out *out, uint32_t path, struct wh_fifo *free,
	struct wh_fifo *ready, uint32_t chunks, uint64_t first_number);

/* The work done. */
int32_t wh_stripe_out_poll(struct wh_stripe_out *out, uint64_t now_tsc);

/* Whether nothing in the memory of a path that is not alive is needed any more; then drops it. */
bool wh_stripe_out_drop(struct wh_stripe_out *out, uint32_t path);

/* Whether the path takes chunks now. */
bool wh_stripe_out_uses(const struct wh_stripe_out *out, uint32_t path);

struct wh_stripe_in_path {
	struct wh_fifo *deliver; /* of its session; NULL: there is no such path */
	struct wh_fifo *recycled;
	uint32_t held; /* its chunks that are here or with the writer */
};

struct wh_stripe_in {
	struct wh_fifo deliver; /* to the writer */
	struct wh_fifo recycled;
	struct wh_stripe_in_path path[WH_STRIPE_PATHS_MAX];
	struct wh_chunk **early; /* by order, WH_STRIPE_SPAN of them; NULL: has not come */
	uint64_t first_number;   /* of the chunk of order 0, for the writer */
	uint64_t next;           /* order of the chunk that the writer needs */
	uint32_t lent;
	uint64_t twice; /* chunks that came by two paths */
	bool wrong;     /* the peer's orders are impossible: nothing more is delivered */
	bool ended;     /* the end of a path came */
	bool end_told;
	struct wh_chunk end_marker;
	uint32_t kicks;
};

int wh_stripe_in_init(struct wh_stripe_in *in, uint64_t first_number); /* 0 or -ENOMEM */
void wh_stripe_in_free(struct wh_stripe_in *in);
void wh_stripe_in_add(
	struct wh_stripe_in *in, uint32_t path, struct wh_fifo *deliver, struct wh_fifo *recycled);
int32_t wh_stripe_in_poll(struct wh_stripe_in *in);

/* Whether no chunk of the path is here or with the writer; then drops it. */
bool wh_stripe_in_drop(struct wh_stripe_in *in, uint32_t path);
