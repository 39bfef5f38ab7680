/* SPDX-License-Identifier: BSD-3-Clause */
#include "trust/shares.h"

#include <string.h>

#include "base/assert.h"
#include "base/clock.h"

/* Most handshakes that begin back to back: in total, and of a subnet; of one host. */
#define BURST      64
#define HOST_BURST 16

/* Rate and burst of answers to a host whose handshakes have no place. */
#define TOLD_PER_S 4
#define TOLD_BURST 4

static uint32_t host_bytes(enum wh_family family)
{
	return family == WH_IPV6 ? 8 : 4;
}

static uint32_t subnet_bytes(enum wh_family family)
{
	return family == WH_IPV6 ? 6 : 3;
}

static bool begin_alike(const struct wh_address *a, const struct wh_address *b, uint32_t bytes)
{
	return a->family == b->family && memcmp(a->ip, b->ip, bytes) == 0;
}

bool wh_shares_same_host(const struct wh_address *a, const struct wh_address *b)
{
	return begin_alike(a, b, host_bytes((enum wh_family)a->family));
}

bool wh_shares_same_subnet(const struct wh_address *a, const struct wh_address *b)
{
	return begin_alike(a, b, subnet_bytes((enum wh_family)a->family));
}

void wh_shares_init(struct wh_shares *shares, uint64_t hz, uint32_t per_second,
	const uint8_t key[WH_SIPHASH_KEY_BYTES])
{
	WH_ASSERT(hz > 0 && per_second > 0);
	memset(shares, 0, sizeof(*shares));
	shares->hz = hz;
	shares->per_second = per_second;
	memcpy(shares->key, key, sizeof(shares->key));
}

static uint64_t hash(
	const struct wh_shares *shares, const struct wh_address *address, uint32_t bytes)
{
	struct {
		uint8_t family;
		uint8_t bytes;
		uint8_t ip[sizeof(address->ip)];
	} prefix = {.family = (uint8_t)address->family, .bytes = (uint8_t)bytes};

	memcpy(prefix.ip, address->ip, bytes);
	return wh_siphash24(shares->key, &prefix, sizeof(prefix));
}

static struct wh_share_host *host_of(struct wh_shares *shares, const struct wh_address *address)
{
	uint32_t bytes = host_bytes((enum wh_family)address->family);

	return &shares->host[hash(shares, address, bytes) % WH_SHARES_HOSTS];
}

static struct wh_address *friend_of(struct wh_shares *shares, const struct wh_address *address)
{
	uint32_t bytes = host_bytes((enum wh_family)address->family);

	return &shares->friend[hash(shares, address, bytes) % WH_SHARES_FRIENDS];
}

void wh_shares_befriend(struct wh_shares *shares, const struct wh_address *address)
{
	*friend_of(shares, address) = *address;
}

/* Whether a bucket lets one more begin, in a burst of that many at most (GCRA, as in ATM). */
static bool has_room(uint64_t due_tsc, uint64_t now_tsc, uint64_t each_tsc, uint32_t burst)
{
	return due_tsc <= now_tsc + burst * each_tsc;
}

static void use(uint64_t *due_tsc, uint64_t now_tsc, uint64_t each_tsc)
{
	*due_tsc = wh_max_u64(*due_tsc, now_tsc) + each_tsc;
}

enum wh_host_rank wh_shares_rank(
	struct wh_shares *shares, uint64_t now_tsc, const struct wh_address *address)
{
	struct wh_share_host *host = host_of(shares, address);

	if (wh_shares_same_host(friend_of(shares, address), address) ||
		(shares->knows != NULL && shares->knows(shares->context, address)))
		return WH_HOST_FRIEND;
	if (host->fresh_tsc != 0 && now_tsc - host->fresh_tsc < WH_SHARES_FRESH_S * shares->hz)
		return WH_HOST_ORDINARY;
	host->fresh_tsc = now_tsc;
	return WH_HOST_FRESH;
}

static uint64_t *subnet_of(struct wh_shares *shares, const struct wh_address *address)
{
	uint32_t bytes = subnet_bytes((enum wh_family)address->family);

	return &shares->subnet_due_tsc[hash(shares, address, bytes) % WH_SHARES_SUBNETS];
}

bool wh_shares_may(struct wh_shares *shares, uint64_t now_tsc, const struct wh_address *address,
	enum wh_host_rank rank)
{
	static const uint32_t bursts[] = {
		[WH_HOST_ORDINARY] = BURST / 2,
		[WH_HOST_FRESH] = 3 * BURST / 4,
		[WH_HOST_FRIEND] = BURST,
	};
	uint64_t each_tsc = shares->hz / shares->per_second;
	uint32_t burst = bursts[rank];

	return has_room(shares->due_tsc, now_tsc, each_tsc, burst) &&
	       has_room(host_of(shares, address)->due_tsc, now_tsc, WH_SHARE_OF_HOST * each_tsc,
		       HOST_BURST) &&
	       (rank == WH_HOST_FRIEND || has_room(*subnet_of(shares, address), now_tsc,
						  WH_SHARE_OF_SUBNET * each_tsc, burst));
}

void wh_shares_use(struct wh_shares *shares, uint64_t now_tsc, const struct wh_address *address,
	enum wh_host_rank rank)
{
	struct wh_share_host *host = host_of(shares, address);
	uint64_t each_tsc = shares->hz / shares->per_second;

	use(&shares->due_tsc, now_tsc, each_tsc);
	use(&host->due_tsc, now_tsc, WH_SHARE_OF_HOST * each_tsc);
	if (rank != WH_HOST_FRIEND)
		use(subnet_of(shares, address), now_tsc, WH_SHARE_OF_SUBNET * each_tsc);
}

bool wh_shares_may_tell(
	struct wh_shares *shares, uint64_t now_tsc, const struct wh_address *address)
{
	struct wh_share_host *host = host_of(shares, address);
	uint64_t each_tsc = shares->hz / TOLD_PER_S;

	if (!has_room(host->told_due_tsc, now_tsc, each_tsc, TOLD_BURST))
		return false;
	use(&host->told_due_tsc, now_tsc, each_tsc);
	return true;
}
