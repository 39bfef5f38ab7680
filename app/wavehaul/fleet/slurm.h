/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* Slurm, by its own commands: sbatch(1), squeue(1), scancel(1), scontrol(1), sinfo(1). */

#include <stdbool.h>
#include <stdint.h>

#include "cli/settings.h"
#include "fleet/fleet_plan.h"

struct wh_slurm_task {
	uint64_t job;
	uint32_t shard;
	bool checks;    /* it is a task of `verify` */
	char state[16]; /* of squeue: RUNNING, PENDING */
	char node[256];
	char reason[256]; /* why it waits */
};

struct wh_slurm_array {
	bool checks;
	const bool *is_wanted; /* of the shards of a site */
	uint32_t first;        /* shard of that site */
	uint64_t after;        /* each begins once the same one of this job is over; 0: none */
};

/*
 * Submits an array of shards, whose tasks send or check them, and notes its job in the plan, under
 * "jobs", "checks", or "passing" if a site passes them on; and under "firsts" if its first shard is
 * not 0. -1, or an exit status after a complaint.
 */
int wh_slurm_submit(struct wh_plan *plan, const struct wh_settings *settings,
	const struct wh_slurm_array *array, uint64_t *job);

/*
 * Tells each task of the plan that is in the queue. False after a complaint: the queue cannot be
 * read. A plan without jobs has no tasks.
 */
bool wh_slurm_look(const struct wh_plan *plan,
	void (*on_task)(void *context, const struct wh_slurm_task *task), void *context);

/* -1, or an exit status after a complaint. */
int wh_slurm_cancel(const struct wh_plan *plan);

/* In a task: the nodes of its partition that take tasks, as an array of names. */
json_t *wh_slurm_nodes(void);

/*
 * In a task: puts it back into the queue, for a node that is none of these. True: this process is
 * about to be ended, and ignores SIGTERM. False: it is no task, or Slurm refuses.
 */
bool wh_slurm_requeue(const json_t *but_nodes);

/* In a task: what waits of its array gets none of these nodes. False: Slurm has not taken that. */
bool wh_slurm_keep_off(const json_t *nodes);
