/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_TRUST_BELIEVER_H
#define WH_TRUST_BELIEVER_H

/*
 * What a greeter asks of whoever knows whom to trust, on the greeter's core. None of the calls
 * waits: where a person or a file is to be asked, the answer comes later.
 */

#include <stdbool.h>
#include <stdint.h>

#include <openssl/x509.h>

#include "seal/bond.h"
#include "wire/encap.h"

enum wh_belief {
	WH_BELIEF_PENDING, /* ask again, a few times a second */
	WH_BELIEVED,
	WH_DISBELIEVED,
};

/* A peer that has proved its key: what is known of it. */
struct wh_stranger {
	struct wh_address address;
	const uint8_t *id;      /* WH_IDENTITY_BYTES */
	X509 *certificate;      /* the key's */
	STACK_OF(X509) * chain; /* what came behind it; NULL: nothing */
	bool we_asked;          /* we are the client: it has to be who we meant */
};

/* What goes into the bond with a peer that is believed. */
struct wh_granted {
	uint64_t rights;                  /* a number, not 0 */
	uint8_t owner[WH_IDENTITY_BYTES]; /* who is charged: several keys may be one's */
};

struct wh_believer {
	/* `granted` is filled of WH_BELIEVED. */
	enum wh_belief (*believe)(
		void *context, const struct wh_stranger *stranger, struct wh_granted *granted);
	/* Whether these still hold: once a second of each bond; if not it is revoked. */
	bool (*holds)(void *context, uint64_t rights);
	void *context;
};

#endif
