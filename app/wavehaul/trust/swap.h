/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_TRUST_SWAP_H
#define WH_APP_TRUST_SWAP_H

/* Two hosts get to know each other by one command on the other one, as ssh runs it. */

#include "trust/identity.h"

struct wh_swap {
	char **via;     /* "ssh", "admin@dtn2", closed by NULL */
	uint32_t words; /* of it */
	const char *as; /* what we are called there */
	const uint8_t *own_id;
	bool replace; /* another key that has that name there */
};

/*
 * `wavehaul trust add` of us on the other host; its identity. -1, or the exit status after a
 * complaint.
 */
int wh_swap_run(const struct wh_swap *swap, uint8_t their_id[WH_IDENTITY_BYTES]);

#endif
