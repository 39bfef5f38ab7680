/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Cookies that arrive for our own handshakes. A cookie begins the handshake; one with WH_FLAG_LATER
 * says that the peer has no place for it.
 */

#include <string.h>

#include "base/clock.h"
#include "trust/pending.h"

static void abandon(struct wh_handshakes *handshakes, const struct wh_address *peer)
{
	for (uint32_t i = 0; i < handshakes->config.n_pending; i++) {
		struct wh_pending *pending = &handshakes->pending[i];

		if (pending->used && !pending->came && !pending->over &&
			wh_address_equal(&pending->peer, peer)) {
			wh_pending_give_up(
				handshakes, pending, "a new handshake with the peer began");
			wh_pending_end(handshakes, pending);
		}
	}
}

/* Begins the handshake with the cookie; later cookies are ignored. */
void wh_cookies_take(struct wh_handshakes *handshakes, uint64_t now_tsc,
	const struct wh_handshake_datagram *datagram, const struct wh_cookie *packet)
{
	struct wh_crypto crypto = {.handshake = packet->handshake};
	uint64_t asked_tsc;

	memcpy(crypto.cookie, packet->cookie, sizeof(crypto.cookie));
	if (!wh_known_peer_takes(handshakes, &datagram->peer, packet, &asked_tsc)) {
		handshakes->stats.bad_datagrams++;
		return;
	}

	struct wh_handshake_datagram first = *datagram;

	abandon(handshakes, &datagram->peer);
	first.rtt_us = (uint32_t)wh_tsc_to_us(handshakes->config.hz, now_tsc - asked_tsc);

	struct wh_pending *pending = wh_pending_begin(handshakes, now_tsc, &first, &crypto, false);

	if (pending == NULL) {
		wh_known_peer_lost(handshakes, &datagram->peer, now_tsc);
		return;
	}
	wh_handshake_put(&pending->handshake, NULL, 0);
	wh_pending_step(handshakes, pending, now_tsc);
}

void wh_cookies_take_told(struct wh_handshakes *handshakes, uint64_t now_tsc)
{
	const struct wh_told_cookie *told = &handshakes->config.told;
	const struct wh_handshake_datagram from = {.peer = told->peer};
	struct wh_cookie packet = {
		.handshake = wh_handshake_number(handshakes->config.key, &told->peer)};

	memcpy(packet.cookie, told->cookie, sizeof(packet.cookie));
	wh_cookies_take(handshakes, now_tsc, &from, &packet);
}

/* Our handshake with that cookie, if it is still going on. */
static struct wh_pending *own_pending(struct wh_handshakes *handshakes,
	const struct wh_address *peer, const struct wh_cookie *packet)
{
	for (uint32_t i = 0; i < handshakes->config.n_pending; i++) {
		struct wh_pending *pending = &handshakes->pending[i];

		if (pending->used && !pending->came && !pending->over &&
			pending->number == packet->handshake &&
			memcmp(pending->cookie, packet->cookie, sizeof(pending->cookie)) == 0 &&
			wh_address_equal(&pending->peer, peer))
			return pending;
	}
	return NULL;
}

/*
 * The peer has no place for our handshake, or was restarted. Anybody on the path may have forged
 * this packet, but could have stopped the handshake anyway.
 */
void wh_cookies_put_off(struct wh_handshakes *handshakes, uint64_t now_tsc,
	const struct wh_handshake_datagram *datagram, const struct wh_cookie *packet)
{
	struct wh_pending *pending = own_pending(handshakes, &datagram->peer, packet);

	if (pending == NULL) {
		handshakes->stats.bad_datagrams++;
		return;
	}
	wh_pending_give_up(handshakes, pending, "the peer has no place for it");
	wh_known_peer_lost(handshakes, &datagram->peer, now_tsc);
	wh_pending_end(handshakes, pending);
	wh_known_peer_wait(handshakes, &datagram->peer, now_tsc);
}
