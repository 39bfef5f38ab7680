/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/clock.h"
#include "sink/sink_internal.h"

/* Blocks reserved per call, which takes well below a millisecond. */
#define RESERVE_BYTES (UINT64_C(256) << 20)

/*
 * A file that may be kept has its final size from the start, because no part is shorter than its
 * data. A split file is created in the folder of parts, where the other lanes open it. Other files
 * are moved there when there is something to keep.
 */
static int create(struct wh_sink *sink, struct wh_large *file)
{
	bool keeps = wh_sink_keeps(sink, file), kept = keeps && file->is_lead;
	int fd = kept ? wh_stage_create_kept(sink->stage, &file->number) : -EPERM;

	if (fd >= 0) {
		file->kept = true;
	} else if (fd == -EPERM) {
		fd = wh_stage_create(sink->stage, 0600, &file->number);
		file->unkept = kept;
	}
	if (fd < 0)
		return fd;
	file->staged = true;
	file->padded |= keeps;
	if (wh_stage_identify(fd, 0, &file->identity) == 0 &&
		(!keeps || ftruncate(fd, (off_t)file->size_bytes) == 0))
		return fd;
	close(fd);
	return -EIO;
}

/*
 * Opens a segment's file, which the lead lane has staged. An honest peer's lanes have one target;
 * space is checked on its file system.
 */
static int open_part(struct wh_sink *sink, struct wh_large *file)
{
	int lock_fd;
	int fd = wh_assembly_open(sink->config.assemblies, file->assembly, &lock_fd);
	struct stat status;

	if (fd < 0)
		return fd;
	if (file->kept_fd >= 0)
		close(file->kept_fd);
	file->kept_fd = lock_fd;
	if (fstat(fd, &status) == 0 && status.st_dev == sink->device)
		return fd;
	close(fd);
	return -EXDEV;
}

static int share_staged(struct wh_sink *sink, const struct wh_large *file)
{
	const struct wh_assembly_staged staged = {
		.folder_fd = wh_stage_folder(sink->stage, file->kept),
		.lock_fd = wh_large_lock_fd(file),
		.number = file->number,
		.inode = file->identity.inode,
	};

	return wh_assembly_stage(sink->config.assemblies, file->assembly, &staged);
}

static int open_staged(struct wh_sink *sink, struct wh_large *file)
{
	if (wh_large_is_segment(file))
		return open_part(sink, file);
	if (!wh_sink_prepare(sink))
		return -ECANCELED;
	if (file->staged)
		return wh_stage_reopen(sink->stage, file->number, file->kept, file->identity.inode);

	int fd = create(sink, file);

	if (fd < 0 && wh_sink_stage_failed(sink, fd))
		return -ECANCELED;
	return fd;
}

/*
 * Admits a file if there is space for its data, and promises as much of it as its owner's limit
 * allows. With a limit all promises together are at most half of the free space, so that files
 * announced but never sent do not block others.
 */
static int let_in(struct wh_sink *sink, struct wh_large *file)
{
	uint64_t bytes = wh_min_u64(file->data_bytes, file->end - file->offset);
	struct wh_room_share *share = sink->config.share;

	WH_ASSERT(!file->let_in && file->promised == 0);

	int rc = wh_room_promise(sink->room, file->fd, bytes);

	if (rc < 0)
		return rc;
	file->let_in = true;
	file->promised = bytes;
	if (share == NULL)
		return 0;

	uint64_t promised = atomic_fetch_add(&share->promised_bytes, bytes) + bytes;

	if (promised > share->most_bytes)
		wh_large_take_back(sink, file, promised - share->most_bytes);
	wh_large_take_back(sink, file, wh_room_beyond_half(sink->room, file->fd));
	return 0;
}

/*
 * Blocks are not reserved in memory: page allocation is two thirds of a write's cost there, and
 * reserving would cost as much again. Nor for files with holes, which would lose them.
 */
static bool has_blocks_reserved(const struct wh_sink *sink, const struct wh_large *file)
{
	return !sink->in_memory && file->basis == NULL &&
	       file->data_bytes == file->end - file->from;
}

/* In steps, so that no call takes long, and no space is held for data that do not arrive. */
static int reserve_blocks(struct wh_sink *sink, struct wh_large *file)
{
	uint64_t bytes = wh_min_u64(RESERVE_BYTES, file->end - file->reserved);

	if (fallocate(file->fd, 0, (off_t)file->reserved, (off_t)bytes) != 0 &&
		errno != EOPNOTSUPP && errno != ENOSYS)
		return -errno;
	WH_ASSERT(bytes > 0);
	file->reserved += bytes;
	wh_large_take_back(sink, file, bytes);
	return 0;
}

bool wh_large_is_ready(const struct wh_sink *sink, const struct wh_large *file, uint64_t end)
{
	return file->fd >= 0 && file->let_in &&
	       (file->reserved >= end || !has_blocks_reserved(sink, file));
}

int wh_large_reserve(struct wh_sink *sink, struct wh_large *file, uint64_t end)
{
	int rc = 0;

	if (file->fd < 0) {
		file->fd = open_staged(sink, file);
		file->direct = false;
		if (file->fd < 0 && wh_sink_is_running(sink))
			wh_large_fail(sink, file, file->fd, WH_DOING_CREATING);
		if (file->fd < 0)
			return 0;
	}
	if (!file->let_in) {
		rc = let_in(sink, file);
		if (rc == 0 && file->is_lead && file->assembly->folder_fd < 0)
			rc = share_staged(sink, file);
	}
	while (rc == 0 && !wh_large_is_ready(sink, file, end))
		rc = reserve_blocks(sink, file);
	if (rc < 0 && rc != -EINTR)
		wh_large_fail(sink, file, rc, file->let_in ? WH_DOING_WRITING : WH_DOING_RESERVING);
	return rc == 0;
}
