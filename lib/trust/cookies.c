/* SPDX-License-Identifier: BSD-3-Clause */

/* Cookies for greetings of ours: one begins a greeting, or says that the peer has no room. */

#include <string.h>

#include "base/clock.h"
#include "trust/guest.h"

static void abandon(struct wh_greeter *greeter, const struct wh_address *peer)
{
	for (uint32_t i = 0; i < greeter->config.guests; i++) {
		struct wh_guest *guest = &greeter->guest[i];

		if (guest->used && !guest->came && !guest->over &&
			wh_address_equal(&guest->peer, peer)) {
			wh_guest_give_up(greeter, guest, "the peer was greeted anew");
			wh_guest_end(greeter, guest);
		}
	}
}

/* Begins the greeting with the cookie; later cookies are ignored. */
void wh_cookies_take(struct wh_greeter *greeter, uint64_t now_tsc, const struct wh_letter *letter,
	const struct wh_cookie *packet)
{
	struct wh_crypto crypto = {.greeting = packet->greeting};
	uint64_t asked_tsc;

	memcpy(crypto.cookie, packet->cookie, sizeof(crypto.cookie));
	if (!wh_acquaintance_takes(greeter, &letter->peer, packet, &asked_tsc)) {
		greeter->stats.bad_letters++;
		return;
	}

	struct wh_letter first = *letter;

	abandon(greeter, &letter->peer);
	first.rtt_us = (uint32_t)wh_tsc_to_us(greeter->config.hz, now_tsc - asked_tsc);

	struct wh_guest *guest = wh_guest_begin(greeter, now_tsc, &first, &crypto, false);

	if (guest == NULL) {
		wh_acquaintance_lost(greeter, &letter->peer, now_tsc);
		return;
	}
	wh_greeting_put(&guest->greeting, NULL, 0);
	wh_guest_step(greeter, guest, now_tsc);
}

/* Our greeting with that cookie, if it is still going on. */
static struct wh_guest *own_guest(
	struct wh_greeter *greeter, const struct wh_address *peer, const struct wh_cookie *packet)
{
	for (uint32_t i = 0; i < greeter->config.guests; i++) {
		struct wh_guest *guest = &greeter->guest[i];

		if (guest->used && !guest->came && !guest->over &&
			guest->number == packet->greeting &&
			memcmp(guest->cookie, packet->cookie, sizeof(guest->cookie)) == 0 &&
			wh_address_equal(&guest->peer, peer))
			return guest;
	}
	return NULL;
}

/*
 * The peer has no place for our greeting, or has begun anew. Anybody on the path may say so, who
 * could have stopped it anyway.
 */
void wh_cookies_put_off(struct wh_greeter *greeter, uint64_t now_tsc,
	const struct wh_letter *letter, const struct wh_cookie *packet)
{
	struct wh_guest *guest = own_guest(greeter, &letter->peer, packet);

	if (guest == NULL) {
		greeter->stats.bad_letters++;
		return;
	}
	wh_guest_give_up(greeter, guest, "the peer has no place for it");
	wh_acquaintance_lost(greeter, &letter->peer, now_tsc);
	wh_guest_end(greeter, guest);
	wh_acquaintance_wait(greeter, &letter->peer, now_tsc);
}
