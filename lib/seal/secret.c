/* SPDX-License-Identifier: BSD-3-Clause */
#include "seal/secret.h"


#include <sys/mman.h>

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/params.h>

#include "base/assert.h"

void *wh_secret_alloc(size_t bytes)
{
	WH_ASSERT(bytes > 0);

	void *memory =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return NULL;
	if (madvise(memory, bytes, MADV_DONTDUMP) != 0) {
		munmap(memory, bytes);
		return NULL;
	}
	/*
	 * Pages are locked when touched, since a table is mostly empty. Without the right to lock
	 * they may be swapped.
	 */
	(void)mlock2(memory, bytes, MLOCK_ONFAULT);
	return memory;
}

void wh_secret_wipe(void *memory, size_t bytes)
{
	OPENSSL_cleanse(memory, bytes);
}

void wh_secret_free(void *memory, size_t bytes)
{
	if (memory == NULL)
		return;
	wh_secret_wipe(memory, bytes);
	munmap(memory, bytes);
}

/* Asserts: a few hundred bytes of memory are always available, and half a key is of no use. */
static void derive(int mode, OSSL_PARAM *more, uint8_t *to, size_t to_bytes)
{
	OSSL_PARAM params[] = {
		OSSL_PARAM_construct_int(OSSL_KDF_PARAM_MODE, &mode),
		OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, (char *)"SHA256", 0),
		more[0],
		more[1],
		OSSL_PARAM_construct_end(),
	};
	EVP_KDF *kdf = EVP_KDF_fetch(NULL, "HKDF", NULL);
	EVP_KDF_CTX *context = EVP_KDF_CTX_new(kdf);

	WH_ASSERT(kdf != NULL && context != NULL);

	int done = EVP_KDF_derive(context, to, to_bytes, params);

	WH_ASSERT(done == 1);
	EVP_KDF_CTX_free(context);
	EVP_KDF_free(kdf);
}

void wh_hkdf_extract(uint8_t secret[WH_SECRET_BYTES], const void *salt, size_t salt_bytes,
	const void *from, size_t from_bytes)
{
	OSSL_PARAM params[] = {
		OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_SALT, (void *)salt, salt_bytes),
		OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, (void *)from, from_bytes),
	};

	derive(EVP_KDF_HKDF_MODE_EXTRACT_ONLY, params, secret, WH_SECRET_BYTES);
}

void wh_hkdf_expand(uint8_t *to, size_t to_bytes, const uint8_t secret[WH_SECRET_BYTES],
	const void *purpose, size_t purpose_bytes)
{
	OSSL_PARAM params[] = {
		OSSL_PARAM_construct_octet_string(
			OSSL_KDF_PARAM_KEY, (void *)secret, WH_SECRET_BYTES),
		OSSL_PARAM_construct_octet_string(
			OSSL_KDF_PARAM_INFO, (void *)purpose, purpose_bytes),
	};

	derive(EVP_KDF_HKDF_MODE_EXPAND_ONLY, params, to, to_bytes);
}

void wh_sha256(uint8_t digest[32], const void *bytes, size_t length)
{
	size_t digest_bytes = 0;
	int done = EVP_Q_digest(NULL, "SHA256", NULL, bytes, length, digest, &digest_bytes);

	WH_ASSERT(done == 1 && digest_bytes == 32);
}
