/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A given path with wildcards: its names are matched folder by folder, and what matches the last is
 * dealt with as if it had been given, but for links, which are not followed. Paths of its ITEMs and
 * FAULTs are relative to the folder before the first name with a wildcard.
 */

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/assert.h"
#include "bundle/beneath.h"
#include "bundle/choice.h"
#include "errand/errand_internal.h"

void wh_errand_match_begin(struct wh_errand *errand)
{
	const char *given = wh_errand_given(errand);
	size_t base_bytes = wh_wildcard_base_bytes(given);
	char base[WH_PATH_BYTES_MAX + 1];
	int fd;

	WH_ASSERT(base_bytes < sizeof(base) && errand->depth == 0);
	memcpy(base, given, base_bytes);
	base[base_bytes] = '\0';
	fd = wh_beneath_resolve(errand->config.root_fd, base_bytes > 0 ? base : ".",
		O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0) {
		wh_errand_tell_fault(errand, "", -fd, WH_DOING_OPENING);
		return;
	}
	wh_descent_enter_given(errand, fd, given + base_bytes);
	errand->is_pattern = errand->depth > 0;
}

/* A folder to be removed needs --recursive, and so does what is in it. */
static void take_match(struct wh_errand *errand, const char *name, const struct stat *status)
{
	bool folder = S_ISDIR(status->st_mode);

	errand->matched = true;
	if (folder && errand->config.verb == WH_JOB_REMOVE && !errand->config.recursive)
		wh_errand_tell_fault(errand, errand->path, EISDIR, WH_DOING_REMOVING);
	else if (folder)
		wh_descent_enter(errand, name, NULL);
	else if (errand->config.verb == WH_JOB_REMOVE)
		wh_descent_take(errand, name, status);
	else
		wh_errand_tell_item(errand, errand->path, errand->level[errand->depth - 1]->fd,
			name, status, NULL);
}

void wh_errand_match_name(struct wh_errand *errand, const char *name, const struct stat *status)
{
	const char *pattern = errand->level[errand->depth - 1]->pattern;
	size_t bytes = strcspn(pattern, "/");
	const char *rest = pattern + bytes + strspn(pattern + bytes, "/");

	if (!wh_wildcard_matches(pattern, bytes, name))
		return;
	if (*rest == '\0')
		take_match(errand, name, status);
	else if (S_ISDIR(status->st_mode))
		wh_descent_enter(errand, name, rest);
}

void wh_errand_match_end(struct wh_errand *errand)
{
	if (errand->depth > 0)
		return;
	errand->is_pattern = false;
	if (!errand->matched)
		wh_errand_tell_fault(errand, "", ENOENT, WH_DOING_OPENING);
}
