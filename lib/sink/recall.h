/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Keeps data of incomplete files beyond the end of their job: requests of a sink to its journal
 * (lib/journal), each run on a background thread (file/background.h). A kept file, called a part,
 * is in WH_PARTS_FOLDER below the target's folder, locked (flock) while a job uses it.
 *
 * Why a job may rely on a part, and need not read it again:
 *
 *   the peer   The part is found only for the peer that sent it: for its key, or without sealing
 *              for its address. So no peer decides what another one's file contains.
 *   the file   Size, mtime, inode and change time of the source's file are as they were: the same
 *              bytes would be sent again. WH_RESUME_FULL does without the last two, since both
 *              ends read everything.
 *   the bytes  What is noted agreed with the source's digest when it arrived (WH_RECORD_EXTENT),
 *              and was synced before it was noted. A digest of what the present job sends covers
 *              the rest. Samples (WH_RESUME_SPARSE) prove nothing beyond that: they notice a disk
 *              that was exchanged or went back in time.
 *   the disk   The row names the part by number and inode. Its folder is private and hidden from
 *              peers, and the lock keeps other jobs away; the row is read under that lock.
 *              Somebody who can write there all the same may write to finished files as well.
 *
 * A request belongs to its sink from begin to end or free, whichever comes first.
 */

#include <stdbool.h>
#include <stdint.h>

#include "bundle/record.h"
#include "bundle/split.h"
#include "journal/journal.h"

/* Owned by the sink and valid as long as its requests; copied into each. */
struct wh_keeping {
	struct wh_journal *journal; /* NULL: nothing is kept */
	enum wh_resume resume;      /* OFF: nothing is kept */
	struct wh_journal_owner owner;
	uint64_t batch_bytes; /* larger files are kept, and noted this often; 0: default */
};

#define WH_KEEP_BATCH_BYTES (UINT64_C(64) << 20)
#define WH_KEEP_BATCH_MS    1000

/*
 * A part that is in use is looked for again every BUSY_MS. If a job of this process has it, until
 * that job lets it go (journal/holds.h). Otherwise at most for WAIT_MS: another process may have
 * it, and need not let go.
 */
#define WH_KEEP_BUSY_MS 20
#define WH_KEEP_WAIT_MS 5000

/* Identifies a file: below an open folder, and at its source. */
struct wh_keeping_file {
	int anchor_fd; /* borrowed by begin */
	struct wh_journal_target target;
	struct wh_journal_source source;
	/* Not "": jobs with this word bring its ranges (journal/shared_part.h), here: `range`. */
	char join[WH_JOIN_BYTES_MAX + 1];
	struct wh_segment range;
};

/* Data of a lane's segment of the file up to an offset, and a digest that proves them. */
struct wh_recalled_lane {
	uint64_t to; /* equals the lane's beginning: no data */
	struct wh_digest digest;
	uint64_t seed; /* drawn for `digest`; 0: there is none */
};

struct wh_recalled {
	bool busy;       /* a job uses it (as part.row), or the kernel cleans up after a dead one */
	bool changed;    /* data of another version of the file was found */
	int fd;          /* the locked part, the caller's; -1: nothing usable */
	int error;       /* of a shared part, if there is none: a negative errno */
	uint64_t ranges; /* of a shared part: the hash of its notes */
	struct wh_journal_part part;
	struct wh_recalled_lane lane[WH_SPLIT_LANES_MAX];
};

struct wh_recall;

/*
 * Looks for data of a file that arrives in that many lanes, in chunks of that size. NULL:
 * impossible.
 */
struct wh_recall *wh_recall_begin(const struct wh_keeping *keeping,
	const struct wh_keeping_file *file, uint32_t lanes, uint32_t chunk_bytes);

/* -EINPROGRESS, or 0: finished. *done: bytes read so far. */
int wh_recall_end(struct wh_recall *recall, struct wh_recalled *recalled, uint64_t *done);
void wh_recall_free(struct wh_recall *recall); /* NULL is allowed */

/* What a sink writes into its journal; each item is optional. */
#define WH_NOTE_ROWS_MAX 64

struct wh_note {
	int fd;                      /* the file to be synced first, borrowed by begin; -1: none */
	int lock_fd;                 /* by which a shared part is locked, borrowed by begin; -1 */
	bool anew;                   /* what was noted of a shared part does not count */
	struct wh_journal_part part; /* of that file, with one span */
	int64_t retract_row;         /* 0: none */
	struct wh_journal_span retracted;
	uint32_t over; /* number of rows to forget, of files with names in this file system */
	int names_fd;  /* ... which is synced first; borrowed by begin */
	int64_t row[WH_NOTE_ROWS_MAX];
};

struct wh_noting;

/* `file`: the file of note->part, if any; `place`: its folder's path. NULL: impossible. */
struct wh_noting *wh_noting_begin(const struct wh_keeping *keeping,
	const struct wh_keeping_file *file, const char *place, const struct wh_note *note);

struct wh_noted {
	int64_t row;   /* the part's */
	bool is_whole; /* a shared part with all its ranges, which this job has for itself now */
};

/* -EINPROGRESS; 0: everything was done; or a negative errno. */
int wh_noting_end(struct wh_noting *noting, struct wh_noted *noted);
void wh_noting_free(struct wh_noting *noting); /* NULL is allowed */
