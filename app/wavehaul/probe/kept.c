/* SPDX-License-Identifier: BSD-3-Clause */

/* What was learnt about peers, a file for each, so that a later run begins with it. */

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/assert.h"
#include "probe/tell.h"

#define FORMAT 1

/* "": where this user keeps such things. False: it is known nowhere. */
static bool folder_of(const char *wanted, char folder[PATH_MAX])
{
	const char *state = getenv("XDG_STATE_HOME");
	const char *home = getenv("HOME");
	int length = -1;

	if (strcmp(wanted, "none") == 0)
		return false;
	if (wanted[0] != '\0')
		length = snprintf(folder, PATH_MAX, "%s", wanted);
	else if (geteuid() == 0)
		length = snprintf(folder, PATH_MAX, "/var/lib/wavehaul");
	else if (state != NULL && state[0] == '/')
		length = snprintf(folder, PATH_MAX, "%s/wavehaul", state);
	else if (home != NULL && home[0] == '/')
		length = snprintf(folder, PATH_MAX, "%s/.local/state/wavehaul", home);
	return length > 0 && length < PATH_MAX;
}

/* An address is digits, letters, dots and colons. */
static bool path_of(const char *folder, const char *peer, const char *end, char path[PATH_MAX])
{
	int length = snprintf(path, PATH_MAX, "%s/peer-%s.json%s", folder, peer, end);

	WH_ASSERT(strchr(peer, '/') == NULL);
	return length > 0 && length < PATH_MAX;
}

static void make_folders(char folder[PATH_MAX])
{
	for (char *at = folder + 1; *at != '\0'; at++) {
		if (*at != '/')
			continue;
		*at = '\0';
		(void)mkdir(folder, 0755);
		*at = '/';
	}
	(void)mkdir(folder, 0755);
}

bool wh_probe_recall(const char *wanted, const char *peer, struct wh_findings *found,
	char when[WH_PROBE_WHEN_BYTES])
{
	char folder[PATH_MAX];
	char path[PATH_MAX];
	bool known = false;

	if (!folder_of(wanted, folder) || !path_of(folder, peer, "", path))
		return false;

	json_t *kept = json_load_file(path, JSON_REJECT_DUPLICATES, NULL);
	const char *written = json_string_value(json_object_get(kept, "when"));

	if (json_integer_value(json_object_get(kept, "format")) == FORMAT && written != NULL)
		known = wh_findings_from_json(json_object_get(kept, "found"), found);
	if (known)
		snprintf(when, WH_PROBE_WHEN_BYTES, "%s", written);
	json_decref(kept);
	return known;
}

int wh_probe_keep(const char *wanted, const char *peer, const struct wh_findings *found)
{
	char folder[PATH_MAX];
	char path[PATH_MAX];
	char fresh[PATH_MAX];
	char when[WH_PROBE_WHEN_BYTES];
	time_t now = time(NULL);
	struct tm tm;

	if (strcmp(wanted, "none") == 0)
		return 0;
	if (!folder_of(wanted, folder) || !path_of(folder, peer, "", path) ||
		!path_of(folder, peer, ".new", fresh))
		return -ENAMETOOLONG;
	make_folders(folder);
	gmtime_r(&now, &tm);
	strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%SZ", &tm);

	json_t *kept = json_pack("{s:i, s:s, s:s, s:o}", "format", FORMAT, "peer", peer, "when",
		when, "found", wh_findings_to_json(found));
	int rc = kept == NULL ? -ENOMEM : 0;

	/* Whole under its name, or as it was. */
	errno = 0;
	if (rc == 0 &&
		(json_dump_file(kept, fresh, JSON_INDENT(2)) != 0 || rename(fresh, path) != 0))
		rc = errno != 0 ? -errno : -EIO;
	json_decref(kept);
	return rc;
}
