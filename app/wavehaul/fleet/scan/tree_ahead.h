/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * What is in a tree, told in the order of wh_walk, with the sizes of its files. Threads read whole
 * folders ahead of the one whose entries are told: always the unread folder that comes first. A
 * folder that nobody has begun when it is to be told is read by who asks for it. So the order does
 * not depend on the threads, and a file system that takes its time for each size is asked for many.
 */

#include <stdbool.h>
#include <stdint.h>

#define WH_TREE_AHEAD_THREADS 16         /* most wait, where sizes come from a server */
#define WH_TREE_AHEAD_BYTES   (16 << 20) /* read and not told: then the threads wait */

enum wh_ahead_kind {
	WH_AHEAD_FILE,
	WH_AHEAD_LINK,
	WH_AHEAD_EMPTY, /* the folder itself: it has no entries */
	WH_AHEAD_FAULT, /* cannot be read, or is nothing that is sent */
};

/* Valid until the next one. */
struct wh_ahead_entry {
	enum wh_ahead_kind kind;
	int error;          /* FAULT: a positive errno */
	uint64_t bytes;     /* FILE */
	const char *folder; /* in the bundle; "": a given path */
	const char *name;   /* "": the folder itself; with folder not above WH_PATH_BYTES_MAX */
};

struct wh_tree_ahead;

struct wh_tree_ahead *wh_tree_ahead_open(void); /* NULL: no memory */

/* `above`: what stands before its names in the bundle, with a "/" at its end. False: no memory. */
bool wh_tree_ahead_begin(struct wh_tree_ahead *ahead, const char *tree, const char *above);

/* False: the tree is at its end. */
bool wh_tree_ahead_next(struct wh_tree_ahead *ahead, struct wh_ahead_entry *entry);

void wh_tree_ahead_close(struct wh_tree_ahead *ahead); /* NULL is allowed */
