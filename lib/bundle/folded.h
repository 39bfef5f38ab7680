/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_BUNDLE_FOLDED_H
#define WH_BUNDLE_FOLDED_H

/*
 * Names that differ by case alone: on a file system that makes no difference the second takes the
 * place of the first. All that a job brings is remembered by two hashes of each path, with case and
 * without, for all lanes together; nothing is where nobody asks.
 *
 * Case is that of single letters, as Unicode folds them; letters that are written in two ways,
 * composed or not, differ. Bytes that are no UTF-8 are themselves.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/spin.h"

/* Of so many names 64 MiB. */
#define WH_FOLDED_MAX (UINT32_C(3) << 20)

struct wh_folded_name;

/* Zeros: nothing has come yet. */
struct wh_folded {
	struct wh_spin lock;
	struct wh_folded_name *name;
	uint32_t slots; /* a power of two; 0: none yet */
	uint32_t names;
};

enum wh_folded_verdict {
	WH_FOLDED_NEW,   /* or the very name that is there */
	WH_FOLDED_CLASH, /* some name on the path is there in another case */
	WH_FOLDED_FULL,  /* more names than there may be, or no memory */
};

/* Any core: a path without leading or doubled '/'; all its folders are names, too. */
enum wh_folded_verdict wh_folded_add(struct wh_folded *folded, const char *path, size_t bytes);

void wh_folded_free(struct wh_folded *folded);

/* Whether the file system of that folder makes no difference, as far as the kernel tells. */
bool wh_folds_case(int folder_fd);

#endif
