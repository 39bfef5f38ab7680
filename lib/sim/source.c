/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/source.h"

#include <math.h>
#include <stdlib.h>

#include "base/arith.h"
#include "base/assert.h"
#include "base/clock.h"
#include "sim/memory.h"

#define PARETO_SHAPE 1.5

/* Above what a run may last, and below what the clock holds. */
#define SPAN_MAX_PS 1e18
#define BURST_MAX   1e15

struct wh_sim_source {
	struct wh_sim *sim;
	struct wh_sim_source_config config;
	struct wh_sim_flow_stats *stats;
	struct wh_sim_event event;
	struct wh_prng prng;
	uint32_t from_node;
	uint32_t flow;
	uint32_t agent; /* at the other end */
	bool running;
	bool fresh; /* the next is due at once */
	uint64_t next_number;
	uint64_t left_pkts; /* of this burst; constant bit rate is one without end */
	uint64_t base_ps; /* the next is due its own time after this; of bursts: this one's start */
};

/*
 * Exponential with mean 1, by comparisons alone (von Neumann, "Various techniques used in
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

static double draw(struct wh_sim_source *source)
{
	return source->config.kind == WH_SIM_PARETO
		       ? draw_pareto(&source->prng, source->config.shape)
		       : draw_exponential(&source->prng);
}

static uint64_t packet_time(const struct wh_sim_source *source)
{
	return wh_sim_line_ps(source->config.packet_bytes, source->config.rate_bps);
}

/* As ns-2's: silence, then a whole number of packets and at least one. */
static void begin_silence(struct wh_sim_source *source, uint64_t now_ps)
{
	double mean_pkts = (double)source->config.on_ps / (double)packet_time(source);
	double pkts = floor(fmin(mean_pkts * draw(source), BURST_MAX) + 0.5);
	double silence_ps = fmin((double)source->config.off_ps * draw(source), SPAN_MAX_PS);

	WH_ASSERT(pkts >= 0.0 && silence_ps >= 0.0);
	source->left_pkts = pkts < 1.0 ? 1 : (uint64_t)pkts;
	source->base_ps = now_ps + (uint64_t)silence_ps;
}

static void send_packet(struct wh_sim_source *source, uint64_t now_ps)
{
	struct wh_sim_packet *packet = wh_sim_packet_get(wh_sim_pool(source->sim));

	packet->bytes = source->config.packet_bytes;
	packet->flow = source->flow;
	packet->to = source->agent;
	packet->number = source->next_number++;
	if (source->stats->sent_pkts++ == 0)
		source->stats->first_sent_ps = now_ps;
	WH_ASSERT(source->left_pkts > 0);
	source->left_pkts--;
	wh_sim_send(source->sim, source->from_node, packet);
}

static void schedule(struct wh_sim_source *source, uint64_t now_ps, uint64_t due_ps)
{
	wh_sim_event_at(wh_sim_events(source->sim), &source->event, wh_max_u64(now_ps, due_ps));
}

static void send_of_burst(struct wh_sim_source *source, uint64_t now_ps)
{
	bool at_once = source->config.rate_bps == 0;

	do {
		send_packet(source, now_ps);
	} while (at_once && source->left_pkts > 0);

	uint64_t due_ps = at_once ? now_ps : now_ps + packet_time(source);

	if (source->left_pkts == 0) {
		if (source->config.off_ps == 0)
			return;
		source->left_pkts = source->config.burst_pkts;
		source->base_ps += source->config.off_ps;
		due_ps = wh_max_u64(due_ps, source->base_ps);
	}
	schedule(source, now_ps, due_ps);
}

/* To its next packet; without a rate there is none. */
static void go_on(struct wh_sim_source *source, uint64_t now_ps)
{
	if (source->config.rate_bps == 0) {
		wh_sim_event_cancel(wh_sim_events(source->sim), &source->event);
		return;
	}
	if (source->left_pkts == 0)
		begin_silence(source, now_ps);
	schedule(source, now_ps, source->fresh ? now_ps : source->base_ps + packet_time(source));
}

static void fire(void *context, uint64_t now_ps)
{
	struct wh_sim_source *source = context;

	WH_ASSERT(source->running);
	if (source->config.kind == WH_SIM_BURST) {
		send_of_burst(source, now_ps);
		return;
	}
	send_packet(source, now_ps);
	source->base_ps = now_ps;
	source->fresh = false;
	go_on(source, now_ps);
}

/* Datagrams are all payload, as ns-2's. */
static void receive(void *context, uint64_t now_ps, struct wh_sim_packet *packet)
{
	struct wh_sim_source *source = context;

	(void)now_ps;
	WH_DEBUG_ASSERT(packet->number < source->next_number);
	source->stats->goodput_bytes += packet->bytes;
	wh_sim_packet_put(wh_sim_pool(source->sim), packet);
}

struct wh_sim_source *wh_sim_source_create(struct wh_sim *sim,
	const struct wh_sim_source_config *config, uint32_t from_node, uint32_t to_node,
	uint32_t flow)
{
	WH_ASSERT(config->kind < WH_SIM_SOURCE_KINDS);
	WH_ASSERT(config->packet_bytes > 0 && config->packet_bytes <= WH_SIM_PACKET_BYTES_MAX);
	WH_ASSERT(config->kind != WH_SIM_BURST || config->burst_pkts > 0);

	struct wh_sim_source *source = wh_sim_allocate(sizeof(*source));

	*source = (struct wh_sim_source){
		.sim = sim,
		.config = *config,
		.stats = wh_sim_flow_stats(sim, flow),
		.from_node = from_node,
		.flow = flow,
		.agent = wh_sim_add_agent(sim, to_node, receive, source),
	};
	if (source->config.shape == 0.0)
		source->config.shape = PARETO_SHAPE;
	WH_ASSERT(source->config.shape > 1.0);
	wh_sim_event_init(&source->event, fire, source);
	wh_prng_init(&source->prng, wh_prng_u64(wh_sim_prng(sim)));
	return source;
}

void wh_sim_source_destroy(struct wh_sim_source *source)
{
	if (source == NULL)
		return;
	wh_sim_source_stop(source);
	free(source);
}

void wh_sim_source_start(struct wh_sim_source *source, uint64_t now_ps)
{
	WH_ASSERT(!source->running);

	source->running = true;
	source->base_ps = now_ps;
	source->left_pkts = 0;
	if (source->config.kind == WH_SIM_BURST) {
		source->left_pkts = source->config.burst_pkts;
		schedule(source, now_ps, now_ps);
		return;
	}
	source->fresh = source->config.kind == WH_SIM_CBR;
	if (source->fresh)
		source->left_pkts = UINT64_MAX;
	go_on(source, now_ps);
}

void wh_sim_source_stop(struct wh_sim_source *source)
{
	source->running = false;
	wh_sim_event_cancel(wh_sim_events(source->sim), &source->event);
}

void wh_sim_source_set_rate(struct wh_sim_source *source, uint64_t now_ps, uint64_t rate_bps)
{
	WH_ASSERT(source->config.kind != WH_SIM_BURST);

	source->config.rate_bps = rate_bps;
	if (source->running)
		go_on(source, now_ps);
}
