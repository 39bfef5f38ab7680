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
	*station = (struct wh_station){.config = *config};
	return wh_endpoint_init(&station->endpoint, &config->endpoint);
}

void wh_station_free(struct wh_station *station)
{
	rte_pktmbuf_free_bulk(station->spare, station->spares);
	station->spares = 0;
	wh_endpoint_free(&station->endpoint);
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

/* The headers towards an address: made anew only when it is not the one before. */
static const struct wh_encap *encap_to(struct wh_station *station, const struct wh_address *to)
{
	if (station->encap.bytes != 0 && wh_address_equal(&station->encap_to, to))
		return &station->encap;

	struct wh_flow flow = {
		.source = station->config.local,
		.target = *to,
	};

	memcpy(flow.source_mac, &station->config.port->mac, sizeof(flow.source_mac));
	memcpy(flow.target_mac, &station->config.peer_mac, sizeof(flow.target_mac));
	wh_encap_init(&station->encap, &flow);
	station->encap_to = *to;
	return &station->encap;
}

/* Completes the frame around a packet whose head is in the mbuf already. */
static void finish_frame(
	struct wh_station *station, struct rte_mbuf *mbuf, const struct wh_out *out)
{
	const struct wh_encap *encap = encap_to(station, out->to);
	uint8_t *frame = out->head - encap->bytes;
	uint32_t packet_bytes = out->head_bytes + out->payload_bytes;

	if (out->payload_bytes > 0)
		memcpy(out->head + out->head_bytes, out->payload, out->payload_bytes);
	wh_encap_write(encap, frame, out->head, packet_bytes, NULL, 0);
	mbuf->data_off = (uint16_t)(HEAD_OFFSET - encap->bytes);
	mbuf->data_len = (uint16_t)(encap->bytes + packet_bytes);
	mbuf->pkt_len = mbuf->data_len;
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

int32_t wh_station_send(void *state, uint64_t now_tsc)
{
	struct wh_station *station = state;
	struct wh_port *port = station->config.port;
	struct wh_out out[WH_STATION_BURST];
	uint32_t room = RTE_MIN(wh_port_send_room(port, station->config.queue), WH_STATION_BURST);

	room = refill(station, room);
	for (uint32_t i = 0; i < room; i++)
		out[i].head = (uint8_t *)station->spare[i]->buf_addr + HEAD_OFFSET;

	uint32_t count = wh_endpoint_output(&station->endpoint, now_tsc, out, room);

	for (uint32_t i = 0; i < count; i++)
		finish_frame(station, station->spare[i], &out[i]);

	/* Empty bursts, too: they push what waits in the backlog. */
	uint16_t taken = wh_port_send(port, station->config.queue, station->spare, (uint16_t)count);

	/* What the port could not even copy (no mbuf) is lost like any packet on the way. */
	rte_pktmbuf_free_bulk(&station->spare[taken], count - taken);
	station->spares -= count;
	memmove(station->spare, &station->spare[count],
		station->spares * sizeof(station->spare[0]));
	return (int32_t)count;
}

uint64_t wh_station_bad_pkts(const struct wh_station *station)
{
	uint64_t bad_pkts = wh_endpoint_bad_pkts(&station->endpoint);

	for (uint32_t i = WH_ENCAP_OK + 1; i < WH_ENCAP_REASONS; i++)
		bad_pkts += station->stats.not_ours_pkts[i];
	return bad_pkts;
}
