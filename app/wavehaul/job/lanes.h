/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * A request to a server, with a job for each of its lanes (--parallel). The first lane starts
 * alone; READY tells on how many queues the server listens, and then the others follow. If one
 * fails, all are ended. A process may have several requests at once, to one server or several.
 */

#include <stdbool.h>
#include <stdint.h>

#include "job/jobs.h"

struct wh_lanes {
	struct wh_jobs *jobs;
	struct wh_address peer;
	uint64_t transfer; /* common to its lanes */
	uint32_t count;
	uint32_t started;
	struct wh_job *job[WH_LANES_MAX];
	uint64_t give_up_tsc; /* deadline for the peer to be told; 0: not asked to end */
};

/* Creates the jobs; the caller sets their listeners. False: out of memory. */
bool wh_lanes_make(struct wh_lanes *lanes, struct wh_jobs *jobs, const struct wh_address *peer,
	const struct wh_request *request);

/*
 * Sets a job's shard, number and the server's port for its lane. Queue i of ours talks to queue i
 * of theirs as far as both exist.
 */
void wh_lanes_place(const struct wh_lanes *lanes, uint32_t peer_queues, struct wh_job *job);

/* The others start when READY has come; until then the call does nothing. */
void wh_lanes_start_first(struct wh_lanes *lanes, uint64_t now_tsc);
void wh_lanes_start_others(struct wh_lanes *lanes, uint64_t now_tsc);

/* Whether all lanes from `first` on have started, and their outcome is known. */
bool wh_lanes_ended(const struct wh_lanes *lanes, uint32_t first);
bool wh_lanes_failed(const struct wh_lanes *lanes);

/* Whether the server was ready for any, so that files, and bytes of a stream, may have moved. */
bool wh_lanes_were_ready(const struct wh_lanes *lanes);

/* Whether bytes of files were read here for the peer. */
bool wh_lanes_flowed(const struct wh_lanes *lanes);

/* Whether the lanes failed only because an end lacked room, which it may have later. */
bool wh_lanes_lack_room(const struct wh_lanes *lanes);

/* Applies the changeable part of the request, its rate; false: not possible. */
bool wh_lanes_change(struct wh_lanes *lanes, const struct wh_request *request);

/* Asks them to end; a second call changes nothing. */
void wh_lanes_hurry(struct wh_lanes *lanes, uint64_t now_tsc);

/* Whether the sessions of all started lanes are gone. */
bool wh_lanes_over(const struct wh_lanes *lanes);

/* They are over, or have had enough time to end. */
bool wh_lanes_gone(const struct wh_lanes *lanes, uint64_t now_tsc);

/* Sums over those that have started. */
struct wh_totals wh_lanes_totals(const struct wh_lanes *lanes);

/* Payload that has arrived at the receiving end, as far as this end knows. */
uint64_t wh_lanes_moved_bytes(const struct wh_lanes *lanes);

/* From the server's READY to the last progress or end of a lane; 0: READY did not come. */
double wh_lanes_seconds(const struct wh_lanes *lanes);

void wh_lanes_free(struct wh_lanes *lanes);
