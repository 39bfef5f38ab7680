/* SPDX-License-Identifier: BSD-3-Clause */
#include "port/netif.h"

#include <assert.h>
#include <string.h>

#include <rte_ether.h>

#include "base/clock.h"
#include "neighbour/frame.h"
#include "port/arrived.h"

/* Frames begin on a cache line, behind room for the longest headers: see head_offset_for. */
#define FRAME_OFFSET RTE_ALIGN_CEIL(RTE_PKTMBUF_HEADROOM, RTE_CACHE_LINE_SIZE)

static_assert(FRAME_OFFSET + WH_ETHER_BYTES + WH_IPV4_BYTES + WH_UDP_BYTES >= WH_ENCAP_BYTES_MAX,
	"there is room before a head, whatever its family");

/*
 * The host gets no more than this in a turn, so that an ARP storm delays the packets of sessions
 * little; and no fewer than a burst, so that frames to a flooded host find room.
 */
#define HOST_FRAMES_PER_TURN WH_NETIF_BURST

static_assert(WH_PORT_QUEUES_MAX <= WH_NEIGHBOUR_PORTS_MAX, "errors about any queue are heard");
static_assert((WH_NETIF_HEADERS & (WH_NETIF_HEADERS - 1)) == 0, "a power of two");

/*
 * Offset of a packet's head in its mbuf. Frames of the family that is likely in use then begin on a
 * cache line: drivers that copy (memif) take a fifth longer for others.
 */
static uint32_t head_offset_for(const struct wh_netif_config *config)
{
	bool ipv4 = config->local4.family != 0;

	return FRAME_OFFSET + WH_ETHER_BYTES + (config->vlan != 0 ? WH_VLAN_BYTES : 0) +
	       wh_encap_ip_udp_bytes(ipv4 ? WH_IPV4 : WH_IPV6);
}

int wh_netif_init(struct wh_netif *netif, const struct wh_netif_config *config)
{
	WH_ASSERT(rte_pktmbuf_data_room_size(config->pool) >=
		  head_offset_for(config) + RTE_MAX(WH_CONTROL_BYTES_MAX, config->port->mtu));
	WH_ASSERT(wh_neighbour_config_wrong(&config->neighbour) == NULL);
	WH_ASSERT(config->local4.family != 0 || config->local6.family != 0);
	*netif = (struct wh_netif){.config = *config, .head_offset = head_offset_for(config)};
	netif->config.neighbour.vlan = config->vlan;
	netif->config.neighbour.entries = config->endpoint.places;

	int rc = wh_neighbour_init(&netif->neighbour, &netif->config.neighbour);

	if (rc == 0)
		rc = wh_fifo_init(&netif->host_frames, WH_NETIF_HOST_PKTS);
	if (rc == 0)
		rc = wh_fifo_init(&netif->news, WH_NETIF_NEWS_PKTS);
	if (rc == 0)
		rc = wh_endpoint_init(&netif->endpoint, &config->endpoint);
	if (rc != 0)
		wh_netif_free(netif);
	return rc;
}

static void free_frames(struct wh_fifo *frames)
{
	struct rte_mbuf *mbuf;

	while (frames->ring != NULL && (mbuf = wh_fifo_pop(frames)) != NULL)
		rte_pktmbuf_free(mbuf);
	wh_fifo_free(frames);
}

void wh_netif_free(struct wh_netif *netif)
{
	free_frames(&netif->host_frames);
	free_frames(&netif->news);
	rte_pktmbuf_free_bulk(netif->spare, netif->spares);
	netif->spares = 0;
	for (uint32_t i = 0; i < netif->waits; i++)
		rte_pktmbuf_free(netif->waiting[i].mbuf);
	netif->waits = 0;
	wh_endpoint_free(&netif->endpoint);
	wh_neighbour_free(&netif->neighbour);
}

void wh_netif_join(struct wh_netif *first, struct wh_netif *other)
{
	const struct wh_port *port = first->config.port;

	WH_ASSERT(other->config.port == port);
	WH_ASSERT(first->config.queue == 0 && other->config.queue != 0);
	if (port->steering != WH_PORT_STEER_RULES && port->steering != WH_PORT_STEER_HASH)
		return;
	WH_ASSERT(first->siblings < RTE_DIM(first->sibling));
	first->sibling[first->siblings++] = other;
}

/*
 * Whether an ARP packet announces a neighbour's address: a reply or an announcement (RFC 5227 3),
 * of an address that is not ours.
 */
static bool is_arp_news(const struct wh_neighbour *neighbour, const struct wh_heard *heard)
{
	const struct wh_arp *arp = (const struct wh_arp *)heard->body;

	return heard->bytes >= sizeof(*arp) &&
	       (arp->operation == rte_cpu_to_be_16(WH_ARP_REPLY) ||
		       memcmp(arp->sender_ip, arp->target_ip, sizeof(arp->sender_ip)) == 0) &&
	       memcmp(arp->sender_ip, neighbour->config.ipv4.ip, sizeof(arp->sender_ip)) != 0;
}

static bool is_ndp_news(const struct wh_neighbour *neighbour, struct wh_heard *heard)
{
	if (wh_heard_ip(heard) != WH_HEARD_OK || heard->protocol != WH_IP_PROTOCOL_ICMPV6 ||
		heard->bytes < sizeof(struct wh_ndp))
		return false;

	const struct wh_ndp *ndp = (const struct wh_ndp *)heard->body;

	return ndp->type == WH_NDP_ADVERTISEMENT &&
	       memcmp(ndp->target, neighbour->config.ipv6.ip, sizeof(ndp->target)) != 0 &&
	       memcmp(ndp->target, neighbour->link_local, sizeof(ndp->target)) != 0;
}

/*
 * Claims of our own addresses are not passed on: one netif contests them. The neighbour belongs
 * to the sending task; only its own addresses are read here, which never change.
 */
static bool is_news(const struct wh_netif *netif, const struct rte_mbuf *mbuf)
{
	struct wh_heard heard;

	if (!wh_heard_ether(
		    &heard, rte_pktmbuf_mtod(mbuf, const uint8_t *), rte_pktmbuf_data_len(mbuf)))
		return false;
	if (heard.type == WH_ETHER_TYPE_ARP)
		return is_arp_news(&netif->neighbour, &heard);
	return heard.type == WH_ETHER_TYPE_IPV6 && is_ndp_news(&netif->neighbour, &heard);
}

/* A reference for each sibling: nobody writes to the frame. */
static void tell_siblings(struct wh_netif *netif, struct rte_mbuf *mbuf)
{
	for (uint32_t i = 0; i < netif->siblings; i++) {
		rte_mbuf_refcnt_update(mbuf, 1);
		if (wh_fifo_push(&netif->sibling[i]->news, mbuf))
			continue;
		rte_mbuf_refcnt_update(mbuf, -1);
		netif->receive_stats.host_full_pkts++;
	}
}

/*
 * Passes a frame that is no packet of ours to the host. True: the mbuf has gone to the sending
 * task.
 */
static bool pass_to_host(struct wh_netif *netif, enum wh_encap_reason reason, struct rte_mbuf *mbuf)
{
	struct wh_netif_stats *stats = &netif->receive_stats;

	if (reason != WH_ENCAP_NOT_IP && reason != WH_ENCAP_NOT_UDP &&
		reason != WH_ENCAP_NOT_OURS) {
		stats->not_ours_pkts[reason]++;
		return false;
	}
	mbuf->hash.usr = reason;
	if (netif->siblings > 0 && is_news(netif, mbuf))
		tell_siblings(netif, mbuf);
	if (wh_fifo_push(&netif->host_frames, mbuf))
		return true;
	stats->host_full_pkts++;
	return false;
}

/* Our address of the frame's family, or of the only family that we have. */
static const struct wh_address *local_for(const struct wh_netif *netif, const uint8_t *frame)
{
	const struct wh_netif_config *config = &netif->config;

	if (config->local4.family == 0)
		return &config->local6;
	if (config->local6.family == 0)
		return &config->local4;

	const uint8_t *type = &frame[2 * RTE_ETHER_ADDR_LEN];

	if (type[0] == RTE_ETHER_TYPE_VLAN >> 8 && type[1] == (RTE_ETHER_TYPE_VLAN & 0xff))
		type += WH_VLAN_BYTES;
	return type[0] == RTE_ETHER_TYPE_IPV6 >> 8 && type[1] == (RTE_ETHER_TYPE_IPV6 & 0xff)
		       ? &config->local6
		       : &config->local4;
}

static inline void input(struct wh_netif *netif, uint64_t now_tsc, const struct rte_mbuf *mbuf,
	size_t header_bytes, size_t packet_bytes, const struct wh_address *from)
{
	uint64_t arrived_tsc = wh_port_arrived_tsc(netif->config.port, mbuf, now_tsc);
	const struct wh_ether_header *ether =
		rte_pktmbuf_mtod(mbuf, const struct wh_ether_header *);

	memcpy(netif->endpoint.via, ether->source, sizeof(ether->source));
	wh_endpoint_input(&netif->endpoint, now_tsc, wh_min_u64(arrived_tsc, now_tsc),
		rte_pktmbuf_mtod_offset(mbuf, uint8_t *, header_bytes), packet_bytes, from);
}

/* True: the mbuf has another owner now. */
static bool read_frame(struct wh_netif *netif, uint64_t now_tsc, struct rte_mbuf *mbuf)
{
	const uint8_t *frame = rte_pktmbuf_mtod(mbuf, const uint8_t *);
	const uint8_t *packet;
	size_t packet_bytes;
	struct wh_address from;
	enum wh_encap_reason reason = wh_encap_read(frame, rte_pktmbuf_data_len(mbuf),
		local_for(netif, frame), netif->config.vlan, wh_port_udp_sum_unknown(mbuf), &packet,
		&packet_bytes, &from);

	if (reason != WH_ENCAP_OK)
		return pass_to_host(netif, reason, mbuf);
	wh_encap_know(&netif->known, frame, packet, packet_bytes, &from);
	input(netif, now_tsc, mbuf, (size_t)(packet - frame), packet_bytes, &from);
	return false;
}

/* True: the mbuf has another owner now. */
static bool take_frame(struct wh_netif *netif, uint64_t now_tsc, struct rte_mbuf *mbuf)
{
	const struct wh_encap_known *known = &netif->known;
	const uint8_t *frame = rte_pktmbuf_mtod(mbuf, const uint8_t *);

	if (!wh_encap_is_known(known, frame, rte_pktmbuf_data_len(mbuf)))
		return read_frame(netif, now_tsc, mbuf);
	input(netif, now_tsc, mbuf, known->header_bytes, known->packet_bytes, &known->from);
	return false;
}

static uint64_t time_of(const struct wh_netif *netif, uint64_t turn_tsc)
{
	return netif->config.read_tsc != NULL ? netif->config.read_tsc() : turn_tsc;
}

/*
 * WH_NETIF_RECEIVE_MAX packets in full bursts are a whole ring of the port. So the ring was full,
 * and more packets were lost.
 */
static void note_full_ring(struct wh_netif *netif, uint64_t now_tsc, uint16_t count)
{
	netif->full_pkts = count < WH_NETIF_BURST ? 0 : netif->full_pkts + count;
	if (netif->full_pkts < WH_NETIF_RECEIVE_MAX)
		return;
	netif->full_pkts = 0;
	__atomic_store_n(&netif->missed_tsc, now_tsc, __ATOMIC_RELAXED);
}

/*
 * Takes one burst and returns its number of packets. Sets `now_tsc` to the time at which the burst
 * was taken.
 */
static uint16_t receive_burst(struct wh_netif *netif, uint64_t *now_tsc)
{
	struct wh_meter *meter = netif->config.endpoint.rx_meter;
	struct rte_mbuf *pkts[WH_NETIF_BURST];
	uint8_t before = wh_meter_enter(meter, WH_METER_PORT_RECEIVE);
	uint16_t count =
		wh_port_receive(netif->config.port, netif->config.queue, pkts, WH_NETIF_BURST);
	uint64_t before_tsc = *now_tsc;
	uint16_t kept = 0;

	wh_meter_enter(meter, WH_METER_DECODE);
	note_full_ring(netif, *now_tsc, count);
	if (count > 0)
		*now_tsc = time_of(netif, *now_tsc);
	for (uint16_t i = 0; i < count; i++)
		if (!take_frame(netif, *now_tsc, pkts[i]))
			pkts[kept++] = pkts[i];
	/* A packet that carries its arrival time needs no estimate. */
	if (count < WH_NETIF_BURST && !wh_port_has_stamps(netif->config.port))
		netif->endpoint.looked_tsc = before_tsc;
	wh_meter_enter(meter, WH_METER_PORT_RECEIVE);
	rte_pktmbuf_free_bulk(pkts, kept);
	wh_meter_leave(meter, before);
	return count;
}

int32_t wh_netif_receive(void *state, uint64_t now_tsc)
{
	struct wh_netif *netif = state;
	int32_t received = 0;
	uint16_t count;

	/*
	 * After a pause of the core several bursts wait, and the ring behind them is limited: take
	 * them all in one turn. Stop when frames for the host among them might find no room: in a
	 * flood of ARP most frames would be dropped, the few for us with them.
	 */
	do {
		count = receive_burst(netif, &now_tsc);
		received += count;
	} while (count == WH_NETIF_BURST && received < WH_NETIF_RECEIVE_MAX &&
		 wh_fifo_room(&netif->host_frames) >= WH_NETIF_BURST);
	return received + wh_endpoint_receive_poll(&netif->endpoint, now_tsc);
}

/* Hash of an address and port: hosts of a subnet differ in the last byte, and do not collide. */
static uint32_t place_of(const struct wh_address *to)
{
	uint64_t half[2];

	static_assert(sizeof(half) == sizeof(to->ip), "of an IPv6 address");
	memcpy(half, to->ip, sizeof(half));

	uint64_t mixed = half[0] ^ half[1] ^ to->port;

	mixed ^= mixed >> 32;
	mixed ^= mixed >> 16;
	mixed ^= mixed >> 8;
	return (uint32_t)(mixed % WH_NETIF_HEADERS);
}

/* Its target's MAC is left to the caller. */
static struct wh_flow flow_to(const struct wh_netif *netif, const struct wh_address *to)
{
	struct wh_flow flow = {
		.vlan = netif->config.vlan,
		.dscp = netif->config.dscp,
		.sum_left = netif->config.port->udp_sum_tx,
		.source = to->family == WH_IPV6 ? netif->config.local6 : netif->config.local4,
		.target = *to,
	};

	memcpy(flow.source_mac, netif->config.port->mac, sizeof(flow.source_mac));
	return flow;
}

/* The headers towards an address, NULL when it cannot be resolved; rebuilt only when changed. */
static struct wh_encap *encap_to(
	struct wh_netif *netif, uint64_t now_tsc, const struct wh_address *to)
{
	struct wh_netif_header *header = &netif->header[place_of(to)];
	bool same = header->encap.bytes != 0 && wh_address_equal(&header->to, to);

	/* Once a turn: lookups keep a neighbour's entry alive. */
	if (same && header->looked_up_tsc == now_tsc)
		return &header->encap;

	struct wh_flow flow = flow_to(netif, to);

	if (wh_neighbour_lookup(&netif->neighbour, now_tsc, to, flow.target_mac) !=
		WH_NEIGHBOUR_FOUND)
		return NULL;
	header->looked_up_tsc = now_tsc;
	if (same && memcmp(header->mac, flow.target_mac, sizeof(flow.target_mac)) == 0)
		return &header->encap;

	memcpy(header->mac, flow.target_mac, sizeof(flow.target_mac));
	wh_encap_init(&header->encap, &flow);
	header->to = *to;
	return &header->encap;
}

/*
 * The headers of a reply to a stranger; NULL: none is allowed. The reply goes to the MAC from which
 * the packet came. A stranger may claim any number of addresses, so none is looked up or stored.
 */
static struct wh_encap *encap_back(
	struct wh_netif *netif, const struct wh_address *to, const uint8_t via[6])
{
	struct wh_flow flow = flow_to(netif, to);

	if (!wh_neighbour_may_answer(&netif->neighbour, to, via))
		return NULL;
	memcpy(flow.target_mac, via, sizeof(flow.target_mac));
	wh_encap_init(&netif->back, &flow);
	return &netif->back;
}

/* Nothing to do: the memory is the arena's, which stays until the port is closed. */
static void payload_sent(void *memory, void *context)
{
	(void)memory;
	(void)context;
}

/*
 * Attaches the payload to the head without copying it from its chunk. False: no mbuf for it.
 *
 * A chunk goes back to its reader when all of it is acknowledged, while a second copy of a packet
 * may still wait in the device: it then leaves with changed bytes that do not match its tag, and
 * the receiver drops it as a duplicate.
 */
static bool attach_payload(struct wh_netif *netif, struct rte_mbuf *head, const struct wh_out *out)
{
	struct rte_mbuf *payload = rte_pktmbuf_alloc(netif->config.pool);

	if (payload == NULL)
		return false;

	/*
	 * In the mbuf's own room, which is otherwise unused: packets do not share a reference
	 * count.
	 */
	struct rte_mbuf_ext_shared_info *info =
		(struct rte_mbuf_ext_shared_info *)rte_mbuf_to_baddr(payload);

	info->free_cb = payload_sent;
	info->fcb_opaque = NULL;
	rte_mbuf_ext_refcnt_set(info, 1);
	/* Devices use virtual addresses (IOVA as VA), or nothing is attached. */
	rte_pktmbuf_attach_extbuf(payload, (void *)(uintptr_t)out->payload,
		(rte_iova_t)(uintptr_t)out->payload, (uint16_t)out->payload_bytes, info);
	payload->data_len = (uint16_t)out->payload_bytes;
	head->next = payload;
	head->nb_segs = 2;
	head->pkt_len = head->data_len + payload->data_len;
	return true;
}

/* Completes the frame around a packet whose head is in the mbuf already. */
static void finish_frame(struct wh_netif *netif, struct wh_encap *encap, struct rte_mbuf *mbuf,
	const struct wh_out *out)
{
	bool behind = out->payload == out->head + out->head_bytes;
	bool attached = false;

	wh_encap_write(encap, out->head - encap->bytes, out->head, out->head_bytes, out->payload,
		out->payload_bytes);
	mbuf->data_off = (uint16_t)(netif->head_offset - encap->bytes);
	mbuf->data_len = (uint16_t)(encap->bytes + out->head_bytes);
	mbuf->pkt_len = mbuf->data_len;
	if (!behind && out->payload_bytes >= netif->config.attach_bytes)
		attached = attach_payload(netif, mbuf, out);
	if (!attached && out->payload_bytes > 0) {
		if (!behind)
			memcpy(out->head + out->head_bytes, out->payload, out->payload_bytes);
		mbuf->data_len += (uint16_t)out->payload_bytes;
		mbuf->pkt_len = mbuf->data_len;
	}
	if (encap->sum_left)
		wh_port_offload_udp6(mbuf, (uint16_t)(encap->bytes - WH_IPV6_BYTES - WH_UDP_BYTES));
}

static uint32_t refill(struct wh_netif *netif, uint32_t wanted)
{
	if (netif->spares >= wanted)
		return wanted;
	if (rte_pktmbuf_alloc_bulk(
		    netif->config.pool, &netif->spare[netif->spares], wanted - netif->spares) == 0)
		netif->spares = wanted;
	else
		netif->send_stats.no_mbuf_turns++;
	return RTE_MIN(wanted, netif->spares);
}

/* The first `count` spare packets are used up; `sent` of `pkts` go to the port. */
static void hand_over(struct wh_netif *netif, struct rte_mbuf **pkts, uint32_t sent, uint32_t count)
{
	uint8_t before = wh_meter_enter(netif->config.endpoint.tx_meter, WH_METER_PORT_SEND);
	/* Also with an empty burst, which sends the backlog. */
	uint16_t taken =
		wh_port_send(netif->config.port, netif->config.queue, pkts, (uint16_t)sent);

	/*
	 * Packets that the port could not even copy (no mbuf) are lost like any packet on the way.
	 */
	rte_pktmbuf_free_bulk(&pkts[taken], sent - taken);
	netif->spares -= count;
	memmove(netif->spare, &netif->spare[count], netif->spares * sizeof(netif->spare[0]));
	wh_meter_leave(netif->config.endpoint.tx_meter, before);
}

/* ARP, neighbour discovery, echo: frames for the host's own duties. */
static int32_t receive_for_the_host(struct wh_netif *netif, uint64_t now_tsc)
{
	int32_t taken = 0;
	struct rte_mbuf *mbuf;

	for (; taken < HOST_FRAMES_PER_TURN; taken++) {
		mbuf = wh_fifo_pop(&netif->host_frames);
		if (mbuf == NULL)
			break;

		uint32_t reason = mbuf->hash.usr;
		enum wh_neighbour_reason verdict = wh_neighbour_input(&netif->neighbour, now_tsc,
			rte_pktmbuf_mtod(mbuf, const uint8_t *), rte_pktmbuf_data_len(mbuf));

		/* Questions to others and news of hosts that we do not know are no errors. */
		if (verdict != WH_NEIGHBOUR_OK && verdict != WH_NEIGHBOUR_NOT_ASKED &&
			(verdict != WH_NEIGHBOUR_NOT_OURS || reason != WH_ENCAP_NOT_IP))
			netif->send_stats.not_ours_pkts[reason]++;
		rte_pktmbuf_free(mbuf);
	}
	return taken;
}

/* News that the netif of queue 0 received; it counts such frames, right and wrong. */
static int32_t receive_news(struct wh_netif *netif, uint64_t now_tsc)
{
	int32_t taken = 0;
	struct rte_mbuf *mbuf;

	for (; taken < HOST_FRAMES_PER_TURN; taken++) {
		mbuf = wh_fifo_pop(&netif->news);
		if (mbuf == NULL)
			break;
		(void)wh_neighbour_input(&netif->neighbour, now_tsc,
			rte_pktmbuf_mtod(mbuf, const uint8_t *), rte_pktmbuf_data_len(mbuf));
		rte_pktmbuf_free(mbuf);
	}
	return taken;
}

/* Questions and answers about neighbours: one a turn, since they are few. */
static void send_for_the_host(struct wh_netif *netif, uint64_t now_tsc)
{
	if (wh_neighbour_deadline(&netif->neighbour) > now_tsc ||
		wh_port_send_room(netif->config.port, netif->config.queue) == 0 ||
		refill(netif, 1) == 0)
		return;

	struct rte_mbuf *mbuf = netif->spare[0];

	mbuf->data_off = RTE_PKTMBUF_HEADROOM;

	size_t bytes = wh_neighbour_output(&netif->neighbour, now_tsc,
		rte_pktmbuf_mtod(mbuf, uint8_t *), rte_pktmbuf_tailroom(mbuf));

	if (bytes == 0)
		return;
	mbuf->data_len = (uint16_t)bytes;
	mbuf->pkt_len = (uint32_t)bytes;
	hand_over(netif, &mbuf, 1, 1);
}

/* How many of the first `waits` packets wait for the MAC of that target. */
static uint32_t waits_for(const struct wh_netif *netif, uint32_t waits, const struct wh_address *to)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < waits; i++)
		count += wh_address_equal(&netif->waiting[i].to, to);
	return count;
}

/* Those to the same target move up. */
static void wait_no_more(struct wh_netif *netif, uint32_t i)
{
	struct wh_netif_waiting *one = &netif->waiting[i];
	const struct wh_address to = one->to;

	netif->send_stats.unresolved_pkts++;
	rte_pktmbuf_free(one->mbuf);
	netif->waits--;
	memmove(one, one + 1, (netif->waits - i) * sizeof(*one));
	for (; i < netif->waits; i++)
		netif->waiting[i].nth -= wh_address_equal(&netif->waiting[i].to, &to);
}

static void drop_old(
	struct wh_netif *netif, uint64_t now_tsc, const struct wh_address *to, uint64_t most_ms)
{
	uint64_t most_tsc = wh_us_to_tsc(netif->config.neighbour.hz, most_ms * UINT64_C(1000));
	uint32_t i = 0;

	while (i < netif->waits) {
		const struct wh_netif_waiting *one = &netif->waiting[i];

		if (now_tsc - one->since_tsc >= most_tsc &&
			(to == NULL || wh_address_equal(&one->to, to)))
			wait_no_more(netif, i);
		else
			i++;
	}
}

/*
 * Room for the packet after `before` others to its target. If all places are taken, the last packet
 * of the target that has most of them makes room, or the oldest of all if each target has one. So
 * a target that does not answer leaves places for others.
 */
static bool has_place(struct wh_netif *netif, uint32_t before)
{
	uint32_t last = 0;

	if (netif->waits < WH_NETIF_WAITING)
		return true;
	for (uint32_t i = 1; i < WH_NETIF_WAITING; i++)
		if (netif->waiting[i].nth > netif->waiting[last].nth)
			last = i;
	if (netif->waiting[last].nth <= before + (before > 0))
		return false;
	wait_no_more(netif, last);
	return true;
}

/*
 * Keeps a packet until its target's MAC is known. Otherwise the first packets of an exchange would
 * be lost, and the exchange would wait for their retransmission.
 */
static void keep_waiting(
	struct wh_netif *netif, uint64_t now_tsc, struct rte_mbuf *mbuf, const struct wh_out *out)
{
	drop_old(netif, now_tsc, out->to, WH_NETIF_IN_ORDER_MS);

	uint32_t before = waits_for(netif, netif->waits, out->to);

	if (!has_place(netif, before)) {
		netif->send_stats.unresolved_pkts++;
		rte_pktmbuf_free(mbuf);
		return;
	}
	if (out->payload_bytes > 0 && out->payload != out->head + out->head_bytes)
		memcpy(out->head + out->head_bytes, out->payload, out->payload_bytes);
	netif->waiting[netif->waits++] = (struct wh_netif_waiting){
		.mbuf = mbuf,
		.to = *out->to,
		.nth = before + 1,
		.head_bytes = out->head_bytes,
		.payload_bytes = out->payload_bytes,
		.since_tsc = now_tsc,
	};
}

/* Sends the waiting packets whose target is known now, in order. */
static void send_waiting(struct wh_netif *netif, uint64_t now_tsc)
{
	struct rte_mbuf *pkts[WH_NETIF_WAITING];
	uint32_t room = wh_port_send_room(netif->config.port, netif->config.queue);
	const struct wh_address *to = NULL;
	struct wh_encap *encap = NULL;
	uint32_t sent = 0, left = 0;

	drop_old(netif, now_tsc, NULL, WH_NETIF_WAITS_MS);
	for (uint32_t i = 0; i < netif->waits; i++) {
		struct wh_netif_waiting one = netif->waiting[i];
		uint8_t *head = (uint8_t *)one.mbuf->buf_addr + netif->head_offset;
		const struct wh_out out = {
			.head = head,
			.head_bytes = one.head_bytes,
			.payload = head + one.head_bytes,
			.payload_bytes = one.payload_bytes,
			.to = &one.to,
		};

		if (to == NULL || !wh_address_equal(&one.to, to)) {
			to = &netif->waiting[i].to;
			encap = encap_to(netif, now_tsc, to);
		}
		if (encap == NULL || sent == room) {
			if (encap != NULL)
				one.nth = 1 + waits_for(netif, left, to);
			netif->waiting[left++] = one;
			continue;
		}
		finish_frame(netif, encap, one.mbuf, &out);
		pkts[sent++] = one.mbuf;
	}
	netif->waits = left;
	if (sent > 0)
		hand_over(netif, pkts, sent, 0);
}

/* As encap_to; NULL: also while others wait that must go first. */
static struct wh_encap *encap_behind(
	struct wh_netif *netif, uint64_t now_tsc, const struct wh_address *to)
{
	if (unlikely(netif->waits > 0) && waits_for(netif, netif->waits, to) > 0)
		return NULL;
	return encap_to(netif, now_tsc, to);
}

/* Builds the frames around `count` packets in the spare mbufs; returns how many were resolved. */
static uint32_t finish_frames(struct wh_netif *netif, uint64_t now_tsc, const struct wh_out *out,
	uint32_t count, struct rte_mbuf **pkts)
{
	uint8_t before = wh_meter_enter(netif->config.endpoint.tx_meter, WH_METER_FRAME);
	const struct wh_address *to = NULL;
	struct wh_encap *encap = NULL;
	const uint8_t *via;
	bool back = false;
	uint32_t finished = 0;

	for (uint32_t i = 0; i < count; i++) {
		if (out[i].to != to) {
			to = out[i].to;
			back = wh_endpoint_is_reply(&netif->endpoint, to, &via);
			encap = back ? encap_back(netif, to, via)
				     : encap_behind(netif, now_tsc, to);
		}
		if (likely(encap != NULL)) {
			finish_frame(netif, encap, netif->spare[i], &out[i]);
			pkts[finished++] = netif->spare[i];
		} else if (!back) {
			keep_waiting(netif, now_tsc, netif->spare[i], &out[i]);
		} else {
			netif->send_stats.unresolved_pkts++;
			rte_pktmbuf_free(netif->spare[i]);
		}
	}
	wh_meter_leave(netif->config.endpoint.tx_meter, before);
	return finished;
}

int32_t wh_netif_send(void *state, uint64_t turn_tsc)
{
	struct wh_netif *netif = state;
	struct wh_out out[WH_NETIF_BURST];
	struct rte_mbuf *pkts[WH_NETIF_BURST];
	uint64_t now_tsc = time_of(netif, turn_tsc);
	int32_t work = wh_endpoint_send_poll(&netif->endpoint, now_tsc);

	wh_neighbour_missed(
		&netif->neighbour, __atomic_load_n(&netif->missed_tsc, __ATOMIC_RELAXED));
	work += receive_for_the_host(netif, now_tsc);
	work += receive_news(netif, now_tsc);
	send_for_the_host(netif, now_tsc);
	if (unlikely(netif->waits > 0))
		send_waiting(netif, now_tsc);

	uint32_t room =
		RTE_MIN(wh_port_send_room(netif->config.port, netif->config.queue), WH_NETIF_BURST);

	room = refill(netif, room);
	for (uint32_t i = 0; i < room; i++)
		out[i].head = (uint8_t *)netif->spare[i]->buf_addr + netif->head_offset;

	uint32_t count = wh_endpoint_output(&netif->endpoint, now_tsc, out, room);
	uint32_t finished = finish_frames(netif, now_tsc, out, count, pkts);

	hand_over(netif, pkts, finished, count);
	return work + (int32_t)count;
}

struct wh_netif_stats wh_netif_stats(const struct wh_netif *netif)
{
	struct wh_netif_stats sum;
	const uint64_t *receive = (const uint64_t *)&netif->receive_stats;
	const uint64_t *send = (const uint64_t *)&netif->send_stats;
	uint64_t *to = (uint64_t *)&sum;

	static_assert(sizeof(sum) % sizeof(uint64_t) == 0, "all counters are of 64 bits");
	for (size_t i = 0; i < sizeof(sum) / sizeof(uint64_t); i++)
		to[i] = __atomic_load_n(&receive[i], __ATOMIC_RELAXED) +
			__atomic_load_n(&send[i], __ATOMIC_RELAXED);
	return sum;
}

uint64_t wh_netif_bad_pkts(const struct wh_netif *netif)
{
	struct wh_netif_stats stats = wh_netif_stats(netif);
	uint64_t bad_pkts = wh_endpoint_bad_pkts(&netif->endpoint);

	for (uint32_t i = WH_ENCAP_OK + 1; i < WH_ENCAP_REASONS; i++)
		bad_pkts += stats.not_ours_pkts[i];
	return bad_pkts;
}
