/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Large files that go by all lanes of a transfer, one segment per lane: the state shared by the
 * lanes' sources. The lane that finds such a file is its lead. It announces the file here with an
 * open descriptor, from which the others open theirs, so that all send segments of the same file;
 * only the lead lane reports its outcome.
 *
 * A source is done when no lane can announce any more, so none is missed.
 *
 * Any core: a lock is held for a moment, at most while a descriptor is duplicated or closed.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/spin.h"

#define WH_SPLIT_LANES_MAX 64

/* Most split files at once per transfer; further files go by one lane. */
#define WH_SPLITS_MAX 64

/* Least file size per lane for splitting. */
#define WH_SPLIT_BYTES_MIN (UINT64_C(16) << 20)

/* Segments begin at multiples of this, as do chunks and blocks. */
#define WH_SPLIT_ALIGN_BYTES (UINT64_C(1) << 20)

struct wh_segment {
	uint64_t from;
	uint64_t end;
};

/* Whether such a file has a segment for each of that many lanes. */
bool wh_segment_is_possible(uint64_t size_bytes, uint32_t lanes);

/* The segment of a lane, if possible. */
struct wh_segment wh_segment_of(uint64_t size_bytes, uint32_t lanes, uint32_t lane);

struct wh_split {
	uint32_t number; /* in the transfer; 0: free */
	uint32_t lead;   /* its lane */
	uint64_t left;   /* a bit for each lane that is done with it */
	int fd;
	struct stat status;
	char *path; /* in the bundle */
	uint16_t path_bytes;
};

struct wh_splits {
	struct wh_spin lock;
	uint32_t lanes;
	_Atomic uint32_t last;   /* last number announced; 0: none */
	_Atomic uint64_t walked; /* a bit for each lane that announces no more */
	uint64_t gone;           /* a bit for each lane that takes no more, either */
	struct wh_split place[WH_SPLITS_MAX];
};

void wh_splits_init(struct wh_splits *splits, uint32_t lanes);
void wh_splits_free(struct wh_splits *splits); /* no lane uses it any more */

/*
 * By the lead lane, which has the file open; the descriptor is duplicated. The path is
 * NUL-terminated. NULL: no place, memory or descriptor: the file is not split.
 */
struct wh_split *wh_splits_announce(struct wh_splits *splits, uint32_t lane, int fd,
	const struct stat *status, const char *path);

/*
 * The first one that another lane has announced after *seen, which is updated; NULL: none. It
 * remains until the lane leaves it.
 */
struct wh_split *wh_splits_next(struct wh_splits *splits, uint32_t lane, uint32_t *seen);

/*
 * Opens the file for reading: a descriptor of the caller's with flags of its own; or a negative
 * errno.
 */
int wh_split_open(const struct wh_split *split);

void wh_split_leave(struct wh_splits *splits, struct wh_split *split, uint32_t lane);

/* The lane's walk is over. */
void wh_splits_walked(struct wh_splits *splits, uint32_t lane);

/* The lane has ended: it leaves all present and future ones. */
void wh_splits_gone(struct wh_splits *splits, uint32_t lane);

/* Whether nothing new can be announced to the lane. */
bool wh_splits_are_over(const struct wh_splits *splits, uint32_t seen);
