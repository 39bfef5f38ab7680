/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Trees drawn by seed: what lies in them is a function of seed and version, so that a copy is
 * compared without the original.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TREE_ENTRIES_MAX 200

enum tree_kind {
	TREE_FILE,
	TREE_FOLDER,
	TREE_LINK,
};

struct tree_entry {
	enum tree_kind kind;
	char path[256]; /* below the tree's folder */
	uint64_t bytes;
	bool sparse;
	uint64_t seed;
	uint64_t odd_every; /* not 0: one byte of so many is other than without */
};

struct tree {
	uint32_t count;
	struct tree_entry entry[TREE_ENTRIES_MAX];
	uint64_t bytes;
};

/* `large`: the size of the largest file, at most. */
void tree_draw(struct tree *tree, uint64_t seed, uint64_t large_bytes);

/* Another version of some of its files. */
void tree_change(struct tree *tree, uint64_t seed);

/* Makes it in a folder that is there; folders have an mtime long ago, and so do files. */
void tree_make(const struct tree *tree, const char *folder);

#define TREE_WHY_BYTES 512

/*
 * Whether each file there is whole, of `tree` or of `before` (NULL: none), and, if `complete`, all
 * of the tree's. What is in staging folders counts only if `clean`: then there are none. False
 * after one sentence in `why`.
 */
bool tree_check(const struct tree *tree, const struct tree *before, const char *folder,
	bool complete, bool clean, char why[TREE_WHY_BYTES]);
