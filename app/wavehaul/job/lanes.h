/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_LANES_H
#define WH_APP_LANES_H

/*
 * A request to a server, a job for each of its lanes (--parallel). The first lane starts alone;
 * READY says how many queues the server listens on, and the others follow. One that fails ends them
 * all. A process may have several requests at once, to one server or to several.
 */

#include <stdbool.h>
#include <stdint.h>

#include "job/jobs.h"

struct wh_lanes {
	struct wh_jobs *jobs;
	struct wh_address peer;
	uint64_t transfer; /* what its lanes know each other by */
	uint32_t count;
	uint32_t started;
	struct wh_job *job[WH_LANES_MAX];
	uint64_t give_up_tsc; /* of waiting for last words; 0: nobody was told to end */
};

/* Makes the jobs; their listeners are the caller's to fill in. False: no memory. */
bool wh_lanes_make(struct wh_lanes *lanes, struct wh_jobs *jobs, const struct wh_address *peer,
	const struct wh_request *request);

/*
 * Where a job with that server goes, and its number: the shard and the server's port for a lane.
 * Queue i of ours talks to queue i of theirs as far as they go.
 */
void wh_lanes_place(const struct wh_lanes *lanes, uint32_t peer_queues, struct wh_job *job);

/* The others start when READY has come; before, nothing happens. */
void wh_lanes_start_first(struct wh_lanes *lanes, uint64_t now_tsc);
void wh_lanes_start_others(struct wh_lanes *lanes, uint64_t now_tsc);

/* Whether all lanes from `first` on have started and ended. */
bool wh_lanes_over(const struct wh_lanes *lanes, uint32_t first);
bool wh_lanes_failed(const struct wh_lanes *lanes);

/* They go on by what can change of the request, which is its rate; false: it cannot. */
bool wh_lanes_change(struct wh_lanes *lanes, const struct wh_request *request);

/* They are to end; a second time changes nothing. */
void wh_lanes_hurry(struct wh_lanes *lanes, uint64_t now_tsc);

/* All that have started are over, or have had time enough to end. */
bool wh_lanes_gone(const struct wh_lanes *lanes, uint64_t now_tsc);

void wh_lanes_free(struct wh_lanes *lanes);

#endif
