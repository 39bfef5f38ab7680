/* SPDX-License-Identifier: BSD-3-Clause */
#include "wire/tag.h"

#include <string.h>

#include <xxh_x86dispatch.h>
#include <xxhash.h>

#include "base/assert.h"
#include "wire/layout.h"
#include "wire/tag_hash.h"

/* Compiled for corei7 the library's inline code has no vectors; its dispatch has those of SSE2. */
static uint64_t hash_base(const uint8_t *head, const uint8_t *body, size_t body_bytes)
{
	return XXH3_64bits_withSeed_dispatch(
		head, WH_TAG_OFFSET, XXH3_64bits_dispatch(body, body_bytes));
}

static uint64_t hash_copy_base(
	const uint8_t *head, const uint8_t *body, size_t body_bytes, uint8_t *to)
{
	memcpy(to, body, body_bytes);
	return hash_base(head, body, body_bytes);
}

static const struct wh_tag_hash base = {"base", hash_base, hash_copy_base};
static const struct wh_tag_hash avx2 = {"avx2", wh_tag_hash_avx2, wh_tag_hash_copy_avx2};
static const struct wh_tag_hash avx512 = {"avx512", wh_tag_hash_avx512, wh_tag_hash_copy_avx512};

static struct wh_tag_hash best = {"base", hash_base, hash_copy_base};

const struct wh_tag_hash *wh_tag_hash_by(uint32_t number)
{
	switch (number) {
	case 0:
		return &base;
	case 1:
		return __builtin_cpu_supports("avx2") ? &avx2 : NULL;
	case 2:
		return __builtin_cpu_supports("avx512f") ? &avx512 : NULL;
	default:
		return NULL;
	}
}

/* Before main: no packet is hashed earlier, and none asks whether it has been done. */
__attribute__((constructor)) static void choose(void)
{
	for (uint32_t number = 0; number < WH_TAG_HASHES; number++)
		if (wh_tag_hash_by(number) != NULL)
			best = *wh_tag_hash_by(number);
}

static void put(uint8_t *bytes, uint64_t hash)
{
	struct wh_wire_head *head = (struct wh_wire_head *)bytes;

	head->hash = rte_cpu_to_le_64(hash) ^ head->token;
}

static bool agrees(const uint8_t *bytes, uint64_t hash)
{
	const struct wh_wire_head *head = (const struct wh_wire_head *)bytes;

	return (head->hash ^ head->token) == rte_cpu_to_le_64(hash);
}

void wh_tag_write(uint8_t *head, const uint8_t *body, size_t body_bytes)
{
	WH_ASSERT(head != NULL);
	WH_ASSERT(body != NULL || body_bytes == 0);
	put(head, best.hash(head, body, body_bytes));
}

bool wh_tag_agrees(const uint8_t *head, const uint8_t *body, size_t body_bytes)
{
	WH_ASSERT(head != NULL);
	WH_ASSERT(body != NULL || body_bytes == 0);
	return agrees(head, best.hash(head, body, body_bytes));
}

void wh_tag_write_copy(uint8_t *head, const uint8_t *body, size_t body_bytes, uint8_t *to)
{
	WH_ASSERT(head != NULL && body != NULL && to != NULL);
	put(head, best.hash_copy(head, body, body_bytes, to));
}

bool wh_tag_agrees_copy(const uint8_t *head, const uint8_t *body, size_t body_bytes, uint8_t *to)
{
	WH_ASSERT(head != NULL && body != NULL && to != NULL);
	return agrees(head, best.hash_copy(head, body, body_bytes, to));
}
