/* SPDX-License-Identifier: BSD-3-Clause */
#include "host/arena.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/chunk.h"
#include "base/prng.h"
#include "unit.h"

const char wh_suite_name[] = "arena";

#define UNIT      ((uint64_t)WH_ARENA_UNIT_BYTES)
#define THREADS   4
#define ROUNDS    20000
#define CONTESTED 1000000
#define UNITS_MAX 256

static struct wh_arena open_arena(uint64_t units)
{
	struct wh_arena arena;

	void *memory = aligned_alloc(WH_CHUNK_ALIGN, units * UNIT);

	CU_ASSERT_PTR_NOT_NULL_FATAL(memory);
	CU_ASSERT_EQUAL_FATAL(wh_arena_init(&arena, memory, units * UNIT), 0);
	return arena;
}

static void free_arena(struct wh_arena *arena)
{
	free(arena->memory);
	wh_arena_free(arena);
}

/* The unit that a run begins with, -1 for none. */
static int64_t take(struct wh_arena *arena, uint64_t bytes)
{
	uint8_t *memory = wh_arena_take(arena, bytes);

	if (memory == NULL)
		return -1;
	CU_ASSERT_EQUAL((uintptr_t)memory % WH_CHUNK_ALIGN, 0);
	CU_ASSERT_EQUAL((uint64_t)(memory - arena->memory) % UNIT, 0);
	return (memory - arena->memory) / (int64_t)UNIT;
}

static void give(struct wh_arena *arena, int64_t unit)
{
	wh_arena_give(arena, arena->memory + (uint64_t)unit * UNIT);
}

static void test_sizes(void)
{
	static const struct {
		uint64_t bytes;
		uint64_t units;
	} cases[] = {
		{1, 1},
		{UNIT - 1, 1},
		{UNIT, 1},
		{UNIT + 1, 2},
		{16 * UNIT, 16},
		{16 * UNIT + 1, 0},
		{UINT64_C(1) << 48, 0},              /* 2^32 units */
		{(UINT64_C(1) << 48) + UNIT, 0},     /* one more */
		{(UINT64_C(1) << 47) + 2 * UNIT, 0}, /* 2^31 units and two */
		{UINT64_MAX, 0},
	};
	struct wh_arena arena = open_arena(16);

	for (size_t i = 0; i < RTE_DIM(cases); i++) {
		CU_ASSERT_EQUAL(take(&arena, cases[i].bytes), cases[i].units > 0 ? 0 : -1);
		CU_ASSERT_EQUAL(wh_arena_free_bytes(&arena), (16 - cases[i].units) * UNIT);
		if (cases[i].units > 0)
			give(&arena, 0);
	}
	wh_arena_give(&arena, NULL);
	CU_ASSERT_EQUAL(wh_arena_free_bytes(&arena), 16 * UNIT);
	free_arena(&arena);
}

static void test_least_and_largest(void)
{
	struct wh_arena arena = open_arena(1);

	CU_ASSERT_EQUAL(wh_arena_free_bytes(&arena), UNIT);
	CU_ASSERT_EQUAL(take(&arena, UNIT + 1), -1);
	CU_ASSERT_EQUAL(take(&arena, UNIT), 0);
	CU_ASSERT_EQUAL(take(&arena, 1), -1);
	free_arena(&arena);
	CU_ASSERT_PTR_NULL(arena.memory);

	/* More units than a length holds. */
	CU_ASSERT_EQUAL(wh_arena_init(&arena, NULL, UINT64_C(1) << 47), -ENOMEM);
	CU_ASSERT_EQUAL(wh_arena_init(&arena, NULL, UINT64_MAX - UNIT + 1), -ENOMEM);
}

static void test_fragments(void)
{
	struct wh_arena arena = open_arena(16);

	for (int64_t i = 0; i < 4; i++)
		CU_ASSERT_EQUAL(take(&arena, 4 * UNIT), 4 * i);
	CU_ASSERT_EQUAL(take(&arena, 1), -1);

	/* Half of it is free, in two pieces. */
	give(&arena, 12);
	give(&arena, 4);
	CU_ASSERT_EQUAL(wh_arena_free_bytes(&arena), 8 * UNIT);
	CU_ASSERT_EQUAL(take(&arena, 5 * UNIT), -1);
	CU_ASSERT_EQUAL(take(&arena, 3 * UNIT), 4);
	CU_ASSERT_EQUAL(take(&arena, 2 * UNIT), 12);
	CU_ASSERT_EQUAL(take(&arena, UNIT), 7);
	give(&arena, 8);
	CU_ASSERT_EQUAL(take(&arena, 4 * UNIT), 8);
	CU_ASSERT_EQUAL(wh_arena_free_bytes(&arena), 2 * UNIT);
	free_arena(&arena);
}

/* Whatever the order in which neighbours go, what they had becomes one run again. */
static void test_every_order_of_return(void)
{
	for (uint32_t order = 0; order < 4 * 4 * 4 * 4; order++) {
		uint32_t at[4] = {order & 3, order >> 2 & 3, order >> 4 & 3, order >> 6};
		struct wh_arena arena;

		if ((1U << at[0] | 1U << at[1] | 1U << at[2] | 1U << at[3]) != 0xf)
			continue;
		arena = open_arena(10);
		for (uint64_t i = 0; i < 4; i++)
			CU_ASSERT_EQUAL(take(&arena, (i + 1) * UNIT), (int64_t)(i * (i + 1) / 2));
		for (uint32_t i = 0; i < 4; i++)
			give(&arena, at[i] * (at[i] + 1) / 2);
		CU_ASSERT_EQUAL(take(&arena, 10 * UNIT), 0);
		free_arena(&arena);
	}
}

/* What first fit gives, by a look at every unit. */
static int64_t first_fit(const bool *taken, uint32_t units, uint32_t wanted)
{
	uint32_t length = 0;

	for (uint32_t i = 0; i < units; i++) {
		length = taken[i] ? 0 : length + 1;
		if (length == wanted)
			return i + 1 - wanted;
	}
	return -1;
}

static void test_against_a_model(void)
{
	struct wh_arena arena = open_arena(UNITS_MAX);
	struct wh_prng prng;
	bool taken[UNITS_MAX] = {false};
	uint32_t length[UNITS_MAX] = {0};
	uint32_t live = 0;

	wh_prng_init(&prng, 7);
	for (uint32_t round = 0; round < ROUNDS; round++) {
		uint32_t unit = (uint32_t)wh_prng_below(&prng, UNITS_MAX);

		if (length[unit] > 0) {
			give(&arena, unit);
			memset(&taken[unit], false, length[unit]);
			live -= length[unit];
			length[unit] = 0;
		} else {
			uint32_t wanted = 1 + (uint32_t)wh_prng_below(&prng, 24);
			int64_t first = take(&arena, wanted * UNIT);

			CU_ASSERT_EQUAL_FATAL(first, first_fit(taken, UNITS_MAX, wanted));
			if (first < 0)
				continue;
			memset(&taken[first], true, wanted);
			length[first] = wanted;
			live += wanted;
		}
		CU_ASSERT_EQUAL(wh_arena_free_bytes(&arena), (UNITS_MAX - live) * UNIT);
	}
	free_arena(&arena);
}

struct user {
	struct wh_arena *arena;
	pthread_barrier_t *start;
	uint64_t number;
	uint64_t mistakes;
	uint64_t taken;
};

static void stamp(uint8_t *memory, uint64_t units, uint64_t value)
{
	for (uint64_t i = 0; i < units; i++)
		memcpy(memory + i * UNIT, &value, sizeof(value));
}

static bool is_stamped(const uint8_t *memory, uint64_t units, uint64_t value)
{
	for (uint64_t i = 0; i < units; i++)
		if (memcmp(memory + i * UNIT, &value, sizeof(value)) != 0)
			return false;
	return true;
}

/* Whatever a user got has to stay its own until it gives it back. */
static void *use(void *argument)
{
	struct user *user = argument;
	struct wh_prng prng;

	wh_prng_init(&prng, user->number);
	pthread_barrier_wait(user->start);
	for (uint32_t i = 0; i < CONTESTED; i++) {
		uint64_t units = 1 + wh_prng_below(&prng, 8);
		uint8_t *memory = wh_arena_take(user->arena, units * UNIT);

		if (memory == NULL)
			continue;
		user->taken++;
		stamp(memory, units, user->number);
		if (i % 1024 == 0)
			sched_yield();
		if (!is_stamped(memory, units, user->number))
			user->mistakes++;
		wh_arena_give(user->arena, memory);
	}
	return NULL;
}

static void test_threads(void)
{
	struct wh_arena arena = open_arena(20);
	pthread_barrier_t start;
	struct user user[THREADS];
	pthread_t thread[THREADS];

	CU_ASSERT_EQUAL_FATAL(pthread_barrier_init(&start, NULL, THREADS), 0);
	for (uint64_t i = 0; i < THREADS; i++) {
		user[i] = (struct user){.arena = &arena, .start = &start, .number = i + 1};
		CU_ASSERT_EQUAL_FATAL(pthread_create(&thread[i], NULL, use, &user[i]), 0);
	}
	for (uint32_t i = 0; i < THREADS; i++) {
		CU_ASSERT_EQUAL(pthread_join(thread[i], NULL), 0);
		CU_ASSERT_EQUAL(user[i].mistakes, 0);
		CU_ASSERT_TRUE(user[i].taken > 0);
	}
	pthread_barrier_destroy(&start);
	CU_ASSERT_EQUAL(wh_arena_free_bytes(&arena), 20 * UNIT);
	CU_ASSERT_EQUAL(take(&arena, 20 * UNIT), 0);
	free_arena(&arena);
}

CU_TestInfo wh_tests[] = {
	{"sizes", test_sizes},
	{"least and largest", test_least_and_largest},
	{"fragments", test_fragments},
	{"every order of return", test_every_order_of_return},
	{"against a model", test_against_a_model},
	{"threads", test_threads},
	CU_TEST_INFO_NULL,
};
