/* SPDX-License-Identifier: BSD-3-Clause */
#include "port/station.h"

#include <string.h>

#include "base/clock.h"

/* A packet's head stands here in its mbuf, so that the longest headers fit before it. */
#define HEAD_OFFSET (RTE_PKTMBUF_HEADROOM + WH_ENCAP_BYTES_MAX)

int wh_station_init(struct wh_station *station, const struct wh_station_config *config)
{
	WH_ASSERT(rte_pktmbuf_data_room_size(config->pool) >=
		  HEAD_OFFSET + RTE_MAX(WH_CONTROL_BYTES_MAX, config->port->mtu));
	WH_ASSERT(wh_neighbour_config_wrong(&config->neighbour) == NULL);
	*station = (struct wh_station){.config = *config};

	int rc = wh_neighbour_init(&station->neighbour, &config->neighbour);

	return rc != 0 ? rc : wh_endpoint_init(&station->endpoint, &config->endpoint);
}

void wh_station_free(struct wh_station *station)
{
	rte_pktmbuf_free_bulk(station->spare, station->spares);
	station->spares = 0;
	wh_endpoint_free(&station->endpoint);
	wh_neighbour_free(&station->neighbour);
}

/* ARP, neighbour discovery, echo: no packet of ours, and yet not for nothing. */
static bool is_for_the_host(struct wh_station *station, uint64_t now_tsc,
	enum wh_encap_reason reason, const struct rte_mbuf *mbuf)
{
	if (reason != WH_ENCAP_NOT_IP && reason != WH_ENCAP_NOT_UDP && reason != WH_ENCAP_NOT_OURS)
		return false;

	enum wh_neighbour_reason verdict = wh_neighbour_input(&station->neighbour, now_tsc,
		rte_pktmbuf_mtod(mbuf, const uint8_t *), rte_pktmbuf_data_len(mbuf));

	/* Questions to others and news of hosts that we do not know are nothing wrong. */
	return verdict == WH_NEIGHBOUR_OK || verdict == WH_NEIGHBOUR_NOT_ASKED ||
	       (verdict == WH_NEIGHBOUR_NOT_OURS && reason == WH_ENCAP_NOT_IP);
}

static void take_frame(struct wh_station *station, uint64_t now_tsc, const struct rte_mbuf *mbuf)
{
	const uint8_t *packet;
	size_t packet_bytes;
	struct wh_address from;
	enum wh_encap_reason reason = wh_encap_read(rte_pktmbuf_mtod(mbuf, const uint8_t *),
		rte_pktmbuf_data_len(mbuf), &station->config.local, wh_port_udp_sum_unknown(mbuf),
		&packet, &packet_bytes, &from);

	if (reason != WH_ENCAP_OK) {
		if (!is_for_the_host(station, now_tsc, reason, mbuf))
			station->stats.not_ours_pkts[reason]++;
		return;
	}

	uint64_t arrived_tsc = wh_port_arrived_tsc(station->config.port, mbuf, now_tsc);

	wh_endpoint_input(&station->endpoint, now_tsc, wh_min_u64(arrived_tsc, now_tsc), packet,
		packet_bytes, &from);
}

int32_t wh_station_receive(void *state, uint64_t now_tsc)
{
	struct wh_station *station = state;
	struct rte_mbuf *pkts[WH_STATION_BURST];
	int32_t received = 0;
	uint16_t count;

	/* After a pause of the core several bursts wait, and the ring behind them has an end. */
	do {
		count = wh_port_receive(
			station->config.port, station->config.queue, pkts, WH_STATION_BURST);
		for (uint16_t i = 0; i < count; i++)
			take_frame(station, now_tsc, pkts[i]);
		rte_pktmbuf_free_bulk(pkts, count);
		received += count;
	} while (count == WH_STATION_BURST && received < WH_STATION_RECEIVE_MAX);
	return received;
}

int32_t wh_station_work(void *state, uint64_t now_tsc)
{
	struct wh_station *station = state;

	return wh_endpoint_poll(&station->endpoint, now_tsc);
}

/* The headers towards an address, NULL when there is no way to it; made anew only when changed. */
static const struct wh_encap *encap_to(
	struct wh_station *station, uint64_t now_tsc, const struct wh_address *to)
{
	bool same = station->encap.bytes != 0 && wh_address_equal(&station->encap_to, to);
	struct wh_flow flow = {.source = station->config.local, .target = *to};

	/* Once a turn: use is what keeps a neighbour known. */
	if (same && station->encap_tsc == now_tsc)
		return &station->encap;
	if (wh_neighbour_lookup(&station->neighbour, now_tsc, to, flow.target_mac) !=
		WH_NEIGHBOUR_FOUND)
		return NULL;
	station->encap_tsc = now_tsc;
	if (same && memcmp(station->encap_mac, flow.target_mac, sizeof(flow.target_mac)) == 0)
		return &station->encap;

	memcpy(flow.source_mac, &station->config.port->mac, sizeof(flow.source_mac));
	memcpy(station->encap_mac, flow.target_mac, sizeof(flow.target_mac));
	wh_encap_init(&station->encap, &flow);
	station->encap_to = *to;
	return &station->encap;
}

/* Completes the frame around a packet whose head is in the mbuf already; false: no way. */
static bool finish_frame(struct wh_station *station, uint64_t now_tsc, struct rte_mbuf *mbuf,
	const struct wh_out *out)
{
	const struct wh_encap *encap = encap_to(station, now_tsc, out->to);
	uint32_t packet_bytes = out->head_bytes + out->payload_bytes;

	if (encap == NULL) {
		station->stats.no_way_pkts++;
		return false;
	}
	if (out->payload_bytes > 0)
		memcpy(out->head + out->head_bytes, out->payload, out->payload_bytes);
	wh_encap_write(encap, out->head - encap->bytes, out->head, packet_bytes, NULL, 0);
	mbuf->data_off = (uint16_t)(HEAD_OFFSET - encap->bytes);
	mbuf->data_len = (uint16_t)(encap->bytes + packet_bytes);
	mbuf->pkt_len = mbuf->data_len;
	return true;
}

static uint32_t refill(struct wh_station *station, uint32_t wanted)
{
	if (station->spares >= wanted)
		return wanted;
	if (rte_pktmbuf_alloc_bulk(station->config.pool, &station->spare[station->spares],
		    wanted - station->spares) == 0)
		station->spares = wanted;
	else
		station->stats.no_mbuf_turns++;
	return RTE_MIN(wanted, station->spares);
}

/* The first `count` of the spare packets are used up: `sent` of `pkts` go to the port. */
static void hand_over(
	struct wh_station *station, struct rte_mbuf **pkts, uint32_t sent, uint32_t count)
{
	/* Empty bursts, too: they push what waits in the backlog. */
	uint16_t taken =
		wh_port_send(station->config.port, station->config.queue, pkts, (uint16_t)sent);

	/* What the port could not even copy (no mbuf) is lost like any packet on the way. */
	rte_pktmbuf_free_bulk(&pkts[taken], sent - taken);
	station->spares -= count;
	memmove(station->spare, &station->spare[count],
		station->spares * sizeof(station->spare[0]));
}

/* Questions and answers about neighbours: one a turn, they are few. */
static void send_for_the_host(struct wh_station *station, uint64_t now_tsc)
{
	if (wh_neighbour_deadline(&station->neighbour) > now_tsc ||
		wh_port_send_room(station->config.port, station->config.queue) == 0 ||
		refill(station, 1) == 0)
		return;

	struct rte_mbuf *mbuf = station->spare[0];

	mbuf->data_off = RTE_PKTMBUF_HEADROOM;

	size_t bytes = wh_neighbour_output(&station->neighbour, now_tsc,
		rte_pktmbuf_mtod(mbuf, uint8_t *), rte_pktmbuf_tailroom(mbuf));

	if (bytes == 0)
		return;
	mbuf->data_len = (uint16_t)bytes;
	mbuf->pkt_len = (uint32_t)bytes;
	hand_over(station, &mbuf, 1, 1);
}

int32_t wh_station_send(void *state, uint64_t now_tsc)
{
	struct wh_station *station = state;
	struct wh_out out[WH_STATION_BURST];
	struct rte_mbuf *pkts[WH_STATION_BURST];
	uint32_t finished = 0;

	send_for_the_host(station, now_tsc);

	uint32_t room = RTE_MIN(
		wh_port_send_room(station->config.port, station->config.queue), WH_STATION_BURST);

	room = refill(station, room);
	for (uint32_t i = 0; i < room; i++)
		out[i].head = (uint8_t *)station->spare[i]->buf_addr + HEAD_OFFSET;

	uint32_t count = wh_endpoint_output(&station->endpoint, now_tsc, out, room);

	for (uint32_t i = 0; i < count; i++) {
		if (finish_frame(station, now_tsc, station->spare[i], &out[i]))
			pkts[finished++] = station->spare[i];
		else
			rte_pktmbuf_free(station->spare[i]);
	}
	hand_over(station, pkts, finished, count);
	return (int32_t)count;
}

uint64_t wh_station_bad_pkts(const struct wh_station *station)
{
	uint64_t bad_pkts = wh_endpoint_bad_pkts(&station->endpoint);

	for (uint32_t i = WH_ENCAP_OK + 1; i < WH_ENCAP_REASONS; i++)
		bad_pkts += station->stats.not_ours_pkts[i];
	return bad_pkts;
}
