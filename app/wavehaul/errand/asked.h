/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_ERRAND_ASKED_H
#define WH_APP_ERRAND_ASKED_H

/* An errand that the server of this host runs, for a client that prints what comes of it. */

#include <stdbool.h>

#include "control/ask.h"
#include "errand/print.h"

struct wh_asked {
	struct wh_asker *asker;
	struct wh_print *print; /* open; its hz is a second's nanoseconds */
	struct wh_tally tally;
	bool over;
	int status;
};

/* Asks, and prints until it is over, or nobody wants it any more. An exit status. */
int wh_errand_ask(struct wh_asked *asked, json_t *request);

#endif
