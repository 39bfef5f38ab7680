/* SPDX-License-Identifier: BSD-3-Clause */
#include "seal/secret_heap.h"

#include "base/prng.h"
#include "unit.h"

const char wh_suite_name[] = "secret heap";

#define BLOCKS     400
#define BYTES_MOST 200000

static bool is_all(const uint8_t *memory, size_t bytes, uint8_t value)
{
	for (size_t i = 0; i < bytes; i++)
		if (memory[i] != value)
			return false;
	return true;
}

/* Sizes of any class, and beyond them; each keeps what it has, and none lies in another. */
static void test_churn(void)
{
	static uint8_t *block[BLOCKS];
	static size_t bytes[BLOCKS];
	struct wh_prng prng;

	wh_prng_init(&prng, 4711);
	for (uint32_t turn = 0; turn < 20000; turn++) {
		uint32_t i = (uint32_t)wh_prng_below(&prng, BLOCKS);
		size_t wanted = (size_t)wh_prng_below(
			&prng, wh_prng_below(&prng, 50) == 0 ? BYTES_MOST : 2000);
		size_t kept = wanted < bytes[i] ? wanted : bytes[i];

		if (block[i] != NULL && wh_prng_below(&prng, 2) == 0) {
			CU_ASSERT(is_all(block[i], bytes[i], (uint8_t)i));
			wh_secret_heap_free(block[i]);
			block[i] = NULL;
			bytes[i] = 0;
			continue;
		}
		block[i] = wh_secret_heap_realloc(block[i], wanted);
		CU_ASSERT_PTR_NOT_NULL_FATAL(block[i]);
		CU_ASSERT_EQUAL((uintptr_t)block[i] % 16, 0);
		CU_ASSERT(is_all(block[i], kept, (uint8_t)i));
		bytes[i] = wanted;
		memset(block[i], (uint8_t)i, wanted);
	}
	for (uint32_t i = 0; i < BLOCKS; i++) {
		CU_ASSERT(is_all(block[i], bytes[i], (uint8_t)i));
		wh_secret_heap_free(block[i]);
	}
}

static void test_wiped(void)
{
	uint8_t *block = wh_secret_heap_alloc(1000);

	CU_ASSERT_PTR_NOT_NULL_FATAL(block);
	memset(block, 0xa5, 1000);
	wh_secret_heap_free(block);
	/* It is the heap's, which nobody else uses here, and next in turn. */
	CU_ASSERT_PTR_EQUAL(wh_secret_heap_alloc(1000), block);
	CU_ASSERT(is_all(block, 1000, 0));
	wh_secret_heap_free(block);
}

/* The latest free one of its size is the next; neighbours of a class are not mixed up. */
static void test_classes(void)
{
	for (size_t bytes = 1; bytes < 140000; bytes += bytes / 9 + 1) {
		uint8_t *block = wh_secret_heap_alloc(bytes);

		CU_ASSERT_PTR_NOT_NULL_FATAL(block);
		memset(block, 1, bytes);
		wh_secret_heap_free(block);
	}
	CU_ASSERT_PTR_NULL(wh_secret_heap_alloc(WH_SECRET_HEAP_BYTES_MAX));
	CU_ASSERT_PTR_NULL(wh_secret_heap_alloc(SIZE_MAX));
	wh_secret_heap_free(NULL);
}

CU_TestInfo wh_tests[] = {
	{"churn", test_churn},
	{"wiped", test_wiped},
	{"classes", test_classes},
	CU_TEST_INFO_NULL,
};
