/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_JOBS_H
#define WH_APP_JOBS_H

/*
 * Jobs: what two hosts do for each other. A job is a pair of sessions, one each way: the client's
 * stream to the server begins with HELLO, which says what is wanted; the server's stream to the
 * client, whose name repeats a number of the HELLO, begins with READY or REFUSED. What follows is
 * a bundle one way and answers the other (bundle/record.h), or what bench sends.
 *
 *   client               server
 *   OPEN "job"  ------>  accept; a job is made and given to a crew
 *   HELLO       ------>  read; who may do what is decided here
 *               <------  OPEN "reply 0123456789abcdef"
 *               <------  READY, then answers or a bundle
 *
 * A crew is the jobs of one working core: a process of its loop, and the only one that touches
 * them. Sessions come and go on other cores: crews get them by rings (`arrivals`, `gone`).
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include <rte_ring.h>
#include <rte_spinlock.h>

#include "base/spin.h"
#include "guard/refusals.h"
#include "host/ground.h"
#include "job/convoy.h"
#include "job/job.h"
#include "job/past/past.h"
#include "job/peers.h"
#include "job/service.h"

#define WH_CREWS_MAX 16

struct wh_crew {
	struct wh_jobs *jobs;
	struct wh_job_list busy; /* had work lately: stepped every turn */
	struct wh_job_list idle; /* stepped in turn, one of them now and then */
	uint64_t turns;
	struct rte_ring *arrivals; /* jobs: from the cores that accept, or the main core */
	struct rte_ring *gone;     /* sessions that no packet core has any more */
	struct wh_meter *meter;
	struct wh_fec *fec; /* NULL: no session of ours has repair packets */
	uint64_t evict_tsc; /* not before */
};

struct wh_jobs {
	/* Its maker's, before anything runs. */
	struct wh_ground *ground;
	const struct wh_service *service; /* NULL: none; all jobs are our own */
	struct wh_journal *journal;       /* NULL: what comes in part goes with its job */
	uint64_t batch_bytes; /* of large files, proved and noted at a time; 0: as preset */
	uint32_t crews;
	struct wh_crew crew[WH_CREWS_MAX]; /* each its own core's */

	/* Any core's. */
	_Atomic uint32_t next_crew;
	_Atomic uint32_t live;        /* jobs that are not over */
	_Atomic bool draining;        /* no new ones */
	_Atomic bool hurry;           /* end those that run */
	_Atomic uint64_t table_bytes; /* that sessions have beside the arena */
	struct wh_rings rings;        /* of those who read and write files */
	struct wh_room room;          /* promised by the sinks of all jobs and lanes */

	/* Any core's, each under a lock of its own. */
	struct wh_peers peers;       /* of a service */
	struct wh_refusals refusals; /* likewise */
	struct wh_convoys convoys;
	struct wh_spin awaiting_lock;
	struct wh_job_list awaiting; /* jobs of ours whose servers' streams may come */
	rte_spinlock_t burial;       /* held while sessions are freed, or looked at from outside */
	struct wh_past past;         /* of those that were freed; under it */
};

/*
 * 0 or -ENOMEM; adds the crews to the host's loops. `service` may be NULL; `repair`: jobs of ours
 * may have repair packets.
 */
int wh_jobs_init(struct wh_jobs *jobs, struct wh_ground *ground, const struct wh_service *service,
	bool repair);

/*
 * For sources and sinks of so many jobs at once, while the process may make any: before its guard.
 * Not said, each makes its own.
 */
void wh_jobs_open_rings(struct wh_jobs *jobs, uint32_t count);

/* When no loop runs any more: ends what the crews still had, and frees all sessions. */
void wh_jobs_end(struct wh_jobs *jobs);
void wh_jobs_free(struct wh_jobs *jobs);

/* Between two turns of all crews: asserts what each job and the memory of all say of themselves. */
void wh_jobs_check(struct wh_jobs *jobs);

/* The hooks of a host whose owner is `jobs`. */
extern const struct wh_ground_hooks wh_jobs_hooks;

/*
 * Of a server, as such a hook: who may come, and may measure by his rights, may probe, while there
 * is no job whose packets his trains would cost.
 */
enum wh_release_status wh_jobs_may_probe(
	void *owner, uint64_t now_tsc, const struct wh_address *peer, const struct wh_bond *bond);

uint64_t wh_jobs_free_bytes(struct wh_jobs *jobs);

/* Says how many lines there would have been more; a few times a second. */
void wh_jobs_tell_untold(struct wh_jobs *jobs, uint64_t now_tsc);

#endif
