/* SPDX-License-Identifier: BSD-3-Clause */
#include "port/offloads.h"

static uint64_t rx_offloads(const struct wh_port_config *config, bool clock)
{
	uint64_t rx = RTE_ETH_RX_OFFLOAD_IPV4_CKSUM | RTE_ETH_RX_OFFLOAD_UDP_CKSUM;

	if (config->transparent)
		return 0;
	return clock ? rx | RTE_ETH_RX_OFFLOAD_TIMESTAMP : rx;
}

/*
 * FAST_FREE is for packets of one pool with one reference each. Drivers that put them back into it
 * without a look at their segments want MULTI_SEGS not to be set.
 *
 * SEND_ON_TIMESTAMP is never used: it is offered by NICs that cannot pace (E810), and wants an own
 * clock (mlx5 before ConnectX-7) or none; the pacer uses the TSC.
 */
static uint64_t tx_offloads(const struct wh_port_config *config)
{
	uint64_t tx = config->plain_tx ? RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE
				       : RTE_ETH_TX_OFFLOAD_MULTI_SEGS;

	/* Over IPv4 we send no UDP checksum, and the header's takes one addition. */
	if (config->ipv6)
		tx |= RTE_ETH_TX_OFFLOAD_UDP_CKSUM;
	return tx;
}

void wh_offloads_choose(const struct wh_port_config *config, const struct rte_eth_dev_info *info,
	bool clock, struct rte_eth_conf *conf)
{
	conf->rxmode.offloads = rx_offloads(config, clock) & info->rx_offload_capa;
	conf->txmode.offloads = tx_offloads(config) & info->tx_offload_capa;
}
