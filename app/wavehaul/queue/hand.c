/* SPDX-License-Identifier: BSD-3-Clause */
#include "queue/hand.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/complain.h"
#include "queue/words.h"

/* The folder that a path's last name is in, resolved, and that name; or all of it, resolved. */
static bool resolve(const char *path, char whole[PATH_MAX])
{
	char copy[PATH_MAX];
	char *slash;
	const char *name;

	if (snprintf(copy, sizeof(copy), "%s", path) >= (int)sizeof(copy))
		return false;
	slash = strrchr(copy, '/');
	name = slash != NULL ? slash + 1 : copy;
	if (name[0] == '\0' || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return realpath(path, whole) != NULL;
	if (slash == NULL)
		return realpath(".", whole) != NULL &&
		       strlen(whole) + strlen(name) + 2 < PATH_MAX &&
		       strcat(strcat(whole, "/"), name) != NULL;
	*slash = '\0';
	return realpath(slash == copy ? "/" : copy, whole) != NULL &&
	       strlen(whole) + strlen(name) + 2 < PATH_MAX &&
	       strcat(strcat(whole, "/"), name) != NULL;
}

char *wh_path_below(const char *root, const char *path)
{
	char copy[PATH_MAX];
	char whole[PATH_MAX];
	size_t bytes = strlen(path);
	size_t root_bytes = strlen(root);
	bool is_folder = bytes > 0 && path[bytes - 1] == '/';
	char *below = NULL;

	if (bytes == 0 || bytes >= sizeof(copy))
		return NULL;
	memcpy(copy, path, bytes + 1);
	while (bytes > 1 && copy[bytes - 1] == '/')
		copy[--bytes] = '\0';
	if (!resolve(copy, whole))
		return NULL;
	while (root_bytes > 0 && root[root_bytes - 1] == '/')
		root_bytes--;
	if (strncmp(whole, root, root_bytes) != 0)
		return NULL;
	if (whole[root_bytes] == '\0')
		return strdup(is_folder ? "./" : ".");
	if (whole[root_bytes] != '/')
		return NULL;
	return asprintf(&below, "%s%s", whole + root_bytes + 1, is_folder ? "/" : "") < 0 ? NULL
											  : below;
}

static json_t *paths_below(const char *root, const char *const *paths, uint32_t count)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < count; i++) {
		char *below = wh_path_below(root, paths[i]);

		if (below == NULL) {
			wh_complain("%s is not below %s, where the server's own files are: it may "
				    "read and write nothing else",
				paths[i], root);
			json_decref(list);
			return NULL;
		}
		json_array_append_new(list, json_string(below));
		free(below);
	}
	return list;
}

json_t *wh_order_request(const struct wh_transfer *transfer, const char *root)
{
	json_t *here = paths_below(root, transfer->local, transfer->locals);
	json_t *words = here != NULL ? wh_order_words(&transfer->settings, root) : NULL;
	json_t *there = json_array();

	if (words == NULL) {
		json_decref(here);
		json_decref(there);
		return NULL;
	}
	for (uint32_t i = 0; i < transfer->remotes; i++)
		json_array_append_new(there, json_string(transfer->remote[i]));
	return json_pack("{s:s, s:s, s:s, s:o, s:o, s:o}", "do", "job.add", "verb",
		transfer->verb == WH_VERB_SEND ? "send" : "get", "host", transfer->server, "here",
		here, "there", there, "options", words);
}
