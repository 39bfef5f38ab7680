/* SPDX-License-Identifier: BSD-3-Clause */
#include "file/likeness.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/prng.h"
#include "file/background.h"
#include "file/digest.h"

#define PIECE_BYTES (UINT64_C(1) << 20)

static_assert(WH_SAMPLE_BYTES <= PIECE_BYTES, "a sample is a piece");

struct wh_likeness {
	int fd;
	struct wh_likeness_run run;
	int rc;
	struct wh_digest digest;
	_Atomic uint64_t done;
	_Atomic bool stop;
	struct wh_background_shared shared;
};

/* Hashes [from, to), which must be within the file. */
static int add(int fd, uint64_t from, uint64_t to, uint8_t *piece, const _Atomic bool *stop,
	_Atomic uint64_t *done, struct wh_hasher *hasher)
{
	while (from < to) {
		ssize_t got = pread(fd, piece, wh_min_u64(PIECE_BYTES, to - from), (off_t)from);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got < 0 ? -errno : -ENODATA;
		wh_hasher_add(hasher, piece, (size_t)got);
		from += (uint64_t)got;
		atomic_fetch_add_explicit(done, (uint64_t)got, memory_order_relaxed);
		if (atomic_load_explicit(stop, memory_order_relaxed))
			return -ECANCELED;
	}
	return 0;
}

/* The first begins with the run, the last ends with it, and those between lie anywhere in it. */
static int add_samples(int fd, const struct wh_likeness_run *run, uint8_t *piece,
	const _Atomic bool *stop, _Atomic uint64_t *done, struct wh_hasher *hasher)
{
	uint64_t room = run->to - run->from - WH_SAMPLE_BYTES;
	struct wh_prng prng;
	int rc = 0;

	wh_prng_init(&prng, run->seed);
	for (uint32_t i = 0; i < WH_SAMPLES && rc == 0; i++) {
		uint64_t drawn = wh_prng_below(&prng, room + 1);
		uint64_t at = run->from + (i == 0 ? 0 : i == WH_SAMPLES - 1 ? room : drawn);

		rc = add(fd, at, at + WH_SAMPLE_BYTES, piece, stop, done, hasher);
	}
	return rc;
}

int wh_likeness(int fd, const struct wh_likeness_run *run, const _Atomic bool *stop,
	_Atomic uint64_t *done, struct wh_digest *digest)
{
	uint8_t *piece = malloc(PIECE_BYTES);
	struct wh_hasher hasher;
	int rc;

	WH_ASSERT(run->from <= run->to);
	if (piece == NULL)
		return -ENOMEM;
	wh_hasher_init_seeded(&hasher, run->seed);
	if (run->all || run->to - run->from <= (uint64_t)WH_SAMPLES * WH_SAMPLE_BYTES)
		rc = add(fd, run->from, run->to, piece, stop, done, &hasher);
	else
		rc = add_samples(fd, run, piece, stop, done, &hasher);

	free(piece);
	if (rc == 0)
		wh_hasher_digest(&hasher, digest);
	return rc;
}

static void drop(struct wh_likeness *likeness)
{
	close(likeness->fd);
	free(likeness);
}

static void compute(void *argument)
{
	struct wh_likeness *likeness = argument;

	likeness->rc = wh_likeness(
		likeness->fd, &likeness->run, &likeness->stop, &likeness->done, &likeness->digest);
	if (wh_background_finish(&likeness->shared))
		drop(likeness);
}

struct wh_likeness *wh_likeness_begin(int fd, const struct wh_likeness_run *run)
{
	struct wh_likeness *likeness = calloc(1, sizeof(*likeness));

	if (likeness == NULL)
		return NULL;
	likeness->run = *run;
	likeness->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (likeness->fd >= 0 && wh_background(compute, likeness) == 0)
		return likeness;
	if (likeness->fd >= 0)
		close(likeness->fd);
	free(likeness);
	return NULL;
}

int wh_likeness_end(const struct wh_likeness *likeness, struct wh_digest *digest, uint64_t *done)
{
	*done = atomic_load_explicit(&likeness->done, memory_order_relaxed);
	if (!wh_background_is_over(&likeness->shared))
		return -EINPROGRESS;
	*digest = likeness->digest;
	return likeness->rc;
}

void wh_likeness_free(struct wh_likeness *likeness)
{
	if (likeness == NULL)
		return;
	atomic_store_explicit(&likeness->stop, true, memory_order_relaxed);
	if (wh_background_leave(&likeness->shared))
		drop(likeness);
}
