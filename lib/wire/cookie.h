/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * The cookie of ACCEPT: proves that the initiator receives at the address it sends from, before
 * the listener keeps any state. Eight bytes of time (listener's clock, microseconds), then
 * SipHash-2-4 (Aumasson and Bernstein, 2012) under the listener's secret over the time, the
 * peer's address, our queue, both connection IDs and the open parameters.
 */

#include <stdbool.h>
#include <stdint.h>

#include "wire/encap.h"
#include "wire/packet.h"

#define WH_SIPHASH_KEY_BYTES 16

uint64_t wh_siphash24(const uint8_t key[WH_SIPHASH_KEY_BYTES], const void *bytes, size_t length);

void wh_cookie_make(uint8_t cookie[WH_COOKIE_BYTES], const uint8_t key[WH_SIPHASH_KEY_BYTES],
	uint64_t now_us, const struct wh_address *peer, uint32_t queue, uint32_t acceptor_cid,
	const struct wh_open_params *params);

/*
 * The token of a connection opened with this cookie (seal/seal.h): its proof, which only the
 * initiator gets to know.
 */
uint64_t wh_cookie_token(const uint8_t cookie[WH_COOKIE_BYTES]);

/* When the cookie was made, by the listener's clock. */
uint64_t wh_cookie_made_us(const uint8_t cookie[WH_COOKIE_BYTES]);

/*
 * True if made with this key for this peer and these parameters, at most lifetime_us ago; *age_us
 * is then its age.
 */
bool wh_cookie_check(const uint8_t cookie[WH_COOKIE_BYTES], const uint8_t key[WH_SIPHASH_KEY_BYTES],
	uint64_t now_us, uint64_t lifetime_us, const struct wh_address *peer, uint32_t queue,
	uint32_t acceptor_cid, const struct wh_open_params *params, uint64_t *age_us);

/* Domain separation: one key makes all of these, and none is valid as another. */
enum wh_cookie_kind {
	WH_COOKIE_OUR_HANDSHAKE = 0x6f757273,
	WH_COOKIE_PEERS_HANDSHAKE = 0x70656572,
	WH_COOKIE_OFFER = 0x6f666672,
};

/*
 * Identifies our handshake to a peer (struct wh_ask). Others cannot guess it, and it is recognized
 * without memory.
 */
uint64_t wh_handshake_number(
	const uint8_t key[WH_SIPHASH_KEY_BYTES], const struct wh_address *peer);

/*
 * The cookie of a peer's handshake, or of a session that is offered without an OPEN, whose
 * parameters come with CONFIRM. It is bound to the peer, one queue, and `number`: that of the
 * handshake, or the connection ID.
 */
void wh_stranger_cookie_make(uint8_t cookie[WH_COOKIE_BYTES],
	const uint8_t key[WH_SIPHASH_KEY_BYTES], enum wh_cookie_kind kind, uint64_t now_us,
	const struct wh_address *peer, uint32_t queue, uint64_t number);

/* As wh_cookie_check. */
bool wh_stranger_cookie_check(const uint8_t cookie[WH_COOKIE_BYTES],
	const uint8_t key[WH_SIPHASH_KEY_BYTES], enum wh_cookie_kind kind, uint64_t now_us,
	uint64_t lifetime_us, const struct wh_address *peer, uint32_t queue, uint64_t number,
	uint64_t *age_us);
