/* SPDX-License-Identifier: BSD-3-Clause */
#include "wire/tag.h"

#include <string.h>

#include <xxh_x86dispatch.h>
#include <xxhash.h>

#include "base/assert.h"
#include "wire/layout.h"

struct tag {
	rte_le64_t low;
	rte_le64_t high;
};

static_assert(sizeof(struct tag) == WH_TAG_BYTES, "the tag is the whole hash");

static struct tag make(const uint8_t *head, const uint8_t *body, size_t body_bytes)
{
	/* The library's choice of vectors by CPU: half the time of corei7's (test/perf/tag.c). */
	XXH64_hash_t seed = XXH3_64bits_dispatch(body, body_bytes);
	XXH128_hash_t hash = XXH3_128bits_withSeed_dispatch(head, WH_TAG_OFFSET, seed);

	return (struct tag){
		.low = rte_cpu_to_le_64(hash.low64),
		.high = rte_cpu_to_le_64(hash.high64),
	};
}

void wh_tag_write(uint8_t *head, const uint8_t *body, size_t body_bytes)
{
	WH_ASSERT(head != NULL);
	WH_ASSERT(body != NULL || body_bytes == 0);

	struct tag tag = make(head, body, body_bytes);

	memcpy(head + WH_TAG_OFFSET, &tag, sizeof(tag));
}

bool wh_tag_agrees(const uint8_t *head, const uint8_t *body, size_t body_bytes)
{
	WH_ASSERT(head != NULL);
	WH_ASSERT(body != NULL || body_bytes == 0);

	struct tag expected = make(head, body, body_bytes);

	return memcmp(head + WH_TAG_OFFSET, &expected, sizeof(expected)) == 0;
}
