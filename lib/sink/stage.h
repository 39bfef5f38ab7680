/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_SINK_STAGE_H
#define WH_SINK_STAGE_H

/*
 * Where files are until they are whole and durable: a folder ".wavehaul-X.part" in the folder
 * that they are for, made when first needed, locked (flock) while in use. In it they have numbers
 * for names. Whole ones are added to a batch; a batch that is sealed is synced by one syncfs, on a
 * thread of its own, while the next one is filled; then its files are to be
 * taken out and renamed one by one. On a file system in memory there is nothing to sync.
 *
 * A file that may outlive its job is in the folder of parts (WH_PARTS_FOLDER) instead, and stays
 * there if the journal knows it.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "bundle/record.h"

/* A batch is full with so many files, bytes of paths, or bytes. */
#define WH_BATCH_FILES      8192
#define WH_BATCH_PATH_BYTES (UINT32_C(1) << 20)
#define WH_BATCH_BYTES      (UINT64_C(1) << 30)

/* It is due after so long when nothing more comes, and at last even if something does: the source
 * remembers what is not committed. */
#define WH_BATCH_QUIET_MS 200
#define WH_BATCH_AGE_MS   2000

/* What a file is recognised by, from when it was whole until it gets its name. */
struct wh_identity {
	uint64_t inode;
	uint64_t bytes;
	int64_t mtime_s;
	int64_t mtime_ns;
};

struct wh_staged {
	uint64_t id;
	uint64_t bytes;
	struct wh_identity identity; /* by wh_stage_identify */
	uint32_t number;
	uint16_t path_bytes;
	uint8_t kind;
	bool named;       /* has its name already, and no number */
	bool kept;        /* is in the folder of parts */
	int64_t row;      /* of the journal, of one that is kept; 0: none */
	const char *path; /* as in the bundle */
};

/* From so many bytes on the end of a file may take longer than a core can be spared. */
#define WH_ASIDE_BYTES (UINT64_C(64) << 20)

struct wh_stage;

/*
 * Has what dead processes left in the folder removed (sink/stale.h; parts that are older than
 * `parts_s`), and does nothing else yet. The descriptor is borrowed. 0 or -ENOMEM.
 */
int wh_stage_open(struct wh_stage **stage, int folder_fd, uint64_t hz, int64_t parts_s);

/*
 * Removes everything that was not renamed, and lets a sync under way go: neither waits, what
 * takes long is done aside (file/aside.h). NULL is allowed.
 */
void wh_stage_close(struct wh_stage *stage);

/* Removes as much; only wh_stage_close may follow. */
void wh_stage_abandon(struct wh_stage *stage);

/* Makes the staging folder unless it is there. 0 or a negative errno. */
int wh_stage_prepare(struct wh_stage *stage);
bool wh_stage_exists(const struct wh_stage *stage);

/*
 * A new file, open for writing, and its number; a link likewise; an open again. A descriptor of the
 * caller's (0 for a link), or a negative errno. After wh_stage_prepare. Whatever the mode, nobody
 * else gets at the file before it is renamed: the folder lets only us in.
 */
int wh_stage_create(struct wh_stage *stage, uint16_t mode, uint32_t *number);

/*
 * On a file system in memory, where no sync comes first, a whole file may get its name at once, if
 * nothing else has it: made without a name, then linked. That saves a third of a rename.
 * Whether that is possible here is known after wh_stage_prepare. wh_stage_name returns -EEXIST
 * where something has the name; then the file may get a number, to be renamed like others.
 */
bool wh_stage_can_name(const struct wh_stage *stage);
int wh_stage_create_unnamed(const struct wh_stage *stage, uint16_t mode);
int wh_stage_name(int fd, int folder_fd, const char *name);
int wh_stage_number(struct wh_stage *stage, int fd, uint32_t *number);

/*
 * The same in the folder of parts, which is made when it is missing; locked for as long as any
 * descriptor of it is open. -EAGAIN: this once no place was found.
 */
int wh_stage_create_kept(struct wh_stage *stage, uint32_t *number);

/* A file with a number becomes a part, with another number; locked likewise, by fd. */
int wh_stage_keep(struct wh_stage *stage, int fd, uint32_t *number);

/* One that is there from an earlier job may be taken out of the folder of parts. */
int wh_stage_open_parts(struct wh_stage *stage);

/* With the identity of the link. */
int wh_stage_create_link(struct wh_stage *stage, const char *text, struct wh_staged *link);

/*
 * What is in the folder under `name`, if it is no folder, gets another name there as well, in the
 * place of what has that. 0 or a negative errno, and nothing has changed.
 */
int wh_stage_back_up(struct wh_stage *stage, int folder_fd, const char *name, const char *backup);

/* Another name of a file that is there, of that many bytes; link->number and identity are set. */
int wh_stage_create_hard(struct wh_stage *stage, int folder_fd, const char *name,
	const struct stat *status, struct wh_staged *link);

/* -ESTALE: it is not the file of that inode any more. */
int wh_stage_reopen(const struct wh_stage *stage, uint32_t number, bool kept, uint64_t inode);

/* The folder that it is in, after it was made; and the same as wh_stage_reopen by a copy of it. */
int wh_stage_folder(const struct wh_stage *stage, bool kept);
int wh_stage_open_in(int folder_fd, uint32_t number, uint64_t inode);

/* Of a file that is whole, with its attributes. 0 or a negative errno; -EIO: not of that size. */
int wh_stage_identify(int fd, uint64_t bytes, struct wh_identity *identity);

/*
 * Whether a file just created with that mode has it: the umask and the ACL that a folder hands down
 * take away the same from all. The file system is asked once for a run of files of one mode.
 */
bool wh_stage_keeps_mode(struct wh_stage *stage, int fd, uint16_t mode);

void wh_stage_remove(const struct wh_stage *stage, uint32_t number);

/* The same of a file, which nobody has open: a large one goes aside. */
void wh_stage_discard(const struct wh_stage *stage, const struct wh_staged *file);

/* Whether one more file with any path can be added now. */
bool wh_stage_has_room(const struct wh_stage *stage);

/* Into the batch that is being filled; the path is copied. */
void wh_stage_add(struct wh_stage *stage, const struct wh_staged *file, uint64_t now_tsc);

/* Seals the batch if it is due, or, `at_once`, if it has a file, and none is being committed. */
void wh_stage_seal(struct wh_stage *stage, uint64_t now_tsc, bool quiet, bool at_once);

/*
 * The next file of the sealed batch, once that is durable; NULL: none now. *error: 0, or the
 * negative errno of the sync, which failed for all of them. Good until the next call.
 */
const struct wh_staged *wh_stage_take(struct wh_stage *stage, int *error);

/* Whether a sealed batch is not taken out yet; whether any file is in a batch. */
bool wh_stage_is_committing(const struct wh_stage *stage);
bool wh_stage_is_empty(const struct wh_stage *stage);

/* The least id in batches, UINT64_MAX without any. */
uint64_t wh_stage_least_id(const struct wh_stage *stage);

/*
 * Gives it its name in that folder. 0 or a negative errno; -ESTALE: what is in its place is not
 * what was written.
 */
int wh_stage_rename(const struct wh_stage *stage, const struct wh_staged *file, int folder_fd,
	const char *name);

/*
 * Holds a large file that is about to be replaced or removed by its name, and lets it go aside: or
 * its end would be waited for. -1: none; wh_stage_let_go takes it.
 */
int wh_stage_hold(int folder_fd, const char *name, uint64_t bytes);
void wh_stage_let_go(int held_fd);

/*
 * One more sync, of names and folders, with all batches empty. -EINPROGRESS until it is over, then
 * 0 or a negative errno: to be called until then.
 */
int wh_stage_sync(struct wh_stage *stage);

#endif
