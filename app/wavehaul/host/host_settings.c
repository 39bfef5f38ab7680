/* SPDX-License-Identifier: BSD-3-Clause */
#include "host/host_settings.h"

#include <string.h>

#include "cli/own/own_addresses.h"

struct wh_host_settings wh_host_settings_of(const struct wh_settings *settings)
{
	struct wh_host_settings result = {
		.ports = settings->ports,
		.queues = settings->queues,
		.mtu_bytes = settings->mtu_bytes,
		.vlan = settings->vlan,
		.dscp = settings->dscp,
		.rx_descriptors = settings->rx_descriptors,
		.tx_descriptors = settings->tx_descriptors,
		.udp_port = settings->udp_port,
		.udp_port_last = settings->udp_port_last,
		.rx_cpus = settings->rx_cpus,
		.tx_cpus = settings->tx_cpus,
		.worker_cpus = settings->worker_cpus,
		.books_cpus = settings->books_cpus,
		.buffer_bytes = settings->buffer_bytes,
		.no_huge = settings->no_huge,
		.verbose = settings->verbose,
		.eal = settings->eal,
	};

	memcpy(result.port, settings->port, sizeof(result.port));
	return result;
}

uint32_t wh_host_settings_toward(
	const struct wh_host_settings *settings, const struct wh_address *peer)
{
	return wh_own_beside(settings->port, settings->ports, peer) * settings->queues;
}
