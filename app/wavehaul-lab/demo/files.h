/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* The demo's file, generated or given, and the folder in which it arrives. */

#include <stdbool.h>
#include <stdint.h>

#include "demo/demo_plan.h"
#include "file/digest.h"

/* An operator's path, followed by a name of ours. */
#define WH_DEMO_PATH_MAX (WH_SETTINGS_TEXT_BYTES + 16)

struct wh_demo_files {
	char made_folder[WH_SETTINGS_TEXT_BYTES]; /* "": nothing was generated */
	char source[WH_DEMO_PATH_MAX];
	char name[256]; /* of the file, without folders */
	char out[WH_DEMO_PATH_MAX];
	uint64_t bytes;
};

/*
 * WH_EXIT_OK with everything in place, or the exit status after one sentence on stderr.
 * WH_EXIT_INTERRUPTED if a signal is caught.
 */
int wh_demo_files_prepare(const struct wh_demo_options *options, struct wh_demo_files *files);

/* Digest of the sent file; false: it can no longer be read. */
bool wh_demo_files_digest(const struct wh_demo_files *files, struct wh_digest *digest);

/* Removes generated files; the file that arrived in --out stays. */
void wh_demo_files_clean(struct wh_demo_files *files);
