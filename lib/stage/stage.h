/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Holds files until they are complete and durable. They are in a folder ".wavehaul-X.part" in the
 * target folder, created on demand and locked (flock) while in use, with numbers as names. Complete
 * files are added to a batch. A sealed batch is synced by one syncfs, on a thread of its own, while
 * the next one is filled. Then its files are taken out and renamed one by one. On a file system in
 * memory nothing is synced.
 *
 * A file that may outlive its job is in the folder of parts (WH_PARTS_FOLDER) instead, and remains
 * there if the journal has a row for it.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "bundle/record.h"

/* A batch is full with this many files, bytes of paths, or bytes. */
#define WH_BATCH_FILES      8192
#define WH_BATCH_PATH_BYTES (UINT32_C(1) << 20)
#define WH_BATCH_BYTES      (UINT64_C(1) << 30)

/*
 * A batch is due after QUIET when nothing more arrives, and after AGE in any case: the source
 * stores what is not committed.
 */
#define WH_BATCH_QUIET_MS 200
#define WH_BATCH_AGE_MS   2000

/* Identifies a file between its completion and its renaming. */
struct wh_file_identity {
	uint64_t inode;
	uint64_t bytes;
	int64_t mtime_s;
	int64_t mtime_ns;
};

struct wh_staged {
	uint64_t id;
	uint64_t bytes;
	struct wh_file_identity identity; /* by wh_stage_identify */
	uint32_t number;
	uint16_t path_bytes;
	uint8_t kind;
	bool named;       /* was linked to its name already, and has no number */
	bool kept;        /* in the folder of parts */
	bool only_new;    /* must not replace anything */
	int64_t row;      /* in the journal, if kept; 0: none */
	uint64_t ranges;  /* whose notes have that hash, if kept (journal/range_notes.h); 0: none */
	int lock_fd;      /* if kept: keeps it locked until it is renamed or removed; -1: none */
	const char *path; /* as in the bundle */
};

/* Unlinking or closing a file from this size on may block a core for too long. */
#define WH_BACKGROUND_BYTES (UINT64_C(64) << 20)

struct wh_stage;

/*
 * Starts removing what dead processes left in the folder (stage/stale.h; parts older than
 * `parts_s`), and does nothing else yet. The descriptor is borrowed. 0 or -ENOMEM.
 */
int wh_stage_open(struct wh_stage **stage, int folder_fd, uint64_t hz, int64_t parts_s);

/*
 * Removes everything that was not renamed, and abandons a running sync: slow work is done in the
 * background (file/background.h), so it never blocks. NULL is allowed.
 */
void wh_stage_close(struct wh_stage *stage);

/* Removes the same; only wh_stage_close may follow. */
void wh_stage_abandon(struct wh_stage *stage);

/* Creates the staging folder if necessary. 0 or a negative errno. */
int wh_stage_prepare(struct wh_stage *stage);
bool wh_stage_exists(const struct wh_stage *stage);

/*
 * Creates a file, open for writing, with a number. A descriptor of the caller's, or a negative
 * errno. After wh_stage_prepare. Whatever its mode, nobody else can access the file before it is
 * renamed, because the folder is private.
 */
int wh_stage_create(struct wh_stage *stage, uint16_t mode, uint32_t *number);

/*
 * On a file system in memory, where no sync is needed, a complete file may get its name at once, if
 * it is free: created without a name, then linked. That saves a third of the cost. Whether it works
 * is known after wh_stage_prepare. wh_stage_name returns -EEXIST if the name is taken; then the
 * file may get a number, to be renamed like others.
 */
bool wh_stage_can_name(const struct wh_stage *stage);
int wh_stage_create_unnamed(const struct wh_stage *stage, uint16_t mode);
int wh_stage_name(int fd, int folder_fd, const char *name);
int wh_stage_number(struct wh_stage *stage, int fd, uint32_t *number);

/*
 * Creates a file in the folder of parts, which is created if missing. The file is locked as long as
 * any descriptor of it is open. -EPERM: another user has made that folder, and could exchange what
 * is in it.
 */
int wh_stage_create_kept(struct wh_stage *stage, uint32_t *number);

/* Moves a file to the folder of parts, under a new number; locked by fd. */
int wh_stage_keep(struct wh_stage *stage, int fd, uint32_t *number);

/*
 * The journal has a row for the part. Until this is called, the next search for what dead processes
 * left removes the part as soon as nobody has it locked. Blocks until it is on the disk; 0 or a
 * negative errno.
 */
int wh_stage_noted(int fd);

/* Opens the folder of parts, to take a part of an earlier job. */
int wh_stage_open_parts(struct wh_stage *stage);

/* Sets the link's identity. */
int wh_stage_create_link(struct wh_stage *stage, const char *text, struct wh_staged *link);

/*
 * Renames what has `name` in the folder, unless it is a folder, to `backup`, replacing what has
 * that name. 0, or a negative errno and nothing has changed.
 */
int wh_stage_back_up(struct wh_stage *stage, int folder_fd, const char *name, const char *backup);

/* Creates a hard link to an existing file of that status; sets link->number and identity. */
int wh_stage_create_hard(struct wh_stage *stage, int folder_fd, const char *name,
	const struct stat *status, struct wh_staged *link);

/* Opens a staged file again. -ESTALE: its inode is another one. */
int wh_stage_reopen(const struct wh_stage *stage, uint32_t number, bool kept, uint64_t inode);

/*
 * The folder that contains a file, once created. wh_stage_open_in reopens the file by a duplicate
 * of that folder's descriptor.
 */
int wh_stage_folder(const struct wh_stage *stage, bool kept);
int wh_stage_open_in(int folder_fd, uint32_t number, uint64_t inode);

/* Identity of a complete file with its attributes. 0 or a negative errno; -EIO: wrong size. */
int wh_stage_identify(int fd, uint64_t bytes, struct wh_file_identity *identity);

/*
 * Whether a file just created with that mode really has it: umask and inherited ACLs affect all
 * files alike. The file system is asked once per run of files of one mode.
 */
bool wh_stage_keeps_mode(struct wh_stage *stage, int fd, uint16_t mode);

void wh_stage_remove(const struct wh_stage *stage, uint32_t number);

/* Removes a file that nobody has open; a large one in the background. */
void wh_stage_discard(const struct wh_stage *stage, const struct wh_staged *file);

/* Whether one more file with any path fits now. */
bool wh_stage_has_room(const struct wh_stage *stage);

/* Adds it to the batch that is being filled; the path is copied. */
void wh_stage_add(struct wh_stage *stage, const struct wh_staged *file, uint64_t now_tsc);

/*
 * Seals the batch if it is due, or with `at_once` if it has a file; unless one is being committed.
 */
void wh_stage_seal(struct wh_stage *stage, uint64_t now_tsc, bool quiet, bool at_once);

/*
 * The next file of the sealed batch, once that is durable; NULL: none now. *error: 0, or the
 * negative errno of the sync, which failed for all of them. Valid until the next call; lock_fd is
 * the caller's now.
 */
const struct wh_staged *wh_stage_take(struct wh_stage *stage, int *error);

/* Whether a sealed batch is not completely taken out; whether no file is in a batch. */
bool wh_stage_is_committing(const struct wh_stage *stage);
bool wh_stage_is_empty(const struct wh_stage *stage);

/* The lowest id in batches; UINT64_MAX: none. */
uint64_t wh_stage_least_id(const struct wh_stage *stage);

/*
 * Renames it to its name in that folder. 0 or a negative errno; -ESTALE: the staged file was
 * replaced by another; -EEXIST: something has the name, and it must not be replaced.
 */
int wh_stage_rename(const struct wh_stage *stage, const struct wh_staged *file, int folder_fd,
	const char *name);

/*
 * Keeps a large file open that is about to be replaced or unlinked, and closes it in the
 * background, because that may block. -1: none; wh_stage_let_go accepts it.
 */
int wh_stage_hold(int folder_fd, const char *name, uint64_t bytes);
void wh_stage_let_go(int held_fd);

/*
 * One more sync, of names and folders, with all batches empty. -EINPROGRESS until it is finished,
 * then 0 or a negative errno: call it until then.
 */
int wh_stage_sync(struct wh_stage *stage);
