/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bundle/xattrs.h"
#include "sink/sink_internal.h"

int wh_set_mtime(int fd, int64_t mtime_s, uint32_t mtime_ns)
{
	const struct timespec times[] = {
		{.tv_nsec = UTIME_OMIT},
		{.tv_sec = mtime_s, .tv_nsec = mtime_ns},
	};

	return futimens(fd, times) != 0 ? -errno : 0;
}

int wh_set_attributes(int fd, uint16_t mode, int64_t mtime_s, uint32_t mtime_ns)
{
	if (fchmod(fd, mode & WH_MODE_MASK) != 0)
		return -errno;
	return wh_set_mtime(fd, mtime_s, mtime_ns);
}

int wh_sink_set_more(const struct wh_sink *sink, int fd, uint16_t mode, const struct wh_more *more)
{
	bool owners = (sink->keeps & WH_CHOICE_OWNERS) != 0 && more->uid != WH_OWNER_UNTOLD &&
		      more->gid != WH_OWNER_UNTOLD;
	bool set_ids = (sink->keeps & WH_CHOICE_SET_IDS) != 0;
	const struct wh_owners *by = &sink->config.rules.owners;

	if (sink->keeps == 0)
		return 0;
	if (owners && fchown(fd, wh_owner_mapped(&by->users, more->uid),
			      wh_owner_mapped(&by->groups, more->gid)) != 0)
		return -errno;
	/* A change of owner clears these bits. */
	if (set_ids && (mode & ~WH_MODE_MASK) != 0 && fchmod(fd, mode) != 0)
		return -errno;
	return wh_xattrs_apply(fd, sink->keeps, by, more->xattrs, more->xattr_bytes);
}

int wh_settle_attributes(
	int fd, const struct stat *status, uint16_t mode, int64_t mtime_s, uint32_t mtime_ns)
{
	if ((status->st_mode & 07777) == (mode & WH_MODE_MASK) &&
		status->st_mtim.tv_sec == mtime_s && status->st_mtim.tv_nsec == (long)mtime_ns)
		return 0;
	return wh_set_attributes(fd, mode, mtime_s, mtime_ns);
}
