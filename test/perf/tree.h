/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* Trees of equal files to measure with: made, and removed. */

#include <fcntl.h>
#include <ftw.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/clock.h"
#include "now.h"

#define TREE_FILES_PER_FOLDER 1000
#define TREE_CONTENT_BYTES    (UINT32_C(1) << 20)

static inline void tree_file(int folder_fd, uint32_t number, const uint8_t *content, uint64_t bytes)
{
	char name[16];

	snprintf(name, sizeof(name), "%08u", number);

	int fd = openat(folder_fd, name, O_CREAT | O_WRONLY, 0644);

	WH_ASSERT(fd >= 0);
	for (uint64_t at = 0; at < bytes;) {
		ssize_t put = write(fd, content, wh_min_u64(bytes - at, TREE_CONTENT_BYTES));

		WH_ASSERT(put > 0);
		at += (uint64_t)put;
	}
	close(fd);
}

/* In `root`, a thousand to a folder; without a run of zeros, which would become a hole. */
static inline void tree_make(const char *root, uint32_t files, uint64_t bytes)
{
	uint8_t *content = malloc(TREE_CONTENT_BYTES);
	char path[256];

	WH_ASSERT(content != NULL);
	for (uint32_t i = 0; i < TREE_CONTENT_BYTES; i++)
		content[i] = (uint8_t)(i % 255 + 1);
	for (uint32_t first = 0; first < files; first += TREE_FILES_PER_FOLDER) {
		snprintf(path, sizeof(path), "%s/%06u", root, first / TREE_FILES_PER_FOLDER);
		WH_ASSERT(mkdir(path, 0755) == 0);

		int fd = open(path, O_RDONLY | O_DIRECTORY);

		for (uint32_t i = first; i < files && i < first + TREE_FILES_PER_FOLDER; i++)
			tree_file(fd, i, content, bytes);
		close(fd);
	}
	free(content);
}

static inline int tree_remove_one(
	const char *path, const struct stat *status, int type, struct FTW *walk)
{
	(void)status;
	(void)type;
	(void)walk;
	return remove(path);
}

static inline void tree_remove(const char *root)
{
	nftw(root, tree_remove_one, 32, FTW_DEPTH | FTW_PHYS);
}
