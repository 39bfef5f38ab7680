/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_GUARD_REFUSALS_H
#define WH_APP_GUARD_REFUSALS_H

/*
 * Who was refused before there was a job. Noted by the core that heard the OPEN, whose sender may
 * have proved no address: so there is no line for each, but one for each address and reason among
 * the first few, and a number for all others, as often as somebody asks.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/spin.h"
#include "wire/encap.h"
#include "wire/packet.h"

#define WH_REFUSALS_KEPT 8

struct wh_refusal {
	struct wh_address peer; /* port 0; family 0: others */
	enum wh_release_status status;
	uint64_t times;
};

struct wh_refusals {
	struct wh_spin lock;
	uint32_t count;
	struct wh_refusal kept[WH_REFUSALS_KEPT];
	uint64_t others;
};

void wh_refusals_init(struct wh_refusals *refusals);

/* Any core; no system call. */
void wh_refusals_note(
	struct wh_refusals *refusals, const struct wh_address *peer, enum wh_release_status status);

/* Takes one; false: there is none. */
bool wh_refusals_take(struct wh_refusals *refusals, struct wh_refusal *refusal);

#endif
