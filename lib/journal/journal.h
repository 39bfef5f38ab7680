/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * What a receiver knows to be durable of incomplete files: a row for each part that is kept, and
 * its spans. A row never claims more than is on disk, since it is written after a sync. It is only
 * trusted if the part exists, by name and inode.
 *
 * A part is identified by its target, a path below a folder, and by the peer that sent it. Another
 * peer never continues it: a sender chooses what is in its part, and only what the same peer sends
 * later may rest on that. A part is usable while the source's file is unchanged.
 *
 * Any thread but a polling one, since every call may block on a disk; wh_journal_holds() may be
 * called by all.
 */

#include <stdbool.h>
#include <stdint.h>

#include "journal/holds.h"

#define WH_JOURNAL_SPANS_MAX   64 /* per part, as many as lanes */
#define WH_JOURNAL_OWNER_BYTES 32
#define WH_JOURNAL_PLACE_BYTES 4096

/* Limit per peer, beyond which nothing more is kept for it. */
#define WH_JOURNAL_ROWS_PER_OWNER 10000

struct wh_journal;

struct wh_journal_config {
	const char *path;                  /* of the database */
	int64_t keep_s;                    /* unchanged parts are removed after this time */
	int64_t (*wall_s)(void);           /* current time in seconds */
	void (*say)(const char *sentence); /* reports a sentence to the operator, once */
};

/* The target of a part: a path below a folder. */
struct wh_journal_target {
	uint64_t device;
	uint64_t folder; /* its inode */
	const char *path;
	uint16_t path_bytes;
};

/* Identifies the version of the source's file. */
struct wh_journal_source {
	uint64_t size_bytes;
	int64_t mtime_s;
	uint32_t mtime_ns;
	uint32_t ctime_ns; /* this and the following: all 0 if unknown */
	uint64_t inode;
	int64_t ctime_s;
};

struct wh_journal_span {
	uint64_t from;
	uint64_t end;
};

struct wh_journal_part {
	int64_t row;     /* 0: none */
	uint32_t number; /* its name in the folder of parts */
	uint64_t inode;
	uint32_t spans;
	struct wh_journal_span span[WH_JOURNAL_SPANS_MAX]; /* ascending, apart */
};

/* The sender of a part, and its limit. */
struct wh_journal_owner {
	uint8_t id[WH_JOURNAL_OWNER_BYTES];
	uint64_t bytes_max; /* total size of its incomplete files, 0: unlimited */
};

/*
 * 0 or a negative errno, after one sentence to `say`. The config's strings are copied, its
 * functions must remain. Removes expired parts, and rows without a part.
 */
int wh_journal_open(struct wh_journal **journal, const struct wh_journal_config *config);
void wh_journal_close(struct wh_journal *journal); /* NULL is allowed */

/* The parts that jobs of this process use. */
struct wh_holds *wh_journal_holds(struct wh_journal *journal);

enum wh_journal_found {
	WH_JOURNAL_NOTHING = 0,
	WH_JOURNAL_PART,
	WH_JOURNAL_CHANGED, /* a part of another version of the source's file exists */
};

/* A negative errno: it cannot be read, which was reported. */
int wh_journal_find(struct wh_journal *journal, const struct wh_journal_target *target,
	const struct wh_journal_owner *owner, const struct wh_journal_source *source,
	struct wh_journal_part *part);

/*
 * Notes that the part has these spans durably, in addition to earlier ones. A part without a row
 * gets one: part->row, which stays 0 if the owner exceeds its limit, or has another part for this
 * target. If an existing row exceeds the limit it is removed, and part->row set to 0. 0 or a
 * negative errno; `place` is the folder, for lists.
 */
int wh_journal_note(struct wh_journal *journal, const struct wh_journal_target *target,
	const struct wh_journal_source *source, const struct wh_journal_owner *owner,
	const char *place, struct wh_journal_part *part);

/* [from, end) is not durable any more. */
int wh_journal_retract(struct wh_journal *journal, int64_t row, uint64_t from, uint64_t end);

/* The parts have been renamed, or are gone. */
int wh_journal_forget(struct wh_journal *journal, const int64_t *rows, uint32_t count);

/* Parts unchanged since this time are expired; INT64_MIN: no journal. */
int64_t wh_journal_since_s(const struct wh_journal *journal);

struct wh_journal_row {
	int64_t row;
	uint8_t owner[WH_JOURNAL_OWNER_BYTES];
	char place[WH_JOURNAL_PLACE_BYTES];
	char path[WH_JOURNAL_PLACE_BYTES]; /* below it */
	uint64_t size_bytes;
	uint64_t durable_bytes;
	int64_t touched_s;
	uint64_t device;
	uint64_t folder;
	uint32_t number;
	uint64_t inode;
};

/* The next row after `after`, by number: 1, 0: none, or a negative errno. */
int wh_journal_next(struct wh_journal *journal, int64_t after, struct wh_journal_row *row);

/* Number of parts, and their durable bytes. 0 or a negative errno. */
int wh_journal_sums(struct wh_journal *journal, uint64_t *parts, uint64_t *durable_bytes);

/* Removes a part and its row. -EBUSY: a job uses it. */
int wh_journal_remove(struct wh_journal *journal, const struct wh_journal_row *row);

/* Removes expired parts, and rows without a part; returns how many. */
int wh_journal_expire(struct wh_journal *journal);
