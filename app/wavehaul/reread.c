/* SPDX-License-Identifier: BSD-3-Clause */
#include "reread.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/complain.h"
#include "cli/settings_table.h"

#define RESTING_MS 1000

/* Settings that take effect at once, for new jobs and the queue. */
static const char *const live[] = {"transfer.rate", "queue.jobs", "queue.peer_jobs"};

static bool is_live(const struct wh_setting *setting)
{
	for (size_t i = 0; i < sizeof(live) / sizeof(live[0]); i++)
		if (strcmp(live[i], setting->name) == 0)
			return true;
	return false;
}

void wh_reread_guard(const struct wh_reread *reread, struct wh_guard *guard)
{
	const char *path = reread->settings->config;
	char folder[PATH_MAX];
	char *slash;

	snprintf(folder, sizeof(folder), "%s", path[0] != '\0' ? path : WH_SETTINGS_FILE);
	slash = strrchr(folder, '/');
	if (slash != NULL)
		slash[slash == folder ? 1 : 0] = '\0';
	if (strcmp(path, "none") != 0)
		wh_guard_let_path(guard, slash != NULL ? folder : ".", WH_LET_READ);
}

static void take(struct wh_reread *reread, const struct wh_settings *fresh)
{
	struct wh_settings *settings = reread->settings;

	settings->rate_bps = fresh->rate_bps;
	settings->queue_jobs = fresh->queue_jobs;
	settings->queue_peer_jobs = fresh->queue_peer_jobs;
	/* Read by cores that accept jobs. */
	__atomic_store_n(&reread->service->own.rate_bps, fresh->rate_bps, __ATOMIC_RELAXED);
	reread->runner->ctx.memory_bytes = settings->buffer_bytes / 2 / fresh->queue_jobs;
	reread->runner->at_once = fresh->queue_jobs;
	reread->runner->at_once_host = fresh->queue_peer_jobs;
	reread->runner->look_now = true;
}

/* The number of settings that differ. */
static uint32_t compare(const struct wh_settings *settings, const struct wh_settings *fresh)
{
	char before[WH_SETTINGS_TEXT_BYTES];
	char now[WH_SETTINGS_TEXT_BYTES];
	uint32_t changes = 0;

	for (uint32_t i = 0; i < wh_settings_count; i++) {
		const struct wh_setting *setting = &wh_settings_table[i];

		if ((setting->verbs & WH_VERB_SERVE) == 0 || setting->key == NULL)
			continue;
		wh_setting_format(setting, settings, before);
		wh_setting_format(setting, fresh, now);
		if (strcmp(before, now) == 0)
			continue;
		changes++;
		if (is_live(setting))
			wh_say("configuration reloaded: %s is now %s", setting->name, now);
		else
			wh_say("configuration reloaded: a change of %s needs a restart; it stays "
			       "%s",
				setting->name, before[0] != '\0' ? before : "as it is");
	}
	return changes;
}

void wh_reread_now(struct wh_reread *reread)
{
	struct wh_settings *fresh = malloc(sizeof(*fresh));

	if (fresh == NULL)
		return;
	if (wh_settings_read(fresh, WH_VERB_SERVE, reread->argc, reread->argv) != -1)
		wh_say("the configuration is unchanged");
	else if (compare(reread->settings, fresh) == 0)
		wh_say("configuration reloaded: no changes");
	else
		take(reread, fresh);
	free(fresh);
}

uint32_t wh_reread_turn(void *context)
{
	struct wh_reread *reread = context;

	if (atomic_exchange(&reread->due, false))
		wh_reread_now(reread);
	return RESTING_MS;
}
