/* SPDX-License-Identifier: BSD-3-Clause */
#include "cipher.h"

#include <string.h>
#include <xxhash.h>

#include "nonces.h"

#define KEY 7

/* Of one direction. */
struct state {
	uint64_t key;
};

static bool begin(
	struct wh_seal *seal, const struct wh_seal_way *way, const void *secret, void *memory)
{
	const uint64_t message[] = {way->token, way->lci, way->to_acceptor};

	(void)secret;
	(void)memory;
	seal->key = KEY;
	seal->keys = 1;
	((struct state *)seal->state)->key = XXH3_64bits_withSeed(message, sizeof(message), 1);
	return true;
}

static void nonce_of(const uint8_t *head, uint64_t nonce[2])
{
	bool data = head[1] == WH_PACKET_DATA || head[1] == WH_PACKET_REPAIR;

	nonce[0] = head[1];
	memcpy(&nonce[1], head + (data ? 16 : 8), sizeof(nonce[1]));
}

static void apply(uint64_t key, const uint8_t *head, const uint8_t *from, size_t bytes, uint8_t *to)
{
	uint64_t block[3] = {0};
	uint64_t stream = 0;

	nonce_of(head, block);
	for (size_t i = 0; i < bytes; i++) {
		if (i % 8 == 0) {
			block[2] = i;
			stream = XXH3_64bits_withSeed(block, sizeof(block), key);
		}
		to[i] = from[i] ^ (uint8_t)(stream >> i % 8 * 8);
	}
}

static XXH128_hash_t prove(uint64_t key, const uint8_t *head, const uint8_t *body, size_t bytes)
{
	uint64_t of_body = XXH3_64bits_withSeed(body, bytes, key);

	return XXH3_128bits_withSeed(head, WH_TAG_OFFSET, of_body ^ key);
}

static void close_body(const struct wh_seal *seal, uint8_t *head, const uint8_t *body,
	size_t body_bytes, uint8_t *to)
{
	const struct state *state = (const struct state *)seal->state;
	uint64_t nonce[2];

	nonce_of(head, nonce);
	wh_nonces_note((const uint8_t *)&state->key, sizeof(state->key), (const uint8_t *)nonce,
		sizeof(nonce));
	apply(state->key, head, body, body_bytes, to);

	XXH128_hash_t tag = prove(state->key, head, to, body_bytes);

	memcpy(head + WH_TAG_OFFSET, &tag, WH_TAG_BYTES);
}

static bool open_body(const struct wh_seal *seal, const uint8_t *head, const uint8_t *body,
	size_t body_bytes, uint8_t *to)
{
	const struct state *state = (const struct state *)seal->state;
	XXH128_hash_t tag = prove(state->key, head, body, body_bytes);
	bool agrees = memcmp(head + WH_TAG_OFFSET, &tag, WH_TAG_BYTES) == 0;

	apply(state->key, head, body, body_bytes, to);
	return agrees;
}

static const struct wh_seal_ops cipher = {
	.name = "cipher",
	.encrypts = true,
	.begin = begin,
	.close = close_body,
	.open = open_body,
};

void wh_cipher_put(struct wh_session_config *config)
{
	config->seal = &cipher;
}
