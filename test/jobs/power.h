/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * What hosts have written and not synced: it is theirs as long as they have power. Bytes alone:
 * names are the file system's, and those of a database are its own library's.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct wh_prng;

/* Of that process; an interval that cannot be followed ends the test. */
void power_written(uint32_t process, int fd, off_t offset, uint64_t bytes);

/* A file's bytes are on the disk from here on; or all that the process has written. */
void power_synced(int fd);
void power_synced_all(uint32_t process);

/* The process is no more: its host keeps what it wrote, or loses it as far as it is not synced. */
void power_stays(uint32_t process);
void power_fails(uint32_t process, struct wh_prng *prng);
