/* SPDX-License-Identifier: BSD-3-Clause */
#include "unit.h"

#include <string.h>

#include "lab/sim/sim_packet.h"

const char wh_suite_name[] = "sim_packet";

/* More than a slab of each. */
#define PACKETS  1300
#define CONTROLS 100

static void a_fifo_keeps_order_and_counts(void)
{
	struct wh_sim_fifo fifo = {0};
	struct wh_sim_packet packet[3] = {{.bytes = 40}, {.bytes = 1500}, {.bytes = 576}};

	CU_ASSERT_PTR_NULL(wh_sim_fifo_pop(&fifo));
	for (unsigned int i = 0; i < 3; i++)
		wh_sim_fifo_push(&fifo, &packet[i]);
	CU_ASSERT_EQUAL(fifo.count_pkts, 3);
	CU_ASSERT_EQUAL(fifo.count_bytes, 2116);

	CU_ASSERT_PTR_EQUAL(wh_sim_fifo_pop(&fifo), &packet[0]);
	CU_ASSERT_PTR_NULL(packet[0].next);
	CU_ASSERT_EQUAL(fifo.count_bytes, 2076);
	wh_sim_fifo_push(&fifo, &packet[0]);
	CU_ASSERT_PTR_EQUAL(wh_sim_fifo_pop(&fifo), &packet[1]);
	CU_ASSERT_PTR_EQUAL(wh_sim_fifo_pop(&fifo), &packet[2]);
	CU_ASSERT_PTR_EQUAL(wh_sim_fifo_pop(&fifo), &packet[0]);
	CU_ASSERT_PTR_NULL(wh_sim_fifo_pop(&fifo));
	CU_ASSERT_EQUAL(fifo.count_pkts, 0);
	CU_ASSERT_EQUAL(fifo.count_bytes, 0);

	/* Empty once, it begins anew. */
	wh_sim_fifo_push(&fifo, &packet[2]);
	CU_ASSERT_PTR_EQUAL(wh_sim_fifo_pop(&fifo), &packet[2]);
}

static void packets_are_apart_and_aligned(void)
{
	static struct wh_sim_packet *packet[PACKETS];
	struct wh_sim_pool pool;

	wh_sim_pool_init(&pool);
	for (unsigned int i = 0; i < PACKETS; i++) {
		packet[i] = wh_sim_packet_get(&pool);
		CU_ASSERT_PTR_NULL(packet[i]->next);
		CU_ASSERT_PTR_NULL(packet[i]->control);
		CU_ASSERT_EQUAL((uintptr_t)packet[i] % 64, 0);
		memset(&packet[i]->datagram, (int)i, sizeof(packet[i]->datagram));
		packet[i]->bytes = i;
	}
	CU_ASSERT_EQUAL(pool.in_use_pkts, PACKETS);
	for (unsigned int i = 0; i < PACKETS; i++) {
		CU_ASSERT_EQUAL(packet[i]->bytes, i);
		CU_ASSERT_EQUAL(packet[i]->datagram.head[0], (uint8_t)i);
		CU_ASSERT_EQUAL(packet[i]->datagram.head[WH_HEAD_BYTES - 1], (uint8_t)i);
	}
	wh_sim_pool_free(&pool);
}

static void what_came_back_is_given_out_again(void)
{
	static struct wh_sim_packet *packet[PACKETS];
	struct wh_sim_pool pool;
	const struct wh_sim_slab *slabs = NULL;

	wh_sim_pool_init(&pool);
	for (unsigned int round = 0; round < 3; round++) {
		for (unsigned int i = 0; i < PACKETS - round; i++) {
			packet[i] = wh_sim_packet_get(&pool);
			CU_ASSERT_PTR_NULL(packet[i]->control);
			if (i < CONTROLS)
				wh_sim_packet_add_control(&pool, packet[i]);
		}
		CU_ASSERT_EQUAL(pool.in_use_pkts, PACKETS - round);
		CU_ASSERT_EQUAL(pool.in_use_pkts_max, PACKETS);
		if (round == 0)
			slabs = pool.slabs;
		for (unsigned int i = 0; i < PACKETS - round; i++)
			wh_sim_packet_put(&pool, packet[i]);
		CU_ASSERT_EQUAL(pool.in_use_pkts, 0);
	}
	CU_ASSERT_PTR_EQUAL(pool.slabs, slabs);
	wh_sim_pool_free(&pool);
}

static void rooms_for_control_do_not_overlap(void)
{
	struct wh_sim_packet *packet[CONTROLS];
	struct wh_sim_pool pool;

	wh_sim_pool_init(&pool);
	for (unsigned int i = 0; i < CONTROLS; i++) {
		packet[i] = wh_sim_packet_get(&pool);
		memset(wh_sim_packet_add_control(&pool, packet[i]), (int)i, WH_CONTROL_BYTES_MAX);
		/* What agents write into a packet leaves its control packet alone. */
		memset(&packet[i]->segment, 0xff, sizeof(packet[i]->segment));
	}
	for (unsigned int i = 0; i < CONTROLS; i++) {
		const uint8_t *control = packet[i]->control;
		unsigned int right = 0;

		for (unsigned int n = 0; n < WH_CONTROL_BYTES_MAX; n++)
			right += control[n] == (uint8_t)i;
		CU_ASSERT_EQUAL(right, WH_CONTROL_BYTES_MAX);
	}
	wh_sim_pool_free(&pool);
}

CU_TestInfo wh_tests[] = {
	{"a FIFO keeps order and counts", a_fifo_keeps_order_and_counts},
	{"packets are apart and aligned", packets_are_apart_and_aligned},
	{"what came back is given out again", what_came_back_is_given_out_again},
	{"rooms for control do not overlap", rooms_for_control_do_not_overlap},
	CU_TEST_INFO_NULL,
};
