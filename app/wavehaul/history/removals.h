/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Files that peers have removed here by --delete, on their way to the audit: workers' cores add
 * them, and the control's thread takes them.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/spin.h"
#include "seal/sa.h"
#include "wire/encap.h"

struct wh_job;

/* The most that may wait. Further ones, and those that find no memory, are counted as lost. */
#define WH_REMOVALS_MAX 1024

struct wh_removal {
	int64_t us; /* microseconds since 1970 */
	struct wh_address peer;
	uint8_t identity[WH_IDENTITY_BYTES]; /* zeros: none was proved */
	char *path;                          /* the target of the job */
	char *file;                          /* what was removed there */
};

/* All zeros: empty. */
struct wh_removals {
	struct wh_spin lock;
	struct wh_removal waiting[WH_REMOVALS_MAX];
	uint32_t count;
	uint64_t lost;
};

/* On a worker's core. Returns how many wait now. */
uint32_t wh_removals_add(
	struct wh_removals *removals, int64_t us, const struct wh_job *job, const char *file);

/* Whether each worker may add one more. A worker that asks before it removes a file loses none. */
bool wh_removals_have_room(struct wh_removals *removals);

/*
 * Moves all that wait to `taken`, and returns their number; *lost is increased by those that found
 * no place. The caller frees each with wh_removal_free.
 */
uint32_t wh_removals_take(
	struct wh_removals *removals, struct wh_removal taken[WH_REMOVALS_MAX], uint64_t *lost);

void wh_removal_free(struct wh_removal *removal);
