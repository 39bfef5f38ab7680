/* SPDX-License-Identifier: BSD-3-Clause */
#include "rate/control.h"

#include <stddef.h>
#include <string.h>

#include "base/assert.h"

static const struct wh_control_ops *const registry[] = {
	&wh_control_fixed,
	&wh_control_udt,
	&wh_control_ttp,
};

#define REGISTERED (sizeof(registry) / sizeof(registry[0]))

const struct wh_control_ops *wh_control_at(uint32_t number)
{
	return number < REGISTERED ? registry[number] : NULL;
}

const struct wh_control_ops *wh_control_find(const char *name)
{
	for (size_t i = 0; i < REGISTERED; i++)
		if (strcmp(registry[i]->name, name) == 0)
			return registry[i];
	return NULL;
}

void wh_control_config_init(struct wh_control_config *config)
{
	*config = (struct wh_control_config){
		.window_pkts_max = WH_WINDOW_UNLIMITED,
		.udt =
			{
				.use_formula_3 = true,
				.use_delay_warning = true,
				.beta = WH_UDT_BETA,
				.loss_threshold = WH_UDT_LOSS_THRESHOLD,
			},
		.ttp =
			{
				.n_pkts = WH_TTP_N_PKTS,
				.q_pkts = WH_TTP_Q_PKTS,
				.stretch = WH_TTP_STRETCH,
				.stretch_max = WH_TTP_STRETCH_MAX,
				.initial_loss = WH_TTP_INITIAL_LOSS,
				.decrease = WH_TTP_DECREASE,
			},
	};
}

void wh_control_init(struct wh_control *control, const struct wh_control_ops *ops,
	const struct wh_control_config *config)
{
	WH_ASSERT(config->hz > 0 && config->syn_tsc > 0);
	WH_ASSERT(config->packet_bytes > 0 && config->wire_bytes >= config->packet_bytes);
	WH_ASSERT(config->window_pkts_max >= WH_WINDOW_PKTS_MIN);
	*control = (struct wh_control){.ops = ops, .config = *config};
	ops->init(control);
}

void wh_control_ignore_feedback(struct wh_control *control, const struct wh_feedback_event *event)
{
	(void)control;
	(void)event;
}

void wh_control_ignore_loss(struct wh_control *control, const struct wh_loss_event *event)
{
	(void)control;
	(void)event;
}

void wh_control_ignore_delay(struct wh_control *control, const struct wh_delay_event *event)
{
	(void)control;
	(void)event;
}

void wh_control_ignore_bitmap(struct wh_control *control, const struct wh_bitmap_event *event)
{
	(void)control;
	(void)event;
}

void wh_control_ignore_tick(struct wh_control *control, const struct wh_tick_event *event)
{
	(void)control;
	(void)event;
}

void wh_control_set_rate(struct wh_control *control, uint64_t rate_bps)
{
	WH_ASSERT(rate_bps > 0 && control->config.rate_bps > 0);
	control->config.rate_bps = rate_bps;
	control->ops->on_rate(control);
}
