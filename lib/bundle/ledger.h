/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_BUNDLE_LEDGER_H
#define WH_BUNDLE_LEDGER_H

/*
 * Private to the source: the entries that went out and are not committed yet, by identifier,
 * with what is needed to tell their fate: path, size and state. Identifiers count from 0. Two
 * rings, of entries and of their paths, which grow up to a bound; then the walk has to wait for
 * the sink.
 */

#include <stdbool.h>
#include <stdint.h>

#include "bundle/record.h"

/* A sink commits after 8192 files at the latest: room for some batches under way. */
#define WH_LEDGER_ENTRIES_MIN UINT32_C(256)
#define WH_LEDGER_ENTRIES_MAX (UINT32_C(1) << 17)
#define WH_LEDGER_PATHS_MAX   (UINT32_C(1) << 24)

#define WH_LEDGER_NO_ASKED UINT16_MAX

struct wh_ledger_entry {
	uint64_t path_at;
	uint64_t size_bytes;
	uint16_t path_bytes;
	uint16_t asked;   /* place among the files asked for, until its last record is out */
	uint8_t kind;     /* enum wh_entry_kind */
	bool is_same;     /* the sink has the same bytes */
	bool is_compared; /* all of it was read, beside digests of its blocks */
	bool has_outcome; /* from the sink */
	bool is_told;     /* to the caller */
	bool goes;        /* it is to be removed where it came from: */
	uint32_t given;
	uint32_t mtime_ns;
	int64_t mtime_s;
	uint64_t inode;
};

struct wh_ledger {
	struct wh_ledger_entry *entries;
	char *paths;
	uint32_t entry_room;
	uint32_t entries_max;
	uint32_t path_room; /* bytes */
	uint64_t first;     /* identifier of the oldest */
	uint64_t next;
	uint64_t path_next; /* position: both rings count on, places are modulo their room */
};

/* 0 or -ENOMEM. `entries_max` is a power of two from WH_LEDGER_ENTRIES_MIN on. */
int wh_ledger_init(struct wh_ledger *ledger, uint32_t entries_max);
void wh_ledger_free(struct wh_ledger *ledger);

/* Grows if need be. 0: there is room for one more; -ENOBUFS: not before others go; -ENOMEM. */
int wh_ledger_reserve(struct wh_ledger *ledger, uint16_t path_bytes);

/* After a reserve; the identifier is ledger->next as it was. */
struct wh_ledger_entry *wh_ledger_add(
	struct wh_ledger *ledger, const char *path, uint16_t path_bytes);

/* NULL: not there any more, or not yet. */
struct wh_ledger_entry *wh_ledger_find(struct wh_ledger *ledger, uint64_t id);

/* Closed by a NUL; good until the next call that grows or removes. */
const char *wh_ledger_path(const struct wh_ledger *ledger, const struct wh_ledger_entry *entry);

void wh_ledger_drop_first(struct wh_ledger *ledger);

#endif
