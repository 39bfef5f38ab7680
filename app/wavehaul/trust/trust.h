/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* Our identity and the trusted peers, for verbs with a port. */

#include "cli/settings.h"
#include "trust/identity.h"
#include "trust/trust_store.h"

struct wh_trust {
	struct wh_identity identity;
	struct wh_store store;
};

/*
 * `identity`, `peers`: paths given by the operator, "": defaults; an identity is created if there
 * is none. `host`: a client's server as the operator wrote it, "" for a server. -1, or the exit
 * status after a complaint.
 */
int wh_trust_open(
	struct wh_trust *trust, const char *identity, const char *peers, const char *host);
/*
 * Two ends that have told each other their keys in a way that both trust: our own, which becomes
 * the trust's, and the peer's, which may do anything. No file is read or written. Keys are new each
 * time, so what lasts (parts of files) belongs to `name`. -1, or the exit status after a complaint.
 */
int wh_trust_open_pair(struct wh_trust *trust, struct wh_identity *own,
	const uint8_t peer[WH_IDENTITY_BYTES], const char *name);

/*
 * HOST as an operator writes it: a trusted peer, at its first address of a family that we have; or
 * as in wh_address_resolve. Port udp then has the address and MTU of the route there. False after a
 * complaint.
 */
bool wh_trust_find(struct wh_settings *settings, const char *host, struct wh_address *address);

void wh_trust_close(struct wh_trust *trust);
