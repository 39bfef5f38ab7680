/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/highspeed.h"

#include "base/arith.h"
#include "base/assert.h"

#define RENO_DECREASE 0.5

void wh_highspeed_init(struct wh_highspeed *highspeed, const struct wh_highspeed_config *config)
{
	double low_p = 1.5 / (config->low_pkts * config->low_pkts);
	double log_range = wh_log(config->high_pkts / config->low_pkts);

	WH_ASSERT(config->low_pkts >= 1 && log_range > 0);
	highspeed->config = *config;
	highspeed->log_p_slope = wh_log(config->high_p / low_p) / log_range;
	highspeed->log_p_offset = wh_log(low_p) - highspeed->log_p_slope * wh_log(config->low_pkts);
	highspeed->decrease_slope = (config->high_decrease - RENO_DECREASE) / log_range;
	highspeed->decrease_offset =
		RENO_DECREASE - highspeed->decrease_slope * wh_log(config->low_pkts);
}

double wh_highspeed_decrease(const struct wh_highspeed *highspeed, double window_pkts)
{
	if (window_pkts <= highspeed->config.low_pkts)
		return RENO_DECREASE;
	if (window_pkts >= highspeed->config.high_pkts)
		return highspeed->config.high_decrease;
	return highspeed->decrease_offset + highspeed->decrease_slope * wh_log(window_pkts);
}

double wh_highspeed_increase(const struct wh_highspeed *highspeed, double window_pkts)
{
	if (window_pkts <= highspeed->config.low_pkts)
		return 1;

	double p = wh_exp(highspeed->log_p_offset + highspeed->log_p_slope * wh_log(window_pkts));
	double b = wh_highspeed_decrease(highspeed, window_pkts);

	return window_pkts * window_pkts * p * 2 * b / (2 - b);
}
