/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * What is told of a transfer: a line on a terminal, JSON lines while it runs, totals at its end,
 * and the files that failed.
 */

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "host/host.h"
#include "job/job.h"
#include "report/failures.h"
#include "report/flow_now.h"
#include "report/progress.h"
#include "transfer/operands.h"

struct wh_transfer;

struct wh_told {
	/* Receives the lines of JSON, which it frees, on any core; NULL: they are printed. */
	void (*on_event)(void *context, json_t *line);
	void *context;

	pthread_mutex_t telling; /* on_file is called by every worker */
	struct wh_failures failures;
	uint64_t skipped_bytes;      /* of files that existed already */
	struct wh_progress progress; /* since the first lane was able to send */
	struct wh_flow_now last_flow;
	double now_bps;     /* between the last two reports */
	uint64_t moved_tsc; /* when bytes moved last */
	bool stall_told;
	bool line_shown;
	bool same_terminal; /* standard output may be the terminal of that line */
	bool rows_shown;    /* a row a second instead of the line */
	uint32_t rows;
};

void wh_told_init(struct wh_told *told);

/* How far it has come, as of the last report. */
struct wh_transfer_stage {
	/* Each is negative while it is unknown. */
	double percent;
	double eta_s;
	double now_bps;
};

struct wh_transfer_stage wh_transfer_stage(struct wh_transfer *transfer);

/* `host` has the port. */
void wh_transfer_tell_start(struct wh_transfer *transfer, const struct wh_host *host);
void wh_transfer_tell_progress(struct wh_transfer *transfer, uint64_t now_tsc);
void wh_transfer_tell_end(struct wh_transfer *transfer, int status);

/*
 * Prints an end, as told by --json, for people: what failed, what was not carried over, and the
 * sums, without a line end.
 */
void wh_transfer_print_end(const struct wh_wanted *wanted, const json_t *end);

/* Before another try, which reports everything from the beginning. */
void wh_transfer_forget(struct wh_transfer *transfer);

/*
 * For --verbose: prints the name of a file that is done or removed, or would be. The caller holds
 * `telling` if there are workers.
 */
void wh_transfer_name(const struct wh_wanted *wanted, struct wh_told *told, const char *path,
	uint64_t bytes, const char *status);

/* A job's on_file; `context` is the transfer. */
void wh_transfer_on_file(void *context, const struct wh_file_result *result);
