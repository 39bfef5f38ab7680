/* SPDX-License-Identifier: BSD-3-Clause */
#include "fleet/shards.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/clock.h"
#include "bundle/record.h"
#include "cli/complain.h"
#include "cli/exit.h"
#include "journal/range_notes.h"

#define RUN_FILES      64
#define RUN_CHARS      (RUN_FILES * 1024)
#define NAME_MAX_CHARS (PATH_MAX + WH_PATH_BYTES_MAX + 4)
#define RUN_SHARE      16 /* of the grain's bytes: then a run is as large as it may be */
#define OTHER_FDS      64

/* Each shard's file stays open. */
static bool may_open(uint32_t files)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return false;
	limit.rlim_cur = limit.rlim_max;
	return limit.rlim_max >= files + OTHER_FDS && setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

int wh_shards_open(struct wh_shards *shards)
{
	WH_ASSERT(shards->max > 0 && shards->grain_bytes > 0 && shards->grain_files > 0);
	shards->shard = calloc(shards->max, sizeof(*shards->shard));
	shards->run = malloc(RUN_CHARS + NAME_MAX_CHARS);
	if (shards->shard == NULL || shards->run == NULL)
		return WH_EXIT_OTHER;
	if (shards->folder != NULL && !may_open(shards->max))
		return wh_fail(WH_EXIT_OTHER,
			"this process may not open %u files at once; raise "
			"the limit (ulimit -Hn) or lower --shards",
			shards->max);
	return -1;
}

static bool open_next(struct wh_shards *shards)
{
	char path[PATH_MAX];
	int fd;

	if (shards->folder == NULL) {
		shards->shard[shards->count++].fd = -1;
		return true;
	}
	snprintf(path, sizeof(path), "%s/%u", shards->folder, shards->count);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd < 0)
		return wh_fail(false, "cannot write %s: %s", path, strerror(errno));
	shards->shard[shards->count++].fd = fd;
	return true;
}

/* What shards of whole files have together. */
static struct wh_shard whole_ones(const struct wh_shards *shards)
{
	return (struct wh_shard){.files = shards->sum.files - shards->ranged.files,
		.bytes = shards->sum.bytes - shards->ranged.bytes};
}

/* As many as their mean allows. */
static bool open_more(struct wh_shards *shards)
{
	const struct wh_shard whole = whole_ones(shards);
	uint64_t by_files = whole.files / shards->grain_files;
	uint64_t by_bytes = whole.bytes / shards->grain_bytes;
	uint64_t wanted = 1 + (by_files > by_bytes ? by_files : by_bytes);

	while (shards->count - shards->ranges < wanted && shards->count < shards->max)
		if (!open_next(shards))
			return false;
	return true;
}

/*
 * The shard that has the least of what the run has much of: the smallest product of the two, each
 * a vector of its shares of all bytes and of all files (Panigrahy et al. 2011).
 */
static struct wh_shard *choose(const struct wh_shards *shards)
{
	const struct wh_shard sum = whole_ones(shards);
	double files = (double)shards->in_run.files / ((double)sum.files * (double)sum.files);
	double bytes = sum.bytes > 0 ? (double)shards->in_run.bytes /
					       ((double)sum.bytes * (double)sum.bytes)
				     : 0;
	struct wh_shard *best = NULL;
	double least = 0;

	for (uint32_t i = 0; i < shards->count; i++) {
		struct wh_shard *shard = &shards->shard[i];
		double load = files * (double)shard->files + bytes * (double)shard->bytes;

		if (shard->end > 0)
			continue;
		if (best == NULL || load < least) {
			best = shard;
			least = load;
		}
	}
	return best;
}

static bool cannot_write(const struct wh_shards *shards)
{
	return wh_fail(false, "cannot write the shards in %s: %s", shards->folder,
		strerror(errno != 0 ? errno : ENOSPC));
}

static bool end_run(struct wh_shards *shards)
{
	struct wh_shard *shard;

	if (shards->in_run.files == 0)
		return true;
	if (!open_more(shards))
		return false;
	shards->sum.files += shards->in_run.files;
	shards->sum.bytes += shards->in_run.bytes;
	shard = choose(shards);
	if (shard->files + shards->in_run.files > WH_SHARD_FILES_MAX)
		return wh_fail(false,
			"%u shards of %d names are too few for the tree; raise "
			"--shards, and MaxArraySize of slurm.conf above it",
			shards->max, WH_SHARD_FILES_MAX);
	if (shards->folder != NULL &&
		write(shard->fd, shards->run, shards->run_chars) != (ssize_t)shards->run_chars)
		return cannot_write(shards);
	shard->files += shards->in_run.files;
	shard->bytes += shards->in_run.bytes;
	shards->in_run = (struct wh_shard){0};
	shards->run_chars = 0;
	return true;
}

static int64_t ns_of(const struct timespec *time)
{
	return time->tv_sec * INT64_C(1000000000) + time->tv_nsec;
}

int wh_shard_look(const char *name, struct wh_shard_version *version)
{
	struct stat status;

	if (stat(name, &status) != 0)
		return -errno;
	*version = (struct wh_shard_version){.inode = status.st_ino,
		.mtime_ns = ns_of(&status.st_mtim),
		.ctime_ns = ns_of(&status.st_ctim),
		.bytes = (uint64_t)status.st_size};
	return 0;
}

/*
 * How large the ranges are: no smaller than a shard is in the mean so far, and the last one no
 * larger. False: the file stays whole.
 */
static bool divide(struct wh_shards *shards, uint64_t bytes, uint64_t *range_bytes)
{
	uint64_t least = shards->grain_bytes, count;

	least = wh_max_u64(least, shards->sum.bytes / shards->max);
	least = wh_max_u64(least, WH_SHARD_RANGE_BYTES_MIN);
	if (!shards->divides || bytes / 2 < least)
		return false;
	count = wh_min_u64(bytes / least, WH_SHARD_RANGES_MAX);
	*range_bytes = (bytes / count / WH_RANGES_ALIGN_BYTES + 1) * WH_RANGES_ALIGN_BYTES;
	if (shards->ranges + count <= shards->max / 2 && shards->count + count < shards->max)
		return true;
	shards->undivided++;
	return false;
}

/* A file that grows or goes just now is one like others. */
static bool is_as_scanned(const char *name, struct wh_shard_version *version)
{
	uint64_t bytes = version->bytes;

	return wh_shard_look(name, version) == 0 && version->bytes == bytes;
}

/* Each range is a shard with the name. */
static bool add_ranges(struct wh_shards *shards, const char *name, uint64_t range_bytes,
	const struct wh_shard_version *version)
{
	uint64_t bytes = version->bytes;

	size_t chars = strlen(name) + 1;

	for (uint64_t from = 0; from < bytes; from += range_bytes) {
		struct wh_shard *shard = &shards->shard[shards->count];

		if (!open_next(shards))
			return false;
		if (shards->folder != NULL && write(shard->fd, name, chars) != (ssize_t)chars)
			return cannot_write(shards);
		shard->files = from == 0;
		shard->from = from;
		shard->end = wh_min_u64(from + range_bytes, bytes);
		shard->bytes = shard->end - from;
		shard->version = *version;
		shards->ranges++;
	}
	shards->sum.files++;
	shards->sum.bytes += bytes;
	shards->ranged.files++;
	shards->ranged.bytes += bytes;
	return true;
}

bool wh_shards_add(struct wh_shards *shards, const char *name, uint64_t bytes)
{
	size_t chars = strlen(name) + 1;
	struct wh_shard_version version = {.bytes = bytes};
	uint64_t range_bytes;

	WH_ASSERT(chars <= NAME_MAX_CHARS && shards->run_chars < RUN_CHARS);
	if (divide(shards, bytes, &range_bytes) &&
		(shards->folder == NULL || is_as_scanned(name, &version)))
		return add_ranges(shards, name, range_bytes, &version);
	if (shards->in_run.bytes + bytes > shards->grain_bytes / RUN_SHARE && !end_run(shards))
		return false;
	memcpy(shards->run + shards->run_chars, name, chars);
	shards->run_chars += (uint32_t)chars;
	shards->in_run.files++;
	shards->in_run.bytes += bytes;
	if (shards->in_run.files < RUN_FILES && shards->in_run.files < shards->grain_files &&
		shards->run_chars < RUN_CHARS)
		return true;
	return end_run(shards);
}

bool wh_shards_finish(struct wh_shards *shards)
{
	return end_run(shards);
}

double wh_shards_balance(const struct wh_shards *shards, bool of_bytes)
{
	uint64_t sum = of_bytes ? shards->sum.bytes : whole_ones(shards).files;
	uint32_t count = of_bytes ? shards->count : shards->count - shards->ranges;
	uint64_t most = 0;

	for (uint32_t i = 0; i < shards->count; i++) {
		uint64_t one = of_bytes ? shards->shard[i].bytes : shards->shard[i].files;

		most = one > most ? one : most;
	}
	return sum > 0 ? (double)most * count / (double)sum : 1;
}

void wh_shards_free(struct wh_shards *shards)
{
	for (uint32_t i = 0; shards->folder != NULL && i < shards->count; i++)
		close(shards->shard[i].fd);
	free(shards->shard);
	free(shards->run);
}
