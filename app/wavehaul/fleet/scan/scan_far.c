/* SPDX-License-Identifier: BSD-3-Clause */
#include "fleet/scan/scan.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "bundle/record.h"
#include "cli/child/child.h"
#include "cli/complain.h"
#include "cli/exit.h"
#include "cli/json.h"

#define NAME_BYTES (PATH_MAX + 3 + WH_PATH_BYTES_MAX + 1)

struct far_listing {
	struct wh_scan_totals *totals;
	wh_scan_fn on_name;
	void *context;
	char name[NAME_BYTES]; /* above, then "/./", then the name in the bundle */
	size_t above_bytes;
	char folder[WH_PATH_BYTES_MAX + 1]; /* found last; "": something in it was found, too */
	size_t folder_bytes;
};

static bool tell_name(struct far_listing *listing, const char *path, uint64_t bytes)
{
	strcpy(listing->name + listing->above_bytes, path);
	return listing->on_name(listing->context, listing->name, bytes);
}

/* The folder found last has nothing in it, unless this path is in it; NULL: the end. */
static bool end_folder(struct far_listing *listing, const char *path)
{
	bool is_in = path != NULL && strncmp(path, listing->folder, listing->folder_bytes) == 0 &&
		     path[listing->folder_bytes] == '/';
	bool is_empty = listing->folder_bytes > 0 && !is_in;

	if (is_empty) {
		listing->totals->folders++;
		if (!tell_name(listing, listing->folder, 0))
			return false;
	}
	listing->folder_bytes = 0;
	return true;
}

static bool leave_out(struct far_listing *listing, const char *path, const char *why)
{
	wh_scan_leave_out(listing->totals, path, why);
	return true;
}

static bool begin_folder(struct far_listing *listing, const char *path)
{
	listing->folder_bytes = strlen(path);
	strcpy(listing->folder, path);
	return true;
}

static bool take_file(struct far_listing *listing, const char *path, uint64_t bytes)
{
	listing->totals->files++;
	listing->totals->bytes += bytes;
	return tell_name(listing, path, bytes);
}

static bool take_link(struct far_listing *listing, const char *path)
{
	listing->totals->links++;
	return tell_name(listing, path, 0);
}

/* Without empty parts and "."; whether the contents of a folder are meant: it ends with "." */
static bool clean_path(const char *path, char clean[WH_PATH_BYTES_MAX + 2])
{
	size_t chars = 0;
	bool is_contents = true;

	if (path[0] == '/')
		clean[chars++] = '/';
	while (*path != '\0') {
		size_t part = strcspn(path, "/");

		if (part > 0)
			is_contents = part == 1 && path[0] == '.';
		if (part > 0 && !is_contents) {
			if (chars > 0 && clean[chars - 1] != '/')
				clean[chars++] = '/';
			memcpy(clean + chars, path, part);
			chars += part;
		}
		path += part + (path[part] == '/');
	}
	clean[chars] = '\0';
	return is_contents;
}

/* A tree at a server, and the beginning of its names in what `ls` lists. */
struct far_tree {
	char path[WH_PATH_BYTES_MAX + 2];
	size_t above_bytes; /* of a listed name: in front of what is kept */
	bool is_contents;
	bool is_found; /* something of it */
};

static void place_tree(struct far_listing *listing, struct far_tree *tree, const char *path)
{
	bool is_contents = tree->is_contents = clean_path(path, tree->path);
	size_t bytes = strlen(tree->path);
	const char *slash = strrchr(tree->path, '/');

	if (!is_contents)
		bytes = slash != NULL ? (size_t)(slash - tree->path) + 1 : 0;
	snprintf(listing->name, sizeof(listing->name), "%.*s%s./", (int)bytes, tree->path,
		bytes > 0 && tree->path[bytes - 1] != '/' ? "/" : "");
	listing->above_bytes = strlen(listing->name);
	if (tree->path[0] == '\0')
		strcpy(tree->path, ".");
	tree->above_bytes =
		is_contents && strcmp(tree->path, ".") == 0 ? 2 : listing->above_bytes - 2;
}

/* An entry of `ls --json`. */
static bool take_entry(struct far_listing *listing, struct far_tree *tree, const json_t *entry)
{
	const char *kind = wh_json_text(entry, "kind");
	char whole[WH_PATH_BYTES_MAX + 1];
	uint16_t bytes = wh_path_from_json(entry, "path", whole);
	const char *error = json_string_value(json_object_get(entry, "error"));
	const char *path = whole + tree->above_bytes;

	if (error != NULL)
		return leave_out(listing, whole, error);
	if (bytes <= tree->above_bytes || bytes + 2 > WH_PATH_BYTES_MAX ||
		strncmp(whole, listing->name, tree->above_bytes) != 0 ||
		!wh_path_is_safe(path, bytes - tree->above_bytes))
		return leave_out(listing, bytes > 0 ? whole : tree->path,
			"no path below what was asked for, or a longer one than a request has");
	tree->is_found = true;
	if (!end_folder(listing, path))
		return false;
	if (strcmp(kind, "file") == 0)
		return take_file(listing, path, wh_json_count(entry, "bytes"));
	if (strcmp(kind, "link") == 0)
		return take_link(listing, path);
	if (strcmp(kind, "folder") == 0)
		return begin_folder(listing, path);
	return leave_out(listing, whole, "neither a file nor a link nor a folder");
}

/* Each entry is a line. The exit status of ls; -1: it cannot be run, or `good` is false. */
static int run_ls(
	struct far_listing *listing, struct far_tree *tree, char *const *command, bool *good)
{
	struct wh_child child;
	char *line = NULL;
	size_t room = 0;
	FILE *from;
	int error = wh_child_start(&child, command, true);

	if (error != 0)
		return wh_fail(-1, "cannot run `wavehaul ls`: %s", strerror(error));
	from = fdopen(child.from_fd, "r");
	while (*good && from != NULL && getline(&line, &room, from) >= 0) {
		json_t *entry = json_loads(line, JSON_DISABLE_EOF_CHECK, NULL);

		if (entry != NULL)
			*good = take_entry(listing, tree, entry);
		json_decref(entry);
	}
	free(line);
	if (from != NULL) {
		fclose(from);
		child.from_fd = -1;
	}
	return wh_child_wait(&child);
}

static int list_tree(struct far_listing *listing, const struct wh_far_scan *far, const char *path)
{
	char *words[WH_FAR_WORDS_MAX + 5] = {
		far->own, (char[]){"ls"}, (char[]){"--recursive"}, (char[]){"--json"}};
	struct far_tree tree = {0};
	char *operand = NULL;
	bool good = true;
	int status;

	WH_ASSERT(far->n_words <= WH_FAR_WORDS_MAX);
	place_tree(listing, &tree, path);
	for (uint32_t i = 0; i < far->n_words; i++)
		words[4 + i] = far->words[i];
	if (asprintf(&operand, "%s:%s", far->host, tree.path) < 0)
		return WH_EXIT_OTHER;
	words[4 + far->n_words] = operand;
	status = run_ls(listing, &tree, words, &good);
	free(operand);
	if (status == WH_EXIT_OK && !tree.is_found && !tree.is_contents)
		begin_folder(listing, tree.path + tree.above_bytes);
	good = good && end_folder(listing, NULL);
	if (!good || status < 0)
		return WH_EXIT_OTHER;
	if (status != WH_EXIT_OK && (status != WH_EXIT_PARTIAL || !tree.is_found))
		return wh_fail(status,
			"%s of %s cannot be listed; `wavehaul ls` ended with exit "
			"status %d",
			tree.path, far->host, status);
	return -1;
}

int wh_fleet_scan_far(const struct wh_far_scan *far, char *const *trees, uint32_t count,
	wh_scan_fn on_name, void *context, struct wh_scan_totals *totals)
{
	struct far_listing *listing = calloc(1, sizeof(*listing));
	int status = listing != NULL ? -1 : WH_EXIT_OTHER;

	*totals = (struct wh_scan_totals){0};
	if (listing == NULL)
		return status;
	listing->totals = totals;
	listing->on_name = on_name;
	listing->context = context;
	for (uint32_t i = 0; i < count && status == -1; i++)
		status = list_tree(listing, far, trees[i]);
	free(listing);
	return status;
}
