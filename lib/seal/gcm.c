/* SPDX-License-Identifier: BSD-3-Clause */
#include "seal/gcm.h"

#include <assert.h>
#include <string.h>

#include <intel-ipsec-mb.h>
#include <openssl/evp.h>

#include "base/assert.h"

const char *wh_cipher_name(enum wh_cipher cipher)
{
	static const char *const names[WH_CIPHERS] = {
		[WH_CIPHER_AES_128_GCM] = "aes-128-gcm",
		[WH_CIPHER_AES_256_GCM] = "aes-256-gcm",
	};

	WH_ASSERT(cipher > 0 && cipher < WH_CIPHERS);
	return names[cipher];
}

/* Used only as a table of functions. These depend on their arguments alone. */
static IMB_MGR *manager;

struct vectors {
	struct gcm_key_data key;
	struct gcm_context_data context;
};

static_assert(sizeof(struct vectors) <= WH_GCM_STATE_BYTES, "it has room");

static bool vectors_begin(struct wh_gcm_key *key, const uint8_t *bytes)
{
	struct vectors *vectors = (struct vectors *)key->state;

	if (key->cipher == WH_CIPHER_AES_256_GCM)
		manager->gcm256_pre(bytes, &vectors->key);
	else
		manager->gcm128_pre(bytes, &vectors->key);
	return true;
}

static void vectors_encrypt(
	struct wh_gcm_key *key, const struct wh_gcm_message *message, uint8_t *tag)
{
	struct vectors *vectors = (struct vectors *)key->state;
	aes_gcm_enc_dec_t encrypt =
		key->cipher == WH_CIPHER_AES_256_GCM ? manager->gcm256_enc : manager->gcm128_enc;

	encrypt(&vectors->key, &vectors->context, message->to, message->from, message->bytes,
		message->nonce, message->aad, message->aad_bytes, tag, WH_GCM_TAG_BYTES);
}

static bool vectors_decrypt(
	struct wh_gcm_key *key, const struct wh_gcm_message *message, const uint8_t *tag)
{
	struct vectors *vectors = (struct vectors *)key->state;
	aes_gcm_enc_dec_t decrypt =
		key->cipher == WH_CIPHER_AES_256_GCM ? manager->gcm256_dec : manager->gcm128_dec;
	uint64_t made[2], came[2];

	static_assert(sizeof(made) == WH_GCM_TAG_BYTES, "a tag is two words");
	decrypt(&vectors->key, &vectors->context, message->to, message->from, message->bytes,
		message->nonce, message->aad, message->aad_bytes, (uint8_t *)made, sizeof(made));
	memcpy(came, tag, sizeof(came));
	return ((made[0] ^ came[0]) | (made[1] ^ came[1])) == 0;
}

/* OpenSSL keeps a copy of the key in its own memory, and wipes it when it is freed. */
struct openssl {
	EVP_CIPHER_CTX *encrypt;
	EVP_CIPHER_CTX *decrypt;
};

static void openssl_end(struct wh_gcm_key *key)
{
	struct openssl *openssl = (struct openssl *)key->state;

	EVP_CIPHER_CTX_free(openssl->encrypt);
	EVP_CIPHER_CTX_free(openssl->decrypt);
}

static bool openssl_begin(struct wh_gcm_key *key, const uint8_t *bytes)
{
	struct openssl *openssl = (struct openssl *)key->state;
	const EVP_CIPHER *cipher =
		key->cipher == WH_CIPHER_AES_256_GCM ? EVP_aes_256_gcm() : EVP_aes_128_gcm();

	openssl->encrypt = EVP_CIPHER_CTX_new();
	openssl->decrypt = EVP_CIPHER_CTX_new();
	if (openssl->encrypt != NULL && openssl->decrypt != NULL &&
		EVP_EncryptInit_ex(openssl->encrypt, cipher, NULL, bytes, NULL) == 1 &&
		EVP_DecryptInit_ex(openssl->decrypt, cipher, NULL, bytes, NULL) == 1)
		return true;
	openssl_end(key);
	return false;
}

static void openssl_encrypt(
	struct wh_gcm_key *key, const struct wh_gcm_message *message, uint8_t *tag)
{
	EVP_CIPHER_CTX *context = ((struct openssl *)key->state)->encrypt;
	uint8_t none[WH_GCM_TAG_BYTES];
	int bytes = 0;
	bool done = EVP_EncryptInit_ex(context, NULL, NULL, NULL, message->nonce) == 1 &&
		    EVP_EncryptUpdate(
			    context, NULL, &bytes, message->aad, (int)message->aad_bytes) == 1 &&
		    (message->bytes == 0 || EVP_EncryptUpdate(context, message->to, &bytes,
						    message->from, (int)message->bytes) == 1) &&
		    EVP_EncryptFinal_ex(context, none, &bytes) == 1 &&
		    EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_GCM_GET_TAG, WH_GCM_TAG_BYTES, tag) == 1;

	WH_ASSERT(done);
}

/* OpenSSL compares tags in constant time. */
static bool openssl_decrypt(
	struct wh_gcm_key *key, const struct wh_gcm_message *message, const uint8_t *tag)
{
	EVP_CIPHER_CTX *context = ((struct openssl *)key->state)->decrypt;
	uint8_t none[WH_GCM_TAG_BYTES];
	int bytes = 0;
	bool done = EVP_DecryptInit_ex(context, NULL, NULL, NULL, message->nonce) == 1 &&
		    EVP_DecryptUpdate(
			    context, NULL, &bytes, message->aad, (int)message->aad_bytes) == 1 &&
		    (message->bytes == 0 || EVP_DecryptUpdate(context, message->to, &bytes,
						    message->from, (int)message->bytes) == 1) &&
		    EVP_CIPHER_CTX_ctrl(
			    context, EVP_CTRL_GCM_SET_TAG, WH_GCM_TAG_BYTES, (void *)tag) == 1;

	WH_ASSERT(done);
	return EVP_DecryptFinal_ex(context, none, &bytes) == 1;
}

static const struct wh_gcm_unit openssl_unit = {
	.name = "openssl",
	.begin = openssl_begin,
	.end = openssl_end,
	.encrypt = openssl_encrypt,
	.decrypt = openssl_decrypt,
};

static struct wh_gcm_unit vectors_unit = {
	.begin = vectors_begin,
	.encrypt = vectors_encrypt,
	.decrypt = vectors_decrypt,
};

static const char *vectors_name(const IMB_MGR *of, IMB_ARCH arch)
{
	if (arch == IMB_ARCH_AVX512)
		return of->features & IMB_FEATURE_VAES ? "ipsec-mb vaes" : "ipsec-mb avx512";
	return arch == IMB_ARCH_AVX2 ? "ipsec-mb avx2"
				     : (arch == IMB_ARCH_AVX ? "ipsec-mb avx" : "ipsec-mb sse");
}

/*
 * Runs before main. Without AES instructions libipsec-mb is not used: it is slower than OpenSSL,
 * and its time depends on the key.
 */
__attribute__((constructor)) static void choose(void)
{
	const uint64_t wanted = IMB_FEATURE_AESNI | IMB_FEATURE_PCLMULQDQ;
	IMB_MGR *candidate = alloc_mb_mgr(0);
	IMB_ARCH arch = IMB_ARCH_NONE;

	if (candidate == NULL)
		return;
	init_mb_mgr_auto(candidate, &arch);
	if (arch < IMB_ARCH_SSE || (candidate->features & wanted) != wanted) {
		free_mb_mgr(candidate);
		return;
	}
	vectors_unit.name = vectors_name(candidate, arch);
	manager = candidate;
}

const struct wh_gcm_unit *wh_gcm_unit_by(uint32_t number)
{
	WH_ASSERT(number < WH_GCM_UNITS);
	if (number == 0)
		return &openssl_unit;
	return manager != NULL ? &vectors_unit : NULL;
}

const struct wh_gcm_unit *wh_gcm_unit(void)
{
	const struct wh_gcm_unit *vectors = wh_gcm_unit_by(1);

	return vectors != NULL ? vectors : wh_gcm_unit_by(0);
}

bool wh_gcm_begin(struct wh_gcm_key *key, const struct wh_gcm_unit *unit, enum wh_cipher cipher,
	const uint8_t *bytes)
{
	WH_ASSERT(cipher > 0 && cipher < WH_CIPHERS);
	key->unit = unit;
	key->cipher = cipher;
	if (unit->begin(key, bytes))
		return true;
	key->unit = NULL;
	return false;
}

void wh_gcm_end(struct wh_gcm_key *key)
{
	if (key->unit != NULL && key->unit->end != NULL)
		key->unit->end(key);
	wh_secret_wipe(key, sizeof(*key));
}
