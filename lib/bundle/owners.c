/* SPDX-License-Identifier: BSD-3-Clause */
#include "bundle/owners.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"

/* linux/posix_acl_xattr.h and posix_acl.h: tags of entries with an id. */
#define ACL_VERSION 2
#define ACL_USER    0x02
#define ACL_GROUP   0x08

struct acl_entry {
	uint16_t tag;
	uint16_t perm;
	uint32_t id;
};

static_assert(sizeof(struct acl_entry) == 8, "as the kernel has it, little-endian");
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "as this machine has it");

bool wh_owner_map_add(struct wh_owner_map *map, const uint32_t *from, uint32_t to)
{
	if (from == NULL) {
		if (map->has_others)
			return false;
		map->has_others = true;
		map->others = to;
		return true;
	}
	for (uint32_t i = 0; i < map->rules; i++)
		if (map->rule[i].from == *from)
			return false;
	if (map->rules == WH_OWNER_RULES_MAX)
		return false;
	map->rule[map->rules].from = *from;
	map->rule[map->rules++].to = to;
	return true;
}

const char *wh_owner_map_text(const struct wh_owner_map *map, char text[WH_OWNER_MAP_TEXT_BYTES])
{
	size_t used = 0;

	static_assert(sizeof("4294967295=4294967295,") <= 24, "room for each");
	text[0] = '\0';
	for (uint32_t i = 0; i < map->rules; i++)
		used += (size_t)snprintf(text + used, WH_OWNER_MAP_TEXT_BYTES - used, "%s%u=%u",
			used > 0 ? "," : "", map->rule[i].from, map->rule[i].to);
	if (map->has_others)
		snprintf(text + used, WH_OWNER_MAP_TEXT_BYTES - used, "%s*=%u", used > 0 ? "," : "",
			map->others);
	return text;
}

uint32_t wh_owner_mapped(const struct wh_owner_map *map, uint32_t id)
{
	WH_ASSERT(map->rules <= WH_OWNER_RULES_MAX);
	for (uint32_t i = 0; i < map->rules; i++)
		if (map->rule[i].from == id)
			return map->rule[i].to;
	return map->has_others ? map->others : id;
}

/* Inserts into the run of its tag, sorted by id, without duplicates. */
static size_t put(struct acl_entry *entry, size_t count, const struct acl_entry *one)
{
	size_t at = count;

	while (at > 0 && entry[at - 1].tag == one->tag && entry[at - 1].id > one->id)
		at--;
	if (at > 0 && entry[at - 1].tag == one->tag && entry[at - 1].id == one->id) {
		entry[at - 1].perm |= one->perm;
		return count;
	}
	memmove(&entry[at + 1], &entry[at], (count - at) * sizeof(*entry));
	entry[at] = *one;
	return count + 1;
}

int wh_owners_map_acl(const struct wh_owners *owners, const uint8_t *acl, size_t bytes,
	uint8_t to[WH_ACL_BYTES_MAX])
{
	struct acl_entry entry[WH_ACL_ENTRIES_MAX];
	uint32_t version;
	size_t count = 0;

	if (bytes < sizeof(version) || (bytes - sizeof(version)) % sizeof(entry[0]) != 0)
		return -EINVAL;
	if (bytes > WH_ACL_BYTES_MAX)
		return -E2BIG;
	memcpy(&version, acl, sizeof(version));
	if (version != ACL_VERSION)
		return -EINVAL;
	for (size_t at = sizeof(version); at < bytes; at += sizeof(entry[0])) {
		struct acl_entry one;

		memcpy(&one, acl + at, sizeof(one));
		if (one.tag == ACL_USER)
			one.id = wh_owner_mapped(&owners->users, one.id);
		else if (one.tag == ACL_GROUP)
			one.id = wh_owner_mapped(&owners->groups, one.id);
		/* Other tags have no id and are copied unchanged. */
		if (one.tag == ACL_USER || one.tag == ACL_GROUP)
			count = put(entry, count, &one);
		else
			entry[count++] = one;
	}
	memcpy(to, &version, sizeof(version));
	memcpy(to + sizeof(version), entry, count * sizeof(entry[0]));
	return (int)(sizeof(version) + count * sizeof(entry[0]));
}
