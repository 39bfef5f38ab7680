/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Packets that belong to no session of an endpoint: probes, our own and those of strangers, and
 * handshakes. The endpoint answers a request for a handshake with a cookie made from its secret and
 * the packet alone. Packets with a valid cookie, or with the number of a handshake of ours, go on
 * to the core that makes handshakes, in datagrams by one FIFO each way. A datagram for which there
 * is no room is lost, and its packet will be repeated. Stateless answers to any packet go from the
 * RX core to the TX core in such datagrams, too, by a FIFO of their own.
 */

#include "endpoint/endpoint.h"

/* A probe of no session, or an answer to one. */
static inline bool wh_is_probe(const struct wh_packet *packet)
{
	return packet->cid == 0 &&
	       (packet->type == WH_PACKET_PROBE || packet->type == WH_PACKET_PROBE_ANSWER);
}

/* Opens the answerer, if strangers may probe: 0 or -ENOMEM. */
int wh_probes_open(struct wh_endpoint *endpoint);

/*
 * RX core: a probe packet, already peeked at. The answer, *answer_bytes long, goes back to `from`;
 * 0: no answer. `answer` has room for WH_CONTROL_BYTES_MAX.
 */
enum wh_wire_reason wh_probes_input(struct wh_endpoint *endpoint, uint64_t now_tsc,
	uint64_t arrived_tsc, uint8_t *bytes, size_t length, const struct wh_address *from,
	struct wh_packet *packet, uint8_t *answer, uint32_t *answer_bytes);

/* TX core, for our own prober; no effect without one. */
int32_t wh_probes_poll(struct wh_endpoint *endpoint, uint64_t now_tsc);
uint32_t wh_probes_output(
	struct wh_endpoint *endpoint, uint64_t now_tsc, struct wh_out *out, uint32_t count);
uint64_t wh_probes_deadline(const struct wh_endpoint *endpoint);

static inline bool wh_is_handshake(const struct wh_packet *packet)
{
	return packet->type >= WH_PACKET_ASK && packet->type <= WH_PACKET_CRYPTO;
}

/* Opens the FIFOs of datagrams, if this end makes handshakes: 0 or -ENOMEM. */
int wh_strays_open(struct wh_endpoint *endpoint);
void wh_strays_close(struct wh_endpoint *endpoint);

/*
 * RX core: a handshake packet, already peeked at. The answer, *answer_bytes long, goes back to
 * `from`; 0: no answer. `answer` has room for WH_CONTROL_BYTES_MAX.
 */
enum wh_wire_reason wh_strays_input(struct wh_endpoint *endpoint, uint64_t now_tsc, uint8_t *bytes,
	size_t length, const struct wh_address *from, struct wh_packet *packet, uint8_t *answer,
	uint32_t *answer_bytes);

/* RX core: the versions that a peer speaks, in answer to our ASK with that number. */
void wh_strays_versions(struct wh_endpoint *endpoint, const uint8_t *bytes, size_t length,
	uint64_t handshake, const struct wh_address *from);

/* RX core: sends a stateless answer to the packet received last. */
void wh_strays_reply(struct wh_endpoint *endpoint, const uint8_t *bytes, uint32_t length,
	const struct wh_address *to);

/* TX core: fills in at most `count` answers and datagrams to send; returns how many. */
uint32_t wh_strays_output(struct wh_endpoint *endpoint, struct wh_out *out, uint32_t count);
bool wh_strays_wait(const struct wh_endpoint *endpoint);
