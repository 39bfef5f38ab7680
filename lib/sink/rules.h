/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * What a bundle may contain, beyond the general rules: set-user-ID and set-group-ID are dropped; no
 * device, pipe or socket is created; nothing leaves the target; no link is followed below it.
 *
 * An entry that violates a rule fails alone. Exceeding the number of entries or bytes ends the
 * bundle.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "bundle/names.h"
#include "bundle/owners.h"
#include "bundle/record.h"

/* What is done about names that differ by case alone. */
enum wh_case_clash {
	WH_CASE_BY_TARGET = 0, /* refused if the file system ignores case */
	WH_CASE_REFUSE,        /* the second one fails; see bundle/names.h */
	WH_CASE_ALLOW,
	WH_CASES,
};

/* 0: unlimited. */
struct wh_rules {
	uint64_t entries_max; /* files, folders and links of all lanes */
	uint64_t bytes_max;   /* total size of files, as announced */
	uint32_t depth_max;   /* most folders between the target and a name */
	bool plain_names;     /* names and link texts must not contain control characters */
	uint32_t keeps;       /* enum wh_wish: which other attributes of files are kept */
	bool links_inside;    /* links must lead below the target */
	enum wh_case_clash case_clash;
	struct wh_owners owners; /* mapping of owners that are kept */
};

/* What all lanes of a job have used. */
struct wh_rules_used {
	_Atomic uint64_t entries;
	_Atomic uint64_t bytes;
	struct wh_names names; /* names that the job has given at the target */
	/* Names that exist in folders there that ignore case and were listed (sink_spelling.c). */
	struct wh_names there;
	_Atomic uint32_t listed_again;
	_Atomic bool forgets_names; /* there is no memory for all names of the folders listed */
};

enum wh_ruling {
	WH_RULING_TAKEN,
	WH_RULING_FAILED, /* this entry */
	WH_RULING_BROKEN, /* the bundle */
};

/*
 * `used` is all zeros at the start. `path` is relative to the target. *doing is the rule, unless
 * the entry is accepted.
 */
enum wh_ruling wh_rules_judge(const struct wh_rules *rules, struct wh_rules_used *used,
	const struct wh_entry *entry, enum wh_doing *doing);

/* For a file of unknown size: whether `bytes` more are allowed. */
bool wh_rules_let(const struct wh_rules *rules, struct wh_rules_used *used, uint64_t bytes);
