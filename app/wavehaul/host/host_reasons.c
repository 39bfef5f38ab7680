/* SPDX-License-Identifier: BSD-3-Clause */

/* Why packets did not reach a session: the counters of the port, the netifs and the endpoints. */

#include "host/host.h"

#include <assert.h>

/* Beside the reasons of port, frames and packets there are three more. */
static_assert(WH_PORT_DROPS + (WH_ENCAP_REASONS - WH_ENCAP_OK - 1) +
			      (WH_WIRE_REASONS - WH_WIRE_OK - 1) + 3 <=
		      WH_HOST_REASONS_MAX,
	"a row for each");

struct list {
	struct wh_reason *reason;
	uint32_t count;
};

static void add(struct list *list, const char *name, uint64_t pkts)
{
	if (pkts == 0 || list->count == WH_HOST_REASONS_MAX)
		return;
	list->reason[list->count++] = (struct wh_reason){.name = name, .pkts = pkts};
}

static uint64_t of_endpoints(const struct wh_host *host, size_t offset)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < host->shards; i++)
		sum += *(
			const uint64_t *)((const char *)&wh_host_endpoint(host, i)->stats + offset);
	return sum;
}

uint32_t wh_host_reasons(const struct wh_host *host, struct wh_reason *reasons)
{
	struct list list = {.reason = reasons};
	struct wh_port_stats port;

	wh_host_port_stats_total(host, &port);
	for (uint32_t i = 0; i < WH_PORT_DROPS; i++)
		add(&list, wh_port_drop_name((enum wh_port_drop)i), port.dropped_pkts[i]);
	for (uint32_t reason = WH_ENCAP_OK + 1; reason < WH_ENCAP_REASONS; reason++) {
		uint64_t pkts = 0;

		for (uint32_t i = 0; host->netif != NULL && i < host->shards; i++)
			pkts += wh_netif_stats(&host->netif[i]).not_ours_pkts[reason];
		add(&list, wh_encap_reason_name((enum wh_encap_reason)reason), pkts);
	}
	for (uint32_t reason = WH_WIRE_OK + 1; reason < WH_WIRE_REASONS; reason++)
		add(&list, wh_wire_reason_name((enum wh_wire_reason)reason),
			of_endpoints(host, offsetof(struct wh_endpoint_stats, bad) +
						   reason * sizeof(uint64_t)));
	add(&list, "of no session here",
		of_endpoints(host, offsetof(struct wh_endpoint_stats, no_session_pkts)));
	add(&list, "from another address than its session's",
		of_endpoints(host, offsetof(struct wh_endpoint_stats, wrong_peer_pkts)));
	add(&list, "with a cookie that is not ours, or too old",
		of_endpoints(host, offsetof(struct wh_endpoint_stats, bad_cookie_pkts)));
	return list.count;
}
