/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Private to the files of this room. Calls go one way: rpc.c takes a step, for which it calls
 * change.c (MAKE, MOVE) or descent.c (LIST, USAGE, REMOVE). descent.c calls match.c, and all of
 * them call level.c and rpc_tell.c.
 */

#include <limits.h>
#include <sys/stat.h>

#include "bundle/record_pack.h"
#include "rpc/inflow.h"
#include "rpc/rpc.h"

/* Bytes of a folder's names read at once. */
#define WH_RPC_PIECE_BYTES 8192

/* Of a folder and everything in it. */
struct wh_rpc_sums {
	uint64_t bytes;
	uint64_t used_bytes;
	uint64_t entries;
};

/* A step may report an item, and that it cannot be entered. */
#define WH_RPC_TOLD 2

/* Most folders on the path to a name: each has one of a byte at least, and a slash. */
#define WH_RPC_DEPTH_MAX (WH_PATH_BYTES_MAX / 2 + 2)

/* A folder on the path to the current name. */
struct wh_level {
	int fd;        /* -1: not open, since WH_RPC_OPEN deeper ones are */
	bool is_read;  /* all names are read, or reading failed */
	bool is_again; /* opened again, and not read since */
	bool spoilt;   /* something in it could not be removed, or not be read */
	const char
		*pattern; /* the rest of a given path, of which its names are matched; NULL: all */
	uint16_t path_bytes; /* of its path relative to the given one; 0: that itself */
	struct wh_rpc_sums sums;
	struct stat status;
	int64_t offset;  /* in the folder, behind the current name */
	uint64_t passed; /* names up to there that still exist */
	uint64_t skip;   /* names to be read again and skipped */
	uint32_t at;     /* in `piece` */
	uint32_t end;
	uint8_t *piece; /* of WH_RPC_PIECE_BYTES, while it is open */
};

struct wh_rpc {
	struct wh_rpc_config config;
	struct wh_rpc_progress progress;
	struct wh_pack pack;
	struct wh_inflow inflow;
	struct wh_record heard;
	struct wh_tally tally;
	uint32_t given;   /* number of given paths begun */
	uint32_t pending; /* records in `told` that wait for room, in order */
	bool ordered; /* with this token: all questions of a remote operation are about one order */
	uint8_t token[WH_TOKEN_BYTES];
	bool ordering;          /* the mailbox has a question */
	bool waits_for_mailbox; /* the mailbox had no room for the question in `heard` */
	bool tallied;
	bool ended; /* our stream has ended */
	struct wh_record told[WH_RPC_TOLD];
	bool is_pattern; /* the given path has wildcards */
	bool matched;    /* something matched it */
	int base_fd; /* REMOVE: the folder that contains the given one, and its name there; -1 */
	char base_name[NAME_MAX + 1];
	uint32_t depth;
	struct wh_level *level[WH_RPC_DEPTH_MAX];
	char path[WH_PATH_BYTES_MAX + 1 + NAME_MAX + 2]; /* relative to the given path */
	char link[WH_PATH_BYTES_MAX + 1];
	char fault[WH_PATH_BYTES_MAX + 1];
};

/* How a folder is opened to read its names. */
#define WH_FOLDER_FLAGS (O_RDONLY | O_DIRECTORY | O_CLOEXEC)

/* rpc_tell.c: a record to be filled in, which will be sent. */
struct wh_record *wh_rpc_begin(struct wh_rpc *rpc, enum wh_record_type type);

/* Reports, at most one of each per step; no step is made while any waits for room. */
void wh_rpc_tell_item(struct wh_rpc *rpc, const char *path, int folder_fd, const char *name,
	const struct stat *status, const struct wh_rpc_sums *sums);

/* `path` is relative to the given one, which is included; "": that itself. `error` > 0. */
void wh_rpc_tell_fault(struct wh_rpc *rpc, const char *path, int error, enum wh_doing doing);

/* The current given path. */
const char *wh_rpc_given(const struct wh_rpc *rpc);

/* Whether a name may be created: 0 or a positive errno. */
int wh_rpc_judge_name(
	const struct wh_rpc *rpc, const char *name, size_t bytes, enum wh_doing *doing);

/*
 * Opens the folder that contains the last name of a path below the root: a descriptor, and the
 * name; or a negative errno, -EBUSY if the path has no last name.
 */
int wh_rpc_open_parent(
	const struct wh_rpc *rpc, const char *path, int flags, char name[NAME_MAX + 1]);

/* level.c: the deepest folder entered. */
struct wh_level *wh_level_top(struct wh_rpc *rpc);

/* Takes over the first folder. errno is valid if fd < 0. */
void wh_descent_enter_given(struct wh_rpc *rpc, int fd, const char *pattern);

/* Enters a folder in the present one, of which all names are meant, or the matching. */
void wh_descent_enter(struct wh_rpc *rpc, const char *name, const char *pattern);

/* Lists, counts or removes a name. */
void wh_descent_take(struct wh_rpc *rpc, const char *name, const struct stat *status);

/* The current path failed, and so what is above it is not done completely. */
void wh_descent_spoil(struct wh_rpc *rpc, int error, enum wh_doing doing);

bool wh_rpc_removes(const struct wh_rpc *rpc);

/* match.c: a given path that does not exist, with wildcards. Enters the folder before the first. */
void wh_rpc_match_begin(struct wh_rpc *rpc);

/* Deals with a name of a folder in which names are matched. */
void wh_rpc_match_name(struct wh_rpc *rpc, const char *name, const struct stat *status);

/* Leaves such a folder: if it was the first, and nothing matched, that is a FAULT. */
void wh_rpc_match_end(struct wh_rpc *rpc);

/* descent.c: LIST, USAGE, REMOVE. Begins with the next given path; makes one step. */
void wh_descent_begin(struct wh_rpc *rpc);
void wh_descent_step(struct wh_rpc *rpc);
void wh_descent_close(struct wh_rpc *rpc);

/* change.c: everything for the next given path, or the last two. */
void wh_rpc_make(struct wh_rpc *rpc);
void wh_rpc_move(struct wh_rpc *rpc);
