/* SPDX-License-Identifier: BSD-3-Clause */
#include "cipher.h"

#include <string.h>

#include "base/assert.h"
#include "nonces.h"
#include "seal/gcm.h"

/* Keys that are in use at once: of two ends, their sessions and what is closed by SAs. */
#define KEYS_MAX 4096

/* Linked in the place of the library's: every key of a seal or an SA is begun by it. */
const struct wh_gcm_unit *__real_wh_gcm_unit(void);
const struct wh_gcm_unit *__wrap_wh_gcm_unit(void);

/* Where a key lies, and its bytes: those of the last one that began there. */
static struct {
	const struct wh_gcm_key *key;
	uint8_t bytes[WH_GCM_KEY_BYTES_MAX];
} begun[KEYS_MAX];

static uint32_t place_of(const struct wh_gcm_key *key)
{
	uint32_t at = (uint32_t)((uintptr_t)key / 64 * UINT64_C(0x9e3779b97f4a7c15) >> 52);

	for (uint32_t i = 0; i < KEYS_MAX; i++, at = (at + 1) % KEYS_MAX)
		if (begun[at].key == NULL || begun[at].key == key)
			return at;
	WH_ASSERT(false);
	return 0;
}

static bool begin(struct wh_gcm_key *key, const uint8_t *bytes)
{
	uint32_t at = place_of(key);

	begun[at].key = key;
	memset(begun[at].bytes, 0, sizeof(begun[at].bytes));
	memcpy(begun[at].bytes, bytes, key->cipher == WH_CIPHER_AES_256_GCM ? 32 : 16);
	return __real_wh_gcm_unit()->begin(key, bytes);
}

static void end(struct wh_gcm_key *key)
{
	if (__real_wh_gcm_unit()->end != NULL)
		__real_wh_gcm_unit()->end(key);
}

static void encrypt(struct wh_gcm_key *key, const struct wh_gcm_message *message, uint8_t *tag)
{
	uint32_t at = place_of(key);

	WH_ASSERT(begun[at].key == key);
	wh_nonces_note(
		begun[at].bytes, sizeof(begun[at].bytes), message->nonce, WH_GCM_NONCE_BYTES);
	__real_wh_gcm_unit()->encrypt(key, message, tag);
}

static bool decrypt(
	struct wh_gcm_key *key, const struct wh_gcm_message *message, const uint8_t *tag)
{
	return __real_wh_gcm_unit()->decrypt(key, message, tag);
}

const struct wh_gcm_unit *__wrap_wh_gcm_unit(void)
{
	static const struct wh_gcm_unit noting = {"noting", begin, end, encrypt, decrypt};

	return &noting;
}

void wh_cipher_forget(void)
{
	memset(begun, 0, sizeof(begun));
	wh_nonces_clear();
}

void wh_cipher_bind(struct wh_sadb sadb[2], struct wh_sa *sa[2], uint64_t seed)
{
	uint32_t number[2];

	for (uint32_t i = 0; i < 2; i++) {
		int rc = wh_sadb_init(&sadb[i], WH_SA_PLACES_MIN);

		WH_ASSERT(rc == 0);
		number[i] = wh_sadb_reserve(&sadb[i], (uint32_t)(seed >> 16 * i));
	}
	for (uint32_t i = 0; i < 2; i++) {
		struct wh_sa_config config = {
			.own_identity = {(uint8_t)(1 + i)},
			.peer_identity = {(uint8_t)(2 - i)},
			.peer_number = number[!i],
			.cipher = seed % 4 == 0 ? WH_CIPHER_AES_256_GCM : WH_CIPHER_AES_128_GCM,
			.asked = i == 0,
		};

		memcpy(config.secret, &seed, sizeof(seed));
		sa[i] = wh_sadb_fill(&sadb[i], number[i], &config);
		WH_ASSERT(sa[i] != NULL);
	}
}
