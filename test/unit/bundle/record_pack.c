/* SPDX-License-Identifier: BSD-3-Clause */
#include "bundle/record_pack.h"

#include <xxhash.h>

#include "unit.h"

const char wh_suite_name[] = "record_pack";

#define CHUNK_BYTES 4096
#define CHUNKS      4

struct rig {
	struct wh_fifo free;
	struct wh_fifo ready;
	struct wh_chunk chunks[CHUNKS];
	struct wh_pack pack;
};

static struct rig *rig_new(uint64_t first_chunk)
{
	struct rig *rig = aligned_alloc(64, (sizeof(*rig) + 63) / 64 * 64);

	CU_ASSERT_FATAL(rig != NULL);
	memset(rig, 0, sizeof(*rig));
	CU_ASSERT_FATAL(wh_fifo_init(&rig->free, CHUNKS) == 0);
	CU_ASSERT_FATAL(wh_fifo_init(&rig->ready, 1) == 0);
	for (int i = 0; i < CHUNKS; i++)
		rig->chunks[i].data = malloc(CHUNK_BYTES);
	wh_pack_init(&rig->pack, first_chunk, CHUNK_BYTES, &rig->free, &rig->ready);
	return rig;
}

static void rig_free(struct rig *rig)
{
	for (int i = 0; i < CHUNKS; i++)
		free(rig->chunks[i].data);
	wh_fifo_free(&rig->free);
	wh_fifo_free(&rig->ready);
	free(rig);
}

/* 16 bytes each. */
static void put(struct rig *rig, uint64_t id)
{
	struct wh_record *record = calloc(1, sizeof(*record));

	record->type = WH_RECORD_SAME;
	record->id.id = id;
	wh_pack_put(&rig->pack, record);
	free(record);
}

static void test_chunks(void)
{
	struct rig *rig = rig_new(7);
	struct wh_chunk *chunk;

	CU_ASSERT(wh_pack_flush(&rig->pack)); /* of nothing */
	CU_ASSERT(!wh_pack_has_room(&rig->pack, 16));
	wh_fifo_push(&rig->free, &rig->chunks[0]);
	rig->chunks[0].bytes = 99;
	for (uint64_t id = 0; id < CHUNK_BYTES / 16 - 1; id++) {
		CU_ASSERT_FATAL(wh_pack_has_room(&rig->pack, 16));
		put(rig, id);
	}
	CU_ASSERT(wh_fifo_count(&rig->ready) == 0);
	CU_ASSERT(!wh_pack_has_room(&rig->pack, 16)); /* flushed; no other chunk */
	chunk = wh_fifo_pop(&rig->ready);
	CU_ASSERT(chunk == &rig->chunks[0] && chunk->bytes == CHUNK_BYTES);
	CU_ASSERT(chunk->number == 7 && !chunk->end);
	CU_ASSERT(chunk->data[CHUNK_BYTES - 24] == 254 && chunk->data[24] == 1);
	wh_fifo_push(&rig->free, chunk);
	CU_ASSERT(wh_pack_has_room(&rig->pack, 16));
	put(rig, 1);
	CU_ASSERT(!wh_pack_has_room(&rig->pack, CHUNK_BYTES - 31)); /* goes as it is */
	chunk = wh_fifo_pop(&rig->ready);
	CU_ASSERT(chunk->bytes == 32 && chunk->number == 8);
	rig_free(rig);
}

static void test_end(void)
{
	struct rig *rig = rig_new(0);
	XXH3_state_t *state = XXH3_createState();
	XXH128_canonical_t digest;

	XXH3_128bits_reset(state);
	for (int i = 0; i < 2; i++) {
		wh_fifo_push(&rig->free, &rig->chunks[i]);
		CU_ASSERT_FATAL(wh_pack_has_room(&rig->pack, 16));
		put(rig, 100);
		XXH3_128bits_update(state, rig->chunks[i].data, 16);
		/* `ready` holds one: the second chunk, then the end marker, have to wait. */
		CU_ASSERT(wh_pack_flush(&rig->pack) == (i == 0));
	}
	CU_ASSERT(!wh_pack_has_room(&rig->pack, CHUNK_BYTES - 16) && !wh_pack_end(&rig->pack));
	CU_ASSERT(wh_fifo_pop(&rig->ready) == &rig->chunks[0]);
	CU_ASSERT(!wh_pack_end(&rig->pack));
	CU_ASSERT(wh_fifo_pop(&rig->ready) == &rig->chunks[1]);
	CU_ASSERT(wh_pack_end(&rig->pack));

	struct wh_chunk *end = wh_fifo_pop(&rig->ready);

	XXH128_canonicalFromHash(&digest, XXH3_128bits_digest(state));
	CU_ASSERT(end->end && end->number == 2 && end->bytes == 0);
	CU_ASSERT(memcmp(&end->digest, &digest, sizeof(digest)) == 0);
	XXH3_freeState(state);
	rig_free(rig);
}

/* Each byte of a chunk, its place and its company count. */
static void test_seal(void)
{
	struct rig *rig = rig_new(0);
	static uint8_t spare[3][64];
	struct wh_chunk came[3];
	struct wh_hasher hasher;

	for (uint64_t i = 0; i < 3; i++) {
		wh_fifo_push(&rig->free, &rig->chunks[i]);
		CU_ASSERT_FATAL(wh_pack_has_room(&rig->pack, 16));
		put(rig, i);
		CU_ASSERT(wh_pack_flush(&rig->pack));
		wh_fifo_pop(&rig->ready);
		came[i] = rig->chunks[i];
		came[i].data = memcpy(spare[i], rig->chunks[i].data, came[i].bytes);
	}
	wh_hasher_init(&hasher);
	for (int i = 0; i < 3; i++) {
		CU_ASSERT(wh_pack_check_seal(&hasher, &came[i]) && came[i].bytes == 16);
		came[i].bytes = 32;
	}
	wh_hasher_init(&hasher);
	CU_ASSERT(!wh_pack_check_seal(&hasher, &came[1])); /* not the first */
	for (uint32_t at = 0; at < 32; at++) {
		came[0].bytes = 32;
		came[0].data[at] ^= 1;
		wh_hasher_init(&hasher);
		CU_ASSERT(!wh_pack_check_seal(&hasher, &came[0]));
		came[0].data[at] ^= 1;
	}
	came[0].bytes = WH_SEAL_BYTES; /* a seal of nothing */
	wh_hasher_init(&hasher);
	CU_ASSERT(!wh_pack_check_seal(&hasher, &came[0]));
	rig_free(rig);
}

CU_TestInfo wh_tests[] = {
	{"seal", test_seal},
	{"chunks", test_chunks},
	{"end", test_end},
	CU_TEST_INFO_NULL,
};
