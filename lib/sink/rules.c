/* SPDX-License-Identifier: BSD-3-Clause */
#include "sink/rules.h"

#include <string.h>

#include "base/assert.h"

static uint32_t depth_of(const char *path, size_t bytes)
{
	uint32_t depth = 0;

	for (size_t i = 0; i < bytes; i++)
		depth += path[i] == '/';
	return depth;
}

/*
 * Whether a link's text leads to something below the target. A ".." after a name is refused,
 * because the name may be a link itself, with its parent somewhere else.
 */
static bool leads_inside(const char *text, size_t bytes, uint32_t depth)
{
	bool named = false;
	size_t at = 0;

	if (bytes == 0 || text[0] == '/')
		return false;
	while (at < bytes) {
		const char *slash = memchr(text + at, '/', bytes - at);
		size_t length = slash == NULL ? bytes - at : (size_t)(slash - (text + at));
		bool up = length == 2 && memcmp(text + at, "..", 2) == 0;

		if (up && (named || depth-- == 0))
			return false;
		named = named || !(up || length == 0 || (length == 1 && text[at] == '.'));
		at += length + 1;
	}
	return true;
}

static bool is_within(_Atomic uint64_t *used, uint64_t more, uint64_t max)
{
	uint64_t before = atomic_load(used);

	if (max == 0)
		return true;
	do
		if (before > max || more > max - before)
			return false;
	while (!atomic_compare_exchange_weak(used, &before, before + more));
	return true;
}

enum wh_ruling wh_rules_judge(const struct wh_rules *rules, struct wh_rules_used *used,
	const struct wh_entry *entry, enum wh_doing *doing)
{
	uint32_t depth = depth_of(entry->path, entry->path_bytes);

	WH_ASSERT(entry->content != WH_CONTENT_SEGMENT); /* counted by its lead lane */
	*doing = WH_DOING_COUNTING;
	if (!is_within(&used->entries, 1, rules->entries_max))
		return WH_RULING_BROKEN;
	*doing = WH_DOING_ADDING;
	if (!is_within(&used->bytes, entry->size_bytes, rules->bytes_max))
		return WH_RULING_BROKEN;
	*doing = WH_DOING_DESCENDING;
	if (rules->depth_max > 0 && depth > rules->depth_max)
		return WH_RULING_FAILED;
	*doing = WH_DOING_NAMING;
	if (rules->plain_names && !(wh_text_is_plain(entry->path, entry->path_bytes) &&
					  wh_text_is_plain(entry->link, entry->link_bytes)))
		return WH_RULING_FAILED;
	*doing = WH_DOING_LINKING;
	if (rules->links_inside && entry->kind == WH_ENTRY_LINK &&
		!leads_inside(entry->link, entry->link_bytes, depth))
		return WH_RULING_FAILED;
	return WH_RULING_TAKEN;
}

bool wh_rules_let(const struct wh_rules *rules, struct wh_rules_used *used, uint64_t bytes)
{
	return is_within(&used->bytes, bytes, rules->bytes_max);
}
