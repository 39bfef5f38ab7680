/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * A disk in virtual time: these definitions of io_uring's calls, of wh_background and of the calls
 * that change a file system stand before those of the libraries, so that nothing runs on another
 * thread and a run is repeated by its seed. Files are the kernel's, in a folder in memory; when a
 * request is done, and how, the disk draws.
 *
 * Whatever is begun belongs to the process that is at work, a number. One that is killed leaves
 * its files as they are: while it is taken apart no call changes any.
 */

#include <stdbool.h>
#include <stdint.h>

struct disk_config {
	uint64_t seed;
	bool in_memory;        /* what fstatfs says of it */
	uint64_t latency_ns;   /* of a request, at most */
	uint64_t work_ns;      /* of a piece of work, at most */
	uint32_t short_one_in; /* results that are less than was asked for; 0: none */
	uint32_t fails_after;  /* requests; the next fails with EIO; 0: none does */
	uint64_t room_bytes;   /* that may be written until it is full; 0: any */
	bool room_is_told;     /* what is left of them is what fstatfs says */
	bool forgets;          /* what is not synced when power fails (power.h) */
};

void disk_begin(const struct disk_config *config);

/*
 * What a sink that is cut may not have noted of what each of its lanes has written to a large file:
 * a batch, which is noted when the one after it begins; what its sync takes, and `more_ns`, at that
 * rate; what is in the air, and what there is of a chunk.
 */
uint64_t disk_unsure_bytes(const struct disk_config *config, uint32_t lanes, uint64_t batch_bytes,
	uint64_t rate_bps, uint64_t more_ns);

/* What is begun from here on is of that process; 0 is the test itself. */
void disk_enter(uint32_t process, uint64_t now_ns);

/* Does what is due; returns how much. */
int32_t disk_run(uint64_t now_ns);

/* When the next is due; UINT64_MAX: nothing is under way. */
uint64_t disk_deadline(void);

/* The process at work is dead from here on, or has been taken apart. */
void disk_kill(bool dead);

/* The process at work dies of something amid the work that it is at, if any. */
void disk_break_off(void);

/* It has been taken apart; and its host lost power with it, or did not. */
void disk_lose_power(uint32_t process, bool lost);

/* Does what work is left of a process, at once; those of a dead one change nothing. */
void disk_hurry(uint32_t process);

/* The next sync of a file system fails with EIO; how many there were since disk_begin. */
void disk_fail_sync(void);
uint32_t disk_syncs(void);

/* Whether a request has failed as was wished; or a byte found no room. */
bool disk_has_failed(void);
bool disk_was_full(void);
