/* SPDX-License-Identifier: BSD-3-Clause */

/* The answers of /wavehaul/ports. */

#include <assert.h>

#include "base/assert.h"
#include "telemetry/answer.h"

/* Counters behind a queue, or summed over all of them: only 64-bit counters. */
struct behind {
	struct wh_netif_stats netif;
	struct wh_endpoint_stats endpoint;
	struct wh_answerer_stats answerer;
	struct wh_neighbour_stats neighbour;
};

static_assert(sizeof(struct wh_netif_stats) % sizeof(uint64_t) == 0 &&
		      sizeof(struct wh_endpoint_stats) % sizeof(uint64_t) == 0 &&
		      sizeof(struct wh_answerer_stats) % sizeof(uint64_t) == 0 &&
		      sizeof(struct wh_neighbour_stats) % sizeof(uint64_t) == 0,
	"all counters are of 64 bits");

static void add_netif(struct behind *sum, const struct wh_netif *of)
{
	const struct wh_netif_stats netif = wh_netif_stats(of);
	const uint64_t *neighbour = (const uint64_t *)&of->neighbour.stats;

	for (size_t i = 0; i < sizeof(sum->netif) / sizeof(uint64_t); i++)
		((uint64_t *)&sum->netif)[i] += ((const uint64_t *)&netif)[i];
	for (size_t i = 0; i < sizeof(sum->neighbour) / sizeof(uint64_t); i++)
		((uint64_t *)&sum->neighbour)[i] += wh_tel_load(&neighbour[i]);
}

static void add_endpoint(struct behind *sum, const struct wh_endpoint *of)
{
	const uint64_t *endpoint = (const uint64_t *)&of->stats;
	const uint64_t *answerer = (const uint64_t *)&of->answerer.stats;

	for (size_t i = 0; i < sizeof(sum->endpoint) / sizeof(uint64_t); i++)
		((uint64_t *)&sum->endpoint)[i] += wh_tel_load(&endpoint[i]);
	for (size_t i = 0; i < sizeof(sum->answerer) / sizeof(uint64_t); i++)
		((uint64_t *)&sum->answerer)[i] += wh_tel_load(&answerer[i]);
}

/* The ports of a row of shards. */
static void put_ports(json_t *data, const struct wh_host *host, uint32_t first, uint32_t end)
{
	uint32_t queues = host->ctx.settings->queues;
	const struct wh_port *port = host->at[first / queues].port; /* NULL: sockets */
	char names[WH_HOST_PORTS_BYTES];
	bool link_up = true;
	enum wh_port_steering steering = port != NULL                     ? port->steering
					 : host->ctx.settings->queues > 1 ? WH_PORT_STEER_PAIRED
									  : WH_PORT_STEER_ONE_QUEUE;

	for (uint32_t i = first / queues; i * queues < end; i++)
		link_up = link_up && wh_host_link_up(host, i);
	wh_host_port_names(host, first / queues, (end + queues - 1) / queues, names);
	wh_tel_put_text(data, "port", names);
	wh_tel_put(data, "link_up", link_up);
	wh_tel_put(data, "mtu_bytes", port != NULL ? port->mtu : host->ctx.settings->mtu_bytes);
	wh_tel_put(data, "queues", host->shards);
	wh_tel_put_text(data, "steering", wh_port_steering_name(steering));
}

static void put_traffic(json_t *data, const struct wh_port_stats *stats)
{
	wh_tel_put(data, "rx_pkts", stats->rx_pkts);
	wh_tel_put(data, "rx_bytes", stats->rx_bytes);
	wh_tel_put(data, "tx_pkts", stats->tx_pkts);
	wh_tel_put(data, "tx_bytes", stats->tx_bytes);
	wh_tel_put(data, "tx_full_bursts", stats->tx_full);
	wh_tel_put(data, "tx_linearised_pkts", stats->tx_linearised);
	for (uint32_t i = 0; i < WH_PORT_DROPS; i++)
		wh_tel_put_about(data, "drop_", wh_port_drop_name((enum wh_port_drop)i), "",
			stats->dropped_pkts[i]);
}

static void put_behind(json_t *data, const struct behind *behind)
{
	const struct wh_netif_stats *netif = &behind->netif;
	const struct wh_endpoint_stats *endpoint = &behind->endpoint;

	for (uint32_t i = WH_ENCAP_OK + 1; i < WH_ENCAP_REASONS; i++)
		wh_tel_put_about(data, "drop_frame_", wh_encap_reason_name((enum wh_encap_reason)i),
			"", netif->not_ours_pkts[i]);
	for (uint32_t i = WH_WIRE_OK + 1; i < WH_WIRE_REASONS; i++)
		wh_tel_put_about(data, "drop_packet_", wh_wire_reason_name((enum wh_wire_reason)i),
			"", endpoint->bad[i]);
	for (uint32_t i = WH_NEIGHBOUR_OK + 1; i < WH_NEIGHBOUR_REASONS; i++)
		wh_tel_put_about(data, "drop_neighbour_",
			wh_neighbour_reason_name((enum wh_neighbour_reason)i), "",
			behind->neighbour.input_pkts[i]);
	wh_tel_put(data, "drop_no_session", endpoint->no_session_pkts);
	wh_tel_put(data, "drop_wrong_peer", endpoint->wrong_peer_pkts);
	wh_tel_put(data, "drop_bad_cookie", endpoint->bad_cookie_pkts);
	wh_tel_put(data, "drop_replies_full", endpoint->replies_dropped_pkts);
	wh_tel_put(data, "drop_handshakes_full", endpoint->datagrams_dropped_pkts);
	wh_tel_put(data, "drop_no_sa", endpoint->no_sa_pkts);
	wh_tel_put(data, "drop_host_full", netif->host_full_pkts);
	wh_tel_put(data, "drop_unresolved", netif->unresolved_pkts);
	wh_tel_put(data, "no_mbuf_turns", netif->no_mbuf_turns);
	wh_tel_put(data, "unhinted", endpoint->unhinted_pkts);
	wh_tel_put(data, "drop_not_allowed", endpoint->turned_away_pkts);
	wh_tel_put(data, "kept_early", endpoint->early_pkts);
	wh_tel_put(data, "refused_opens", endpoint->refused_opens);
	wh_tel_put(data, "repeated_closings", endpoint->repeated_closings);
	wh_tel_put(data, "moved_clients", endpoint->moves);
	wh_tel_put(data, "probe_asks", behind->answerer.asks);
	wh_tel_put(data, "probe_refused_asks", behind->answerer.refused_asks);
	wh_tel_put(data, "probes", behind->answerer.probes);
	wh_tel_put(data, "probe_train_pkts", behind->answerer.train_pkts);
	wh_tel_put(data, "probe_answers", behind->answerer.answers);
	wh_tel_put(data, "drop_probe_bad_cookie", behind->answerer.bad_cookie_pkts);
	wh_tel_put(data, "drop_probe_no_place", behind->answerer.no_place_pkts);
	wh_tel_put(data, "drop_probe_stale", behind->answerer.stale_pkts);
	wh_tel_put(data, "drop_probe_unsealed", behind->answerer.unsealed_pkts);
	wh_tel_put(data, "drop_probe_no_sa", behind->answerer.no_sa_pkts);
	wh_tel_put(data, "drop_probe_replayed", behind->answerer.replayed_pkts);
	wh_tel_put(data, "drop_probe_hurried", behind->answerer.hurried_pkts);
}

/* Of a NIC as a whole. */
static void put_nic(json_t *data, const struct wh_port *port)
{
	for (uint32_t i = 0; port != NULL && i < port->nic_counters.count; i++) {
		uint64_t value;
		const char *name = wh_nic_counter(&port->nic_counters, i, &value);

		wh_tel_put_about(data, "nic_", name, "", value);
	}
}

/* Handshakes of all queues together: they have one handshake server. */
static void put_handshakes(json_t *data, const struct wh_host_handshake *handshake)
{
	const struct wh_handshakes_stats *stats = &handshake->handshakes.stats;

	wh_tel_put(data, "handshakes", wh_tel_load(&stats->began));
	wh_tel_put(data, "handshakes_met", wh_tel_load(&stats->met));
	wh_tel_put(data, "handshakes_refused", wh_tel_load(&stats->refused));
	wh_tel_put(data, "handshakes_broken", wh_tel_load(&stats->broken));
	wh_tel_put(data, "handshakes_late", wh_tel_load(&stats->late));
	wh_tel_put(data, "handshakes_crowded_out", wh_tel_load(&stats->crowded_out));
	wh_tel_put(data, "handshakes_turned_away", wh_tel_load(&stats->turned_away));
	wh_tel_put(data, "handshakes_put_off", wh_tel_load(&stats->put_off));
	wh_tel_put(data, "handshakes_bad_datagrams", wh_tel_load(&stats->bad_datagrams));
	wh_tel_put(data, "sas", wh_tel_load(&stats->sas));
}

/* Counters of the device itself belong to no queue, and are zero in a queue's answer. */
static void put_queues(json_t *data, const struct wh_host *host, uint32_t first, uint32_t end,
	const struct wh_port_stats *stats)
{
	struct behind behind = {0};

	WH_ASSERT(first < end && end <= host->shards);
	for (uint32_t i = first; i < end; i++) {
		add_endpoint(&behind, wh_host_endpoint(host, i));
		if (host->netif != NULL)
			add_netif(&behind, &host->netif[i]);
	}
	put_ports(data, host, first, end);
	put_traffic(data, stats);
	put_behind(data, &behind);
}

static bool put_answer(json_t *data, const struct wh_host *host, const char *params)
{
	struct wh_port_stats stats;
	uint64_t queue;

	if (params == NULL) {
		wh_host_port_stats_total(host, &stats);
		put_queues(data, host, 0, host->shards, &stats);
		for (uint32_t i = 0; i < host->ports; i++)
			put_nic(data, host->at[i].port);
		if (host->ctx.handshake != NULL)
			put_handshakes(data, host->ctx.handshake);
		return true;
	}
	if (!wh_tel_number(params, &queue) || queue >= host->shards)
		return false;
	wh_host_port_stats(host, (uint32_t)queue, &stats);
	put_queues(data, host, (uint32_t)queue, (uint32_t)queue + 1, &stats);
	return true;
}

json_t *wh_tel_ports(const char *params, bool at_once)
{
	const struct wh_host *host = wh_tel_enter();

	(void)at_once;
	if (host == NULL)
		return NULL;

	json_t *data = json_object();
	bool known = put_answer(data, host, params);

	wh_tel_leave();
	if (known)
		return data;
	json_decref(data);
	return NULL;
}
