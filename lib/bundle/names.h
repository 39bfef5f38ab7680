/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * The names that a job has given to files and links at its target, for all its lanes together. Two
 * of its files must not get the same name: the second would destroy the first, whose original may
 * have been removed by then (--move).
 *
 * Stores a 64-bit hash of each path, with a seed of its own, so that nobody can construct names
 * that collide. Two of 10 million names collide by chance in one job of 180,000; then the second
 * file fails, and another try has another seed.
 *
 * On a file system that ignores case, names that differ by case only are the same. There it stores
 * another hash of each path without case, and both hashes of all folders on the path. Case folding
 * is per letter, as in Unicode; composed and decomposed letters differ. Bytes that are not UTF-8
 * stand for themselves.
 *
 * Memory is limited, and charged to the peer's account beyond the first 8 KiB. When it is used up,
 * further names are UNKNOWN: another file may have them, so their files must not replace anything.
 *
 * Any core. Allocates only when used.
 */

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/spin.h"
#include "file/blocks.h"

/* Room for 12 million names, or half as many where case is ignored. */
#define WH_NAMES_BYTES_MAX (UINT64_C(128) << 20)

struct wh_names_table {
	uint64_t *keys; /* 0: a free slot */
	uint32_t slots; /* a power of two; 0: none yet */
};

/* All zeros: empty. */
struct wh_names {
	struct wh_spin lock;
	uint32_t users;
	uint64_t seed;
	struct wh_names_table now;
	struct wh_names_table before; /* a smaller one, from which keys move to `now` */
	uint32_t moved;               /* slots of it */
	uint32_t count;               /* of keys */
	bool is_full;
	uint64_t charged_bytes;
};

enum wh_name_verdict {
	WH_NAME_NEW = 0,
	WH_NAME_TAKEN,   /* a file or link of the job has it */
	WH_NAME_CLASH,   /* a name on the path differs by case only from one of the job */
	WH_NAME_UNKNOWN, /* no memory to tell */
};

/* A path at the target, without leading or doubled '/'. */
struct wh_name {
	const char *path;
	size_t bytes;
	bool is_folder; /* may be claimed again */
	bool folds;     /* case is ignored there */
};

/* Each user of the job calls join, then leave; the last one frees everything. */
void wh_names_join(struct wh_names *names);
void wh_names_leave(struct wh_names *names, const struct wh_blocks_account *account);

enum wh_name_verdict wh_names_claim(struct wh_names *names, const struct wh_blocks_account *account,
	const struct wh_name *name);

/* True: that name was claimed as a file. False: it was not, or there was no memory to store it. */
bool wh_names_has(struct wh_names *names, const char *path, size_t bytes);

/* False: no file of the job was given that name. */
bool wh_names_may_have(struct wh_names *names, const char *path, size_t bytes, bool folds);

/*
 * Sets `other` to the same name with the case of its first letter changed. False: it has no letter
 * with case.
 */
bool wh_name_in_other_case(const char *name, char other[NAME_MAX + 1]);

/* Whether the file system of that folder ignores case, as far as the kernel tells. */
bool wh_folds_case(int folder_fd);
