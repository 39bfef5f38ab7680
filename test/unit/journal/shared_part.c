/* SPDX-License-Identifier: BSD-3-Clause */
/* One part for all jobs that bring ranges of a file: who has it, and who gives it its name. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bundle/staging_name.h"
#include "bundle_tree.h"
#include "journal/shared_part.h"

const char wh_suite_name[] = "shared_part";

#define MIB  WH_RANGES_ALIGN_BYTES
#define SIZE (2 * MIB)

static const struct wh_segment one = {0, MIB}, two = {MIB, SIZE};

static const struct wh_ranges_key key = {
	.target = {.path = "a/b", .path_bytes = 3},
	.source = {.size_bytes = SIZE, .mtime_s = 5},
};

static struct wh_shared_part claim(const struct tree *tree, const struct wh_segment *range)
{
	struct wh_shared_part part = {.fd = -1};

	CU_ASSERT_FATAL(wh_shared_part_claim(tree->fd, &key, range, &part) == 0);
	return part;
}

static int note(const struct tree *tree, const struct wh_segment *range,
	const struct wh_shared_part *part, uint64_t to, bool *is_whole)
{
	const struct wh_shared_note told = {.lock_fd = part->fd, .to = to};

	return wh_shared_part_note(tree->fd, &key, range, &told, is_whole);
}

static const char *path_of(const struct tree *tree, const struct wh_shared_part *part)
{
	char name[64];

	snprintf(name, sizeof(name), WH_PARTS_FOLDER "/%u", part->number);
	return tree_path(tree, name);
}

static void jobs_have_the_same_part(void)
{
	struct wh_shared_part first, second;
	struct tree tree;
	bool is_whole;
	char byte = 0;

	tree_init(&tree, "/tmp");
	first = claim(&tree, &one);
	second = claim(&tree, &two);
	CU_ASSERT_EQUAL(first.inode, second.inode);
	CU_ASSERT_EQUAL(pwrite(first.fd, "x", 1, MIB), 1);
	CU_ASSERT(pread(second.fd, &byte, 1, MIB) == 1 && byte == 'x');
	CU_ASSERT_EQUAL(first.to, 0);
	CU_ASSERT_EQUAL(second.to, MIB);
	CU_ASSERT_EQUAL(note(&tree, &two, &second, MIB + 5, &is_whole), 0);
	close(second.fd);
	second = claim(&tree, &two);
	CU_ASSERT_EQUAL(second.to, MIB + 5);
	close(first.fd);
	close(second.fd);
	tree_free(&tree);
}

/* Who is the last waits for who has the part still, and then has it alone. */
static void the_last_one_has_it_alone(void)
{
	struct wh_shared_part first, second, third = {.fd = -1};
	struct tree tree;
	bool is_whole;

	tree_init(&tree, "/tmp");
	first = claim(&tree, &one);
	second = claim(&tree, &two);
	CU_ASSERT_EQUAL(note(&tree, &one, &first, MIB, &is_whole), 0);
	CU_ASSERT_FALSE(is_whole);
	CU_ASSERT_EQUAL(note(&tree, &two, &second, SIZE, &is_whole), -EBUSY);
	CU_ASSERT_FALSE(is_whole);
	close(first.fd);
	CU_ASSERT_EQUAL(note(&tree, &two, &second, SIZE, &is_whole), 0);
	CU_ASSERT(is_whole);
	CU_ASSERT_EQUAL(wh_shared_part_claim(tree.fd, &key, &one, &third), -EBUSY);
	close(second.fd);
	tree_free(&tree);
}

/* Of two that are the last, one fails and so lets go. */
static void of_two_one_succeeds(void)
{
	struct wh_shared_part first, second;
	struct tree tree;
	bool is_whole;

	tree_init(&tree, "/tmp");
	first = claim(&tree, &one);
	second = claim(&tree, &two);
	CU_ASSERT_EQUAL(note(&tree, &two, &second, SIZE, &is_whole), 0);
	CU_ASSERT_EQUAL(note(&tree, &one, &first, MIB, &is_whole), -EBUSY);
	CU_ASSERT_EQUAL(note(&tree, &two, &second, SIZE, &is_whole), 0);
	CU_ASSERT(is_whole);
	CU_ASSERT_EQUAL(note(&tree, &one, &first, MIB, &is_whole), -EBUSY);
	/* It gets its name; the other one sees that, before and after the notes go. */
	CU_ASSERT_EQUAL(rename(path_of(&tree, &second), tree_path(&tree, "b")), 0);
	CU_ASSERT_EQUAL(note(&tree, &one, &first, MIB, &is_whole), 0);
	CU_ASSERT_FALSE(is_whole);
	CU_ASSERT_EQUAL(unlink(tree_path(&tree, WH_PARTS_FOLDER "/x")), -1);

	int parts_fd = open(tree_path(&tree, WH_PARTS_FOLDER), O_RDONLY | O_DIRECTORY);

	wh_ranges_end(parts_fd, second.notes);
	close(parts_fd);
	CU_ASSERT_EQUAL(note(&tree, &one, &first, MIB, &is_whole), 0);
	CU_ASSERT_FALSE(is_whole);
	CU_ASSERT_EQUAL(note(&tree, &one, &first, MIB / 2, &is_whole), -ECANCELED);
	close(first.fd);
	close(second.fd);
	tree_free(&tree);
}

/* A job that has brought half of a range that another one has brought whole. */
static void who_is_late_learns_it(void)
{
	struct wh_shared_part first, again;
	struct tree tree;
	bool is_whole;

	tree_init(&tree, "/tmp");
	first = claim(&tree, &one);
	CU_ASSERT_EQUAL(note(&tree, &one, &first, MIB / 2, &is_whole), 0);
	again = claim(&tree, &one);
	CU_ASSERT_EQUAL(again.to, MIB / 2);
	CU_ASSERT_EQUAL(note(&tree, &one, &again, MIB, &is_whole), 0);
	CU_ASSERT_EQUAL(note(&tree, &one, &first, MIB / 2, &is_whole), -ECANCELED);
	close(first.fd);
	close(again.fd);
	tree_free(&tree);
}

/* A part without its notes' inode is none; nor is one that is too short. */
static void a_part_that_is_another_file(void)
{
	struct wh_shared_part first, again;
	struct tree tree;
	char command[300];

	tree_init(&tree, "/tmp");
	first = claim(&tree, &one);
	snprintf(command, sizeof(command), "cp %s %s/x && mv %s/x %s", path_of(&tree, &first),
		tree.root, tree.root, path_of(&tree, &first));
	CU_ASSERT_EQUAL(system(command), 0);
	again = claim(&tree, &one);
	CU_ASSERT_NOT_EQUAL(again.inode, first.inode);
	close(first.fd);
	CU_ASSERT_EQUAL(ftruncate(again.fd, SIZE - 1), 0);
	close(again.fd);
	first = claim(&tree, &one);
	CU_ASSERT_NOT_EQUAL(again.number, first.number);
	close(first.fd);
	tree_free(&tree);
}

CU_TestInfo wh_tests[] = {
	{"jobs have the same part", jobs_have_the_same_part},
	{"the last one has it alone", the_last_one_has_it_alone},
	{"of two one succeeds", of_two_one_succeeds},
	{"who is late learns it", who_is_late_learns_it},
	{"a part that is another file", a_part_that_is_another_file},
	CU_TEST_INFO_NULL,
};
