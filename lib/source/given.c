/* SPDX-License-Identifier: BSD-3-Clause */
#include "source/given.h"

#include <errno.h>
#include <string.h>

size_t wh_path_last_name(const char *path, const char **name)
{
	const char *end = path + strlen(path);

	while (end > path && end[-1] == '/')
		end--;

	const char *slash = memrchr(path, '/', (size_t)(end - path));
	size_t bytes;

	*name = slash == NULL ? path : slash + 1;
	bytes = (size_t)(end - *name);
	return wh_path_is_safe(*name, bytes) ? bytes : 0;
}

const char *wh_path_kept(const char *path)
{
	const char *mark = strstr(path, "/./");

	if (mark != NULL)
		path = mark + 3;
	while (path[0] == '/' || (path[0] == '.' && (path[1] == '/' || path[1] == '\0')))
		path++;
	return path;
}

/* Copies it without doubled '/' and "."; its length or a negative errno. */
static int put_kept(const char *segment, char name[WH_PATH_BYTES_MAX + 1])
{
	size_t used = 0;

	for (size_t bytes; *segment != '\0'; segment += bytes) {
		segment += *segment == '/';
		bytes = strcspn(segment, "/");
		if (bytes == 0 || (bytes == 1 && segment[0] == '.'))
			continue;
		if (bytes == 2 && segment[0] == '.' && segment[1] == '.')
			return -EINVAL;
		if (used + bytes + 1 > WH_PATH_BYTES_MAX)
			return -ENAMETOOLONG;
		if (used > 0)
			name[used++] = '/';
		memcpy(name + used, segment, bytes);
		used += bytes;
	}
	name[used] = '\0';
	return (int)used;
}

int wh_path_in_bundle(
	const char *path, bool whole, char name[WH_PATH_BYTES_MAX + 1], size_t *above_bytes)
{
	const char *last = path + strlen(path);
	size_t bytes;

	if (whole) {
		const char *segment = wh_path_kept(path);
		int kept = put_kept(segment, name);

		*above_bytes = kept == 0 ? strlen(path) : (size_t)(segment - path);
		return kept;
	}
	bytes = wh_path_last_name(path, &last);
	if (bytes > WH_PATH_BYTES_MAX)
		return -ENAMETOOLONG;
	*above_bytes = bytes == 0 ? strlen(path) : (size_t)(last - path);
	memcpy(name, last, bytes);
	name[bytes] = '\0';
	return (int)bytes;
}
