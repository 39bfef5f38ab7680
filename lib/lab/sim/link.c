/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab/sim/link.h"

#include <assert.h>
#include <rte_prefetch.h>
#include <stdlib.h>

#include "base/assert.h"
#include "base/clock.h"
#include "lab/sim/sim_memory.h"

/* The loss model's clock counts nanoseconds. */
#define LOSS_HZ WH_NS_PER_S

/* Room for packets in flight, which grows. */
#define FLYING_FIRST 64

static_assert(WH_TSC_NEVER == WH_SIM_NEVER_PS, "a delay line's times may be picoseconds");

void wh_sim_link_count(struct wh_sim_link *link, uint64_t now_ps)
{
	uint64_t span_ps = now_ps - link->counted_ps;

	WH_DEBUG_ASSERT(now_ps >= link->counted_ps);
	link->stats.queue_pkt_ps += (unsigned __int128)link->queue.fifo.count_pkts * span_ps;
	if (link->sending != NULL)
		link->stats.busy_ps += span_ps;
	link->counted_ps = now_ps;
}

static void drop(void *context, struct wh_sim_packet *packet, bool early)
{
	struct wh_sim_link *link = context;

	if (early)
		link->stats.early_pkts++;
	else
		link->stats.overflow_pkts++;
	link->stats.gone_bytes += packet->bytes;
	wh_sim_lose(link->sim, packet);
}

/* The value of the latest step; lowers *next_ps to the time of the following one. */
static uint64_t value_at(
	const struct wh_sim_steps *steps, uint64_t now_ps, uint64_t value, uint64_t *next_ps)
{
	for (uint32_t i = 0; i < steps->count; i++) {
		if (steps->step[i].at_ps > now_ps) {
			*next_ps = wh_min_u64(*next_ps, steps->step[i].at_ps);
			break;
		}
		value = steps->step[i].value;
	}
	return value;
}

static void take_steps(struct wh_sim_link *link, uint64_t now_ps)
{
	const struct wh_sim_link_config *config = &link->config;

	if (now_ps < link->step_ps)
		return;
	link->step_ps = WH_SIM_NEVER_PS;
	link->rate_bps = value_at(&config->rate_steps, now_ps, config->rate_bps, &link->step_ps);
	link->delay_ps = value_at(&config->delay_steps, now_ps, config->delay_ps, &link->step_ps);
	link->packet_bytes = 0;
	WH_ASSERT(link->rate_bps > 0);
}

static uint64_t time_to_send(struct wh_sim_link *link, uint32_t bytes)
{
	if (link->packet_bytes != bytes) {
		link->packet_bytes = bytes;
		link->packet_ps = wh_sim_line_ps(bytes, link->rate_bps);
	}
	return link->packet_ps;
}

/* The end of the current pause; now_ps without one. */
static uint64_t paused_until_ps(const struct wh_sim_link *link, uint64_t now_ps)
{
	for (uint32_t i = 0; i < link->config.n_pauses; i++) {
		const struct wh_link_outage *pause = &link->config.pause[i];
		uint64_t start_ps = pause->start_ns * WH_PS_PER_NS;

		if (now_ps >= start_ps && now_ps - start_ps < pause->length_ns * WH_PS_PER_NS)
			return start_ps + pause->length_ns * WH_PS_PER_NS;
	}
	return now_ps;
}

static void count_delay(struct wh_sim_link *link, uint64_t delay_ps)
{
	link->delays[wh_bucket_of(delay_ps / WH_PS_PER_NS, WH_SIM_DELAY_BITS)]++;
}

/* Called when the line is free. */
static void send_next(struct wh_sim_link *link, uint64_t now_ps)
{
	uint64_t until_ps = paused_until_ps(link, now_ps);

	WH_ASSERT(!wh_sim_event_is_pending(&link->sent));
	if (until_ps > now_ps) {
		if (!wh_sim_event_is_pending(&link->resume))
			wh_sim_event_at(link->events, &link->resume, until_ps);
		return;
	}
	take_steps(link, now_ps);
	link->sending = wh_sim_queue_take(&link->queue, now_ps, drop, link);
	if (link->sending == NULL)
		return;
	if (link->delays != NULL)
		count_delay(link, now_ps - link->sending->moment_ps);
	wh_sim_event_at(
		link->events, &link->sent, now_ps + time_to_send(link, link->sending->bytes));
}

static void end_pause(void *context, uint64_t now_ps)
{
	struct wh_sim_link *link = context;

	wh_sim_link_count(link, now_ps);
	if (link->sending == NULL)
		send_next(link, now_ps);
}

static bool is_lost(struct wh_sim_link *link, uint64_t now_ps, const struct wh_sim_packet *packet)
{
	return wh_loss_model_outage(&link->loss, now_ps / WH_PS_PER_NS) ||
	       wh_loss_model_draw(&link->loss, &link->prng, packet->bytes) != WH_NETEM_DELIVERED;
}

static void fly(struct wh_sim_link *link, uint64_t now_ps, struct wh_sim_packet *packet)
{
	take_steps(link, now_ps);

	uint64_t due_ps = now_ps + link->delay_ps;
	bool late = wh_prng_chance(&link->prng, link->reorder_threshold);

	if (late)
		due_ps += link->config.reorder_delay_ps;
	if (link->config.hops.mean > 0.0) {
		due_ps += wh_sim_hops_draw_ps(&link->config.hops, &link->prng);
		late = true;
	}
	if (due_ps < wh_delay_line_deadline(&link->flying))
		wh_sim_event_at(link->events, &link->arrival, due_ps);
	while (!wh_delay_line_hold(&link->flying, due_ps, late, packet))
		wh_sim_insist(wh_delay_line_grow(&link->flying) == 0 ? link : NULL,
			link->flying.items_max * sizeof(struct wh_netem_item));
	link->flying_bytes += packet->bytes;
}

/* The last bit has left. */
static void end_sending(void *context, uint64_t now_ps)
{
	struct wh_sim_link *link = context;
	struct wh_sim_packet *packet = link->sending;

	WH_ASSERT(packet != NULL);
	wh_sim_link_count(link, now_ps);
	if (link->lossy && is_lost(link, now_ps, packet)) {
		link->stats.lost_pkts++;
		link->stats.gone_bytes += packet->bytes;
		wh_sim_lose(link->sim, packet);
	} else {
		fly(link, now_ps, packet);
	}
	link->sending = NULL;
	send_next(link, now_ps);
}

static void end_flying(void *context, uint64_t now_ps)
{
	struct wh_sim_link *link = context;

	if (wh_absence_is_away(&link->absence)) {
		wh_sim_event_at(link->events, &link->arrival,
			wh_sim_event_due_ps(link->events, &link->absence.change));
		return;
	}

	struct wh_sim_packet *packet = wh_delay_line_take_any(&link->flying);
	uint64_t next_ps = wh_delay_line_deadline(&link->flying);

	WH_ASSERT(packet != NULL);
	if (next_ps != WH_SIM_NEVER_PS) {
		wh_sim_event_at(link->events, &link->arrival, wh_max_u64(next_ps, now_ps));
		/* Long lines hold more packets than caches do. */
		rte_prefetch0(wh_delay_line_first(&link->flying));
	}
	link->flying_bytes -= packet->bytes;
	link->stats.left_pkts++;
	link->stats.left_bytes += packet->bytes;
	wh_sim_arrive(link->sim, now_ps, link->config.to, packet);
}

static void enter(struct wh_sim_link *link, uint64_t now_ps, struct wh_sim_packet *packet)
{
	const struct wh_sim_fifo *waiting = &link->queue.fifo;
	struct wh_sim_link_stats *stats = &link->stats;

	WH_ASSERT(packet->bytes > 0 && packet->bytes <= WH_SIM_PACKET_BYTES_MAX);
	wh_sim_link_count(link, now_ps);
	stats->entered_pkts++;
	stats->entered_bytes += packet->bytes;
	if (!wh_sim_policer_passes(&link->policer, now_ps, packet->bytes)) {
		stats->policed_pkts++;
		stats->gone_bytes += packet->bytes;
		wh_sim_lose(link->sim, packet);
		return;
	}
	wh_sim_queue_put(&link->queue, now_ps, packet, &link->prng, drop, link);
	if (link->sending == NULL)
		send_next(link, now_ps);
	WH_ASSERT(link->sending != NULL || waiting->count_pkts == 0 ||
		  wh_sim_event_is_pending(&link->resume));
	stats->queue_max_pkts = wh_max_u64(stats->queue_max_pkts, waiting->count_pkts);
}

void wh_sim_link_enter(struct wh_sim_link *link, uint64_t now_ps, struct wh_sim_packet *packet)
{
	if (wh_absence_is_away(&link->absence))
		wh_absence_keep(&link->absence, packet);
	else
		enter(link, now_ps, packet);
}

static void come_back(void *context, uint64_t now_ps)
{
	struct wh_sim_link *link = context;
	struct wh_sim_packet *packet;

	while ((packet = wh_absence_next(&link->absence)) != NULL)
		enter(link, now_ps, packet);
}

struct wh_sim_link *wh_sim_link_create(
	struct wh_sim *sim, const struct wh_sim_link_config *config, uint64_t seed)
{
	WH_ASSERT(config->rate_bps > 0);

	const struct wh_link_model *loss = &config->loss;
	struct wh_sim_link *link = wh_sim_allocate(sizeof(*link));

	link->sim = sim;
	link->events = wh_sim_events(sim);
	link->config = *config;
	link->lossy = loss->loss > 0.0 || loss->bit_error > 0.0 || loss->n_outages > 0 ||
		      loss->loss_model != WH_LOSS_BERNOULLI;
	link->reorder_threshold = wh_chance_threshold(config->reorder);
	take_steps(link, 0);
	wh_sim_policer_init(&link->policer, &config->policer);
	wh_sim_event_init(&link->sent, end_sending, link);
	wh_sim_event_init(&link->resume, end_pause, link);
	wh_sim_event_init(&link->arrival, end_flying, link);
	wh_sim_queue_init(&link->queue, &config->queue, config->rate_bps, config->delay_ps);
	if (config->counts_delays)
		link->delays = wh_sim_allocate(WH_SIM_DELAY_BUCKETS * sizeof(*link->delays));
	wh_prng_init(&link->prng, seed);
	wh_loss_model_init(&link->loss, loss, LOSS_HZ, 0);
	wh_absence_init(&link->absence, &config->absence, link->events, seed + 1, come_back, link);
	wh_absence_start(&link->absence, 0);
	wh_sim_insist(wh_delay_line_init(&link->flying, FLYING_FIRST) == 0 ? link : NULL,
		FLYING_FIRST * sizeof(struct wh_netem_item));
	return link;
}

void wh_sim_link_destroy(struct wh_sim_link *link)
{
	wh_delay_line_free(&link->flying);
	free(link->delays);
	free(link);
}

uint64_t wh_sim_link_check(const struct wh_sim_link *link)
{
	const struct wh_sim_link_stats *stats = &link->stats;
	uint64_t held_pkts =
		link->queue.fifo.count_pkts + (uint64_t)wh_delay_line_held(&link->flying);
	uint64_t held_bytes = link->queue.fifo.count_bytes + link->flying_bytes;

	if (link->sending != NULL) {
		held_pkts++;
		held_bytes += link->sending->bytes;
	}
	WH_ASSERT(stats->entered_pkts == stats->left_pkts + stats->policed_pkts +
						 stats->overflow_pkts + stats->early_pkts +
						 stats->lost_pkts + held_pkts);
	WH_ASSERT((link->sending != NULL) == wh_sim_event_is_pending(&link->sent));
	WH_ASSERT(
		(wh_delay_line_held(&link->flying) > 0) == wh_sim_event_is_pending(&link->arrival));
	WH_ASSERT(stats->entered_bytes == stats->left_bytes + stats->gone_bytes + held_bytes);
	return held_pkts;
}
