/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_MEMORY_ROOM_H
#define WH_APP_MEMORY_ROOM_H

/*
 * How much ordinary memory this process may still take, before the kernel would have to end one:
 * what is promised at start and touched only later is refused at start, if it is not there.
 */

#include <stdbool.h>
#include <stdint.h>

struct wh_memory_room {
	uint64_t bytes;
	const char *bound; /* what it is bounded by, as a sentence says it */
};

/*
 * By the files of the kernel below `root` ("" is this machine's) and this process's limits; with
 * `pinned`, of memory that a device is to reach, that for locked memory, too.
 */
struct wh_memory_room wh_memory_room(const char *root, bool pinned);

/*
 * Whether `bytes` of memory are to be had, of which option_bytes are what `option` says; if not,
 * one sentence on stderr says what would fit.
 */
bool wh_memory_fits(const struct wh_memory_room *room, uint64_t bytes, const char *option,
	uint64_t option_bytes);

#endif
