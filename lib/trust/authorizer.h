/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * An authorizer decides for the handshake server whether to trust a peer. It runs on the handshake
 * server's core. No call blocks: if a person or a file has to be consulted, the answer comes later.
 */

#include <stdbool.h>
#include <stdint.h>

#include <openssl/x509.h>

#include "seal/sa.h"
#include "wire/encap.h"

enum wh_authorization {
	WH_AUTHORIZATION_PENDING, /* ask again, a few times a second */
	WH_AUTHORIZED,
	WH_UNAUTHORIZED,
};

/* A peer that has proved its key, and what is known of it. */
struct wh_stranger {
	struct wh_address address;
	const uint8_t *id;      /* WH_IDENTITY_BYTES */
	X509 *certificate;      /* of that key */
	STACK_OF(X509) * chain; /* sent behind the certificate; NULL: none */
	bool we_asked;          /* we are the client: it must be the host that we meant */
};

/* Recorded in the SA with a trusted peer. */
struct wh_granted {
	uint64_t rights;                  /* a number, not 0 */
	uint8_t owner[WH_IDENTITY_BYTES]; /* whose limits apply: one owner may have several keys */
};

struct wh_authorizer {
	/* Fills in `granted` if it returns WH_AUTHORIZED. */
	enum wh_authorization (*authorize)(
		void *context, const struct wh_stranger *stranger, struct wh_granted *granted);
	/*
	 * Whether these rights are still valid: asked once a second for each SA; if not, the SA
	 * is revoked.
	 */
	bool (*holds)(void *context, uint64_t rights);
	/* Whether a trusted peer is known to be at that address; NULL: unknown for all. */
	bool (*knows)(void *context, const struct wh_address *address);
	void *context;
};
