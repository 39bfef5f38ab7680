/* SPDX-License-Identifier: BSD-3-Clause */

/* Keeps the SAs of a host as long as they are needed. */

#include <string.h>

#include "trust/pending.h"

/*
 * Most SAs per owner. Without a limit a peer could fill the table by repeated handshakes, even with
 * a new key each time, as proxy certificates have.
 */
#define SAS_OF_OWNER 64

static void let_go(struct wh_handshakes *handshakes, struct wh_kept_sa *kept)
{
	wh_known_peer_forget(handshakes, kept->sa);
	wh_sa_end(kept->sa);
	wh_sa_let_go(kept->sa);
	kept->sa = NULL;
}

/* Whether the peer is still trusted; if not, its sessions end, too. */
static bool holds(const struct wh_handshakes *handshakes, const struct wh_sa *sa)
{
	const struct wh_authorizer *authorizer = &handshakes->config.authorizer;

	return authorizer->holds == NULL || sa->config.rights == 0 ||
	       authorizer->holds(authorizer->context, sa->config.rights);
}

static void revoke(struct wh_handshakes *handshakes, struct wh_sa *sa)
{
	wh_sa_revoke(sa);
	wh_sadb_tell(handshakes->config.sadb);
}

static bool is_idle(const struct wh_kept_sa *kept)
{
	return wh_sa_holders(kept->sa) == 1;
}

/* If an owner has too many SAs, its least recently used idle one ends. */
static void make_room(struct wh_handshakes *handshakes, const uint8_t owner[WH_IDENTITY_BYTES])
{
	struct wh_kept_sa *oldest = NULL;
	uint32_t count = 0;

	for (uint32_t i = 0; i < handshakes->config.sadb->places; i++) {
		struct wh_kept_sa *kept = &handshakes->kept[i];

		if (kept->sa == NULL ||
			memcmp(kept->sa->config.owner, owner, WH_IDENTITY_BYTES) != 0)
			continue;
		count++;
		if (is_idle(kept) && (oldest == NULL || kept->used_tsc < oldest->used_tsc))
			oldest = kept;
	}
	if (count >= SAS_OF_OWNER && oldest != NULL)
		let_go(handshakes, oldest);
}

/* Whether both have the same peer, at the same address, but not the same process of it. */
static bool follows(const struct wh_sa_config *one, const struct wh_sa_config *other)
{
	return one->peer.family != 0 && wh_address_equal(&one->peer, &other->peer) &&
	       memcmp(one->owner, other->owner, sizeof(one->owner)) == 0 &&
	       memcmp(one->peer_process, other->peer_process, sizeof(one->peer_process)) != 0;
}

/* A killed process cannot announce its end. Its sessions hold resources, so they are checked. */
static void doubt_others(struct wh_handshakes *handshakes, const struct wh_sa *sa, uint64_t now_tsc)
{
	bool any = false;

	for (uint32_t i = 0; i < handshakes->config.sadb->places; i++) {
		struct wh_sa *other = handshakes->kept[i].sa;

		if (other == NULL || !follows(&sa->config, &other->config))
			continue;
		wh_sa_doubt(other, now_tsc);
		any = true;
	}
	if (any)
		wh_sadb_tell(handshakes->config.sadb);
}

/* Whether the peer seems to have lost an SA that we asked for: sessions that open wait for it. */
static bool is_missed(const struct wh_sa *sa)
{
	return sa != NULL && sa->config.asked && atomic_load(&sa->hinted);
}

void wh_keep_succeed(struct wh_handshakes *handshakes, const struct wh_sa *sa)
{
	for (uint32_t i = 0; i < handshakes->config.sadb->places; i++) {
		struct wh_sa *other = handshakes->kept[i].sa;

		if (other != sa && is_missed(other) && wh_keep_is_of_same_peer(other, sa))
			wh_sa_succeed(other, wh_sa_number(sa));
	}
	wh_sadb_tell(handshakes->config.sadb);
}

/*
 * Looks for the peer again if an SA that it has lost has no successor. Sessions may outlive the
 * first search, and also the successor that it found.
 */
static void seek_successor(struct wh_handshakes *handshakes, struct wh_sa *sa, uint64_t now_tsc)
{
	uint32_t number = wh_sa_successor(sa);
	struct wh_sa *next = wh_sadb_hold(handshakes->config.sadb, number);

	if (next == NULL) {
		wh_sa_give_up_successor(sa, number);
		wh_known_peer_seek(handshakes, now_tsc, sa);
	}
	wh_sa_let_go(next);
}

bool wh_keep_sa(struct wh_handshakes *handshakes, struct wh_sa *sa, uint64_t now_tsc)
{
	make_room(handshakes, sa->config.owner);
	doubt_others(handshakes, sa, now_tsc);
	for (uint32_t i = 0; i < handshakes->config.sadb->places; i++)
		if (handshakes->kept[i].sa == NULL) {
			handshakes->kept[i] = (struct wh_kept_sa){.sa = sa, .used_tsc = now_tsc};
			return true;
		}
	wh_sa_end(sa);
	wh_sa_let_go(sa);
	return false;
}

void wh_keep_sweep(struct wh_handshakes *handshakes, uint64_t now_tsc)
{
	uint64_t idle_tsc = WH_SA_IDLE_S * handshakes->config.hz;

	for (uint32_t i = 0; i < handshakes->config.sadb->places; i++) {
		struct wh_kept_sa *kept = &handshakes->kept[i];

		if (kept->sa == NULL)
			continue;
		if (!is_idle(kept))
			kept->used_tsc = now_tsc;
		if (!holds(handshakes, kept->sa))
			revoke(handshakes, kept->sa);
		else if (is_missed(kept->sa) && !is_idle(kept))
			seek_successor(handshakes, kept->sa, now_tsc);
		if (now_tsc - kept->used_tsc > idle_tsc || !wh_sa_is_alive(kept->sa))
			let_go(handshakes, kept);
	}
}

void wh_keep_end(struct wh_handshakes *handshakes)
{
	for (uint32_t i = 0; handshakes->kept != NULL && i < handshakes->config.sadb->places; i++)
		if (handshakes->kept[i].sa != NULL)
			let_go(handshakes, &handshakes->kept[i]);
}

void wh_keep_revoke(struct wh_handshakes *handshakes, struct wh_sa *sa)
{
	revoke(handshakes, sa);
	for (uint32_t i = 0; i < handshakes->config.sadb->places; i++)
		if (handshakes->kept[i].sa == sa)
			let_go(handshakes, &handshakes->kept[i]);
}
