/* SPDX-License-Identifier: BSD-3-Clause */
#include "file/file_checksum.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>
#include <openssl/evp.h>

#include "base/assert.h"
#include "file/digest.h"

#define PIECE_BYTES ((size_t)1 << 20)

static const char *const names[] = {
	[WH_CHECKSUM_XXH3] = "xxh3",
	[WH_CHECKSUM_ADLER32] = "adler32",
	[WH_CHECKSUM_CRC32C] = "crc32c",
	[WH_CHECKSUM_MD5] = "md5",
};

struct sum {
	struct wh_hasher hasher;
	enum wh_checksum kind;
	uint32_t word;
	EVP_MD_CTX *md5;
};

bool wh_checksum_find(const char *name, enum wh_checksum *kind)
{
	for (uint32_t i = 0; i < WH_CHECKSUMS; i++) {
		if (strcmp(names[i], name) != 0)
			continue;
		*kind = (enum wh_checksum)i;
		return true;
	}
	return false;
}

/* False: this OpenSSL has no MD5. */
static bool begin(struct sum *sum)
{
	wh_hasher_init(&sum->hasher);
	sum->word = sum->kind == WH_CHECKSUM_ADLER32 ? 1 : UINT32_MAX;
	sum->md5 = sum->kind == WH_CHECKSUM_MD5 ? EVP_MD_CTX_new() : NULL;
	return sum->kind != WH_CHECKSUM_MD5 ||
	       (sum->md5 != NULL && EVP_DigestInit_ex(sum->md5, EVP_md5(), NULL) == 1);
}

static void add(struct sum *sum, uint8_t *bytes, size_t count)
{
	switch (sum->kind) {
	case WH_CHECKSUM_ADLER32:
		sum->word = isal_adler32(sum->word, bytes, count);
		break;
	case WH_CHECKSUM_CRC32C:
		sum->word = crc32_iscsi(bytes, (int)count, sum->word);
		break;
	case WH_CHECKSUM_MD5:
		EVP_DigestUpdate(sum->md5, bytes, count);
		break;
	default:
		wh_hasher_add(&sum->hasher, bytes, count);
	}
}

static void end(struct sum *sum, char text[WH_CHECKSUM_TEXT_BYTES])
{
	struct wh_digest digest;
	unsigned int bytes = 0;

	switch (sum->kind) {
	case WH_CHECKSUM_ADLER32:
		snprintf(text, WH_CHECKSUM_TEXT_BYTES, "%08x", sum->word);
		return;
	case WH_CHECKSUM_CRC32C:
		snprintf(text, WH_CHECKSUM_TEXT_BYTES, "%08x", ~sum->word);
		return;
	case WH_CHECKSUM_MD5:
		EVP_DigestFinal_ex(sum->md5, digest.bytes, &bytes);
		WH_ASSERT(bytes == sizeof(digest.bytes));
		break;
	default:
		wh_hasher_digest(&sum->hasher, &digest);
	}
	wh_digest_text(&digest, text);
}

static int read_all(
	struct sum *sum, int fd, uint64_t bytes, const _Atomic bool *stop, uint8_t *piece)
{
	while (bytes > 0) {
		if (stop != NULL && atomic_load(stop))
			return -ECANCELED;

		ssize_t got = read(fd, piece, bytes < PIECE_BYTES ? bytes : PIECE_BYTES);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (got == 0)
			return 0;
		add(sum, piece, (size_t)got);
		bytes -= (uint64_t)got;
	}
	return 0;
}

int wh_checksum_of(int fd, uint64_t bytes, enum wh_checksum kind, const _Atomic bool *stop,
	char text[WH_CHECKSUM_TEXT_BYTES])
{
	struct sum sum = {.kind = kind};
	uint8_t *piece = malloc(PIECE_BYTES);
	int rc = -ENOMEM;

	WH_ASSERT(kind < WH_CHECKSUMS);
	if (piece != NULL)
		rc = begin(&sum) ? read_all(&sum, fd, bytes, stop, piece) : -EOPNOTSUPP;
	if (rc == 0)
		end(&sum, text);
	EVP_MD_CTX_free(sum.md5);
	free(piece);
	return rc;
}
