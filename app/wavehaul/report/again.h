/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_AGAIN_H
#define WH_APP_AGAIN_H

/*
 * Patience of a client: it waits for a server that is not up (--wait), and repeats a transfer that
 * was ended by the network or a restart of the server (--retries), with growing pauses.
 */

#include <stdbool.h>
#include <stdint.h>

#include "job/lanes.h"

/* Pause before another try: the first one, then doubled each time, and the longest. */
#define WH_AGAIN_FIRST_NS (UINT64_C(1) * 1000000000)
#define WH_AGAIN_LAST_NS  (UINT64_C(60) * 1000000000)

/* Between checks for a server that is not up. */
#define WH_AGAIN_WAIT_NS UINT64_C(200000000)

struct wh_again {
	uint64_t hz;
	uint64_t began_tsc;
	uint64_t until_tsc; /* a server may take until then to be up */
	uint32_t retries;   /* left */
	uint32_t tries;     /* that have ended */
	uint64_t due_tsc;   /* end of the pause; 0: no pause */
	uint64_t pause_ns;  /* length of the next one */
	bool told;          /* the operator was told which server is waited for */
};

void wh_again_init(
	struct wh_again *again, uint64_t hz, uint64_t wait_ns, uint32_t retries, uint64_t now_tsc);

/* Whether to wait longer for a server that is not up; tells the operator the first time. */
bool wh_again_waits(struct wh_again *again, const char *server, uint64_t now_tsc);

/* Tells the same if a link or proof takes longer than usual. */
void wh_again_tell(struct wh_again *again, const char *server, uint64_t now_tsc);

/*
 * For ended lanes, one of which failed: whether there will be another try after a pause, which has
 * then begun.
 */
bool wh_again_pauses(
	struct wh_again *again, const struct wh_lanes *lanes, const char *server, uint64_t now_tsc);

/* Whether the pause is over; ends it. */
bool wh_again_is_due(struct wh_again *again, uint64_t now_tsc);

#endif
