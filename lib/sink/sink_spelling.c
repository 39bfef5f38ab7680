/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * How existing names are spelled where the file system ignores case. A file must not replace one
 * whose name differs from its own by case: that may be another file of the same tree, brought by an
 * earlier try or job, and removed at its source since (--move).
 *
 * Few file systems tell that they ignore case, and some do it by folder. So it is tried: the folder
 * is asked for the same name in another case. If that is the same file, the folder's names are
 * listed, once per job; the kernel has no other way to tell how a name is spelled.
 */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/assert.h"
#include "sink/sink_internal.h"

/* A name that is missing in a list may be new: the folder is listed again, so often in a job. */
#define LISTED_AGAIN_MAX 256

enum spelling {
	SPELT_EXACTLY, /* the existing name is the same; the folder may ignore case */
	SPELT_ALONE,   /* the folder does not ignore case */
	SPELT_OTHERWISE,
};

/* A name in a folder. The first folder_bytes of `path` are the path of the folder. */
struct spelt {
	int folder_fd;
	const char *path;
	size_t folder_bytes;
	const char *name;
	char whole[WH_PATH_BYTES_MAX + NAME_MAX + 2];
};

/* The path of an entry of the folder. "" marks the folder itself as one that was listed. */
static size_t path_of(struct spelt *spelt, const char *entry)
{
	size_t bytes = strlen(entry);

	memcpy(spelt->whole, spelt->path, spelt->folder_bytes);
	spelt->whole[spelt->folder_bytes] = '/';
	memcpy(spelt->whole + spelt->folder_bytes + 1, entry, bytes + 1);
	return spelt->folder_bytes + 1 + bytes;
}

/* False: there is no memory for it. */
static bool remember(struct wh_sink *sink, struct spelt *spelt, const char *entry)
{
	const struct wh_name name = {.bytes = path_of(spelt, entry), .path = spelt->whole};

	return name.bytes > WH_PATH_BYTES_MAX ||
	       wh_names_claim(&sink->config.used->there, &sink->config.account, &name) !=
		       WH_NAME_UNKNOWN;
}

static bool is_remembered(struct wh_sink *sink, struct spelt *spelt, const char *entry)
{
	size_t bytes = path_of(spelt, entry);

	return bytes <= WH_PATH_BYTES_MAX &&
	       wh_names_has(&sink->config.used->there, spelt->whole, bytes);
}

/* Reads all names of the folder, and remembers them; returns whether the wanted one is there. */
static bool list(struct wh_sink *sink, struct spelt *spelt)
{
	int fd = openat(spelt->folder_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_Alignas(struct dirent64) char entries[16384];
	bool found = false, all = true;
	ssize_t bytes = -1;

	while (fd >= 0 && (bytes = getdents64(fd, entries, sizeof(entries))) > 0)
		for (ssize_t at = 0; at < bytes;) {
			const struct dirent64 *entry = (const struct dirent64 *)(entries + at);

			at += entry->d_reclen;
			if (strlen(entry->d_name) > NAME_MAX)
				continue;
			found |= strcmp(entry->d_name, spelt->name) == 0;
			all = all && remember(sink, spelt, entry->d_name);
		}
	if (fd >= 0)
		close(fd);
	if (!all)
		atomic_store(&sink->config.used->forgets_names, true);
	if (bytes == 0 && all)
		remember(sink, spelt, "");
	return found;
}

/* *status: of what the name leads to. */
static enum spelling spelling_of(
	struct wh_sink *sink, struct spelt *spelt, const struct stat *status)
{
	char other[NAME_MAX + 1];
	struct stat there;

	if (!wh_name_in_other_case(spelt->name, other))
		return SPELT_EXACTLY;
	if (fstatat(spelt->folder_fd, other, &there, AT_SYMLINK_NOFOLLOW) != 0 ||
		there.st_ino != status->st_ino || there.st_dev != status->st_dev)
		return SPELT_ALONE;

	if (is_remembered(sink, spelt, spelt->name))
		return SPELT_EXACTLY;
	/*
	 * Somebody else may have made it since, but that does not happen often. Without memory for
	 * names any folder may have been listed before.
	 */
	if ((is_remembered(sink, spelt, "") || atomic_load(&sink->config.used->forgets_names)) &&
		atomic_fetch_add(&sink->config.used->listed_again, 1) >= LISTED_AGAIN_MAX)
		return SPELT_OTHERWISE;
	return list(sink, spelt) ? SPELT_EXACTLY : SPELT_OTHERWISE;
}

/* A source that may not learn what is here gets no answer that depends on it. */
static bool is_checked(const struct wh_sink *sink)
{
	return sink->config.rules.case_clash != WH_CASE_ALLOW && !sink->config.blind;
}

int wh_sink_check_name(struct wh_sink *sink, int folder_fd, const char *name,
	const struct stat *status, enum wh_doing *doing)
{
	struct spelt spelt = {
		.folder_fd = folder_fd,
		.path = sink->place.path,
		.folder_bytes = sink->place.parent_bytes,
		.name = name,
	};

	if (status->st_mode == 0 || !is_checked(sink) ||
		spelling_of(sink, &spelt, status) != SPELT_OTHERWISE)
		return 0;
	*doing = WH_DOING_FOLDING;
	return -EEXIST;
}

/* The last component of a path; *name is set. */
static struct spelt last_of(const char *path, size_t bytes, char name[NAME_MAX + 1])
{
	size_t above_bytes = wh_beneath_parent_bytes(path, bytes);
	size_t first = above_bytes + (above_bytes > 0);

	WH_ASSERT(bytes - first <= NAME_MAX);
	memcpy(name, path + first, bytes - first);
	name[bytes - first] = '\0';
	return (struct spelt){
		.folder_fd = -1, .path = path, .folder_bytes = above_bytes, .name = name};
}

/*
 * Remembers a name that this job has made, which is spelled as wanted. It matters in listed
 * folders.
 */
void wh_sink_note_made(struct wh_sink *sink, const char *path, size_t bytes)
{
	char name[NAME_MAX + 1];
	struct spelt spelt = last_of(path, bytes, name);

	if (is_checked(sink) && is_remembered(sink, &spelt, ""))
		remember(sink, &spelt, name);
}

/* The last component of a folder's path, found in the folder above. */
static enum spelling folder_spelling(
	struct wh_sink *sink, int folder_fd, int above_fd, const char *path, size_t bytes)
{
	char name[NAME_MAX + 1];
	struct spelt spelt = last_of(path, bytes, name);
	struct stat status;

	spelt.folder_fd = above_fd;
	if (fstat(folder_fd, &status) != 0)
		return SPELT_ALONE; /* gone: what follows fails, too */
	return spelling_of(sink, &spelt, &status);
}

int wh_sink_check_folder(struct wh_sink *sink, int folder_fd, enum wh_doing *doing)
{
	const struct wh_sink_place *place = &sink->place;
	size_t found_bytes = wh_beneath_found_bytes(&sink->beneath, folder_fd);
	enum spelling spelling = SPELT_EXACTLY;
	int fd = folder_fd;

	if (!is_checked(sink))
		return 0;
	/* Upwards, until a folder does not ignore case: those in one that does inherit it. */
	for (size_t bytes = place->parent_bytes; bytes > 0 && spelling == SPELT_EXACTLY;
		bytes = wh_beneath_parent_bytes(place->path, bytes)) {
		int above_fd = openat(fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);

		if (above_fd < 0)
			break;
		if (bytes > found_bytes)
			wh_sink_note_made(sink, place->path, bytes);
		else
			spelling = folder_spelling(sink, fd, above_fd, place->path, bytes);
		if (fd != folder_fd)
			close(fd);
		fd = above_fd;
	}
	if (fd != folder_fd)
		close(fd);
	if (spelling != SPELT_OTHERWISE)
		return 0;
	*doing = WH_DOING_FOLDING;
	return -EEXIST;
}
