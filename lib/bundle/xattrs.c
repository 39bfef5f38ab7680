/* SPDX-License-Identifier: BSD-3-Clause */
#include "bundle/xattrs.h"

#include <errno.h>
#include <string.h>
#include <sys/xattr.h>

#define HEAD_BYTES 3

static bool is_acl(const char *name)
{
	return strcmp(name, "system.posix_acl_access") == 0 ||
	       strcmp(name, "system.posix_acl_default") == 0;
}

/* Whether the wishes include an attribute of that name. */
static bool is_kept(const char *name, uint32_t wishes)
{
	if (strncmp(name, "user.", 5) == 0 && name[5] != '\0')
		return (wishes & WH_CHOICE_XATTRS) != 0;
	return is_acl(name) && (wishes & WH_CHOICE_ACLS) != 0;
}

/*
 * Whether somebody has set it, so that a copy lacks it. Not so labels that a system gives to all
 * files.
 */
static bool is_of_note(const char *name)
{
	return is_kept(name, WH_CHOICE_XATTRS | WH_CHOICE_ACLS) ||
	       strcmp(name, "security.capability") == 0;
}

/* Returns the length; 0: does not fit, or is gone. */
static size_t put(int fd, const char *name, uint8_t *bytes, size_t room)
{
	size_t name_bytes = strlen(name);
	size_t head_bytes = HEAD_BYTES + name_bytes;

	if (name_bytes > UINT8_MAX || head_bytes >= room)
		return 0;

	ssize_t value_bytes = fgetxattr(fd, name, bytes + head_bytes, room - head_bytes);

	if (value_bytes < 0 || value_bytes > UINT16_MAX)
		return 0;
	bytes[0] = (uint8_t)name_bytes;
	bytes[1] = (uint8_t)value_bytes;
	bytes[2] = (uint8_t)(value_bytes >> 8);
	memcpy(bytes + HEAD_BYTES, name, name_bytes);
	return head_bytes + (size_t)value_bytes;
}

size_t wh_xattrs_read(int fd, uint32_t wishes, uint8_t *bytes, size_t room, bool *left_out)
{
	char names[1024];
	ssize_t names_bytes = flistxattr(fd, names, sizeof(names));
	size_t used = 0;

	/* More names than fit. */
	*left_out = names_bytes < 0 && errno == ERANGE;
	for (const char *name = names; name < names + names_bytes; name += strlen(name) + 1) {
		size_t more;

		if (!is_kept(name, wishes)) {
			*left_out |= is_of_note(name);
			continue;
		}
		more = put(fd, name, bytes + used, room - used);
		if (more == 0) {
			*left_out = true;
			return 0;
		}
		used += more;
	}
	return used;
}

static int apply(int fd, const char *name, const struct wh_owners *owners, const uint8_t *value,
	size_t value_bytes)
{
	uint8_t acl[WH_ACL_BYTES_MAX];

	if (owners != NULL && wh_owners_change(owners) && is_acl(name)) {
		int bytes = wh_owners_map_acl(owners, value, value_bytes, acl);

		if (bytes < 0)
			return bytes;
		value = acl;
		value_bytes = (size_t)bytes;
	}
	return fsetxattr(fd, name, value, value_bytes, 0) != 0 ? -errno : 0;
}

int wh_xattrs_apply(
	int fd, uint32_t wishes, const struct wh_owners *owners, const uint8_t *bytes, size_t count)
{
	char name[UINT8_MAX + 1];

	while (count > 0) {
		size_t name_bytes = bytes[0];
		size_t value_bytes = count < HEAD_BYTES ? 0 : bytes[1] | (size_t)bytes[2] << 8;

		if (name_bytes == 0 || count < HEAD_BYTES + name_bytes + value_bytes ||
			memchr(bytes + HEAD_BYTES, '\0', name_bytes) != NULL)
			return -EINVAL;
		memcpy(name, bytes + HEAD_BYTES, name_bytes);
		name[name_bytes] = '\0';
		bytes += HEAD_BYTES + name_bytes;

		int rc = is_kept(name, wishes) ? apply(fd, name, owners, bytes, value_bytes) : 0;

		if (rc < 0)
			return rc;
		bytes += value_bytes;
		count -= HEAD_BYTES + name_bytes + value_bytes;
	}
	return 0;
}
