/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Peers refused before they had a job: at their handshake or OPEN. The receiving core notes them. A
 * sender may not have proved its address, and can generate any number of keys, so there is no line
 * for each refusal. Whenever they are read there is a line for each of the first few combinations
 * of address, key and reason, and a total for all others.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/spin.h"
#include "seal/sa.h"
#include "wire/encap.h"

#define WH_REFUSALS_KEPT     8
#define WH_REFUSAL_WHY_BYTES 256

struct wh_refusal {
	struct wh_address peer;              /* port 0; family 0: others */
	uint8_t identity[WH_IDENTITY_BYTES]; /* proved by the peer; zeros: none */
	const char *outcome;                 /* a constant */
	char why[WH_REFUSAL_WHY_BYTES];      /* of the first time; "": unknown */
	uint64_t times;
};

/* More than are used; the last place sums up any others. */
#define WH_REFUSAL_OUTCOMES 16

struct wh_refusal_total {
	const char *outcome; /* NULL: end */
	uint64_t times;
};

struct wh_refusals {
	struct wh_spin lock;
	uint32_t count;
	struct wh_refusal kept[WH_REFUSALS_KEPT];
	uint64_t others;
	struct wh_refusal_total total[WH_REFUSAL_OUTCOMES]; /* so far */
};

void wh_refusals_init(struct wh_refusals *refusals);

/* Any core; makes no system call. `identity` NULL: none was proved. */
void wh_refusals_note(struct wh_refusals *refusals, const struct wh_address *peer,
	const uint8_t *identity, const char *outcome, const char *why);

/* Takes one out; false: there is none. */
bool wh_refusals_take(struct wh_refusals *refusals, struct wh_refusal *refusal);

/* Totals so far, by outcome. */
void wh_refusals_totals(
	struct wh_refusals *refusals, struct wh_refusal_total total[WH_REFUSAL_OUTCOMES]);
