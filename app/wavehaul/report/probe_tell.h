/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* What a probe will send at most, and its findings, for an operator. */

#include <jansson.h>

#include "probe/prober.h"

/* For the file kept for a peer, and for --json. A file may contain anything. */
json_t *wh_findings_to_json(const struct wh_findings *found);
bool wh_findings_from_json(const json_t *object, struct wh_findings *found);

void wh_probe_announce(const char *host, const struct wh_prober_bounds *bounds);

/* `before`: the previous findings, of time `when`; NULL: none. */
void wh_probe_tell(
	const struct wh_findings *found, const struct wh_findings *before, const char *when);

/* Arrival time against packet number, with losses below, as in lambda-tcp.txt Fig. 2. */
void wh_probe_picture(const struct wh_findings *found);

/* The same as a file: 0 or a negative errno. */
int wh_probe_plot(const struct wh_findings *found, const char *host, const char *path);
