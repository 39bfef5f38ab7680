/* SPDX-License-Identifier: BSD-3-Clause */
#include "endpoint/strays.h"

#include <string.h>

#include "base/assert.h"
#include "base/clock.h"
#include "endpoint/listen.h"

/* In each direction: more than all handshakes at once produce in a turn of the handshake core. */
#define DATAGRAMS 255

static_assert(WH_VIA_BYTES == WH_ENDPOINT_VIA_BYTES, "a datagram knows the way back");

int wh_probes_open(struct wh_endpoint *endpoint)
{
	const struct wh_endpoint_config *config = &endpoint->config;
	struct wh_answerer_config answerer = {
		.hz = config->hz,
		.room_pkts = config->probe_room_pkts,
		.sadb = config->sadb,
		.welcome = config->may_probe,
		.context = config->context,
	};

	memcpy(answerer.key, config->key, sizeof(answerer.key));
	return config->may_probe == NULL ? 0 : wh_answerer_init(&endpoint->answerer, &answerer);
}

void wh_endpoint_probe(struct wh_endpoint *endpoint, struct wh_prober *prober)
{
	WH_ASSERT(prober == NULL || atomic_load(&endpoint->prober) == NULL);
	atomic_store(&endpoint->prober, prober);
}

enum wh_wire_reason wh_probes_input(struct wh_endpoint *endpoint, uint64_t now_tsc,
	uint64_t arrived_tsc, uint8_t *bytes, size_t length, const struct wh_address *from,
	struct wh_packet *packet, uint8_t *answer, uint32_t *answer_bytes)
{
	struct wh_prober *prober = atomic_load(&endpoint->prober);

	*answer_bytes = 0;
	if (packet->type == WH_PACKET_PROBE && endpoint->answerer.arrivals != NULL)
		return wh_answerer_input(&endpoint->answerer, now_tsc, arrived_tsc, bytes, length,
			from, packet, answer, answer_bytes);
	if (packet->type == WH_PACKET_PROBE_ANSWER && prober != NULL)
		wh_prober_input(prober, arrived_tsc, bytes, length, from);
	else
		endpoint->stats.no_session_pkts++;
	return WH_WIRE_OK;
}

int32_t wh_probes_poll(struct wh_endpoint *endpoint, uint64_t now_tsc)
{
	struct wh_prober *prober = atomic_load(&endpoint->prober);

	return prober != NULL ? wh_prober_poll(prober, now_tsc) : 0;
}

uint32_t wh_probes_output(
	struct wh_endpoint *endpoint, uint64_t now_tsc, struct wh_out *out, uint32_t count)
{
	struct wh_prober *prober = atomic_load(&endpoint->prober);
	uint32_t sent = 0;

	for (; prober != NULL && sent < count; sent++) {
		uint32_t length = wh_prober_output(prober, now_tsc, out[sent].head);

		if (length == 0)
			break;
		out[sent].head_bytes = length;
		out[sent].payload = NULL;
		out[sent].payload_bytes = 0;
		out[sent].to = &prober->config.peer;
		out[sent].cut = false;
	}
	return sent;
}

uint64_t wh_probes_deadline(const struct wh_endpoint *endpoint)
{
	const struct wh_prober *prober = atomic_load(&endpoint->prober);

	return prober != NULL ? wh_prober_deadline(prober) : WH_TSC_NEVER;
}

int wh_strays_open(struct wh_endpoint *endpoint)
{
	int rc;

	if (!endpoint->config.with_handshake)
		return 0;
	rc = wh_slot_fifo_init(
		&endpoint->datagrams_in, DATAGRAMS, sizeof(struct wh_handshake_datagram));
	if (rc == 0)
		rc = wh_slot_fifo_init(
			&endpoint->datagrams_out, DATAGRAMS, sizeof(struct wh_handshake_datagram));
	return rc != 0 ? rc : wh_early_open(&endpoint->early);
}

void wh_strays_close(struct wh_endpoint *endpoint)
{
	wh_slot_fifo_free(&endpoint->datagrams_in);
	wh_slot_fifo_free(&endpoint->datagrams_out);
	wh_early_close(&endpoint->early);
}

/*
 * Answers ASK with a cookie. The answer is no longer than the question, and nothing is kept. A
 * cookie of zeros says that this end does not make handshakes.
 */
static uint32_t give_cookie(const struct wh_endpoint *endpoint, uint64_t now_tsc,
	const struct wh_ask *ask, const struct wh_address *from, uint8_t *answer)
{
	struct wh_packet packet = {
		.type = WH_PACKET_COOKIE,
		.cookie = {.handshake = ask->handshake},
	};

	if (endpoint->config.with_handshake)
		wh_stranger_cookie_make(packet.cookie.cookie, endpoint->listener.key,
			WH_COOKIE_PEERS_HANDSHAKE, wh_tsc_to_us(endpoint->config.hz, now_tsc), from,
			endpoint->config.queue, ask->handshake);

	uint32_t length = wh_packet_encode(&packet, answer, WH_CONTROL_BYTES_MAX);

	wh_seal_close_packet(&wh_seal_to_listener, answer, length);
	return length;
}

/*
 * Answers a piece of a handshake whose cookie is too old, or is of a process before this one, so
 * that the sender need not wait in vain. The answer is no longer than the piece. A forged answer
 * can end nothing but a handshake.
 */
static uint32_t put_off(struct wh_endpoint *endpoint, uint64_t now_tsc,
	const struct wh_packet *packet, uint8_t *answer)
{
	struct wh_packet later = {
		.type = WH_PACKET_COOKIE,
		.flags = WH_FLAG_LATER,
		.cookie = {.handshake = packet->crypto.handshake},
	};
	uint32_t length;

	endpoint->stats.bad_cookie_pkts++;
	if (packet->type != WH_PACKET_CRYPTO || packet->flags != 0 ||
		endpoint->config.welcome == NULL ||
		!wh_endpoint_may_hint(endpoint, now_tsc, &endpoint->next_put_off_tsc))
		return 0;
	memcpy(later.cookie.cookie, packet->crypto.cookie, sizeof(later.cookie.cookie));
	length = wh_packet_encode(&later, answer, WH_CONTROL_BYTES_MAX);
	wh_seal_close_packet(&wh_seal_to_listener, answer, length);
	return length;
}

/* A copy from elsewhere, or of another handshake, is refused: that cookie does not prove it. */
static bool is_told(
	struct wh_endpoint *endpoint, const struct wh_crypto *crypto, const struct wh_address *from)
{
	static const uint8_t none[WH_COOKIE_BYTES];
	const uint8_t *cookie = endpoint->config.told_cookie;
	struct wh_told_taker *told = &endpoint->told;

	if (memcmp(crypto->cookie, cookie, WH_COOKIE_BYTES) != 0 ||
		memcmp(cookie, none, WH_COOKIE_BYTES) == 0)
		return false;
	if (told->peer.family == 0)
		*told = (struct wh_told_taker){.peer = *from, .handshake = crypto->handshake};
	return wh_address_equal(&told->peer, from) && told->handshake == crypto->handshake;
}

/* Whether the sender has a valid cookie of ours, or knows the number of our own handshake. */
static bool is_known(struct wh_endpoint *endpoint, uint64_t now_tsc, const struct wh_packet *packet,
	const struct wh_address *from, uint64_t *age_us)
{
	const struct wh_crypto *crypto = &packet->crypto;

	*age_us = 0;
	if (packet->type == WH_PACKET_CRYPTO && packet->flags == 0)
		return is_told(endpoint, crypto, from) ||
		       wh_stranger_cookie_check(crypto->cookie, endpoint->listener.key,
			       WH_COOKIE_PEERS_HANDSHAKE,
			       wh_tsc_to_us(endpoint->config.hz, now_tsc),
			       WH_HANDSHAKE_COOKIE_S * WH_US_PER_S, from, endpoint->config.queue,
			       crypto->handshake, age_us);
	return packet->cookie.handshake == wh_handshake_number(endpoint->listener.key, from);
}

/* The first piece of a peer's handshake. */
static bool begins(const struct wh_packet *packet)
{
	return packet->type == WH_PACKET_CRYPTO && packet->flags == 0 &&
	       packet->crypto.offset == 0 && packet->crypto.bytes > 0;
}

/* Fills in a datagram from `peer`, or an answer to it; `via` is of the packet received last. */
static void write_datagram(const struct wh_endpoint *endpoint, struct wh_slot *slot,
	const uint8_t *bytes, size_t length, const struct wh_address *peer)
{
	struct wh_handshake_datagram *datagram = (struct wh_handshake_datagram *)slot->data;

	WH_ASSERT(length <= sizeof(datagram->packet));
	datagram->peer = *peer;
	datagram->queue = endpoint->config.queue;
	datagram->bytes = (uint32_t)length;
	datagram->is_answer = true;
	datagram->offered_cid = 0;
	memcpy(datagram->via, endpoint->via, sizeof(datagram->via));
	memcpy(datagram->packet, bytes, length);
	slot->bytes = sizeof(*datagram);
}

/* A peer that begins a handshake is offered a session as well; an offer costs no memory. */
static void offer(struct wh_endpoint *endpoint, uint64_t now_tsc, const struct wh_address *from,
	struct wh_handshake_datagram *datagram)
{
	if (endpoint->config.accept == NULL || endpoint->config.sadb == NULL ||
		endpoint->rx->tenants == endpoint->rx->places)
		return;
	wh_endpoint_offer(endpoint, now_tsc, wh_half_offer(endpoint->rx),
		wh_endpoint_draw(endpoint, WH_DRAW_OFFER, &endpoint->rx_draws, from), from,
		&datagram->offered_cid, datagram->offered_cookie);
}

static void hand_over(struct wh_endpoint *endpoint, uint64_t now_tsc, const uint8_t *bytes,
	size_t length, const struct wh_address *from, uint64_t age_us, bool first)
{
	struct wh_slot *slot = wh_slot_fifo_reserve(&endpoint->datagrams_in);

	if (slot == NULL) {
		endpoint->stats.datagrams_dropped_pkts++;
		return;
	}
	write_datagram(endpoint, slot, bytes, length, from);
	((struct wh_handshake_datagram *)slot->data)->rtt_us = (uint32_t)age_us;
	if (first)
		offer(endpoint, now_tsc, from, (struct wh_handshake_datagram *)slot->data);
	wh_slot_fifo_commit(&endpoint->datagrams_in);
}

enum wh_wire_reason wh_strays_input(struct wh_endpoint *endpoint, uint64_t now_tsc, uint8_t *bytes,
	size_t length, const struct wh_address *from, struct wh_packet *packet, uint8_t *answer,
	uint32_t *answer_bytes)
{
	uint64_t age_us;

	*answer_bytes = 0;
	if (!endpoint->config.with_handshake && packet->type != WH_PACKET_ASK) {
		endpoint->stats.no_session_pkts++;
		return WH_WIRE_OK;
	}

	enum wh_wire_reason reason = wh_seal_open_packet(&wh_seal_to_listener, bytes, length);

	if (reason == WH_WIRE_OK)
		reason = wh_packet_read(bytes, length, packet);
	if (reason != WH_WIRE_OK)
		return reason;
	if (packet->type == WH_PACKET_ASK)
		*answer_bytes =
			endpoint->config.welcome == NULL
				? 0
				: give_cookie(endpoint, now_tsc, &packet->ask, from, answer);
	else if (is_known(endpoint, now_tsc, packet, from, &age_us))
		hand_over(endpoint, now_tsc, bytes, length, from, age_us, begins(packet));
	else
		*answer_bytes = put_off(endpoint, now_tsc, packet, answer);
	return WH_WIRE_OK;
}

void wh_strays_versions(struct wh_endpoint *endpoint, const uint8_t *bytes, size_t length,
	uint64_t handshake, const struct wh_address *from)
{
	if (endpoint->config.with_handshake &&
		handshake == wh_handshake_number(endpoint->listener.key, from))
		hand_over(endpoint, 0, bytes, length, from, 0, false);
	else
		endpoint->stats.no_session_pkts++;
}

void wh_strays_reply(struct wh_endpoint *endpoint, const uint8_t *bytes, uint32_t length,
	const struct wh_address *to)
{
	struct wh_slot *slot = wh_slot_fifo_reserve(&endpoint->replies);

	if (slot == NULL) {
		endpoint->stats.replies_dropped_pkts++;
		return;
	}
	write_datagram(endpoint, slot, bytes, length, to);
	wh_slot_fifo_commit(&endpoint->replies);
}

/* Sends the next datagram of a FIFO. Its address is kept at index i until the next turn. */
static uint32_t output(
	struct wh_endpoint *endpoint, struct wh_slot_fifo *fifo, struct wh_out *out, uint32_t i)
{
	struct wh_slot *slot = wh_slot_fifo_peek(fifo);

	if (slot == NULL)
		return 0;

	const struct wh_handshake_datagram *datagram =
		(const struct wh_handshake_datagram *)slot->data;
	struct wh_address *to =
		datagram->is_answer ? &endpoint->reply_to[i] : &endpoint->datagram_to[i];

	*to = datagram->peer;
	if (datagram->is_answer)
		memcpy(endpoint->reply_via[i], datagram->via, sizeof(endpoint->reply_via[i]));
	memcpy(out->head, datagram->packet, datagram->bytes);
	out->head_bytes = datagram->bytes;
	out->payload = NULL;
	out->payload_bytes = 0;
	out->to = to;
	out->cut = false;
	wh_slot_fifo_release(fifo);
	return 1;
}

/* The FIFOs take turns: a flood of questions does not hold up handshakes, and vice versa. */
uint32_t wh_strays_output(struct wh_endpoint *endpoint, struct wh_out *out, uint32_t count)
{
	struct wh_slot_fifo *fifo[2] = {&endpoint->replies, &endpoint->datagrams_out};
	uint32_t fifos = endpoint->config.with_handshake ? 2 : 1;
	uint32_t sent = 0, more = 1;

	count = count < WH_ENDPOINT_DATAGRAMS ? count : WH_ENDPOINT_DATAGRAMS;
	for (; sent < count && more > 0; sent += more) {
		uint32_t first = endpoint->next_datagram++ % fifos;

		more = output(endpoint, fifo[first], &out[sent], sent);
		if (more == 0 && fifos == 2)
			more = output(endpoint, fifo[!first], &out[sent], sent);
	}
	return sent;
}

bool wh_strays_wait(const struct wh_endpoint *endpoint)
{
	return wh_slot_fifo_count(&endpoint->replies) > 0 ||
	       (endpoint->config.with_handshake &&
		       wh_slot_fifo_count(&endpoint->datagrams_out) > 0);
}
