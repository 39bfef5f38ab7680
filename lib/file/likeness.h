/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Tells whether a run of bytes is the same in two files: by a digest of the whole run, or of
 * samples, both ends among them. A seed, drawn anew for each comparison, decides where the other
 * samples lie and how the digest is computed: whoever wrote one of the files cannot have known it.
 * Computed in the background (file/background.h), since it reads from disk.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/chunk.h"

#define WH_SAMPLES      64
#define WH_SAMPLE_BYTES (UINT32_C(64) << 10)

struct wh_likeness_run {
	uint64_t from;
	uint64_t to;
	bool all;
	uint64_t seed; /* 0: of all bytes, as without a seed */
};

/*
 * Digest of a run of an open file; on any thread that does not poll. *done counts bytes, for a
 * watch; once *stop is true it returns -ECANCELED. 0 or a negative errno; -ENODATA: the file is
 * shorter.
 */
int wh_likeness(int fd, const struct wh_likeness_run *run, const _Atomic bool *stop,
	_Atomic uint64_t *done, struct wh_digest *digest);

/* A likeness that is computed in the background, with a duplicate of the descriptor. */
struct wh_likeness;

/* NULL: no memory, descriptor or thread. */
struct wh_likeness *wh_likeness_begin(int fd, const struct wh_likeness_run *run);

/* -EINPROGRESS until finished, then as wh_likeness. *done: bytes so far. */
int wh_likeness_end(const struct wh_likeness *likeness, struct wh_digest *digest, uint64_t *done);

/* Finished or not. NULL is allowed. */
void wh_likeness_free(struct wh_likeness *likeness);
