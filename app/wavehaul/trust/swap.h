/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* Makes two hosts trust each other by running a command on the other one, e.g. with ssh. */

#include "trust/identity.h"

struct wh_swap {
	char **via;     /* "ssh", "admin@dtn2", terminated by NULL */
	uint32_t words; /* their number */
	const char *as; /* our name there */
	const uint8_t *own_id;
	bool replace; /* even if that name has another key there */
};

/*
 * Runs `wavehaul trust add` for us on the other host; returns its identity. -1, or the exit status
 * after a complaint.
 */
int wh_swap_run(const struct wh_swap *swap, uint8_t their_id[WH_IDENTITY_BYTES]);
