/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_LANES_H
#define WH_APP_LANES_H

/*
 * The jobs of --parallel, one a lane. The first lane starts alone; READY says how many queues the
 * server listens on, and the others follow. One that fails ends them all.
 */

#include <stdbool.h>
#include <stdint.h>

#include "job/client.h"
#include "job/jobs.h"

struct wh_lanes {
	const struct wh_client *client;
	struct wh_jobs *jobs;
	uint32_t count;
	uint32_t started;
	struct wh_job *job[WH_LANES_MAX];
	uint64_t give_up_tsc; /* of waiting for last words; 0: nobody was told to end */
};

/* All jobs are filled in. The others start when READY has come; before, nothing happens. */
void wh_lanes_start_first(struct wh_lanes *lanes, uint64_t now_tsc);
void wh_lanes_start_others(struct wh_lanes *lanes, uint64_t now_tsc);

/* Whether all lanes from `first` on have started and ended. */
bool wh_lanes_over(const struct wh_lanes *lanes, uint32_t first);
bool wh_lanes_failed(const struct wh_lanes *lanes);

/* All jobs of this client, those of no lane too, are to end; a second time changes nothing. */
void wh_lanes_hurry(struct wh_lanes *lanes, uint64_t now_tsc);

/* No job is live, or those that are have had time enough to end. */
bool wh_lanes_gone(const struct wh_lanes *lanes, uint64_t now_tsc);

void wh_lanes_free(struct wh_lanes *lanes);

#endif
