/* SPDX-License-Identifier: BSD-3-Clause */
#include "trust/trust_place.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/complain.h"

/* False: unknown. */
static bool folder_of_user(char folder[PATH_MAX])
{
	const char *named = getenv("WAVEHAUL_CONFIG_DIR");
	const char *config = getenv("XDG_CONFIG_HOME");
	const char *home = getenv("HOME");
	int length = -1;

	if (named != NULL && named[0] != '\0')
		length = snprintf(folder, PATH_MAX, "%s", named);
	else if (geteuid() == 0)
		length = snprintf(folder, PATH_MAX, "/etc/wavehaul");
	else if (config != NULL && config[0] == '/')
		length = snprintf(folder, PATH_MAX, "%s/wavehaul", config);
	else if (home != NULL && home[0] == '/')
		length = snprintf(folder, PATH_MAX, "%s/.config/wavehaul", home);
	return length > 0 && length < PATH_MAX;
}

static bool put(char path[PATH_MAX], const char *folder, const char *name, const char *wanted)
{
	int length = wanted[0] != '\0' ? snprintf(path, PATH_MAX, "%s", wanted)
				       : snprintf(path, PATH_MAX, "%s/%s", folder, name);

	return length > 0 && length < PATH_MAX;
}

bool wh_trust_place_find(struct wh_trust_place *place, const char *identity, const char *peers)
{
	char folder[PATH_MAX] = "";
	bool known = (identity[0] != '\0' && peers[0] != '\0') || folder_of_user(folder);

	if (!known)
		return wh_fail(false, "the folder for keys is unknown, because HOME is not set; "
				      "set WAVEHAUL_CONFIG_DIR, for example to /etc/wavehaul");
	if (put(place->identity, folder, "identity.pem", identity) &&
		put(place->peers, folder, "trust.d", peers) &&
		put(place->authorities, place->peers, "ca", ""))
		return true;
	return wh_fail(false,
		"the path of the keys is too long; set WAVEHAUL_CONFIG_DIR to a shorter path");
}

bool wh_trust_place_make(const char *path)
{
	/* A server that has given up root must still be able to read it. */
	mode_t mode = geteuid() == 0 ? 0755 : S_IRWXU;
	char folder[PATH_MAX];

	snprintf(folder, sizeof(folder), "%s", path);
	for (char *at = folder + 1; *at != '\0'; at++) {
		if (*at != '/')
			continue;
		*at = '\0';
		if (mkdir(folder, mode) != 0 && errno != EEXIST)
			return wh_fail(
				false, "cannot make the folder %s: %s", folder, strerror(errno));
		*at = '/';
	}
	return true;
}
