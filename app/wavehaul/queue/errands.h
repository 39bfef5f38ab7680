/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_QUEUE_ERRANDS_H
#define WH_QUEUE_ERRANDS_H

/*
 * Errands of this host's clients (ls, du, rm, mkdir, mv, ping), run through the server's port: at
 * once, as long as the client is connected, which receives the results as events. The control's
 * thread begins and ends them, and sends the events; crews run their jobs.
 */

#include <stdint.h>

#include "control/control.h"
#include "queue/run.h"

/* The most at once; they have places beside those for peers. */
#define WH_ERRANDS_MAX 16

struct wh_errand_run;

struct wh_errands {
	const struct wh_run_ground *ground;
	struct wh_control_socket *control;
	uint32_t runs;
	struct wh_errand_run *run[WH_ERRANDS_MAX];
};

/* The command. */
void wh_errands_begin(struct wh_errands *errands, struct wh_control_call *call);

/* Sends new events; returns whether any errand is running. */
bool wh_errands_look(struct wh_errands *errands, uint64_t now_tsc);

void wh_errands_on_gone(struct wh_errands *errands, uint64_t client, uint64_t now_tsc);

/* Call when no loop runs any more. */
void wh_errands_close(struct wh_errands *errands);

#endif
