/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* What is wanted of a transfer: options and, of send and get, the operands: FILE... HOST:PATH. */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/settings.h"
#include "job/request.h"

struct wh_wanted {
	struct wh_settings settings;
	enum wh_verb verb;
	char server[WH_HOST_BYTES]; /* as written by the operator */
	struct wh_address peer;
	char **remote; /* paths at the server */
	uint32_t remotes;
	const char *const *local; /* send: files */
	uint32_t locals;
	int dest_fd; /* get: the target folder; dest_name: the new name in it */
	char *dest_name;
	bool dest_is_folder;
	bool dest_by_match; /* what is got is named by patterns (wh_request_is_by_match) */
	char **list;        /* operands, if some came from a file */
	uint32_t listed;
	bool is_piped; /* "-": standard input or output */
	int pipe_fd;
};

static inline bool wh_wanted_sends(const struct wh_wanted *wanted)
{
	return wanted->verb == WH_VERB_SEND;
}

/* For text: stderr, if standard output receives the file. */
static inline FILE *wh_wanted_output(const struct wh_wanted *wanted)
{
	return wanted->is_piped && !wh_wanted_sends(wanted) ? stderr : stdout;
}

/* 0, or an exit status after one sentence. Reads the operands, then what they name. */
int wh_transfer_read_words(struct wh_wanted *wanted);

/* Whether a request's paths imply that the target is a folder, existing or not. */
bool wh_request_names_folder(const struct wh_request *request);

/*
 * Whether they imply it only because the path at the server has a wildcard: if the server has
 * something of this very name, the target is its new name.
 */
bool wh_request_is_by_match(const struct wh_request *request);

/* What --delete compares, if the contents of a folder are sent without its name. */
void wh_request_see_contents(struct wh_request *request);

/* Whether a HELLO can carry its paths at the server and its patterns; complains otherwise. */
bool wh_request_fits(const struct wh_request *request);

/* False after a complaint: --offset or --length, and the file does not go to a pipe. */
bool wh_transfer_range_fits(const struct wh_settings *settings, bool sends, bool is_piped);

/* Why the file at that path of the server cannot be a pipe's, with these options; NULL: it can. */
const char *wh_transfer_pipe_wrong(const struct wh_settings *settings, const char *there);

int wh_transfer_open_dest(struct wh_wanted *wanted);
void wh_transfer_free_operands(struct wh_wanted *wanted);

/*
 * operand_list.c: the command line's operands, with those of --files-from inserted before the
 * last.
 */
int wh_transfer_read_list(struct wh_wanted *wanted, char ***operands, uint32_t *count);
void wh_transfer_free_list(struct wh_wanted *wanted);
