/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A constant rate, whatever happens: for lambdas that are one's own, and the baseline that other
 * controllers are compared with.
 */

#include <assert.h>

#include "rate/control.h"
#include "rate/pacer.h"

struct fixed {
	uint64_t interval_fp;
};

static_assert(sizeof(struct fixed) <= WH_CONTROL_STATE_BYTES, "the state fits");

static void init(struct wh_control *control)
{
	const struct wh_control_config *config = &control->config;
	struct fixed *fixed = (struct fixed *)control->state;

	if (config->rate_bps > 0)
		fixed->interval_fp =
			wh_pacer_interval_fp(config->hz, config->wire_bytes, config->rate_bps);
}

static struct wh_decision decide(const struct wh_control *control)
{
	const struct fixed *fixed = (const struct fixed *)control->state;

	return (struct wh_decision){
		.interval_fp = fixed->interval_fp,
		.window_pkts = control->config.window_pkts_max,
	};
}

const struct wh_control_ops wh_control_fixed = {
	.name = "fixed",
	.summary = "constant rate and window, deaf to loss and delay",
	.init = init,
	.on_feedback = wh_control_ignore_feedback,
	.on_loss = wh_control_ignore_loss,
	.on_delay = wh_control_ignore_delay,
	.on_bitmap = wh_control_ignore_bitmap,
	.on_tick = wh_control_ignore_tick,
	.on_rate = init,
	.decide = decide,
};
