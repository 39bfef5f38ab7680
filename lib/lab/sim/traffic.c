/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab/sim/traffic.h"

#include <math.h>
#include <stdlib.h>

#include "base/arith.h"
#include "base/assert.h"
#include "base/clock.h"
#include "lab/sim/sim_memory.h"

#define PARETO_SHAPE 1.5

/* Longer than any run, and within the range of the clock. */
#define SPAN_MAX_PS 1e18
#define BURST_MAX   1e15

struct wh_sim_traffic {
	struct wh_sim *sim;
	struct wh_sim_traffic_config config;
	struct wh_sim_flow_stats *stats;
	struct wh_sim_event event;
	struct wh_prng prng;
	uint32_t from_node;
	uint32_t flow;
	uint32_t agent; /* at the other end */
	bool running;
	bool fresh; /* the next packet is due at once */
	uint64_t next_number;
	uint64_t left_pkts; /* of this burst; constant bit rate is an endless one */
	uint64_t base_ps;   /* start of the gap to the next packet */
};

/*
 * Exponential with mean 1, using comparisons only (von Neumann, "Various techniques used in
 * connection with random digits", 1951): logarithms differ between machines in their last digit.
 */
static double draw_exponential(struct wh_prng *prng)
{
	for (double whole = 0.0;; whole += 1.0) {
		double first = wh_prng_unit(prng);
		double before = first;
		bool odd = true;

		for (double next; (next = wh_prng_unit(prng)) < before; before = next)
			odd = !odd;
		if (odd)
			return whole + first;
	}
}

/* Pareto with mean 1: its logarithm is exponential. */
static double draw_pareto(struct wh_prng *prng, double shape)
{
	return (shape - 1.0) / shape * wh_exp(draw_exponential(prng) / shape);
}

static double draw(struct wh_sim_traffic *traffic)
{
	return traffic->config.kind == WH_SIM_PARETO
		       ? draw_pareto(&traffic->prng, traffic->config.shape)
		       : draw_exponential(&traffic->prng);
}

static uint64_t packet_time(const struct wh_sim_traffic *traffic)
{
	return wh_sim_line_ps(traffic->config.packet_bytes, traffic->config.rate_bps);
}

/* Like ns-2: silence, then a whole number of packets and at least one. */
static void begin_silence(struct wh_sim_traffic *traffic, uint64_t now_ps)
{
	double mean_pkts = (double)traffic->config.on_ps / (double)packet_time(traffic);
	double pkts = floor(fmin(mean_pkts * draw(traffic), BURST_MAX) + 0.5);
	double silence_ps = fmin((double)traffic->config.off_ps * draw(traffic), SPAN_MAX_PS);

	WH_ASSERT(pkts >= 0.0 && silence_ps >= 0.0);
	traffic->left_pkts = pkts < 1.0 ? 1 : (uint64_t)pkts;
	traffic->base_ps = now_ps + (uint64_t)silence_ps;
}

static void send_packet(struct wh_sim_traffic *traffic, uint64_t now_ps)
{
	struct wh_sim_packet *packet = wh_sim_packet_get(wh_sim_pool(traffic->sim));

	packet->bytes = traffic->config.packet_bytes;
	packet->flow = traffic->flow;
	packet->to = traffic->agent;
	packet->number = traffic->next_number++;
	if (traffic->stats->sent_pkts++ == 0)
		traffic->stats->first_sent_ps = now_ps;
	WH_ASSERT(traffic->left_pkts > 0);
	traffic->left_pkts--;
	wh_sim_send(traffic->sim, traffic->from_node, packet);
}

static void schedule(struct wh_sim_traffic *traffic, uint64_t now_ps, uint64_t due_ps)
{
	wh_sim_event_at(wh_sim_events(traffic->sim), &traffic->event, wh_max_u64(now_ps, due_ps));
}

static void send_of_burst(struct wh_sim_traffic *traffic, uint64_t now_ps)
{
	do {
		send_packet(traffic, now_ps);
	} while (traffic->config.rate_bps == 0 && traffic->left_pkts > 0);
	if (traffic->left_pkts > 0)
		schedule(traffic, now_ps, now_ps + packet_time(traffic));
}

/* Schedules the next packet; without a rate there is none. */
static void go_on(struct wh_sim_traffic *traffic, uint64_t now_ps)
{
	if (traffic->config.rate_bps == 0) {
		wh_sim_event_cancel(wh_sim_events(traffic->sim), &traffic->event);
		return;
	}
	if (traffic->left_pkts == 0)
		begin_silence(traffic, now_ps);
	schedule(
		traffic, now_ps, traffic->fresh ? now_ps : traffic->base_ps + packet_time(traffic));
}

static void fire(void *context, uint64_t now_ps)
{
	struct wh_sim_traffic *traffic = context;

	WH_ASSERT(traffic->running);
	if (traffic->config.kind == WH_SIM_BURST) {
		send_of_burst(traffic, now_ps);
		return;
	}
	send_packet(traffic, now_ps);
	traffic->base_ps = now_ps;
	traffic->fresh = false;
	go_on(traffic, now_ps);
}

/* Datagrams count as payload in full, as in ns-2. */
static void receive(void *context, uint64_t now_ps, struct wh_sim_packet *packet)
{
	struct wh_sim_traffic *traffic = context;

	(void)now_ps;
	WH_DEBUG_ASSERT(packet->number < traffic->next_number);
	traffic->stats->goodput_bytes += packet->bytes;
	wh_sim_packet_put(wh_sim_pool(traffic->sim), packet);
}

struct wh_sim_traffic *wh_sim_traffic_create(struct wh_sim *sim,
	const struct wh_sim_traffic_config *config, uint32_t from_node, uint32_t to_node,
	uint32_t flow)
{
	WH_ASSERT(config->kind < WH_SIM_TRAFFIC_KINDS);
	WH_ASSERT(config->packet_bytes > 0 && config->packet_bytes <= WH_SIM_PACKET_BYTES_MAX);
	WH_ASSERT(config->kind != WH_SIM_BURST || config->burst_pkts > 0);

	struct wh_sim_traffic *traffic = wh_sim_allocate(sizeof(*traffic));

	*traffic = (struct wh_sim_traffic){
		.sim = sim,
		.config = *config,
		.stats = wh_sim_flow_stats(sim, flow),
		.from_node = from_node,
		.flow = flow,
		.agent = wh_sim_add_agent(sim, to_node, receive, traffic),
	};
	if (traffic->config.shape == 0.0)
		traffic->config.shape = PARETO_SHAPE;
	WH_ASSERT(traffic->config.shape > 1.0);
	wh_sim_event_init(&traffic->event, fire, traffic);
	wh_prng_init(&traffic->prng, wh_prng_u64(wh_sim_prng(sim)));
	return traffic;
}

void wh_sim_traffic_destroy(struct wh_sim_traffic *traffic)
{
	if (traffic == NULL)
		return;
	wh_sim_traffic_stop(traffic);
	free(traffic);
}

void wh_sim_traffic_start(struct wh_sim_traffic *traffic, uint64_t now_ps)
{
	WH_ASSERT(!traffic->running);

	traffic->running = true;
	traffic->base_ps = now_ps;
	traffic->left_pkts = 0;
	if (traffic->config.kind == WH_SIM_BURST) {
		traffic->left_pkts = traffic->config.burst_pkts;
		schedule(traffic, now_ps, now_ps);
		return;
	}
	traffic->fresh = traffic->config.kind == WH_SIM_CBR;
	if (traffic->fresh)
		traffic->left_pkts = UINT64_MAX;
	go_on(traffic, now_ps);
}

void wh_sim_traffic_stop(struct wh_sim_traffic *traffic)
{
	traffic->running = false;
	wh_sim_event_cancel(wh_sim_events(traffic->sim), &traffic->event);
}

void wh_sim_traffic_set_rate(struct wh_sim_traffic *traffic, uint64_t now_ps, uint64_t rate_bps)
{
	WH_ASSERT(traffic->config.kind != WH_SIM_BURST);

	traffic->config.rate_bps = rate_bps;
	if (traffic->running)
		go_on(traffic, now_ps);
}
