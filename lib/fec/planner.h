/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Chooses the number of repair packets of the next chunk: the fewest for which the probability of
 * an irreparable block stays below a target. The loss rate is the measured one (ttp.txt II A:
 * "depends on the loss rate measured in the prior chunk"; II C: the weighted mean of short and long
 * term). The probability is binomial, or that of a Gilbert-Elliott chain when losses come in
 * bursts. The chain is sampled at the distance that interleaving leaves between the packets of a
 * block.
 *
 * After clean_pkts packets without loss there is no repair at all, until the next loss.
 */

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "fec/fec.h"
#include "measure/loss_rate.h"

/* Data packets of a Reed-Solomon block, so that as many repair packets fit into it. */
#define WH_PLAN_BLOCK_PKTS 127
static_assert(2 * WH_PLAN_BLOCK_PKTS <= WH_FEC_RS_PACKETS_MAX, "as many repair packets fit");

struct wh_fec_planner_config {
	enum wh_fec_code code;
	double target;       /* probability of an irreparable block */
	double ceiling;      /* repair packets per packet sent, at most */
	double initial_loss; /* until the first feedback */
	uint64_t clean_pkts; /* no repair after this many packets without loss */
	uint32_t r_max;      /* repair packets of a chunk, at most */
};

/* Target 1e-4, ceiling 0.25, initial loss 0.1 %, 65536 clean packets. */
void wh_fec_planner_config_init(struct wh_fec_planner_config *config, enum wh_fec_code code);

struct wh_fec_planner {
	struct wh_fec_planner_config config;
	struct wh_loss_rate loss;
	double burst_pkts; /* mean length of a loss event */
	uint64_t since_loss_pkts;

	/* The latest plan, and its inputs. */
	uint32_t planned_k;
	uint32_t planned_r_max;
	uint32_t planned_stride;
	double planned_loss;
	double planned_burst;
	uint32_t planned_r;
};

void wh_fec_planner_init(
	struct wh_fec_planner *planner, const struct wh_fec_planner_config *config);

/* Of `total` further packets, `lost` were lost, in `events` runs. */
void wh_fec_planner_feedback(
	struct wh_fec_planner *planner, uint64_t total, uint64_t lost, uint64_t events);

/* The loss estimate used for plans. */
double wh_fec_planner_loss(const struct wh_fec_planner *planner);

/* Fills in code, r and blocks of a chunk of shape->k packets; NONE: no repair. */
void wh_fec_planner_plan(struct wh_fec_planner *planner, struct wh_fec_shape *shape);

/*
 * The probability that more than `bears` of `packets` packets, sent `stride` apart, are lost, given
 * the loss rate and the mean length of a burst.
 */
double wh_fec_excess_chance(
	uint32_t packets, uint32_t bears, double loss, double burst_pkts, uint32_t stride);
