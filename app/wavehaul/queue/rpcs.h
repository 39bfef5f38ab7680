/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Remote operations of this host's clients (ls, du, rm, mkdir, mv, ping), run through the server's
 * port. They run at once, as long as their client is connected, and send it the results as events.
 * The control's thread begins and ends them, and sends the events; workers run their jobs.
 */

#include <stdint.h>

#include "control/control.h"
#include "queue/run.h"

/* The most at once; they have places beside those for peers. */
#define WH_RPCS_MAX 16

struct wh_rpc_run;

struct wh_rpcs {
	const struct wh_run_host_ctx *ctx;
	struct wh_control_socket *control;
	uint32_t runs;
	struct wh_rpc_run *run[WH_RPCS_MAX];
};

/* The command `rpc` of the control socket. */
void wh_rpcs_begin(struct wh_rpcs *rpcs, struct wh_control_call *call);

/* Sends new events; returns whether any remote operation is running. */
bool wh_rpcs_look(struct wh_rpcs *rpcs, uint64_t now_tsc);

void wh_rpcs_on_gone(struct wh_rpcs *rpcs, uint64_t client, uint64_t now_tsc);

/* Call when no loop runs any more. */
void wh_rpcs_close(struct wh_rpcs *rpcs);
