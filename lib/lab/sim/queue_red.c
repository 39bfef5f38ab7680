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
#define PATIENCE            2.0 /* a drop is certain after so many times 1/p packets */

/* q_weight_ = -1: the average covers the packets of ten RTTs at the line's rate. */
static double weight_of(double packets_per_s, uint64_t delay_ps)
{
	double rtt_s =
		fmax(RTT_TIMES * (wh_ps_to_seconds(delay_ps) + 1.0 / packets_per_s), RTT_MIN_S);

	return -wh_expm1(-1.0 / (WEIGHT_RTTS * rtt_s * packets_per_s));
}

static void init(struct wh_sim_queue *queue, uint64_t rate_bps, uint64_t delay_ps)
{
	struct wh_sim_red *red = &queue->red;
	double packets_per_s = (double)rate_bps / (8.0 * MEAN_PACKET_BYTES);

	red->weight = weight_of(packets_per_s, delay_ps);
	WH_ASSERT(red->weight > 0.0 && red->weight <= 1.0);
	red->unit = queue->config.red_in_bytes ? MEAN_PACKET_BYTES : 1;
	red->threshold = red->unit * fmax(THRESHOLD_PKTS, THRESHOLD_SPAN_S * packets_per_s);
	red->max_threshold = MAX_THRESHOLD_TIMES * red->threshold;
	red->rate_bps = rate_bps;
	red->idle = true;
}

/* In the unit of averages and thresholds. */
static uint64_t length(const struct wh_sim_queue *queue)
{
	return queue->red.unit > 1 ? queue->fifo.count_bytes : queue->fifo.count_pkts;
}

/* Decays the average by as many small packets as the line could have sent while idle. */
static void age(struct wh_sim_red *red, uint64_t now_ps)
{
	WH_ASSERT(now_ps >= red->idle_since_ps);

	uint64_t packet_bit_ps = 8 * WH_PS_PER_S * MEAN_PACKET_BYTES;
	uint64_t missed = wh_muldiv_u64(now_ps - red->idle_since_ps, red->rate_bps, packet_bit_ps);

	red->average *= wh_power(1.0 - red->weight, missed);
	red->idle = false;
}

/* Called before the arriving packet is queued: adds the length that it finds. */
static void update_average(struct wh_sim_queue *queue, uint64_t now_ps)
{
	struct wh_sim_red *red = &queue->red;

	if (red->idle)
		age(red, now_ps);
	red->average *= 1.0 - red->weight;
	red->average += red->weight * (double)length(queue);
	WH_ASSERT(red->average >= 0.0);
}

/*
 * Rises from 0 at threshold to MAX_P at max_threshold, and to 1 at twice that (gentle, Floyd's note
 * of 2000).
 */
static double basic_probability(const struct wh_sim_red *red)
{
	double span = red->max_threshold - red->threshold;

	if (red->average < red->max_threshold)
		return MAX_P * (red->average - red->threshold) / span;
	return fmin(1.0, (1.0 - MAX_P) * red->average / red->max_threshold + 2.0 * MAX_P - 1.0);
}

/*
 * Makes the number of packets between two drops uniform instead of geometric: from 1/p to 2/p. In
 * bytes large packets are likelier to go.
 */
static double spread_probability(const struct wh_sim_red *red, uint64_t amount)
{
	double p = basic_probability(red);
	double due = (double)(red->count / red->unit) * p;

	if (due < 1.0)
		return 0.0;
	p /= PATIENCE - due;
	return due >= PATIENCE || p >= 1.0 ? 1.0 : fmin(p * (double)amount / red->unit, 1.0);
}

/*
 * The first arrival above the threshold only starts the count. With at most one packet queued there
 * are no early drops.
 */
static bool is_early(struct wh_sim_queue *queue, struct wh_prng *prng, uint64_t amount)
{
	struct wh_sim_red *red = &queue->red;

	if (red->average < red->threshold || length(queue) <= 1) {
		red->above = false;
		return false;
	}
	if (!red->above) {
		red->above = true;
		red->count = amount;
		return false;
	}
	if (!wh_prng_chance(prng, wh_chance_threshold(spread_probability(red, amount))))
		return false;
	red->count = 0;
	return true;
}

static bool is_full(const struct wh_sim_queue *queue)
{
	const struct wh_sim_queue_config *config = &queue->config;

	return (config->limit_pkts != 0 && queue->fifo.count_pkts >= config->limit_pkts) ||
	       (config->limit_bytes != 0 && queue->fifo.count_bytes >= config->limit_bytes);
}

static void put(struct wh_sim_queue *queue, const struct wh_sim_queue_call *call,
	struct wh_sim_packet *packet)
{
	struct wh_sim_red *red = &queue->red;
	uint64_t amount = red->unit > 1 ? packet->bytes : 1;
	bool early;

	update_average(queue, call->now_ps);
	red->count += amount;
	early = is_early(queue, call->prng, amount);
	if (is_full(queue)) {
		red->count = 0;
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
