/* SPDX-License-Identifier: BSD-3-Clause */
#include "port/port.h"

#include <errno.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_ip.h>
#include <rte_udp.h>

#include "base/assert.h"
#include "port/calm.h"
#include "wire/encap.h"

static const char *const drop_names[WH_PORT_DROPS] = {
	[WH_PORT_RX_CHECKSUM] = "received with a wrong checksum",
	[WH_PORT_RX_CHAIN] = "received in segments that fit no mbuf",
	[WH_PORT_RX_NO_MBUF] = "received in segments while out of mbufs",
	[WH_PORT_RX_MISSED] = "missed by the device",
	[WH_PORT_RX_ERROR] = "received in error by the device",
	[WH_PORT_TX_CHAIN] = "to be sent in segments that fit no mbuf",
	[WH_PORT_TX_LINK_DOWN] = "to be sent while the link was down",
	[WH_PORT_TX_STOPPED] = "to be sent by a stopped port",
	[WH_PORT_TX_REFUSED] = "not sent, refused by the kernel",
};

const char *wh_port_drop_name(enum wh_port_drop drop)
{
	WH_ASSERT((unsigned int)drop < WH_PORT_DROPS);
	return drop_names[drop];
}

int wh_port_find(const char *name, uint16_t *ethdev)
{
	WH_ASSERT(name != NULL && ethdev != NULL);
	return rte_eth_dev_get_port_by_name(name, ethdev) == 0 ? 0 : -ENODEV;
}

uint16_t wh_port_room_bytes(uint16_t mtu)
{
	WH_ASSERT(mtu <= WH_PORT_MTU_MAX);

	/*
	 * NICs count buffers in units of 128 bytes and leave room for two VLAN tags and the frame
	 * check sequence. AF_PACKET wants room for a whole slot of its ring, which is up to 128
	 * bytes more than the frame, and 2048 bytes by default. AF_XDP keeps 256 bytes before a
	 * frame for its programs, and drops frames without counting them if the rest is too small.
	 */
	uint32_t room_bytes = RTE_ALIGN_CEIL((uint32_t)mtu + WH_ETHER_BYTES + 12, 128) + 256;

	return (uint16_t)(RTE_PKTMBUF_HEADROOM + RTE_MAX(room_bytes, UINT32_C(2048)));
}

static uint16_t pool_room_bytes(const struct wh_port *port)
{
	return rte_pktmbuf_data_room_size(port->pool) - RTE_PKTMBUF_HEADROOM;
}

static void count_drops(
	struct wh_port_queue *q, enum wh_port_drop reason, struct rte_mbuf **pkts, uint16_t count)
{
	q->stats.dropped_pkts[reason] += count;
	rte_pktmbuf_free_bulk(pkts, count);
}

/*
 * Replaces a packet by a copy in one mbuf of the port's pool. On failure the packet is unchanged:
 * -ENOMEM (may succeed later) or -EMSGSIZE (never).
 */
static int linearise(const struct wh_port *port, struct rte_mbuf **pkt)
{
	WH_DEBUG_ASSERT((*pkt)->pkt_len > 0);
	if ((*pkt)->pkt_len > pool_room_bytes(port))
		return -EMSGSIZE;

	struct rte_mbuf *copy = rte_pktmbuf_copy(*pkt, port->pool, 0, UINT32_MAX);

	if (copy == NULL)
		return -ENOMEM;
	WH_ASSERT(copy->nb_segs == 1);
	rte_pktmbuf_free(*pkt);
	*pkt = copy;
	return 0;
}

/* NONE has the bits of both GOOD and BAD set, so the whole field is compared. */
static bool sum_is_bad(const struct rte_mbuf *pkt)
{
	return (pkt->ol_flags & RTE_MBUF_F_RX_L4_CKSUM_MASK) == RTE_MBUF_F_RX_L4_CKSUM_BAD ||
	       (pkt->ol_flags & RTE_MBUF_F_RX_IP_CKSUM_MASK) == RTE_MBUF_F_RX_IP_CKSUM_BAD;
}

/* Checks one received packet: true when it may go to the caller, else it is freed and counted. */
static bool accept_received(
	const struct wh_port *port, struct wh_port_queue *q, struct rte_mbuf **pkt)
{
	if (unlikely(sum_is_bad(*pkt) && !port->transparent)) {
		count_drops(q, WH_PORT_RX_CHECKSUM, pkt, 1);
		return false;
	}
	if (likely((*pkt)->nb_segs == 1))
		return true;

	int error = linearise(port, pkt);

	if (error == 0)
		return true;
	count_drops(q, error == -EMSGSIZE ? WH_PORT_RX_CHAIN : WH_PORT_RX_NO_MBUF, pkt, 1);
	return false;
}

static uint16_t receive_burst(
	const struct wh_port *port, uint16_t queue, struct rte_mbuf **pkts, uint16_t count)
{
	if (likely(!port->calm))
		return rte_eth_rx_burst(port->ethdev, queue, pkts, count);
	if (!wh_calm_begin())
		return 0;

	uint16_t came = rte_eth_rx_burst(port->ethdev, queue, pkts, count);

	wh_calm_end();
	return came;
}

static uint16_t send_burst(
	const struct wh_port *port, uint16_t queue, struct rte_mbuf **pkts, uint16_t count)
{
	if (likely(!port->calm))
		return rte_eth_tx_burst(port->ethdev, queue, pkts, count);
	if (!wh_calm_begin())
		return 0;

	uint16_t taken = rte_eth_tx_burst(port->ethdev, queue, pkts, count);

	wh_calm_end();
	return taken;
}

void wh_port_set_tap(struct wh_port *port, uint16_t queue, bool sent, const struct wh_port_tap *tap)
{
	WH_ASSERT(queue < port->queues && (tap == NULL || tap->see != NULL));
	__atomic_store_n(sent ? &port->queue[queue].tx_tap : &port->queue[queue].rx_tap, tap,
		__ATOMIC_RELEASE);
}

static inline void show_tap(
	const struct wh_port_tap *const *place, struct rte_mbuf *const *pkts, uint16_t count)
{
	const struct wh_port_tap *tap = __atomic_load_n(place, __ATOMIC_ACQUIRE);

	if (unlikely(tap != NULL) && count > 0)
		tap->see(tap->context, pkts, count);
}

uint16_t wh_port_receive(
	struct wh_port *port, uint16_t queue, struct rte_mbuf **pkts, uint16_t count)
{
	WH_ASSERT(queue < port->queues);
	if (unlikely(!port->started))
		return 0;

	struct wh_port_queue *q = &port->queue[queue];
	uint16_t came = receive_burst(port, queue, pkts, count);
	uint16_t kept = 0;
	uint64_t bytes = 0;

	for (uint16_t i = 0; i < came; i++) {
		struct rte_mbuf *pkt = pkts[i];

		if (!accept_received(port, q, &pkt))
			continue;
		bytes += pkt->pkt_len;
		pkts[kept++] = pkt;
	}
	q->stats.rx_pkts += kept;
	q->stats.rx_bytes += bytes;
	show_tap(&q->rx_tap, pkts, kept);
	return kept;
}

static uint64_t sum_bytes(struct rte_mbuf *const *pkts, uint16_t count)
{
	uint64_t bytes = 0;

	for (uint16_t i = 0; i < count; i++)
		bytes += pkts[i]->pkt_len;
	return bytes;
}

/* Returns how many packets of a burst the device took; those may be freed already. */
static uint16_t transmit(
	struct wh_port *port, uint16_t queue, struct rte_mbuf **pkts, uint16_t count)
{
	struct wh_port_stats *stats = &port->queue[queue].stats;
	uint64_t bytes = sum_bytes(pkts, count);
	uint16_t taken = send_burst(port, queue, pkts, count);

	if (taken < count)
		stats->tx_full++;
	stats->tx_pkts += taken;
	stats->tx_bytes += bytes - sum_bytes(&pkts[taken], count - taken);
	return taken;
}

/* Whether packets may go to the device; else the backlog is dropped, by this queue's lcore. */
static bool may_transmit(
	const struct wh_port *port, struct wh_port_queue *q, enum wh_port_drop *reason)
{
	if (likely(port->started && __atomic_load_n(&port->link_up, __ATOMIC_RELAXED)))
		return true;
	*reason = port->started ? WH_PORT_TX_LINK_DOWN : WH_PORT_TX_STOPPED;
	count_drops(q, *reason, q->backlog, q->backlog_pkts);
	q->backlog_pkts = 0;
	return false;
}

static void send_backlog(struct wh_port *port, uint16_t queue)
{
	struct wh_port_queue *q = &port->queue[queue];

	if (likely(q->backlog_pkts == 0))
		return;

	uint16_t taken = transmit(port, queue, q->backlog, q->backlog_pkts);

	q->backlog_pkts -= taken;
	memmove(q->backlog, &q->backlog[taken], q->backlog_pkts * sizeof(q->backlog[0]));
}

uint16_t wh_port_flush(struct wh_port *port, uint16_t queue)
{
	WH_ASSERT(queue < port->queues);

	struct wh_port_queue *q = &port->queue[queue];
	enum wh_port_drop reason;

	if (may_transmit(port, q, &reason))
		send_backlog(port, queue);
	return q->backlog_pkts;
}

/* To the device first, if no backlog waits; then to the backlog as far as it has room. */
static uint16_t send_plain(
	struct wh_port *port, uint16_t queue, struct rte_mbuf **pkts, uint16_t count)
{
	struct wh_port_queue *q = &port->queue[queue];

	/* All of these are taken; the device may have freed them afterwards. */
	count = RTE_MIN(count, wh_port_send_room(port, queue));
	show_tap(&q->tx_tap, pkts, count);

	uint16_t taken = q->backlog_pkts == 0 ? transmit(port, queue, pkts, count) : 0;
	uint16_t wait = (uint16_t)(count - taken);

	memcpy(&q->backlog[q->backlog_pkts], &pkts[taken], wait * sizeof(pkts[0]));
	q->backlog_pkts += wait;
	return taken + wait;
}

/*
 * Drivers without multi-segment sending take one segment of the pool's own memory only, and send
 * wrong bytes otherwise.
 */
static bool is_plain(const struct rte_mbuf *pkt)
{
	return pkt->nb_segs == 1 && RTE_MBUF_DIRECT(pkt);
}

/*
 * For ports without multi-segment sending. No more packets are copied than the backlog could hold,
 * so that each copied packet is taken. If mbufs run out the remaining packets stay with the caller.
 */
static uint16_t send_copies(
	struct wh_port *port, uint16_t queue, struct rte_mbuf **pkts, uint16_t count)
{
	struct wh_port_queue *q = &port->queue[queue];
	struct rte_mbuf *plain[WH_PORT_BACKLOG_PKTS];
	uint16_t plain_pkts = 0;
	uint16_t seen;

	count = RTE_MIN(count, wh_port_send_room(port, queue));
	for (seen = 0; seen < count; seen++) {
		struct rte_mbuf *pkt = pkts[seen];

		if (!is_plain(pkt)) {
			int error = linearise(port, &pkt);

			if (error == -ENOMEM)
				break;
			if (error == -EMSGSIZE) {
				count_drops(q, WH_PORT_TX_CHAIN, &pkt, 1);
				continue;
			}
			q->stats.tx_linearised++;
		}
		plain[plain_pkts++] = pkt;
	}

	uint16_t taken = send_plain(port, queue, plain, plain_pkts);

	WH_ASSERT(taken == plain_pkts);
	return seen;
}

uint16_t wh_port_send(struct wh_port *port, uint16_t queue, struct rte_mbuf **pkts, uint16_t count)
{
	WH_ASSERT(queue < port->queues);

	struct wh_port_queue *q = &port->queue[queue];
	enum wh_port_drop reason;

	if (unlikely(!may_transmit(port, q, &reason))) {
		count_drops(q, reason, pkts, count);
		return count;
	}
	send_backlog(port, queue);
	if (count == 0)
		return 0;
	return port->multi_segment_tx ? send_plain(port, queue, pkts, count)
				      : send_copies(port, queue, pkts, count);
}

void wh_port_offload_udp6(struct rte_mbuf *pkt, uint16_t l2_bytes)
{
	const struct rte_ipv6_hdr *ip =
		rte_pktmbuf_mtod_offset(pkt, const struct rte_ipv6_hdr *, l2_bytes);
	struct rte_udp_hdr *udp =
		rte_pktmbuf_mtod_offset(pkt, struct rte_udp_hdr *, l2_bytes + sizeof(*ip));

	WH_DEBUG_ASSERT(pkt->data_len >= l2_bytes + sizeof(*ip) + sizeof(*udp));
	WH_DEBUG_ASSERT(ip->proto == IPPROTO_UDP && ip->payload_len == udp->dgram_len);
	pkt->l2_len = l2_bytes;
	pkt->l3_len = sizeof(*ip);
	pkt->ol_flags |= RTE_MBUF_F_TX_IPV6 | RTE_MBUF_F_TX_UDP_CKSUM;
	udp->dgram_cksum = rte_ipv6_phdr_cksum(ip, pkt->ol_flags);
}

const struct wh_port_stats *wh_port_stats(const struct wh_port *port, uint16_t queue)
{
	WH_ASSERT(queue < port->queues);
	return &port->queue[queue].stats;
}

void wh_port_stats_total(struct wh_port *port, struct wh_port_stats *total)
{
	struct rte_eth_stats device;

	memset(total, 0, sizeof(*total));
	for (uint16_t queue = 0; queue < port->queues; queue++) {
		const struct wh_port_stats *stats = &port->queue[queue].stats;

		total->rx_pkts += stats->rx_pkts;
		total->rx_bytes += stats->rx_bytes;
		total->tx_pkts += stats->tx_pkts;
		total->tx_bytes += stats->tx_bytes;
		total->tx_full += stats->tx_full;
		total->tx_linearised += stats->tx_linearised;
		for (uint32_t i = 0; i < WH_PORT_DROPS; i++)
			total->dropped_pkts[i] += stats->dropped_pkts[i];
	}
	if (!port->started)
		return;
	if (rte_eth_stats_get(port->ethdev, &device) == 0) {
		total->dropped_pkts[WH_PORT_RX_MISSED] = device.imissed + device.rx_nombuf;
		total->dropped_pkts[WH_PORT_RX_ERROR] = device.ierrors;
	}
	wh_nic_counters_read(
		&port->nic_counters, port->ethdev, rte_get_timer_cycles(), rte_get_timer_hz());
	total->tx_held = wh_nic_counters_held(&port->nic_counters);
	total->dropped_pkts[WH_PORT_RX_MISSED] += wh_packet_sockets_dropped(&port->sockets);
}
