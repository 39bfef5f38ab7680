/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * The server's end of a remote operation (rpc). A client has a server look at its tree, or change
 * it; no file is transferred. The server does what HELLO asks for, some steps per poll, and sends
 * ITEM, FAULT and TALLY.
 *
 * A given path that does not exist may contain wildcards, as in bundle/choice.h: it stands for
 * everything that matches.
 *
 * Only files below the root can be reached (bundle/beneath.h). In given paths links are followed as
 * long as they stay there, except for the last name of what is removed or moved. Inside folders
 * links are not followed. Staging folders and those of parts are hidden, and neither removed nor
 * created.
 *
 * Folders are as deep as a path is long. Only the deepest stay open (WH_RPC_OPEN); those above are
 * opened again on the way back. Nothing but folders is ever opened. So a pipe or a device is
 * listed, removed, moved or replaced like a file, and no open waits for it.
 *
 * Names are reported in the folder's order. If the tree changes meanwhile, each name is reported as
 * it was when its turn came.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/fifo.h"
#include "bundle/record.h"
#include "bundle/waits.h"

/*
 * The component that keeps orders, on a core of its own. Questions are put there, and answered at
 * any later time, one at a time. All questions of a remote operation have one token.
 */
struct wh_rpc_mailbox {
	/* Texts are valid during the call. False: no room now. */
	bool (*put)(void *context, const struct wh_ordering *order);
	/* False: not answered yet. Texts are valid until the next `put`. */
	bool (*take)(void *context, struct wh_order_status *order_status);
	void *context;
};

/* Most open folders. */
#define WH_RPC_OPEN 32

struct wh_rpc_config {
	enum wh_job_verb verb;
	int root_fd;              /* borrowed; paths are below it */
	const char *const *paths; /* borrowed */
	uint32_t path_count;
	bool recursive;
	bool plain_names;  /* created or new names must not contain control characters */
	bool links_inside; /* no link, and no folder, moves further up */
	struct wh_rpc_mailbox mailbox; /* for WH_JOB_ORDER */
	uint32_t chunk_bytes;
	uint64_t first_chunk; /* of our stream */
	struct wh_fifo *free;
	struct wh_fifo *ready;
	struct wh_fifo *deliver; /* of the peer's stream, after HELLO */
	struct wh_fifo *recycled;
};

struct wh_rpc_progress {
	bool done;           /* both streams have ended correctly */
	int error;           /* negative: the peer sent invalid data */
	uint64_t waits_told; /* how often the peer has reported its waits */
	struct wh_waits_told peer;
};

struct wh_rpc;

/* 0 or -ENOMEM. */
int wh_rpc_open(struct wh_rpc **rpc, const struct wh_rpc_config *config);
void wh_rpc_close(struct wh_rpc *rpc); /* NULL is allowed */

/* Returns the work done. */
int32_t wh_rpc_poll(struct wh_rpc *rpc);

const struct wh_rpc_progress *wh_rpc_progress(const struct wh_rpc *rpc);

/* For a watch, as for source and sink. False: cannot be sent now. */
enum wh_waits wh_rpc_waits(const struct wh_rpc *rpc);
bool wh_rpc_tell_waits(struct wh_rpc *rpc, const struct wh_waits_told *told);
