/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* The picture of a transfer (--plot): rate, round trip, losses and limits over its time. */

#include "job/lanes.h"
#include "report/flow_history.h"

struct wh_flow_plot {
	bool on;            /* requested, and not drawn yet */
	const char *path;   /* of the file; NULL: none */
	uint64_t began_tsc; /* 0: no transfer has begun */
	uint64_t next_tsc;
	bool sends;
	struct wh_flow_history history;
};

/*
 * Check before any other work: false after a sentence why it cannot be written. "": not requested.
 */
bool wh_flow_plot_init(struct wh_flow_plot *plot, const char *path);

/* Begins a picture that becomes a text (wh_flow_plot_text) instead of a file. */
void wh_flow_plot_begin(struct wh_flow_plot *plot, bool on);

/* Call often on the core that watches the lanes; adds a state when one is due. */
void wh_flow_plot_look(struct wh_flow_plot *plot, const struct wh_lanes *lanes, uint64_t now_tsc);

/* The lanes are going to be replaced for another try. */
void wh_flow_plot_renew(struct wh_flow_plot *plot);

/*
 * When nothing runs any more, however it ended: adds the last state and writes the picture, once.
 * `what` and `peer` are for its title, as "send to" and "192.0.2.2". Returns the exit status, which
 * changes only if all but the picture succeeded.
 */
int wh_flow_plot_write(struct wh_flow_plot *plot, const struct wh_lanes *lanes,
	const struct wh_profile *profile, const char *what, const char *peer, int status);

/*
 * Like wh_flow_plot_write, but returns the picture as a text, which the caller frees. NULL: not
 * requested, or no memory. `failure`: "" for none.
 */
char *wh_flow_plot_text(struct wh_flow_plot *plot, const struct wh_lanes *lanes,
	const struct wh_profile *profile, const char *what, const char *peer, const char *failure);
