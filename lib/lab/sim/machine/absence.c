/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab/sim/machine/absence.h"

#include "base/arith.h"
#include "base/assert.h"

static uint64_t draw_ps(struct wh_absence *absence, uint64_t mean_ps)
{
	return (uint64_t)(-wh_log(1.0 - wh_prng_unit(&absence->prng)) * (double)mean_ps);
}

static void change(void *context, uint64_t now_ps)
{
	struct wh_absence *absence = context;
	const struct wh_absence_config *config = &absence->config;

	absence->is_away = !absence->is_away;
	if (absence->is_away)
		absence->left_ps = now_ps;
	wh_sim_event_at(absence->events, &absence->change,
		now_ps + draw_ps(absence, absence->is_away ? config->away_ps : config->here_ps));
	if (!absence->is_away)
		absence->back(absence->context, now_ps);
}

void wh_absence_init(struct wh_absence *absence, const struct wh_absence_config *config,
	struct wh_sim_events *events, uint64_t seed, void (*back)(void *context, uint64_t now_ps),
	void *context)
{
	WH_ASSERT(config->away_ps == 0 || config->here_ps > 0);
	*absence = (struct wh_absence){
		.config = *config, .events = events, .back = back, .context = context};
	wh_prng_init(&absence->prng, seed);
	wh_sim_event_init(&absence->change, change, absence);
}

void wh_absence_start(struct wh_absence *absence, uint64_t now_ps)
{
	if (absence->config.away_ps > 0)
		wh_sim_event_at(absence->events, &absence->change,
			now_ps + draw_ps(absence, absence->config.here_ps));
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
