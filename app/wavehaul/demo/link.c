/* SPDX-License-Identifier: BSD-3-Clause */
#include "demo/link.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_errno.h>
#include <rte_malloc.h>
#include <rte_mbuf.h>

#include "cli/complain.h"

static int make_pools(const struct wh_plan *plan, struct wh_demo_link *link)
{
	const uint32_t chunks[WH_LAMBDA_ENDS] = {
		[WH_DEMO_SENDER] = plan->sender_chunks,
		[WH_DEMO_RECEIVER] = plan->receiver_chunks,
	};

	link->port_pool = rte_pktmbuf_pool_create(
		"ports", plan->port_mbufs, 256, 0, plan->room_bytes, SOCKET_ID_ANY);
	link->lambda_pool = rte_pktmbuf_pool_create("lambda", plan->lambda_mbufs,
		WH_LAMBDA_POOL_CACHE, 0, plan->room_bytes, SOCKET_ID_ANY);
	for (uint32_t end = 0; end < WH_LAMBDA_ENDS; end++)
		link->chunk_memory[end] =
			rte_malloc("chunks", chunks[end] * plan->stride_bytes, WH_CHUNK_ALIGN);
	if (link->port_pool != NULL && link->lambda_pool != NULL && link->chunk_memory[0] != NULL &&
		link->chunk_memory[1] != NULL)
		return 0;
	wh_complain("no memory for the pools, though it was reckoned with; give "
		    "more hugepages, or a smaller --memory");
	return -ENOMEM;
}

static int open_end(const struct wh_demo_options *options, enum wh_lambda_end end,
	const struct wh_endpoint_config *endpoint, uint64_t now_tsc, struct wh_demo_link *link)
{
	char why[WH_PORT_WHY_BYTES];
	struct wh_port_config port = {
		.ethdev = wh_lambda_ethdev(link->lambda, end),
		.queues = 1,
		.mtu = options->mtu_bytes,
		.pool = link->port_pool,
		.socket = SOCKET_ID_ANY,
		.link_wait_ms = 1000,
		/* Locally administered: rings have no address of their own. */
		.mac = {.addr_bytes = {0x02, 'w', 'h', 0, 0, (uint8_t)(end + 1)}},
	};
	int rc = wh_port_open(&port, &link->port[end], why, sizeof(why));

	if (rc != 0) {
		wh_complain("%s", why);
		return rc;
	}

	struct wh_station_config station = {
		.port = link->port[end],
		.pool = link->port_pool,
		.local4 = link->address[end],
		/* A ring hands over the very packet and a delay line keeps it: copies. */
		.attach_bytes = UINT32_MAX,
		.neighbour =
			{
				.hz = endpoint->hz,
				.mtu = options->mtu_bytes,
				.ipv4 = {.prefix_bits = 24},
			},
		.endpoint = *endpoint,
	};

	memcpy(station.neighbour.mac, &link->port[end]->mac, sizeof(station.neighbour.mac));
	memcpy(station.neighbour.ipv4.ip, link->address[end].ip, 4);
	rc = wh_station_init(&link->station[end], &station);
	if (rc != 0) {
		wh_complain("no memory for an endpoint");
		return rc;
	}
	wh_neighbour_announce(&link->station[end].neighbour, now_tsc);
	link->stations++;
	return 0;
}

int wh_demo_link_up(const struct wh_demo_options *options, const struct wh_plan *plan,
	const struct wh_endpoint_config *receiver, uint64_t now_tsc, struct wh_demo_link *link)
{
	char why[WH_LAMBDA_WHY_BYTES];
	struct wh_endpoint_config sender = {.hz = receiver->hz, .places = receiver->places};

	*link = (struct wh_demo_link){
		.address =
			{
				[WH_DEMO_SENDER] = {.family = WH_IPV4,
					.ip = {192, 0, 2, 1},
					.port = WH_UDP_PORT_DEFAULT},
				[WH_DEMO_RECEIVER] = {.family = WH_IPV4,
					.ip = {192, 0, 2, 2},
					.port = WH_UDP_PORT_DEFAULT},
			},
	};

	int rc = make_pools(plan, link);

	if (rc != 0)
		return rc;

	struct wh_lambda_config lambda = {
		.name = "demo",
		.path =
			{
				[WH_DEMO_SENDER] = options->forward,
				[WH_DEMO_RECEIVER] = plan->reverse,
			},
		.ring_pkts = WH_LAMBDA_RING_PKTS_DEFAULT / 2,
		.mtu = options->mtu_bytes,
		.pool = link->lambda_pool,
		.hz = receiver->hz,
		.socket = SOCKET_ID_ANY,
	};

	rc = wh_lambda_create(&lambda, now_tsc, &link->lambda, why, sizeof(why));
	if (rc != 0) {
		wh_complain("%s", why);
		return rc;
	}
	rc = open_end(options, WH_DEMO_SENDER, &sender, now_tsc, link);
	return rc != 0 ? rc : open_end(options, WH_DEMO_RECEIVER, receiver, now_tsc, link);
}

void wh_demo_link_down(struct wh_demo_link *link)
{
	for (uint32_t end = 0; end < link->stations; end++)
		wh_station_free(&link->station[end]);
	for (uint32_t end = 0; end < WH_LAMBDA_ENDS; end++)
		wh_port_close(link->port[end]);
	wh_lambda_close(link->lambda);
	rte_mempool_free(link->port_pool);
	rte_mempool_free(link->lambda_pool);
	for (uint32_t end = 0; end < WH_LAMBDA_ENDS; end++)
		rte_free(link->chunk_memory[end]);
}
