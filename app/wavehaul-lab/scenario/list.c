/* SPDX-License-Identifier: BSD-3-Clause */
#include "scenario/list.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/complain.h"
#include "cli/exit.h"
#include "cli/plain_text.h"
#include "lab/sim/sim_memory.h"

static const struct wh_ini_kind kinds[WH_INI_KINDS] = {
	[WH_INI_SCENARIO] = {"scenario", NULL},
	[WH_INI_SWEEP] = {"sweep", NULL},
	[WH_INI_REPORT] = {"report", NULL},
	[WH_INI_EXPECT] = {"expect", NULL},
	[WH_INI_FLEET] = {"fleet", NULL},
	[WH_INI_LINK] = {"link", "A-B"},
	[WH_INI_FLOW] = {"flow", "NAME"},
};

const struct wh_ini_form wh_scenario_form = {
	.what = "scenario",
	.else_do = "wavehaul sim --list names those there are",
	.kinds = kinds,
	.n_kinds = WH_INI_KINDS,
	.n_unnamed = WH_INI_LINK,
	.utf8 = true,
};

#define SUFFIX     ".ini"
#define LINE_BYTES 1024

/* In the source tree of this build; otherwise the installed folder. */
static const char *default_folder(void)
{
	return access(WH_SCENARIOS_SOURCE, R_OK | X_OK) == 0 ? WH_SCENARIOS_SOURCE
							     : WH_SCENARIOS_INSTALLED;
}

static char *join(const char *folder, const char *name, const char *suffix)
{
	size_t bytes = strlen(folder) + strlen(name) + strlen(suffix) + 2;
	char *path = wh_sim_allocate(bytes);

	snprintf(path, bytes, "%s/%s%s", folder, name, suffix);
	return path;
}

char *wh_scenario_path(const char *file)
{
	char *path;

	if (access(file, F_OK) == 0 || strchr(file, '/') != NULL)
		return strdup(file);
	path = join(default_folder(), file, strstr(file, SUFFIX) == NULL ? SUFFIX : "");
	if (access(path, F_OK) == 0)
		return path;
	free(path);
	return strdup(file);
}

static int is_scenario(const struct dirent *entry)
{
	size_t chars = strlen(entry->d_name);

	return chars > strlen(SUFFIX) && entry->d_name[0] != '.' &&
	       strcmp(entry->d_name + chars - strlen(SUFFIX), SUFFIX) == 0;
}

const char *wh_scenario_text(const struct wh_ini *ini, const char *key)
{
	const struct wh_ini_entry *entry = wh_ini_find(&ini->sections[WH_INI_SCENARIO], key);

	return entry == NULL ? "" : entry->value;
}

/* An unreadable one is reported on stderr, and the rest is listed. */
static bool list_one(const char *folder, const char *name)
{
	char *path = join(folder, name, "");
	struct wh_ini ini;
	bool fine = wh_ini_read(&ini, &wh_scenario_form, path) == -1;

	if (fine) {
		const char *figure = wh_scenario_text(&ini, "figure");
		char line[LINE_BYTES];
		char plain[LINE_BYTES];

		snprintf(line, sizeof(line), "%-20.*s %s%s%s%s",
			(int)(strlen(name) - strlen(SUFFIX)), name, wh_scenario_text(&ini, "title"),
			figure[0] != '\0' ? " (" : "", figure, figure[0] != '\0' ? ")" : "");
		printf("%s\n", wh_plain_text(line, false, plain, sizeof(plain)));
	}
	wh_ini_free(&ini);
	free(path);
	return fine;
}

int wh_scenarios_list(const char *folder)
{
	struct dirent **entries;
	int status = WH_EXIT_OK;
	int count;

	if (folder == NULL)
		folder = default_folder();
	count = scandir(folder, &entries, is_scenario, alphasort);
	if (count < 0)
		return wh_fail(WH_EXIT_NO_FILE, "cannot list the scenarios in %s: %s", folder,
			strerror(errno));
	for (int i = 0; i < count; i++) {
		if (!list_one(folder, entries[i]->d_name))
			status = WH_EXIT_USAGE;
		free(entries[i]);
	}
	free(entries);
	if (count == 0)
		wh_say("no *%s in %s", SUFFIX, folder);
	return status;
}
