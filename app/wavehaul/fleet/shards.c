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
	shards->large = calloc(shards->max, sizeof(*shards->large));
	if (shards->shard == NULL || shards->run == NULL || shards->large == NULL)
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

/* As many as their mean allows. */
static bool open_more(struct wh_shards *shards, const struct wh_shard *sum)
{
	uint64_t by_files = sum->files / shards->grain_files;
	uint64_t by_bytes = sum->bytes / shards->grain_bytes;
	uint64_t wanted = 1 + (by_files > by_bytes ? by_files : by_bytes);

	while (shards->count < wanted && shards->count < shards->max)
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
	double files = (double)shards->in_run.files /
		       ((double)shards->sum.files * (double)shards->sum.files);
	double bytes = shards->sum.bytes > 0
			       ? (double)shards->in_run.bytes /
					 ((double)shards->sum.bytes * (double)shards->sum.bytes)
			       : 0;
	struct wh_shard *best = NULL;
	double least = 0;

	for (uint32_t i = 0; i < shards->count; i++) {
		struct wh_shard *shard = &shards->shard[i];
		double load = files * (double)shard->files + bytes * (double)shard->bytes;

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
	if (!open_more(shards, &shards->sum))
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

static bool add_whole(struct wh_shards *shards, const char *name, uint64_t bytes)
{
	size_t chars = strlen(name) + 1;

	WH_ASSERT(chars <= NAME_MAX_CHARS && shards->run_chars < RUN_CHARS);
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

static int64_t ns_of(const struct timespec *time)
{
	return time->tv_sec * INT64_C(1000000000) + time->tv_nsec;
}

int wh_version_look(const char *name, struct wh_version *version)
{
	struct stat status;

	if (stat(name, &status) != 0)
		return -errno;
	*version = (struct wh_version){.bytes = (uint64_t)status.st_size,
		.inode = status.st_ino,
		.mtime_ns = ns_of(&status.st_mtim),
		.ctime_ns = ns_of(&status.st_ctim)};
	return 0;
}

static bool is_large(const struct wh_shards *shards, uint64_t bytes)
{
	return shards->divides && bytes / 2 >= wh_max_u64(shards->grain_bytes, WH_RANGE_BYTES_MIN);
}

static struct wh_divided *smallest(struct wh_shards *shards)
{
	struct wh_divided *least = shards->large;

	for (uint32_t i = 1; i < shards->larges; i++)
		if (shards->large[i].version.bytes < least->version.bytes)
			least = &shards->large[i];
	return least;
}

/* If too many wait, the smallest of them is no more one of the largest. */
static bool let_wait(struct wh_shards *shards, const char *name, uint64_t bytes)
{
	struct wh_divided large = {.name = strdup(name), .version.bytes = bytes};
	struct wh_divided *place, out;
	bool good;

	if (large.name == NULL)
		return wh_fail(false, "out of memory");
	if (shards->larges < shards->max) {
		shards->large[shards->larges++] = large;
		return true;
	}
	place = smallest(shards);
	out = place->version.bytes < bytes ? *place : large;
	if (out.name != large.name)
		*place = large;
	good = add_whole(shards, out.name, out.version.bytes);
	free(out.name);
	return good;
}

bool wh_shards_add(struct wh_shards *shards, const char *name, uint64_t bytes)
{
	return is_large(shards, bytes) ? let_wait(shards, name, bytes)
				       : add_whole(shards, name, bytes);
}

static int by_size(const void *one, const void *other)
{
	uint64_t bytes = ((const struct wh_divided *)one)->version.bytes;
	uint64_t others = ((const struct wh_divided *)other)->version.bytes;

	return bytes < others ? 1 : bytes > others ? -1 : 0;
}

/* A file that grows or goes just now is one like others. */
static bool is_as_scanned(const struct wh_shards *shards, struct wh_divided *file)
{
	uint64_t bytes = file->version.bytes;

	return shards->folder == NULL ||
	       (wh_version_look(file->name, &file->version) == 0 && file->version.bytes == bytes);
}

/* Into ranges of about that size. */
static bool divide(struct wh_shards *shards, struct wh_divided *file, uint64_t about_bytes)
{
	uint64_t bytes = file->version.bytes;
	uint64_t count = wh_max_u64(2, bytes / about_bytes);

	file->range_bytes = (bytes / count / WH_RANGES_ALIGN_BYTES + 1) * WH_RANGES_ALIGN_BYTES;
	file->ranges = (uint32_t)((bytes - 1) / file->range_bytes + 1);
	file->shard = calloc(file->ranges, sizeof(*file->shard));
	if (file->shard == NULL)
		return wh_fail(false, "out of memory");
	shards->sum.files++;
	for (uint32_t i = 0; i < file->ranges; i++) {
		uint64_t from = i * file->range_bytes;
		struct wh_shard *shard;

		shards->in_run.bytes = wh_min_u64(file->range_bytes, bytes - from);
		shards->sum.bytes += shards->in_run.bytes;
		shard = choose(shards);
		shard->bytes += shards->in_run.bytes;
		shard->ranges++;
		file->shard[i] = (uint32_t)(shard - shards->shard);
	}
	shards->in_run = (struct wh_shard){0};
	return true;
}

static bool write_name(const struct wh_shards *shards, const struct wh_divided *file)
{
	size_t chars = strlen(file->name) + 1;
	char path[PATH_MAX];
	bool good;
	int fd;

	if (shards->folder == NULL)
		return true;
	snprintf(path, sizeof(path), "%s/f%u", shards->folder, (uint32_t)(file - shards->large));
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	good = fd >= 0 && write(fd, file->name, chars) == (ssize_t)chars;
	if (fd >= 0)
		close(fd);
	return good || cannot_write(shards);
}

/* What waits and is smaller than `least_bytes` stays whole. The largest first. */
static bool place_whole(struct wh_shards *shards, uint64_t least_bytes)
{
	uint32_t waiting = shards->larges;
	bool good = true;

	shards->larges = 0;
	for (uint32_t i = 0; i < waiting; i++) {
		struct wh_divided file = shards->large[i];

		shards->large[i].name = NULL;
		if (file.version.bytes >= least_bytes && is_as_scanned(shards, &file)) {
			shards->large[shards->larges++] = file;
			continue;
		}
		good = good && add_whole(shards, file.name, file.version.bytes) && end_run(shards);
		free(file.name);
	}
	return good;
}

static uint64_t waiting_bytes(const struct wh_shards *shards)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < shards->larges; i++)
		bytes += shards->large[i].version.bytes;
	return bytes;
}

/*
 * What is larger than the mean shard is divided. All others are level by then, so there are about
 * as many ranges as shards.
 */
static bool place_large(struct wh_shards *shards)
{
	struct wh_shard all = shards->sum;
	uint64_t mean_bytes, about_bytes;
	bool good;

	all.files += shards->larges;
	all.bytes += waiting_bytes(shards);
	if (!open_more(shards, &all))
		return false;
	mean_bytes = all.bytes / shards->count;
	qsort(shards->large, shards->larges, sizeof(*shards->large), by_size);
	good = place_whole(shards, wh_max_u64(mean_bytes, 2 * WH_RANGE_BYTES_MIN));
	about_bytes = wh_max_u64(
		wh_min_u64(waiting_bytes(shards) / shards->count, mean_bytes), WH_RANGE_BYTES_MIN);
	for (uint32_t i = 0; good && i < shards->larges; i++)
		good = divide(shards, &shards->large[i], about_bytes) &&
		       write_name(shards, &shards->large[i]);
	return good;
}

/* More were opened than there are ranges: the last ones have nothing. */
static void drop_empty(struct wh_shards *shards)
{
	while (shards->count > 0) {
		struct wh_shard *last = &shards->shard[shards->count - 1];
		char path[PATH_MAX];

		if (last->files + last->ranges > 0)
			break;
		shards->count--;
		if (shards->folder == NULL)
			continue;
		close(last->fd);
		snprintf(path, sizeof(path), "%s/%u", shards->folder, shards->count);
		(void)unlink(path);
	}
}

bool wh_shards_finish(struct wh_shards *shards)
{
	bool good = end_run(shards) && (shards->larges == 0 || place_large(shards));

	drop_empty(shards);
	return good;
}

double wh_shards_balance(const struct wh_shards *shards, bool of_bytes)
{
	uint64_t sum = of_bytes ? shards->sum.bytes : shards->sum.files;
	uint64_t most = 0;

	for (uint32_t i = 0; i < shards->count; i++) {
		uint64_t one = of_bytes ? shards->shard[i].bytes : shards->shard[i].files;

		most = one > most ? one : most;
	}
	return sum > 0 ? (double)most * shards->count / (double)sum : 1;
}

void wh_shards_free(struct wh_shards *shards)
{
	for (uint32_t i = 0; shards->folder != NULL && i < shards->count; i++)
		close(shards->shard[i].fd);
	for (uint32_t i = 0; i < shards->larges; i++) {
		free(shards->large[i].name);
		free(shards->large[i].shard);
	}
	free(shards->large);
	free(shards->shard);
	free(shards->run);
}
