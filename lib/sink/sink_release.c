/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/assert.h"
#include "sink/sink_internal.h"

void wh_large_leave(struct wh_sink *sink, struct wh_large *file)
{
	struct wh_assembly *assembly = file->assembly;
	uint32_t at = 0;

	if (assembly == NULL)
		return;
	file->assembly = NULL;
	file->is_lead = false;
	while (sink->split_file[at] != file)
		at++;
	WH_ASSERT(at < sink->split_files);
	sink->split_file[at] = sink->split_file[--sink->split_files];
	wh_assembly_leave(sink->config.assemblies, assembly, sink->config.lane);
}

void wh_large_forget(struct wh_sink *sink, struct wh_large *file)
{
	WH_ASSERT(file->in_air == 0 && sink->large_count > 0);
	wh_large_give_up_room(sink, file);
	if (file->fd >= 0)
		close(file->fd);
	file->fd = -1;
	free((void *)file->more.xattrs);
	file->more.xattrs = NULL;
	wh_basis_free(sink, file);
	wh_ahead_drop(sink, file);
	wh_sink_unkeep(sink, file);
	wh_large_leave(sink, file);
	file->state = WH_LARGE_NONE;
	sink->large_count--;
}

/* The lock of a kept file, which then outlives the file's descriptors: the caller's. -1: none. */
static int take_lock(struct wh_large *file)
{
	int lock_fd = wh_large_lock_fd(file);

	if (lock_fd < 0)
		return -1;
	if (file->kept_fd < 0)
		return fcntl(lock_fd, F_DUPFD_CLOEXEC, 0);
	file->kept_fd = -1;
	return lock_fd;
}

/*
 * After a failure. The descriptor is closed first, so that close does not free the data; a part is
 * locked until it is removed.
 */
void wh_large_discard(struct wh_sink *sink, struct wh_large *file)
{
	struct wh_staged entry = wh_large_entry(sink, file);
	bool goes = file->staged && !wh_large_stays(file);
	int lock_fd = goes ? take_lock(file) : -1;

	wh_large_forget(sink, file);
	if (!goes)
		return;
	wh_stage_discard(sink->stage, &entry);
	wh_stage_let_go(lock_fd);
	wh_sink_row_is_over(sink, entry.row);
}

/* All bytes are written. 0, or a negative errno and what failed. */
static int complete(const struct wh_sink *sink, struct wh_large *file, enum wh_doing *doing)
{
	int rc = 0;

	*doing = WH_DOING_WRITING;
	if ((file->padded || file->is_lead) && ftruncate(file->fd, (off_t)file->size_bytes) != 0)
		return -errno;
	*doing = WH_DOING_ATTRIBUTES;
	rc = wh_set_attributes(file->fd, file->mode, file->mtime_s, file->mtime_ns);
	if (rc == 0)
		rc = wh_sink_set_more(sink, file->fd, file->mode, &file->more);
	if (rc < 0)
		return rc;
	*doing = WH_DOING_WRITING;
	rc = wh_stage_identify(file->fd, file->size_bytes, &file->identity);
	if (close(file->fd) != 0 && rc == 0)
		rc = -errno;
	file->fd = -1;
	return rc;
}

void wh_large_add(struct wh_sink *sink, struct wh_large *file, uint64_t now_tsc)
{
	enum wh_doing doing;

	WH_ASSERT(!file->failed && file->in_air == 0 && !wh_large_is_segment(file));

	int lock_fd = take_lock(file);
	int rc = complete(sink, file, &doing);
	struct wh_staged entry = wh_large_entry(sink, file);

	if (rc < 0) {
		file->kept_fd = lock_fd;
		wh_large_fail(sink, file, rc, doing);
		return;
	}
	entry.lock_fd = lock_fd;
	wh_stage_add(sink->stage, &entry, now_tsc);
}

void wh_large_same(struct wh_sink *sink, struct wh_large *file)
{
	struct wh_staged entry = wh_large_entry(sink, file);
	enum wh_doing doing = WH_DOING_OPENING;
	struct stat status;
	int fd = wh_large_open_existing(sink, file, &status);
	int rc = fd < 0 ? fd : 0;
	bool staged = file->staged;

	if (rc == 0 && (uint64_t)status.st_size != file->size_bytes) {
		doing = WH_DOING_CHANGED;
		rc = -ESTALE;
	}
	if (rc == 0) {
		doing = WH_DOING_ATTRIBUTES;
		rc = wh_settle_attributes(fd, &status, file->mode, file->mtime_s, file->mtime_ns);
		if (rc == 0)
			rc = wh_sink_set_more(sink, fd, file->mode, &file->more);
	}
	if (fd >= 0)
		close(fd);
	if (file->is_lead)
		wh_assembly_skip(sink->config.assemblies, file->assembly);
	if (rc < 0)
		wh_sink_tell_failed(sink, &entry, rc, doing);
	else
		wh_sink_tell_skipped(sink, &entry);
	wh_large_forget(sink, file);
	if (staged)
		wh_stage_discard(sink->stage, &entry);
}
