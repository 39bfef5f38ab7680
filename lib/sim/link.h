/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_SIM_LINK_H
#define WH_SIM_LINK_H

/*
 * One direction between two nodes: a policer, the queue, the packet on the line, and those that
 * fly. Only the end of the transmission and the first arrival are pending events, however many fly.
 */

#include "sim/flight.h"
#include "sim/sim.h"

struct wh_sim_link {
	struct wh_sim *sim;
	struct wh_sim_events *events;
	struct wh_sim_link_config config;
	bool lossy;
	uint64_t reorder_threshold;

	/* At the moment, and when the next step of either is due; NEVER: there is none. */
	uint64_t rate_bps;
	uint64_t delay_ps;
	uint64_t step_ps;

	struct wh_sim_policer policer;
	struct wh_sim_queue queue;
	struct wh_sim_packet *sending; /* NULL: the line is free */
	struct wh_sim_event sent;
	struct wh_sim_event resume; /* pending in a pause in which something waits */
	struct wh_sim_flight flying;
	struct wh_sim_event arrival;

	/* How long the latest size takes; most packets are of one. */
	uint32_t packet_bytes;
	uint64_t packet_ps;

	uint64_t *delays;    /* NULL: nobody wants them */
	uint64_t counted_ps; /* queue_pkt_ps and busy_ps are up to here */
	struct wh_sim_link_stats stats;
	struct wh_prng prng; /* what one link draws leaves the others alone */
	struct wh_loss_model loss;
};

struct wh_sim_link *wh_sim_link_create(
	struct wh_sim *sim, const struct wh_sim_link_config *config, uint64_t seed);
void wh_sim_link_destroy(struct wh_sim_link *link);
void wh_sim_link_enter(struct wh_sim_link *link, uint64_t now_ps, struct wh_sim_packet *packet);

/* Counts what goes on by itself up to now. */
void wh_sim_link_count(struct wh_sim_link *link, uint64_t now_ps);

/* Asserts conservation of packets and bytes; returns how many packets it holds. */
uint64_t wh_sim_link_check(const struct wh_sim_link *link);

/* What the link calls: a packet is at its far end, or it is no more. */
void wh_sim_arrive(
	struct wh_sim *sim, uint64_t now_ps, uint32_t node, struct wh_sim_packet *packet);
void wh_sim_lose(struct wh_sim *sim, struct wh_sim_packet *packet);

#endif
