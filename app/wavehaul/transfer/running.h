/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * What runs of a transfer: its lanes, attempt after attempt. A client with a port of its own
 * (own_port.c) and a server's queue (queue/run.c) drive it; they own the port, say who is told and
 * decide how often it is tried.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "job/jobs.h"
#include "job/lanes.h"
#include "job/retry/retry.h"
#include "report/flow_plot.h"
#include "report/learnt_path.h"
#include "report/manifest.h"

struct wh_transfer;

struct wh_running {
	struct wh_jobs *jobs;
	struct wh_request request; /* of all attempts */
	struct wh_terms terms;     /* of the request's choice */
	struct wh_lanes lanes;
	const struct wh_rpc_listener *rpc; /* of an order for another queue; or NULL */
	_Atomic bool gate;                 /* all lanes but the first are over */
	uint64_t began_tsc;                /* of the first attempt */
	struct wh_retry retry;
	struct wh_manifest manifest;
	struct wh_flow_plot plot;
	struct wh_learnt_path learnt; /* of send */
};

/* For a request with its paths: what it chooses of them. False after a complaint. */
bool wh_transfer_choose(struct wh_transfer *transfer);

/* Creates the lanes of its request, for the first attempt. False after a complaint. */
bool wh_transfer_make_lanes(struct wh_transfer *transfer);

/* While lanes run: starts those that may, ends all if one has failed, and tells how far it is. */
void wh_transfer_look(struct wh_transfer *transfer, uint64_t now_tsc);

/* Repeats it with new lanes: files that arrived before are there, and in the journal. */
bool wh_transfer_restart(struct wh_transfer *transfer, uint64_t now_tsc);

/* Opens a file of the bundle at this end; `context` is the transfer. */
int wh_transfer_open_file(void *context, const char *path);
