/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* Whether a request is within a peer's rights. */

#include "bundle/choice.h"
#include "bundle/record.h"
#include "trust/peer_file.h"

/*
 * NULL: it is; else why not. `wishes`: enum wh_wish, together. Paths are relative to the root, "."
 * is the root itself; *folder: the index of the right's folder with all of them, UINT32_MAX: the
 * peer may use the whole root.
 */
const char *wh_rights_wrong(const struct wh_rights *rights, enum wh_job_verb verb, uint32_t wishes,
	const char *const *path, uint32_t paths, uint32_t *folder);

/* Whether the verb moves bytes that count for a peer's daily limit. */
bool wh_rights_moves(enum wh_job_verb verb);

/* The rest of a path inside that folder: "." for the folder itself. */
const char *wh_rights_below(const char *folder, const char *path);
