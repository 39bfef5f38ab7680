/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Jobs: what two hosts do for each other. A job is a pair of sessions, one each way: the client's
 * stream to the server begins with HELLO, which contains the request; the server's stream to the
 * client, whose name repeats a number of the HELLO, begins with READY or REFUSED. Then follow a
 * bundle one way and answers the other (bundle/record.h), or the data of a bench.
 *
 *   client               server
 *   OPEN "job"  ------>  accept; a job is created and given to a worker
 *   HELLO       ------>  read; the client's rights are checked here
 *               <------  OPEN "reply 0123456789abcdef"
 *               <------  READY, then answers or a bundle
 *
 * A worker is the jobs of one working core: a task of its loop, and the only one that accesses
 * them. Sessions are opened and closed on other cores and passed to workers by rings (`arrivals`,
 * `gone`).
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include <rte_ring.h>
#include <rte_spinlock.h>

#include "base/spin.h"
#include "guard/refusals.h"
#include "host/host_ctx.h"
#include "job/job.h"
#include "job/lane_group.h"
#include "job/past/past.h"
#include "job/peers.h"
#include "job/service.h"

#define WH_WORKERS_MAX 16

struct wh_worker {
	struct wh_jobs *jobs;
	struct wh_job_list busy; /* had work recently: stepped every turn */
	struct wh_job_list idle; /* stepped one at a time, every IDLE_EVERY turns */
	uint64_t turns;
	struct rte_ring *arrivals; /* jobs from the cores that accept, or the main core */
	struct rte_ring *gone;     /* sessions that no packet core uses any more */
	struct wh_meter *meter;
	struct wh_fec *fec; /* NULL: no session of ours has repair packets */
	uint64_t evict_tsc; /* time of the next eviction, at the earliest */
};

struct wh_jobs {
	/* Set by its maker, before anything runs. */
	struct wh_host_ctx *ctx;
	const struct wh_service *service; /* NULL: none; all jobs are our own */
	struct wh_journal *journal;       /* NULL: incomplete files are lost with their job */
	uint64_t batch_bytes; /* of a large file, synced and noted at a time; 0: the default */
	uint32_t workers;
	struct wh_worker worker[WH_WORKERS_MAX]; /* each used only by its own core */

	/* Shared by all cores. */
	_Atomic uint32_t next_worker;
	_Atomic uint32_t live;        /* jobs that are not over */
	_Atomic bool draining;        /* accept no new ones */
	_Atomic bool hurry;           /* end those that run */
	_Atomic uint64_t table_bytes; /* used by sessions beside the arena */
	struct wh_rings rings;        /* for sources and sinks */
	struct wh_room room;          /* disk space promised by the sinks of all jobs and lanes */

	/* Shared by all cores, each under its own lock. */
	struct wh_peers peers;       /* of a service */
	struct wh_refusals refusals; /* of a service */
	struct wh_lane_groups lane_groups;
	struct wh_spin awaiting_lock;
	struct wh_job_list awaiting; /* jobs that await streams (paths/awaited.h) */
	rte_spinlock_t burial;       /* held while sessions are freed, or read by other threads */
	struct wh_past past;         /* figures of freed sessions; under `burial` */
};

/*
 * 0 or -ENOMEM; adds the workers to the host's loops. `service` may be NULL; `repair`: jobs of ours
 * may have repair packets.
 */
int wh_jobs_init(struct wh_jobs *jobs, struct wh_host_ctx *ctx, const struct wh_service *service,
	bool repair);

/*
 * Creates rings for sources and sinks of that many concurrent jobs. To be called before the guard,
 * which forbids it. A source or sink without such a ring creates its own.
 */
void wh_jobs_open_rings(struct wh_jobs *jobs, uint32_t count);

/* Call when no loop runs any more: ends the workers' remaining jobs, and frees all sessions. */
void wh_jobs_end(struct wh_jobs *jobs);
void wh_jobs_free(struct wh_jobs *jobs);

/* Between two turns of all workers: asserts that each job and the memory of all are consistent. */
void wh_jobs_check(struct wh_jobs *jobs);

/* The hooks of a host whose owner is `jobs`. */
extern const struct wh_host_ctx_hooks wh_jobs_hooks;

/*
 * The hook of a server for probes. A peer that may connect and has the right to measure may probe
 * while no job runs whose packets its trains could displace.
 */
enum wh_release_status wh_jobs_may_probe(
	void *owner, uint64_t now_tsc, const struct wh_address *peer, const struct wh_sa *sa);

uint64_t wh_jobs_free_bytes(struct wh_jobs *jobs);

/* Logs how many lines were withheld; call a few times a second. */
void wh_jobs_tell_untold(struct wh_jobs *jobs, uint64_t now_tsc);
