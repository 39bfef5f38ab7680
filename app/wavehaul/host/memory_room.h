/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * How much more ordinary memory this process may use before the kernel would have to kill one.
 * Memory is allocated at start but touched later, so a lack of it is refused at start.
 */

#include <stdbool.h>
#include <stdint.h>

struct wh_memory_room {
	uint64_t bytes;
	const char *bound; /* names the limit, for a sentence */
};

/*
 * According to the kernel's files below `root` ("" is this machine) and this process's limits; with
 * `pinned` (memory that a device accesses) also the limit for locked memory.
 */
struct wh_memory_room wh_memory_room(const char *root, bool pinned);

/* Whether a NIC's memory of `bytes` is within the limit on locked memory; if not, a sentence. */
bool wh_memory_may_be_locked(uint64_t limit_bytes, uint64_t bytes);

/*
 * Whether `bytes` of memory are available, option_bytes of which are due to `option`; if not, one
 * sentence on stderr says what would fit.
 */
bool wh_memory_fits(const struct wh_memory_room *room, uint64_t bytes, const char *option,
	uint64_t option_bytes);
