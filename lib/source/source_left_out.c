/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <string.h>
#include <sys/xattr.h>

#include "source/source_internal.h"

/* What somebody has set, and a copy lacks. Labels that a system gives to all files are none. */
static bool is_of_note(const char *name)
{
	return strncmp(name, "user.", 5) == 0 || strcmp(name, "system.posix_acl_access") == 0 ||
	       strcmp(name, "security.capability") == 0;
}

/* Names that do not fit are many. */
static bool has_xattrs(int fd)
{
	char names[1024];
	ssize_t bytes = flistxattr(fd, names, sizeof(names));

	if (bytes < 0)
		return errno == ERANGE;
	for (const char *name = names; name < names + bytes; name += strlen(name) + 1)
		if (is_of_note(name))
			return true;
	return false;
}

void wh_source_see_left_out(struct wh_source *source, const struct stat *status, int fd)
{
	source->leaves_out = (struct wh_left_out){
		.owners = status->st_uid != source->own_uid,
		.set_ids = (status->st_mode & (S_ISUID | S_ISGID)) != 0,
		.xattrs = fd >= 0 && has_xattrs(fd),
		.hard_links = S_ISREG(status->st_mode) && status->st_nlink > 1,
	};
}

void wh_source_add_left_out(struct wh_source *source)
{
	struct wh_left_out *sum = &source->progress.totals.left_out;

	sum->owners += source->leaves_out.owners;
	sum->set_ids += source->leaves_out.set_ids;
	sum->xattrs += source->leaves_out.xattrs;
	sum->hard_links += source->leaves_out.hard_links;
}
