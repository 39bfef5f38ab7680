/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * A shard in pieces: a request of `get` has room for 16 KiB of names (job/hello.h), and an order
 * for more, while a list of `send` stays at its own end.
 */

#include "fleet/fleet_plan.h"

struct wh_pieces_how {
	const char *host;
	const char *above; /* a folder that has the part of a name that is kept; NULL: names stay */
	uint32_t names;    /* at most */
	uint32_t chars;    /* of them, with some for each; at most */
	bool sums;         /* each piece writes its checksums, and all of them become the shard's */
};

/* Moves what is in a list. An exit status; -1: it cannot be run. */
typedef int (*wh_piece_fn)(void *context, const char *list, const char *sums);

/*
 * Hands over each piece as a list of HOST:NAME, and puts checksums of all of them together once all
 * is there. The first status that is not WH_EXIT_OK; a piece of which some is there is no
 * reason to leave out those behind it.
 */
int wh_pieces_go(const struct wh_plan *plan, uint32_t shard, const struct wh_pieces_how *how,
	wh_piece_fn on_piece, void *context);
