/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/probes.h"

#include <string.h>

#include "base/assert.h"
#include "base/clock.h"

int wh_probes_open(struct wh_endpoint *endpoint)
{
	const struct wh_endpoint_config *config = &endpoint->config;
	struct wh_answerer_config answerer = {
		.hz = config->hz,
		.room_pkts = config->probe_room_pkts,
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
	}
	return sent;
}

uint64_t wh_probes_deadline(const struct wh_endpoint *endpoint)
{
	const struct wh_prober *prober = atomic_load(&endpoint->prober);

	return prober != NULL ? wh_prober_deadline(prober) : WH_TSC_NEVER;
}
