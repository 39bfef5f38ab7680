/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_TRANSFER_H
#define WH_TRANSFER_H

/* Private to send and get: one transfer, its request and its reports. */

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <jansson.h>

#include "cli/settings.h"
#include "job/client.h"
#include "job/jobs.h"
#include "job/lanes.h"
#include "job/retry/retry.h"
#include "report/failures.h"
#include "report/flow_now.h"
#include "report/flow_plot.h"
#include "report/manifest.h"
#include "report/progress.h"
#include "report/way.h"

struct wh_transfer {
	struct wh_settings settings;
	struct wh_host_settings host_settings;
	enum wh_verb verb;
	struct wh_runtime runtime;
	struct wh_host host;
	struct wh_jobs jobs;
	struct wh_client client;

	/* transfer_paths.c: from the operands */
	char server[WH_HOST_BYTES]; /* as written by the operator */
	struct wh_address peer;
	char **remote; /* paths at the server */
	uint32_t remotes;
	const char *const *local; /* send: files */
	uint32_t locals;
	int dest_fd; /* get: the target folder, and the new name in it */
	char *dest_name;
	bool dest_is_folder;
	bool dest_by_match; /* wh_request_is_by_match */
	char **list;        /* operands, if some came from a file */
	uint32_t listed;
	bool is_piped; /* "-": standard input or output */
	int pipe_fd;

	struct wh_terms terms;
	struct wh_lanes lanes;
	_Atomic bool gate; /* all lanes but the first are over */
	uint64_t next_tsc;
	uint64_t began_tsc; /* of the first attempt */
	struct wh_retry retry;
	bool waiting_told; /* the operator knows which server is waited for */
	bool as_name;      /* the target is a file's new name, as an earlier try found */

	struct wh_manifest manifest;
	struct wh_flow_plot plot;
	struct wh_way way; /* of send */

	/* Receives the lines of JSON, which it frees, on any core; NULL: they are printed. */
	void (*on_event)(void *context, json_t *line);
	void *context;

	/* transfer_report.c */
	pthread_mutex_t telling; /* on_file is called by every crew */
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

/* 0, or an exit status after one sentence. Reads the operands, then what they name. */
int wh_transfer_read_words(struct wh_transfer *transfer);

/*
 * For a request with its paths: whether they imply that the target is a folder, existing or not;
 * and what --delete compares if the contents of a folder are sent without its name.
 */
bool wh_request_names_folder(const struct wh_request *request);
/*
 * That is so only because the path at the server has a wildcard: if the server has something of
 * this very name, the target is its new name.
 */
bool wh_request_is_by_match(const struct wh_request *request);
void wh_request_see_contents(struct wh_request *request);

/* Whether a HELLO can carry its paths at the server and its patterns; complains otherwise. */
bool wh_request_fits(const struct wh_request *request);

/* False after a complaint: --offset or --length, and the file does not go to a pipe. */
bool wh_transfer_range_fits(const struct wh_settings *settings, bool is_piped);

/* Why the file at that path of the server cannot be a pipe's, with these options; NULL: it can. */
const char *wh_transfer_pipe_wrong(const struct wh_settings *settings, const char *there);

int wh_transfer_find_server(struct wh_transfer *transfer);
int wh_transfer_open_dest(struct wh_transfer *transfer);
/* Opens a file of the bundle at this end; `context` is the transfer. */
int wh_transfer_open_file(void *context, const char *path);
void wh_transfer_free_operands(struct wh_transfer *transfer);

/*
 * transfer_list.c: the command line's operands, with those of --files-from inserted before the
 * last.
 */
int wh_transfer_read_list(struct wh_transfer *transfer, char ***operands, uint32_t *count);
void wh_transfer_free_list(struct wh_transfer *transfer);

/* How far it has come, as of the last report. */
struct wh_transfer_stage {
	double percent; /* negative: not known yet, as is: */
	double eta_s;
	double now_bps;
};

struct wh_transfer_stage wh_transfer_stage(struct wh_transfer *transfer);

void wh_transfer_tell_start(struct wh_transfer *transfer);
void wh_transfer_tell_progress(struct wh_transfer *transfer, uint64_t now_tsc);
void wh_transfer_tell_end(struct wh_transfer *transfer, int status);

/* The result of a transfer, for the last line of the report. */
struct wh_transfer_sum {
	uint64_t files;
	uint64_t bytes;
	double seconds;
	double bps;
	uint64_t gone_bytes; /* arrived, of files that are not complete */
	uint64_t resumed_bytes;
	uint64_t sampled_bytes; /* of these: compared by samples only */
	uint64_t began_again;
	uint64_t skipped;
	const char *digest; /* name of the checksum; NULL: files were not summed */
	uint64_t summed;
	uint64_t as_expected;
	uint64_t removed;
	uint64_t passed_over;
	uint64_t failed;
};

/* Without a line end. */
void wh_transfer_tell_sum(FILE *to, bool dry_run, const struct wh_transfer_sum *sum);

/* Before another try, which reports everything from the beginning. */
void wh_transfer_forget(struct wh_transfer *transfer);

/*
 * Prints the name of a file that is done or removed, for --verbose, or would be. With `telling`
 * held, if there are crews.
 */
void wh_transfer_name(
	struct wh_transfer *transfer, const char *path, uint64_t bytes, const char *status);

/* A job's on_file; `context` is the transfer. */
void wh_transfer_on_file(void *context, const struct wh_file_result *result);

#endif
