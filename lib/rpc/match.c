/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A given path with wildcards. Its names are matched folder by folder. What matches the last name
 * is treated as if it had been given, except that links are not followed. Paths of its ITEMs and
 * FAULTs are relative to the folder before the first name with a wildcard.
 */

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/assert.h"
#include "bundle/beneath.h"
#include "bundle/choice.h"
#include "rpc/rpc_internal.h"

void wh_rpc_match_begin(struct wh_rpc *rpc)
{
	const char *given = wh_rpc_given(rpc);
	size_t base_bytes = wh_wildcard_base_bytes(given);
	char base[WH_PATH_BYTES_MAX + 1];
	int fd;

	WH_ASSERT(base_bytes < sizeof(base) && rpc->depth == 0);
	memcpy(base, given, base_bytes);
	base[base_bytes] = '\0';
	fd = wh_beneath_resolve(rpc->config.root_fd, base_bytes > 0 ? base : ".",
		O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0) {
		wh_rpc_tell_fault(rpc, "", -fd, WH_DOING_OPENING);
		return;
	}
	wh_descent_enter_given(rpc, fd, given + base_bytes);
	rpc->is_pattern = rpc->depth > 0;
}

/* A folder to be removed needs --recursive, and so does what is in it. */
static void take_match(struct wh_rpc *rpc, const char *name, const struct stat *status)
{
	bool folder = S_ISDIR(status->st_mode);

	rpc->matched = true;
	if (folder && rpc->config.verb == WH_JOB_REMOVE && !rpc->config.recursive)
		wh_rpc_tell_fault(rpc, rpc->path, EISDIR, WH_DOING_REMOVING);
	else if (folder)
		wh_descent_enter(rpc, name, NULL);
	else if (rpc->config.verb == WH_JOB_REMOVE)
		wh_descent_take(rpc, name, status);
	else
		wh_rpc_tell_item(
			rpc, rpc->path, rpc->level[rpc->depth - 1]->fd, name, status, NULL);
}

void wh_rpc_match_name(struct wh_rpc *rpc, const char *name, const struct stat *status)
{
	const char *pattern = rpc->level[rpc->depth - 1]->pattern;
	size_t bytes = strcspn(pattern, "/");
	const char *rest = pattern + bytes + strspn(pattern + bytes, "/");

	if (!wh_wildcard_matches(pattern, bytes, name))
		return;
	if (*rest == '\0')
		take_match(rpc, name, status);
	else if (S_ISDIR(status->st_mode))
		wh_descent_enter(rpc, name, rest);
}

void wh_rpc_match_end(struct wh_rpc *rpc)
{
	if (rpc->depth > 0)
		return;
	rpc->is_pattern = false;
	if (!rpc->matched)
		wh_rpc_tell_fault(rpc, "", ENOENT, WH_DOING_OPENING);
}
