/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_GUARD_REFUSALS_H
#define WH_APP_GUARD_REFUSALS_H

/*
 * Who was refused before there was a job: with his greeting, or with an OPEN. Noted by the core
 * that heard it, whose sender may have proved no address, and can make keys as he likes: so there
 * is no line for each, but one for each address, key and reason among the first few, and a number
 * for all others, as often as somebody asks.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/spin.h"
#include "seal/bond.h"
#include "wire/encap.h"

#define WH_REFUSALS_KEPT     8
#define WH_REFUSAL_WHY_BYTES 256

struct wh_refusal {
	struct wh_address peer;              /* port 0; family 0: others */
	uint8_t identity[WH_IDENTITY_BYTES]; /* that he has proved; zeros: none */
	const char *outcome;                 /* a constant */
	char why[WH_REFUSAL_WHY_BYTES];      /* as it was the first time; "": nothing is known */
	uint64_t times;
};

/* There are fewer; the last place has those beyond them. */
#define WH_REFUSAL_OUTCOMES 16

struct wh_refusal_total {
	const char *outcome; /* NULL: no more */
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

/* Any core; no system call. `identity`: NULL: none was proved. */
void wh_refusals_note(struct wh_refusals *refusals, const struct wh_address *peer,
	const uint8_t *identity, const char *outcome, const char *why);

/* Takes one; false: there is none. */
bool wh_refusals_take(struct wh_refusals *refusals, struct wh_refusal *refusal);

/* How often so far, by outcome. */
void wh_refusals_totals(
	struct wh_refusals *refusals, struct wh_refusal_total total[WH_REFUSAL_OUTCOMES]);

#endif
