/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Packet-hops a second with reference TCPs, data and acknowledgements alike: flows over a
 * bottleneck of 1 Gb/s and 20 ms with a queue of half the product, from hosts of their own. The
 * best of several rounds, since other work on the machine can only add.
 */

#include <stdio.h>
#include <stdlib.h>

#include "lab/tcp/tcp.h"
#include "now.h"

#define FLOWS_MAX 50
#define ROUNDS    3
#define SECONDS   5
#define RATE_BPS  UINT64_C(1000000000)

static void join(struct wh_sim *sim, uint32_t a, uint32_t b, uint64_t delay_ps, uint32_t queue_pkts)
{
	struct wh_sim_link_config link = {.from = a,
		.to = b,
		.rate_bps = RATE_BPS,
		.delay_ps = delay_ps,
		.queue = {.limit_pkts = queue_pkts}};

	wh_sim_add_link(sim, &link);
	link.from = b;
	link.to = a;
	wh_sim_add_link(sim, &link);
}

static double measure_round(enum wh_sim_tcp_variety variety, uint32_t flows)
{
	struct wh_sim *sim = wh_sim_create(1);
	uint32_t left = wh_sim_add_node(sim);
	uint32_t right = wh_sim_add_node(sim);
	struct wh_sim_tcp *tcp[FLOWS_MAX];
	struct wh_sim_tcp_config config;

	join(sim, left, right, WH_PS_PER_S / 100, 833);
	wh_sim_tcp_config_init(&config, variety);
	config.window_pkts = 4000;
	for (uint32_t i = 0; i < flows; i++) {
		uint32_t from = wh_sim_add_node(sim);
		uint32_t to = wh_sim_add_node(sim);

		join(sim, from, left, WH_PS_PER_S / 10000, 4000);
		join(sim, right, to, WH_PS_PER_S / 10000, 4000);
		tcp[i] = wh_sim_tcp_create(sim, &config, from, to, wh_sim_add_flow(sim));
	}

	uint64_t start_ns = now_ns();

	for (uint32_t i = 0; i < flows; i++)
		wh_sim_tcp_offer(tcp[i], 0, UINT64_MAX);
	wh_sim_run(sim, SECONDS * WH_PS_PER_S);

	double hops_per_s = (double)wh_sim_hops(sim) * 1e9 / (double)(now_ns() - start_ns);

	for (uint32_t i = 0; i < flows; i++)
		wh_sim_tcp_destroy(tcp[i]);
	wh_sim_destroy(sim);
	return hops_per_s;
}

int main(void)
{
	static const uint32_t flows[] = {1, FLOWS_MAX};

	for (unsigned int v = 0; v < WH_SIM_TCP_TCPS; v++) {
		for (unsigned int f = 0; f < sizeof(flows) / sizeof(flows[0]); f++) {
			double best = 0.0;

			for (int round = 0; round < ROUNDS; round++) {
				double hops_per_s =
					measure_round((enum wh_sim_tcp_variety)v, flows[f]);

				if (hops_per_s > best)
					best = hops_per_s;
			}
			printf("%-9s %2u flows %5.1f million hops/s\n",
				wh_sim_tcp_variety_name((enum wh_sim_tcp_variety)v), flows[f],
				best / 1e6);
		}
	}
	return EXIT_SUCCESS;
}
