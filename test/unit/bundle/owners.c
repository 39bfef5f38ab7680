/* SPDX-License-Identifier: BSD-3-Clause */
/* Whose files become, and ACLs of the kernel's form, made by hand. */
#include "bundle/owners.h"

#include "base/prng.h"
#include "unit.h"

const char wh_suite_name[] = "owners";

#define USER_OBJ  1
#define USER      2
#define GROUP_OBJ 4
#define GROUP     8
#define MASK      16
#define OTHER     32
#define NOBODY    UINT32_MAX

struct entry {
	uint16_t tag;
	uint16_t perm;
	uint32_t id;
};

static void add(struct wh_owner_map *map, uint32_t from, uint32_t to)
{
	CU_ASSERT_TRUE(wh_owner_map_add(map, &from, to));
}

static void mapped(void)
{
	struct wh_owner_map map = {0};

	CU_ASSERT_EQUAL(wh_owner_mapped(&map, 7), 7);
	add(&map, 7, 8);
	add(&map, 8, 9);
	CU_ASSERT_EQUAL(wh_owner_mapped(&map, 7), 8); /* once, not on and on */
	CU_ASSERT_EQUAL(wh_owner_mapped(&map, 8), 9);
	CU_ASSERT_EQUAL(wh_owner_mapped(&map, 0), 0);
	CU_ASSERT_TRUE(wh_owner_map_add(&map, NULL, 50));
	CU_ASSERT_EQUAL(wh_owner_mapped(&map, 7), 8);
	CU_ASSERT_EQUAL(wh_owner_mapped(&map, 0), 50);
	CU_ASSERT_FALSE(wh_owner_map_add(&map, NULL, 51));
	CU_ASSERT_FALSE(wh_owner_map_add(&map, &(uint32_t){7}, 51));
	for (uint32_t i = 2; i < WH_OWNER_RULES_MAX; i++)
		add(&map, 100 + i, 1);
	CU_ASSERT_FALSE(wh_owner_map_add(&map, &(uint32_t){99}, 1));
}

static size_t write_acl(uint8_t *bytes, const struct entry *entry, size_t count)
{
	memcpy(bytes, "\2\0\0\0", 4);
	memcpy(bytes + 4, entry, count * sizeof(*entry));
	return 4 + count * sizeof(*entry);
}

static void acl(void)
{
	static const struct entry from[] = {{USER_OBJ, 6, NOBODY}, {USER, 4, 5}, {USER, 1, 7},
		{USER, 2, 9}, {GROUP_OBJ, 4, NOBODY}, {GROUP, 4, 5}, {GROUP, 6, 6},
		{MASK, 7, NOBODY}, {OTHER, 0, NOBODY}};
	static const struct entry wanted[] = {{USER_OBJ, 6, NOBODY}, {USER, 1, 3}, {USER, 6, 100},
		{GROUP_OBJ, 4, NOBODY}, {GROUP, 4, 5}, {GROUP, 6, 6}, {MASK, 7, NOBODY},
		{OTHER, 0, NOBODY}};
	struct wh_owners owners = {0};
	uint8_t bytes[256], to[WH_ACL_BYTES_MAX], expected[256];
	size_t count = write_acl(bytes, from, 9);

	CU_ASSERT_FALSE(wh_owners_change(&owners));
	CU_ASSERT_EQUAL(wh_owners_map_acl(&owners, bytes, count, to), (int)count);
	CU_ASSERT_EQUAL(memcmp(to, bytes, count), 0);
	/* Two become one, and may what each might; a third goes before them. */
	CU_ASSERT_TRUE(wh_owner_map_add(&owners.users, NULL, 100));
	add(&owners.users, 7, 3);
	CU_ASSERT_TRUE(wh_owners_change(&owners));
	CU_ASSERT_EQUAL_FATAL(
		wh_owners_map_acl(&owners, bytes, count, to), (int)write_acl(expected, wanted, 8));
	CU_ASSERT_EQUAL(memcmp(to, expected, 4 + sizeof(wanted)), 0);
}

static void hostile(void)
{
	static uint8_t bytes[WH_ACL_BYTES_MAX + 8], to[WH_ACL_BYTES_MAX];
	struct wh_owners owners = {.users = {.has_others = true, .others = 1}};
	struct wh_prng prng;

	memcpy(bytes, "\2\0\0\0", 4);
	CU_ASSERT_EQUAL(wh_owners_map_acl(&owners, bytes, 0, to), -EINVAL);
	CU_ASSERT_EQUAL(wh_owners_map_acl(&owners, bytes, 3, to), -EINVAL);
	CU_ASSERT_EQUAL(wh_owners_map_acl(&owners, bytes, 4, to), 4);
	CU_ASSERT_EQUAL(wh_owners_map_acl(&owners, bytes, 5, to), -EINVAL);
	CU_ASSERT_EQUAL(wh_owners_map_acl(&owners, bytes, sizeof(bytes), to), -E2BIG);
	CU_ASSERT_EQUAL(wh_owners_map_acl(&owners, bytes, WH_ACL_BYTES_MAX, to), WH_ACL_BYTES_MAX);
	wh_prng_init(&prng, 5);
	for (uint32_t i = 0; i < 2000; i++) {
		size_t count = 4 + 8 * wh_prng_below(&prng, WH_ACL_ENTRIES_MAX + 1);

		for (size_t at = 4; at < count; at++)
			bytes[at] = (uint8_t)wh_prng_below(&prng, 12);
		CU_ASSERT(wh_owners_map_acl(&owners, bytes, count, to) <= (int)count);
	}
	bytes[0] = 1;
	CU_ASSERT_EQUAL(wh_owners_map_acl(&owners, bytes, 12, to), -EINVAL);
}

CU_TestInfo wh_tests[] = {
	{"mapped", mapped},
	{"ACL", acl},
	{"hostile", hostile},
	CU_TEST_INFO_NULL,
};
