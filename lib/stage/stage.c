/* SPDX-License-Identifier: BSD-3-Clause */
#include "stage/stage.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/clock.h"
#include "bundle/beneath.h"
#include "bundle/staging_name.h"
#include "file/background.h"
#include "stage/stale.h"

/* Ample while 26^6 names are free; a bound in case the folder misbehaves. */
#define NAME_TRIES 100

#define NO_MODE UINT32_MAX

static_assert(NO_MODE > UINT16_MAX, "no file has it");
static_assert(WH_BATCH_PATH_BYTES >= WH_PATH_BYTES_MAX, "a batch takes a file of any path");

#define NUMBER_TEXT_MAX 11 /* of a uint32_t, with its NUL */

struct batch {
	uint32_t count;
	uint32_t taken;
	uint32_t path_bytes;
	uint64_t bytes;
	uint64_t least_id;
	uint64_t first_tsc;
	struct wh_staged files[WH_BATCH_FILES];
	char paths[WH_BATCH_PATH_BYTES];
};

/* A sync, shared by the stage and its thread. */
struct sync {
	int fd;
	int error;
	struct wh_background_shared shared;
};

/* A staging folder to be removed with its contents. */
struct disposal {
	int folder_fd;
	int fd;
	char name[WH_STAGING_NAME_BYTES + 1];
};

struct wh_stage {
	int folder_fd;
	int fd;       /* of the staging folder; -1: none */
	int parts_fd; /* of the folder of parts; -1: none */
	bool exists;
	bool in_memory;
	bool can_name;
	bool committing;
	bool syncing_names; /* by wh_stage_sync */
	bool keeps_mode;    /* a new file of asked_mode really has it */
	uint32_t asked_mode;
	uint32_t next_number;
	uint64_t quiet_tsc;
	uint64_t age_tsc;
	char name[WH_STAGING_NAME_BYTES + 1];
	struct sync *sync; /* running, or NULL */
	int sync_error;    /* of the last finished one */
	struct batch *filling;
	struct batch *sealed;
	struct batch batches[2];
};

static void empty_batch(struct batch *batch)
{
	batch->count = 0;
	batch->taken = 0;
	batch->path_bytes = 0;
	batch->bytes = 0;
	batch->least_id = UINT64_MAX;
}

int wh_stage_open(struct wh_stage **stage, int folder_fd, uint64_t hz, int64_t parts_s)
{
	struct wh_stage *s = malloc(sizeof(*s));

	WH_ASSERT(hz > 0 && folder_fd >= 0);
	if (s == NULL)
		return -ENOMEM;
	s->folder_fd = folder_fd;
	s->fd = -1;
	s->parts_fd = -1;
	s->exists = false;
	s->in_memory = wh_beneath_in_memory(folder_fd);
	s->can_name = false;
	s->committing = false;
	s->syncing_names = false;
	s->asked_mode = NO_MODE;
	s->next_number = 0;
	s->quiet_tsc = wh_us_to_tsc(hz, WH_BATCH_QUIET_MS * UINT64_C(1000));
	s->age_tsc = wh_us_to_tsc(hz, WH_BATCH_AGE_MS * UINT64_C(1000));
	s->sync = NULL;
	s->sync_error = 0;
	s->filling = &s->batches[0];
	s->sealed = &s->batches[1];
	empty_batch(s->filling);
	empty_batch(s->sealed);
	wh_stale_remove_in(folder_fd, parts_s);
	*stage = s;
	return 0;
}

static void free_sync(struct sync *sync)
{
	close(sync->fd);
	free(sync);
}

/* Abandons the running sync. */
static void leave_sync(struct wh_stage *stage)
{
	if (stage->sync != NULL && wh_background_leave(&stage->sync->shared))
		free_sync(stage->sync);
	stage->sync = NULL;
}

static void dispose(void *argument)
{
	struct disposal *disposal = argument;
	DIR *stream = wh_stale_stream(disposal->fd);

	if (stream != NULL) {
		wh_stale_unlink_all(stream);
		closedir(stream);
	}
	unlinkat(disposal->folder_fd, disposal->name, AT_REMOVEDIR);
	close(disposal->folder_fd);
	close(disposal->fd);
	free(disposal);
}

/* Passes on the stage's descriptor, which holds the lock. */
static void dispose_background(struct wh_stage *stage)
{
	struct disposal *disposal = malloc(sizeof(*disposal));

	if (disposal == NULL)
		return;
	disposal->fd = stage->fd;
	disposal->folder_fd = fcntl(stage->folder_fd, F_DUPFD_CLOEXEC, 0);
	memcpy(disposal->name, stage->name, sizeof(disposal->name));
	if (disposal->folder_fd >= 0 && wh_background(dispose, disposal) == 0) {
		stage->fd = -1;
		return;
	}
	if (disposal->folder_fd >= 0)
		close(disposal->folder_fd);
	free(disposal);
}

static const char *number_text(char text[NUMBER_TEXT_MAX], uint32_t number)
{
	char *at = text + NUMBER_TEXT_MAX - 1;

	*at = '\0';
	do
		*--at = (char)('0' + number % 10);
	while ((number /= 10) > 0);
	return at;
}

/* The folder of kept files, or of others. */
static int folder_of(const struct wh_stage *stage, bool kept)
{
	return kept ? stage->parts_fd : stage->fd;
}

/* Complete files that were kept: those that no notes know are removed. */
static void leave_kept(const struct wh_stage *stage, const struct batch *batch)
{
	char text[NUMBER_TEXT_MAX];

	for (uint32_t i = batch->taken; i < batch->count; i++) {
		const struct wh_staged *file = &batch->files[i];

		if (!file->kept)
			continue;
		if (file->row == 0 && file->ranges == 0)
			unlinkat(stage->parts_fd, number_text(text, file->number), 0);
		if (file->lock_fd >= 0)
			close(file->lock_fd);
	}
}

/* The folder of parts is removed with its last file. */
static void leave_parts(struct wh_stage *stage)
{
	if (stage->parts_fd < 0)
		return;
	leave_kept(stage, stage->filling);
	leave_kept(stage, stage->sealed);
	close(stage->parts_fd);
	stage->parts_fd = -1;
	unlinkat(stage->folder_fd, WH_PARTS_FOLDER, AT_REMOVEDIR);
}

/* Without memory or a thread the folder is left to the next sink here. */
void wh_stage_abandon(struct wh_stage *stage)
{
	if (!stage->exists)
		return;
	stage->exists = false;
	if (unlinkat(stage->folder_fd, stage->name, AT_REMOVEDIR) != 0 && errno != ENOENT)
		dispose_background(stage);
}

void wh_stage_close(struct wh_stage *stage)
{
	if (stage == NULL)
		return;
	wh_stage_abandon(stage);
	leave_parts(stage);
	leave_sync(stage);
	if (stage->fd >= 0)
		close(stage->fd);
	free(stage);
}

/*
 * Locks the new folder. Another process may find it before that, and consider it stale: then it
 * holds the lock, or has removed the folder.
 */
static int lock(struct wh_stage *stage)
{
	struct stat status;

	stage->fd = openat(
		stage->folder_fd, stage->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (stage->fd < 0)
		return errno == ENOENT ? -EEXIST : -errno;
	if (flock(stage->fd, LOCK_EX | LOCK_NB) == 0 && fstat(stage->fd, &status) == 0 &&
		status.st_nlink > 0)
		return 0;
	close(stage->fd);
	stage->fd = -1;
	return -EEXIST;
}

static int make(struct wh_stage *stage)
{
	unsigned char random[WH_STAGING_LETTERS];

	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return -EIO;
	wh_staging_name(stage->name, random);
	if (mkdirat(stage->folder_fd, stage->name, 0700) != 0)
		return -errno;

	int rc = lock(stage);

	if (rc < 0 && rc != -EEXIST)
		unlinkat(stage->folder_fd, stage->name, AT_REMOVEDIR);
	return rc;
}

/* Some kernels require a capability for linking an unnamed file: tries it. */
static bool try_unnamed(struct wh_stage *stage)
{
	int fd = wh_stage_create_unnamed(stage, 0600);
	bool linked = fd >= 0 && wh_stage_name(fd, stage->fd, "0") == 0;

	if (linked)
		wh_stage_remove(stage, 0);
	if (fd >= 0)
		close(fd);
	return linked;
}

int wh_stage_prepare(struct wh_stage *stage)
{
	int rc = stage->exists ? 0 : -EEXIST;

	if (rc == 0)
		return 0;
	for (int i = 0; i < NAME_TRIES && rc == -EEXIST; i++)
		rc = make(stage);
	stage->exists = rc == 0;
	stage->can_name = rc == 0 && stage->in_memory && try_unnamed(stage);
	return rc;
}

bool wh_stage_exists(const struct wh_stage *stage)
{
	return stage->exists;
}

int wh_stage_create(struct wh_stage *stage, uint16_t mode, uint32_t *number)
{
	char text[NUMBER_TEXT_MAX];

	WH_ASSERT(stage->exists);
	*number = stage->next_number++;

	int fd = openat(stage->fd, number_text(text, *number),
		O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);

	return fd < 0 ? -errno : fd;
}

int wh_stage_open_parts(struct wh_stage *stage)
{
	struct stat status;

	/* Another job may have removed the folder with its last part. */
	if (stage->parts_fd >= 0 && fstat(stage->parts_fd, &status) == 0 && status.st_nlink > 0)
		return 0;
	if (stage->parts_fd >= 0)
		close(stage->parts_fd);
	stage->parts_fd = -1;

	int fd = wh_beneath_parts(stage->folder_fd);

	if (fd < 0)
		return fd;
	stage->parts_fd = fd;
	return 0;
}

static int try_create_kept(struct wh_stage *stage, uint32_t *number)
{
	char text[NUMBER_TEXT_MAX];
	int rc = wh_stage_open_parts(stage);

	if (rc < 0)
		return rc;
	if (getrandom(number, sizeof(*number), 0) != (ssize_t)sizeof(*number))
		return -EIO;

	int fd = openat(stage->parts_fd, number_text(text, *number),
		O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, WH_STALE_UNNOTED);
	struct stat status;

	if (fd < 0)
		return -errno;
	/* A search may have found it before it was locked. */
	if (flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &status) == 0 && status.st_nlink > 0)
		return fd;
	close(fd);
	return -EEXIST;
}

int wh_stage_create_kept(struct wh_stage *stage, uint32_t *number)
{
	int fd = -EEXIST;

	for (int i = 0; i < NAME_TRIES && (fd == -EEXIST || fd == -ENOENT); i++)
		fd = try_create_kept(stage, number);
	return fd;
}

static int try_keep(struct wh_stage *stage, uint32_t *number)
{
	char from[NUMBER_TEXT_MAX], to[NUMBER_TEXT_MAX];
	uint32_t drawn;
	int rc = wh_stage_open_parts(stage);

	if (rc < 0)
		return rc;
	if (getrandom(&drawn, sizeof(drawn), 0) != (ssize_t)sizeof(drawn))
		return -EIO;
	if (renameat2(stage->fd, number_text(from, *number), stage->parts_fd,
		    number_text(to, drawn), RENAME_NOREPLACE) != 0)
		return -errno;
	*number = drawn;
	return 0;
}

int wh_stage_keep(struct wh_stage *stage, int fd, uint32_t *number)
{
	int rc = flock(fd, LOCK_EX | LOCK_NB) != 0 || fchmod(fd, WH_STALE_UNNOTED) != 0 ? -errno
											: -EEXIST;

	/* -ENOENT: the folder was removed with its last part. */
	for (int i = 0; i < NAME_TRIES && (rc == -EEXIST || rc == -ENOENT); i++)
		rc = try_keep(stage, number);
	return rc;
}

int wh_stage_noted(int fd)
{
	/* Where it fails, the file system keeps no such mode. */
	return fchmod(fd, WH_STALE_NOTED) == 0 && fsync(fd) != 0 ? -errno : 0;
}

bool wh_stage_can_name(const struct wh_stage *stage)
{
	return stage->can_name;
}

int wh_stage_create_unnamed(const struct wh_stage *stage, uint16_t mode)
{
	WH_ASSERT(stage->fd >= 0);

	int fd = openat(stage->fd, ".", O_WRONLY | O_TMPFILE | O_CLOEXEC, mode);

	return fd < 0 ? -errno : fd;
}

int wh_stage_name(int fd, int folder_fd, const char *name)
{
	return linkat(fd, "", folder_fd, name, AT_EMPTY_PATH) != 0 ? -errno : 0;
}

int wh_stage_number(struct wh_stage *stage, int fd, uint32_t *number)
{
	char text[NUMBER_TEXT_MAX];

	WH_ASSERT(stage->exists);
	*number = stage->next_number++;
	return wh_stage_name(fd, stage->fd, number_text(text, *number));
}

bool wh_stage_keeps_mode(struct wh_stage *stage, int fd, uint16_t mode)
{
	struct stat status;

	if (mode == stage->asked_mode)
		return stage->keeps_mode;
	stage->keeps_mode = fstat(fd, &status) == 0 && (status.st_mode & 07777) == mode;
	stage->asked_mode = mode;
	return stage->keeps_mode;
}

static struct wh_file_identity identity_of(const struct stat *status)
{
	return (struct wh_file_identity){
		.inode = status->st_ino,
		.bytes = (uint64_t)status->st_size,
		.mtime_s = status->st_mtim.tv_sec,
		.mtime_ns = status->st_mtim.tv_nsec,
	};
}

static bool is_same(const struct wh_file_identity *one, const struct wh_file_identity *other)
{
	return one->inode == other->inode && one->bytes == other->bytes &&
	       one->mtime_s == other->mtime_s && one->mtime_ns == other->mtime_ns;
}

int wh_stage_create_link(struct wh_stage *stage, const char *text, struct wh_staged *link)
{
	char number[NUMBER_TEXT_MAX];
	const char *name = number_text(number, stage->next_number);
	struct stat status;

	WH_ASSERT(stage->exists);
	link->number = stage->next_number++;
	if (symlinkat(text, stage->fd, name) != 0 ||
		fstatat(stage->fd, name, &status, AT_SYMLINK_NOFOLLOW) != 0)
		return -errno;
	link->identity = identity_of(&status);
	return 0;
}

int wh_stage_create_hard(struct wh_stage *stage, int folder_fd, const char *name,
	const struct stat *status, struct wh_staged *link)
{
	char number[NUMBER_TEXT_MAX];

	WH_ASSERT(stage->exists);
	link->number = stage->next_number++;
	link->identity = identity_of(status);
	return linkat(folder_fd, name, stage->fd, number_text(number, link->number), 0) != 0
		       ? -errno
		       : 0;
}

int wh_stage_back_up(struct wh_stage *stage, int folder_fd, const char *name, const char *backup)
{
	char number[NUMBER_TEXT_MAX];
	const char *text = number_text(number, stage->next_number++);
	int error;

	WH_ASSERT(stage->exists);
	if (linkat(folder_fd, name, stage->fd, text, 0) != 0)
		return -errno;
	if (renameat(stage->fd, text, folder_fd, backup) != 0) {
		error = -errno;
		unlinkat(stage->fd, text, 0);
		return error;
	}
	/* rename does nothing if both are names of the same file. */
	unlinkat(stage->fd, text, 0);
	return 0;
}

int wh_stage_folder(const struct wh_stage *stage, bool kept)
{
	WH_ASSERT(folder_of(stage, kept) >= 0);
	return folder_of(stage, kept);
}

int wh_stage_open_in(int folder_fd, uint32_t number, uint64_t inode)
{
	char text[NUMBER_TEXT_MAX];
	int fd = openat(folder_fd, number_text(text, number), O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	struct stat status;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &status) == 0 && status.st_ino == inode)
		return fd;
	close(fd);
	return -ESTALE;
}

int wh_stage_reopen(const struct wh_stage *stage, uint32_t number, bool kept, uint64_t inode)
{
	return wh_stage_open_in(folder_of(stage, kept), number, inode);
}

int wh_stage_identify(int fd, uint64_t bytes, struct wh_file_identity *identity)
{
	struct stat status;

	if (fstat(fd, &status) != 0)
		return -errno;
	*identity = identity_of(&status);
	return identity->bytes == bytes ? 0 : -EIO;
}

void wh_stage_remove(const struct wh_stage *stage, uint32_t number)
{
	char text[NUMBER_TEXT_MAX];

	unlinkat(stage->fd, number_text(text, number), 0);
}

static void remove_large(void *argument)
{
	struct disposal *disposal = argument;

	unlinkat(disposal->fd, disposal->name, 0);
	close(disposal->fd);
	free(disposal);
}

void wh_stage_discard(const struct wh_stage *stage, const struct wh_staged *file)
{
	struct disposal *disposal =
		file->bytes < WH_BACKGROUND_BYTES ? NULL : malloc(sizeof(*disposal));
	int folder_of_fd = folder_of(stage, file->kept);
	char text[NUMBER_TEXT_MAX];

	static_assert(NUMBER_TEXT_MAX <= sizeof(disposal->name), "a number is a name");
	if (disposal != NULL) {
		strcpy(disposal->name, number_text(text, file->number));
		disposal->fd = fcntl(folder_of_fd, F_DUPFD_CLOEXEC, 0);
		if (disposal->fd >= 0 && wh_background(remove_large, disposal) == 0)
			return;
		if (disposal->fd >= 0)
			close(disposal->fd);
		free(disposal);
	}
	unlinkat(folder_of_fd, number_text(text, file->number), 0);
}

bool wh_stage_has_room(const struct wh_stage *stage)
{
	const struct batch *batch = stage->filling;

	return batch->count < WH_BATCH_FILES && batch->bytes < WH_BATCH_BYTES &&
	       batch->path_bytes <= WH_BATCH_PATH_BYTES - WH_PATH_BYTES_MAX;
}

void wh_stage_add(struct wh_stage *stage, const struct wh_staged *file, uint64_t now_tsc)
{
	struct batch *batch = stage->filling;
	char *path = batch->paths + batch->path_bytes;

	WH_ASSERT(wh_stage_has_room(stage) && file->path_bytes <= WH_PATH_BYTES_MAX);
	if (batch->count == 0)
		batch->first_tsc = now_tsc;
	memcpy(path, file->path, file->path_bytes);
	batch->files[batch->count] = *file;
	batch->files[batch->count].path = path;
	batch->count++;
	batch->path_bytes += file->path_bytes;
	batch->bytes += file->bytes;
	batch->least_id = wh_min_u64(batch->least_id, file->id);
	WH_ASSERT(batch->path_bytes <= WH_BATCH_PATH_BYTES);
}

static void run_sync(void *argument)
{
	struct sync *sync = argument;

	sync->error = syncfs(sync->fd) != 0 ? -errno : 0;
	if (wh_background_finish(&sync->shared))
		free_sync(sync);
}

/* 0, or a negative errno: no memory, descriptor or thread. */
static int sync_background(struct wh_stage *stage)
{
	struct sync *sync = calloc(1, sizeof(*sync));

	if (sync == NULL)
		return -ENOMEM;
	sync->fd = fcntl(stage->fd, F_DUPFD_CLOEXEC, 0);

	int rc = sync->fd < 0 ? -errno : wh_background(run_sync, sync);

	if (rc == 0) {
		stage->sync = sync;
		return 0;
	}
	if (sync->fd >= 0)
		close(sync->fd);
	free(sync);
	return rc;
}

static void start_sync(struct wh_stage *stage)
{
	WH_ASSERT(stage->sync == NULL);
	stage->sync_error = 0;
	/* Without a thread it blocks: durability is more important than latency. */
	if (!stage->in_memory && sync_background(stage) != 0)
		stage->sync_error = syncfs(stage->fd) != 0 ? -errno : 0;
}

static bool is_synced(struct wh_stage *stage)
{
	struct sync *sync = stage->sync;

	if (sync == NULL)
		return true;
	if (!wh_background_is_over(&sync->shared))
		return false;
	stage->sync_error = sync->error;
	free_sync(sync);
	stage->sync = NULL;
	return true;
}

void wh_stage_seal(struct wh_stage *stage, uint64_t now_tsc, bool quiet, bool at_once)
{
	struct batch *batch = stage->filling;
	uint64_t age_tsc = now_tsc - batch->first_tsc;

	if (stage->committing || batch->count == 0)
		return;
	if (!at_once && wh_stage_has_room(stage) && age_tsc < stage->age_tsc &&
		!(quiet && age_tsc >= stage->quiet_tsc))
		return;
	WH_ASSERT(stage->sealed->count == 0); /* the previous one is completely taken out */
	stage->filling = stage->sealed;
	stage->sealed = batch;
	stage->committing = true;
	start_sync(stage);
}

const struct wh_staged *wh_stage_take(struct wh_stage *stage, int *error)
{
	struct batch *batch = stage->sealed;

	if (!stage->committing || !is_synced(stage))
		return NULL;
	if (batch->taken == batch->count) {
		empty_batch(batch);
		stage->committing = false;
		return NULL;
	}
	WH_ASSERT(batch->taken < batch->count && stage->sync_error <= 0);
	*error = stage->sync_error;
	return &batch->files[batch->taken++];
}

bool wh_stage_is_committing(const struct wh_stage *stage)
{
	return stage->committing;
}

bool wh_stage_is_empty(const struct wh_stage *stage)
{
	return !stage->committing && stage->filling->count == 0;
}

uint64_t wh_stage_least_id(const struct wh_stage *stage)
{
	return wh_min_u64(stage->filling->least_id, stage->sealed->least_id);
}

int wh_stage_rename(
	const struct wh_stage *stage, const struct wh_staged *file, int folder_fd, const char *name)
{
	int folder_of_fd = folder_of(stage, file->kept);
	char text[NUMBER_TEXT_MAX];
	struct stat status;

	WH_ASSERT(stage->exists && folder_of_fd >= 0);
	if (fstatat(folder_of_fd, number_text(text, file->number), &status, AT_SYMLINK_NOFOLLOW) !=
		0)
		return errno == ENOENT ? -ESTALE : -errno;

	const struct wh_file_identity found = identity_of(&status);

	if (!is_same(&found, &file->identity))
		return -ESTALE;
	if (renameat2(folder_of_fd, number_text(text, file->number), folder_fd, name,
		    file->only_new ? RENAME_NOREPLACE : 0) != 0)
		return -errno;
	return 0;
}

int wh_stage_hold(int folder_fd, const char *name, uint64_t bytes)
{
	if (bytes < WH_BACKGROUND_BYTES)
		return -1;
	return openat(folder_fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
}

static void let_go(void *argument)
{
	int *held_fd = argument;

	close(*held_fd);
	free(held_fd);
}

void wh_stage_let_go(int held_fd)
{
	int *held = held_fd < 0 ? NULL : malloc(sizeof(*held));

	if (held != NULL) {
		*held = held_fd;
		if (wh_background(let_go, held) == 0)
			return;
		free(held);
	}
	if (held_fd >= 0)
		close(held_fd);
}

int wh_stage_sync(struct wh_stage *stage)
{
	WH_ASSERT(wh_stage_is_empty(stage) && stage->exists);
	if (!stage->syncing_names) {
		stage->syncing_names = true;
		start_sync(stage);
	}
	if (!is_synced(stage))
		return -EINPROGRESS;
	stage->syncing_names = false;
	return stage->sync_error;
}
