/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_TEST_JOBS_VISIT_H
#define WH_TEST_JOBS_VISIT_H

/* What one client process does: the jobs of a verb, as send, get and bench start and watch them. */

#include <stdbool.h>
#include <stdint.h>

#include "house.h"
#include "job/lanes.h"
#include "tree.h"

#define VISIT_IDLES_MAX 3

struct visit_config {
	uint32_t client; /* the process, and its folders' number */
	enum wh_job_verb verb;
	bool reverse; /* bench */
	uint32_t lanes;
	uint32_t idles; /* bench */
	uint64_t bench_bytes;
	const struct tree *tree;   /* what is sent or got */
	const struct tree *before; /* what is there; NULL: nothing */
	struct wh_host_settings settings;
	struct wh_request request; /* but for what the above says */
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
	char remote[32];
	const char *here;
	const char *there;
	uint64_t files_told; /* good ones, by on_file */
	bool over;
	bool killed;
	uint64_t began_ns;
	uint64_t ended_ns;
	enum wh_release_status status; /* PENDING: all went well */
	char why[256];
	struct wh_totals totals;
	uint64_t bench_bytes; /* as the receiving end counted */
};

/* `folder` is the world's: below it the server's root and a folder for each client. */
void visit_begin(struct visit *visit, struct house *house, const struct visit_config *config,
	const char *folder);

/* Its process is killed; nothing of it is known any more. */
void visit_kill(struct visit *visit);

/* It and all that its files told was as it should be. */
bool visit_went_well(const struct visit *visit);

#endif
