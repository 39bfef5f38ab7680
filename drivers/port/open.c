/* SPDX-License-Identifier: BSD-3-Clause */
#include "port/port.h"

#include <errno.h>
#include <net/if.h>
#include <stdarg.h>
#include <stdio.h>

#include <rte_cycles.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_lcore.h>
#include <rte_malloc.h>

#include "base/assert.h"
#include "port/calm.h"
#include "port/interface.h"
#include "port/offloads.h"
#include "port/rejoin.h"
#include "port/removal.h"
#include "port/steer.h"
#include "wire/encap.h"

/* State shared by the steps of an opening. */
struct opening {
	const struct wh_port_config *config;
	struct wh_port *port;
	struct rte_eth_dev_info info;
	struct rte_eth_conf conf;
	char name[RTE_ETH_NAME_MAX_LEN];
	bool hashes; /* the device can be set up to steer by a hash with this key */
	uint8_t key[WH_STEER_KEY_BYTES_MAX];
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

	if (config->udp_port > UINT16_MAX - (config->queues - 1))
		return fail(opening, -EINVAL,
			"port %s needs %u UDP ports, there are not as many from %u on",
			opening->name, config->queues, config->udp_port);

	uint32_t frame_bytes = (uint32_t)config->mtu + WH_ETHER_BYTES + WH_VLAN_BYTES;
	uint16_t room_bytes = rte_pktmbuf_data_room_size(config->pool);

	if (room_bytes < RTE_PKTMBUF_HEADROOM + frame_bytes)
		return fail(opening, -EINVAL,
			"port %s at MTU %u needs mbufs of %u bytes, those of pool %s have %u",
			opening->name, config->mtu, wh_port_room_bytes(config->mtu),
			config->pool->name, room_bytes);
	return 0;
}

/* Bytes of a frame beyond the MTU, as ethdev calculates when it checks an MTU. */
static uint32_t overhead_bytes(const struct rte_eth_dev_info *info)
{
	if (info->max_mtu != UINT16_MAX && info->max_rx_pktlen > info->max_mtu)
		return info->max_rx_pktlen - info->max_mtu;
	return RTE_ETHER_HDR_LEN + RTE_ETHER_CRC_LEN;
}

/*
 * memif, af_packet and tap report a longest frame of 1518 or 1522 bytes and a largest MTU of 65535.
 * They refuse a jumbo MTU when asked; if not asked, memif and af_packet carry jumbo frames.
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
	const struct wh_port_config *config = opening->config;
	const struct rte_eth_dev_info *info = &opening->info;
	uint16_t most = RTE_MIN(info->max_rx_queues, info->max_tx_queues);

	if (config->queues > most)
		return fail(opening, -EINVAL, "port %s has %u queues, not %u: ask for fewer",
			opening->name, most, config->queues);
	if (config->queues == 1)
		opening->port->steering = WH_PORT_STEER_ONE_QUEUE;
	else if (wh_steer_is_paired(info->driver_name))
		opening->port->steering = WH_PORT_STEER_PAIRED;
	else
		opening->hashes = wh_steer_choose_hash(config, info, opening->key, &opening->conf);
	return 0;
}

static void choose_offloads(struct opening *opening)
{
	struct wh_port *port = opening->port;
	bool clock = wh_nic_clock_is_readable(port->ethdev, opening->info.driver_name);

	wh_offloads_choose(opening->config, &opening->info, clock, &opening->conf);

	uint64_t tx = opening->conf.txmode.offloads;

	port->nic_stamps = (opening->conf.rxmode.offloads & RTE_ETH_RX_OFFLOAD_TIMESTAMP) != 0;
	port->multi_segment_tx = (tx & RTE_ETH_TX_OFFLOAD_MULTI_SEGS) != 0;
	port->udp_sum_tx = (tx & RTE_ETH_TX_OFFLOAD_UDP_CKSUM) != 0;
}

/* Finds where mbufs carry their arrival times. */
static int choose_stamps(struct opening *opening)
{
	struct wh_port *port = opening->port;
	int error = rte_mbuf_dyn_rx_timestamp_register(&port->stamp_offset, &port->stamp_flag);

	if (error != 0)
		return fail(opening, -rte_errno, "no room in mbufs for the time of a packet (%s)",
			rte_strerror(rte_errno));
	port->tsc_stamps = strcmp(opening->info.driver_name, "net_ring") == 0;
	return 0;
}

/* As many as were asked for, or the driver's preferred number, within the device's limits. */
static int choose_descriptors(struct opening *opening)
{
	const struct wh_port_config *config = opening->config;
	struct wh_port *port = opening->port;
	uint16_t rx = config->rx_descriptors;
	uint16_t tx = config->tx_descriptors;

	if (rx == 0)
		rx = opening->info.default_rxportconf.ring_size;
	if (tx == 0)
		tx = opening->info.default_txportconf.ring_size;
	port->rx_descriptors = rx != 0 ? rx : RTE_ETH_DEV_FALLBACK_RX_RINGSIZE;
	port->tx_descriptors = tx != 0 ? tx : RTE_ETH_DEV_FALLBACK_TX_RINGSIZE;

	int error = rte_eth_dev_adjust_nb_rx_tx_desc(
		config->ethdev, &port->rx_descriptors, &port->tx_descriptors);

	if (error != 0)
		return fail(opening, error, "port %s takes no number of descriptors near %u and %u",
			opening->name, port->rx_descriptors, port->tx_descriptors);
	return 0;
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
	return choose_descriptors(opening);
}

static int set_up_queue(const struct opening *opening, uint16_t queue)
{
	const struct wh_port_config *config = opening->config;
	const struct wh_port *port = opening->port;
	unsigned int socket = (unsigned int)port->socket;
	struct rte_eth_rxconf rx = opening->info.default_rxconf;
	struct rte_eth_txconf tx = opening->info.default_txconf;

	rx.offloads = opening->conf.rxmode.offloads;
	tx.offloads = opening->conf.txmode.offloads;

	int error = rte_eth_rx_queue_setup(
		config->ethdev, queue, port->rx_descriptors, socket, &rx, config->pool);

	if (error != 0)
		return fail(opening, error,
			"port %s cannot receive on queue %u with %u descriptors into pool %s (%s): "
			"give it fewer, or larger mbufs",
			opening->name, queue, port->rx_descriptors, config->pool->name,
			rte_strerror(-error));
	error = rte_eth_tx_queue_setup(config->ethdev, queue, port->tx_descriptors, socket, &tx);
	if (error != 0)
		return fail(opening, error,
			"port %s cannot send on queue %u with %u descriptors (%s): give it fewer",
			opening->name, queue, port->tx_descriptors, rte_strerror(-error));
	return 0;
}

/*
 * A device with an address of its own may filter by it, so it must accept the one that was asked
 * for. net_ring has none, accepts none and filters nothing: headers get ours, or a locally
 * administered one made from the port's number.
 */
static int choose_mac(struct opening *opening)
{
	const struct wh_port_config *config = opening->config;
	struct rte_ether_addr own = {{0}};
	struct rte_ether_addr asked, *const mac = (struct rte_ether_addr *)opening->port->mac;

	memcpy(&asked, config->mac, sizeof(asked));
	(void)rte_eth_macaddr_get(config->ethdev, &own);
	if (rte_is_zero_ether_addr(&asked)) {
		struct rte_ether_addr made_up = {{0x02, 0x77, 0x68, 0,
			(uint8_t)(config->ethdev >> 8), (uint8_t)config->ethdev}};

		*mac = rte_is_zero_ether_addr(&own) ? made_up : own;
		return 0;
	}
	*mac = asked;
	if (rte_is_zero_ether_addr(&own) || rte_is_same_ether_addr(&own, &asked))
		return 0;

	int error = rte_eth_dev_default_mac_addr_set(config->ethdev, &asked);

	return error == 0 ? 0
			  : fail(opening, error,
				    "port %s does not take another MAC address (%s): leave it out",
				    opening->name, rte_strerror(-error));
}

/* MTU of the kernel's interface below a port; UINT32_MAX: no interface, or unknown. */
static uint32_t kernel_mtu(unsigned int if_index, char if_name[IF_NAMESIZE])
{
	uint32_t mtu;

	if (if_index == 0 || if_indextoname(if_index, if_name) == NULL ||
		wh_interface_mtu(if_name, &mtu) != 0)
		return UINT32_MAX;
	return mtu;
}

/*
 * Drivers that share the device with the kernel (mlx5) raise its interface's MTU when it is set,
 * not when configured. A kernel MTU that is large enough is not changed: others use it.
 */
static int set_mtu(const struct opening *opening)
{
	uint16_t mtu = opening->config->mtu;
	char if_name[IF_NAMESIZE];

	if (opening->conf.rxmode.mtu == 0 ||
		(opening->info.if_index != 0 && kernel_mtu(opening->info.if_index, if_name) >= mtu))
		return 0;

	int error = rte_eth_dev_set_mtu(opening->config->ethdev, mtu);

	return error == 0 || error == -ENOTSUP
		       ? 0
		       : fail(opening, error,
				 "port %s does not take an MTU of %u (%s): ask for less",
				 opening->name, mtu, rte_strerror(-error));
}

/* If the MTU was not configured, ethdev's value is not the device's. */
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

/* On the started device, since some accept rules and tables only then. */
static int steer(struct opening *opening)
{
	const struct wh_port_config *config = opening->config;
	struct wh_port *port = opening->port;

	if (port->queues == 1 || port->steering == WH_PORT_STEER_PAIRED)
		return 0;
	WH_ASSERT(config->udp_port != 0 && (config->ipv4 || config->ipv6));
	if (wh_steer_by_rules(config) == 0) {
		port->steering = WH_PORT_STEER_RULES;
		return 0;
	}
	if (opening->hashes && wh_steer_by_hash(config, &opening->info) == 0) {
		port->steering = WH_PORT_STEER_HASH;
		return 0;
	}
	return fail(opening, -ENOTSUP,
		"port %s cannot tell UDP ports apart for its %u queues: give it one queue",
		opening->name, port->queues);
}

/* A driver without a filter needs no promiscuous mode. */
static int take_every_frame(const struct opening *opening)
{
	int error = rte_eth_promiscuous_enable(opening->port->ethdev);

	return error == 0 || error == -ENOTSUP
		       ? 0
		       : fail(opening, error, "port %s does not take every frame (%s)",
				 opening->name, rte_strerror(-error));
}

static int bring_up(struct opening *opening)
{
	struct wh_port *port = opening->port;
	int error = rte_eth_dev_start(port->ethdev);

	if (error != 0)
		return fail(opening, error,
			"port %s does not start (%s): has pool %s more than %u mbufs for it?",
			opening->name, rte_strerror(-error), port->pool->name,
			port->rx_descriptors * port->queues);
	port->started = true;
	wh_removal_watch(port);
	wh_nic_counters_find(&port->nic_counters, port->ethdev, opening->info.driver_name);
	if (strcmp(opening->info.driver_name, "net_af_packet") == 0)
		wh_packet_sockets_find(&port->sockets, opening->info.if_index);
	if (strcmp(opening->info.driver_name, "net_memif") == 0) {
		if ((error = wh_calm_join()) != 0)
			return fail(opening, error,
				"port %s: no descriptor or memory to watch its peer: `ulimit -n`",
				opening->name);
		port->calm = true;
	}
	if ((error = check_mtu(opening)) != 0 || (error = steer(opening)) != 0)
		return error;
	if (port->transparent && (error = take_every_frame(opening)) != 0)
		return error;
	if (!wh_port_watch_link(port) && opening->config->link_wait_ms > 0 &&
		(error = wh_port_await_link(port, opening->config->link_wait_ms)) != 0)
		return fail(opening, error,
			"the link of port %s is still down after %u ms: check cable and peer",
			opening->name, opening->config->link_wait_ms);
	if (port->calm && opening->config->rejoins)
		wh_rejoin_begin(port, rte_get_timer_cycles());
	return 0;
}

static int open_steps(struct opening *opening)
{
	struct wh_port *port = opening->port;
	int error;

	if ((error = configure(opening)) != 0 || (error = choose_stamps(opening)) != 0)
		return error;
	for (uint16_t queue = 0; queue < port->queues; queue++)
		if ((error = set_up_queue(opening, queue)) != 0)
			return error;
	if ((error = choose_mac(opening)) != 0 || (error = set_mtu(opening)) != 0)
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
	port->transparent = config->transparent;
	port->socket = socket;
	port->pool = config->pool;
	wh_nic_clock_init(&port->nic_clock, rte_get_timer_hz());
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
 * When a memif peer leaves, the driver's own thread reports the link down and then frees the
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
	wh_removal_end(port);
	for (uint16_t queue = 0; queue < port->queues; queue++) {
		uint16_t waiting = wh_port_flush(port, queue);

		WH_ASSERT(waiting == 0);
	}
	if (port->steering == WH_PORT_STEER_RULES) {
		struct rte_flow_error why;

		(void)rte_flow_flush(port->ethdev, &why);
	}
	(void)rte_eth_dev_stop(port->ethdev); /* nothing can be done about an error */
	if (port->calm)
		wh_calm_leave();
}

void wh_port_close(struct wh_port *port)
{
	if (port == NULL)
		return;
	wh_port_stop(port);
	(void)rte_eth_dev_close(port->ethdev);
	rte_free(port);
}

bool wh_port_crosses_nodes(
	const struct wh_port *port, unsigned int lcore, int *port_node, int *lcore_node)
{
	*port_node = rte_eth_dev_socket_id(port->ethdev);
	*lcore_node = (int)rte_lcore_to_socket_id(lcore);
	return *port_node >= 0 && *lcore_node >= 0 && *port_node != *lcore_node;
}

static bool link_is_up(const struct wh_port *port)
{
	struct rte_eth_link link;
	int error = rte_eth_link_get_nowait(port->ethdev, &link);

	/* If a driver cannot tell, the link counts as up. */
	return error == -ENOTSUP || (error == 0 && link.link_status == RTE_ETH_LINK_UP);
}

bool wh_port_watch_link(struct wh_port *port)
{
	if (port->started && port->nic_stamps)
		wh_nic_clock_watch(&port->nic_clock, port->ethdev);

	bool up = port->started && (port->calm ? wh_calm_turn(link_is_up, port) : link_is_up(port));

	__atomic_store_n(&port->link_up, up, __ATOMIC_RELAXED);
	if (port->started && port->rejoins)
		wh_rejoin_watch(port, up, rte_get_timer_cycles());
	return up;
}

uint64_t wh_port_line_bps(const struct wh_port *port)
{
	struct rte_eth_link link;

	if (rte_eth_link_get_nowait(port->ethdev, &link) != 0 ||
		link.link_speed == RTE_ETH_SPEED_NUM_UNKNOWN)
		return 0;
	return link.link_speed * UINT64_C(1000000);
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
