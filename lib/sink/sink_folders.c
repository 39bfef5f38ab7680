/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/assert.h"
#include "sink/sink_internal.h"

/*
 * Folders are stored until the end, because creating files in them changes their times. The log is
 * contiguous in address space of this size, of which only the used part takes memory: room for
 * about three million folders.
 */
#define LOG_BYTES (UINT64_C(256) << 20)

/* Preceded by its path: the log is read backwards. */
struct logged {
	uint64_t id;
	int64_t mtime_s;
	uint32_t mtime_ns;
	uint16_t mode;
	uint16_t path_bytes;
	struct wh_more more; /* stored between path and this */
};

int wh_folder_log_init(struct wh_folder_log *log, uint32_t max_bytes)
{
	size_t room = max_bytes == 0 ? LOG_BYTES : max_bytes;
	void *bytes = mmap(NULL, room, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (bytes == MAP_FAILED)
		return -errno;
	log->bytes = bytes;
	log->room = room;
	log->used = 0;
	return 0;
}

void wh_folder_log_free(struct wh_folder_log *log)
{
	munmap(log->bytes, log->room);
}

static void put(struct wh_folder_log *log, const void *bytes, size_t count)
{
	if (count > 0)
		memcpy(log->bytes + log->used, bytes, count);
	log->used += count;
}

static int append(struct wh_folder_log *log, const struct wh_entry *entry)
{
	struct logged logged = {
		.id = entry->id,
		.mtime_s = entry->mtime_s,
		.mtime_ns = entry->mtime_ns,
		.mode = entry->mode,
		.path_bytes = entry->path_bytes,
		.more = wh_more_of(entry),
	};

	if (log->used + entry->path_bytes + entry->xattr_bytes + sizeof(logged) > log->room)
		return -ENOMEM;
	put(log, entry->path, entry->path_bytes);
	put(log, entry->xattrs, entry->xattr_bytes);
	put(log, &logged, sizeof(logged));
	WH_ASSERT(log->used <= log->room);
	return 0;
}

/* Ensures that we can write into an existing folder while files are put there. */
static int enter_existing(struct wh_sink *sink, int folder_fd, enum wh_doing *doing)
{
	struct stat status;
	int fd = openat(folder_fd, sink->place.name,
		O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	int rc = 0;

	if (fd < 0)
		return errno == ELOOP ? -ENOTDIR : -errno;
	if (fstat(fd, &status) != 0)
		rc = -errno;
	else
		rc = wh_sink_check_name(sink, folder_fd, sink->place.name, &status, doing);
	if (rc == 0 && (status.st_mode & 0700) != 0700 && status.st_uid == geteuid() &&
		fchmod(fd, (status.st_mode & 07777) | 0700) != 0)
		rc = -errno;
	close(fd);
	return rc;
}

void wh_sink_take_folder(struct wh_sink *sink, const struct wh_entry *entry, int folder_fd)
{
	struct wh_staged folder = {
		.id = entry->id,
		.path = entry->path,
		.path_bytes = entry->path_bytes,
		.kind = WH_ENTRY_FOLDER,
	};
	enum wh_doing doing = WH_DOING_CREATING;
	int rc = 0;

	if (mkdirat(folder_fd, sink->place.name, (entry->mode & 0777) | 0700) == 0)
		wh_sink_note_made(sink, sink->place.path, sink->place.bytes);
	else
		rc = errno == EEXIST ? enter_existing(sink, folder_fd, &doing) : -errno;
	if (rc == 0) {
		doing = WH_DOING_ATTRIBUTES;
		rc = append(&sink->folders, entry);
	}
	if (rc < 0)
		wh_sink_tell_failed(sink, &folder, rc, doing);
}

/* A folder owned by others keeps its mode and times; an inherited group stays, too. */
static int set_attributes(const struct wh_sink *sink, int fd, const struct logged *logged)
{
	struct stat status;

	if (fstat(fd, &status) != 0)
		return -errno;

	uint16_t mode = logged->mode & 01777;
	int rc = wh_set_attributes(fd, mode, logged->mtime_s, logged->mtime_ns);

	if (rc == -EPERM && status.st_uid != geteuid())
		return 0;
	if (rc == 0 && (status.st_mode & S_ISGID) != 0 && fchmod(fd, mode | S_ISGID) != 0)
		return -errno;
	return rc == 0 ? wh_sink_set_more(sink, fd, logged->mode, &logged->more) : rc;
}

bool wh_sink_finish_folder(struct wh_sink *sink)
{
	struct wh_folder_log *log = &sink->folders;
	struct logged logged;
	enum wh_doing doing;

	if (log->used == 0)
		return false;
	WH_ASSERT(log->used >= sizeof(logged));
	log->used -= sizeof(logged);
	memcpy(&logged, log->bytes + log->used, sizeof(logged));
	WH_ASSERT(log->used >= logged.path_bytes + logged.more.xattr_bytes);
	log->used -= logged.more.xattr_bytes;
	logged.more.xattrs = log->bytes + log->used;
	log->used -= logged.path_bytes;

	struct wh_staged folder = {
		.id = logged.id,
		.path = (const char *)log->bytes + log->used,
		.path_bytes = logged.path_bytes,
		.kind = WH_ENTRY_FOLDER,
	};
	int rc = wh_sink_place(sink, folder.path, folder.path_bytes, &doing);
	int fd = rc < 0 ? rc
			: wh_beneath_open(&sink->beneath, sink->place.path,
				  O_RDONLY | O_DIRECTORY | O_NONBLOCK);

	rc = fd < 0 ? fd : set_attributes(sink, fd, &logged);
	if (fd >= 0)
		close(fd);
	if (rc < 0)
		wh_sink_note_failed(sink, &folder, rc, WH_DOING_ATTRIBUTES, false);
	return true;
}
