/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_BOOK_STORE_H
#define WH_BOOK_STORE_H

/*
 * The book: entries as rows of a database in the folder of --state. Lanes of a transfer are merged
 * into one row. It is limited in age and number of rows. Every call may wait for a disk.
 */

#include <stdbool.h>
#include <stdint.h>

#include "book/entry.h"

#define WH_BOOK_ROWS_MAX 1000000

/* Patience for locks of a process that serves other requests meanwhile. */
#define WH_BOOK_PATIENCE_MS 500

struct wh_book;

/*
 * Opens the database in that folder. 0 or a negative errno after one sentence. Without `writes` it
 * is only read, and -ENOENT is returned without a sentence.
 */
int wh_book_open(struct wh_book **book, const char *folder, bool writes);
void wh_book_close(struct wh_book *book); /* NULL is allowed */

/*
 * Opens it for writing, for a caller that tries repeatedly: does not wait long for other processes,
 * and prints nothing on failure.
 */
int wh_book_try(struct wh_book **book, const char *folder);

/*
 * If the file was removed or replaced, opens the file that now has the name; if there is none,
 * writes it anew with `saves`. 0: the book is usable.
 */
int wh_book_follow(struct wh_book **book, const char *folder, bool saves);

/* Adds all of them or none. 0 or a negative errno. */
int wh_book_add(struct wh_book *book, const struct wh_book_entry *entries, uint32_t count);

/* Deletes entries that ended before, and the oldest beyond rows_max. */
int wh_book_forget(struct wh_book *book, int64_t before_us, uint64_t rows_max);

/*
 * Entries that ended in [since, until), newest first, with an id smaller than `below`. 1: there is
 * one, 0: no more, or a negative errno.
 */
int wh_book_next(struct wh_book *book, int64_t since_us, int64_t until_us, int64_t below,
	struct wh_book_entry *entry);

#endif
