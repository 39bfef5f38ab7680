/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_FLOW_PLOT_H
#define WH_APP_FLOW_PLOT_H

/* The picture of a transfer (--plot): rate, round trip, losses and what limits, over its time. */

#include "job/lanes.h"
#include "report/flow_history.h"

struct wh_flow_plot {
	const char *path;   /* NULL: none is wanted, or it is written */
	uint64_t began_tsc; /* 0: nothing runs yet */
	uint64_t next_tsc;
	bool sends;
	struct wh_flow_history history;
};

/* Before anything else: false after a sentence why it cannot be written. "": none is wanted. */
bool wh_flow_plot_init(struct wh_flow_plot *plot, const char *path);

/* From the core that watches the lanes: often; it looks when it is time to. */
void wh_flow_plot_look(struct wh_flow_plot *plot, const struct wh_lanes *lanes, uint64_t now_tsc);

/*
 * When nothing runs any more, however it ended: the last look, and the picture, once. "send to
 * 192.0.2.2" are two words. The exit status, which is another one if only the picture failed.
 */
int wh_flow_plot_write(struct wh_flow_plot *plot, const struct wh_lanes *lanes,
	const struct wh_profile *profile, const char *what, const char *peer, int status);

#endif
