/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * A client's far end. HOST is a server that runs, as an operator knows it or trusts it; USER@HOST
 * is one that ssh starts there as that user, for this process alone: `wavehaul serve --for-client`
 * (for_client.h). What both need to know of each other goes through ssh (lines.h): each has made a
 * key for the occasion, and accepts no other peer. No file of keys is read or written. ssh stays,
 * for the end; the session does not need it.
 */

#include <stdbool.h>
#include <stdint.h>

#include "cli/child/child.h"
#include "cli/settings.h"
#include "ssh/lines.h"
#include "ssh/passage.h"
#include "trust/trust.h"

struct wh_far {
	char host[WH_HOST_BYTES]; /* as written by the operator */
	struct wh_child ssh;
	struct wh_ssh_reader reader; /* of what the server says there */
	struct wh_ssh_line line;     /* its first one */
	struct wh_identity own;      /* until the trust has it */
	struct wh_passage passage;
	struct wh_address peer;
};

/*
 * Finds the server that the operator means, and completes the settings of the port for it. One
 * started by ssh, of which a process can have one, becomes settings->far. 0, or an exit status
 * after a complaint.
 */
int wh_far_find(
	struct wh_settings *settings, enum wh_verb verb, const char *host, struct wh_address *peer);

/*
 * Whether packets pass there and back: 0, -EAGAIN: not known yet; or -ETIMEDOUT: they do not.
 * Never waits.
 */
int wh_far_passes(struct wh_far *far);

/* They do not pass: the exit status after a complaint that names the direction. */
int wh_far_conclude(struct wh_far *far);

/* The two ends of ssh trust each other; as wh_trust_open. */
int wh_far_trust(struct wh_far *far, struct wh_trust *trust);

/*
 * A path as the server's root has it: one that does not begin with / is of the user's home, which
 * --relative does not keep (`relative`). NULL for far: a copy. To be freed; NULL after a complaint.
 */
char *wh_far_path(const struct wh_far *far, const char *path, bool relative);
