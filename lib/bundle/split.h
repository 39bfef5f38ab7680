/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_BUNDLE_SPLIT_H
#define WH_BUNDLE_SPLIT_H

/*
 * Large files that go by all lanes of a transfer, each lane a part: what the lanes' sources know of
 * them together. The lane that finds such a file is its head. It announces the file here with an
 * open descriptor, and each of the others takes it from here, so that all send parts of one and the
 * same file; how it is found, and what is said of it, is the head's affair alone.
 *
 * A source is done when no lane may announce any more, so none is missed.
 *
 * Any core: a lock is held for a moment, while a descriptor is copied or closed at the longest.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/spin.h"

#define WH_SPLIT_LANES_MAX 64

/* At once in a transfer. A file beyond them goes by one lane. */
#define WH_SPLITS_MAX 64

/* Files with so many bytes for each lane are split. */
#define WH_SPLIT_BYTES_MIN (UINT64_C(16) << 20)

/* Parts begin at multiples of this, as chunks and blocks do. */
#define WH_SPLIT_ALIGN_BYTES (UINT64_C(1) << 20)

struct wh_part {
	uint64_t from;
	uint64_t end;
};

/* Whether each of so many lanes has a part of such a file. */
bool wh_part_is_possible(uint64_t size_bytes, uint32_t lanes);

/* Then: this lane's. */
struct wh_part wh_part_of(uint64_t size_bytes, uint32_t lanes, uint32_t lane);

struct wh_split {
	uint32_t number; /* of the transfer; 0: the place is free */
	uint32_t head;
	uint64_t left; /* a bit for each lane that has no more to do with it */
	int fd;
	struct stat status;
	char *path; /* in the bundle */
	uint16_t path_bytes;
};

struct wh_splits {
	struct wh_spin lock;
	uint32_t lanes;
	_Atomic uint32_t last;   /* number announced; 0: none */
	_Atomic uint64_t walked; /* a bit for each lane that announces no more */
	uint64_t gone;           /* likewise, that will not take any, either */
	struct wh_split place[WH_SPLITS_MAX];
};

void wh_splits_init(struct wh_splits *splits, uint32_t lanes);
void wh_splits_free(struct wh_splits *splits); /* no lane uses it any more */

/*
 * By the head, which has the file open; the descriptor is copied. The path is closed by NUL. NULL:
 * no place, memory or descriptor: it goes unsplit.
 */
struct wh_split *wh_splits_announce(struct wh_splits *splits, uint32_t lane, int fd,
	const struct stat *status, const char *path);

/*
 * The first that others have announced after *seen, which follows; NULL: none. It stays until the
 * lane leaves it.
 */
struct wh_split *wh_splits_next(struct wh_splits *splits, uint32_t lane, uint32_t *seen);

/* A descriptor of the caller's with flags of its own, for reading; or a negative errno. */
int wh_split_open(const struct wh_split *split);

void wh_split_leave(struct wh_splits *splits, struct wh_split *split, uint32_t lane);

/* The lane's walk is over. */
void wh_splits_walked(struct wh_splits *splits, uint32_t lane);

/* The lane has ended: it leaves all, and those to come. */
void wh_splits_gone(struct wh_splits *splits, uint32_t lane);

/* Whether nothing will come that the lane has not seen. */
bool wh_splits_are_over(const struct wh_splits *splits, uint32_t seen);

#endif
