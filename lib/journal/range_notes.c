/* SPDX-License-Identifier: BSD-3-Clause */
#include "journal/range_notes.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/assert.h"
#include "file/all_bytes.h"
#include "file/digest.h"

#define MAGIC      UINT64_C(0x317365676e617277) /* and another byte order is another number */
#define NAME_CHARS 32
#define HEAD_BYTES 8192

struct range_head {
	uint64_t magic;
	uint64_t inode; /* of the part */
	uint32_t number;
	uint32_t path_bytes;
	uint64_t size_bytes;
	int64_t mtime_s;
	int64_t ctime_s;
	uint64_t source_inode;
	uint32_t mtime_ns;
	uint32_t ctime_ns;
	uint8_t owner[WH_JOURNAL_OWNER_BYTES];
	char path[WH_JOURNAL_PLACE_BYTES];
};

struct slot {
	uint64_t end;
	uint64_t to;
};

static_assert(sizeof(struct range_head) <= HEAD_BYTES, "slots begin behind the head");

/* All but the part. */
static void fill(struct range_head *head, const struct wh_ranges_key *key)
{
	const struct wh_journal_source *source = &key->source;

	WH_ASSERT(key->target.path_bytes <= sizeof(head->path));
	memset(head, 0, sizeof(*head));
	head->magic = MAGIC;
	head->path_bytes = key->target.path_bytes;
	head->size_bytes = source->size_bytes;
	head->mtime_s = source->mtime_s;
	head->ctime_s = source->ctime_s;
	head->source_inode = source->inode;
	head->mtime_ns = source->mtime_ns;
	head->ctime_ns = source->ctime_ns;
	memcpy(head->owner, key->owner.id, sizeof(head->owner));
	memcpy(head->path, key->target.path, key->target.path_bytes);
}

static uint64_t hash_of(const struct range_head *head)
{
	struct wh_hasher hasher;
	struct wh_digest digest;
	uint64_t hash;

	wh_hasher_init(&hasher);
	wh_hasher_add(&hasher, head, sizeof(*head));
	wh_hasher_digest(&hasher, &digest);
	memcpy(&hash, digest.bytes, sizeof(hash));
	return hash != 0 ? hash : 1;
}

static const char *name_of(char name[NAME_CHARS], uint64_t hash)
{
	snprintf(name, NAME_CHARS, "%016" PRIx64 ".ranges", hash);
	return name;
}

/* Whether the notes that are open are of this file. 0 or a negative errno. */
static int check(const struct range_head *mine, struct wh_ranges *notes, struct range_head *theirs)
{
	struct stat status;

	if (fstat(notes->fd, &status) != 0)
		return -errno;
	if (!S_ISREG(status.st_mode) || status.st_uid != geteuid() ||
		wh_read_all_at(notes->fd, theirs, sizeof(*theirs), 0) != (ssize_t)sizeof(*theirs))
		return -EEXIST;
	notes->number = theirs->number;
	notes->inode = theirs->inode;
	theirs->number = 0;
	theirs->inode = 0;
	return memcmp(mine, theirs, sizeof(*mine)) == 0 ? 0 : -EEXIST;
}

int wh_ranges_open(int parts_fd, const struct wh_ranges_key *key, struct wh_ranges *notes)
{
	struct range_head mine, theirs;
	char name[NAME_CHARS];
	int rc;

	fill(&mine, key);
	notes->hash = hash_of(&mine);
	notes->fd = openat(
		parts_fd, name_of(name, notes->hash), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	rc = notes->fd < 0 ? -errno : check(&mine, notes, &theirs);
	if (rc < 0 && notes->fd >= 0)
		close(notes->fd);
	return rc;
}

/* A file of another name, which is whole before it gets its own. */
static int write_head(int parts_fd, const struct range_head *head, const char *draft)
{
	int fd =
		openat(parts_fd, draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	int rc = fd < 0 ? -errno : wh_write_all(fd, head, sizeof(*head));

	if (rc == 0 && fsync(fd) != 0)
		rc = -errno;
	if (fd >= 0)
		close(fd);
	return rc;
}

int wh_ranges_make(int parts_fd, const struct wh_ranges_key *key, uint32_t number, uint64_t inode)
{
	struct range_head head;
	char name[NAME_CHARS], draft[NAME_CHARS];
	uint64_t drawn;
	int rc;

	fill(&head, key);
	name_of(name, hash_of(&head));
	head.number = number;
	head.inode = inode;
	rc = getrandom(&drawn, sizeof(drawn), 0) == (ssize_t)sizeof(drawn) ? 0 : -EIO;
	snprintf(draft, sizeof(draft), "%016" PRIx64 ".new", drawn);
	if (rc == 0)
		rc = write_head(parts_fd, &head, draft);
	if (rc == 0 && linkat(parts_fd, draft, parts_fd, name, 0) != 0)
		rc = -errno;
	if (rc == 0 && fsync(parts_fd) != 0)
		rc = -errno;
	(void)unlinkat(parts_fd, draft, 0);
	return rc;
}

static off_t place_of(uint64_t from)
{
	return (off_t)(HEAD_BYTES + from / WH_RANGES_ALIGN_BYTES * sizeof(struct slot));
}

/* Zeros if nobody has written it. */
static struct slot read_slot(const struct wh_ranges *notes, uint64_t from)
{
	struct slot slot = {0};

	if (wh_read_all_at(notes->fd, &slot, sizeof(slot), place_of(from)) != (ssize_t)sizeof(slot))
		return (struct slot){0};
	return slot;
}

uint64_t wh_ranges_done(const struct wh_ranges *notes, const struct wh_segment *range)
{
	const struct slot slot = read_slot(notes, range->from);

	return slot.end == range->end && slot.to > range->from && slot.to <= range->end
		       ? slot.to
		       : range->from;
}

int wh_ranges_note(
	const struct wh_ranges *notes, const struct wh_segment *range, uint64_t to, bool anew)
{
	const struct slot slot = {.end = range->end, .to = to};
	ssize_t written;

	WH_ASSERT(range->from % WH_RANGES_ALIGN_BYTES == 0 && to <= range->end);
	if (!anew && wh_ranges_done(notes, range) >= to)
		return 0;
	written = pwrite(notes->fd, &slot, sizeof(slot), place_of(range->from));
	if (written != (ssize_t)sizeof(slot))
		return written < 0 ? -errno : -EIO;
	return fdatasync(notes->fd) != 0 ? -errno : 0;
}

bool wh_ranges_are_whole(const struct wh_ranges *notes, uint64_t size_bytes)
{
	uint64_t from = 0;

	while (from < size_bytes) {
		const struct slot slot = read_slot(notes, from);

		if (slot.end <= from || slot.to != slot.end || slot.end > size_bytes ||
			(slot.end < size_bytes && slot.end % WH_RANGES_ALIGN_BYTES != 0))
			return false;
		from = slot.end;
	}
	return true;
}

void wh_ranges_drop(int parts_fd, const struct wh_ranges *notes)
{
	char name[NAME_CHARS];
	struct stat mine, named;

	/* Another job may have dropped them already, and made its own. */
	if (flock(notes->fd, LOCK_EX | LOCK_NB) == 0 && fstat(notes->fd, &mine) == 0 &&
		fstatat(parts_fd, name_of(name, notes->hash), &named, AT_SYMLINK_NOFOLLOW) == 0 &&
		mine.st_ino == named.st_ino)
		(void)unlinkat(parts_fd, name, 0);
}

void wh_ranges_end(int parts_fd, uint64_t hash)
{
	char name[NAME_CHARS];

	(void)unlinkat(parts_fd, name_of(name, hash), 0);
}
