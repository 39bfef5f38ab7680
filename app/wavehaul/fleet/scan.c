/* SPDX-License-Identifier: BSD-3-Clause */
#include "fleet/scan.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/complain.h"
#include "cli/exit.h"
#include "source/walk.h"

#define NAME_BYTES (PATH_MAX + 3 + WH_PATH_BYTES_MAX + 1)

struct scan {
	struct wh_walk *walk;
	struct wh_scan_totals *totals;
	wh_scan_fn on_name;
	void *context;
	char name[NAME_BYTES]; /* above, then "/./", then the name in the bundle */
	size_t above_bytes;
	char folder[WH_PATH_BYTES_MAX + 1]; /* found last; "": something in it was found, too */
	size_t folder_bytes;
};

/* The folder that a tree's names are below. -1, or an exit status after a complaint. */
static int find_above(struct scan *scan, const char *tree)
{
	const char *last;
	size_t bytes = wh_path_last_name(tree, &last);
	char above[PATH_MAX];
	int length = bytes == 0 ? snprintf(above, sizeof(above), "%s", tree)
				: snprintf(above, sizeof(above), "%.*s.", (int)(last - tree), tree);

	if (length >= (int)sizeof(above) || realpath(above, scan->name) == NULL)
		return wh_fail(WH_EXIT_NO_FILE, "cannot read %s: %s", tree, strerror(errno));
	if (strcmp(scan->name, "/") == 0)
		scan->name[0] = '\0';
	strcat(scan->name, "/./");
	scan->above_bytes = strlen(scan->name);
	return -1;
}

static bool tell_name(struct scan *scan, const char *path, uint64_t bytes)
{
	strcpy(scan->name + scan->above_bytes, path);
	return scan->on_name(scan->context, scan->name, bytes);
}

/* The folder found last has nothing in it, unless the item is in it. */
static bool end_folder(struct scan *scan, const struct wh_walk_item *item)
{
	bool is_in = item->found != WH_WALK_END &&
		     strncmp(item->path, scan->folder, scan->folder_bytes) == 0 &&
		     item->path[scan->folder_bytes] == '/';
	bool is_empty = scan->folder_bytes > 0 && !is_in;

	if (is_empty) {
		scan->totals->folders++;
		if (!tell_name(scan, scan->folder, 0))
			return false;
	}
	scan->folder_bytes = 0;
	return true;
}

static bool leave_out(struct scan *scan, const char *path, int error)
{
	wh_say("left out: %s: %s", path, strerror(error));
	scan->totals->left_out++;
	return true;
}

static bool take_item(struct scan *scan, const struct wh_walk_item *item)
{
	struct stat status;

	if (item->found == WH_WALK_NOTHING)
		return true;
	if (!end_folder(scan, item))
		return false;
	switch (item->found) {
	case WH_WALK_FILE:
		if (fstatat(item->folder_fd, item->name, &status,
			    item->is_given ? 0 : AT_SYMLINK_NOFOLLOW) != 0)
			return leave_out(scan, item->path, errno);
		scan->totals->files++;
		scan->totals->bytes += (uint64_t)status.st_size;
		return tell_name(scan, item->path, (uint64_t)status.st_size);
	case WH_WALK_LINK:
		scan->totals->links++;
		return tell_name(scan, item->path, 0);
	case WH_WALK_FOLDER:
		strcpy(scan->folder, item->path);
		scan->folder_bytes = item->path_bytes;
		return true;
	case WH_WALK_FAULT:
		return leave_out(scan, item->path, item->error);
	default:
		return true;
	}
}

static int scan_tree(struct scan *scan, const char *tree)
{
	struct wh_walk_item item;
	int status = find_above(scan, tree);
	bool good = true;

	if (status != -1)
		return status;
	if (wh_walk_open(&scan->walk, -1, &tree, 1, true) != 0)
		return WH_EXIT_OTHER;
	do {
		wh_walk_next(scan->walk, &item);
		good = take_item(scan, &item);
	} while (good && item.found != WH_WALK_END);
	wh_walk_close(scan->walk);
	return good ? -1 : WH_EXIT_OTHER;
}

int wh_fleet_scan(char *const *trees, uint32_t count, wh_scan_fn on_name, void *context,
	struct wh_scan_totals *totals)
{
	struct scan *scan = calloc(1, sizeof(*scan));
	int status = scan != NULL ? -1 : WH_EXIT_OTHER;

	*totals = (struct wh_scan_totals){0};
	if (scan == NULL)
		return status;
	scan->totals = totals;
	scan->on_name = on_name;
	scan->context = context;
	for (uint32_t i = 0; i < count && status == -1; i++)
		status = scan_tree(scan, trees[i]);
	free(scan);
	return status;
}
