/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_QUEUE_FAR_H
#define WH_QUEUE_FAR_H

/*
 * An order between two other hosts: the one that has the files takes it into its own queue, and
 * this one follows it there, by an errand that asks once a second how it stands. What is wished of
 * it here is said there. As long as its end was not heard the same token is said again, so that
 * nothing is ordered twice.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "cli/address_text.h"
#include "errand/reader.h"
#include "queue/store.h"

struct wh_run;
struct wh_run_ground;
struct wh_place;
struct wh_order_result;

struct wh_far {
	bool on;
	struct wh_errand_listener listener;
	uint8_t token[WH_TOKEN_BYTES];
	char host[WH_HOST_BYTES]; /* the third one */
	const char *path;         /* there; of the run's lists */
	char rate[WH_ORDER_RATE_BYTES]; /* that is said there: the crew's, which takes ... */
	_Atomic bool rate_is_new;       /* ... the order's, under the run's lock, where that is */
	_Atomic int wish;               /* enum wh_order_wish */
	_Atomic bool enough;      /* nothing more is to be asked */
	_Atomic bool said;        /* it may be there */
	uint64_t give_up_tsc;     /* when somebody waits for its end; 0: nobody does */
	uint64_t told_number;     /* that the queue has noted */
	bool over;                /* it has come to its end there: another try is another order */
	/* Under the run's lock: */
	bool heard;
	struct wh_standing last;
	char why[WH_STANDING_WHY_MAX + 1];
};

/* A random one, as rows have it. False: there is no chance to be had. */
#define WH_TOKEN_TEXT_BYTES (2 * WH_TOKEN_BYTES + 1)
bool wh_token_draw(char text[WH_TOKEN_TEXT_BYTES]);

/* -1: it has begun; or an exit status after a complaint. */
int wh_far_begin(struct wh_run *run, const struct wh_run_ground *ground,
	const struct wh_place *place, uint64_t now_tsc);

bool wh_far_look(struct wh_run *run, uint64_t now_tsc);
void wh_far_stop(struct wh_run *run, uint64_t now_tsc);

/* Another rate is wished of it, and is said there the next time that anything is. */
void wh_far_set_rate(struct wh_run *run, const char *rate);

/* Its number there, if it is known since the last call; 0: it is not. */
uint64_t wh_far_found_number(struct wh_run *run);

/* What came of it. */
void wh_far_conclude(struct wh_run *run, struct wh_order_result *result);

/* As it stands there. */
struct wh_standing wh_far_standing(struct wh_run *run);

#endif
