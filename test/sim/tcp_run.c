/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * One scenario of reference TCPs for ns2.py and sttp_tables.py, on lib/lab/sim directly: N greedy
 * flows over a dumbbell, each from a host of its own to a host of its own.
 *
 *   host --access-- router --bottleneck-- router --access-- host
 *
 * `tcp_run key=value ...`; prints JSON: goodput and what every flow sent, drops at the bottleneck.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "lab/tcp/tcp_internal.h"

#define FLOWS_MAX      1024
#define RED_MEAN_BYTES 500 /* ns-2's mean_pktsize_ */

struct run {
	struct wh_sim_tcp_config tcp;
	uint64_t variety;
	uint64_t flows;
	uint64_t rate_bps;
	uint64_t delay_ns;
	uint64_t access_rate_bps;
	uint64_t access_delay_ns;
	uint64_t queue_pkts;
	uint64_t discipline;
	double loss;
	uint64_t seconds;
	uint64_t seed;
	uint64_t spread_ns;   /* starts are uniform in it, ... */
	uint64_t interval_ns; /* ... after so much for each flow before */
	uint64_t window_pkts;
	uint64_t payload_bytes;
	uint64_t head_bytes;
	uint64_t limited_pkts; /* max_ssthresh */
	uint64_t cwnd_pkts;
	uint64_t tick_ns;
	uint64_t initial_rto_ns;
	uint64_t min_rto_ns;
	uint64_t delayed;
	uint64_t handshake;
	uint64_t limited_transmit;
	uint64_t as_linux;
	uint64_t hystart;
};

enum kind { COUNT, RATE, TIME, SHARE, VARIETY, DISCIPLINE };

static const struct option {
	const char *name;
	enum kind kind;
	size_t offset;
} options[] = {
	{"variety", VARIETY, offsetof(struct run, variety)},
	{"flows", COUNT, offsetof(struct run, flows)},
	{"rate", RATE, offsetof(struct run, rate_bps)},
	{"delay", TIME, offsetof(struct run, delay_ns)},
	{"access-rate", RATE, offsetof(struct run, access_rate_bps)},
	{"access-delay", TIME, offsetof(struct run, access_delay_ns)},
	{"queue", COUNT, offsetof(struct run, queue_pkts)},
	{"discipline", DISCIPLINE, offsetof(struct run, discipline)},
	{"loss", SHARE, offsetof(struct run, loss)},
	{"seconds", COUNT, offsetof(struct run, seconds)},
	{"seed", COUNT, offsetof(struct run, seed)},
	{"spread", TIME, offsetof(struct run, spread_ns)},
	{"interval", TIME, offsetof(struct run, interval_ns)},
	{"window", COUNT, offsetof(struct run, window_pkts)},
	{"payload", COUNT, offsetof(struct run, payload_bytes)},
	{"head", COUNT, offsetof(struct run, head_bytes)},
	{"max-ssthresh", COUNT, offsetof(struct run, limited_pkts)},
	{"initial-cwnd", COUNT, offsetof(struct run, cwnd_pkts)},
	{"tick", TIME, offsetof(struct run, tick_ns)},
	{"initial-rto", TIME, offsetof(struct run, initial_rto_ns)},
	{"min-rto", TIME, offsetof(struct run, min_rto_ns)},
	{"delayed-ack", COUNT, offsetof(struct run, delayed)},
	{"handshake", COUNT, offsetof(struct run, handshake)},
	{"limited-transmit", COUNT, offsetof(struct run, limited_transmit)},
	{"linux", COUNT, offsetof(struct run, as_linux)}, /* of cubic */
	{"hystart", COUNT, offsetof(struct run, hystart)},
};

static int parse_count(const char *text, uint64_t *count)
{
	char *end;

	errno = 0;
	*count = strtoull(text, &end, 10);
	return errno != 0 || end == text || *end != '\0' ? -EINVAL : 0;
}

static int parse_name(
	const char *text, const char *(*name)(unsigned int), unsigned int names, uint64_t *value)
{
	for (unsigned int i = 0; i < names; i++) {
		if (strcmp(text, name(i)) == 0) {
			*value = i;
			return 0;
		}
	}
	return -EINVAL;
}

static const char *variety_name(unsigned int variety)
{
	return wh_sim_tcp_variety_name((enum wh_sim_tcp_variety)variety);
}

static const char *discipline_name(unsigned int discipline)
{
	return wh_sim_discipline_name((enum wh_sim_discipline)discipline);
}

static int parse_value(const struct option *option, const char *text, void *value)
{
	switch (option->kind) {
	case RATE:
		return wh_parse_rate(text, value);
	case TIME:
		return wh_parse_time(text, value);
	case SHARE:
		return wh_parse_share(text, value);
	case VARIETY:
		return parse_name(text, variety_name, WH_SIM_TCP_VARIETIES, value);
	case DISCIPLINE:
		return parse_name(text, discipline_name, WH_SIM_DISCIPLINES, value);
	default:
		return parse_count(text, value);
	}
}

static int parse(struct run *run, const char *word)
{
	size_t length = strcspn(word, "=");

	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		const struct option *option = &options[i];

		if (strlen(option->name) == length && word[length] == '=' &&
			memcmp(option->name, word, length) == 0)
			return parse_value(option, word + length + 1, (char *)run + option->offset);
	}
	return -EINVAL;
}

static void run_init(struct run *run)
{
	struct wh_sim_tcp_config defaults;

	wh_sim_tcp_config_init(&defaults, WH_SIM_TCP_RENO);
	*run = (struct run){
		.flows = 1,
		.rate_bps = 10000000,
		.delay_ns = 10000000,
		.access_rate_bps = 97000000,
		.access_delay_ns = 1000000,
		.queue_pkts = 50,
		.seconds = 10,
		.seed = 1,
		.window_pkts = defaults.window_pkts,
		.payload_bytes = 1000,
		.head_bytes = defaults.head_bytes,
		.cwnd_pkts = (uint64_t)defaults.initial_cwnd_pkts,
		.tick_ns = defaults.tick_ps / WH_PS_PER_NS,
		.initial_rto_ns = defaults.initial_rto_ps / WH_PS_PER_NS,
		.min_rto_ns = defaults.min_rto_ps / WH_PS_PER_NS,
		.handshake = defaults.handshake,
		.limited_transmit = defaults.limited_transmit,
		.hystart = true,
	};
}

static void tcp_config(const struct run *run, struct wh_sim_tcp_config *config)
{
	wh_sim_tcp_config_init(config, (enum wh_sim_tcp_variety)run->variety);
	if (run->variety == WH_SIM_TCP_CUBIC && run->as_linux != 0)
		wh_sim_tcp_config_as_linux(config);
	config->hystart = config->hystart && run->hystart != 0;
	config->segment_bytes = (uint32_t)run->payload_bytes;
	config->head_bytes = (uint32_t)run->head_bytes;
	config->window_pkts = (uint32_t)run->window_pkts;
	config->max_ssthresh_pkts = (double)run->limited_pkts;
	config->initial_cwnd_pkts = (double)run->cwnd_pkts;
	config->tick_ps = run->tick_ns * WH_PS_PER_NS;
	config->initial_rto_ps = run->initial_rto_ns * WH_PS_PER_NS;
	config->min_rto_ps = run->min_rto_ns * WH_PS_PER_NS;
	config->delayed_ack = run->delayed != 0;
	config->handshake = run->handshake != 0;
	config->limited_transmit = run->limited_transmit != 0;
}

/* The same both ways, but that only data is lost. Returns the direction of data. */
static uint32_t join(struct wh_sim *sim, const struct wh_sim_link_config *forward)
{
	struct wh_sim_link_config back = *forward;
	uint32_t link = wh_sim_add_link(sim, forward);

	back.from = forward->to;
	back.to = forward->from;
	back.loss = (struct wh_link_model){0};
	wh_sim_add_link(sim, &back);
	return link;
}

struct flow {
	struct wh_sim_tcp *tcp;
	struct wh_sim_event start;
	uint64_t start_ps;
	uint32_t flow;
};

static void start(void *context, uint64_t now_ps)
{
	struct flow *flow = context;

	wh_sim_tcp_offer(flow->tcp, now_ps, UINT64_MAX);
}

static void access_host(
	struct wh_sim *sim, const struct run *run, uint32_t router, uint32_t *host, bool towards)
{
	*host = wh_sim_add_node(sim);
	join(sim, &(struct wh_sim_link_config){
			  .from = towards ? *host : router,
			  .to = towards ? router : *host,
			  .rate_bps = run->access_rate_bps,
			  .delay_ps = run->access_delay_ns * WH_PS_PER_NS,
			  .queue = {.limit_pkts = (uint32_t)run->queue_pkts},
		  });
}

static void print(
	const struct run *run, struct wh_sim *sim, const struct flow *flows, uint32_t link)
{
	const struct wh_sim_link_stats *stats = wh_sim_link_stats(sim, link);
	uint64_t goodput_bytes = 0;
	uint64_t timeouts = 0;

	for (uint64_t i = 0; i < run->flows; i++) {
		goodput_bytes += wh_sim_flow_stats(sim, flows[i].flow)->goodput_bytes;
		timeouts += flows[i].tcp->timeouts;
	}
	printf("{\"goodput_bytes\": %" PRIu64 ", \"drops\": %" PRIu64 ", \"overflows\": %" PRIu64
	       ", \"early\": %" PRIu64 ", \"lost\": %" PRIu64 ", \"timeouts\": %" PRIu64
	       ", \"hops\": %" PRIu64 ",\n \"flows\": [",
		goodput_bytes, stats->overflow_pkts + stats->early_pkts + stats->lost_pkts,
		stats->overflow_pkts, stats->early_pkts, stats->lost_pkts, timeouts,
		wh_sim_hops(sim));
	for (uint64_t i = 0; i < run->flows; i++) {
		const struct wh_sim_flow_stats *flow = wh_sim_flow_stats(sim, flows[i].flow);

		printf("%s\n  {\"start_s\": %.9f, \"sent\": %" PRIu64 ", \"again\": %" PRIu64
		       ", \"dropped\": %" PRIu64 ", \"goodput_bytes\": %" PRIu64 "}",
			i > 0 ? "," : "", (double)flows[i].start_ps / (double)WH_PS_PER_S,
			flow->sent_pkts, flow->retransmitted_pkts, flow->dropped_pkts,
			flow->goodput_bytes);
	}
	printf("]}\n");
}

/* ns-2's RED counts bytes, and its limit then is of so many packets of the mean size. */
static struct wh_sim_queue_config bottleneck_queue(const struct run *run)
{
	struct wh_sim_queue_config queue = {
		.discipline = run->discipline,
		.limit_pkts = (uint32_t)run->queue_pkts,
	};

	if (run->discipline == WH_SIM_RED) {
		queue.limit_pkts = 0;
		queue.limit_bytes = run->queue_pkts * RED_MEAN_BYTES;
		queue.red_in_bytes = true;
	}
	return queue;
}

static void simulate(const struct run *run)
{
	static struct flow flows[FLOWS_MAX];
	struct wh_sim *sim = wh_sim_create(run->seed);
	uint32_t left = wh_sim_add_node(sim);
	uint32_t right = wh_sim_add_node(sim);
	uint32_t bottleneck = join(sim, &(struct wh_sim_link_config){
						.from = left,
						.to = right,
						.rate_bps = run->rate_bps,
						.delay_ps = run->delay_ns * WH_PS_PER_NS,
						.queue = bottleneck_queue(run),
						.loss = {.loss = run->loss},
					});
	struct wh_sim_tcp_config config;

	tcp_config(run, &config);
	for (uint64_t i = 0; i < run->flows; i++) {
		struct flow *flow = &flows[i];
		uint32_t from;
		uint32_t to;

		access_host(sim, run, left, &from, true);
		access_host(sim, run, right, &to, false);
		flow->flow = wh_sim_add_flow(sim);
		flow->tcp = wh_sim_tcp_create(sim, &config, from, to, flow->flow);
		flow->start_ps = i * run->interval_ns * WH_PS_PER_NS;
		if (run->spread_ns > 0)
			flow->start_ps +=
				WH_PS_PER_NS * wh_prng_below(wh_sim_prng(sim), run->spread_ns);
		wh_sim_event_init(&flow->start, start, flow);
		wh_sim_event_at(wh_sim_events(sim), &flow->start, flow->start_ps);
	}
	wh_sim_run(sim, run->seconds * WH_PS_PER_S);
	print(run, sim, flows, bottleneck);
	for (uint64_t i = 0; i < run->flows; i++)
		wh_sim_tcp_destroy(flows[i].tcp);
	wh_sim_destroy(sim);
}

int main(int argc, char **argv)
{
	struct run run;

	run_init(&run);
	for (int i = 1; i < argc; i++) {
		if (parse(&run, argv[i]) < 0) {
			fprintf(stderr, "tcp_run: what is %s?\n", argv[i]);
			return 2;
		}
	}
	if (run.flows == 0 || run.flows > FLOWS_MAX || run.rate_bps == 0) {
		fprintf(stderr, "tcp_run: from 1 to %d flows, and a rate\n", FLOWS_MAX);
		return 2;
	}
	simulate(&run);
	return 0;
}
