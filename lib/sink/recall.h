/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_SINK_RECALL_H
#define WH_SINK_RECALL_H

/*
 * What is durable of files that are not whole, beyond the end of their job: the errands of a sink
 * to its journal (lib/journal), done aside. A part is in WH_PARTS_FOLDER below the target's folder,
 * locked (flock) while a job is at it.
 *
 * An errand is its sink's from begin to end or free, whichever comes; it need not wait for it.
 */

#include <stdbool.h>
#include <stdint.h>

#include "bundle/record.h"
#include "bundle/split.h"
#include "journal/journal.h"

/* The sink's, for as long as its errands: what is copied into each. */
struct wh_keeping {
	struct wh_journal *journal; /* NULL: nothing outlives its job */
	enum wh_resume resume;      /* OFF: likewise */
	struct wh_journal_owner owner;
	uint64_t batch_bytes; /* files beyond it are kept, and noted so often; 0: as preset */
};

#define WH_KEEP_BATCH_BYTES (UINT64_C(64) << 20)
#define WH_KEEP_BATCH_MS    1000

/* A part that is busy is asked for again, so often and for so long. */
#define WH_KEEP_BUSY_MS 20
#define WH_KEEP_WAIT_MS 500

/* Which file it is: below an open folder, and as its source tells. */
struct wh_keeping_file {
	int anchor_fd; /* borrowed by begin */
	struct wh_journal_target target;
	struct wh_journal_source source;
};

/* Of a lane's part of the file: what is there before an offset, and what proves it. */
struct wh_recalled_lane {
	uint64_t to; /* where the part begins: nothing is there */
	struct wh_digest digest;
};

struct wh_recalled {
	bool busy;    /* a job is at what is there, or the kernel at what a dead one left */
	bool changed; /* something was there, of another file than the source's */
	int fd;       /* the part's, locked, the caller's; -1: nothing is of use */
	struct wh_journal_part part;
	struct wh_recalled_lane lane[WH_SPLIT_LANES_MAX];
};

struct wh_recall;

/* What is there of a file that comes by so many lanes, in chunks. NULL: nobody can tell. */
struct wh_recall *wh_recall_begin(const struct wh_keeping *keeping,
	const struct wh_keeping_file *file, uint32_t lanes, uint32_t chunk_bytes);

/* -EINPROGRESS, or 0: it is over. *done: bytes read so far. */
int wh_recall_end(struct wh_recall *recall, struct wh_recalled *recalled, uint64_t *done);
void wh_recall_free(struct wh_recall *recall); /* NULL is allowed */

/* What a sink has its journal note: all of it may be absent. */
#define WH_NOTE_ROWS_MAX 64

struct wh_note {
	int fd; /* of the file that is to be synced first, borrowed by begin; -1: none */
	struct wh_journal_part part; /* that file's, with one span */
	int64_t retract_row;         /* 0: none */
	struct wh_journal_span retracted;
	uint32_t over; /* rows that are forgotten */
	int64_t row[WH_NOTE_ROWS_MAX];
};

struct wh_noting;

/* `file`: of note->part, if there is one; `place`: its folder's path. NULL: it cannot be done. */
struct wh_noting *wh_noting_begin(const struct wh_keeping *keeping,
	const struct wh_keeping_file *file, const char *place, const struct wh_note *note);

/* -EINPROGRESS; 0: all of it was done, and *row is the part's; or a negative errno. */
int wh_noting_end(struct wh_noting *noting, int64_t *row);
void wh_noting_free(struct wh_noting *noting); /* NULL is allowed */

#endif
