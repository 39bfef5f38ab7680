/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Packet-hops a second of the simulator: constant bit rate over three links in a row, by the
 * discipline of their queues and by how full they are, and a TCP with its acknowledgements. The
 * best of several rounds, since other work on the machine can only add.
 */

#include <stdio.h>
#include <stdlib.h>

#include "lab/sim/traffic.h"
#include "lab/tcp/tcp.h"
#include "now.h"

#define LINKS        3
#define ROUNDS       3
#define HOPS         3000000
#define PACKET_BYTES 1500
#define RATE_BPS     UINT64_C(10000000000)

struct load {
	const char *name;
	struct wh_sim_queue_config queue;
	uint64_t delay_ps;
	uint64_t offered_bps; /* 0: what a TCP sends */
	double loss;
};

static void add_link(struct wh_sim *sim, const struct load *load, uint32_t from, uint32_t to)
{
	wh_sim_add_link(sim, &(struct wh_sim_link_config){
				     .from = from,
				     .to = to,
				     .rate_bps = RATE_BPS,
				     .delay_ps = load->delay_ps,
				     .queue = load->queue,
				     .loss = {.loss = load->loss},
			     });
}

static struct wh_sim *create(const struct load *load)
{
	struct wh_sim *sim = wh_sim_create(1);

	wh_sim_add_node(sim);
	for (uint32_t i = 0; i < LINKS; i++) {
		wh_sim_add_node(sim);
		add_link(sim, load, i, i + 1);
		add_link(sim, load, i + 1, i);
	}
	wh_sim_add_flow(sim);
	return sim;
}

/* As long as the links need for their hops, and what the first packet takes. */
static void run_source(struct wh_sim *sim, const struct load *load)
{
	struct wh_sim_traffic_config config = {
		.kind = WH_SIM_CBR, .packet_bytes = PACKET_BYTES, .rate_bps = load->offered_bps};
	struct wh_sim_traffic *source = wh_sim_traffic_create(sim, &config, 0, LINKS, 0);
	uint64_t packet_ps = 8 * WH_PS_PER_S * PACKET_BYTES / RATE_BPS;

	wh_sim_traffic_start(source, 0);
	wh_sim_run(sim, LINKS * load->delay_ps + HOPS / LINKS * packet_ps);
	wh_sim_traffic_destroy(source);
}

static void run_tcp(struct wh_sim *sim, const struct load *load)
{
	struct wh_sim_tcp_config config;

	wh_sim_tcp_config_init(&config, WH_SIM_TCP_SACK);
	config.window_pkts = 10000;

	struct wh_sim_tcp *tcp = wh_sim_tcp_create(sim, &config, 0, LINKS, 0);

	wh_sim_tcp_offer(tcp, 0, UINT64_MAX);
	while (wh_sim_hops(sim) < HOPS)
		wh_sim_run(sim, wh_sim_now_ps(sim) + 10 * load->delay_ps);
	wh_sim_tcp_destroy(tcp);
}

static double measure_round(const struct load *load, uint64_t *in_flight_max)
{
	struct wh_sim *sim = create(load);
	uint64_t start_ns = now_ns();

	if (load->offered_bps != 0)
		run_source(sim, load);
	else
		run_tcp(sim, load);

	double hops_per_s = (double)wh_sim_hops(sim) * 1e9 / (double)(now_ns() - start_ns);

	*in_flight_max = wh_sim_pool(sim)->in_use_pkts_max;
	wh_sim_destroy(sim);
	return hops_per_s;
}

int main(void)
{
	static const struct load loads[] = {
		{"droptail, 1 ms, 90 %", {.limit_pkts = 100}, WH_PS_PER_S / 1000, 9000000000, 0.0},
		{"droptail, 1 ms, 110 %", {.limit_pkts = 100}, WH_PS_PER_S / 1000, 11000000000,
			0.0},
		{"droptail, 100 ms, 90 %", {.limit_pkts = 100}, WH_PS_PER_S / 10, 9000000000, 0.0},
		{"droptail, 1 ms, 1 % lost", {.limit_pkts = 100}, WH_PS_PER_S / 1000, 9000000000,
			0.01},
		{"red, 1 ms, 110 %", {.discipline = WH_SIM_RED, .limit_pkts = 1000},
			WH_PS_PER_S / 1000, 11000000000, 0.0},
		{"codel, 1 ms, 110 %", {.discipline = WH_SIM_CODEL, .limit_pkts = 1000},
			WH_PS_PER_S / 1000, 11000000000, 0.0},
		{"tcp sack, 1 ms", {.limit_pkts = 1000}, WH_PS_PER_S / 1000, 0, 0.0},
		{"tcp sack, 1 ms, 0.1 % lost", {.limit_pkts = 1000}, WH_PS_PER_S / 1000, 0, 0.001},
	};

	for (unsigned int i = 0; i < sizeof(loads) / sizeof(loads[0]); i++) {
		double best = 0.0;
		uint64_t in_flight_max = 0;

		for (int round = 0; round < ROUNDS; round++) {
			double hops_per_s = measure_round(&loads[i], &in_flight_max);

			if (hops_per_s > best)
				best = hops_per_s;
		}
		printf("%-26s %5.1f million hops/s, at most %8llu packets in flight\n",
			loads[i].name, best / 1e6, (unsigned long long)in_flight_max);
	}
	return EXIT_SUCCESS;
}
