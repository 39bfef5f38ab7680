/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_DEMO_FILES_H
#define WH_APP_DEMO_FILES_H

/* The demo's file, made or taken, and the folder in which it is to arrive. */

#include <stdbool.h>
#include <stdint.h>

#include "demo/plan.h"
#include "file/digest.h"

/* What an operator may name, and a name of ours behind it. */
#define WH_DEMO_PATH_MAX (WH_SETTINGS_TEXT_BYTES + 16)

struct wh_demo_files {
	char made_folder[WH_SETTINGS_TEXT_BYTES]; /* "": nothing was made */
	char source[WH_DEMO_PATH_MAX];
	char name[256]; /* of the file, without folders */
	char out[WH_DEMO_PATH_MAX];
	uint64_t bytes;
};

/* The first usual place for temporary files that has room for so many bytes; NULL: none. */
const char *wh_demo_files_place(uint64_t bytes);

/*
 * WH_EXIT_OK with everything in place, or the exit status after one sentence on stderr. Gives up
 * with WH_EXIT_INTERRUPTED when a signal is caught.
 */
int wh_demo_files_prepare(const struct wh_demo_options *options, struct wh_demo_files *files);

/* Of what was sent; false: it cannot be read any more. */
bool wh_demo_files_digest(const struct wh_demo_files *files, struct wh_digest *digest);

/* Removes what was made; what arrived in --out stays. */
void wh_demo_files_clean(struct wh_demo_files *files);

#endif
