/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bundle/staging_name.h"
#include "sink/sink_internal.h"

/* Some file systems have longer names, but no buffer of ours. */
static bool has_long_name(const char *path, size_t bytes)
{
	size_t length = 0;

	for (size_t i = 0; i < bytes && length <= NAME_MAX; i++)
		length = path[i] == '/' ? 0 : length + 1;
	return length > NAME_MAX;
}

/* Sets sink->place. 0 or a negative errno. */
static int name_place(struct wh_sink *sink, const char *path, size_t path_bytes)
{
	struct wh_sink_place *place = &sink->place;
	const char *slash = memchr(path, '/', path_bytes);
	size_t first_bytes = slash == NULL ? path_bytes : (size_t)(slash - path);
	size_t skipped = sink->as_bytes > 0 ? first_bytes : 0;

	if (wh_path_has_staging_name(path, path_bytes))
		return -EPERM;
	place->bytes = sink->as_bytes + path_bytes - skipped;
	if (place->bytes > WH_PATH_BYTES_MAX || has_long_name(path + skipped, path_bytes - skipped))
		return -ENAMETOOLONG;
	memcpy(place->path, sink->as, sink->as_bytes);
	memcpy(place->path + sink->as_bytes, path + skipped, path_bytes - skipped);
	place->path[place->bytes] = '\0';
	place->parent_bytes = wh_beneath_parent_bytes(place->path, place->bytes);
	place->name = place->path + place->parent_bytes + (place->parent_bytes > 0);
	return 0;
}

/* Opens the folder of sink->place, and creates it if it is missing. */
static int open_folder(struct wh_sink *sink, enum wh_doing *doing)
{
	struct wh_sink_place *place = &sink->place;
	int folder_fd = wh_beneath_folder(&sink->beneath, place->path, place->parent_bytes);
	int rc = 0;

	if (folder_fd != -ELOOP && folder_fd != -EXDEV)
		*doing = WH_DOING_CREATING;
	if (folder_fd >= 0 && wh_beneath_is_new(&sink->beneath, folder_fd))
		rc = wh_sink_check_folder(sink, folder_fd, doing);
	if (rc < 0)
		wh_beneath_forget(&sink->beneath, place->path, place->parent_bytes);
	return rc < 0 ? rc : folder_fd;
}

int wh_sink_place(struct wh_sink *sink, const char *path, size_t path_bytes, enum wh_doing *doing)
{
	int rc = name_place(sink, path, path_bytes);

	*doing = WH_DOING_PATH;
	return rc < 0 ? rc : open_folder(sink, doing);
}

static bool folds(const struct wh_sink *sink)
{
	return sink->config.rules.case_clash == WH_CASE_REFUSE;
}

/* Whether sink->place is a name for one more entry. 0 or a negative errno. */
static int claim_place(struct wh_sink *sink, const struct wh_entry *entry, enum wh_doing *doing)
{
	const struct wh_name name = {
		.path = sink->place.path,
		.bytes = sink->place.bytes,
		.is_folder = wh_entry_is_folder(entry->kind),
		.folds = folds(sink),
	};
	enum wh_name_verdict verdict =
		wh_names_claim(&sink->config.used->names, &sink->config.account, &name);

	sink->place_is_unknown = verdict == WH_NAME_UNKNOWN;
	*doing = verdict == WH_NAME_CLASH ? WH_DOING_FOLDING : WH_DOING_SHARING;
	return verdict == WH_NAME_CLASH || verdict == WH_NAME_TAKEN ? -EEXIST : 0;
}

bool wh_sink_may_have_brought(const struct wh_sink *sink, const char *path, size_t bytes)
{
	return wh_names_may_have(&sink->config.used->names, path, bytes, folds(sink));
}

/* Claims its place, and opens the folder there. A descriptor, or a negative errno. */
int wh_sink_enter(struct wh_sink *sink, const struct wh_entry *entry, enum wh_doing *doing)
{
	int rc = name_place(sink, entry->path, entry->path_bytes);

	*doing = WH_DOING_PATH;
	if (rc == 0)
		rc = claim_place(sink, entry, doing);
	if (rc < 0)
		return rc;
	*doing = WH_DOING_PATH;
	return open_folder(sink, doing);
}

int wh_sink_look_again(const struct wh_sink *sink, int folder_fd, struct stat *status)
{
	if (fstatat(folder_fd, sink->place.name, status, AT_SYMLINK_NOFOLLOW) == 0)
		return S_ISREG(status->st_mode) || S_ISDIR(status->st_mode) ||
				       S_ISLNK(status->st_mode)
			       ? 0
			       : -EEXIST;
	*status = (struct stat){0};
	return errno == ENOENT ? 0 : -errno;
}

int wh_sink_look(const struct wh_sink *sink, int folder_fd, struct stat *status)
{
	if (!wh_beneath_was_empty(&sink->beneath, folder_fd))
		return wh_sink_look_again(sink, folder_fd, status);
	*status = (struct stat){0};
	return 0;
}

/*
 * Status of the existing file, zeros if there is none, without creating folders. 0 or a negative
 * errno.
 */
int wh_sink_look_only(struct wh_sink *sink, const struct wh_entry *entry, struct stat *status,
	enum wh_doing *doing)
{
	char above[WH_PATH_BYTES_MAX + 1];
	struct wh_sink_place *place = &sink->place;
	int rc = name_place(sink, entry->path, entry->path_bytes);
	int fd = sink->anchor_fd;

	*status = (struct stat){0};
	*doing = WH_DOING_PATH;
	if (rc == 0)
		rc = claim_place(sink, entry, doing);
	if (rc < 0 || sink->nothing_there)
		return rc;
	*doing = WH_DOING_PATH;
	memcpy(above, place->path, place->parent_bytes);
	above[place->parent_bytes] = '\0';
	if (place->parent_bytes > 0)
		fd = wh_beneath_open(&sink->beneath, above, O_PATH | O_DIRECTORY);
	if (fd < 0)
		return fd == -ENOENT ? 0 : fd;
	rc = wh_sink_look_again(sink, fd, status);
	if (rc == 0)
		rc = wh_sink_check_name(sink, fd, place->name, status, doing);
	if (fd != sink->anchor_fd)
		close(fd);
	return rc;
}

int wh_sink_open_existing(const struct wh_sink *sink, int folder_fd, struct stat *status)
{
	int fd = openat(folder_fd, sink->place.name,
		O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (fstat(fd, status) == 0 && S_ISREG(status->st_mode))
		return fd;
	close(fd);
	return -ESTALE;
}
