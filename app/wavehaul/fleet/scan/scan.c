/* SPDX-License-Identifier: BSD-3-Clause */
#include "fleet/scan/scan.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bundle/record.h"
#include "cli/complain.h"
#include "cli/exit.h"
#include "cli/plain_text.h"
#include "fleet/scan/tree_ahead.h"
#include "source/given.h"

struct scan {
	struct wh_tree_ahead *ahead;
	struct wh_scan_totals *totals;
	wh_scan_fn on_name;
	void *context;
	char name[PATH_MAX + 3 + WH_PATH_BYTES_MAX + 1]; /* above, "/./", the name in the bundle */
	size_t above_bytes;
};

void wh_scan_leave_out(struct wh_scan_totals *totals, const char *path, const char *why)
{
	char plain[4 * WH_PATH_BYTES_MAX + 1];

	wh_say("left out: %s: %s", wh_plain_text(path, true, plain, sizeof(plain)), why);
	totals->left_out++;
}

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

/* False: an end, after a complaint. */
static bool tell_entry(struct scan *scan, const struct wh_ahead_entry *entry)
{
	struct wh_scan_totals *totals = scan->totals;
	char *path = scan->name + scan->above_bytes;

	snprintf(path, sizeof(scan->name) - scan->above_bytes, "%s%s%s", entry->folder,
		entry->folder[0] != '\0' && entry->name[0] != '\0' ? "/" : "", entry->name);
	switch (entry->kind) {
	case WH_AHEAD_FILE:
		totals->files++;
		totals->bytes += entry->bytes;
		return scan->on_name(scan->context, scan->name, entry->bytes);
	case WH_AHEAD_LINK:
		totals->links++;
		return scan->on_name(scan->context, scan->name, 0);
	case WH_AHEAD_EMPTY:
		totals->folders++;
		return scan->on_name(scan->context, scan->name, 0);
	default:
		wh_scan_leave_out(totals, path, strerror(entry->error));
		return true;
	}
}

static int scan_tree(struct scan *scan, const char *tree)
{
	struct wh_ahead_entry entry;
	int status = find_above(scan, tree);
	bool good = true;

	if (status != -1)
		return status;
	if (!wh_tree_ahead_begin(scan->ahead, tree, scan->name))
		return WH_EXIT_OTHER;
	while (good && wh_tree_ahead_next(scan->ahead, &entry))
		good = tell_entry(scan, &entry);
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
	scan->ahead = wh_tree_ahead_open();
	scan->totals = totals;
	scan->on_name = on_name;
	scan->context = context;
	if (scan->ahead == NULL)
		status = WH_EXIT_OTHER;
	for (uint32_t i = 0; i < count && status == -1; i++)
		status = scan_tree(scan, trees[i]);
	wh_tree_ahead_close(scan->ahead);
	free(scan);
	return status;
}
