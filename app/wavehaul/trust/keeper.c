/* SPDX-License-Identifier: BSD-3-Clause */
#include "trust/keeper.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "cli/complain.h"
#include "file/background.h"

#define SAVE_EVERY_S 60

struct wh_keeper {
	char path[PATH_MAX];
	char boot[WH_BOOT_BYTES];
	int64_t saved_s;
	int told; /* last reported error */

	/* Owned by the saving thread while it is busy. */
	_Atomic bool busy;
	int rc;
	struct wh_days copy;
};

struct wh_keeper *wh_keeper_open(const char *path, struct wh_days *days)
{
	struct wh_keeper *keeper = calloc(1, sizeof(*keeper));
	struct wh_days_now now;
	const char *wrong;
	bool future;

	if (keeper == NULL)
		return NULL;
	snprintf(keeper->path, sizeof(keeper->path), "%s", path);
	wh_days_find_boot(keeper->boot);
	now = wh_days_now(keeper->boot);
	keeper->saved_s = now.boot_s;

	int rc = wh_days_load(days, &now, path, &wrong, &future);

	if (rc != 0 && rc != -ENOENT)
		wh_say("the daily byte quotas of peers restart from zero: %s: %s", path,
			wrong != NULL ? wrong : strerror(-rc));
	else if (future)
		wh_say("the clock was set back since %s was written: bytes that peers have moved "
		       "count against their daily quotas for a day from now",
			path);
	return keeper;
}

static void tell(struct wh_keeper *keeper)
{
	if (keeper->rc != 0 && keeper->rc != keeper->told)
		wh_say("the daily byte counts of peers will be lost when this server exits: %s: %s",
			keeper->path, strerror(-keeper->rc));
	keeper->told = keeper->rc;
}

bool wh_keeper_is_due(struct wh_keeper *keeper)
{
	if (atomic_load(&keeper->busy))
		return false;
	tell(keeper);
	return wh_days_clock_s() - keeper->saved_s >= SAVE_EVERY_S;
}

static void save(struct wh_keeper *keeper)
{
	const struct wh_days_now now = wh_days_now(keeper->boot);

	keeper->rc = wh_days_save(&keeper->copy, &now, keeper->path);
}

static void save_background(void *argument)
{
	struct wh_keeper *keeper = argument;

	save(keeper);
	atomic_store(&keeper->busy, false);
}

void wh_keeper_take(struct wh_keeper *keeper, const struct wh_days *days)
{
	WH_ASSERT(!atomic_load(&keeper->busy));
	keeper->copy = *days;
	keeper->saved_s = wh_days_clock_s();
	atomic_store(&keeper->busy, true);
	if (wh_background(save_background, keeper) != 0)
		atomic_store(&keeper->busy, false);
}

void wh_keeper_close(struct wh_keeper *keeper, const struct wh_days *days)
{
	/* A save that hangs on a disk still uses it: do not free it. */
	if (keeper == NULL || atomic_load(&keeper->busy))
		return;
	if (days->changed || keeper->rc != 0) {
		keeper->copy = *days;
		save(keeper);
		tell(keeper);
	}
	free(keeper);
}
