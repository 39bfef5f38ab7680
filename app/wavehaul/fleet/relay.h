/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * A shard that one site has goes to another by an order between two other hosts: `wavehaul job add
 * copy`, which the server of this node keeps, and a receiver of the site runs.
 */

#include "fleet/fleet_plan.h"

struct wh_relay {
	char *own; /* this program */
	const struct wh_plan *plan;
	uint32_t shard;
	const char *from; /* addresses of receivers */
	const char *from_path;
	const char *to;
	/* Each second: what of the shard is there. */
	void (*on_now)(void *context, json_t *now);
	void *context;
	json_t *end; /* as of send, of all its orders; NULL: none was taken. Free it */
};

/* An exit status, as of send. A task that is cancelled cancels its order. */
int wh_relay_run(struct wh_relay *relay);

/* Adds what was told before: sums, and the first error. */
void wh_end_add(json_t *end, const json_t *before);
