/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_TRUST_SHARES_H
#define WH_TRUST_SHARES_H

/*
 * Which of the handshakes that peers begin may begin now, so that a flood of them leaves room for
 * others. Each costs a signature, whoever sends it. So there is a rate in total, one for each
 * subnet (IPv4 /24, IPv6 /48) and one for each host (IPv6 /64). Of each burst some is kept:
 *
 *   ordinary   may use one half
 *   fresh      once a second of each host: three quarters
 *   friend     a host that has had an SA with this process, or where a trusted peer is known to
 *              be: all, and no rate of a subnet
 *
 * Buckets are found by a keyed hash of the prefix: who cannot predict it shares one with others by
 * chance only. All memory is here, and is of fixed size.
 */

#include <stdbool.h>
#include <stdint.h>

#include "wire/cookie.h"
#include "wire/encap.h"

#define WH_SHARES_HOSTS   1024
#define WH_SHARES_SUBNETS 256
#define WH_SHARES_FRIENDS 512
#define WH_SHARES_FRESH_S 1

/* Of the total rate, for ... */
#define WH_SHARE_OF_SUBNET 4  /* ... a subnet: one part in 4 */
#define WH_SHARE_OF_HOST   16 /* ... a host */

enum wh_host_rank {
	WH_HOST_ORDINARY = 0,
	WH_HOST_FRESH,
	WH_HOST_FRIEND,
	WH_HOST_RANKS,
};

/* What hosts of one bucket have done. */
struct wh_share_host {
	uint64_t due_tsc;      /* rate limit: when the next handshake may begin, without a burst */
	uint64_t fresh_tsc;    /* when it was last fresh; 0: never */
	uint64_t told_due_tsc; /* the same limit, of answers to those that may not begin */
};

struct wh_shares {
	uint64_t hz;
	uint32_t per_second;
	uint8_t key[WH_SIPHASH_KEY_BYTES];
	/* Whether a trusted peer is known at an address, found quickly; NULL: nobody knows. */
	bool (*knows)(void *context, const struct wh_address *address);
	void *context;
	uint64_t due_tsc; /* of all */
	uint64_t subnet_due_tsc[WH_SHARES_SUBNETS];
	struct wh_share_host host[WH_SHARES_HOSTS];
	struct wh_address friend[WH_SHARES_FRIENDS]; /* that have had an SA; family 0: free */
};

void wh_shares_init(struct wh_shares *shares, uint64_t hz, uint32_t per_second,
	const uint8_t key[WH_SIPHASH_KEY_BYTES]);

/*
 * How a host stands with its next handshake, which is fresh but once a second, whether or not it
 * begins; whether it may begin; and that it has begun.
 */
enum wh_host_rank wh_shares_rank(
	struct wh_shares *shares, uint64_t now_tsc, const struct wh_address *address);
bool wh_shares_may(struct wh_shares *shares, uint64_t now_tsc, const struct wh_address *address,
	enum wh_host_rank rank);
void wh_shares_use(struct wh_shares *shares, uint64_t now_tsc, const struct wh_address *address,
	enum wh_host_rank rank);

/* Whether a host may be told that its handshake has to begin again: a few times a second. */
bool wh_shares_may_tell(
	struct wh_shares *shares, uint64_t now_tsc, const struct wh_address *address);

/* There is an SA with a peer at that address. */
void wh_shares_befriend(struct wh_shares *shares, const struct wh_address *address);

/* Whether one machine may use both addresses at once, or one site. */
bool wh_shares_same_host(const struct wh_address *a, const struct wh_address *b);
bool wh_shares_same_subnet(const struct wh_address *a, const struct wh_address *b);

#endif
