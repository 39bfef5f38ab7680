/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * First and last test of a driver's program: the EAL can be started once in a process. It takes
 * no hugepages, no device and no rights, so that these tests run wherever the unit tests do.
 */

#include <rte_mbuf.h>
#include <rte_mempool.h>

void wh_test_eal_start(void);
void wh_test_eal_stop(void);

/* A pool without caches, so that its last mbuf can be had. */
struct rte_mempool *wh_test_pool(const char *name, unsigned int mbufs, uint16_t room_bytes);

/* Every mbuf is back. */
void wh_test_pool_free(struct rte_mempool *pool);

/* Byte `index` of the frame numbered `number`. */
static inline uint8_t wh_test_byte(uint32_t number, uint32_t index)
{
	return (uint8_t)((number * 2654435761U + index * 40503U) >> 7);
}

/* A frame of those bytes in one mbuf. */
struct rte_mbuf *wh_test_frame(struct rte_mempool *pool, uint32_t number, uint32_t bytes);

/* The same frame as a chain whose segments have at most segment_bytes. */
struct rte_mbuf *wh_test_chain(
	struct rte_mempool *pool, uint32_t number, uint32_t bytes, uint16_t segment_bytes);

/* One segment with the first `bytes` of that frame in it; it may be longer (padding). */
bool wh_test_is_frame(const struct rte_mbuf *pkt, uint32_t number, uint32_t bytes);
