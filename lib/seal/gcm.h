/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * AES-GCM (NIST SP 800-38D) with nonces of 12 bytes and tags of 16, by one of two libraries: the
 * vector code of libipsec-mb, or OpenSSL if the CPU does not support that. Both produce the same
 * bytes; one is chosen before main.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "seal/secret.h"

#define WH_GCM_KEY_BYTES_MAX 32
#define WH_GCM_NONCE_BYTES   12
#define WH_GCM_TAG_BYTES     16
#define WH_GCM_STATE_BYTES   1152

/* The cipher of packets under an SA; the numbers are part of the handshake's format. */
enum wh_cipher {
	WH_CIPHER_AES_128_GCM = 1,
	WH_CIPHER_AES_256_GCM = 2,
	WH_CIPHERS = 3,
};

const char *wh_cipher_name(enum wh_cipher cipher);

struct wh_gcm_unit;

/* An expanded key; used by one core at a time. */
struct wh_gcm_key {
	const struct wh_gcm_unit *unit; /* NULL: not begun */
	enum wh_cipher cipher;
	_Alignas(64) uint8_t state[WH_GCM_STATE_BYTES];
};

/* A message: `aad` is authenticated; `from` is encrypted to `to`, which is equal or disjoint. */
struct wh_gcm_message {
	const uint8_t *nonce;
	const uint8_t *aad;
	size_t aad_bytes;
	const uint8_t *from;
	size_t bytes;
	uint8_t *to;
};

struct wh_gcm_unit {
	const char *name;                                            /* for reports */
	bool (*begin)(struct wh_gcm_key *key, const uint8_t *bytes); /* false: no memory */
	void (*end)(struct wh_gcm_key *key);                         /* NULL: wiping is enough */
	void (*encrypt)(struct wh_gcm_key *key, const struct wh_gcm_message *message, uint8_t *tag);
	/* Writes `to` in any case. The time does not depend on the tag. */
	bool (*decrypt)(
		struct wh_gcm_key *key, const struct wh_gcm_message *message, const uint8_t *tag);
};

#define WH_GCM_UNITS 2

/* 0: OpenSSL; 1: libipsec-mb, or NULL if the CPU does not support it. */
const struct wh_gcm_unit *wh_gcm_unit_by(uint32_t number);

/* The unit in use. */
const struct wh_gcm_unit *wh_gcm_unit(void);

/* false: no memory. */
bool wh_gcm_begin(struct wh_gcm_key *key, const struct wh_gcm_unit *unit, enum wh_cipher cipher,
	const uint8_t *bytes);
void wh_gcm_end(struct wh_gcm_key *key); /* wipes it; it need not have begun */

static inline void wh_gcm_encrypt(
	struct wh_gcm_key *key, const struct wh_gcm_message *message, uint8_t *tag)
{
	key->unit->encrypt(key, message, tag);
}

static inline bool wh_gcm_decrypt(
	struct wh_gcm_key *key, const struct wh_gcm_message *message, const uint8_t *tag)
{
	return key->unit->decrypt(key, message, tag);
}

/*
 * A key that is seldom used, in compact form: it is expanded for each packet, by any core at any
 * time. It is to be kept in memory for secrets.
 */
struct wh_gcm_raw {
	uint8_t cipher; /* enum wh_cipher; 0: none */
	uint8_t iv[WH_GCM_NONCE_BYTES];
	uint8_t key[WH_GCM_KEY_BYTES_MAX];
};

/*
 * Derives key and iv for a number from a secret that is used for nothing else. Numbers are
 * independent of each other and may come in any order.
 */
void wh_gcm_derive(struct wh_gcm_raw *raw, enum wh_cipher cipher,
	const uint8_t secret[WH_SECRET_BYTES], uint64_t number);

/*
 * Seals or opens a packet of WH_HEAD_BYTES or more under a raw key: the head is authenticated, the
 * body encrypted; the nonce derives from type and counter in the head (gcm_seal.c). False: no
 * memory, or it does not open.
 */
bool wh_gcm_close_packet(const struct wh_gcm_raw *raw, uint8_t *packet, size_t packet_bytes);
bool wh_gcm_open_packet(const struct wh_gcm_raw *raw, uint8_t *packet, size_t packet_bytes);
