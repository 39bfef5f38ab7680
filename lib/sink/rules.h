/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_SINK_RULES_H
#define WH_SINK_RULES_H

/*
 * What a bundle may bring, beyond what is true of all: set-user-ID and set-group-ID are dropped, no
 * device, pipe or socket is made, nothing leaves the target, and no link is followed below it.
 *
 * Entries that a rule forbids fail one by one; more of them, or more bytes, than there may be end
 * the bundle.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "bundle/folded.h"
#include "bundle/owners.h"
#include "bundle/record.h"

/* Names that differ by case alone. */
enum wh_case_clash {
	WH_CASE_BY_TARGET = 0, /* refused where the file system makes no difference */
	WH_CASE_REFUSE,        /* the second one fails */
	WH_CASE_ALLOW,
	WH_CASES,
};

/* 0: as many as there are. */
struct wh_rules {
	uint64_t entries_max; /* files, folders and links of all lanes */
	uint64_t bytes_max;   /* of its files, as announced */
	uint32_t depth_max;   /* folders below the target on the way to a name */
	bool plain_names;     /* names and links' texts without control characters */
	uint32_t keeps;       /* enum wh_wish: what of files' other attributes is */
	bool links_inside;    /* links lead to what is below the target, or fail */
	enum wh_case_clash case_clash;
	struct wh_owners owners; /* whose files become that keep an owner */
};

/* Of all lanes of a job. */
struct wh_rules_used {
	_Atomic uint64_t entries;
	_Atomic uint64_t bytes;
	struct wh_folded folded; /* with WH_CASE_REFUSE */
};

enum wh_ruling {
	WH_RULING_TAKEN,
	WH_RULING_FAILED, /* this entry */
	WH_RULING_BROKEN, /* the bundle */
};

/* Zeros are one that nothing was used of. */
void wh_rules_used_free(struct wh_rules_used *used);

/* `path` is the entry's below the target. *doing says which rule it is, unless it is taken. */
enum wh_ruling wh_rules_judge(const struct wh_rules *rules, struct wh_rules_used *used,
	const struct wh_entry *entry, enum wh_doing *doing);

/* Of a file whose size nobody knew: so many bytes more. */
bool wh_rules_let(const struct wh_rules *rules, struct wh_rules_used *used, uint64_t bytes);

#endif
