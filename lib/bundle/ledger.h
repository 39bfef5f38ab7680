/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Private to the source: entries that were sent and are not committed, by identifier, with what is
 * needed to report their outcome: path, size and state. Identifiers count from 0. There are two
 * rings, of entries and of their paths. They grow up to a limit; then the walk has to wait for the
 * sink.
 */

#include <stdbool.h>
#include <stdint.h>

#include "bundle/record.h"

/* A sink commits after 8192 files at the latest: room for some outstanding batches. */
#define WH_LEDGER_ENTRIES_MIN UINT32_C(256)
#define WH_LEDGER_ENTRIES_MAX (UINT32_C(1) << 17)
#define WH_LEDGER_PATHS_MAX   (UINT32_C(1) << 24)

#define WH_LEDGER_NO_ASKED UINT16_MAX

struct wh_ledger_entry {
	uint64_t path_at;
	uint64_t size_bytes;
	uint16_t path_bytes;
	uint16_t asked;   /* index of the asked file, until its last record was sent */
	uint8_t kind;     /* enum wh_entry_kind */
	bool is_same;     /* the sink has the same bytes */
	bool is_compared; /* all of it was read, not only digests of its blocks */
	bool has_outcome; /* from the sink */
	bool is_told;     /* reported to the caller */
	bool goes;        /* to be removed at its origin, identified as follows */
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
	uint64_t path_next; /* positions increase for ever; places are modulo the size */
};

/* 0 or -ENOMEM. `entries_max` is a power of two from WH_LEDGER_ENTRIES_MIN on. */
int wh_ledger_init(struct wh_ledger *ledger, uint32_t entries_max);
void wh_ledger_free(struct wh_ledger *ledger);

/* Grows if necessary. 0: room for one more; -ENOBUFS: only after others were dropped; -ENOMEM. */
int wh_ledger_reserve(struct wh_ledger *ledger, uint16_t path_bytes);

/* After a reserve; the identifier is the previous ledger->next. */
struct wh_ledger_entry *wh_ledger_add(
	struct wh_ledger *ledger, const char *path, uint16_t path_bytes);

/* NULL: dropped already, or not added yet. */
struct wh_ledger_entry *wh_ledger_find(struct wh_ledger *ledger, uint64_t id);

/* NUL-terminated; valid until the next call that grows or removes. */
const char *wh_ledger_path(const struct wh_ledger *ledger, const struct wh_ledger_entry *entry);

void wh_ledger_drop_first(struct wh_ledger *ledger);
