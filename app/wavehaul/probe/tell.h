/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_PROBE_TELL_H
#define WH_APP_PROBE_TELL_H

/* What a probe sends at most, and what it found, as an operator reads it. */

#include <jansson.h>

#include "probe/prober.h"

/* What is kept of a peer, and what --json tells. A file may be anything, ours or not. */
json_t *wh_findings_to_json(const struct wh_findings *found);
bool wh_findings_from_json(const json_t *object, struct wh_findings *found);

void wh_probe_announce(const char *host, const struct wh_prober_bounds *bounds);

/* `before` is what was found the last time, NULL: nothing is known of that; `when` is the time. */
void wh_probe_tell(
	const struct wh_findings *found, const struct wh_findings *before, const char *when);

/* Arrival time against packet number, what is lost below, as lambda-tcp.txt Fig. 2 has it. */
void wh_probe_picture(const struct wh_findings *found);

/* The same as a file: 0 or a negative errno. */
int wh_probe_plot(const struct wh_findings *found, const char *host, const char *path);

#endif
