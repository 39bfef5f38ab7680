/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_AGAIN_H
#define WH_APP_AGAIN_H

/*
 * A client that does not give up at once: it waits for a server that is not up (--wait), and tries
 * again what a network or a server that began anew has ended (--retries), with growing pauses.
 */

#include <stdbool.h>
#include <stdint.h>

#include "job/lanes.h"

/* Before another try: the first pause, which doubles, and the longest. */
#define WH_AGAIN_FIRST_NS (UINT64_C(1) * 1000000000)
#define WH_AGAIN_LAST_NS  (UINT64_C(60) * 1000000000)

/* Between looks for a server that is not up. */
#define WH_AGAIN_WAIT_NS UINT64_C(200000000)

struct wh_again {
	uint64_t hz;
	uint64_t began_tsc;
	uint64_t until_tsc; /* a server may take so long to be up */
	uint32_t retries;   /* left */
	uint32_t tries;     /* that have ended */
	uint64_t due_tsc;   /* the pause ends; 0: there is none */
	uint64_t pause_ns;  /* the next one */
	bool told;          /* who is waited for */
};

void wh_again_init(
	struct wh_again *again, uint64_t hz, uint64_t wait_ns, uint32_t retries, uint64_t now_tsc);

/* Whether a server that is not up is still waited for; says so the first time. */
bool wh_again_waits(struct wh_again *again, const char *server, uint64_t now_tsc);

/* The same is said of a link or a proof that takes longer than a moment. */
void wh_again_tell(struct wh_again *again, const char *server, uint64_t now_tsc);

/*
 * Of lanes that are over, one of which failed: whether there is to be another try, in a while. A
 * pause has begun then.
 */
bool wh_again_pauses(
	struct wh_again *again, const struct wh_lanes *lanes, const char *server, uint64_t now_tsc);

/* The pause is over, and taken. */
bool wh_again_is_due(struct wh_again *again, uint64_t now_tsc);

#endif
