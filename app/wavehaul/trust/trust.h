/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_TRUST_TRUST_H
#define WH_APP_TRUST_TRUST_H

/* Who we are, and whom we trust: what a verb with a port has of both. */

#include "trust/identity.h"
#include "trust/store.h"

struct wh_trust {
	struct wh_identity identity;
	struct wh_store store;
};

/*
 * By what the operator named, "" for nothing; an identity is made where there is none. `host`: as
 * the operator writes whom a client means, "" of a server. -1, or the exit status after a
 * complaint.
 */
int wh_trust_open(
	struct wh_trust *trust, const char *identity, const char *peers, const char *host);
/*
 * HOST as an operator writes it: a peer that is trusted here, at its first address of a family that
 * we have; or as wh_address_resolve takes it.
 */
int wh_trust_resolve(const char *identity, const char *peers, const char *host, bool ipv4,
	bool ipv6, struct wh_address *address);

void wh_trust_close(struct wh_trust *trust);

#endif
