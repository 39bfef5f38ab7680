/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Token buckets for handshakes that peers begin, so that a flood from some leaves room for others.
 * Each handshake costs a signature, whoever begins it. So there is a rate in total, one for each
 * subnet (IPv4 /24, IPv6 /48) and one for each host (IPv6 /64). How much of a burst a host may use
 * depends on its rank:
 *
 *   ordinary   one half
 *   fresh      three quarters: the first handshake of a host within a second
 *   friend     all, and without a subnet's rate: a host that has had an SA with this process, or
 *              where a trusted peer is known to be
 *
 * Buckets are found by a keyed hash of the prefix. An attacker cannot predict the hash, and shares
 * a bucket with a chosen victim only by chance. All memory is here, and is of fixed size.
 */

#include <stdbool.h>
#include <stdint.h>

#include "wire/cookie.h"
#include "wire/encap.h"

#define WH_SHARES_HOSTS   1024
#define WH_SHARES_SUBNETS 256
#define WH_SHARES_FRIENDS 512
#define WH_SHARES_FRESH_S 1

/* A subnet gets one part in 4 of the total rate, a host one part in 16. */
#define WH_SHARE_OF_SUBNET 4
#define WH_SHARE_OF_HOST   16

enum wh_host_rank {
	WH_HOST_ORDINARY = 0,
	WH_HOST_FRESH,
	WH_HOST_FRIEND,
	WH_HOST_RANKS,
};

/* What hosts of one bucket have done. */
struct wh_share_host {
	uint64_t due_tsc;      /* when the next handshake may begin, without a burst */
	uint64_t fresh_tsc;    /* when it was last fresh; 0: never */
	uint64_t told_due_tsc; /* when it may be told next to begin again, without a burst */
};

struct wh_shares {
	uint64_t hz;
	uint32_t per_second;
	uint8_t key[WH_SIPHASH_KEY_BYTES];
	/* Whether a trusted peer is known to be at an address; quick. NULL: unknown for all. */
	bool (*knows)(void *context, const struct wh_address *address);
	void *context;
	uint64_t due_tsc; /* of all hosts */
	uint64_t subnet_due_tsc[WH_SHARES_SUBNETS];
	struct wh_share_host host[WH_SHARES_HOSTS];
	struct wh_address friend[WH_SHARES_FRIENDS]; /* that have had an SA; family 0: free */
};

void wh_shares_init(struct wh_shares *shares, uint64_t hz, uint32_t per_second,
	const uint8_t key[WH_SIPHASH_KEY_BYTES]);

/*
 * _rank: the host's rank for its next handshake; it is fresh only once a second, whether the
 * handshake begins or not. _may: whether it may begin now. _use: it has begun.
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

/* Whether both addresses may belong to one machine; to one site. */
bool wh_shares_same_host(const struct wh_address *a, const struct wh_address *b);
bool wh_shares_same_subnet(const struct wh_address *a, const struct wh_address *b);
