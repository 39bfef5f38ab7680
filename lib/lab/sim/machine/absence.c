/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab/sim/machine/absence.h"

#include "base/arith.h"
#include "base/assert.h"

static uint64_t draw_ps(struct wh_absence *absence, uint64_t mean_ps)
{
	return (uint64_t)(-wh_log(1.0 - wh_prng_unit(&absence->prng)) * (double)mean_ps);
}

static void draw_span(struct wh_absence *absence)
{
	const struct wh_absence_config *config = &absence->config;

	if (config->n_spans > 0) {
		absence->next = config->spans[wh_prng_below(&absence->prng, config->n_spans)];
		return;
	}
	absence->next.here_ps = draw_ps(absence, config->mean.here_ps);
	absence->next.away_ps = draw_ps(absence, config->mean.away_ps);
}

static void change(void *context, uint64_t now_ps)
{
	struct wh_absence *absence = context;

	absence->is_away = !absence->is_away;
	if (absence->is_away) {
		absence->left_ps = now_ps;
		wh_sim_event_at(absence->events, &absence->change, now_ps + absence->next.away_ps);
		return;
	}
	draw_span(absence);
	wh_sim_event_at(absence->events, &absence->change, now_ps + absence->next.here_ps);
	absence->back(absence->context, now_ps);
}

void wh_absence_init(struct wh_absence *absence, const struct wh_absence_config *config,
	struct wh_sim_events *events, uint64_t seed, void (*back)(void *context, uint64_t now_ps),
	void *context)
{
	WH_ASSERT(config->mean.away_ps == 0 || config->mean.here_ps > 0);
	*absence = (struct wh_absence){
		.config = *config, .events = events, .back = back, .context = context};
	wh_prng_init(&absence->prng, seed);
	wh_sim_event_init(&absence->change, change, absence);
}

void wh_absence_start(struct wh_absence *absence, uint64_t now_ps)
{
	if (absence->config.mean.away_ps == 0 && absence->config.n_spans == 0)
		return;
	draw_span(absence);
	wh_sim_event_at(absence->events, &absence->change, now_ps + absence->next.here_ps);
}

void wh_absence_stop(struct wh_absence *absence, struct wh_sim_pool *pool)
{
	struct wh_sim_packet *packet;

	wh_sim_event_cancel(absence->events, &absence->change);
	while ((packet = wh_absence_next(absence)) != NULL)
		wh_sim_packet_put(pool, packet);
}

void wh_absence_keep(struct wh_absence *absence, struct wh_sim_packet *packet)
{
	WH_ASSERT(absence->is_away);
	wh_sim_fifo_push(&absence->waiting, packet);
}

struct wh_sim_packet *wh_absence_next(struct wh_absence *absence)
{
	return wh_sim_fifo_pop(&absence->waiting);
}
