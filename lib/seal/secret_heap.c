/* SPDX-License-Identifier: BSD-3-Clause */
#include "seal/secret_heap.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include <openssl/crypto.h>

#include "base/assert.h"
#include "base/spin.h"
#include "seal/secret.h"

/* Segregated free lists, four sizes per power of two; larger blocks have pages of their own. */
#define UNIT       16
#define CLASSES    48
#define PAGES_OWN  UINT32_MAX
#define GROW_BYTES ((size_t)1 << 20)

struct block {
	union {
		struct block *next; /* next free one */
		size_t bytes;       /* size of a block with its own pages */
	};
	uint32_t kind; /* its class, or PAGES_OWN */
};

static_assert(sizeof(struct block) == UNIT, "what follows it is aligned as malloc's");

/* One per process: OpenSSL has one allocator. */
static struct {
	struct wh_spin lock;
	struct block *free[CLASSES];
	uint8_t *fresh;
	size_t fresh_bytes;
} heap;

/* 1 to 8 units in steps of one, then four steps per doubling. */
static uint32_t class_of(size_t bytes)
{
	size_t units = (bytes + UNIT - 1) / UNIT;

	if (units <= 8)
		return units == 0 ? 0 : (uint32_t)units - 1;

	uint32_t log2 = 63 - (uint32_t)__builtin_clzll(units - 1);

	return 4 * (log2 - 1) + (uint32_t)((units - 1) >> (log2 - 2) & 3);
}

static size_t bytes_of(uint32_t kind)
{
	if (kind < 8)
		return (kind + 1) * UNIT;
	return (size_t)(kind % 4 + 5) << (kind / 4 - 1) << 4;
}

static void *pages(size_t bytes)
{
	void *memory =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return NULL;
	if (madvise(memory, bytes, MADV_DONTDUMP) == 0)
		return memory;
	munmap(memory, bytes);
	return NULL;
}

/* With the lock held. What is left of the previous pages is too small for the block: it is lost. */
static struct block *cut(uint32_t kind)
{
	size_t bytes = UNIT + bytes_of(kind);

	if (heap.fresh_bytes < bytes) {
		heap.fresh = pages(GROW_BYTES);
		heap.fresh_bytes = heap.fresh != NULL ? GROW_BYTES : 0;
	}
	if (heap.fresh == NULL)
		return NULL;

	struct block *block = (struct block *)(void *)heap.fresh;

	heap.fresh += bytes;
	heap.fresh_bytes -= bytes;
	return block;
}

static struct block *take(uint32_t kind)
{
	WH_HOLD(&heap.lock);

	struct block *block = heap.free[kind];

	if (block != NULL)
		heap.free[kind] = block->next;
	else
		block = cut(kind);
	return block;
}

void *wh_secret_heap_alloc(size_t bytes)
{
	struct block *block;
	uint32_t kind;

	if (bytes >= WH_SECRET_HEAP_BYTES_MAX)
		return NULL;
	kind = class_of(bytes);
	if (kind >= CLASSES)
		kind = PAGES_OWN;
	block = kind == PAGES_OWN ? pages(UNIT + bytes) : take(kind);
	if (block == NULL)
		return NULL;
	block->bytes = bytes;
	block->kind = kind;
	return block + 1;
}

static struct block *block_of(void *memory)
{
	return (struct block *)memory - 1;
}

void wh_secret_heap_free(void *memory)
{
	struct block *block;

	if (memory == NULL)
		return;
	block = block_of(memory);
	wh_secret_wipe(memory, block->bytes);
	if (block->kind == PAGES_OWN) {
		munmap(block, UNIT + block->bytes);
		return;
	}
	WH_ASSERT(block->kind < CLASSES && block->bytes <= bytes_of(block->kind));
	WH_HOLD(&heap.lock);
	block->next = heap.free[block->kind];
	heap.free[block->kind] = block;
}

void *wh_secret_heap_realloc(void *memory, size_t bytes)
{
	void *moved = wh_secret_heap_alloc(bytes);

	if (memory == NULL || moved == NULL)
		return moved;

	size_t before_bytes = block_of(memory)->bytes;

	memcpy(moved, memory, bytes < before_bytes ? bytes : before_bytes);
	wh_secret_heap_free(memory);
	return moved;
}

/* OpenSSL's interface; file and line are not used. */
static void *alloc(size_t bytes, const char *file, int line)
{
	(void)file;
	(void)line;
	return wh_secret_heap_alloc(bytes);
}

static void *change(void *memory, size_t bytes, const char *file, int line)
{
	(void)file;
	(void)line;
	return wh_secret_heap_realloc(memory, bytes);
}

static void give_back(void *memory, const char *file, int line)
{
	(void)file;
	(void)line;
	wh_secret_heap_free(memory);
}

/* A sanitizer finds errors only in memory of its own allocator. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HIDES_ERRORS 1
#else
#define HIDES_ERRORS 0
#endif

bool wh_secret_heap_begin(void)
{
	int rc = HIDES_ERRORS || CRYPTO_set_mem_functions(alloc, change, give_back);

	WH_ASSERT(rc == 1);
	return !HIDES_ERRORS;
}
