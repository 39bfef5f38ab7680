/* SPDX-License-Identifier: BSD-3-Clause */

/* The places for greetings, and which greetings get one. */

#include <stdlib.h>
#include <string.h>

#include <openssl/rand.h>

#include "base/assert.h"
#include "base/clock.h"
#include "trust/guest.h"

/* Most greetings that begin back to back, within the rate per second. */
#define BURST 64

/* One machine may use any address of its subnet. */
#define IPV6_PREFIX_BYTES 8

#define GRACE_RTTS   4
#define GRACE_MIN_US 100000

static bool is_of_same_host(const struct wh_address *a, const struct wh_address *b)
{
	size_t bytes = a->family == WH_IPV6 ? IPV6_PREFIX_BYTES : sizeof(a->ip);

	return a->family == b->family && memcmp(a->ip, b->ip, bytes) == 0;
}

static bool may_begin(struct wh_greeter *greeter, uint64_t now_tsc, const struct wh_address *peer)
{
	uint64_t each_tsc = greeter->config.hz / greeter->config.per_second;
	uint32_t count = 0;

	for (uint32_t i = 0; i < greeter->config.guests; i++)
		count += greeter->guest[i].used && greeter->guest[i].came &&
			 is_of_same_host(&greeter->guest[i].peer, peer);
	if (count >= greeter->config.guests_of_address ||
		greeter->tokens_tsc > now_tsc + BURST * each_tsc)
		return false;
	greeter->tokens_tsc = wh_max_u64(greeter->tokens_tsc, now_tsc) + each_tsc;
	return true;
}

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

/*
 * A free place, or that of the peer's greeting that began first and is past its grace; NULL: none.
 */
static struct wh_guest *find_place(struct wh_greeter *greeter, uint64_t now_tsc)
{
	struct wh_guest *oldest = NULL;

	for (uint32_t i = 0; i < greeter->config.guests; i++) {
		struct wh_guest *guest = &greeter->guest[i];

		if (!guest->used)
			return guest;
		if (guest->came && (oldest == NULL || guest->began_tsc < oldest->began_tsc))
			oldest = guest;
	}
	if (oldest == NULL || now_tsc - oldest->began_tsc < oldest->grace_tsc)
		return NULL;
	greeter->stats.crowded_out += !oldest->over;
	wh_guest_end(greeter, oldest);
	return oldest;
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
	struct wh_guest *guest = NULL;

	if (!came || may_begin(greeter, now_tsc, &letter->peer))
		guest = find_place(greeter, now_tsc);
	if (guest == NULL)
		return NULL;
	*guest = (struct wh_guest){
		.came = came,
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

void wh_guest_abandon(struct wh_greeter *greeter, const struct wh_address *peer)
{
	for (uint32_t i = 0; i < greeter->config.guests; i++) {
		struct wh_guest *guest = &greeter->guest[i];

		if (guest->used && !guest->came && !guest->over &&
			wh_address_equal(&guest->peer, peer))
			wh_guest_end(greeter, guest);
	}
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
