/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_SESSION_STRAYS_H
#define WH_SESSION_STRAYS_H

/*
 * What an endpoint has to do with packets of no session: probes, its own and those of strangers,
 * and greetings. It gives a cookie to who wants to greet, from its secret and the packet alone, and
 * brings what comes with one of its cookies, or with the number of a greeting of ours, to whoever
 * greets. Between them are two FIFOs of letters: what finds no room is lost, and comes again.
 * Stateless answers to any packet go the same way.
 */

#include "session/endpoint.h"

/* A probe or an answer to one, and of no session. */
static inline bool wh_is_probe(const struct wh_packet *packet)
{
	return packet->lci == 0 &&
	       (packet->type == WH_PACKET_PROBE || packet->type == WH_PACKET_PROBE_ANSWER);
}

/* The answerer, where strangers may probe: 0 or -ENOMEM. */
int wh_probes_open(struct wh_endpoint *endpoint);

/*
 * RX core: one that has been peeked at. The answer, *answer_bytes long, goes back to `from`; 0:
 * there is none. `answer` has room for WH_CONTROL_BYTES_MAX.
 */
enum wh_wire_reason wh_probes_input(struct wh_endpoint *endpoint, uint64_t now_tsc,
	uint64_t arrived_tsc, uint8_t *bytes, size_t length, const struct wh_address *from,
	struct wh_packet *packet, uint8_t *answer, uint32_t *answer_bytes);

/* TX core, of a prober of ours; each does nothing where there is none. */
int32_t wh_probes_poll(struct wh_endpoint *endpoint, uint64_t now_tsc);
uint32_t wh_probes_output(
	struct wh_endpoint *endpoint, uint64_t now_tsc, struct wh_out *out, uint32_t count);
uint64_t wh_probes_deadline(const struct wh_endpoint *endpoint);

static inline bool wh_is_greeting(const struct wh_packet *packet)
{
	return packet->type >= WH_PACKET_ASK && packet->type <= WH_PACKET_CRYPTO;
}

/* Where there is somebody who greets: 0 or -ENOMEM. */
int wh_letters_open(struct wh_endpoint *endpoint);
void wh_letters_close(struct wh_endpoint *endpoint);

/*
 * RX core: one that has been peeked at. The answer, *answer_bytes long, goes back to `from`; 0:
 * there is none. `answer` has room for WH_CONTROL_BYTES_MAX.
 */
enum wh_wire_reason wh_letters_input(struct wh_endpoint *endpoint, uint64_t now_tsc, uint8_t *bytes,
	size_t length, const struct wh_address *from, struct wh_packet *packet, uint8_t *answer,
	uint32_t *answer_bytes);

/* RX core: versions that a peer speaks, as an answer to an ASK of ours with that number. */
void wh_letters_versions(struct wh_endpoint *endpoint, const uint8_t *bytes, size_t length,
	uint64_t greeting, const struct wh_address *from);

/* RX core: a stateless answer to the packet that came last. */
void wh_letters_reply(struct wh_endpoint *endpoint, const uint8_t *bytes, uint32_t length,
	const struct wh_address *to);

/* TX core: an answer or a letter, if there is one and `count` is not 0; how many. */
uint32_t wh_letters_output(struct wh_endpoint *endpoint, struct wh_out *out, uint32_t count);
bool wh_letters_wait(const struct wh_endpoint *endpoint);

#endif
