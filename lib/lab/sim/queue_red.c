/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab/sim/queue_discipline.h"

#include <math.h>

#include "base/arith.h"
#include "base/assert.h"
#include "base/clock.h"

/*
 * Random early detection (Floyd and Jacobson 1993) as in ns-2.35, with its defaults. Drops depend
 * on doubles, which are the same in every build (base/arith.h).
 */

#define MEAN_PACKET_BYTES   500
#define MAX_P               0.1 /* 1 / linterm_ */
#define THRESHOLD_PKTS      5.0
#define THRESHOLD_SPAN_S    0.0025 /* half of targetdelay_ */
#define MAX_THRESHOLD_TIMES 3.0
#define RTT_TIMES           3.0 /* of the line's delay, */
#define RTT_MIN_S           0.1 /* but at least this */
#define WEIGHT_RTTS         10.0

/* q_weight_ = -1: the average covers the packets of ten RTTs at the line's rate. */
static double default_weight(double packets_per_s, uint64_t delay_ps)
{
	double delay_s = (double)delay_ps / (double)WH_PS_PER_S;
	double rtt_s = fmax(RTT_TIMES * (delay_s + 1.0 / packets_per_s), RTT_MIN_S);

	return -wh_expm1(-1.0 / (WEIGHT_RTTS * rtt_s * packets_per_s));
}

static void complete(struct wh_sim_red_config *config, uint64_t rate_bps, uint64_t delay_ps)
{
	if (config->mean_packet_bytes == 0)
		config->mean_packet_bytes = MEAN_PACKET_BYTES;

	double packets_per_s = (double)rate_bps / (8.0 * config->mean_packet_bytes);

	if (config->threshold_pkts == 0.0)
		config->threshold_pkts = fmax(THRESHOLD_PKTS, THRESHOLD_SPAN_S * packets_per_s);
	if (config->max_threshold_pkts == 0.0)
		config->max_threshold_pkts = MAX_THRESHOLD_TIMES * config->threshold_pkts;
	if (config->weight == 0.0)
		config->weight = default_weight(packets_per_s, delay_ps);
	if (config->max_p == 0.0)
		config->max_p = MAX_P;
}

static void init(struct wh_sim_queue *queue, uint64_t rate_bps, uint64_t delay_ps)
{
	struct wh_sim_red *red = &queue->red;

	red->config = queue->config.red;
	complete(&red->config, rate_bps, delay_ps);
	WH_ASSERT(red->config.weight > 0.0 && red->config.weight <= 1.0);
	WH_ASSERT(red->config.mean_packet_bytes <= WH_SIM_PACKET_BYTES_MAX);

	double unit = red->config.in_bytes ? red->config.mean_packet_bytes : 1.0;

	red->threshold = red->config.threshold_pkts * unit;
	red->max_threshold = red->config.max_threshold_pkts * unit;
	red->rate_bps = rate_bps;
	red->idle = true;
}

/* The queue's length in the unit of the average. */
static uint64_t length(const struct wh_sim_queue *queue)
{
	return queue->red.config.in_bytes ? queue->fifo.count_bytes : queue->fifo.count_pkts;
}

/* Decays the average by as many small packets as the line could have sent while idle. */
static void age(struct wh_sim_red *red, uint64_t now_ps)
{
	WH_ASSERT(now_ps >= red->idle_since_ps);

	uint64_t packet_bit_ps = 8 * WH_PS_PER_S * red->config.mean_packet_bytes;
	uint64_t missed = wh_muldiv_u64(now_ps - red->idle_since_ps, red->rate_bps, packet_bit_ps);

	red->average *= wh_power(1.0 - red->config.weight, missed);
	red->idle = false;
}

/* Called before the arriving packet is queued: adds the length that it finds. */
static void update_average(struct wh_sim_queue *queue, uint64_t now_ps)
{
	struct wh_sim_red *red = &queue->red;

	if (red->idle)
		age(red, now_ps);
	red->average *= 1.0 - red->config.weight;
	red->average += red->config.weight * (double)length(queue);
	WH_ASSERT(red->average >= 0.0);
}

/*
 * Rises from 0 at threshold to max_p at max_threshold; beyond, when gentle (Floyd's note of 2000),
 * to 1 at twice max_threshold, otherwise 1 at once.
 */
static double basic_probability(const struct wh_sim_red *red)
{
	double max_p = red->config.max_p;
	double span = red->max_threshold - red->threshold;

	if (red->average < red->max_threshold)
		return max_p * (red->average - red->threshold) / span;
	if (red->config.not_gentle)
		return 1.0;
	return fmin(1.0, (1.0 - max_p) * red->average / red->max_threshold + 2.0 * max_p - 1.0);
}

/*
 * Makes the number of packets between two drops uniform instead of geometric: from 1/p to 2/p, or
 * from 1 to 1/p with no_wait. With in_bytes, the probability rises with the packet's size.
 */
static double spread_probability(const struct wh_sim_red *red, uint32_t bytes)
{
	double mean_bytes = red->config.mean_packet_bytes;
	uint64_t count = red->config.in_bytes ? red->count_bytes / red->config.mean_packet_bytes
					      : red->count_pkts;
	double p = basic_probability(red);
	double due = (double)count * p;
	double patience = 1.0; /* count at which the drop is certain, in 1/p */

	if (!red->config.no_wait) {
		if (due < 1.0)
			return 0.0;
		patience = 2.0;
	}
	if (due >= patience)
		return 1.0;
	p /= patience - due;
	if (red->config.in_bytes && p < 1.0)
		p *= bytes / mean_bytes;
	return fmin(p, 1.0);
}

static void count_from(struct wh_sim_red *red, uint64_t pkts, uint64_t bytes)
{
	red->count_pkts = pkts;
	red->count_bytes = bytes;
}

/*
 * The first arrival above the threshold only starts the count. With at most one packet queued there
 * are no early drops.
 */
static bool is_early(
	struct wh_sim_queue *queue, struct wh_prng *prng, const struct wh_sim_packet *packet)
{
	struct wh_sim_red *red = &queue->red;

	if (red->average < red->threshold || length(queue) <= 1) {
		red->above = false;
		return false;
	}
	if (!red->above) {
		red->above = true;
		count_from(red, 1, packet->bytes);
		return false;
	}

	uint64_t chance = wh_chance_threshold(spread_probability(red, packet->bytes));

	if (!wh_prng_chance(prng, chance))
		return false;
	count_from(red, 0, 0);
	return true;
}

static bool is_full(const struct wh_sim_queue *queue)
{
	const struct wh_sim_queue_config *config = &queue->config;

	return (config->limit_pkts != 0 && queue->fifo.count_pkts >= config->limit_pkts) ||
	       (config->limit_bytes != 0 && queue->fifo.count_bytes >= config->limit_bytes);
}

/* Chooses uniformly between the new packet and the queued ones; a queued one is removed. */
static struct wh_sim_packet *choose(
	struct wh_sim_queue *queue, struct wh_prng *prng, struct wh_sim_packet *packet)
{
	uint64_t victim = wh_prng_below(prng, queue->fifo.count_pkts + UINT64_C(1));
	struct wh_sim_fifo rest = queue->fifo;
	struct wh_sim_packet *chosen = NULL;

	if (victim == rest.count_pkts)
		return packet;
	queue->fifo = (struct wh_sim_fifo){0};
	for (struct wh_sim_packet *next; (next = wh_sim_fifo_pop(&rest)) != NULL;) {
		if (victim-- == 0)
			chosen = next;
		else
			wh_sim_fifo_push(&queue->fifo, next);
	}
	WH_ASSERT(chosen != NULL);
	wh_sim_fifo_push(&queue->fifo, packet);
	return chosen;
}

static void put(struct wh_sim_queue *queue, const struct wh_sim_queue_call *call,
	struct wh_sim_packet *packet)
{
	struct wh_sim_red *red = &queue->red;

	update_average(queue, call->now_ps);
	count_from(red, red->count_pkts + 1, red->count_bytes + packet->bytes);

	bool early = is_early(queue, call->prng, packet);

	if (is_full(queue)) {
		count_from(red, 0, 0);
		if (red->config.drop_tail_off)
			packet = choose(queue, call->prng, packet);
		call->drop(call->context, packet, false);
	} else if (early) {
		call->drop(call->context, packet, true);
	} else {
		wh_sim_fifo_push(&queue->fifo, packet);
	}
}

static struct wh_sim_packet *take(struct wh_sim_queue *queue, const struct wh_sim_queue_call *call)
{
	struct wh_sim_packet *packet = wh_sim_fifo_pop(&queue->fifo);

	queue->red.idle = packet == NULL;
	if (packet == NULL)
		queue->red.idle_since_ps = call->now_ps;
	return packet;
}

const struct wh_sim_queue_discipline wh_sim_queue_red = {"red", init, put, take};
