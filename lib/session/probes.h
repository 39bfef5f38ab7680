/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_SESSION_PROBES_H
#define WH_SESSION_PROBES_H

/* What an endpoint has to do with probes, its own and those of strangers. */

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

#endif
