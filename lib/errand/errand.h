/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_ERRAND_ERRAND_H
#define WH_ERRAND_ERRAND_H

/*
 * An errand: a client has a server look at its tree, or change it, and no file moves. This is the
 * server's end: it does what HELLO asks for, some steps a poll, and says ITEM, FAULT and TALLY.
 *
 * Nothing is reached but what is below the root (bundle/beneath.h). Of the given paths links are
 * followed as long as they stay there, but for the last name of what is removed or moved; in
 * folders none is. Staging folders and those of parts are not seen, not removed and not made.
 *
 * Memory and open folders are bounded by the depth that an errand descends to; what is deeper is a
 * FAULT. Names go out in the order in which the folder has them. Of a tree that changes meanwhile
 * what is told is what was there when its turn came.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/fifo.h"
#include "bundle/record.h"
#include "bundle/waits.h"

/*
 * Whoever keeps orders, on a core of its own: what is asked goes there, and comes back answered in
 * its own time. One question at a time, and all of an errand are of one token.
 */
struct wh_errand_desk {
	/* Texts are good for the call. False: there is no room now. */
	bool (*put)(void *context, const struct wh_ordering *order);
	/* False: not answered yet. Texts are good until the next `put`. */
	bool (*take)(void *context, struct wh_standing *standing);
	void *context;
};

/* Folders in folders, below a given path. */
#define WH_ERRAND_DEPTH 64

struct wh_errand_config {
	enum wh_job_verb verb;
	int root_fd;              /* borrowed; paths are below: */
	const char *const *paths; /* borrowed */
	uint32_t path_count;
	bool recursive;
	bool plain_names; /* what is made or moved has no control characters in its name */
	struct wh_errand_desk desk; /* ORDER */
	uint32_t chunk_bytes;
	uint64_t first_chunk; /* of our stream */
	struct wh_fifo *free;
	struct wh_fifo *ready;
	struct wh_fifo *deliver; /* of the peer's, behind HELLO */
	struct wh_fifo *recycled;
};

struct wh_errand_progress {
	bool done;           /* both streams have ended as they should */
	int error;           /* negative: what the peer says makes no sense */
	uint64_t waits_told; /* how often the peer has */
	struct wh_waits_told peer;
};

struct wh_errand;

/* 0 or -ENOMEM. */
int wh_errand_open(struct wh_errand **errand, const struct wh_errand_config *config);
void wh_errand_close(struct wh_errand *errand); /* NULL is allowed */

/* How much was done. */
int32_t wh_errand_poll(struct wh_errand *errand);

const struct wh_errand_progress *wh_errand_progress(const struct wh_errand *errand);

/* For a watch, as of source and sink. False: it cannot be told now. */
enum wh_waits wh_errand_waits(const struct wh_errand *errand);
bool wh_errand_tell_waits(struct wh_errand *errand, const struct wh_waits_told *told);

#endif
