/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * A shard of a `get`, in pieces: a request has room for 16 KiB of names (job/hello.h), while a list
 * of `send` stays at its own end.
 */

#include "fleet/fleet_plan.h"

/* Gets what is in a list, and writes its checksums. An exit status; -1: it cannot be run. */
typedef int (*wh_piece_fn)(void *context, const char *list, const char *sums);

/*
 * Hands over each piece as a list of HOST:NAME, and puts the checksums of all of them together once
 * all is there. The first status that is not WH_EXIT_OK; a piece of which some is there is no
 * reason to leave out those behind it.
 */
int wh_pieces_get(const struct wh_plan *plan, uint32_t shard, const char *host,
	wh_piece_fn on_piece, void *context);
