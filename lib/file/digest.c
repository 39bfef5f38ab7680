/* SPDX-License-Identifier: BSD-3-Clause */
#include "file/digest.h"

#include <assert.h>

#define XXH_STATIC_LINKING_ONLY /* for the size of the state */
#include <xxhash.h>

/* The library chooses vector instructions at run time. */
#include <xxh_x86dispatch.h>

#include "base/assert.h"

static_assert(sizeof(struct wh_hasher) == sizeof(XXH3_state_t), "opaque state is too small");
static_assert(_Alignof(struct wh_hasher) == _Alignof(XXH3_state_t), "opaque state is misaligned");
static_assert(sizeof(struct wh_digest) == sizeof(XXH128_canonical_t), "digest is canonical");

void wh_hasher_init(struct wh_hasher *hasher)
{
	XXH3_state_t *state = (XXH3_state_t *)hasher->state;

	WH_ASSERT((uintptr_t)hasher % WH_HASHER_ALIGN == 0);
	XXH3_INITSTATE(state);

	XXH_errorcode rc = XXH3_128bits_reset(state);

	WH_ASSERT(rc == XXH_OK);
}

void wh_hasher_init_seeded(struct wh_hasher *hasher, uint64_t seed)
{
	XXH3_state_t *state = (XXH3_state_t *)hasher->state;

	WH_ASSERT((uintptr_t)hasher % WH_HASHER_ALIGN == 0);
	XXH3_INITSTATE(state);

	XXH_errorcode rc = XXH3_128bits_reset_withSeed(state, seed);

	WH_ASSERT(rc == XXH_OK);
}

void wh_hasher_add(struct wh_hasher *hasher, const void *bytes, size_t count)
{
	WH_ASSERT(bytes != NULL || count == 0);
	if (count == 0)
		return;

	XXH_errorcode rc =
		XXH3_128bits_update_dispatch((XXH3_state_t *)hasher->state, bytes, count);

	WH_ASSERT(rc == XXH_OK);
}

void wh_hasher_digest(const struct wh_hasher *hasher, struct wh_digest *digest)
{
	XXH128_hash_t hash = XXH3_128bits_digest((const XXH3_state_t *)hasher->state);

	XXH128_canonicalFromHash((XXH128_canonical_t *)digest->bytes, hash);
}
