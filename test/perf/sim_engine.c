/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Connections in the simulator: packet-hops a second, what a second of virtual time costs, and the
 * memory of a long fat link; held against what the simulator promises. Each load is a process of
 * its own, so that its memory is its own, too.
 */

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "lab/scenario/engine.h"

#define PACKET_BYTES 1500
#define GIGA         UINT64_C(1000000000)
#define MS_PS        (WH_PS_PER_S / 1000)
#define FLOWS_MAX    50

#define LEAST_HOPS_PER_S 1e6
#define MOST_BYTES       (UINT64_C(4) << 30)

struct load {
	const char *name;
	const char *profile;
	uint64_t flow_bps; /* of each connection; 0: its own affair */
	uint64_t rate_bps; /* of each link */
	uint64_t rtt_ps;
	uint64_t span_ps;
	uint32_t links; /* in a row, and as many back */
	uint32_t flows;
	uint32_t window_pkts;
	double most_s; /* CPU seconds; 0: as many as it takes */
};

static double cpu_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* Queues hold what the link does, at least 10 packets: udt.txt, Fig. 1. */
static void add_links(struct wh_sim *sim, const struct load *load)
{
	uint64_t bdp_pkts =
		wh_muldiv_u64(load->rate_bps / 8 / PACKET_BYTES, load->rtt_ps, WH_PS_PER_S);
	struct wh_sim_link_config link = {
		.rate_bps = load->rate_bps,
		.delay_ps = load->rtt_ps / 2 / load->links,
		.queue = {.limit_pkts = (uint32_t)wh_max_u64(bdp_pkts, 10)},
	};

	for (uint32_t i = 0; i <= load->links; i++)
		wh_sim_add_node(sim);
	for (uint32_t i = 0; i < load->links; i++) {
		link.from = i;
		link.to = i + 1;
		wh_sim_add_link(sim, &link);
		link.from = i + 1;
		link.to = i;
		wh_sim_add_link(sim, &link);
	}
}

static void report(const struct load *load, const struct wh_sim *sim, double took_s,
	uint64_t goodput_bytes, bool *good)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);

	double hops_per_s = (double)wh_sim_hops(sim) / took_s;
	uint64_t bytes = (uint64_t)usage.ru_maxrss * 1024;

	*good = hops_per_s >= LEAST_HOPS_PER_S && bytes <= MOST_BYTES &&
		(load->most_s == 0 || took_s < load->most_s);
	printf("%s %-34s %4.1f million hops/s, %5.2f s for %4.1f s, %5.1f MiB, goodput %.3f Gb/s\n",
		*good ? "ok    " : "FAILED", load->name, hops_per_s / 1e6, took_s,
		(double)load->span_ps / (double)WH_PS_PER_S, (double)bytes / (1 << 20),
		(double)goodput_bytes * 8e3 / (double)load->span_ps);
	fflush(stdout);
}

static bool run(const struct load *load)
{
	struct wh_sim *sim = wh_sim_create(1);
	struct wh_sim_engine *engine[FLOWS_MAX];
	uint32_t flow = wh_sim_add_flow(sim);
	struct wh_sim_engine_config config;
	bool good;

	add_links(sim, load);
	wh_sim_engine_config_init(&config, wh_profile_find(load->profile));
	config.rate_bps = load->flow_bps;
	config.window_pkts = load->window_pkts;

	double from_s = cpu_s();

	for (uint32_t i = 0; i < load->flows; i++) {
		engine[i] = wh_sim_engine_create(sim, &config, 0, load->links, flow, i);
		wh_sim_engine_start(engine[i], 0);
	}
	wh_sim_run(sim, load->span_ps);
	report(load, sim, cpu_s() - from_s, wh_sim_flow_stats(sim, flow)->goodput_bytes, &good);
	for (uint32_t i = 0; i < load->flows; i++)
		wh_sim_engine_destroy(engine[i]);
	wh_sim_destroy(sim);
	return good;
}

static bool run_apart(const struct load *load)
{
	pid_t child = fork();
	int status = 0;

	if (child == 0)
		_exit(run(load) ? EXIT_SUCCESS : EXIT_FAILURE);
	return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
	       WEXITSTATUS(status) == EXIT_SUCCESS;
}

int main(void)
{
	static const struct load loads[] = {
		{"fixed, 1 Gb/s, 10 ms", "fixed", GIGA, GIGA, 10 * MS_PS, 10 * WH_PS_PER_S, 1, 1,
			1 << 13, 0},
		{"udt, 1 Gb/s, 10 ms", "udt", 0, GIGA, 10 * MS_PS, 10 * WH_PS_PER_S, 1, 1, 1 << 13,
			0},
		{"udt, 3 links of 1 Gb/s, 50 flows", "udt", 0, GIGA, 30 * MS_PS, 10 * WH_PS_PER_S,
			3, 50, 1 << 13, 0},
		{"udt, 10 Gb/s, 100 ms", "udt", 0, 10 * GIGA, 100 * MS_PS, 10 * WH_PS_PER_S, 1, 1,
			1 << 18, 60},
		{"fixed, 100 Gb/s, 1 s", "fixed", 100 * GIGA, 100 * GIGA, WH_PS_PER_S,
			4 * WH_PS_PER_S, 1, 1, 1 << 24, 0},
	};
	bool good = true;

	for (size_t i = 0; i < sizeof(loads) / sizeof(loads[0]); i++)
		good &= run_apart(&loads[i]);
	return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
