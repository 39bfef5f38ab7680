/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Names that several given paths have in the bundle. The sink takes one of them and refuses the
 * others, but it forgets between two tries of a transfer. If the first had arrived and was removed
 * here, another one could then replace it there. So none of them is removed.
 *
 * Before a transfer that removes files begins, a walk finds what is given, without the contents of
 * folders: their names are different if their folders' are.
 */

#include <string.h>

#include "source/source_internal.h"

#define ITEMS_PER_POLL 64

static const struct wh_blocks_account nobody = {.take = NULL};

bool wh_source_scouts(const struct wh_source_config *config)
{
	if (!wh_choice_has(&config->choice, WH_CHOICE_MOVE) ||
		wh_choice_has(&config->choice, WH_CHOICE_DRY) || config->is_pipe)
		return false;
	return config->path_count > 1 || (config->path_count == 1 && config->root_fd >= 0 &&
						 wh_path_has_wildcard(config->paths[0]));
}

static void note(struct wh_source *source, const struct wh_walk_item *item)
{
	const struct wh_name name = {.path = item->path, .bytes = item->path_bytes};

	if (wh_names_claim(&source->given_names, &nobody, &name) != WH_NAME_NEW)
		wh_names_claim(&source->contested_names, &nobody, &name);
}

int32_t wh_source_scout(struct wh_source *source)
{
	struct wh_walk_item item;
	int32_t items = 0;

	while (source->scout != NULL && items++ < ITEMS_PER_POLL) {
		wh_walk_next(source->scout, &item);
		switch (item.found) {
		case WH_WALK_END:
			wh_walk_close(source->scout);
			source->scout = NULL;
			break;
		case WH_WALK_FOLDER:
			if (item.is_prefix)
				break;
			note(source, &item);
			wh_walk_leave(source->scout);
			break;
		case WH_WALK_FILE:
		case WH_WALK_LINK:
			note(source, &item);
			break;
		default: /* a fault is found again, and told, by the other walk */
			break;
		}
	}
	return items;
}

/* In another try the backup of a file could get the name, and replace what has arrived. */
static bool may_be_backup(const struct wh_source *source, const char *path)
{
	const char *suffix = source->config.choice.backup;
	size_t bytes = suffix != NULL ? strlen(suffix) : 0;
	size_t path_bytes = strlen(path);

	return bytes > 0 && path_bytes > bytes && strcmp(path + path_bytes - bytes, suffix) == 0;
}

/* Looks up the path and those above it: folders may be given within others. */
bool wh_source_is_contested(struct wh_source *source, const char *path)
{
	uint32_t given = 0;

	if (may_be_backup(source, path))
		return true;
	if (source->given_names.count == 0)
		return false;
	for (const char *end = path; end != NULL;) {
		end = strchr(end, '/');

		size_t bytes = end != NULL ? (size_t)(end++ - path) : strlen(path);

		if (wh_names_may_have(&source->contested_names, path, bytes, false))
			return true;
		given += wh_names_may_have(&source->given_names, path, bytes, false);
	}
	return given > 1;
}
