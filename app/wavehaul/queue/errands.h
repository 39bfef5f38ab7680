/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_QUEUE_ERRANDS_H
#define WH_QUEUE_ERRANDS_H

/*
 * Errands of this host's clients (ls, du, rm, mkdir, mv, ping), run by the server's port: at once,
 * for as long as the client is there, who is told what comes as events. The control's thread begins
 * them, tells and ends them; crews run their jobs.
 */

#include <stdint.h>

#include "control/control.h"
#include "queue/run.h"

/* At once; each has a place beside those for peers. */
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

/* Tells what has come; whether some go on. */
bool wh_errands_look(struct wh_errands *errands, uint64_t now_tsc);

void wh_errands_on_gone(struct wh_errands *errands, uint64_t client, uint64_t now_tsc);

/* When no loop runs any more. */
void wh_errands_close(struct wh_errands *errands);

#endif
