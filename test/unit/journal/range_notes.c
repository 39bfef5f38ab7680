/* SPDX-License-Identifier: BSD-3-Clause */
/* Notes about ranges, which several hosts write: what one has noted, another finds. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bundle_tree.h"
#include "journal/range_notes.h"

const char wh_suite_name[] = "range_notes";

#define MIB  WH_RANGES_ALIGN_BYTES
#define SIZE (5 * MIB + 17)

static const struct wh_segment ranges[] = {{0, 2 * MIB}, {2 * MIB, 3 * MIB}, {3 * MIB, SIZE}};

static struct wh_ranges_key key_of(uint8_t owner, const char *path)
{
	struct wh_ranges_key key = {
		.target = {.path = path, .path_bytes = (uint16_t)strlen(path)},
		.source = {.size_bytes = SIZE, .mtime_s = 5, .inode = 9, .ctime_s = 6},
	};

	key.owner.id[0] = owner;
	return key;
}

static struct wh_ranges open_notes(const struct tree *tree, const struct wh_ranges_key *key)
{
	struct wh_ranges notes = {.fd = -1};

	CU_ASSERT_FATAL(wh_ranges_open(tree->fd, key, &notes) == 0);
	return notes;
}

static void ranges_come_in_any_order(void)
{
	const struct wh_ranges_key key = key_of(1, "a/b");
	struct wh_ranges notes;
	struct tree tree;

	tree_init(&tree, "/tmp");
	CU_ASSERT_EQUAL(wh_ranges_open(tree.fd, &key, &notes), -ENOENT);
	CU_ASSERT_EQUAL(wh_ranges_make(tree.fd, &key, 4711, 77), 0);
	CU_ASSERT_EQUAL(wh_ranges_make(tree.fd, &key, 4712, 78), -EEXIST);
	notes = open_notes(&tree, &key);
	CU_ASSERT_EQUAL(notes.number, 4711);
	CU_ASSERT_EQUAL(notes.inode, 77);
	CU_ASSERT_EQUAL(wh_ranges_done(&notes, &ranges[1]), 2 * MIB);
	CU_ASSERT_EQUAL(wh_ranges_note(&notes, &ranges[2], SIZE, false), 0);
	CU_ASSERT_EQUAL(wh_ranges_note(&notes, &ranges[0], MIB, false), 0);
	CU_ASSERT_EQUAL(wh_ranges_note(&notes, &ranges[0], MIB / 2, false), 0);
	CU_ASSERT_EQUAL(wh_ranges_done(&notes, &ranges[0]), MIB);
	CU_ASSERT_EQUAL(wh_ranges_note(&notes, &ranges[0], MIB / 2, true), 0);
	CU_ASSERT_EQUAL(wh_ranges_done(&notes, &ranges[0]), MIB / 2);
	CU_ASSERT_EQUAL(wh_ranges_note(&notes, &ranges[1], 3 * MIB, false), 0);
	CU_ASSERT_FALSE(wh_ranges_are_whole(&notes, SIZE));
	close(notes.fd);
	notes = open_notes(&tree, &key); /* another host */
	CU_ASSERT_EQUAL(wh_ranges_note(&notes, &ranges[0], 2 * MIB, false), 0);
	CU_ASSERT(wh_ranges_are_whole(&notes, SIZE));
	CU_ASSERT_FALSE(wh_ranges_are_whole(&notes, SIZE + 1));
	wh_ranges_end(tree.fd, notes.hash);
	close(notes.fd);
	CU_ASSERT_EQUAL(wh_ranges_open(tree.fd, &key, &notes), -ENOENT);
	tree_free(&tree);
}

/* A range from the same byte on that ends elsewhere is another one. */
static void a_range_has_its_end(void)
{
	const struct wh_ranges_key key = key_of(1, "a");
	const struct wh_segment longer = {0, 3 * MIB};
	struct wh_ranges notes;
	struct tree tree;

	tree_init(&tree, "/tmp");
	CU_ASSERT_EQUAL(wh_ranges_make(tree.fd, &key, 1, 1), 0);
	notes = open_notes(&tree, &key);
	CU_ASSERT_EQUAL(wh_ranges_note(&notes, &ranges[0], 2 * MIB, false), 0);
	CU_ASSERT_EQUAL(wh_ranges_done(&notes, &longer), 0);
	close(notes.fd);
	tree_free(&tree);
}

/* Another owner's file, another name, another version of the source: each has its own. */
static void nobody_finds_what_is_not_his(void)
{
	const struct wh_ranges_key key = key_of(1, "a"), theirs = key_of(2, "a"),
				   name = key_of(1, "b");
	struct wh_ranges_key later = key;
	struct wh_ranges notes;
	struct tree tree;

	later.source.ctime_ns = 1;
	tree_init(&tree, "/tmp");
	CU_ASSERT_EQUAL(wh_ranges_make(tree.fd, &key, 1, 1), 0);
	CU_ASSERT_EQUAL(wh_ranges_open(tree.fd, &theirs, &notes), -ENOENT);
	CU_ASSERT_EQUAL(wh_ranges_open(tree.fd, &name, &notes), -ENOENT);
	CU_ASSERT_EQUAL(wh_ranges_open(tree.fd, &later, &notes), -ENOENT);
	tree_free(&tree);
}

/* A hash can be made to be that of another file; what is in the notes cannot. */
static void the_name_alone_proves_nothing(void)
{
	const struct wh_ranges_key key = key_of(1, "a"), theirs = key_of(2, "a");
	struct wh_ranges notes, others;
	char command[300];
	struct tree tree;

	tree_init(&tree, "/tmp");
	CU_ASSERT_EQUAL(wh_ranges_make(tree.fd, &key, 1, 1), 0);
	CU_ASSERT_EQUAL(wh_ranges_make(tree.fd, &theirs, 2, 2), 0);
	notes = open_notes(&tree, &key);
	others = open_notes(&tree, &theirs);
	snprintf(command, sizeof(command), "cp %s/%016lx.ranges %s/%016lx.ranges", tree.root,
		others.hash, tree.root, notes.hash);
	close(others.fd);
	close(notes.fd);
	CU_ASSERT_EQUAL(system(command), 0);
	CU_ASSERT_EQUAL(wh_ranges_open(tree.fd, &key, &notes), -EEXIST);
	snprintf(command, sizeof(command), "truncate -s 100 %s/%016lx.ranges", tree.root,
		notes.hash);
	CU_ASSERT_EQUAL(system(command), 0);
	CU_ASSERT_EQUAL(wh_ranges_open(tree.fd, &key, &notes), -EEXIST);
	tree_free(&tree);
}

/* Who has old notes open does not remove the new ones of that name. */
static void only_the_same_notes_are_dropped(void)
{
	const struct wh_ranges_key key = key_of(1, "a");
	struct wh_ranges old, notes;
	struct tree tree;

	tree_init(&tree, "/tmp");
	CU_ASSERT_EQUAL(wh_ranges_make(tree.fd, &key, 1, 1), 0);
	old = open_notes(&tree, &key);
	wh_ranges_drop(tree.fd, &old);
	CU_ASSERT_EQUAL(wh_ranges_make(tree.fd, &key, 2, 2), 0);
	wh_ranges_drop(tree.fd, &old);
	close(old.fd);
	notes = open_notes(&tree, &key);
	CU_ASSERT_EQUAL(notes.number, 2);
	close(notes.fd);
	tree_free(&tree);
}

CU_TestInfo wh_tests[] = {
	{"ranges come in any order", ranges_come_in_any_order},
	{"a range has its end", a_range_has_its_end},
	{"nobody finds what is not his", nobody_finds_what_is_not_his},
	{"the name alone proves nothing", the_name_alone_proves_nothing},
	{"only the same notes are dropped", only_the_same_notes_are_dropped},
	CU_TEST_INFO_NULL,
};
