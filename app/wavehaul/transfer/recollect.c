/* SPDX-License-Identifier: BSD-3-Clause */
#include "transfer/recollect.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/complain.h"
#include "file/background.h"
#include "report/kept.h"

/* Time for background work that is left when all jobs are over, such as a sync. */
#define LAST_BACKGROUND_MS 2000

static int64_t wall_s(void)
{
	return (int64_t)time(NULL);
}

static void say(const char *sentence)
{
	wh_say("%s", sentence);
}

void wh_recollect_init(
	struct wh_recollect *recollect, const struct wh_settings *settings, struct wh_guard *guard)
{
	*recollect = (struct wh_recollect){.folder_fd = -1};
	if (settings->resume == WH_RESUME_OFF || settings->keep_parts_ns == 0)
		return;
	recollect->folder_fd = wh_kept_folder(settings->state);
	if (recollect->folder_fd >= 0)
		wh_guard_let(guard, recollect->folder_fd, WH_LET_WRITE);
	else if (strcmp(settings->state, "none") != 0)
		wh_say("no folder to record partly transferred files (--state): an interrupted "
		       "transfer will start over");
}

void wh_recollect_open(struct wh_recollect *recollect, const struct wh_settings *settings)
{
	char link[32], path[PATH_MAX];
	ssize_t bytes;

	if (recollect->folder_fd < 0)
		return;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", recollect->folder_fd);
	bytes = readlink(link, path, sizeof(path) - sizeof("/" WH_RECOLLECT_FILE));
	close(recollect->folder_fd);
	recollect->folder_fd = -1;
	if (bytes <= 0)
		return;
	strcpy(path + bytes, "/" WH_RECOLLECT_FILE);

	const struct wh_journal_config config = {
		.path = path,
		.keep_s = (int64_t)(settings->keep_parts_ns / WH_NS_PER_S),
		.wall_s = wall_s,
		.say = say,
	};

	if (wh_journal_open(&recollect->journal, &config) < 0)
		recollect->journal = NULL;
}

/* A journal still in use by background work stays open: the process ends anyway. */
void wh_recollect_close(struct wh_recollect *recollect)
{
	if (recollect->journal == NULL)
		return;
	for (uint32_t ms = 0; ms < LAST_BACKGROUND_MS && wh_background_count() > 0; ms++)
		usleep(1000);
	if (wh_background_count() == 0)
		wh_journal_close(recollect->journal);
	recollect->journal = NULL;
}
