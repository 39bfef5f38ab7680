/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/clock.h"
#include "sink/sink_internal.h"

/* Blocks reserved per call, which takes well below a millisecond. */
#define RESERVE_BYTES (UINT64_C(256) << 20)

struct wh_staged wh_large_entry(const struct wh_sink *sink, const struct wh_large *file)
{
	return (struct wh_staged){
		.id = file->id,
		.bytes = file->size_bytes,
		.number = file->number,
		.identity = file->identity,
		.kept = file->kept,
		.only_new = file->only_new,
		.row = file->row,
		.lock_fd = -1,
		.path = sink->large_paths[file - sink->large],
		.path_bytes = file->path_bytes,
		.kind = WH_ENTRY_FILE,
	};
}

struct wh_large *wh_sink_find_large(struct wh_sink *sink, uint64_t id)
{
	for (uint32_t i = 0; i < WH_SINK_LARGE_MAX; i++)
		if (sink->large[i].state != WH_LARGE_NONE && sink->large[i].id == id)
			return &sink->large[i];
	return NULL;
}

struct wh_large *wh_sink_first_large(struct wh_sink *sink, enum wh_large_state state)
{
	struct wh_large *first = NULL;

	for (uint32_t i = 0; i < WH_SINK_LARGE_MAX; i++) {
		struct wh_large *file = &sink->large[i];

		if (file->state == state && !file->failed &&
			(first == NULL || file->id < first->id))
			first = file;
	}
	return first;
}

uint64_t wh_sink_least_large_id(const struct wh_sink *sink)
{
	uint64_t least = UINT64_MAX;

	for (uint32_t i = 0; sink->large_count > 0 && i < WH_SINK_LARGE_MAX; i++)
		if (sink->large[i].state != WH_LARGE_NONE)
			least = wh_min_u64(least, sink->large[i].id);
	return least;
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
	wh_sink_unkeep(sink, file);
	wh_large_leave(sink, file);
	file->state = WH_LARGE_NONE;
	sink->large_count--;
}

/* A kept file's lock, which outlives its descriptors then: the caller's. -1: none. */
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

void wh_large_fail(struct wh_sink *sink, struct wh_large *file, int error, enum wh_doing doing)
{
	WH_ASSERT(error < 0);
	if (file->failed)
		return;
	file->failed = true;
	file->error = error;
	file->doing = (uint8_t)doing;
	if (wh_is_full(error))
		wh_large_note_last(sink, file);
	wh_large_give_up_room(sink, file);
	sink->keep.lets_go = true;
	sink->untold++;
	if (sink->reserving == file)
		sink->reserving = NULL;
	if (file->assembly != NULL)
		wh_assembly_fail(sink->config.assemblies, file->assembly, error, doing);
}

static enum wh_large_state first_state(
	const struct wh_sink *sink, struct wh_large *file, const struct stat *status)
{
	bool may_compare = !sink->config.anew && !file->is_stream && S_ISREG(status->st_mode) &&
			   (uint64_t)status->st_size == file->size_bytes;

	file->may_compare = may_compare;
	if (wh_large_is_part(file))
		return WH_LARGE_AWAIT;
	if (wh_sink_keeps(sink, file))
		return WH_LARGE_RECALL;
	if (file->may_list)
		return WH_LARGE_LIST;
	return may_compare ? WH_LARGE_COMPARE : WH_LARGE_RESERVE;
}

/* Copies the attributes, because the record is gone before the file is complete. */
static void keep_more(struct wh_sink *sink, struct wh_large *file, const struct wh_entry *entry)
{
	uint8_t *xattrs = NULL;

	if (sink->keeps == 0 || entry->content == WH_CONTENT_PART)
		return;
	file->more = wh_more_of(entry);
	if (entry->xattr_bytes > 0) {
		xattrs = malloc(entry->xattr_bytes);
		if (xattrs == NULL)
			wh_large_fail(sink, file, -ENOMEM, WH_DOING_ATTRIBUTES);
		else
			memcpy(xattrs, entry->xattrs, entry->xattr_bytes);
	}
	file->more.xattrs = xattrs;
}

bool wh_sink_ask(struct wh_sink *sink, const struct wh_entry *entry, const struct stat *status)
{
	struct wh_large *file = sink->large;

	if (sink->large_count - sink->closing_count - sink->gathering >= WH_SOURCE_ASKED)
		return false;
	WH_ASSERT(sink->large_count < WH_SINK_LARGE_MAX);
	while (file->state != WH_LARGE_NONE)
		file++;
	*file = (struct wh_large){
		.id = entry->id,
		.size_bytes = entry->size_bytes,
		.data_bytes = entry->size_bytes - entry->hole_bytes,
		.mtime_s = entry->mtime_s,
		.mtime_ns = entry->mtime_ns,
		.mode = entry->mode,
		.path_bytes = entry->path_bytes,
		.end = entry->content == WH_CONTENT_STREAM ? INT64_MAX : entry->size_bytes,
		.is_stream = entry->content == WH_CONTENT_STREAM,
		.only_new = sink->place_is_unknown,
		.fd = -1,
		.kept_fd = -1,
		.source = {.size_bytes = entry->size_bytes,
			.mtime_s = entry->mtime_s,
			.mtime_ns = entry->mtime_ns,
			.ctime_ns = entry->ctime_ns,
			.inode = entry->inode,
			.ctime_s = entry->ctime_s},
	};
	if (wh_content_is_split(entry->content) && !wh_large_join(sink, file, entry))
		return false;
	file->proved = file->noted = file->first;
	file->may_list = wh_sink_may_list(sink, file, entry, status);
	file->state = (uint8_t)first_state(sink, file, status);
	memcpy(sink->large_paths[file - sink->large], entry->path, entry->path_bytes);
	sink->large_count++;
	keep_more(sink, file, entry);
	return true;
}

/* The folder that the file goes into; sets sink->place. */
static int place(struct wh_sink *sink, const struct wh_large *file)
{
	struct wh_staged entry = wh_large_entry(sink, file);
	enum wh_doing doing;

	return wh_sink_place(sink, entry.path, entry.path_bytes, &doing);
}

int wh_large_open_existing(struct wh_sink *sink, const struct wh_large *file, struct stat *status)
{
	int folder_fd = place(sink, file);

	return folder_fd < 0 ? folder_fd : wh_sink_open_existing(sink, folder_fd, status);
}

/* The existing file differs, or does not exist. */
static void compare_no_more(struct wh_sink *sink)
{
	if (sink->existing_fd >= 0)
		close(sink->existing_fd);
	sink->existing_fd = -1;
	sink->comparing->state = WH_LARGE_RESERVE;
	sink->comparing = NULL;
}

static bool compare_begin(struct wh_sink *sink)
{
	struct stat status;

	sink->comparing = wh_sink_first_large(sink, WH_LARGE_COMPARE);
	if (sink->comparing == NULL)
		return false;

	sink->existing_fd = wh_large_open_existing(sink, sink->comparing, &status);
	sink->existing_offset = 0;
	wh_hasher_init(&sink->existing);
	if (sink->existing_fd >= 0 && (uint64_t)status.st_size == sink->comparing->size_bytes)
		return true;
	compare_no_more(sink);
	return false;
}

/* Hashes the next piece of the existing file; at its end HAVE is sent. */
static int32_t compare(struct wh_sink *sink)
{
	struct wh_large *file = sink->comparing;
	size_t bytes = wh_min_u64(WH_SINK_PIECE_BYTES, file->size_bytes - sink->existing_offset);
	ssize_t got = pread(sink->existing_fd, sink->piece, bytes, (off_t)sink->existing_offset);
	struct wh_digest digest;

	if (got < 0 && errno == EINTR)
		return 1;
	if (got <= 0) {
		compare_no_more(sink);
		return 1;
	}
	wh_hasher_add(&sink->existing, sink->piece, (size_t)got);
	sink->existing_offset += (uint64_t)got;
	WH_ASSERT(sink->existing_offset <= file->size_bytes);
	if (sink->existing_offset < file->size_bytes)
		return 1;
	wh_hasher_digest(&sink->existing, &digest);
	wh_sink_answer_have(sink, file->id, &digest);
	file->had = true;
	file->state = WH_LARGE_ANSWERED;
	close(sink->existing_fd);
	sink->existing_fd = -1;
	sink->comparing = NULL;
	return 1;
}

/*
 * A file that may be kept has its final size from the start, because no part is shorter than its
 * data. A head is created in the folder of parts, since other lanes open it there; others move when
 * there is something to keep.
 */
static int create(struct wh_sink *sink, struct wh_large *file)
{
	bool keeps = wh_sink_keeps(sink, file), kept = keeps && file->is_head;
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

static int open_staged(struct wh_sink *sink, struct wh_large *file)
{
	if (wh_large_is_part(file))
		return wh_large_open_part(sink, file);
	if (!wh_sink_prepare(sink))
		return -ECANCELED;
	if (file->staged)
		return wh_stage_reopen(sink->stage, file->number, file->kept, file->identity.inode);

	int fd = create(sink, file);

	if (fd < 0 && wh_sink_stage_failed(sink, fd))
		return -ECANCELED;
	return fd;
}

/* Reduces the promise to what is still needed. */
static void take_back_to(struct wh_sink *sink, struct wh_large *file, uint64_t needed)
{
	if (file->promised <= needed)
		return;

	uint64_t bytes = file->promised - needed;

	wh_room_take_back(sink->room, bytes);
	if (sink->config.share != NULL)
		atomic_fetch_sub(&sink->config.share->promised_bytes, bytes);
	file->promised = needed;
}

static void take_back(struct wh_sink *sink, struct wh_large *file, uint64_t bytes)
{
	take_back_to(sink, file, file->promised - wh_min_u64(bytes, file->promised));
}

void wh_large_wrote(struct wh_sink *sink, struct wh_large *file, uint32_t bytes)
{
	if (file->reserved == file->from)
		take_back(sink, file, bytes);
}

void wh_large_went_on(struct wh_sink *sink, struct wh_large *file, uint32_t bytes)
{
	file->offset += bytes;
	WH_ASSERT(file->offset <= file->end);
	take_back_to(sink, file, file->end - file->offset);
}

void wh_large_give_up_room(struct wh_sink *sink, struct wh_large *file)
{
	take_back_to(sink, file, 0);
}

/*
 * Admits a file if there is space for its data, and promises as much of it as its owner's limit
 * allows; with a limit all promises together are at most half of the free space, so that files
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
		take_back(sink, file, promised - share->most_bytes);
	take_back(sink, file, wh_room_beyond_half(sink->room, file->fd));
	return 0;
}

/*
 * Not in memory, where page allocation is two thirds of a write's cost and reserving would cost as
 * much again; not for files with holes, which would lose them.
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
	take_back(sink, file, bytes);
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
		if (rc == 0 && file->is_head && file->assembly->folder_fd < 0)
			rc = wh_large_is_staged(sink, file);
	}
	while (rc == 0 && !wh_large_is_ready(sink, file, end))
		rc = reserve_blocks(sink, file);
	if (rc < 0 && rc != -EINTR)
		wh_large_fail(sink, file, rc, file->let_in ? WH_DOING_WRITING : WH_DOING_RESERVING);
	return rc == 0;
}

/* Then the source may send. The file is closed until it does, since there may be many. */
static int32_t reserve(struct wh_sink *sink)
{
	struct wh_large *file = sink->reserving;

	if (wh_large_reserve(sink, file, 0) == 0) {
		if (file->failed)
			sink->reserving = NULL;
		return 1;
	}
	/* A head stays open: other lanes may be ahead of it, and the journal must know the file. */
	if (!file->is_head || !file->kept) {
		close(file->fd);
		file->fd = -1;
	}
	file->state = WH_LARGE_ANSWERED;
	sink->reserving = NULL;
	wh_sink_answer_want(sink, file);
	return 1;
}

/* Nothing will arrive before an answer was sent, so the entry ends here. */
static void tell_one(struct wh_sink *sink, struct wh_large *file)
{
	struct wh_staged entry = wh_large_entry(sink, file);

	if (wh_large_is_part(file))
		wh_sink_answer_needless(sink, file->id);
	else
		wh_sink_tell_failed(sink, &entry, file->error, (enum wh_doing)file->doing);
	WH_ASSERT(file->failed && !file->told && sink->untold > 0);
	file->told = true;
	sink->untold--;
	if (file->state == WH_LARGE_RESERVE || file->state == WH_LARGE_AWAIT ||
		file->state == WH_LARGE_RECALL || file->state == WH_LARGE_LIST)
		wh_large_discard(sink, file);
}

static int32_t tell_failures(struct wh_sink *sink)
{
	for (uint32_t i = 0; i < WH_SINK_LARGE_MAX && sink->untold > 0; i++) {
		struct wh_large *file = &sink->large[i];

		if (file->state == WH_LARGE_NONE || !file->failed || file->told)
			continue;
		if (!wh_sink_can_answer(sink))
			return 0;
		tell_one(sink, file);
		return 1;
	}
	return 0;
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
	if (file->is_head)
		wh_assembly_skip(sink->config.assemblies, file->assembly);
	if (rc < 0)
		wh_sink_tell_failed(sink, &entry, rc, doing);
	else
		wh_sink_tell_skipped(sink, &entry);
	wh_large_forget(sink, file);
	if (staged)
		wh_stage_discard(sink->stage, &entry);
}

void wh_large_close(struct wh_sink *sink, struct wh_large *file)
{
	WH_ASSERT(sink->closing_count < WH_SINK_CLOSING_MAX);
	WH_ASSERT(file->state == WH_LARGE_COMING || file->state == WH_LARGE_ANSWERED);
	file->state = WH_LARGE_CLOSING;
	sink->closing[sink->closing_count++] = file;
}

/* All bytes are written. 0, or a negative errno and what failed. */
static int complete(const struct wh_sink *sink, struct wh_large *file, enum wh_doing *doing)
{
	int rc = 0;

	*doing = WH_DOING_WRITING;
	if ((file->padded || file->is_head) && ftruncate(file->fd, (off_t)file->size_bytes) != 0)
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

	WH_ASSERT(!file->failed && file->in_air == 0 && !wh_large_is_part(file));

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

/* Whether the file can leave `closing`. */
static bool settle(struct wh_sink *sink, struct wh_large *file, uint64_t now_tsc)
{
	if (file->in_air > 0 || wh_sink_notes(sink, file))
		return false;
	if (!file->failed && !wh_basis_is_over(file))
		return false;
	if (!file->failed && file->assembly != NULL) {
		wh_large_close_part(sink, file);
		if (file->state == WH_LARGE_GATHERS)
			return true;
	} else if (!file->failed) {
		if (!wh_stage_has_room(sink->stage))
			return false;
		wh_large_add(sink, file, now_tsc);
	}
	if (file->failed && !file->told)
		return false;
	if (file->failed)
		wh_large_discard(sink, file);
	else
		wh_large_forget(sink, file);
	return true;
}

static int32_t settle_closing(struct wh_sink *sink, uint64_t now_tsc)
{
	int32_t settled = 0;

	for (uint32_t i = 0; i < sink->closing_count;) {
		if (!settle(sink, sink->closing[i], now_tsc)) {
			i++;
			continue;
		}
		sink->closing[i] = sink->closing[--sink->closing_count];
		settled++;
	}
	return settled;
}

int32_t wh_sink_poll_large(struct wh_sink *sink, uint64_t now_tsc)
{
	int32_t work = wh_sink_poll_keep(sink, now_tsc);

	if (sink->large_count == 0)
		return work;
	work += wh_sink_poll_parts(sink, now_tsc);
	work += wh_sink_poll_blocks(sink);
	work += tell_failures(sink);
	work += settle_closing(sink, now_tsc);
	if (!wh_sink_can_answer(sink))
		return work;
	if (sink->reserving == NULL && sink->full == 0)
		sink->reserving = wh_sink_first_large(sink, WH_LARGE_RESERVE);
	if (sink->reserving != NULL)
		work += reserve(sink);
	if (!wh_sink_is_running(sink) || !wh_sink_can_answer(sink))
		return work;
	if (sink->comparing != NULL || compare_begin(sink))
		work += compare(sink);
	return work;
}
