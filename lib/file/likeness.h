/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_FILE_LIKENESS_H
#define WH_FILE_LIKENESS_H

/*
 * What tells whether a run of bytes is the same in two files: a digest of all of it, or of samples
 * spread over it, both ends among them. It is worked out aside (file/aside.h), where a disk may be
 * waited for.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/chunk.h"

#define WH_SAMPLES      64
#define WH_SAMPLE_BYTES (UINT32_C(64) << 10)

/*
 * Of [from, to) of an open file; any thread but one that polls. *done counts bytes, for a watch;
 * once *stop is true it ends with -ECANCELED. 0 or a negative errno; -ENODATA: the file is shorter.
 */
int wh_likeness(int fd, uint64_t from, uint64_t to, bool all, const _Atomic bool *stop,
	_Atomic uint64_t *done, struct wh_digest *digest);

/* The same aside, of a copy of the descriptor. */
struct wh_likeness;

/* NULL: there is no memory, descriptor or thread for it. */
struct wh_likeness *wh_likeness_begin(int fd, uint64_t from, uint64_t to, bool all);

/* -EINPROGRESS until it is over, then as wh_likeness. *done: bytes so far. */
int wh_likeness_end(const struct wh_likeness *likeness, struct wh_digest *digest, uint64_t *done);

/* It goes, over or not. NULL is allowed. */
void wh_likeness_free(struct wh_likeness *likeness);

#endif
