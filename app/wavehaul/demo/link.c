/* SPDX-License-Identifier: BSD-3-Clause */
#include "demo/link.h"

#include <errno.h>
#include <stdio.h>

#include <rte_cycles.h>
#include <rte_mbuf.h>

#include "cli/complain.h"
#include "host/host.h"

#define NAME "demo"

int wh_demo_link_up(const struct wh_demo_options *options, const struct wh_demo_plan *plan,
	uint64_t hz, struct wh_demo_link *link)
{
	char why[WH_LAMBDA_WHY_BYTES];

	*link = (struct wh_demo_link){0};
	link->pool = rte_pktmbuf_pool_create("lambda", plan->lambda_mbufs, WH_LAMBDA_POOL_CACHE, 0,
		wh_port_room_bytes((uint16_t)options->settings.mtu_bytes), SOCKET_ID_ANY);
	if (link->pool == NULL) {
		wh_complain("no memory for the lambda's packets, though it was reckoned with; give "
			    "more hugepages, or a smaller --memory");
		return -ENOMEM;
	}

	const struct wh_lambda_config config = {
		.name = NAME,
		.fibre =
			{
				[WH_DEMO_SENDER] = options->settings.lambda,
				[WH_DEMO_RECEIVER] = plan->reverse,
			},
		.ring_pkts = WH_HOST_RING_PKTS,
		.mtu = (uint16_t)options->settings.mtu_bytes,
		.pool = link->pool,
		.hz = hz,
		.socket = SOCKET_ID_ANY,
	};
	int rc = wh_lambda_create(&config, rte_rdtsc(), &link->lambda, why, sizeof(why));

	if (rc != 0)
		wh_complain("%s", why);
	return rc;
}

struct wh_port_spec wh_demo_port(enum wh_lambda_end end)
{
	struct wh_port_spec spec = {
		.kind = WH_PORT_VDEV,
		.verbatim = true,
		.facts = {.queues_max = 1, .mtu_max = UINT16_MAX, .emulated = true},
	};

	snprintf(spec.ethdev, sizeof(spec.ethdev), "net_ring_" NAME "_%c",
		end == WH_DEMO_SENDER ? 'a' : 'b');
	snprintf(spec.target, sizeof(spec.target), "an emulated lambda");
	return spec;
}

void wh_demo_link_down(struct wh_demo_link *link)
{
	wh_lambda_close(link->lambda);
	rte_mempool_free(link->pool);
	*link = (struct wh_demo_link){0};
}
