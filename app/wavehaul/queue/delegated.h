/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * An order between two other hosts: the one with the files takes it into its own queue, and this
 * host follows it there, by a remote operation that asks for its STATUS once a second. Changes
 * requested here are sent there. Until its end is known the same token is used, so that nothing is
 * ordered twice.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "cli/address_text.h"
#include "queue/queue_store.h"
#include "rpc/reader.h"

struct wh_run;
struct wh_run_host_ctx;
struct wh_order_result;

struct wh_delegated {
	bool on;
	struct wh_rpc_listener listener;
	uint8_t token[WH_TOKEN_BYTES];
	char host[WH_HOST_BYTES]; /* the third host */
	const char *path;         /* at the third host; points into the run's lists */
	/*
	 * The rate sent there is the worker's. If rate_is_new is set, the worker copies the order's
	 * rate first, under the run's lock.
	 */
	char rate[WH_ORDER_RATE_BYTES];
	_Atomic bool rate_is_new;
	_Atomic int wish;     /* enum wh_order_wish */
	_Atomic bool enough;  /* nothing more needs to be asked */
	_Atomic bool said;    /* the other host may have it */
	uint64_t give_up_tsc; /* deadline for its end; 0: no deadline */
	uint64_t told_number; /* stored in the queue */
	bool over;            /* it has ended there: another try is a new order */
	/* Under the run's lock: */
	bool heard;
	struct wh_order_status last;
	char why[WH_ORDER_STATUS_WHY_MAX + 1];
};

/* A random token, as stored in rows. False: no random numbers available. */
#define WH_TOKEN_TEXT_BYTES (2 * WH_TOKEN_BYTES + 1)
bool wh_token_draw(char text[WH_TOKEN_TEXT_BYTES]);

/* -1: it has begun; or an exit status after a complaint. */
int wh_delegated_begin(struct wh_run *run, const struct wh_run_host_ctx *ctx, uint64_t now_tsc);

void wh_delegated_look(struct wh_run *run, uint64_t now_tsc);
void wh_delegated_stop(struct wh_run *run, uint64_t now_tsc);

/* Sets another rate, which is sent with the next request. */
void wh_delegated_set_rate(struct wh_run *run, const char *rate);

/* The order's number at the other host, if learned since the last call; 0: no. */
uint64_t wh_delegated_found_number(struct wh_run *run);

/* The order's result. */
void wh_delegated_conclude(struct wh_run *run, struct wh_order_result *result);

/* The order's STATUS at the other host. */
struct wh_order_status wh_delegated_status(struct wh_run *run);
