/* SPDX-License-Identifier: BSD-3-Clause */
#include "eal.h"

#include <CUnit/CUnit.h>
#include <rte_eal.h>

#include "eal/eal_init.h"
#include "port/interrupts.h"

void wh_test_eal_start(void)
{
	static char words[][24] = {"driver", "--no-huge", "--no-shconf", "-m", "256", "--no-pci",
		"--no-telemetry", "--iova-mode=va", "-l", "0", "--log-level=error"};
	char *args[RTE_DIM(words) + 1] = {NULL};
	int count = RTE_DIM(words);

	for (int i = 0; i < count; i++)
		args[i] = words[i];
	CU_ASSERT_EQUAL_FATAL(wh_eal_init(count, args, false), count - 1);
}

void wh_test_eal_stop(void)
{
	CU_ASSERT(wh_interrupts_park());
	CU_ASSERT_EQUAL(rte_eal_cleanup(), 0);
}

struct rte_mempool *wh_test_pool(const char *name, unsigned int mbufs, uint16_t room_bytes)
{
	struct rte_mempool *pool =
		rte_pktmbuf_pool_create(name, mbufs, 0, 0, room_bytes, SOCKET_ID_ANY);

	CU_ASSERT_PTR_NOT_NULL_FATAL(pool);
	return pool;
}

void wh_test_pool_free(struct rte_mempool *pool)
{
	CU_ASSERT_EQUAL(rte_mempool_avail_count(pool), pool->size);
	rte_mempool_free(pool);
}

struct rte_mbuf *wh_test_chain(
	struct rte_mempool *pool, uint32_t number, uint32_t bytes, uint16_t segment_bytes)
{
	struct rte_mbuf *first = NULL;

	for (uint32_t done = 0; done < bytes;) {
		struct rte_mbuf *segment = rte_pktmbuf_alloc(pool);

		CU_ASSERT_PTR_NOT_NULL_FATAL(segment);

		uint16_t part = (uint16_t)RTE_MIN(bytes - done, segment_bytes);
		uint8_t *data = (uint8_t *)rte_pktmbuf_append(segment, part);

		CU_ASSERT_PTR_NOT_NULL_FATAL(data);
		for (uint32_t i = 0; i < part; i++)
			data[i] = wh_test_byte(number, done + i);
		done += part;
		if (first == NULL)
			first = segment;
		else
			CU_ASSERT_EQUAL_FATAL(rte_pktmbuf_chain(first, segment), 0);
	}
	return first;
}

struct rte_mbuf *wh_test_frame(struct rte_mempool *pool, uint32_t number, uint32_t bytes)
{
	return wh_test_chain(pool, number, bytes, UINT16_MAX);
}

bool wh_test_is_frame(const struct rte_mbuf *pkt, uint32_t number, uint32_t bytes)
{
	const uint8_t *data = rte_pktmbuf_mtod(pkt, const uint8_t *);

	if (pkt->nb_segs != 1 || pkt->next != NULL || pkt->data_len != pkt->pkt_len ||
		pkt->pkt_len < bytes)
		return false;
	for (uint32_t i = 0; i < bytes; i++)
		if (data[i] != wh_test_byte(number, i))
			return false;
	return true;
}
