/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * One direction between two nodes: a policer, the queue, the packet being sent, and those in
 * flight. Only the end of the transmission and the first arrival are pending events, however many
 * packets are in flight.
 */

#include "lab/netem/delay_line.h"
#include "lab/sim/machine/absence.h"
#include "lab/sim/simulation.h"

struct wh_sim_link {
	struct wh_sim *sim;
	struct wh_sim_events *events;
	struct wh_sim_link_config config;
	bool lossy;
	uint64_t reorder_threshold;

	/* Current values, and the time of the next step of either; NEVER: none. */
	uint64_t rate_bps;
	uint64_t delay_ps;
	uint64_t step_ps;

	struct wh_sim_policer policer;
	struct wh_sim_queue queue;
	struct wh_sim_packet *sending; /* NULL: the line is free */
	struct wh_sim_event sent;
	struct wh_sim_event resume;  /* end of a pause; pending while packets wait for it */
	struct wh_delay_line flying; /* its times are picoseconds */
	uint64_t flying_bytes;
	struct wh_sim_event arrival;
	struct wh_absence absence;

	/* Transmission time of the latest packet size; most packets have the same. */
	uint32_t packet_bytes;
	uint64_t packet_ps;

	uint64_t *delays;    /* NULL: not counted */
	uint64_t counted_ps; /* queue_pkt_ps and busy_ps include the time up to here */
	struct wh_sim_link_stats stats;
	struct wh_prng prng; /* per link: draws do not affect other links */
	struct wh_loss_model loss;
};

struct wh_sim_link *wh_sim_link_create(
	struct wh_sim *sim, const struct wh_sim_link_config *config, uint64_t seed);
void wh_sim_link_destroy(struct wh_sim_link *link);
void wh_sim_link_enter(struct wh_sim_link *link, uint64_t now_ps, struct wh_sim_packet *packet);

/* Brings queue_pkt_ps and busy_ps up to now. */
void wh_sim_link_count(struct wh_sim_link *link, uint64_t now_ps);

/* Asserts conservation of packets and bytes; returns the number of packets held. */
uint64_t wh_sim_link_check(const struct wh_sim_link *link);

/* Called by the link: a packet has arrived at its far end, or was dropped. */
void wh_sim_arrive(
	struct wh_sim *sim, uint64_t now_ps, uint32_t node, struct wh_sim_packet *packet);
void wh_sim_lose(struct wh_sim *sim, struct wh_sim_packet *packet);
