/* SPDX-License-Identifier: BSD-3-Clause */
#include "port/port.h"

#include <errno.h>
#include <net/if.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_malloc.h>

#include "base/assert.h"
#include "wire/encap.h"

/* All that the steps of an opening share. */
struct opening {
	const struct wh_port_config *config;
	struct wh_port *port;
	struct rte_eth_dev_info info;
	struct rte_eth_conf conf;
	char name[RTE_ETH_NAME_MAX_LEN];
	uint16_t rx_descriptors;
	uint16_t tx_descriptors;
	char *why;
	size_t why_bytes;
};

__attribute__((format(printf, 3, 4))) static int fail(
	const struct opening *opening, int error, const char *format, ...)
{
	va_list args;

	WH_ASSERT(error < 0);
	va_start(args, format);
	vsnprintf(opening->why, opening->why_bytes, format, args);
	va_end(args);
	return error;
}

static int check_config(struct opening *opening)
{
	const struct wh_port_config *config = opening->config;

	WH_ASSERT(config->pool != NULL);
	if (!rte_eth_dev_is_valid_port(config->ethdev) ||
		rte_eth_dev_get_name_by_port(config->ethdev, opening->name) != 0)
		return fail(opening, -ENODEV,
			"there is no port %u: bind a NIC to vfio-pci, or give a --vdev",
			config->ethdev);
	if (config->queues == 0 || config->queues > WH_PORT_QUEUES_MAX)
		return fail(opening, -EINVAL, "port %s cannot have %u queues: choose 1 to %u",
			opening->name, config->queues, WH_PORT_QUEUES_MAX);
	if (config->mtu == 0 || config->mtu > WH_PORT_MTU_MAX)
		return fail(opening, -EINVAL, "port %s cannot have an MTU of %u: choose 1 to %u",
			opening->name, config->mtu, WH_PORT_MTU_MAX);

	uint32_t frame_bytes = (uint32_t)config->mtu + WH_ETHER_BYTES;
	uint16_t room_bytes = rte_pktmbuf_data_room_size(config->pool);

	if (room_bytes < RTE_PKTMBUF_HEADROOM + frame_bytes)
		return fail(opening, -EINVAL,
			"port %s at MTU %u needs mbufs of %u bytes, those of pool %s have %u",
			opening->name, config->mtu, wh_port_room_bytes(config->mtu),
			config->pool->name, room_bytes);
	return 0;
}

/* Bytes of a frame beside the MTU as ethdev reckons them when it checks an MTU. */
static uint32_t overhead_bytes(const struct rte_eth_dev_info *info)
{
	if (info->max_mtu != UINT16_MAX && info->max_rx_pktlen > info->max_mtu)
		return info->max_rx_pktlen - info->max_mtu;
	return RTE_ETHER_HDR_LEN + RTE_ETHER_CRC_LEN;
}

/*
 * memif, af_packet and tap report a longest frame of 1518 or 1522 bytes and a largest MTU of
 * 65535. Asked for a jumbo MTU they refuse; not asked, memif and af_packet carry jumbo frames.
 */
static int choose_mtu(struct opening *opening)
{
	const struct rte_eth_dev_info *info = &opening->info;
	uint16_t mtu = opening->config->mtu;

	if (mtu < info->min_mtu || (info->max_mtu != 0 && mtu > info->max_mtu))
		return fail(opening, -EINVAL, "port %s takes an MTU of %u to %u, not %u",
			opening->name, info->min_mtu, info->max_mtu, mtu);
	if (mtu + overhead_bytes(info) <= info->max_rx_pktlen)
		opening->conf.rxmode.mtu = mtu;
	return 0;
}

static int choose_queues(struct opening *opening)
{
	const struct rte_eth_dev_info *info = &opening->info;
	uint16_t queues = opening->config->queues;
	uint16_t most = RTE_MIN(info->max_rx_queues, info->max_tx_queues);
	uint64_t udp = RTE_ETH_RSS_NONFRAG_IPV4_UDP | RTE_ETH_RSS_NONFRAG_IPV6_UDP;

	if (queues > most)
		return fail(opening, -EINVAL, "port %s has %u queues, not %u: ask for fewer",
			opening->name, most, queues);
	udp &= info->flow_type_rss_offloads;
	if (queues > 1 && udp != 0) {
		opening->conf.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
		opening->conf.rx_adv_conf.rss_conf.rss_hf = udp;
	}
	return 0;
}

/*
 * MBUF_FAST_FREE is left alone even where it is offered: it forbids the external buffers and
 * clones that payload is sent from. So are receive timestamps, which count in the NIC's own unit.
 */
static void choose_offloads(struct opening *opening)
{
	const struct rte_eth_dev_info *info = &opening->info;

	opening->conf.rxmode.offloads =
		(RTE_ETH_RX_OFFLOAD_IPV4_CKSUM | RTE_ETH_RX_OFFLOAD_UDP_CKSUM) &
		info->rx_offload_capa;
	opening->conf.txmode.offloads = RTE_ETH_TX_OFFLOAD_MULTI_SEGS & info->tx_offload_capa;
	opening->port->multi_segment_tx = opening->conf.txmode.offloads != 0;
}

static int configure(struct opening *opening)
{
	const struct wh_port_config *config = opening->config;
	int error = rte_eth_dev_info_get(config->ethdev, &opening->info);

	if (error != 0)
		return fail(opening, error, "port %s does not describe itself (%s): is it gone?",
			opening->name, rte_strerror(-error));
	if ((error = choose_mtu(opening)) != 0 || (error = choose_queues(opening)) != 0)
		return error;
	choose_offloads(opening);
	error = rte_eth_dev_configure(
		config->ethdev, config->queues, config->queues, &opening->conf);
	if (error != 0)
		return fail(opening, error,
			"port %s refuses %u queues at MTU %u (%s): ask for less, or close it first",
			opening->name, config->queues, config->mtu, rte_strerror(-error));

	opening->rx_descriptors = config->rx_descriptors;
	opening->tx_descriptors = config->tx_descriptors;
	if (opening->rx_descriptors == 0)
		opening->rx_descriptors = opening->info.default_rxportconf.ring_size;
	if (opening->tx_descriptors == 0)
		opening->tx_descriptors = opening->info.default_txportconf.ring_size;
	if (opening->rx_descriptors == 0)
		opening->rx_descriptors = RTE_ETH_DEV_FALLBACK_RX_RINGSIZE;
	if (opening->tx_descriptors == 0)
		opening->tx_descriptors = RTE_ETH_DEV_FALLBACK_TX_RINGSIZE;
	error = rte_eth_dev_adjust_nb_rx_tx_desc(
		config->ethdev, &opening->rx_descriptors, &opening->tx_descriptors);
	if (error != 0)
		return fail(opening, error, "port %s takes no number of descriptors near %u and %u",
			opening->name, opening->rx_descriptors, opening->tx_descriptors);
	return 0;
}

static int set_up_queue(const struct opening *opening, uint16_t queue)
{
	const struct wh_port_config *config = opening->config;
	unsigned int socket = (unsigned int)opening->port->socket;
	struct rte_eth_rxconf rx = opening->info.default_rxconf;
	struct rte_eth_txconf tx = opening->info.default_txconf;

	rx.offloads = opening->conf.rxmode.offloads;
	tx.offloads = opening->conf.txmode.offloads;

	int error = rte_eth_rx_queue_setup(
		config->ethdev, queue, opening->rx_descriptors, socket, &rx, config->pool);

	if (error != 0)
		return fail(opening, error,
			"port %s cannot receive on queue %u with %u descriptors into pool %s (%s): "
			"give it fewer, or larger mbufs",
			opening->name, queue, opening->rx_descriptors, config->pool->name,
			rte_strerror(-error));
	error = rte_eth_tx_queue_setup(config->ethdev, queue, opening->tx_descriptors, socket, &tx);
	if (error != 0)
		return fail(opening, error,
			"port %s cannot send on queue %u with %u descriptors (%s): give it fewer",
			opening->name, queue, opening->tx_descriptors, rte_strerror(-error));
	return 0;
}

/*
 * A device with an address of its own may filter by it, so it must take the one that was asked
 * for. net_ring has none, takes none and filters nothing: headers get ours, or one made up from
 * the port's number that is marked as locally administered.
 */
static int choose_mac(struct opening *opening)
{
	const struct wh_port_config *config = opening->config;
	struct rte_ether_addr own = {{0}};
	struct rte_ether_addr asked = config->mac;

	(void)rte_eth_macaddr_get(config->ethdev, &own);
	if (rte_is_zero_ether_addr(&asked)) {
		struct rte_ether_addr made_up = {{0x02, 0x77, 0x68, 0,
			(uint8_t)(config->ethdev >> 8), (uint8_t)config->ethdev}};

		opening->port->mac = rte_is_zero_ether_addr(&own) ? made_up : own;
		return 0;
	}
	opening->port->mac = asked;
	if (rte_is_zero_ether_addr(&own) || rte_is_same_ether_addr(&own, &asked))
		return 0;

	int error = rte_eth_dev_default_mac_addr_set(config->ethdev, &asked);

	return error == 0 ? 0
			  : fail(opening, error,
				    "port %s does not take another MAC address (%s): leave it out",
				    opening->name, rte_strerror(-error));
}

/* MTU of the kernel's interface below a port; UINT32_MAX when there is none or it is unknown. */
static uint32_t kernel_mtu(unsigned int if_index, char if_name[IF_NAMESIZE])
{
	struct ifreq request = {.ifr_flags = 0};
	uint32_t mtu = UINT32_MAX;

	if (if_index == 0 || if_indextoname(if_index, if_name) == NULL)
		return mtu;

	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return mtu;
	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", if_name);
	if (ioctl(fd, SIOCGIFMTU, &request) == 0 && request.ifr_mtu > 0)
		mtu = (uint32_t)request.ifr_mtu;
	close(fd);
	return mtu;
}

/* Where the MTU could not be asked for, what ethdev says of it is not the device's word. */
static int check_mtu(const struct opening *opening)
{
	uint16_t wanted = opening->config->mtu;
	uint16_t mtu;
	char if_name[IF_NAMESIZE];

	if (opening->conf.rxmode.mtu != 0 &&
		rte_eth_dev_get_mtu(opening->config->ethdev, &mtu) == 0 && mtu < wanted)
		return fail(opening, -EINVAL, "port %s came up with MTU %u, not %u: ask for that",
			opening->name, mtu, wanted);

	uint32_t below = kernel_mtu(opening->info.if_index, if_name);

	if (below < wanted)
		return fail(opening, -EINVAL,
			"port %s is on %s, whose MTU is %u, not %u: 'ip link set %s mtu %u'",
			opening->name, if_name, below, wanted, if_name, wanted);
	return 0;
}

static int bring_up(struct opening *opening)
{
	struct wh_port *port = opening->port;
	int error = rte_eth_dev_start(port->ethdev);

	if (error != 0)
		return fail(opening, error,
			"port %s does not start (%s): has pool %s more than %u mbufs for it?",
			opening->name, rte_strerror(-error), port->pool->name,
			opening->rx_descriptors * port->queues);
	port->started = true;
	if ((error = check_mtu(opening)) != 0)
		return error;
	if (!wh_port_watch_link(port) && opening->config->link_wait_ms > 0 &&
		(error = wh_port_await_link(port, opening->config->link_wait_ms)) != 0)
		return fail(opening, error,
			"the link of port %s is still down after %u ms: check cable and peer",
			opening->name, opening->config->link_wait_ms);
	return 0;
}

static int open_steps(struct opening *opening)
{
	struct wh_port *port = opening->port;
	int error;

	if (rte_mbuf_dyn_rx_timestamp_register(&port->stamp_offset, &port->stamp_flag) != 0)
		return fail(opening, -rte_errno, "no room in mbufs for an arrival time (%s)",
			rte_strerror(rte_errno));
	if ((error = configure(opening)) != 0)
		return error;
	port->tsc_stamps = strcmp(opening->info.driver_name, "net_ring") == 0;
	for (uint16_t queue = 0; queue < port->queues; queue++)
		if ((error = set_up_queue(opening, queue)) != 0)
			return error;
	if ((error = choose_mac(opening)) != 0)
		return error;
	return bring_up(opening);
}

int wh_port_open(
	const struct wh_port_config *config, struct wh_port **opened, char *why, size_t why_bytes)
{
	struct opening opening = {.config = config, .why = why, .why_bytes = why_bytes};
	int error = check_config(&opening);

	if (error != 0)
		return error;

	int socket = config->socket != SOCKET_ID_ANY ? config->socket
						     : rte_eth_dev_socket_id(config->ethdev);
	struct wh_port *port =
		rte_zmalloc_socket("wh_port", sizeof(*port), RTE_CACHE_LINE_SIZE, socket);

	if (port == NULL)
		return fail(&opening, -ENOMEM, "no memory for port %s: reserve more hugepages",
			opening.name);
	port->ethdev = config->ethdev;
	port->queues = config->queues;
	port->mtu = config->mtu;
	port->frame_bytes_max = (uint32_t)config->mtu + WH_ETHER_BYTES;
	port->socket = socket;
	port->pool = config->pool;
	opening.port = port;
	error = open_steps(&opening);
	if (error != 0) {
		wh_port_stop(port);
		rte_free(port);
		return error;
	}
	*opened = port;
	return 0;
}

/*
 * When a memif peer leaves, the driver's own thread says that the link is down and then frees the
 * connection, without a lock; stopping the device meanwhile frees it twice.
 */
#define LINK_DOWN_SETTLE_US 10000

void wh_port_stop(struct wh_port *port)
{
	if (!port->started)
		return;
	if (!wh_port_watch_link(port))
		rte_delay_us_sleep(LINK_DOWN_SETTLE_US);
	port->started = false;
	for (uint16_t queue = 0; queue < port->queues; queue++) {
		uint16_t waiting = wh_port_flush(port, queue);

		WH_ASSERT(waiting == 0);
	}
	(void)rte_eth_dev_stop(port->ethdev); /* an error leaves nothing that could be done */
}

void wh_port_close(struct wh_port *port)
{
	if (port == NULL)
		return;
	wh_port_stop(port);
	(void)rte_eth_dev_close(port->ethdev);
	rte_free(port);
}

bool wh_port_watch_link(struct wh_port *port)
{
	struct rte_eth_link link;
	bool up = false;

	if (port->started) {
		int error = rte_eth_link_get_nowait(port->ethdev, &link);

		/* A driver that cannot tell has a link that is not lost. */
		up = error == -ENOTSUP || (error == 0 && link.link_status == RTE_ETH_LINK_UP);
	}
	__atomic_store_n(&port->link_up, up, __ATOMIC_RELAXED);
	return up;
}

int wh_port_await_link(struct wh_port *port, uint32_t wait_ms)
{
	uint64_t start_tsc = rte_get_timer_cycles();
	uint64_t wait_tsc = rte_get_timer_hz() / 1000 * wait_ms;

	while (!wh_port_watch_link(port)) {
		if (rte_get_timer_cycles() - start_tsc > wait_tsc)
			return -ENETDOWN;
		rte_delay_us_sleep(1000);
	}
	return 0;
}
