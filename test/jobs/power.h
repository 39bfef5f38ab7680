/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * What hosts have changed and not synced: it is theirs as long as they have power. Bytes, sizes and
 * modes of files, and names: no more is on a disk than POSIX says, whatever else a file system
 * keeps. Changes of names are lost from some moment on, and so are those of sizes and modes, as
 * journals of file systems do. A database's are its own library's.
 *
 * Process 0 loses nothing.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct wh_prng;

/* Of that process; an interval that cannot be followed ends the test. */
void power_written(uint32_t process, int fd, off_t offset, uint64_t bytes);

/* As the calls of these names, by that process. */
int power_openat(uint32_t process, int folder_fd, const char *name, int flags, mode_t mode);
int power_mkdirat(uint32_t process, int folder_fd, const char *name, mode_t mode);
int power_linkat(
	uint32_t process, int from_fd, const char *from, int to_fd, const char *to, int flags);
int power_unlinkat(uint32_t process, int folder_fd, const char *name, int flags);
int power_renameat(uint32_t process, int from_fd, const char *from, int to_fd, const char *to,
	unsigned int flags);
int power_fchmod(uint32_t process, int fd, mode_t mode);

/* The file is about to be larger or smaller. */
void power_resizes(uint32_t process, int fd);

/*
 * A file's bytes and its size are on the disk from here on, its mode only if `mode`; a folder's
 * names. Or all that the process has changed.
 */
void power_synced(int fd, bool mode);
void power_synced_all(uint32_t process);

/* The process is no more: its host keeps what it changed, or loses what of it is not synced. */
void power_stays(uint32_t process);
void power_fails(uint32_t process, struct wh_prng *prng);
