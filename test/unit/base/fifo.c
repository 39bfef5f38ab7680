/* SPDX-License-Identifier: BSD-3-Clause */
#include "unit.h"

#include <pthread.h>
#include <sched.h>

#include "base/fifo.h"

const char wh_suite_name[] = "fifo";

#define THREAD_ELEMENTS UINT64_C(1000000)

static void elements_come_in_order(void)
{
	struct wh_fifo fifo;
	uint64_t value = 4711;

	CU_ASSERT_EQUAL_FATAL(wh_fifo_init(&fifo, 8), 0);
	CU_ASSERT_FALSE(wh_fifo_pop_u64(&fifo, &value));
	CU_ASSERT_EQUAL(value, 4711);

	/* 3 in, 3 out: the places wrap around many times. */
	for (uint64_t n = 0; n < 3000; n += 3) {
		for (uint64_t i = 0; i < 3; i++)
			CU_ASSERT_TRUE(wh_fifo_push_u64(&fifo, n + i));
		for (uint64_t i = 0; i < 3; i++) {
			CU_ASSERT_TRUE(wh_fifo_pop_u64(&fifo, &value));
			CU_ASSERT_EQUAL(value, n + i);
		}
	}
	wh_fifo_free(&fifo);
	CU_ASSERT_PTR_NULL(fifo.ring);
}

static void last_stays(void)
{
	struct wh_fifo fifo;
	uint64_t places[20];

	CU_ASSERT_EQUAL_FATAL(wh_fifo_init(&fifo, 3), 0);
	CU_ASSERT_PTR_NULL(wh_fifo_last(&fifo));
	for (unsigned int n = 0; n < 20; n++) {
		CU_ASSERT_TRUE(wh_fifo_push(&fifo, &places[n]));
		CU_ASSERT_PTR_EQUAL(wh_fifo_last(&fifo), &places[n]);
		if (n == 0)
			continue; /* one more is in it from now on */
		CU_ASSERT_PTR_EQUAL(wh_fifo_pop(&fifo), &places[n - 1]);
		CU_ASSERT_PTR_EQUAL(wh_fifo_last(&fifo), &places[n]);
	}
	CU_ASSERT_PTR_EQUAL(wh_fifo_pop(&fifo), &places[19]);
	CU_ASSERT_PTR_NULL(wh_fifo_last(&fifo));
	wh_fifo_free(&fifo);
}

static void exactly_count_elements_fit(void)
{
	static const uint32_t counts[] = {1, 2, 3, 7, 8, 100, 255, 1024};

	for (unsigned int i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		struct wh_fifo fifo;
		uint64_t value;

		CU_ASSERT_EQUAL_FATAL(wh_fifo_init(&fifo, counts[i]), 0);
		for (uint32_t n = 0; n < counts[i]; n++) {
			CU_ASSERT_EQUAL(wh_fifo_count(&fifo), n);
			CU_ASSERT_EQUAL(wh_fifo_room(&fifo), counts[i] - n);
			CU_ASSERT_TRUE(wh_fifo_push_u64(&fifo, UINT64_MAX - n));
		}
		CU_ASSERT_EQUAL(wh_fifo_count(&fifo), counts[i]);
		CU_ASSERT_EQUAL(wh_fifo_room(&fifo), 0);
		CU_ASSERT_FALSE(wh_fifo_push_u64(&fifo, 0));

		/* One place free again: exactly one more. */
		CU_ASSERT_TRUE(wh_fifo_pop_u64(&fifo, &value));
		CU_ASSERT_EQUAL(value, UINT64_MAX);
		CU_ASSERT_TRUE(wh_fifo_push_u64(&fifo, 1));
		CU_ASSERT_FALSE(wh_fifo_push_u64(&fifo, 2));
		wh_fifo_free(&fifo);
	}
}

/* The head of a ring is whole cache lines, whatever DPDK keeps there; then come the slots. */
static void bytes_are_those_of_the_slots(void)
{
	uint64_t head_bytes = wh_fifo_bytes(7) - 8 * 8;

	CU_ASSERT_EQUAL(head_bytes % 64, 0);
	CU_ASSERT_EQUAL(wh_fifo_bytes(8), head_bytes + 16 * 8);
	CU_ASSERT_EQUAL(wh_fifo_bytes(15), head_bytes + 16 * 8);
	CU_ASSERT_EQUAL(wh_fifo_bytes(16), head_bytes + 32 * 8);
	/* 16 bytes before each, 100 rounded up to 104, lines filled up. */
	CU_ASSERT_EQUAL(wh_slot_fifo_bytes(7, 100), head_bytes + 8 * 120);
	CU_ASSERT_EQUAL(wh_slot_fifo_bytes(3, 100), head_bytes + 4 * 120 + 32);
}

static void slots_are_written_and_read_in_place(void)
{
	struct wh_slot_fifo fifo;

	CU_ASSERT_EQUAL_FATAL(wh_slot_fifo_init(&fifo, 4, 100), 0);
	CU_ASSERT_EQUAL(fifo.slot_bytes, 104); /* slots stay aligned */
	CU_ASSERT_PTR_NULL(wh_slot_fifo_peek(&fifo));

	for (unsigned int n = 0; n < 50; n++) {
		struct wh_slot *in = wh_slot_fifo_reserve(&fifo);

		CU_ASSERT_PTR_NOT_NULL_FATAL(in);
		CU_ASSERT_EQUAL((uintptr_t)in % 8, 0);
		in->when_tsc = n;
		in->bytes = fifo.slot_bytes;
		memset(in->data, (int)n, fifo.slot_bytes);
		wh_slot_fifo_commit(&fifo);
		CU_ASSERT_EQUAL(wh_slot_fifo_count(&fifo), 1);

		struct wh_slot *out = wh_slot_fifo_peek(&fifo);

		CU_ASSERT_PTR_EQUAL_FATAL(out, in);
		CU_ASSERT_EQUAL(out->when_tsc, n);
		CU_ASSERT_EQUAL(out->bytes, 104);
		CU_ASSERT_EQUAL(out->data[0], n);
		CU_ASSERT_EQUAL(out->data[103], n);
		wh_slot_fifo_release(&fifo);
		CU_ASSERT_EQUAL(wh_slot_fifo_count(&fifo), 0);
	}
	wh_slot_fifo_free(&fifo);
	CU_ASSERT_PTR_NULL(fifo.ring);
}

static bool put(struct wh_slot_fifo *fifo, uint32_t note)
{
	struct wh_slot *slot = wh_slot_fifo_reserve(fifo);

	if (slot == NULL)
		return false;
	slot->when_tsc = note;
	memset(slot->data, (int)note, fifo->slot_bytes);
	wh_slot_fifo_commit(fifo);
	return true;
}

static void neighbours_do_not_overlap(void)
{
	struct wh_slot_fifo fifo;

	CU_ASSERT_EQUAL_FATAL(wh_slot_fifo_init(&fifo, 8, 1500), 0);
	for (uint32_t n = 0; n < 8; n++)
		CU_ASSERT_TRUE(put(&fifo, n));
	CU_ASSERT_FALSE(put(&fifo, 8));
	CU_ASSERT_EQUAL(wh_slot_fifo_count(&fifo), 8);
	for (uint32_t n = 0; n < 8; n++) {
		struct wh_slot *slot = wh_slot_fifo_peek(&fifo);
		unsigned int n_wrong = 0;

		CU_ASSERT_PTR_NOT_NULL_FATAL(slot);
		CU_ASSERT_PTR_EQUAL(wh_slot_fifo_peek(&fifo), slot);
		CU_ASSERT_EQUAL(slot->when_tsc, n);
		for (uint32_t i = 0; i < fifo.slot_bytes; i++)
			n_wrong += slot->data[i] != n;
		CU_ASSERT_EQUAL(n_wrong, 0);
		wh_slot_fifo_release(&fifo);
	}
	CU_ASSERT_PTR_NULL(wh_slot_fifo_peek(&fifo));
	wh_slot_fifo_free(&fifo);
}

static void *push_numbers(void *argument)
{
	struct wh_fifo *fifo = argument;

	for (uint64_t n = 0; n < THREAD_ELEMENTS; n++) {
		while (!wh_fifo_push_u64(fifo, n))
			sched_yield();
	}
	return NULL;
}

static void two_threads_pass_elements_in_order(void)
{
	struct wh_fifo fifo;
	pthread_t producer;
	uint64_t n_wrong = 0;

	CU_ASSERT_EQUAL_FATAL(wh_fifo_init(&fifo, 256), 0);
	CU_ASSERT_EQUAL_FATAL(pthread_create(&producer, NULL, push_numbers, &fifo), 0);
	for (uint64_t n = 0; n < THREAD_ELEMENTS; n++) {
		uint64_t value;

		while (!wh_fifo_pop_u64(&fifo, &value))
			sched_yield();
		n_wrong += value != n;
	}
	CU_ASSERT_EQUAL(n_wrong, 0);
	CU_ASSERT_EQUAL(pthread_join(producer, NULL), 0);
	CU_ASSERT_EQUAL(wh_fifo_count(&fifo), 0);
	wh_fifo_free(&fifo);
}

static void *write_slots(void *argument)
{
	struct wh_slot_fifo *fifo = argument;

	for (uint64_t n = 0; n < THREAD_ELEMENTS / 4; n++) {
		struct wh_slot *slot;

		while ((slot = wh_slot_fifo_reserve(fifo)) == NULL)
			sched_yield();
		slot->when_tsc = n;
		memset(slot->data, (int)n, 64);
		wh_slot_fifo_commit(fifo);
	}
	return NULL;
}

static void two_threads_pass_slots_in_order(void)
{
	struct wh_slot_fifo fifo;
	pthread_t producer;
	uint64_t n_wrong = 0;

	CU_ASSERT_EQUAL_FATAL(wh_slot_fifo_init(&fifo, 64, 64), 0);
	CU_ASSERT_EQUAL_FATAL(pthread_create(&producer, NULL, write_slots, &fifo), 0);
	for (uint64_t n = 0; n < THREAD_ELEMENTS / 4; n++) {
		struct wh_slot *slot;

		while ((slot = wh_slot_fifo_peek(&fifo)) == NULL)
			sched_yield();
		n_wrong += slot->when_tsc != n;
		n_wrong += slot->data[0] != (uint8_t)n || slot->data[63] != (uint8_t)n;
		wh_slot_fifo_release(&fifo);
	}
	CU_ASSERT_EQUAL(n_wrong, 0);
	CU_ASSERT_EQUAL(pthread_join(producer, NULL), 0);
	wh_slot_fifo_free(&fifo);
}

/* A producer that finds nothing to say after all: what it says next is the next thing read. */
static void a_slot_not_committed_is_free_again(void)
{
	struct wh_slot_fifo fifo;
	struct wh_slot *slot;

	CU_ASSERT_EQUAL_FATAL(wh_slot_fifo_init(&fifo, 3, 8), 0);
	for (uint32_t n = 0; n < 10; n++) {
		slot = wh_slot_fifo_reserve(&fifo);
		CU_ASSERT_PTR_NOT_NULL_FATAL(slot);
		slot->when_tsc = 1000;
		CU_ASSERT_PTR_EQUAL(wh_slot_fifo_reserve(&fifo), slot);
		CU_ASSERT_TRUE(put(&fifo, n));
		CU_ASSERT_EQUAL(wh_slot_fifo_count(&fifo), 1);
		slot = wh_slot_fifo_peek(&fifo);
		CU_ASSERT_PTR_NOT_NULL_FATAL(slot);
		CU_ASSERT_EQUAL(slot->when_tsc, n);
		wh_slot_fifo_release(&fifo);
	}
	wh_slot_fifo_free(&fifo);
}

CU_TestInfo wh_tests[] = {
	{"elements come in order", elements_come_in_order},
	{"exactly count elements fit", exactly_count_elements_fit},
	{"the last stays", last_stays},
	{"bytes are those of the slots", bytes_are_those_of_the_slots},
	{"slots are written and read in place", slots_are_written_and_read_in_place},
	{"neighbours do not overlap", neighbours_do_not_overlap},
	{"two threads pass elements in order", two_threads_pass_elements_in_order},
	{"two threads pass slots in order", two_threads_pass_slots_in_order},
	{"a slot not committed is free again", a_slot_not_committed_is_free_again},
	CU_TEST_INFO_NULL,
};
