/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_RIGHTS_H
#define WH_APP_RIGHTS_H

/* Whether what is asked for is within what a peer may do. */

#include "bundle/record.h"
#include "trust/peer_file.h"

/*
 * NULL: it may; else why not. Paths are below the root, "." is the root itself; *folder: the index
 * of the right that they are all in, UINT32_MAX: the peer has all of the root.
 */
const char *wh_rights_wrong(const struct wh_rights *rights, enum wh_job_verb verb,
	const char *const *path, uint32_t paths, uint32_t *folder);

/* What is left of a path that is in that folder: "." if it is the folder itself. */
const char *wh_rights_below(const char *folder, const char *path);

#endif
