/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_BUNDLE_FOLDED_H
#define WH_BUNDLE_FOLDED_H

/*
 * Detects names that differ by case only: on a file system that ignores case the second would
 * replace the first. Stores two hashes of each path of a job, with case and without, for all lanes
 * together; allocates only when used.
 *
 * Case folding is per letter, as in Unicode; composed and decomposed letters differ. Bytes that are
 * not UTF-8 stand for themselves.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/spin.h"

/* Limit of names, which take 64 MiB. */
#define WH_FOLDED_MAX (UINT32_C(3) << 20)

struct wh_folded_name;

/* All zeros: empty. */
struct wh_folded {
	struct wh_spin lock;
	struct wh_folded_name *name;
	uint32_t slots; /* a power of two; 0: none yet */
	uint32_t names;
};

enum wh_folded_verdict {
	WH_FOLDED_NEW,   /* or exactly the same name exists */
	WH_FOLDED_CLASH, /* a name on the path exists in another case */
	WH_FOLDED_FULL,  /* too many names, or no memory */
};

/* Any core: adds a path without leading or doubled '/', and all folders on it. */
enum wh_folded_verdict wh_folded_add(struct wh_folded *folded, const char *path, size_t bytes);

void wh_folded_free(struct wh_folded *folded);

/* Whether the file system of that folder ignores case, as far as the kernel tells. */
bool wh_folds_case(int folder_fd);

#endif
