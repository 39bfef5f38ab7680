/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * What a client process does with a server: the jobs of a verb, as send, get and bench start and
 * watch them. A process may have a visit to each of several servers at once; it ends with the last.
 */

#include <stdbool.h>
#include <stdint.h>

#include "house.h"
#include "job/lanes.h"
#include "job/retry/retry.h"
#include "tree.h"

#define VISIT_IDLES_MAX 3

struct visit;

struct visit_config {
	uint32_t client;    /* processes, and their folders' numbers */
	uint32_t stands_in; /* > 0: another process as client, with the files of `client` */
	uint32_t server;
	enum wh_job_verb verb;
	bool reverse; /* bench */
	uint32_t lanes;
	uint32_t idles; /* bench */
	uint64_t bench_bytes;
	const struct tree *tree;   /* what is sent or got */
	const struct tree *before; /* what is there; NULL: nothing */
	uint32_t retries;
	void (*on_retry)(const struct visit *visit); /* an attempt has failed; or NULL */
	const char *remote; /* as the server is told; NULL: a folder for each client */
	struct wh_host_settings settings; /* of the process, and whether it repairs: the first's */
	struct wh_request request;        /* but for what the above says */
};

struct visit {
	struct visit_config config;
	struct house *house;
	char source[128]; /* folder of the tree */
	char target[128]; /* where it goes: a folder that is there */
	char result[160]; /* the tree's, in it */
	int target_fd;
	struct wh_lanes lanes;
	struct wh_job *idle[VISIT_IDLES_MAX];
	uint32_t idles_started;
	_Atomic bool gate;
	struct wh_retry retry;
	bool as_name;    /* as an earlier attempt found */
	bool asks_first; /* an earlier attempt has sent some */
	char remote[32];
	const char *here;
	const char *there;
	uint64_t files_told;    /* good ones, by on_file ... */
	uint64_t skipped_bytes; /* of these, in files that were there already */
	uint64_t files_full;    /* ... and such that found no room */
	char full_path[256];    /* the last of these */
	bool gone;              /* its jobs are, or had time enough */
	bool over;              /* so are those of its process's other visits, and the process is */
	bool killed;            /* it was */
	uint64_t began_ns;
	uint64_t ended_ns;
	enum wh_release_status status; /* PENDING: all went well */
	char why[256];
	const char *owed; /* what the process had not been given back at its end; NULL: nothing */
	struct wh_totals totals;
	uint64_t bench_bytes; /* as the receiving end counted */
	uint64_t found_bps;   /* by the lanes, of their way */
};

/* The folders of a visit and what is in them; `folder` has root%u of each server. */
void visit_prepare(const struct visit_config *config, const char *folder);
void visit_begin(struct visit *visit, struct house *house, const struct visit_config *config,
	const char *folder);

/* Its process is killed, with all its visits; nothing of them is known any more. */
void visit_kill(struct visit *visit, enum house_death death);

/* It and all that its files told was as it should be. */
bool visit_went_well(const struct visit *visit);
