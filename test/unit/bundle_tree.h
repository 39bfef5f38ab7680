/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* Trees of files for the tests of lib/bundle: made below a folder of their own, and removed. */

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../rig/remove_tree.h"
#include "unit.h"

struct tree {
	char root[64];
	int fd;
};

/* In `parent`, or where TMPDIR says. */
static inline void tree_init(struct tree *tree, const char *parent)
{
	const char *tmp = getenv("TMPDIR");

	if (parent == NULL)
		parent = tmp != NULL ? tmp : "/tmp";
	snprintf(tree->root, sizeof(tree->root), "%s/wh_bundle_XXXXXX", parent);
	CU_ASSERT_FATAL(mkdtemp(tree->root) != NULL);
	tree->fd = open(tree->root, O_RDONLY | O_DIRECTORY);
	CU_ASSERT_FATAL(tree->fd >= 0);
}

static inline void tree_free(struct tree *tree)
{
	close(tree->fd);
	remove_tree(tree->root);
}

/* Good until the 4th next call. */
static inline const char *tree_path(const struct tree *tree, const char *name)
{
	static char paths[4][PATH_MAX];
	static int next;
	char *path = paths[next++ % 4];

	snprintf(path, PATH_MAX, "%s/%s", tree->root, name);
	return path;
}

static inline void tree_folder(const struct tree *tree, const char *name)
{
	CU_ASSERT_FATAL(mkdirat(tree->fd, name, 0755) == 0);
}

static inline void tree_file(
	const struct tree *tree, const char *name, const void *bytes, size_t count)
{
	int fd = openat(tree->fd, name, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	CU_ASSERT_FATAL(fd >= 0);
	CU_ASSERT_FATAL(write(fd, bytes, count) == (ssize_t)count);
	CU_ASSERT_FATAL(close(fd) == 0);
}

static inline void tree_link(const struct tree *tree, const char *name, const char *text)
{
	CU_ASSERT_FATAL(symlinkat(text, tree->fd, name) == 0);
}
