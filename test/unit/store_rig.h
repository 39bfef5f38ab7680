/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_TEST_STORE_RIG_H
#define WH_TEST_STORE_RIG_H

/* What the tests of lib/store share: chunks between two FIFOs, a folder, files of known bytes. */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/fifo.h"
#include "base/prng.h"
#include "store/store.h"
#include "unit.h"

#define RIG_CHUNKS_MAX 32

/* Polls until something is over; a hang fails the test instead of stopping the suite. */
#define RIG_POLLS_MAX 20000000

/* `in` feeds the process under test, `out` is what it sends. */
struct rig {
	struct wh_fifo in;
	struct wh_fifo out;
	struct wh_chunk chunks[RIG_CHUNKS_MAX];
	uint32_t chunk_bytes;
	char folder[PATH_MAX / 2];
};

static inline void rig_init(struct rig *rig, uint32_t chunk_bytes, uint32_t chunks, uint32_t out)
{
	const char *tmp = getenv("TMPDIR");

	CU_ASSERT_FATAL(chunks <= RIG_CHUNKS_MAX);
	memset(rig, 0, sizeof(*rig));
	rig->chunk_bytes = chunk_bytes;
	CU_ASSERT_FATAL(wh_fifo_init(&rig->in, RIG_CHUNKS_MAX) == 0);
	CU_ASSERT_FATAL(wh_fifo_init(&rig->out, out) == 0);
	for (uint32_t i = 0; i < chunks; i++) {
		rig->chunks[i].data = aligned_alloc(WH_CHUNK_ALIGN, chunk_bytes);
		rig->chunks[i].slot = i;
		CU_ASSERT_FATAL(rig->chunks[i].data != NULL);
		memset(rig->chunks[i].data, 0xa5, chunk_bytes);
	}
	snprintf(rig->folder, sizeof(rig->folder), "%s/wh_store_XXXXXX", tmp ? tmp : "/tmp");
	CU_ASSERT_FATAL(mkdtemp(rig->folder) != NULL);
}

/* Names in the folder, without "." and "..". */
static inline int rig_count_files(const struct rig *rig)
{
	DIR *folder = opendir(rig->folder);
	int count = 0;

	CU_ASSERT_FATAL(folder != NULL);
	for (struct dirent *entry; (entry = readdir(folder)) != NULL;)
		count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
	closedir(folder);
	return count;
}

static inline void rig_path(const struct rig *rig, const char *name, char path[PATH_MAX])
{
	snprintf(path, PATH_MAX, "%s/%s", rig->folder, name);
}

static inline void rig_free(struct rig *rig)
{
	DIR *folder = opendir(rig->folder);
	char path[PATH_MAX];

	for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		rig_path(rig, entry->d_name, path);
		remove(path);
	}
	closedir(folder);
	rmdir(rig->folder);
	for (uint32_t i = 0; i < RIG_CHUNKS_MAX; i++)
		free(rig->chunks[i].data);
	wh_fifo_free(&rig->in);
	wh_fifo_free(&rig->out);
}

/* Repeatable bytes without zero runs; one byte more is allocated than asked for (0 is a size). */
static inline uint8_t *rig_content(uint64_t bytes, uint64_t seed)
{
	uint8_t *content = malloc(bytes + 8);
	struct wh_prng prng;

	CU_ASSERT_FATAL(content != NULL);
	wh_prng_init(&prng, seed);
	for (uint64_t at = 0; at < bytes; at += 8) {
		uint64_t word = wh_prng_u64(&prng) | 1;

		memcpy(content + at, &word, 8);
	}
	return content;
}

static inline void rig_write_file(
	const struct rig *rig, const char *name, const uint8_t *content, uint64_t bytes)
{
	char path[PATH_MAX];

	rig_path(rig, name, path);

	FILE *file = fopen(path, "wb");

	CU_ASSERT_FATAL(file != NULL);
	CU_ASSERT_FATAL(fwrite(content, 1, bytes, file) == bytes);
	CU_ASSERT_FATAL(fclose(file) == 0);
}

/* Whether the file holds these bytes and no others. */
static inline bool rig_file_equals(
	const struct rig *rig, const char *name, const uint8_t *content, uint64_t bytes)
{
	char path[PATH_MAX];

	rig_path(rig, name, path);

	FILE *file = fopen(path, "rb");

	if (file == NULL)
		return false;

	uint8_t *have = malloc(bytes + 1);
	bool equal = fread(have, 1, bytes + 1, file) == bytes && memcmp(have, content, bytes) == 0;

	fclose(file);
	free(have);
	return equal;
}

/* From the library's own one-shot function, not from the code under test. */
static inline struct wh_digest rig_digest(const uint8_t *content, uint64_t bytes)
{
	struct wh_digest digest;

	XXH128_canonicalFromHash((XXH128_canonical_t *)digest.bytes, XXH3_128bits(content, bytes));
	return digest;
}

/* The sizes at which blocks and chunks begin and end. */
#define RIG_SIZES(chunk)                                                                           \
	{                                                                                          \
		0, 1, 4095, 4096, 4097, (chunk)-1, (chunk), (chunk) + 1, 10 * (chunk) + 123        \
	}

static const uint32_t rig_chunk_bytes[] = {65536, 1 << 20};

#define RIG_COUNT(array) (sizeof(array) / sizeof((array)[0]))

#endif
