/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two endpoints over an emulated link, in virtual time: what to read first.
 *
 *   fill --ready--> sender's endpoint ==== 10 Gb/s, 10 ms, 0.1 % loss ===> receiver's endpoint
 *     ^--- free ---'               ^====== reports of what arrived ======'   ^     '-- deliver
 *                                                                 recycled --'-- compare <-'
 *
 * Time and packets are arguments of an endpoint. A program with a NIC reads the time from a clock
 * and exchanges packets with a queue of it (drivers/port/netif.c). Nothing is sealed here: that
 * would need a security association at both ends (lib/trust/handshakes.h).
 */
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "endpoint/endpoint.h"
#include "endpoint/lifecycle.h"
#include "lab/netem/netem.h"

enum { HZ = 1000000000, TURN_TSC = 1000, MTU = 9000, PACKETS = 8192 };
enum { CHUNK_BYTES = 1 << 20, CHUNKS = 64, STREAM_CHUNKS = 200 };

static struct end {
	struct wh_endpoint endpoint;
	struct wh_session *session; /* NULL: not opened yet */
	struct wh_netem *link;      /* to the peer; holds some of these packets: */
	struct packet {
		uint32_t bytes;
		uint8_t data[MTU];
	} packet[PACKETS];
	uint64_t packets;
	uint64_t chunks; /* filled, or compared */
} sender, receiver;

static const struct wh_address address = {WH_IPV4, {192, 0, 2, 1}, WH_UDP_PORT_DEFAULT};
static const struct wh_link_model link_config = {
	.rate_bps = 10000000000, .delay_ns = 10000000, .queue_bytes = 25000000, .loss = 0.001};
static _Alignas(WH_CHUNK_ALIGN) uint8_t memory[2][CHUNKS * CHUNK_BYTES];
static struct wh_session_config config;

static enum wh_release_status welcome(void *context, uint64_t now_tsc,
	const struct wh_open_params *params, const struct wh_address *peer, const struct wh_sa *sa,
	uint32_t *buffer_chunks)
{
	(void)context, (void)now_tsc, (void)params, (void)peer, (void)sa;
	*buffer_chunks = CHUNKS;
	return WH_STATUS_PENDING; /* not refused */
}

static struct wh_session *take_up(void *context, uint64_t now_tsc, uint32_t cid,
	const struct wh_address *peer, const struct wh_sa *sa, const struct wh_open_params *params,
	uint64_t rtt_tsc)
{
	(void)context, (void)sa;
	config.chunk_memory = memory[1];
	return receiver.session = wh_session_accept(&config, now_tsc, cid, peer, params, rtt_tsc);
}

static void open_ends(void)
{
	const struct wh_endpoint_config listener = {
		.hz = HZ, .places = WH_ENDPOINT_PLACES_MIN, .welcome = welcome, .accept = take_up};

	wh_session_config_init(&config);
	wh_session_config_profile(&config, wh_profile_find("lambda"));
	config.hz = HZ;
	config.packet_bytes = config.attach_bytes = MTU;
	config.payload_bytes = wh_encap_payload_bytes(WH_IPV4, MTU);
	config.wire_bytes = wh_encap_wire_bytes(WH_IPV4, config.payload_bytes);
	config.chunks = CHUNKS;
	config.window_pkts = PACKETS;
	config.chunk_memory = memory[0];
	sender.link = wh_netem_create(&link_config, HZ, 0, PACKETS - 1);
	receiver.link = wh_netem_create(&link_config, HZ, 0, PACKETS - 1);
	sender.session = wh_session_open(&config, &address, "", WH_OBJECT_BYTES_UNKNOWN);
	WH_ASSERT(wh_endpoint_init(&sender.endpoint, &listener) == 0);
	WH_ASSERT(wh_endpoint_init(&receiver.endpoint, &listener) == 0);
	WH_ASSERT(wh_endpoint_open(&sender.endpoint, sender.session) == 0);
}

/* What a core does again and again: packets in, tasks, packets out. */
static void turn(struct end *end, struct end *peer, uint64_t now_tsc)
{
	struct wh_netem_item item;
	struct wh_netem_fate fate;
	struct wh_out out = {.head = end->packet[end->packets % PACKETS].data};

	while (wh_netem_take(peer->link, now_tsc, &item, 1) == 1) {
		struct packet *packet = item.item;

		wh_endpoint_input(
			&end->endpoint, now_tsc, now_tsc, packet->data, packet->bytes, &address);
	}
	wh_endpoint_receive_poll(&end->endpoint, now_tsc);
	wh_endpoint_send_poll(&end->endpoint, now_tsc);
	while (wh_endpoint_output(&end->endpoint, now_tsc, &out, 1) == 1) {
		struct packet *packet = &end->packet[end->packets++ % PACKETS];

		packet->bytes = out.head_bytes + out.payload_bytes;
		wh_netem_admit(end->link, now_tsc, packet->bytes, &fate);
		if (fate.copies > 0)
			(void)wh_netem_hold(end->link, fate.due_tsc[0], packet);
		out.head = end->packet[end->packets % PACKETS].data;
	}
}

/* Fills a chunk with its number, or compares it with that, and passes it on. */
static void pass(struct end *end, struct wh_fifo *from, struct wh_fifo *to)
{
	static struct wh_chunk end_marker = {.number = STREAM_CHUNKS, .end = true};
	struct wh_chunk *chunk = end->chunks < STREAM_CHUNKS ? wh_fifo_pop(from) : NULL;
	uint8_t byte = (uint8_t)end->chunks;

	if (chunk == NULL)
		return;
	if (end == &sender) {
		chunk->number = end->chunks;
		chunk->bytes = CHUNK_BYTES;
		memset(chunk->data, byte, CHUNK_BYTES);
	}
	WH_ASSERT(chunk->data[0] == byte && !memcmp(chunk->data, chunk->data + 1, CHUNK_BYTES - 1));
	wh_fifo_push(to, chunk);
	if (++end->chunks == STREAM_CHUNKS && end == &sender)
		wh_fifo_push(to, &end_marker);
	else if (end->chunks == STREAM_CHUNKS)
		wh_session_ask(end->session, WH_WISH_SINK_DONE, WH_STATUS_VERIFIED);
	wh_session_kick(end->session);
}

int main(void)
{
	uint64_t now_tsc = 0;

	open_ends();
	while (wh_session_news(sender.session).outcome == WH_STATUS_PENDING) {
		now_tsc += TURN_TSC;
		turn(&sender, &receiver, now_tsc);
		turn(&receiver, &sender, now_tsc);
		pass(&sender, wh_session_free_chunks(sender.session),
			wh_session_ready_chunks(sender.session));
		if (receiver.session != NULL)
			pass(&receiver, wh_session_deliver_chunks(receiver.session),
				wh_session_recycled_chunks(receiver.session));
	}
	printf("%d MiB in %.0f ms of virtual time: %s\n", (int)receiver.chunks, now_tsc / 1e6,
		wh_release_status_name(wh_session_news(sender.session).outcome));
	return receiver.chunks == STREAM_CHUNKS ? 0 : 1;
}
