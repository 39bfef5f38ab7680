/* SPDX-License-Identifier: BSD-3-Clause */
#include "job/peers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/clock.h"
#include "wire/cookie.h"

#define BURST_S 3

int wh_peers_init(
	struct wh_peers *peers, const struct wh_peer_limits *limits, const uint64_t seed[2])
{
	WH_ASSERT(limits->places > 0 && limits->peer_places > 0 && limits->peer_openings_s > 0);
	WH_ASSERT(limits->peer_lines_s > 0 && limits->lines_s > 0);
	*peers = (struct wh_peers){.limits = *limits};
	wh_spin_init(&peers->lock);
	peers->peer = calloc((size_t)WH_PEERS_ROWS * WH_PEERS_PER_ROW, sizeof(peers->peer[0]));
	memcpy(peers->seed, seed, sizeof(peers->seed));
	return peers->peer == NULL ? -ENOMEM : 0;
}

static void check(const struct wh_peers *peers)
{
	const struct wh_peer_limits *limits = &peers->limits;
	uint64_t places = 0;

	for (uint32_t i = 0; i < WH_PEERS_ROWS * WH_PEERS_PER_ROW; i++) {
		const struct wh_peer *peer = &peers->peer[i];

		WH_ASSERT(peer->key != 0 || (peer->places == 0 && peer->bytes == 0));
		WH_ASSERT(peer->places <= limits->peer_places && peer->bytes <= limits->peer_bytes);
		WH_ASSERT(peer->places > 0 || peer->bytes == 0);
		places += peer->places;
	}
	WH_ASSERT(places == peers->places);
	WH_ASSERT(places <= (uint64_t)limits->places + limits->spare_places);
}

void wh_peers_free(struct wh_peers *peers)
{
	if (peers->peer != NULL)
		check(peers);
	free(peers->peer);
	peers->peer = NULL;
}

static const uint8_t nobodys[WH_IDENTITY_BYTES];

/* The network of an address, which identifies a peer without a key. */
static uint64_t network_of(const struct wh_address *address)
{
	uint64_t bits;

	memcpy(&bits, address->ip, sizeof(bits));
	return address->family == WH_IPV4 ? (bits & UINT32_MAX) | UINT64_C(1) << 32 : bits | 1;
}

/* Never 0, which means unused. */
static uint64_t key_of(const struct wh_who *who)
{
	uint64_t key;

	if (who->identity == NULL)
		return network_of(who->address);
	memcpy(&key, who->identity, sizeof(key));
	return key | 1;
}

static struct wh_peer *row_of(struct wh_peers *peers, uint64_t key)
{
	uint64_t mixed = wh_siphash24((const uint8_t *)peers->seed, &key, sizeof(key));

	return &peers->peer[mixed % WH_PEERS_ROWS * WH_PEERS_PER_ROW];
}

static bool is(const struct wh_peer *peer, const struct wh_who *who, uint64_t key)
{
	const uint8_t *identity = who->identity != NULL ? who->identity : nobodys;

	return peer->key == key && memcmp(peer->identity, identity, WH_IDENTITY_BYTES) == 0;
}

static struct wh_peer *find(struct wh_peers *peers, const struct wh_who *who)
{
	uint64_t key = key_of(who);
	struct wh_peer *row = row_of(peers, key);

	for (uint32_t i = 0; i < WH_PEERS_PER_ROW; i++)
		if (is(&row[i], who, key))
			return &row[i];
	return NULL;
}

static bool is_kept(const struct wh_peer *peer)
{
	return peer->places > 0 || peer->holds > 0;
}

/*
 * The peer's entry, or that of the least recently seen peer that holds nothing; NULL: all hold
 * something.
 */
static struct wh_peer *find_or_enter(
	struct wh_peers *peers, const struct wh_who *who, uint64_t now_ns)
{
	struct wh_peer *peer = find(peers, who);
	uint64_t key = key_of(who);
	struct wh_peer *row = row_of(peers, key);

	for (uint32_t i = 0; peer == NULL && i < WH_PEERS_PER_ROW; i++)
		if (row[i].key == 0)
			peer = &row[i];
	for (uint32_t i = 0; peer == NULL && i < WH_PEERS_PER_ROW; i++) {
		bool older = !is_kept(&row[i]);

		for (uint32_t j = 0; j < WH_PEERS_PER_ROW; j++)
			older = older && (is_kept(&row[j]) || row[i].seen_ns <= row[j].seen_ns);
		if (older)
			peer = &row[i];
	}
	if (peer == NULL)
		return NULL;
	if (!is(peer, who, key)) {
		peers->left_lines += peer->untold_lines;
		*peer = (struct wh_peer){
			.key = key,
			.room = {.most_bytes = peers->limits.peer_room_bytes},
		};
		if (who->identity != NULL)
			memcpy(peer->identity, who->identity, sizeof(peer->identity));
	}
	peer->seen_ns = now_ns;
	if (who->address != NULL)
		peer->address = *who->address;
	return peer;
}

/* Whether the allowance permits one more. */
static bool is_left(const struct wh_allowance *allowance, uint32_t per_s, uint64_t now_ns)
{
	return allowance->spent_ns <= now_ns + (BURST_S * WH_NS_PER_S - WH_NS_PER_S / per_s);
}

static bool spend(struct wh_allowance *allowance, uint32_t per_s, uint64_t now_ns)
{
	if (!is_left(allowance, per_s, now_ns))
		return false;
	allowance->spent_ns = wh_max_u64(allowance->spent_ns, now_ns) + WH_NS_PER_S / per_s;
	return true;
}

/* The caller holds the lock, here and below. `peer` NULL: the peer has no entry. */
static bool has_place_for(const struct wh_peers *peers, const struct wh_peer *peer, uint64_t now_ns)
{
	const struct wh_peer_limits *limits = &peers->limits;
	bool newcomer = peer == NULL || peer->places == 0;

	if (peers->places >= limits->places + (newcomer ? limits->spare_places : 0))
		return false;
	return peer == NULL || (peer->places < limits->peer_places &&
				       is_left(&peer->openings, limits->peer_openings_s, now_ns));
}

bool wh_peers_would_admit(struct wh_peers *peers, const struct wh_who *who, uint64_t now_ns)
{
	WH_HOLD(&peers->lock);
	return has_place_for(peers, find(peers, who), now_ns);
}

struct wh_peer *wh_peers_admit(struct wh_peers *peers, const struct wh_who *who, uint64_t now_ns)
{
	WH_HOLD(&peers->lock);

	struct wh_peer *peer = find_or_enter(peers, who, now_ns);
	bool admitted = peer != NULL && has_place_for(peers, peer, now_ns) &&
			spend(&peer->openings, peers->limits.peer_openings_s, now_ns);

	if (admitted) {
		peer->places++;
		peers->places++;
	}
	return admitted ? peer : NULL;
}

void wh_peers_dismiss(struct wh_peers *peers, struct wh_peer *peer)
{
	WH_HOLD(&peers->lock);
	WH_ASSERT(peers->places > 0 && peer->places > 0);
	peer->places--;
	peers->places--;
	/* From here on its entry may be reused, so it must hold nothing. */
	WH_ASSERT(peer->places > 0 || (peer->bytes == 0 && peer->room.promised_bytes == 0));
}

struct wh_peer *wh_peers_hold(
	struct wh_peers *peers, const uint8_t identity[WH_IDENTITY_BYTES], uint64_t now_ns)
{
	const struct wh_who who = {.identity = identity};

	WH_HOLD(&peers->lock);

	struct wh_peer *peer = find_or_enter(peers, &who, now_ns);

	if (peer != NULL)
		peer->holds++;
	return peer;
}

void wh_peers_release(struct wh_peers *peers, struct wh_peer *peer)
{
	WH_HOLD(&peers->lock);
	WH_ASSERT(peer->holds > 0);
	peer->holds--;
}

uint64_t wh_peers_left_bytes(const struct wh_peers *peers, const struct wh_peer *peer)
{
	uint64_t bytes = peer->bytes;

	WH_ASSERT(peer->places > 0 && bytes <= peers->limits.peer_bytes);
	return peers->limits.peer_bytes - bytes;
}

bool wh_peers_take_bytes(const struct wh_peers *peers, struct wh_peer *peer, uint64_t bytes)
{
	uint64_t had = peer->bytes;

	WH_ASSERT(peer->places > 0);
	do
		if (wh_add_u64(had, bytes) > peers->limits.peer_bytes)
			return false;
	while (!atomic_compare_exchange_weak(&peer->bytes, &had, had + bytes));
	return true;
}

void wh_peers_give_bytes(struct wh_peer *peer, uint64_t bytes)
{
	uint64_t had = atomic_fetch_sub(&peer->bytes, bytes);

	WH_ASSERT(had >= bytes);
}

void wh_peers_learn(struct wh_peers *peers, struct wh_peer *peer, const struct wh_address *address,
	const struct wh_known_path *found, uint64_t now_ns)
{
	WH_ASSERT(peer->places > 0 && found->capacity_bps > 0 && wh_known_path_valid(found));
	WH_HOLD(&peers->lock);

	bool same_network = network_of(&peer->known_at) == network_of(address);
	uint32_t burst_pkts = same_network ? peer->known.burst_pkts : 0;

	peer->known = *found;
	peer->known_at = *address;
	if (found->burst_pkts == 0)
		peer->known.burst_pkts = burst_pkts;
	peer->known_ns = now_ns;
}

struct wh_known_path wh_peers_known(struct wh_peers *peers, const struct wh_peer *peer,
	const struct wh_address *address, uint64_t now_ns)
{
	struct wh_known_path known = {0};

	WH_ASSERT(peer->places > 0);
	wh_spin_lock(&peers->lock);
	if (network_of(&peer->known_at) == network_of(address))
		known = peer->known;

	uint64_t age_ns = now_ns > peer->known_ns ? now_ns - peer->known_ns : 0;

	wh_spin_unlock(&peers->lock);
	if (known.capacity_bps > 0)
		known.age_s = (uint32_t)wh_min_u64(age_ns / WH_NS_PER_S, UINT32_MAX);
	return known;
}

bool wh_peers_are_crowded(const struct wh_peers *peers)
{
	return atomic_load_explicit(&peers->places, memory_order_relaxed) > peers->limits.places;
}

bool wh_peers_may_log(struct wh_peers *peers, struct wh_peer *peer, uint64_t now_ns)
{
	const struct wh_peer_limits *limits = &peers->limits;

	WH_ASSERT(peer->places > 0);
	WH_HOLD(&peers->lock);

	bool may = is_left(&peer->lines, limits->peer_lines_s, now_ns) &&
		   spend(&peers->lines, limits->lines_s, now_ns) &&
		   spend(&peer->lines, limits->peer_lines_s, now_ns);

	if (!may) {
		peer->untold_lines++;
		peers->untold_lines++;
	}
	return may;
}

/* The caller holds the lock. 0: none that may be told now. */
static uint64_t take_untold(struct wh_peers *peers, uint64_t now_ns, struct wh_address *address)
{
	uint64_t lines = peers->left_lines;

	for (uint32_t i = 0; i < WH_PEERS_ROWS * WH_PEERS_PER_ROW; i++) {
		struct wh_peer *peer = &peers->peer[i];

		if (peer->untold_lines == 0 ||
			!spend(&peer->lines, peers->limits.peer_lines_s, now_ns))
			continue;
		*address = peer->address;
		lines = peer->untold_lines;
		peer->untold_lines = 0;
		return lines;
	}
	*address = (struct wh_address){0};
	peers->left_lines = 0;
	return lines;
}

bool wh_peers_next_untold(
	struct wh_peers *peers, uint64_t now_ns, struct wh_address *address, uint64_t *lines)
{
	WH_HOLD(&peers->lock);
	if (peers->untold_lines == 0 || !is_left(&peers->lines, peers->limits.lines_s, now_ns))
		return false;
	*lines = take_untold(peers, now_ns, address);
	peers->untold_lines -= *lines;
	return *lines > 0 && spend(&peers->lines, peers->limits.lines_s, now_ns);
}

uint32_t wh_peers_list(struct wh_peers *peers, struct wh_peer_seen *seen, uint32_t room)
{
	uint32_t count = 0;

	for (uint32_t row = 0; row < WH_PEERS_ROWS && count < room; row++) {
		/* A row at a time, so that other threads wait only briefly. */
		wh_spin_lock(&peers->lock);
		for (uint32_t i = 0; i < WH_PEERS_PER_ROW && count < room; i++) {
			const struct wh_peer *peer = &peers->peer[row * WH_PEERS_PER_ROW + i];

			if (peer->key == 0)
				continue;
			seen[count++] = (struct wh_peer_seen){
				.address = peer->address,
				.places = atomic_load(&peer->places),
				.bytes = atomic_load(&peer->bytes),
				.known_bps = peer->known.capacity_bps,
			};
		}
		wh_spin_unlock(&peers->lock);
	}
	return count;
}
