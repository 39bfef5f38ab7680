/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab/netem/loss_model.h"

#include <string.h>

#include "base/assert.h"
#include "base/clock.h"

enum {
	STATE_GOOD,
	STATE_BAD,
};

static void init_states(struct wh_loss_model *model, const struct wh_link_model *config)
{
	const struct wh_gilbert_elliott *ge = &config->gilbert_elliott;

	if (config->loss_model == WH_LOSS_BERNOULLI) {
		model->state[STATE_GOOD].loss_threshold = wh_chance_threshold(config->loss);
		return;
	}
	model->state[STATE_GOOD] = (struct wh_loss_state){
		wh_chance_threshold(ge->loss_good), wh_chance_threshold(ge->good_to_bad)};
	model->state[STATE_BAD] = (struct wh_loss_state){
		wh_chance_threshold(ge->loss_bad), wh_chance_threshold(ge->bad_to_good)};
}

static void init_outages(struct wh_loss_model *model, const struct wh_link_model *config,
	uint64_t hz, uint64_t start_tsc)
{
	WH_ASSERT(config->n_outages <= WH_LINK_OUTAGES_MAX);

	for (uint32_t i = 0; i < config->n_outages; i++) {
		const struct wh_link_outage *outage = &config->outage[i];
		uint64_t end_ns = wh_add_u64(outage->start_ns, outage->length_ns);

		model->outages[i].start_tsc =
			wh_add_u64(start_tsc, wh_ns_to_tsc(hz, outage->start_ns));
		model->outages[i].end_tsc = wh_add_u64(start_tsc, wh_ns_to_tsc(hz, end_ns));
		WH_ASSERT(model->outages[i].start_tsc <= model->outages[i].end_tsc);
	}
	model->n_outages = config->n_outages;
	model->outage_edge_tsc = start_tsc;
}

void wh_loss_model_init(struct wh_loss_model *model, const struct wh_link_model *config,
	uint64_t hz, uint64_t start_tsc)
{
	*model = (struct wh_loss_model){.bit_error = config->bit_error};
	init_states(model, config);
	init_outages(model, config, hz, start_tsc);
}

void wh_loss_model_change(struct wh_loss_model *model, const struct wh_link_model *config,
	uint64_t hz, uint64_t now_tsc)
{
	struct wh_loss_model before = *model;

	wh_loss_model_init(model, config, hz, now_tsc);
	if (config->n_outages > 0)
		return;
	memcpy(model->outages, before.outages, sizeof(model->outages));
	model->n_outages = before.n_outages;
}

/* Windows may touch and overlap: only the edges matter. */
static void look_up_outage(struct wh_loss_model *model, uint64_t now_tsc)
{
	model->outage = false;
	model->outage_edge_tsc = WH_TSC_NEVER;
	for (uint32_t i = 0; i < model->n_outages; i++) {
		const struct wh_loss_window *window = &model->outages[i];

		if (now_tsc < window->start_tsc) {
			model->outage_edge_tsc =
				wh_min_u64(model->outage_edge_tsc, window->start_tsc);
		} else if (now_tsc < window->end_tsc) {
			model->outage = true;
			model->outage_edge_tsc =
				wh_min_u64(model->outage_edge_tsc, window->end_tsc);
		}
	}
	WH_ASSERT(model->outage_edge_tsc > now_tsc || now_tsc == WH_TSC_NEVER);
}

bool wh_loss_model_outage(struct wh_loss_model *model, uint64_t now_tsc)
{
	if (now_tsc >= model->outage_edge_tsc)
		look_up_outage(model, now_tsc);
	return model->outage;
}

/*
 * Probability that at least one of `bits` bits is wrong: 1 - (1 - e)^bits, by doubling. With e near
 * 1e-12, as on optical links, 1 - e would lose digits. Unlike a logarithm, sums and products give
 * the same result on every machine: a seed yields the same link everywhere.
 */
static double any_wrong(double bit_error, uint64_t bits)
{
	double each = bit_error; /* for 1, 2, 4, ... bits */
	double any = 0.0;

	for (; bits > 0; bits /= 2) {
		if (bits % 2 != 0)
			any += (1.0 - any) * each;
		each += (1.0 - each) * each;
	}
	WH_ASSERT(any >= 0.0 && any <= 1.0);
	return any;
}

/* One wrong bit drops the packet; the result is a threshold for wh_prng_chance. */
static uint64_t bit_error_threshold(struct wh_loss_model *model, uint32_t wire_bytes)
{
	struct wh_loss_size *size = &model->sizes[wire_bytes % WH_LOSS_SIZES_CACHED];

	if (size->wire_bytes != wire_bytes) {
		size->wire_bytes = wire_bytes;
		size->threshold =
			wh_chance_threshold(any_wrong(model->bit_error, 8 * (uint64_t)wire_bytes));
	}
	return size->threshold;
}

enum wh_netem_drop wh_loss_model_draw(
	struct wh_loss_model *model, struct wh_prng *prng, uint32_t wire_bytes)
{
	WH_ASSERT(wire_bytes > 0);

	WH_DEBUG_ASSERT(model->in_state == STATE_GOOD || model->in_state == STATE_BAD);

	const struct wh_loss_state *state = &model->state[model->in_state];
	bool lost = wh_prng_chance(prng, state->loss_threshold);

	if (wh_prng_chance(prng, state->leave_threshold))
		model->in_state ^= STATE_GOOD ^ STATE_BAD;
	if (lost)
		return WH_NETEM_DROP_LOSS;
	if (wh_prng_chance(prng, bit_error_threshold(model, wire_bytes)))
		return WH_NETEM_DROP_BIT_ERROR;
	return WH_NETEM_DELIVERED;
}
