/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * HighSpeed TCP's response, RFC 3649: above a window of `low`, a round trip adds a(w) segments and
 * a loss reduces the window by the share b(w). p(w) is the loss rate at which w is the mean window.
 * On a log-log scale it is a straight line between two points; b(w) is a straight line over log w
 * (section 5).
 *
 * Two things differ from the RFC. As in ns-2 the lower point of p is that of Reno, 1.5 / low^2,
 * where the RFC has 1e-3; so a(low) is 1. Beyond `high`, where the RFC's table ends, b stays
 * constant: its line would be negative from seven times `high` on, and one second at 100 Gb/s has a
 * hundred times `high` packets.
 */

struct wh_highspeed_config {
	double low_pkts;      /* RFC 3649: 38 */
	double high_pkts;     /* 83000 */
	double high_p;        /* 1e-7 */
	double high_decrease; /* 0.1 */
};

struct wh_highspeed {
	struct wh_highspeed_config config;
	double log_p_offset; /* log p(w) = offset + slope log w */
	double log_p_slope;
	double decrease_offset; /* b(w) = offset + slope log w */
	double decrease_slope;
};

void wh_highspeed_init(struct wh_highspeed *highspeed, const struct wh_highspeed_config *config);

double wh_highspeed_increase(const struct wh_highspeed *highspeed, double window_pkts); /* a(w) */
double wh_highspeed_decrease(const struct wh_highspeed *highspeed, double window_pkts); /* b(w) */
