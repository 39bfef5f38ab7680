/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_GREET_H
#define WH_APP_GREET_H

/*
 * The greeter of a host: a process of its first working core, between the endpoints of all queues
 * and lib/trust. Jobs ask it for the bond with their peer (struct wh_ground).
 */

#include "seal/bond.h"
#include "trust/greeter.h"

struct wh_ground;

/* Who we are to others, and whom we trust. */
struct wh_greet_settings {
	const struct wh_identity *identity;
	struct wh_believer believer; /* `believe` NULL: who has our own key, and nobody else */
	uint8_t ciphers;             /* bit n is of enum wh_cipher n */
	void (*tell)(void *context, const struct wh_greeter_news *news); /* or NULL */
	void *context;
};

struct wh_greet {
	struct wh_ground *ground;
	struct wh_bonds bonds;
	struct wh_greeter greeter;
};

/*
 * 0, -ENOMEM, or -EBADMSG: TLS does not take the identity. Once the ground has its keys; its
 * endpoints may be made later, and are there before the loop runs.
 */
int wh_greet_init(
	struct wh_greet *greet, struct wh_ground *ground, const struct wh_greet_settings *settings);

/* When no loop runs any more, and sessions are gone. */
void wh_greet_free(struct wh_greet *greet);

int32_t wh_greet_poll(void *state, uint64_t now_tsc);

#define WH_SOUGHT_WHY_BYTES 200

/* How it stands with a server. */
struct wh_sought {
	struct wh_bond *bond;          /* held for the caller, who lets it go; NULL: none yet */
	enum wh_release_status status; /* PENDING, or that there will be none, and ... */
	char why[WH_SOUGHT_WHY_BYTES]; /* ... why */
	uint8_t least, most;           /* which other versions the server speaks; or 0 */
};

/*
 * Any core: looks for a server, at whose door it answers greetings, since *since_tsc, for so long
 * as patience is; a person who is asked has all the time.
 */
void wh_greet_seek(struct wh_greet *greet, uint64_t now_tsc, const struct wh_address *door,
	uint64_t patience_ns, uint64_t *since_tsc, struct wh_sought *sought);

/* Of a meeting that was refused: a sentence. */
void wh_greet_refusal(const struct wh_greet *greet, const struct wh_meeting *meeting,
	char why[WH_SOUGHT_WHY_BYTES]);

#endif
