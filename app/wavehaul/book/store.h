/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_BOOK_STORE_H
#define WH_BOOK_STORE_H

/*
 * The book: entries as rows of the database of --state. Lanes of a transfer become one row. It is
 * bounded in age and in number. Every call may wait for a disk.
 */

#include <stdbool.h>
#include <stdint.h>

#include "book/entry.h"

#define WH_BOOK_ROWS_MAX 1000000

/* Of who has others to answer meanwhile. */
#define WH_BOOK_PATIENCE_MS 500

struct wh_book;

/*
 * The database in that folder. 0 or a negative errno after one sentence; `writes`: else it is only
 * read, and -ENOENT is no sentence's worth.
 */
int wh_book_open(struct wh_book **book, const char *folder, bool writes);
void wh_book_close(struct wh_book *book); /* NULL is allowed */

/* To write, for who asks again: it waits for no other process long, and says no failure. */
int wh_book_try(struct wh_book **book, const char *folder);

/*
 * Once its file is not where it was (somebody has removed it, or another has taken its place): it
 * is the one that has the name by now, which is written again, if `saves`, where there is none.
 * 0: all is well.
 */
int wh_book_follow(struct wh_book **book, const char *folder, bool saves);

/* All of them or none. 0 or a negative errno. */
int wh_book_add(struct wh_book *book, const struct wh_book_entry *entries, uint32_t count);

/* Those that ended before, and the oldest beyond so many, go. */
int wh_book_forget(struct wh_book *book, int64_t before_us, uint64_t rows_max);

/*
 * Entries that ended in [since, until), the newest first: those with a smaller id than `below`.
 * 1: there is one, 0: there are no more, or a negative errno.
 */
int wh_book_next(struct wh_book *book, int64_t since_us, int64_t until_us, int64_t below,
	struct wh_book_entry *entry);

#endif
