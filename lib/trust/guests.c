/* SPDX-License-Identifier: BSD-3-Clause */

/* The places for handshakes, and which handshakes get one. */

#include <stdlib.h>
#include <string.h>

#include <openssl/rand.h>

#include "base/assert.h"
#include "base/clock.h"
#include "trust/guest.h"

#define GRACE_RTTS   4
#define GRACE_MIN_US 100000

/*
 * Time in which a handshake cannot lose its place: a peer that is alive continues within a few
 * round trips.
 */
static uint64_t grace(const struct wh_handshakes *handshakes, uint32_t rtt_us)
{
	uint64_t grace_us = wh_max_u64(GRACE_RTTS * (uint64_t)rtt_us, GRACE_MIN_US);

	return wh_us_to_tsc(handshakes->config.hz,
		wh_min_u64(grace_us, WH_HANDSHAKE_GRACE_MS * UINT64_C(1000)));
}

/*
 * Handshakes of peers, by the standing of their hosts: of each the one that began first, or NULL.
 */
struct crowd {
	uint32_t of_host;
	uint32_t of_subnet; /* without friends, as are: */
	uint32_t strangers;
	struct wh_guest *free; /* NULL: none */
	struct wh_guest *first[WH_HOST_STANDINGS];
	struct wh_guest *first_of_subnet[WH_HOST_STANDINGS];
};

static struct wh_guest *older(struct wh_guest *one, struct wh_guest *other)
{
	return one == NULL || other->began_tsc < one->began_tsc ? other : one;
}

static struct crowd look(struct wh_handshakes *handshakes, const struct wh_address *peer)
{
	struct crowd crowd = {0};

	for (uint32_t i = 0; i < handshakes->config.guests; i++) {
		struct wh_guest *guest = &handshakes->guest[i];
		uint32_t standing = guest->standing;

		if (!guest->used)
			crowd.free = guest;
		if (!guest->used || !guest->came)
			continue;
		crowd.of_host += wh_shares_same_host(&guest->peer, peer);
		crowd.strangers += standing != WH_HOST_FRIEND;
		crowd.first[standing] = older(crowd.first[standing], guest);
		if (standing == WH_HOST_FRIEND || !wh_shares_same_subnet(&guest->peer, peer))
			continue;
		crowd.of_subnet++;
		crowd.first_of_subnet[standing] = older(crowd.first_of_subnet[standing], guest);
	}
	return crowd;
}

static struct wh_guest *evict(
	struct wh_handshakes *handshakes, uint64_t now_tsc, struct wh_guest *guest)
{
	struct wh_put_off put_off = {
		.peer = guest->peer,
		.queue = guest->queue,
		.cookie.handshake = guest->number,
	};

	memcpy(put_off.via, guest->via, sizeof(put_off.via));
	memcpy(put_off.cookie.cookie, guest->cookie, sizeof(put_off.cookie.cookie));
	if (!guest->over) {
		handshakes->stats.crowded_out++;
		wh_guest_put_off(handshakes, now_tsc, &put_off);
	}
	wh_guest_end(handshakes, guest);
	return guest;
}

/*
 * The place of one of these for a host that stands so: of one that stands lower at once, or of one
 * that stands the same and has had its time; NULL: none.
 */
static struct wh_guest *make_room(struct wh_handshakes *handshakes, uint64_t now_tsc,
	struct wh_guest *const first[WH_HOST_STANDINGS], enum wh_standing_of_host standing)
{
	for (uint32_t lower = 0; lower < standing; lower++)
		if (first[lower] != NULL)
			return evict(handshakes, now_tsc, first[lower]);

	struct wh_guest *equal = first[standing];

	if (equal == NULL || now_tsc - equal->began_tsc < equal->grace_tsc)
		return NULL;
	return evict(handshakes, now_tsc, equal);
}

/*
 * A place for a peer's handshake, or for one of ours, which stands as a friend's; NULL: none. A
 * quarter of all is kept for friends, and of the rest a subnet has a third at most.
 */
static struct wh_guest *find_place(struct wh_handshakes *handshakes, uint64_t now_tsc,
	const struct wh_address *peer, enum wh_standing_of_host standing, bool came)
{
	uint32_t share = (handshakes->config.guests + 3) / 4;
	struct crowd crowd = look(handshakes, peer);
	bool strange = standing != WH_HOST_FRIEND;

	if (came && crowd.of_host >= handshakes->config.guests_of_address)
		return NULL;
	if (strange && crowd.of_subnet >= share)
		return make_room(handshakes, now_tsc, crowd.first_of_subnet, standing);
	if (crowd.free != NULL && (!strange || crowd.strangers < handshakes->config.guests - share))
		return crowd.free;
	return make_room(handshakes, now_tsc, crowd.first, standing);
}

/*
 * Remembers to tell a peer that its handshake is not here, unless there is no room, or too often.
 */
void wh_guest_put_off(
	struct wh_handshakes *handshakes, uint64_t now_tsc, const struct wh_put_off *put_off)
{
	if (handshakes->put_offs == WH_HANDSHAKES_PUT_OFFS ||
		!wh_shares_may_tell(handshakes->shares, now_tsc, &put_off->peer))
		return;
	handshakes->put_off[handshakes->put_offs++] = *put_off;
	handshakes->stats.put_off++;
}

uint32_t wh_guest_reserve(struct wh_handshakes *handshakes)
{
	uint32_t random;

	return RAND_bytes((uint8_t *)&random, sizeof(random)) == 1
		       ? wh_bonds_reserve(handshakes->config.bonds, random)
		       : 0;
}

void wh_guest_card(const struct wh_handshakes *handshakes, struct wh_card *card,
	enum wh_reception verdict, uint32_t number)
{
	const char *version = handshakes->config.version;

	*card = (struct wh_card){
		.verdict = (uint8_t)verdict,
		.ciphers = handshakes->config.ciphers,
		.number = number,
	};
	memcpy(card->process, handshakes->process, sizeof(card->process));
	memcpy(card->version, version, strnlen(version, sizeof(card->version) - 1));
}

/*
 * What a server sends before the client has proved anything: a bond number, which is of no use
 * without that proof, and an offer of a first session.
 */
static int begin_handshake(
	struct wh_handshakes *handshakes, struct wh_guest *guest, const struct wh_letter *letter)
{
	struct wh_card first;

	if (!guest->came)
		return wh_handshake_begin(&guest->handshake, &handshakes->ends, NULL);
	guest->bond_number = wh_guest_reserve(handshakes);
	wh_guest_card(handshakes, &first,
		guest->bond_number != 0 ? WH_RECEPTION_NONE : WH_RECEPTION_BUSY,
		guest->bond_number);
	first.offered.lci = letter->offered_lci;
	memcpy(first.offered.cookie, letter->offered_cookie, sizeof(first.offered.cookie));
	return wh_handshake_begin(&guest->handshake, &handshakes->ends, &first);
}

struct wh_guest *wh_guest_begin(struct wh_handshakes *handshakes, uint64_t now_tsc,
	const struct wh_letter *letter, const struct wh_crypto *packet, bool came)
{
	const struct wh_handshakes_config *config = &handshakes->config;
	enum wh_standing_of_host standing = WH_HOST_FRIEND;
	struct wh_guest *guest = NULL;

	if (came)
		standing = wh_shares_standing(handshakes->shares, now_tsc, &letter->peer);
	if (!came || wh_shares_may(handshakes->shares, now_tsc, &letter->peer, standing))
		guest = find_place(handshakes, now_tsc, &letter->peer, standing, came);
	if (guest == NULL)
		return NULL;
	*guest = (struct wh_guest){
		.came = came,
		.standing = standing,
		.peer = letter->peer,
		.queue = letter->queue,
		.number = packet->handshake,
		.rtt_us = letter->rtt_us,
		.began_tsc = now_tsc,
		.heard_tsc = now_tsc,
		.grace_tsc = grace(handshakes, letter->rtt_us),
		.until_tsc = now_tsc + WH_HANDSHAKE_S * config->hz,
		.stream = malloc(sizeof(*guest->stream)),
	};
	memcpy(guest->via, letter->via, sizeof(guest->via));
	memcpy(guest->cookie, packet->cookie, sizeof(guest->cookie));
	if (guest->stream == NULL || begin_handshake(handshakes, guest, letter) != 0) {
		if (guest->bond_number != 0)
			wh_bonds_cancel(config->bonds, guest->bond_number);
		free(guest->stream);
		return NULL;
	}
	wh_stream_init(guest->stream, config->hz, wh_us_to_tsc(config->hz, letter->rtt_us), !came);
	guest->used = true;
	handshakes->guests++;
	handshakes->stats.began += came;
	if (came)
		wh_shares_use(handshakes->shares, now_tsc, &letter->peer, standing);
	return guest;
}

struct wh_guest *wh_guest_find(struct wh_handshakes *handshakes, const struct wh_letter *letter,
	const struct wh_crypto *packet, bool came)
{
	for (uint32_t i = 0; i < handshakes->config.guests; i++) {
		struct wh_guest *guest = &handshakes->guest[i];

		if (guest->used && guest->came == came && guest->number == packet->handshake &&
			memcmp(guest->cookie, packet->cookie, sizeof(guest->cookie)) == 0 &&
			wh_address_equal(&guest->peer, &letter->peer))
			return guest;
	}
	return NULL;
}

void wh_guest_end(struct wh_handshakes *handshakes, struct wh_guest *guest)
{
	WH_ASSERT(guest->used && handshakes->guests > 0);
	if (guest->bond_number != 0)
		wh_bonds_cancel(handshakes->config.bonds, guest->bond_number);
	wh_bond_let_go(guest->bond);
	if (guest->handshake.ssl != NULL)
		wh_handshake_end(&guest->handshake);
	free(guest->stream);
	guest->used = false;
	handshakes->guests--;
}
