/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_JOURNAL_JOURNAL_H
#define WH_JOURNAL_JOURNAL_H

/*
 * What a receiver knows to be durable of files that are not whole: a row for each part that is
 * kept, and its spans. It never says more than the disk has, since it is told after a sync; and
 * what it says is believed only where the disk agrees: the part is there, by name and inode.
 *
 * A part is found by what it is to become, a path below a folder, and is of use while the source's
 * file is what it was. Who brought it is known for limits and lists, and no part of the key:
 * another sender may go on.
 *
 * Any thread but one that polls: every call may wait for a disk.
 */

#include <stdbool.h>
#include <stdint.h>

#define WH_JOURNAL_SPANS_MAX   64 /* of a part, as many as lanes */
#define WH_JOURNAL_OWNER_BYTES 32
#define WH_JOURNAL_PLACE_BYTES 4096

/* Of one peer; beyond them nothing more of his is kept. */
#define WH_JOURNAL_ROWS_PER_OWNER 10000

struct wh_journal;

struct wh_journal_config {
	const char *path;                  /* of the database */
	int64_t keep_s;                    /* parts that nothing was added to for so long go */
	int64_t (*wall_s)(void);           /* seconds of the calendar */
	void (*say)(const char *sentence); /* what an operator is to know, once */
};

/* What a part is to become: a path below a folder. */
struct wh_journal_target {
	uint64_t device;
	uint64_t folder; /* its inode */
	const char *path;
	uint16_t path_bytes;
};

/* The file that it is of, as its source tells. */
struct wh_journal_source {
	uint64_t size_bytes;
	int64_t mtime_s;
	uint32_t mtime_ns;
	uint32_t ctime_ns; /* this and what follows: all 0 where not told */
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

/* Who brings it, and how much of his may be kept. */
struct wh_journal_owner {
	uint8_t id[WH_JOURNAL_OWNER_BYTES];
	uint64_t bytes_max; /* of files in part, 0: any */
};

/*
 * 0 or a negative errno, after one sentence to `say`. The config's strings are copied, its
 * functions stay. Parts that are too old, and rows without a part, go at once.
 */
int wh_journal_open(struct wh_journal **journal, const struct wh_journal_config *config);
void wh_journal_close(struct wh_journal *journal); /* NULL is allowed */

enum wh_journal_found {
	WH_JOURNAL_NOTHING = 0,
	WH_JOURNAL_PART,
	WH_JOURNAL_CHANGED, /* a part is there, of a file that is not the source's any more */
};

/* A negative errno: it cannot be read, which was said. */
int wh_journal_find(struct wh_journal *journal, const struct wh_journal_target *target,
	const struct wh_journal_source *source, struct wh_journal_part *part);

/*
 * The part has these spans durably, besides those it had. Without a row it gets one: part->row,
 * which stays 0 if the owner has too much, or the target another part. A row whose owner has
 * too much goes, and part->row is 0. 0 or a negative errno; `place` is the folder, for lists.
 */
int wh_journal_note(struct wh_journal *journal, const struct wh_journal_target *target,
	const struct wh_journal_source *source, const struct wh_journal_owner *owner,
	const char *place, struct wh_journal_part *part);

/* What is in [from, end) is durable no more. */
int wh_journal_retract(struct wh_journal *journal, int64_t row, uint64_t from, uint64_t end);

/* The parts have their names, or are gone. */
int wh_journal_forget(struct wh_journal *journal, const int64_t *rows, uint32_t count);

/* A part that nothing was added to since then is of no use; INT64_MIN: without a journal. */
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

/* The first after row `after`, by number: 1: there is one, 0: none, or a negative errno. */
int wh_journal_next(struct wh_journal *journal, int64_t after, struct wh_journal_row *row);

/* How many parts there are, and what of them is durable. 0 or a negative errno. */
int wh_journal_sums(struct wh_journal *journal, uint64_t *parts, uint64_t *durable_bytes);

/* Removes a part and its row. -EBUSY: a job is at it. */
int wh_journal_remove(struct wh_journal *journal, const struct wh_journal_row *row);

/* Removes what is too old, and rows without a part; how many. */
int wh_journal_expire(struct wh_journal *journal);

#endif
