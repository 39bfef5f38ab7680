/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* A remote operation run by this host's server for a client that prints its results. */

#include <stdbool.h>

#include "control/control_ask.h"
#include "rpc/print.h"

struct wh_asked {
	struct wh_asker *asker;
	struct wh_print *print; /* open; its hz counts nanoseconds */
	struct wh_tally tally;
	bool over;
	int status;
};

/* Asks, and prints until it is over, or stopped. An exit status. */
int wh_rpc_ask(struct wh_asked *asked, json_t *request);
