/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * What became of a shard, an event a line: "begin" of a try with its node and receiver; "end" with
 * its exit status; "moved", where the next try must be on another node; "exclude", with a node that
 * the job no longer uses; "check", the end of a second pass, with how many files "differed";
 * "retry", which forgets failures. A begin that no end follows was cut off: its node died, or the
 * task was cancelled. A line that was cut is skipped.
 */

#include <stdbool.h>
#include <stdint.h>

#include "fleet/fleet_plan.h"

#define WH_SHARD_FAILURES_MAX 3

enum wh_shard_state {
	WH_SHARD_NEW,
	WH_SHARD_BEGUN, /* the last try has no end: it runs, or was cut off */
	WH_SHARD_ENDED, /* it failed, and may be tried again */
	WH_SHARD_DONE,
	WH_SHARD_GIVEN_UP, /* it failed by itself, too often */
};

struct wh_shard_past {
	enum wh_shard_state state;
	uint32_t failures; /* by itself; since the last retry */
	uint32_t passed;   /* receivers that could not be reached since then */
	uint32_t cut_off;
	uint32_t moved;      /* from node to node */
	const json_t *check; /* the last one */
	json_t *events;
	const json_t *begin; /* the last one; NULL: none */
	const json_t *end;
};

/* A shard without a log is new. Free it. */
void wh_shard_past_read(struct wh_shard_past *past, const struct wh_plan *plan, uint32_t shard);
void wh_shard_past_free(struct wh_shard_past *past);

/* Adds the nodes on which it has failed since the last retry, as keys of the object. */
void wh_shard_failed_on(const struct wh_shard_past *past, json_t *nodes);

/* Whether a try with this exit status says nothing but that its receiver was not reached. */
bool wh_shard_is_unreached(int status);

/* Adds a line, with the time, and frees the event. -1, or an exit status after a complaint. */
int wh_shard_note(const struct wh_plan *plan, uint32_t shard, json_t *event);
