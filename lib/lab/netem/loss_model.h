/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Losses of an emulated link other than by a full queue: outage windows, the loss model (Bernoulli
 * or Gilbert-Elliott), bit errors. Features that are off draw no random number.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/prng.h"
#include "lab/netem/netem.h"

/* Packet sizes whose bit error threshold is cached, by size modulo this. */
#define WH_LOSS_SIZES_CACHED 64

struct wh_loss_state {
	uint64_t loss_threshold;
	uint64_t leave_threshold; /* of a transition to the other state */
};

struct wh_loss_size {
	uint32_t wire_bytes; /* 0: empty entry */
	uint64_t threshold;
};

struct wh_loss_window {
	uint64_t start_tsc;
	uint64_t end_tsc; /* the first moment after it */
};

struct wh_loss_model {
	/* Good and bad. Bernoulli loss uses the good state alone. */
	struct wh_loss_state state[2];
	uint32_t in_state;

	bool outage; /* valid until outage_edge_tsc */
	uint64_t outage_edge_tsc;
	struct wh_loss_window outages[WH_LINK_OUTAGES_MAX];
	uint32_t n_outages;

	double bit_error;
	struct wh_loss_size sizes[WH_LOSS_SIZES_CACHED];
};

/* The configuration has been checked by wh_netem_create. Starts in the good state. */
void wh_loss_model_init(struct wh_loss_model *model, const struct wh_link_model *config,
	uint64_t hz, uint64_t start_tsc);

/*
 * Applies a new configuration from now on, starting in the good state. Its outages, if any, count
 * from now and replace the old ones.
 */
void wh_loss_model_change(struct wh_loss_model *model, const struct wh_link_model *config,
	uint64_t hz, uint64_t now_tsc);

/*
 * Whether an outage window is open at now_tsc, from its start up to but excluding its end. Time
 * never decreases.
 */
bool wh_loss_model_outage(struct wh_loss_model *model, uint64_t now_tsc);

/*
 * WH_NETEM_DELIVERED, WH_NETEM_DROP_LOSS or WH_NETEM_DROP_BIT_ERROR. Draws the loss in the current
 * state first, then the transition for the next packet.
 */
enum wh_netem_drop wh_loss_model_draw(
	struct wh_loss_model *model, struct wh_prng *prng, uint32_t wire_bytes);
