/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file/all_bytes.h"
#include "sink/sink_internal.h"

static_assert(WH_SINK_PIECE_BYTES >= WH_INLINE_BYTES_MAX, "a small file is read in one piece");

/*
 * Whether the existing file has the same bytes; then its attributes are set, and *error is the
 * result. A file that cannot be read is replaced.
 */
static bool keeps(struct wh_sink *sink, const struct wh_entry *entry, int folder_fd, int *error)
{
	const struct wh_more more = wh_more_of(entry);
	struct stat status;
	int fd = wh_sink_open_existing(sink, folder_fd, &status);

	if (fd < 0)
		return false;

	bool same = (uint64_t)status.st_size == entry->size_bytes &&
		    wh_read_all_at(fd, sink->piece, entry->size_bytes, 0) ==
			    (ssize_t)entry->size_bytes &&
		    memcmp(sink->piece, entry->inline_bytes, entry->size_bytes) == 0;

	if (same)
		*error = wh_settle_attributes(
			fd, &status, entry->mode, entry->mtime_s, entry->mtime_ns);
	if (same && *error == 0)
		*error = wh_sink_set_more(sink, fd, entry->mode, &more);
	close(fd);
	return same;
}

/* Writes content and attributes. 0, or a negative errno and what failed. */
static int fill_file(
	struct wh_sink *sink, const struct wh_entry *entry, int fd, enum wh_doing *doing)
{
	const struct wh_more more = wh_more_of(entry);
	uint16_t mode = entry->mode & WH_MODE_MASK;

	*doing = WH_DOING_WRITING;

	int rc = wh_write_all(fd, entry->inline_bytes, entry->size_bytes);

	if (rc < 0)
		return rc;
	*doing = WH_DOING_ATTRIBUTES;
	rc = wh_stage_keeps_mode(sink->stage, fd, mode)
		     ? wh_set_mtime(fd, entry->mtime_s, entry->mtime_ns)
		     : wh_set_attributes(fd, mode, entry->mtime_s, entry->mtime_ns);
	return rc == 0 ? wh_sink_set_more(sink, fd, entry->mode, &more) : rc;
}

/* Writes a small file into the staging folder. 0, or a negative errno and nothing remains. */
static int stage_file(struct wh_sink *sink, const struct wh_entry *entry, struct wh_staged *file,
	enum wh_doing *doing)
{
	*doing = WH_DOING_CREATING;

	int fd = wh_stage_create(sink->stage, entry->mode & WH_MODE_MASK, &file->number);

	if (fd < 0)
		return fd;

	int rc = fill_file(sink, entry, fd, doing);

	if (rc == 0)
		rc = wh_stage_identify(fd, entry->size_bytes, &file->identity);
	if (close(fd) != 0 && rc == 0) {
		*doing = WH_DOING_WRITING;
		rc = -errno;
	}
	if (rc < 0)
		wh_stage_remove(sink->stage, file->number);
	return rc;
}

/* In memory, if the name is free: writes an unnamed file and links it to its name. */
static int name_file(struct wh_sink *sink, const struct wh_entry *entry, int folder_fd,
	struct wh_staged *file, enum wh_doing *doing)
{
	*doing = WH_DOING_CREATING;

	int fd = wh_stage_create_unnamed(sink->stage, entry->mode & WH_MODE_MASK);

	if (fd < 0)
		return fd;

	int rc = fill_file(sink, entry, fd, doing);

	if (rc == 0) {
		*doing = WH_DOING_CREATING;
		file->named = wh_stage_name(fd, folder_fd, sink->place.name) == 0;
		if (!file->named) { /* the name was taken meanwhile, or the folder removed */
			rc = wh_stage_number(sink->stage, fd, &file->number);
			if (rc == 0)
				rc = wh_stage_identify(fd, entry->size_bytes, &file->identity);
		}
	}
	close(fd);
	return rc;
}

static struct wh_staged identity(const struct wh_sink *sink, const struct wh_entry *entry)
{
	return (struct wh_staged){
		.only_new = sink->place_is_unknown,
		.id = entry->id,
		.bytes = entry->size_bytes,
		.path = entry->path,
		.path_bytes = entry->path_bytes,
		.kind = entry->kind,
	};
}

/* Ends a file or link, staged or not. */
static void settle(
	struct wh_sink *sink, struct wh_staged *file, int rc, enum wh_doing doing, uint64_t now_tsc)
{
	if (rc == 0)
		wh_stage_add(sink->stage, file, now_tsc);
	else if (doing != WH_DOING_CREATING || !wh_sink_stage_failed(sink, rc))
		wh_sink_tell_failed(sink, file, rc, doing);
}

static void take_small(struct wh_sink *sink, const struct wh_entry *entry, int folder_fd,
	const struct stat *status, uint64_t now_tsc)
{
	struct wh_staged file = identity(sink, entry);
	enum wh_doing doing;
	int error = 0;

	if (!sink->config.anew && S_ISREG(status->st_mode) &&
		(uint64_t)status->st_size == entry->size_bytes &&
		keeps(sink, entry, folder_fd, &error)) {
		if (error < 0)
			wh_sink_tell_failed(sink, &file, error, WH_DOING_ATTRIBUTES);
		else
			wh_sink_tell_skipped(sink, &file);
		return;
	}
	if (!wh_sink_prepare(sink))
		return;

	bool is_free = status->st_mode == 0 && wh_stage_can_name(sink->stage);
	int rc = is_free ? name_file(sink, entry, folder_fd, &file, &doing)
			 : stage_file(sink, entry, &file, &doing);

	if (rc == 0)
		sink->progress.bytes += entry->size_bytes;
	settle(sink, &file, rc, doing, now_tsc);
}

static bool is_link_there(const struct wh_sink *sink, const struct wh_entry *entry, int folder_fd)
{
	char text[WH_PATH_BYTES_MAX + 1];
	ssize_t bytes = readlinkat(folder_fd, sink->place.name, text, sizeof(text));

	return bytes == (ssize_t)entry->link_bytes && memcmp(text, entry->link, (size_t)bytes) == 0;
}

static void take_link(struct wh_sink *sink, const struct wh_entry *entry, int folder_fd,
	const struct stat *status, uint64_t now_tsc)
{
	struct wh_staged file = identity(sink, entry);
	char text[WH_PATH_BYTES_MAX + 1];

	if (!sink->config.anew && S_ISLNK(status->st_mode) &&
		is_link_there(sink, entry, folder_fd)) {
		wh_sink_tell_skipped(sink, &file);
		return;
	}
	if (!wh_sink_prepare(sink))
		return;
	memcpy(text, entry->link, entry->link_bytes);
	text[entry->link_bytes] = '\0';

	int rc = wh_stage_create_link(sink->stage, text, &file);

	settle(sink, &file, rc, WH_DOING_CREATING, now_tsc);
}

/*
 * Creates a hard link to a complete file of the bundle. Any other file belongs to somebody else,
 * who may not want to share it under one more name.
 */
static void take_hard(struct wh_sink *sink, const struct wh_entry *entry, const struct stat *status,
	uint64_t now_tsc)
{
	struct wh_staged file = identity(sink, entry);
	enum wh_doing doing = WH_DOING_CREATING;
	struct stat first = {0};
	int folder_fd = wh_sink_place(sink, entry->link, entry->link_bytes, &doing);
	int rc = (sink->keeps & WH_CHOICE_HARD_LINKS) == 0 ? -EPERM : 0;

	if (rc == 0 && folder_fd < 0)
		rc = folder_fd;
	if (rc == 0 && !wh_sink_may_have_brought(sink, sink->place.path, sink->place.bytes))
		rc = -EPERM;
	if (rc == 0)
		rc = wh_sink_look_again(sink, folder_fd, &first);
	if (rc == 0 && !S_ISREG(first.st_mode))
		rc = -ENOENT;
	if (rc == 0 && status->st_dev == first.st_dev && status->st_ino == first.st_ino) {
		wh_sink_tell_skipped(sink, &file);
		return;
	}
	if (rc == 0 && !wh_sink_prepare(sink))
		return;
	if (rc == 0)
		rc = wh_stage_create_hard(sink->stage, folder_fd, sink->place.name, &first, &file);
	/*
	 * A failure concerns this link only: the first name may have the maximum number of links.
	 */
	if (rc < 0)
		wh_sink_tell_failed(sink, &file, rc, WH_DOING_CREATING);
	else
		wh_stage_add(sink->stage, &file, now_tsc);
}

bool wh_sink_awaits_files(const struct wh_sink *sink)
{
	uint64_t below = sink->intake.files_below;

	return wh_sink_least_large_id(sink) < below || wh_stage_least_id(sink->stage) < below;
}

/*
 * Fails the entry. If this lane leads the file, the other lanes learn it. False: lanes contradict
 * each other.
 */
static bool fail_entry(
	struct wh_sink *sink, const struct wh_entry *entry, int rc, enum wh_doing doing)
{
	struct wh_staged file = identity(sink, entry);

	if (entry->content == WH_CONTENT_LEAD && !wh_sink_spoil(sink, entry, rc, doing))
		return false;
	wh_sink_tell_failed(sink, &file, rc, doing);
	return true;
}

/* > 0: the existing file is newer. */
static int compare_times(const struct timespec *there, const struct wh_entry *entry)
{
	int64_t ns = there->tv_nsec;
	int64_t entry_ns = entry->mtime_ns;

	if (there->tv_sec != entry->mtime_s)
		return there->tv_sec > entry->mtime_s ? 1 : -1;
	return (ns > entry_ns) - (ns < entry_ns);
}

/* Whether the wishes say that the existing file stays, without looking at its content. */
static bool stays(
	const struct wh_sink *sink, const struct wh_entry *entry, const struct stat *status)
{
	const struct wh_choice *choice = &sink->config.choice;
	int newer = compare_times(&status->st_mtim, entry);

	if (status->st_mode == 0 || (choice->wishes == 0 && !wh_sink_joins(sink)))
		return false;
	/* It gets its time last, so all of its ranges have come. */
	if (wh_sink_joins(sink))
		return S_ISREG(status->st_mode) && entry->kind == WH_ENTRY_FILE && newer == 0 &&
		       (uint64_t)status->st_size == entry->size_bytes;
	if (wh_choice_has(choice, WH_CHOICE_ABSENT))
		return true;
	if (!S_ISREG(status->st_mode) || entry->kind != WH_ENTRY_FILE)
		return false;
	if (wh_choice_has(choice, WH_CHOICE_UPDATE) && newer > 0)
		return true;
	return wh_choice_has(choice, WH_CHOICE_QUICK) && newer == 0 &&
	       (uint64_t)status->st_size == entry->size_bytes &&
	       (status->st_mode & 07777) == (entry->mode & WH_MODE_MASK);
}

/* False: lanes contradict each other. */
static bool skip_entry(struct wh_sink *sink, const struct wh_entry *entry)
{
	struct wh_staged file = identity(sink, entry);

	if (entry->content == WH_CONTENT_LEAD && !wh_sink_pass_over(sink, entry))
		return false;
	wh_sink_tell_skipped(sink, &file);
	return true;
}

static void refuse(struct wh_sink *sink)
{
	wh_sink_break(sink, -EPROTO, WH_DOING_READING);
}

/* A segment needs no place of its own: the lead lane resolves it. */
static void take_segment(struct wh_sink *sink, const struct wh_entry *entry)
{
	const struct stat nothing = {0};

	if (!wh_sink_ask(sink, entry, &nothing))
		refuse(sink);
}

/* By size, time and mode: a dry run reads no content. */
static bool looks_alike(const struct wh_entry *entry, const struct stat *status)
{
	if (wh_entry_is_folder(entry->kind))
		return S_ISDIR(status->st_mode);
	if (entry->kind == WH_ENTRY_LINK)
		return S_ISLNK(status->st_mode);
	return S_ISREG(status->st_mode) && compare_times(&status->st_mtim, entry) == 0 &&
	       (uint64_t)status->st_size == entry->size_bytes;
}

static void take_dry(struct wh_sink *sink, const struct wh_entry *entry)
{
	struct wh_staged file = identity(sink, entry);
	struct stat status;
	enum wh_doing doing;
	int rc = wh_sink_look_only(sink, entry, &status, &doing);

	if (rc == 0 && S_ISDIR(status.st_mode) && !wh_entry_is_folder(entry->kind))
		rc = -EISDIR;
	if (rc < 0)
		wh_sink_tell_failed(sink, &file, rc, doing);
	else if (stays(sink, entry, &status) || looks_alike(entry, &status))
		wh_sink_tell_skipped(sink, &file);
	else
		wh_sink_tell_would(sink, &file);
}

static void take_placed(struct wh_sink *sink, const struct wh_entry *entry, uint64_t now_tsc)
{
	struct stat status;
	enum wh_doing doing;
	int folder_fd = wh_sink_enter(sink, entry, &doing);
	int rc = folder_fd < 0 ? folder_fd : 0;

	if (rc == 0 && wh_entry_is_folder(entry->kind)) {
		wh_sink_take_folder(sink, entry, folder_fd);
		return;
	}
	if (rc == 0)
		rc = wh_sink_look(sink, folder_fd, &status);
	if (rc == 0)
		rc = wh_sink_check_name(sink, folder_fd, sink->place.name, &status, &doing);
	if (rc == 0 && S_ISDIR(status.st_mode))
		rc = -EISDIR;
	if (rc < 0) {
		if (!fail_entry(sink, entry, rc, doing))
			refuse(sink);
	} else if (stays(sink, entry, &status)) {
		if (!skip_entry(sink, entry))
			refuse(sink);
	} else if (entry->kind == WH_ENTRY_HARD) {
		take_hard(sink, entry, &status, now_tsc);
	} else if (entry->kind == WH_ENTRY_LINK) {
		take_link(sink, entry, folder_fd, &status, now_tsc);
	} else if (entry->content == WH_CONTENT_NONE || entry->content == WH_CONTENT_INLINE) {
		take_small(sink, entry, folder_fd, &status, now_tsc);
	} else if (!wh_sink_ask(sink, entry, &status)) {
		refuse(sink);
	}
}

/* False: a rule forbids the entry. Then it has failed, or the bundle has. */
static bool is_allowed(struct wh_sink *sink, const struct wh_entry *entry)
{
	enum wh_doing doing;
	enum wh_ruling ruling =
		wh_rules_judge(&sink->config.rules, sink->config.used, entry, &doing);

	if (ruling == WH_RULING_BROKEN)
		wh_sink_break(sink, -EDQUOT, doing);
	else if (ruling == WH_RULING_FAILED && !fail_entry(sink, entry, -EPERM, doing))
		refuse(sink);
	return ruling == WH_RULING_TAKEN;
}

void wh_sink_take_entry(struct wh_sink *sink, const struct wh_entry *entry, uint64_t now_tsc)
{
	if (wh_content_is_split(entry->content) && !wh_sink_can_join(sink, entry))
		refuse(sink);
	else if (wh_sink_joins(sink) && entry->kind == WH_ENTRY_FILE &&
		 entry->content != WH_CONTENT_ASK)
		refuse(sink); /* only such a file may come range by range */
	else if (entry->content == WH_CONTENT_SEGMENT)
		take_segment(sink, entry);
	else if (!is_allowed(sink, entry))
		return;
	else if (wh_sink_is_dry(sink))
		take_dry(sink, entry);
	else if (sink->config.is_pipe)
		wh_sink_take_piped(sink, entry);
	else
		take_placed(sink, entry, now_tsc);
}
