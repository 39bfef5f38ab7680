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

#include "bundle/record.h"

/* 0: as many as there are. */
struct wh_rules {
	uint64_t entries_max; /* files, folders and links of all lanes */
	uint64_t bytes_max;   /* of its files, as announced */
	uint32_t depth_max;   /* folders below the target on the way to a name */
	bool plain_names;     /* names and links' texts without control characters */
	uint32_t keeps;       /* enum wh_wish: what of files' other attributes is */
	bool links_inside;    /* links lead to what is below the target, or fail */
};

/* Of all lanes of a job. */
struct wh_rules_used {
	_Atomic uint64_t entries;
	_Atomic uint64_t bytes;
};

enum wh_ruling {
	WH_RULING_TAKEN,
	WH_RULING_FAILED, /* this entry */
	WH_RULING_BROKEN, /* the bundle */
};

/* `path` is the entry's below the target. *doing says which rule it is, unless it is taken. */
enum wh_ruling wh_rules_judge(const struct wh_rules *rules, struct wh_rules_used *used,
	const struct wh_entry *entry, enum wh_doing *doing);

/* Of a file whose size nobody knew: so many bytes more. */
bool wh_rules_let(const struct wh_rules *rules, struct wh_rules_used *used, uint64_t bytes);

#endif
