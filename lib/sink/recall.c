/* SPDX-License-Identifier: BSD-3-Clause */
#include "sink/recall.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/clock.h"
#include "bundle/staging_name.h"
#include "file/background.h"
#include "file/likeness.h"
#include "journal/shared_part.h"
#include "stage/stage.h"

/* A request's own copy of its subject. */
struct subject {
	struct wh_keeping keeping;
	struct wh_keeping_file file;
	char path[WH_PATH_BYTES_MAX];
};

struct wh_recall {
	struct subject subject;
	uint32_t lanes;
	uint32_t chunk_bytes;
	struct wh_recalled found;
	_Atomic bool stop;
	_Atomic uint64_t done;
	struct wh_background_shared shared;
};

struct wh_noting {
	struct subject subject;
	struct wh_note note;
	char place[WH_JOURNAL_PLACE_BYTES];
	bool is_whole;
	int rc;
	struct wh_background_shared shared;
};

/* `file` NULL: no file is concerned. 0 or a negative errno. */
static int copy_subject(struct subject *subject, const struct wh_keeping *keeping,
	const struct wh_keeping_file *file)
{
	subject->keeping = *keeping;
	subject->file.anchor_fd = -1;
	if (file == NULL)
		return 0;
	WH_ASSERT(file->target.path_bytes <= WH_PATH_BYTES_MAX);
	subject->file = *file;
	memcpy(subject->path, file->target.path, file->target.path_bytes);
	subject->file.target.path = subject->path;
	subject->file.anchor_fd = fcntl(file->anchor_fd, F_DUPFD_CLOEXEC, 0);
	return subject->file.anchor_fd < 0 ? -errno : 0;
}

static void close_if_open(int fd)
{
	if (fd >= 0)
		close(fd);
}

/* Opens and locks the part, if it matches its row; or a negative errno. -EBUSY: in use. */
static int claim(int parts_fd, const struct wh_journal_part *part, uint64_t size_bytes)
{
	struct stat status;
	char name[16];

	snprintf(name, sizeof(name), "%u", part->number);

	int fd = openat(parts_fd, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) || status.st_uid != geteuid() ||
		status.st_ino != part->inode || (uint64_t)status.st_size < size_bytes) {
		close(fd);
		return -ENOENT;
	}
	if (flock(fd, LOCK_EX | LOCK_NB) == 0)
		return fd;
	close(fd);
	return -EBUSY;
}

/*
 * End of the whole durable chunks from the lane's beginning on. Less than all, so that something
 * remains to be sent.
 */
static uint64_t durable_to(
	const struct wh_journal_part *part, const struct wh_segment *lane, uint32_t chunk_bytes)
{
	for (uint32_t i = 0; i < part->spans; i++) {
		const struct wh_journal_span *span = &part->span[i];
		uint64_t end = wh_min_u64(span->end, lane->end - 1);

		if (span->from <= lane->from && end > lane->from)
			return end - (end - lane->from) % chunk_bytes;
	}
	return lane->from;
}

/* False: everything is sent again. */
static bool draw_seed(uint64_t *seed)
{
	return getrandom(seed, sizeof(*seed), 0) == (ssize_t)sizeof(*seed);
}

/* What the job's i-th lane brings. */
static struct wh_segment lane_of(const struct wh_recall *recall, uint32_t i)
{
	uint64_t size_bytes = recall->subject.file.source.size_bytes;

	if (recall->subject.file.join[0] != '\0')
		return recall->subject.file.range;
	return recall->lanes > 1 ? wh_segment_of(size_bytes, recall->lanes, i)
				 : (struct wh_segment){.end = size_bytes};
}

static void prove(struct wh_recall *recall, uint32_t i)
{
	struct wh_segment lane = lane_of(recall, i);
	struct wh_recalled_lane *found = &recall->found.lane[i];
	enum wh_resume resume = recall->subject.keeping.resume;

	found->to = durable_to(&recall->found.part, &lane, recall->chunk_bytes);
	if (resume == WH_RESUME_OFF)
		found->to = lane.from;
	if (found->to == lane.from || resume == WH_RESUME_ATTRIBUTES)
		return;
	if (!draw_seed(&found->seed) || wh_likeness(recall->found.fd,
						&(struct wh_likeness_run){.from = lane.from,
							.to = found->to,
							.all = resume == WH_RESUME_FULL,
							.seed = found->seed},
						&recall->stop, &recall->done, &found->digest) != 0)
		found->to = lane.from;
}

/* Removes an unusable part and its row; false: a job uses it. */
static bool drop_part(struct wh_recall *recall, int parts_fd)
{
	const struct wh_journal_part *part = &recall->found.part;
	int fd = parts_fd < 0 ? -ENOENT : claim(parts_fd, part, 0);
	char name[16];

	if (fd == -EBUSY)
		return false;
	snprintf(name, sizeof(name), "%u", part->number);
	if (fd >= 0) {
		unlinkat(parts_fd, name, 0);
		close(fd);
	}
	wh_journal_forget(recall->subject.keeping.journal, &part->row, 1);
	return true;
}

static int find(struct wh_recall *recall)
{
	const struct wh_keeping_file *file = &recall->subject.file;

	return wh_journal_find(recall->subject.keeping.journal, &file->target,
		&recall->subject.keeping.owner, &file->source, &recall->found.part);
}

/* Reads the row again, under the lock: a job that used the part may have changed it. */
static void confirm(struct wh_recall *recall)
{
	struct wh_recalled *found = &recall->found;
	const struct wh_journal_part before = found->part;

	if (find(recall) == WH_JOURNAL_PART && found->part.row == before.row &&
		found->part.number == before.number && found->part.inode == before.inode)
		return;
	close(found->fd);
	found->fd = -EBUSY;
}

static void prove_lanes(struct wh_recall *recall)
{
	for (uint32_t i = 0; recall->found.fd >= 0 && i < recall->lanes; i++)
		prove(recall, i);
}

static void look(struct wh_recall *recall)
{
	struct wh_recalled *found = &recall->found;
	struct wh_keeping_file *file = &recall->subject.file;

	/* FULL compares all bytes, so the peer may continue it with a copy of the file. */
	if (recall->subject.keeping.resume == WH_RESUME_FULL) {
		file->source.inode = 0;
		file->source.ctime_s = 0;
		file->source.ctime_ns = 0;
	}

	int rc = find(recall);

	if (rc <= 0)
		return;

	int parts_fd = openat(
		file->anchor_fd, WH_PARTS_FOLDER, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (rc == WH_JOURNAL_PART && parts_fd >= 0)
		found->fd = claim(parts_fd, &found->part, file->source.size_bytes);
	if (found->fd >= 0)
		confirm(recall);
	found->busy = found->fd == -EBUSY;
	if (found->fd < 0 && !found->busy)
		found->busy = !drop_part(recall, parts_fd);
	found->changed = rc == WH_JOURNAL_CHANGED && !found->busy;
	close_if_open(parts_fd);
	prove_lanes(recall);
}

/* Who has the word may bring ranges, whatever his key: it stands in the owner's place. */
static struct wh_ranges_key key_of(const struct subject *subject)
{
	const struct wh_keeping_file *file = &subject->file;
	struct wh_ranges_key key = {.target = file->target, .source = file->source};

	static_assert(WH_JOIN_BYTES_MAX <= sizeof(key.owner.id), "a word is an owner");
	memcpy(key.owner.id, file->join, strlen(file->join));
	key.owner.bytes_max = subject->keeping.owner.bytes_max;
	return key;
}

static void look_for_shared(struct wh_recall *recall)
{
	const struct wh_keeping_file *file = &recall->subject.file;
	const struct wh_ranges_key key = key_of(&recall->subject);
	struct wh_recalled *found = &recall->found;
	struct wh_shared_part part;
	int rc = wh_shared_part_claim(file->anchor_fd, &key, &file->range, &part);

	found->busy = rc == -EBUSY;
	found->error = rc;
	if (rc < 0)
		return;
	found->fd = part.fd;
	found->ranges = part.notes;
	found->part = (struct wh_journal_part){
		.number = part.number,
		.inode = part.inode,
		.spans = part.to > file->range.from,
		.span = {{file->range.from, part.to}},
	};
	prove_lanes(recall);
}

static void drop_recall(struct wh_recall *recall)
{
	close_if_open(recall->found.fd);
	close_if_open(recall->subject.file.anchor_fd);
	free(recall);
}

static void run_recall(void *argument)
{
	struct wh_recall *recall = argument;

	if (recall->subject.file.join[0] != '\0')
		look_for_shared(recall);
	else
		look(recall);
	if (wh_background_finish(&recall->shared))
		drop_recall(recall);
}

struct wh_recall *wh_recall_begin(const struct wh_keeping *keeping,
	const struct wh_keeping_file *file, uint32_t lanes, uint32_t chunk_bytes)
{
	struct wh_recall *recall = calloc(1, sizeof(*recall));

	WH_ASSERT(lanes > 0 && lanes <= WH_SPLIT_LANES_MAX && chunk_bytes > 0);
	if (recall == NULL)
		return NULL;
	recall->lanes = lanes;
	recall->chunk_bytes = chunk_bytes;
	recall->found.fd = -1;
	if (copy_subject(&recall->subject, keeping, file) == 0 &&
		wh_background(run_recall, recall) == 0)
		return recall;
	drop_recall(recall);
	return NULL;
}

int wh_recall_end(struct wh_recall *recall, struct wh_recalled *recalled, uint64_t *done)
{
	*done = atomic_load_explicit(&recall->done, memory_order_relaxed);
	if (!wh_background_is_over(&recall->shared))
		return -EINPROGRESS;
	*recalled = recall->found;
	if (recalled->fd < 0)
		recalled->fd = -1;
	recall->found.fd = -1;
	return 0;
}

void wh_recall_free(struct wh_recall *recall)
{
	if (recall == NULL)
		return;
	atomic_store_explicit(&recall->stop, true, memory_order_relaxed);
	if (wh_background_leave(&recall->shared))
		drop_recall(recall);
}

/* Syncs the folder of parts and its parent. */
static int sync_names(int anchor_fd)
{
	int parts_fd =
		openat(anchor_fd, WH_PARTS_FOLDER, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int own_fd = openat(anchor_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int rc = 0;

	if (parts_fd < 0 || own_fd < 0 || fsync(parts_fd) != 0 || fsync(own_fd) != 0)
		rc = -errno;
	close_if_open(parts_fd);
	close_if_open(own_fd);
	return rc;
}

static int note_shared(struct wh_noting *noting)
{
	const struct wh_keeping_file *file = &noting->subject.file;
	const struct wh_ranges_key key = key_of(&noting->subject);
	const struct wh_shared_note note = {.lock_fd = noting->note.lock_fd,
		.to = noting->note.part.span[0].end,
		.anew = noting->note.anew};

	return wh_shared_part_note(file->anchor_fd, &key, &file->range, &note, &noting->is_whole);
}

/*
 * Data are synced before the journal notes them. The part's mode says that it is noted, or a start
 * removes it (stage/stale.h): the first note is over when that is on the disk, too.
 */
static int note_part(struct wh_noting *noting)
{
	struct wh_journal *journal = noting->subject.keeping.journal;
	const struct wh_keeping_file *file = &noting->subject.file;
	struct wh_note *note = &noting->note;
	bool is_first = note->part.row == 0 && file->join[0] == '\0';
	int rc = is_first ? sync_names(file->anchor_fd) : 0;

	if (rc == 0 && fdatasync(note->fd) != 0)
		rc = -errno;
	if (rc == 0 && file->join[0] != '\0')
		return note_shared(noting);
	if (rc == 0)
		rc = wh_journal_note(journal, &file->target, &file->source,
			&noting->subject.keeping.owner, noting->place, &note->part);
	if (rc < 0 || !is_first || note->part.row == 0)
		return rc;
	rc = wh_stage_noted(note->fd);
	if (rc < 0) {
		wh_journal_forget(journal, &note->part.row, 1);
		note->part.row = 0;
	}
	return rc;
}

/* A row is forgotten once its file has its name on the disk: else nobody would know of the part. */
static int forget_over(const struct wh_noting *noting)
{
	const struct wh_note *note = &noting->note;

	if (syncfs(note->names_fd) != 0)
		return -errno;
	return wh_journal_forget(noting->subject.keeping.journal, note->row, note->over) < 0 ? -EIO
											     : 0;
}

/* The order matters: retractions come first. */
static int work(struct wh_noting *noting)
{
	struct wh_note *note = &noting->note;
	int rc = 0;

	if (note->retract_row != 0)
		rc = wh_journal_retract(noting->subject.keeping.journal, note->retract_row,
			note->retracted.from, note->retracted.end);
	if (rc == 0 && note->fd >= 0)
		rc = note_part(noting);
	if (note->over > 0) {
		int over_rc = forget_over(noting);

		rc = rc == 0 ? over_rc : rc;
	}
	return rc;
}

static void drop_noting(struct wh_noting *noting)
{
	close_if_open(noting->note.fd);
	close_if_open(noting->note.lock_fd);
	close_if_open(noting->note.names_fd);
	close_if_open(noting->subject.file.anchor_fd);
	free(noting);
}

static void run_noting(void *argument)
{
	struct wh_noting *noting = argument;

	noting->rc = work(noting);
	if (wh_background_finish(&noting->shared))
		drop_noting(noting);
}

struct wh_noting *wh_noting_begin(const struct wh_keeping *keeping,
	const struct wh_keeping_file *file, const char *place, const struct wh_note *note)
{
	struct wh_noting *noting = calloc(1, sizeof(*noting));
	int rc;

	WH_ASSERT(note->over <= WH_NOTE_ROWS_MAX && (note->fd < 0 || file != NULL));
	if (noting == NULL)
		return NULL;
	noting->note = *note;
	noting->note.fd = note->fd < 0 ? -1 : fcntl(note->fd, F_DUPFD_CLOEXEC, 0);
	noting->note.lock_fd = note->lock_fd < 0 ? -1 : fcntl(note->lock_fd, F_DUPFD_CLOEXEC, 0);
	noting->note.names_fd = note->over == 0 ? -1 : fcntl(note->names_fd, F_DUPFD_CLOEXEC, 0);
	snprintf(noting->place, sizeof(noting->place), "%s", place);
	rc = copy_subject(&noting->subject, keeping, note->fd < 0 ? NULL : file);
	if (rc == 0 && (note->fd < 0 || noting->note.fd >= 0) &&
		(note->over == 0 || noting->note.names_fd >= 0) &&
		wh_background(run_noting, noting) == 0)
		return noting;
	drop_noting(noting);
	return NULL;
}

int wh_noting_end(struct wh_noting *noting, struct wh_noted *noted)
{
	if (!wh_background_is_over(&noting->shared))
		return -EINPROGRESS;
	*noted = (struct wh_noted){.row = noting->note.part.row, .is_whole = noting->is_whole};
	return noting->rc;
}

void wh_noting_free(struct wh_noting *noting)
{
	if (noting != NULL && wh_background_leave(&noting->shared))
		drop_noting(noting);
}
