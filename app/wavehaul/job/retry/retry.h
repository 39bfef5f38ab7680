/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Retries: when a client or the queue repeats a request that was ended by the network, or by a
 * restart of the server.
 *
 * A retry looks for the server repeatedly until it answers or the retry's patience is over. Only
 * then does the next retry begin. So an outage costs its own time and a moment, with no pause that
 * outlasts it. The patience doubles with each retry, so that a few retries cover a long outage.
 *
 * A pause comes only after a server that answered, and ended the request soon afterwards.
 */

#include <stdbool.h>
#include <stdint.h>

#include "job/lanes.h"

/* How long a retry looks for the server: the first retry, doubled with each one, and at most. */
#define WH_RETRY_PATIENCE_NS     (UINT64_C(1) * 1000000000)
#define WH_RETRY_PATIENCE_MAX_NS (UINT64_C(600) * 1000000000)

/* Between two looks for a server that was not reached, or has gone. */
#define WH_RETRY_LOOK_NS UINT64_C(200000000)

/*
 * Pauses after a server that was reached and ended the request: the first, doubled each time, and
 * the longest.
 */
#define WH_RETRY_PAUSE_NS     (UINT64_C(1) * 1000000000)
#define WH_RETRY_PAUSE_MAX_NS (UINT64_C(60) * 1000000000)

/*
 * Pauses between two tries of an order, which the queue counts: the first, doubled each time, and
 * the longest. If the server was gone, the next try begins soon, and its patience grows instead.
 */
#define WH_RETRY_ORDER_SOON_S  1
#define WH_RETRY_ORDER_FIRST_S 5
#define WH_RETRY_ORDER_LAST_S  600

struct wh_retry {
	uint64_t hz;
	uint64_t until_tsc;   /* until then an attempt that reaches no server uses up no retry */
	uint64_t due_tsc;     /* of the next attempt; 0: there is none now */
	uint32_t pauses;      /* in a row, after servers that ended the request soon */
	uint32_t others;      /* further addresses of the server */
	uint32_t others_left; /* of these, not yet tried since the last retry */
	uint32_t left;
	uint32_t used;
};

enum wh_retry_step {
	WH_RETRY_NOT,     /* the failure stays */
	WH_RETRY_ENDING,  /* not before all lanes have ended: call again */
	WH_RETRY_LOOKS,   /* another attempt follows, to reach the server */
	WH_RETRY_COUNTED, /* another attempt follows, and uses up a retry */
	WH_RETRY_WAITS,   /* that attempt is not due yet */
	WH_RETRY_DUE,     /* the caller begins it now */
};

/* The pause after so many tries of an order, at most `last_s`. */
uint64_t wh_retry_order_pause_s(uint32_t tries, uint64_t last_s);

/* The patience of the retry of that number, from 1 on. */
uint64_t wh_retry_patience_ns(uint32_t number);

/*
 * `wait_ns`: how long the server may take to be there at first. `others`: its further addresses,
 * to each of which there is an attempt before a retry is used up.
 */
void wh_retry_init(struct wh_retry *retry, uint64_t hz, uint64_t wait_ns, uint32_t others,
	uint32_t retries, uint64_t now_tsc);

/* What is next if no route to the server was found. */
enum wh_retry_step wh_retry_unreached(struct wh_retry *retry, uint64_t now_tsc);

/* Whether the server was gone, or was not reached: a pause would gain nothing. */
bool wh_retry_may_hurry(const struct wh_lanes *lanes);

/* What is next for lanes that failed and are over, or had time to end. Called repeatedly. */
enum wh_retry_step wh_retry_next(
	struct wh_retry *retry, const struct wh_lanes *lanes, uint64_t now_tsc);

/* Whether the time for the next attempt has come; then that begins. */
bool wh_retry_is_due(struct wh_retry *retry, uint64_t now_tsc);
