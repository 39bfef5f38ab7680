/* SPDX-License-Identifier: BSD-3-Clause */
#include "port/offloads.h"

#include "unit.h"

const char wh_suite_name[] = "drivers/port/offloads";

#define SEGMENTS  RTE_ETH_TX_OFFLOAD_MULTI_SEGS
#define FAST_FREE RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE
#define UDP_SUM   RTE_ETH_TX_OFFLOAD_UDP_CKSUM
#define ON_TIME   RTE_ETH_TX_OFFLOAD_SEND_ON_TIMESTAMP
#define STAMPS    RTE_ETH_RX_OFFLOAD_TIMESTAMP
#define RX_SUMS   (RTE_ETH_RX_OFFLOAD_IPV4_CKSUM | RTE_ETH_RX_OFFLOAD_UDP_CKSUM)

/* What DPDK 22.11's drivers offer, of that which concerns us and some more. */
#define NIC      (SEGMENTS | FAST_FREE | UDP_SUM | RTE_ETH_TX_OFFLOAD_TCP_TSO)
#define MLX5_PP  (NIC | ON_TIME)
#define MPRQ     (SEGMENTS | UDP_SUM) /* mlx5 with buffers of several packets */
#define NET_RING SEGMENTS
#define XDP      0

static void test_sending(void)
{
	static const struct {
		uint64_t capa;
		bool plain;
		bool ipv6;
		uint64_t chosen;
	} cases[] = {
		/* i40e sends by vectors with FAST_FREE or nothing; ice with sums, too. */
		{NIC, true, false, FAST_FREE},
		{NIC, true, true, FAST_FREE | UDP_SUM},
		{NIC, false, false, SEGMENTS},
		{NIC, false, true, SEGMENTS | UDP_SUM},
		{MLX5_PP, true, false, FAST_FREE},
		{MLX5_PP, false, false, SEGMENTS},
		{MPRQ, true, true, UDP_SUM},
		{NET_RING, true, true, 0},
		{NET_RING, false, true, SEGMENTS},
		{XDP, true, true, 0},
		{XDP, false, true, 0},
	};

	for (size_t i = 0; i < RTE_DIM(cases); i++) {
		const struct wh_port_config config = {
			.plain_tx = cases[i].plain, .ipv4 = true, .ipv6 = cases[i].ipv6};
		const struct rte_eth_dev_info info = {.tx_offload_capa = cases[i].capa};
		struct rte_eth_conf conf = {.txmode = {.offloads = UINT64_MAX}};

		wh_offloads_choose(&config, &info, false, &conf);
		CU_ASSERT_EQUAL(conf.txmode.offloads, cases[i].chosen);
	}
}

static void test_receiving(void)
{
	static const struct {
		uint64_t capa;
		bool clock;
		bool transparent;
		uint64_t chosen;
	} cases[] = {
		{RX_SUMS | RTE_ETH_RX_OFFLOAD_SCATTER, true, false, RX_SUMS},
		{RTE_ETH_RX_OFFLOAD_UDP_CKSUM, false, false, RTE_ETH_RX_OFFLOAD_UDP_CKSUM},
		{RX_SUMS | STAMPS, true, false, RX_SUMS | STAMPS},
		{RX_SUMS | STAMPS, false, false, RX_SUMS}, /* ice */
		{RX_SUMS | STAMPS, true, true, 0},
		{0, true, false, 0},
	};

	for (size_t i = 0; i < RTE_DIM(cases); i++) {
		const struct wh_port_config config = {.transparent = cases[i].transparent};
		const struct rte_eth_dev_info info = {.rx_offload_capa = cases[i].capa};
		struct rte_eth_conf conf = {.rxmode = {.offloads = UINT64_MAX}};

		wh_offloads_choose(&config, &info, cases[i].clock, &conf);
		CU_ASSERT_EQUAL(conf.rxmode.offloads, cases[i].chosen);
	}
}

CU_TestInfo wh_tests[] = {
	{"segments where packets have some, freeing at once where none have", test_sending},
	{"sums and stamps of received packets", test_receiving},
	CU_TEST_INFO_NULL,
};
