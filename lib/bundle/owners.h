/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Mapping of owners by rules: owners are sent as numbers, which may mean another user here. The
 * same rules apply to entries of ACLs.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WH_OWNER_RULES_MAX 32

/* Users, or groups. */
struct wh_owner_map {
	uint32_t rules;
	bool has_others; /* ids without a rule become `others`; else they stay */
	uint32_t others;
	struct {
		uint32_t from;
		uint32_t to;
	} rule[WH_OWNER_RULES_MAX];
};

struct wh_owners {
	struct wh_owner_map users;
	struct wh_owner_map groups;
};

/*
 * Adds FROM=TO; `from` NULL stands for all ids without a rule. False: too many rules, or a
 * duplicate.
 */
bool wh_owner_map_add(struct wh_owner_map *map, const uint32_t *from, uint32_t to);

/* As text for people: "7=1000,*=65534"; "" without rules. */
#define WH_OWNER_MAP_TEXT_BYTES (24 * (WH_OWNER_RULES_MAX + 1))
const char *wh_owner_map_text(const struct wh_owner_map *map, char text[WH_OWNER_MAP_TEXT_BYTES]);

uint32_t wh_owner_mapped(const struct wh_owner_map *map, uint32_t id);

static inline bool wh_owner_map_changes(const struct wh_owner_map *map)
{
	return map->rules > 0 || map->has_others;
}

static inline bool wh_owners_change(const struct wh_owners *owners)
{
	return wh_owner_map_changes(&owners->users) || wh_owner_map_changes(&owners->groups);
}

/*
 * Maps a POSIX ACL in the format of the kernel's attribute; the input may be any bytes. If several
 * ids become one, their entries are merged, with all their permissions. Returns the length in `to`;
 * or -EINVAL: not an ACL; or -E2BIG: too many entries.
 */
#define WH_ACL_ENTRIES_MAX 512
#define WH_ACL_BYTES_MAX   (4 + 8 * WH_ACL_ENTRIES_MAX)
int wh_owners_map_acl(const struct wh_owners *owners, const uint8_t *acl, size_t bytes,
	uint8_t to[WH_ACL_BYTES_MAX]);
