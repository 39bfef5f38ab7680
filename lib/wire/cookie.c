/* SPDX-License-Identifier: BSD-3-Clause */
#include "wire/cookie.h"

#include <string.h>

#include "base/assert.h"
#include "wire/layout.h"

struct sip {
	uint64_t v0, v1, v2, v3;
};

static uint64_t rotate_left(uint64_t value, unsigned int bits)
{
	return value << bits | value >> (64 - bits);
}

static uint64_t load_le64(const uint8_t *bytes)
{
	uint64_t word;

	memcpy(&word, bytes, sizeof(word));
	return word;
}

/* Figure 2.1 of the paper. */
static void sip_round(struct sip *s)
{
	s->v0 += s->v1;
	s->v2 += s->v3;
	s->v1 = rotate_left(s->v1, 13) ^ s->v0;
	s->v3 = rotate_left(s->v3, 16) ^ s->v2;
	s->v0 = rotate_left(s->v0, 32);
	s->v2 += s->v1;
	s->v0 += s->v3;
	s->v1 = rotate_left(s->v1, 17) ^ s->v2;
	s->v3 = rotate_left(s->v3, 21) ^ s->v0;
	s->v2 = rotate_left(s->v2, 32);
}

static void compress(struct sip *s, uint64_t word)
{
	s->v3 ^= word;
	sip_round(s);
	sip_round(s);
	s->v0 ^= word;
}

uint64_t wh_siphash24(const uint8_t key[WH_SIPHASH_KEY_BYTES], const void *bytes, size_t length)
{
	const uint8_t *at = bytes;
	uint64_t k0 = load_le64(key);
	uint64_t k1 = load_le64(key + 8);
	struct sip s = {
		.v0 = k0 ^ UINT64_C(0x736f6d6570736575),
		.v1 = k1 ^ UINT64_C(0x646f72616e646f6d),
		.v2 = k0 ^ UINT64_C(0x6c7967656e657261),
		.v3 = k1 ^ UINT64_C(0x7465646279746573),
	};

	WH_ASSERT(bytes != NULL || length == 0);

	/* The last word: the remaining bytes, and the length modulo 256 in the top byte. */
	uint64_t last = (uint64_t)length << 56;

	for (; length >= 8; length -= 8, at += 8)
		compress(&s, load_le64(at));
	for (size_t i = 0; i < length; i++)
		last |= (uint64_t)at[i] << 8 * i;
	compress(&s, last);

	s.v2 ^= 0xff;
	for (unsigned int i = 0; i < 4; i++)
		sip_round(&s);
	return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}

struct cookie {
	uint64_t made_us;
	uint64_t proof;
};

static_assert(sizeof(struct cookie) == WH_COOKIE_BYTES, "a cookie is time and proof");

/* Input of the proof, in a fixed order: fields of fixed size, then the name. */
struct proved {
	uint64_t made_us;
	uint8_t family;
	uint8_t ip[16];
	uint16_t port;
	uint32_t queue;
	uint32_t acceptor_cid;
	uint8_t params[WH_PARAMS_BYTES_MAX - WH_HEAD_BYTES];
} __attribute__((packed));

static uint64_t prove(const uint8_t key[WH_SIPHASH_KEY_BYTES], uint64_t made_us,
	const struct wh_address *peer, uint32_t queue, uint32_t acceptor_cid,
	const struct wh_open_params *params)
{
	struct proved proved = {
		.made_us = made_us,
		.family = peer->family,
		.port = peer->port,
		.queue = queue,
		.acceptor_cid = acceptor_cid,
	};

	memcpy(proved.ip, peer->ip, sizeof(proved.ip));

	size_t params_bytes = wh_params_encode(params, proved.params);

	return wh_siphash24(key, &proved, offsetof(struct proved, params) + params_bytes);
}

void wh_cookie_make(uint8_t cookie[WH_COOKIE_BYTES], const uint8_t key[WH_SIPHASH_KEY_BYTES],
	uint64_t now_us, const struct wh_address *peer, uint32_t queue, uint32_t acceptor_cid,
	const struct wh_open_params *params)
{
	struct cookie made = {
		.made_us = now_us,
		.proof = prove(key, now_us, peer, queue, acceptor_cid, params),
	};

	memcpy(cookie, &made, sizeof(made));
}

/* An expired cookie, or one from the future, costs no hash. */
static bool read_in_time(const uint8_t cookie[WH_COOKIE_BYTES], uint64_t now_us,
	uint64_t lifetime_us, struct cookie *made)
{
	memcpy(made, cookie, sizeof(*made));
	return made->made_us <= now_us && now_us - made->made_us <= lifetime_us;
}

bool wh_cookie_check(const uint8_t cookie[WH_COOKIE_BYTES], const uint8_t key[WH_SIPHASH_KEY_BYTES],
	uint64_t now_us, uint64_t lifetime_us, const struct wh_address *peer, uint32_t queue,
	uint32_t acceptor_cid, const struct wh_open_params *params, uint64_t *age_us)
{
	struct cookie made;

	/* One comparison of two registers: its time does not depend on how many bytes agree. */
	if (!read_in_time(cookie, now_us, lifetime_us, &made) ||
		made.proof != prove(key, made.made_us, peer, queue, acceptor_cid, params))
		return false;
	*age_us = now_us - made.made_us;
	return true;
}

uint64_t wh_cookie_token(const uint8_t cookie[WH_COOKIE_BYTES])
{
	return load_le64(cookie + offsetof(struct cookie, proof));
}

uint64_t wh_cookie_made_us(const uint8_t cookie[WH_COOKIE_BYTES])
{
	return load_le64(cookie + offsetof(struct cookie, made_us));
}

static uint64_t prove_stranger(const uint8_t key[WH_SIPHASH_KEY_BYTES], enum wh_cookie_kind kind,
	uint64_t made_us, const struct wh_address *peer, uint32_t queue, uint64_t number)
{
	struct {
		uint64_t kind;
		uint64_t made_us;
		uint64_t number;
		uint64_t queue;
		uint64_t family;
		uint64_t port;
		uint8_t ip[sizeof(peer->ip)];
	} message = {kind, made_us, number, queue, peer->family, peer->port, {0}};

	memcpy(message.ip, peer->ip, sizeof(message.ip));
	return wh_siphash24(key, &message, sizeof(message));
}

uint64_t wh_handshake_number(const uint8_t key[WH_SIPHASH_KEY_BYTES], const struct wh_address *peer)
{
	return prove_stranger(key, WH_COOKIE_OUR_HANDSHAKE, 0, peer, 0, 0);
}

void wh_stranger_cookie_make(uint8_t cookie[WH_COOKIE_BYTES],
	const uint8_t key[WH_SIPHASH_KEY_BYTES], enum wh_cookie_kind kind, uint64_t now_us,
	const struct wh_address *peer, uint32_t queue, uint64_t number)
{
	struct cookie made = {
		.made_us = now_us,
		.proof = prove_stranger(key, kind, now_us, peer, queue, number),
	};

	memcpy(cookie, &made, sizeof(made));
}

bool wh_stranger_cookie_check(const uint8_t cookie[WH_COOKIE_BYTES],
	const uint8_t key[WH_SIPHASH_KEY_BYTES], enum wh_cookie_kind kind, uint64_t now_us,
	uint64_t lifetime_us, const struct wh_address *peer, uint32_t queue, uint64_t number,
	uint64_t *age_us)
{
	struct cookie made;

	if (!read_in_time(cookie, now_us, lifetime_us, &made) ||
		made.proof != prove_stranger(key, kind, made.made_us, peer, queue, number))
		return false;
	*age_us = now_us - made.made_us;
	return true;
}
