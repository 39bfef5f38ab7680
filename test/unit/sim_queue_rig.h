/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* A queue, numbered packets for it, and what became of them. */

#include "lab/sim/queue.h"

struct queue_rig {
	struct wh_sim_queue queue;
	struct wh_sim_pool pool;
	struct wh_prng prng;
	uint64_t next_number;
	unsigned int early;
	unsigned int overflow;
	uint64_t dropped_number; /* the latest */
};

static inline void rig_init(struct queue_rig *rig, const struct wh_sim_queue_config *config,
	uint64_t rate_bps, uint64_t seed)
{
	*rig = (struct queue_rig){0};
	wh_sim_pool_init(&rig->pool);
	wh_prng_init(&rig->prng, seed);
	wh_sim_queue_init(&rig->queue, config, rate_bps, 0);
}

static inline void rig_free(struct queue_rig *rig)
{
	wh_sim_pool_free(&rig->pool);
}

static inline void rig_drop(void *context, struct wh_sim_packet *packet, bool early)
{
	struct queue_rig *rig = context;

	rig->early += early;
	rig->overflow += !early;
	rig->dropped_number = packet->number;
	wh_sim_packet_put(&rig->pool, packet);
}

static inline void rig_put(struct queue_rig *rig, uint64_t now_ps, uint32_t bytes)
{
	struct wh_sim_packet *packet = wh_sim_packet_get(&rig->pool);

	packet->bytes = bytes;
	packet->number = rig->next_number++;
	wh_sim_queue_put(&rig->queue, now_ps, packet, &rig->prng, rig_drop, rig);
}

/* The number of the packet taken; UINT64_MAX: none. */
static inline uint64_t rig_take(struct queue_rig *rig, uint64_t now_ps)
{
	struct wh_sim_packet *packet = wh_sim_queue_take(&rig->queue, now_ps, rig_drop, rig);
	uint64_t number = packet == NULL ? UINT64_MAX : packet->number;

	if (packet != NULL)
		wh_sim_packet_put(&rig->pool, packet);
	return number;
}
