/* SPDX-License-Identifier: BSD-3-Clause */

/* Keeps the bonds of a host as long as they are needed. */

#include <string.h>

#include "base/assert.h"
#include "base/clock.h"
#include "trust/pending.h"

/*
 * Most bonds per owner, so that a peer cannot fill the table by repeated handshakes, or with a
 * new key each time, as proxy certificates have.
 */
#define BONDS_OF_OWNER 64

static void let_go(struct wh_handshakes *handshakes, struct wh_kept_bond *kept)
{
	wh_known_peer_forget(handshakes, kept->bond);
	wh_bond_end(kept->bond);
	wh_bond_let_go(kept->bond);
	kept->bond = NULL;
}

/* Whether the peer is still trusted; if not, its sessions end, too. */
static bool holds(const struct wh_handshakes *handshakes, const struct wh_bond *bond)
{
	const struct wh_authorizer *authorizer = &handshakes->config.authorizer;

	return authorizer->holds == NULL || bond->config.rights == 0 ||
	       authorizer->holds(authorizer->context, bond->config.rights);
}

static void revoke(struct wh_handshakes *handshakes, struct wh_bond *bond)
{
	wh_bond_revoke(bond);
	wh_bonds_tell(handshakes->config.bonds);
}

static bool is_idle(const struct wh_kept_bond *kept)
{
	return wh_bond_holders(kept->bond) == 1;
}

/* If an owner has too many bonds, its least recently used idle one ends. */
static void make_room(struct wh_handshakes *handshakes, const uint8_t owner[WH_IDENTITY_BYTES])
{
	struct wh_kept_bond *oldest = NULL;
	uint32_t count = 0;

	for (uint32_t i = 0; i < handshakes->config.bonds->places; i++) {
		struct wh_kept_bond *kept = &handshakes->kept[i];

		if (kept->bond == NULL ||
			memcmp(kept->bond->config.owner, owner, WH_IDENTITY_BYTES) != 0)
			continue;
		count++;
		if (is_idle(kept) && (oldest == NULL || kept->used_tsc < oldest->used_tsc))
			oldest = kept;
	}
	if (count >= BONDS_OF_OWNER && oldest != NULL)
		let_go(handshakes, oldest);
}

/* Whether `one` is with a process that has replaced the process of `other`. */
static bool follows(const struct wh_bond_config *one, const struct wh_bond_config *other)
{
	return one->peer.family != 0 && wh_address_equal(&one->peer, &other->peer) &&
	       memcmp(one->owner, other->owner, sizeof(one->owner)) == 0 &&
	       memcmp(one->peer_process, other->peer_process, sizeof(one->peer_process)) != 0;
}

/* A killed process cannot announce its end, and its sessions occupy resources: they are checked. */
static void doubt_others(
	struct wh_handshakes *handshakes, const struct wh_bond *bond, uint64_t now_tsc)
{
	bool any = false;

	for (uint32_t i = 0; i < handshakes->config.bonds->places; i++) {
		struct wh_bond *other = handshakes->kept[i].bond;

		if (other == NULL || !follows(&bond->config, &other->config))
			continue;
		wh_bond_doubt(other, now_tsc);
		any = true;
	}
	if (any)
		wh_bonds_tell(handshakes->config.bonds);
}

/* Sessions that are not open yet wait for the peer, who has lost their bond. */
static bool is_missed(const struct wh_bond *bond)
{
	return bond != NULL && bond->config.asked && atomic_load(&bond->hinted);
}

void wh_keep_succeed(struct wh_handshakes *handshakes, const struct wh_bond *bond)
{
	for (uint32_t i = 0; i < handshakes->config.bonds->places; i++) {
		struct wh_bond *other = handshakes->kept[i].bond;

		if (other != bond && is_missed(other) && wh_keep_is_of_same_peer(other, bond))
			wh_bond_succeed(other, wh_bond_number(bond));
	}
	wh_bonds_tell(handshakes->config.bonds);
}

/* Sessions may outlast the search for their peer, and the bond that was found. */
static void seek_successor(struct wh_handshakes *handshakes, struct wh_bond *bond, uint64_t now_tsc)
{
	uint32_t number = wh_bond_successor(bond);
	struct wh_bond *next = wh_bonds_hold(handshakes->config.bonds, number);

	if (next == NULL) {
		wh_bond_give_up_successor(bond, number);
		wh_known_peer_seek(handshakes, now_tsc, bond);
	}
	wh_bond_let_go(next);
}

bool wh_keep_bond(struct wh_handshakes *handshakes, struct wh_bond *bond, uint64_t now_tsc)
{
	make_room(handshakes, bond->config.owner);
	doubt_others(handshakes, bond, now_tsc);
	for (uint32_t i = 0; i < handshakes->config.bonds->places; i++)
		if (handshakes->kept[i].bond == NULL) {
			handshakes->kept[i] =
				(struct wh_kept_bond){.bond = bond, .used_tsc = now_tsc};
			return true;
		}
	wh_bond_end(bond);
	wh_bond_let_go(bond);
	return false;
}

void wh_keep_sweep(struct wh_handshakes *handshakes, uint64_t now_tsc)
{
	uint64_t idle_tsc = WH_BOND_IDLE_S * handshakes->config.hz;

	for (uint32_t i = 0; i < handshakes->config.bonds->places; i++) {
		struct wh_kept_bond *kept = &handshakes->kept[i];

		if (kept->bond == NULL)
			continue;
		if (!is_idle(kept))
			kept->used_tsc = now_tsc;
		if (!holds(handshakes, kept->bond))
			revoke(handshakes, kept->bond);
		else if (is_missed(kept->bond) && !is_idle(kept))
			seek_successor(handshakes, kept->bond, now_tsc);
		if (now_tsc - kept->used_tsc > idle_tsc || !wh_bond_is_alive(kept->bond))
			let_go(handshakes, kept);
	}
}

void wh_keep_end(struct wh_handshakes *handshakes)
{
	for (uint32_t i = 0; handshakes->kept != NULL && i < handshakes->config.bonds->places; i++)
		if (handshakes->kept[i].bond != NULL)
			let_go(handshakes, &handshakes->kept[i]);
}

void wh_keep_revoke(struct wh_handshakes *handshakes, struct wh_bond *bond)
{
	revoke(handshakes, bond);
	for (uint32_t i = 0; i < handshakes->config.bonds->places; i++)
		if (handshakes->kept[i].bond == bond)
			let_go(handshakes, &handshakes->kept[i]);
}
