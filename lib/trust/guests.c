/* SPDX-License-Identifier: BSD-3-Clause */

/* The places for greetings, and which greetings get one. */

#include <stdlib.h>
#include <string.h>

#include <openssl/rand.h>

#include "base/assert.h"
#include "base/clock.h"
#include "trust/guest.h"

#define GRACE_RTTS   4
#define GRACE_MIN_US 100000

/*
 * Time in which a greeting cannot lose its place: a peer that is alive continues within a few round
 * trips.
 */
static uint64_t grace(const struct wh_greeter *greeter, uint32_t rtt_us)
{
	uint64_t grace_us = wh_max_u64(GRACE_RTTS * (uint64_t)rtt_us, GRACE_MIN_US);

	return wh_us_to_tsc(
		greeter->config.hz, wh_min_u64(grace_us, WH_GREETING_GRACE_MS * UINT64_C(1000)));
}

/* Greetings of peers, by the standing of their hosts: of each the one that began first, or NULL. */
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

static struct crowd look(struct wh_greeter *greeter, const struct wh_address *peer)
{
	struct crowd crowd = {0};

	for (uint32_t i = 0; i < greeter->config.guests; i++) {
		struct wh_guest *guest = &greeter->guest[i];
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

static struct wh_guest *evict(struct wh_greeter *greeter, uint64_t now_tsc, struct wh_guest *guest)
{
	struct wh_put_off put_off = {
		.peer = guest->peer,
		.queue = guest->queue,
		.cookie.greeting = guest->number,
	};

	memcpy(put_off.via, guest->via, sizeof(put_off.via));
	memcpy(put_off.cookie.cookie, guest->cookie, sizeof(put_off.cookie.cookie));
	if (!guest->over) {
		greeter->stats.crowded_out++;
		wh_guest_put_off(greeter, now_tsc, &put_off);
	}
	wh_guest_end(greeter, guest);
	return guest;
}

/*
 * The place of one of these for a host that stands so: of one that stands lower at once, or of one
 * that stands the same and has had its time; NULL: none.
 */
static struct wh_guest *make_room(struct wh_greeter *greeter, uint64_t now_tsc,
	struct wh_guest *const first[WH_HOST_STANDINGS], enum wh_standing_of_host standing)
{
	for (uint32_t lower = 0; lower < standing; lower++)
		if (first[lower] != NULL)
			return evict(greeter, now_tsc, first[lower]);

	struct wh_guest *equal = first[standing];

	if (equal == NULL || now_tsc - equal->began_tsc < equal->grace_tsc)
		return NULL;
	return evict(greeter, now_tsc, equal);
}

/*
 * A place for a peer's greeting, or for one of ours, which stands as a friend's; NULL: none. A
 * quarter of all is kept for friends, and of the rest a subnet has a third at most.
 */
static struct wh_guest *find_place(struct wh_greeter *greeter, uint64_t now_tsc,
	const struct wh_address *peer, enum wh_standing_of_host standing, bool came)
{
	uint32_t share = (greeter->config.guests + 3) / 4;
	struct crowd crowd = look(greeter, peer);
	bool strange = standing != WH_HOST_FRIEND;

	if (came && crowd.of_host >= greeter->config.guests_of_address)
		return NULL;
	if (strange && crowd.of_subnet >= share)
		return make_room(greeter, now_tsc, crowd.first_of_subnet, standing);
	if (crowd.free != NULL && (!strange || crowd.strangers < greeter->config.guests - share))
		return crowd.free;
	return make_room(greeter, now_tsc, crowd.first, standing);
}

/* Remembers to tell a peer that its greeting is not here, unless there is no room, or too often. */
void wh_guest_put_off(
	struct wh_greeter *greeter, uint64_t now_tsc, const struct wh_put_off *put_off)
{
	if (greeter->put_offs == WH_GREETER_PUT_OFFS ||
		!wh_shares_may_tell(greeter->shares, now_tsc, &put_off->peer))
		return;
	greeter->put_off[greeter->put_offs++] = *put_off;
	greeter->stats.put_off++;
}

uint32_t wh_guest_reserve(struct wh_greeter *greeter)
{
	uint32_t random;

	return RAND_bytes((uint8_t *)&random, sizeof(random)) == 1
		       ? wh_bonds_reserve(greeter->config.bonds, random)
		       : 0;
}

void wh_guest_card(const struct wh_greeter *greeter, struct wh_card *card,
	enum wh_reception verdict, uint32_t number)
{
	const char *version = greeter->config.version;

	*card = (struct wh_card){
		.verdict = (uint8_t)verdict,
		.ciphers = greeter->config.ciphers,
		.number = number,
	};
	memcpy(card->process, greeter->process, sizeof(card->process));
	memcpy(card->version, version, strnlen(version, sizeof(card->version) - 1));
}

/*
 * What a server sends before the client has proved anything: a bond number, which is of no use
 * without that proof, and an offer of a first session.
 */
static int begin_greeting(
	struct wh_greeter *greeter, struct wh_guest *guest, const struct wh_letter *letter)
{
	struct wh_card first;

	if (!guest->came)
		return wh_greeting_begin(&guest->greeting, &greeter->ends, NULL);
	guest->bond_number = wh_guest_reserve(greeter);
	wh_guest_card(greeter, &first,
		guest->bond_number != 0 ? WH_RECEPTION_NONE : WH_RECEPTION_BUSY,
		guest->bond_number);
	first.offered.lci = letter->offered_lci;
	memcpy(first.offered.cookie, letter->offered_cookie, sizeof(first.offered.cookie));
	return wh_greeting_begin(&guest->greeting, &greeter->ends, &first);
}

struct wh_guest *wh_guest_begin(struct wh_greeter *greeter, uint64_t now_tsc,
	const struct wh_letter *letter, const struct wh_crypto *packet, bool came)
{
	const struct wh_greeter_config *config = &greeter->config;
	enum wh_standing_of_host standing = WH_HOST_FRIEND;
	struct wh_guest *guest = NULL;

	if (came)
		standing = wh_shares_standing(greeter->shares, now_tsc, &letter->peer);
	if (!came || wh_shares_may(greeter->shares, now_tsc, &letter->peer, standing))
		guest = find_place(greeter, now_tsc, &letter->peer, standing, came);
	if (guest == NULL)
		return NULL;
	*guest = (struct wh_guest){
		.came = came,
		.standing = standing,
		.peer = letter->peer,
		.queue = letter->queue,
		.number = packet->greeting,
		.rtt_us = letter->rtt_us,
		.began_tsc = now_tsc,
		.heard_tsc = now_tsc,
		.grace_tsc = grace(greeter, letter->rtt_us),
		.until_tsc = now_tsc + WH_GREETING_S * config->hz,
		.stream = malloc(sizeof(*guest->stream)),
	};
	memcpy(guest->via, letter->via, sizeof(guest->via));
	memcpy(guest->cookie, packet->cookie, sizeof(guest->cookie));
	if (guest->stream == NULL || begin_greeting(greeter, guest, letter) != 0) {
		if (guest->bond_number != 0)
			wh_bonds_cancel(config->bonds, guest->bond_number);
		free(guest->stream);
		return NULL;
	}
	wh_stream_init(guest->stream, config->hz, wh_us_to_tsc(config->hz, letter->rtt_us), !came);
	guest->used = true;
	greeter->guests++;
	greeter->stats.began += came;
	if (came)
		wh_shares_use(greeter->shares, now_tsc, &letter->peer, standing);
	return guest;
}

struct wh_guest *wh_guest_find(struct wh_greeter *greeter, const struct wh_letter *letter,
	const struct wh_crypto *packet, bool came)
{
	for (uint32_t i = 0; i < greeter->config.guests; i++) {
		struct wh_guest *guest = &greeter->guest[i];

		if (guest->used && guest->came == came && guest->number == packet->greeting &&
			memcmp(guest->cookie, packet->cookie, sizeof(guest->cookie)) == 0 &&
			wh_address_equal(&guest->peer, &letter->peer))
			return guest;
	}
	return NULL;
}

void wh_guest_end(struct wh_greeter *greeter, struct wh_guest *guest)
{
	WH_ASSERT(guest->used && greeter->guests > 0);
	if (guest->bond_number != 0)
		wh_bonds_cancel(greeter->config.bonds, guest->bond_number);
	wh_bond_let_go(guest->bond);
	if (guest->greeting.ssl != NULL)
		wh_greeting_end(&guest->greeting);
	free(guest->stream);
	guest->used = false;
	greeter->guests--;
}
