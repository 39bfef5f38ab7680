/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * A host's handshake server: a task of its first worker, between the endpoints of all queues and
 * lib/trust. Jobs get the SA with their peer from it (struct wh_host_ctx).
 */

#include "seal/sa.h"
#include "trust/handshakes.h"

struct wh_host_ctx;

/* Our identity towards others, and whom we trust. */
struct wh_handshake_settings {
	const struct wh_identity *identity;
	struct wh_authorizer
		authorizer; /* `authorize` NULL: trust only hosts that have our own key */
	uint8_t ciphers;    /* bit n allows enum wh_cipher n */
	void (*tell)(void *context, const struct wh_handshakes_news *news); /* or NULL */
	void *context;
	/* With no peer, ours: one peer has got it by another way (wh_endpoint_config). */
	struct wh_told_cookie told;
};

struct wh_host_handshake {
	struct wh_host_ctx *ctx;
	struct wh_sadb sadb;
	struct wh_handshakes handshakes;
};

/*
 * 0, -ENOMEM, or -EBADMSG: TLS does not accept the identity. Call once the host context has its
 * keys; its endpoints may be created later, but before the loop runs.
 */
int wh_host_handshake_init(struct wh_host_handshake *handshake, struct wh_host_ctx *ctx,
	const struct wh_handshake_settings *settings);

/* Call when no loop runs any more and all sessions have gone. */
void wh_host_handshake_free(struct wh_host_handshake *handshake);

int32_t wh_host_handshake_poll(void *state, uint64_t now_tsc);

#define WH_SOUGHT_WHY_BYTES 200

/* State of the search for a server's SA. */
struct wh_sought {
	struct wh_sa *sa;              /* held for the caller, who releases it; NULL: none yet */
	enum wh_release_status status; /* PENDING, or a failure */
	char why[WH_SOUGHT_WHY_BYTES]; /* why it failed */
	uint8_t least, most;           /* range of other versions that the server speaks; or 0 */
};

/*
 * Any core: seeks an SA with the server that answers handshakes at `door`, for up to `patience_ns`
 * from *since_tsc on; while a person is being asked there is no time limit.
 */
void wh_host_handshake_seek(struct wh_host_handshake *handshake, uint64_t now_tsc,
	const struct wh_address *door, uint64_t patience_ns, uint64_t *since_tsc,
	struct wh_sought *sought);

/* Describes a refused attempt in a sentence. */
void wh_host_handshake_refusal(const struct wh_host_handshake *handshake,
	const struct wh_attempt *attempt, char why[WH_SOUGHT_WHY_BYTES]);
