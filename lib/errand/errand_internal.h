/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_ERRAND_INTERNAL_H
#define WH_ERRAND_INTERNAL_H

/* Private to the files of this room. */

#include <limits.h>
#include <sys/stat.h>

#include "bundle/pack.h"
#include "errand/errand.h"
#include "errand/inflow.h"

/* Of a folder's names, read at once. */
#define WH_ERRAND_PIECE_BYTES 8192

/* Of what is in a folder and in folders in it, itself counted. */
struct wh_errand_sums {
	uint64_t bytes;
	uint64_t used_bytes;
	uint64_t entries;
};

/* A step tells of what it has found, and that it cannot be entered. */
#define WH_ERRAND_TOLD 2

/* A folder on the way down. */
struct wh_level {
	int fd;
	bool is_read;        /* or cannot be */
	bool spoilt;         /* something in it could not be removed, or not be seen */
	uint16_t path_bytes; /* of its path below the given one; 0: it is that */
	struct wh_errand_sums sums;
	struct stat status;
	uint32_t at; /* in `piece` */
	uint32_t end;
	uint8_t piece[WH_ERRAND_PIECE_BYTES] __attribute__((aligned(16)));
};

struct wh_errand {
	struct wh_errand_config config;
	struct wh_errand_progress progress;
	struct wh_pack pack;
	struct wh_inflow inflow;
	struct wh_record heard;
	struct wh_tally tally;
	uint32_t given;   /* paths begun */
	uint32_t pending; /* of `told`, that wait for room, in their order */
	bool ordered;        /* with this token: one errand is one order */
	uint8_t token[WH_TOKEN_BYTES];
	bool ordering;       /* the desk has a question ... */
	bool waits_for_desk; /* ... or `heard` is one that it has no room for */
	bool tallied;
	bool ended; /* our stream has its end */
	struct wh_record told[WH_ERRAND_TOLD];
	int base_fd; /* REMOVE: where the given folder is, and its name there; -1 */
	char base_name[NAME_MAX + 1];
	uint32_t depth;
	struct wh_level *level[WH_ERRAND_DEPTH];
	char path[WH_PATH_BYTES_MAX + 1 + NAME_MAX + 2]; /* below the given one */
	char link[WH_PATH_BYTES_MAX + 1];
	char fault[WH_PATH_BYTES_MAX + 1];
};

/* errand.c: what is told, one of each in a step; no step is made while any waits for room. */
void wh_errand_tell_item(struct wh_errand *errand, const char *path, int folder_fd,
	const char *name, const struct stat *status, const struct wh_errand_sums *sums);

/* `path` below the given one, which is told, too; "": that one itself. `error` > 0. */
void wh_errand_tell_fault(
	struct wh_errand *errand, const char *path, int error, enum wh_doing doing);

/* The given path that was begun last. */
const char *wh_errand_given(const struct wh_errand *errand);

/* Whether a name may be made: errors as positive numbers, else 0. */
int wh_errand_judge_name(
	const struct wh_errand *errand, const char *name, size_t bytes, enum wh_doing *doing);

/*
 * The folder that holds the last name of a path below the root: a descriptor, and the name; or a
 * negative errno, -EBUSY where there is no such name.
 */
int wh_errand_open_parent(
	const struct wh_errand *errand, const char *path, int flags, char name[NAME_MAX + 1]);

/* descent.c: LIST, USAGE, REMOVE. Begins with the next given path; then one step of it. */
void wh_descent_begin(struct wh_errand *errand);
void wh_descent_step(struct wh_errand *errand);
void wh_descent_close(struct wh_errand *errand);

/* change.c: all that there is to do with the next given path, or the last two. */
void wh_errand_make(struct wh_errand *errand);
void wh_errand_move(struct wh_errand *errand);

#endif
