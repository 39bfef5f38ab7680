/* SPDX-License-Identifier: BSD-3-Clause */

/* The folders on the path to the current name, and what is done with a name in the deepest. */

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/assert.h"
#include "errand/errand_internal.h"

struct wh_level *wh_level_top(struct wh_errand *errand)
{
	WH_ASSERT(errand->depth > 0);
	return errand->level[errand->depth - 1];
}

bool wh_errand_removes(const struct wh_errand *errand)
{
	return errand->config.verb == WH_JOB_REMOVE;
}

/* Closes the folder that is too far above the next one, which gets its memory for names. */
static uint8_t *close_far(struct wh_errand *errand)
{
	struct wh_level *far = errand->depth < WH_ERRAND_OPEN
				       ? NULL
				       : errand->level[errand->depth - WH_ERRAND_OPEN];
	uint8_t *piece;

	if (far == NULL || far->fd < 0)
		return NULL;
	close(far->fd);
	far->fd = -1;
	piece = far->piece;
	far->piece = NULL;
	return piece;
}

/* 0 or a positive errno. */
static int prepare_level(struct wh_errand *errand)
{
	struct wh_level **level = &errand->level[errand->depth];

	WH_ASSERT(errand->depth < WH_ERRAND_DEPTH_MAX); /* by the length of paths */
	if (*level == NULL)
		*level = calloc(1, sizeof(**level));
	if (*level == NULL)
		return ENOMEM;
	if ((*level)->piece == NULL)
		(*level)->piece = close_far(errand);
	else
		free(close_far(errand));
	if ((*level)->piece == NULL)
		(*level)->piece = malloc(WH_ERRAND_PIECE_BYTES);
	return (*level)->piece == NULL ? ENOMEM : 0;
}

/* Takes over `fd` of the folder at errand->path. */
static void enter(struct wh_errand *errand, int fd, const char *pattern)
{
	struct stat status;
	int error = fstat(fd, &status) != 0 ? errno : prepare_level(errand);

	if (error != 0) {
		close(fd);
		if (errand->depth > 0)
			wh_level_top(errand)->spoilt = true;
		wh_errand_tell_fault(errand, errand->path, error, WH_DOING_LISTING);
		return;
	}

	struct wh_level *level = errand->level[errand->depth++];

	*level = (struct wh_level){
		.fd = fd,
		.pattern = pattern,
		.path_bytes = (uint16_t)strlen(errand->path),
		.status = status,
		.sums = {.used_bytes = (uint64_t)status.st_blocks * 512},
		.piece = level->piece,
	};
}

void wh_descent_enter_given(struct wh_errand *errand, int fd, const char *pattern)
{
	if (fd >= 0)
		enter(errand, fd, pattern);
	else
		wh_errand_tell_fault(errand, "", errno, WH_DOING_LISTING);
}

void wh_descent_spoil(struct wh_errand *errand, int error, enum wh_doing doing)
{
	wh_level_top(errand)->spoilt = true;
	wh_errand_tell_fault(errand, errand->path, error, doing);
}

void wh_descent_enter(struct wh_errand *errand, const char *name, const char *pattern)
{
	int fd = openat(wh_level_top(errand)->fd, name, WH_FOLDER_FLAGS | O_NOFOLLOW);

	if (fd >= 0)
		enter(errand, fd, pattern);
	else if (pattern == NULL) /* one that is only passed need not be a folder */
		wh_descent_spoil(errand, errno, WH_DOING_LISTING);
}

static void remove_name(struct wh_errand *errand, const char *name, const struct stat *status)
{
	if (S_ISDIR(status->st_mode))
		wh_descent_enter(errand, name, NULL);
	else if (unlinkat(wh_level_top(errand)->fd, name, 0) == 0) {
		errand->tally.done++;
		wh_level_top(errand)->passed--;
	} else if (errno != ENOENT) /* removed by somebody else meanwhile */
		wh_descent_spoil(errand, errno, WH_DOING_REMOVING);
}

static void count_name(struct wh_errand *errand, const char *name, const struct stat *status)
{
	struct wh_errand_sums *sums = &wh_level_top(errand)->sums;

	sums->entries++;
	if (S_ISDIR(status->st_mode)) {
		wh_descent_enter(errand, name, NULL);
		return;
	}
	sums->bytes += S_ISREG(status->st_mode) ? (uint64_t)status->st_size : 0;
	sums->used_bytes += (uint64_t)status->st_blocks * 512;
}

static void list_name(struct wh_errand *errand, const char *name, const struct stat *status)
{
	wh_errand_tell_item(errand, errand->path, wh_level_top(errand)->fd, name, status, NULL);
	if (errand->config.recursive && S_ISDIR(status->st_mode))
		wh_descent_enter(errand, name, NULL);
}

void wh_descent_take(struct wh_errand *errand, const char *name, const struct stat *status)
{
	if (wh_errand_removes(errand))
		remove_name(errand, name, status);
	else if (errand->config.verb == WH_JOB_USAGE)
		count_name(errand, name, status);
	else
		list_name(errand, name, status);
}
