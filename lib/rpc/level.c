/* SPDX-License-Identifier: BSD-3-Clause */

/* The folders on the path to the current name, and what is done with a name in the deepest. */

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/assert.h"
#include "rpc/rpc_internal.h"

struct wh_level *wh_level_top(struct wh_rpc *rpc)
{
	WH_ASSERT(rpc->depth > 0);
	return rpc->level[rpc->depth - 1];
}

bool wh_rpc_removes(const struct wh_rpc *rpc)
{
	return rpc->config.verb == WH_JOB_REMOVE;
}

/* Closes the folder that is WH_RPC_OPEN above the next one, and gives its buffer to that. */
static uint8_t *close_far(struct wh_rpc *rpc)
{
	struct wh_level *far =
		rpc->depth < WH_RPC_OPEN ? NULL : rpc->level[rpc->depth - WH_RPC_OPEN];
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
static int prepare_level(struct wh_rpc *rpc)
{
	struct wh_level **level = &rpc->level[rpc->depth];

	WH_ASSERT(rpc->depth < WH_RPC_DEPTH_MAX); /* by the length of paths */
	if (*level == NULL)
		*level = calloc(1, sizeof(**level));
	if (*level == NULL)
		return ENOMEM;
	if ((*level)->piece == NULL)
		(*level)->piece = close_far(rpc);
	else
		free(close_far(rpc));
	if ((*level)->piece == NULL)
		(*level)->piece = malloc(WH_RPC_PIECE_BYTES);
	return (*level)->piece == NULL ? ENOMEM : 0;
}

/* Takes over `fd` of the folder at rpc->path. */
static void enter(struct wh_rpc *rpc, int fd, const char *pattern)
{
	struct stat status;
	int error = fstat(fd, &status) != 0 ? errno : prepare_level(rpc);

	if (error != 0) {
		close(fd);
		if (rpc->depth > 0)
			wh_level_top(rpc)->spoilt = true;
		wh_rpc_tell_fault(rpc, rpc->path, error, WH_DOING_LISTING);
		return;
	}

	struct wh_level *level = rpc->level[rpc->depth++];

	*level = (struct wh_level){
		.fd = fd,
		.pattern = pattern,
		.path_bytes = (uint16_t)strlen(rpc->path),
		.status = status,
		.sums = {.used_bytes = (uint64_t)status.st_blocks * 512},
		.piece = level->piece,
	};
}

void wh_descent_enter_given(struct wh_rpc *rpc, int fd, const char *pattern)
{
	if (fd >= 0)
		enter(rpc, fd, pattern);
	else
		wh_rpc_tell_fault(rpc, "", errno, WH_DOING_LISTING);
}

void wh_descent_spoil(struct wh_rpc *rpc, int error, enum wh_doing doing)
{
	wh_level_top(rpc)->spoilt = true;
	wh_rpc_tell_fault(rpc, rpc->path, error, doing);
}

void wh_descent_enter(struct wh_rpc *rpc, const char *name, const char *pattern)
{
	int fd = openat(wh_level_top(rpc)->fd, name, WH_FOLDER_FLAGS | O_NOFOLLOW);

	if (fd >= 0)
		enter(rpc, fd, pattern);
	else if (pattern == NULL) /* one that is only passed need not be a folder */
		wh_descent_spoil(rpc, errno, WH_DOING_LISTING);
}

static void remove_name(struct wh_rpc *rpc, const char *name, const struct stat *status)
{
	if (S_ISDIR(status->st_mode))
		wh_descent_enter(rpc, name, NULL);
	else if (unlinkat(wh_level_top(rpc)->fd, name, 0) == 0) {
		rpc->tally.done++;
		wh_level_top(rpc)->passed--;
	} else if (errno != ENOENT) /* removed by somebody else meanwhile */
		wh_descent_spoil(rpc, errno, WH_DOING_REMOVING);
}

static void count_name(struct wh_rpc *rpc, const char *name, const struct stat *status)
{
	struct wh_rpc_sums *sums = &wh_level_top(rpc)->sums;

	sums->entries++;
	if (S_ISDIR(status->st_mode)) {
		wh_descent_enter(rpc, name, NULL);
		return;
	}
	sums->bytes += S_ISREG(status->st_mode) ? (uint64_t)status->st_size : 0;
	sums->used_bytes += (uint64_t)status->st_blocks * 512;
}

static void list_name(struct wh_rpc *rpc, const char *name, const struct stat *status)
{
	wh_rpc_tell_item(rpc, rpc->path, wh_level_top(rpc)->fd, name, status, NULL);
	if (rpc->config.recursive && S_ISDIR(status->st_mode))
		wh_descent_enter(rpc, name, NULL);
}

void wh_descent_take(struct wh_rpc *rpc, const char *name, const struct stat *status)
{
	if (wh_rpc_removes(rpc))
		remove_name(rpc, name, status);
	else if (rpc->config.verb == WH_JOB_USAGE)
		count_name(rpc, name, status);
	else
		list_name(rpc, name, status);
}
