/* SPDX-License-Identifier: BSD-3-Clause */
#include "tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../rig/chance.h"
#include "base/assert.h"
#include "base/prng.h"
#include "bundle/staging_name.h"

#define DATA_MAX (UINT64_C(96) << 20)

static uint64_t draw_bytes(struct wh_prng *prng, uint64_t large_bytes)
{
	switch (wh_prng_below(prng, 12)) {
	case 0:
		return 0;
	case 1:
		return 1 + wh_prng_below(prng, 3);
	case 2:
		return 65536 - 1 + wh_prng_below(prng, 3);
	case 3:
		return 100000 + wh_prng_below(prng, 200000);
	case 4:
		return wh_prng_below(prng, large_bytes + 1);
	default:
		return wh_prng_below(prng, 5000);
	}
}

static struct tree_entry *add(struct tree *tree, enum tree_kind kind, const char *parent,
	uint32_t number, struct wh_prng *prng)
{
	struct tree_entry *entry = &tree->entry[tree->count++];

	*entry = (struct tree_entry){.kind = kind, .seed = wh_prng_u64(prng)};

	int length = snprintf(entry->path, sizeof(entry->path), "%s%s%c%u", parent,
		parent[0] != '\0' ? "/" : "", "fdl"[kind], number);

	WH_ASSERT(length > 0 && (size_t)length < sizeof(entry->path));
	return entry;
}

void tree_draw(struct tree *tree, uint64_t seed, uint64_t large_bytes)
{
	struct wh_prng prng;
	char folder[16][200] = {""};
	uint32_t folders = 1;
	uint32_t wanted;

	wh_prng_init(&prng, seed);
	*tree = (struct tree){0};
	wanted = (uint32_t)wh_prng_below(&prng, one_in(&prng, 8) ? TREE_ENTRIES_MAX : 24);
	for (uint32_t i = 0; i < wanted; i++) {
		const char *parent = folder[wh_prng_below(&prng, folders)];
		uint32_t what = (uint32_t)wh_prng_below(&prng, 10);

		if (what == 0 && folders < 16 && strlen(parent) < 150) {
			const struct tree_entry *entry = add(tree, TREE_FOLDER, parent, i, &prng);

			snprintf(folder[folders++], sizeof(folder[0]), "%.199s", entry->path);
		} else if (what == 1) {
			add(tree, TREE_LINK, parent, i, &prng);
		} else {
			struct tree_entry *entry = add(tree, TREE_FILE, parent, i, &prng);

			entry->bytes = draw_bytes(&prng, large_bytes);
			entry->sparse = one_in(&prng, 6);
			tree->bytes += entry->bytes;
		}
	}
}

void tree_change(struct tree *tree, uint64_t seed)
{
	struct wh_prng prng;

	wh_prng_init(&prng, seed);
	for (uint32_t i = 0; i < tree->count; i++) {
		struct tree_entry *entry = &tree->entry[i];

		if (entry->kind == TREE_FOLDER || one_in(&prng, 2))
			continue;
		if (entry->bytes > UINT64_C(1) << 18 && one_in(&prng, 2))
			entry->odd_every = UINT64_C(200000) << wh_prng_below(&prng, 4);
		else
			entry->seed++;
		if (one_in(&prng, 2))
			entry->bytes = entry->bytes / 2;
	}
}

/* Stretches of 64 KiB of a sparse file are zeros, every other one. */
static void fill(const struct tree_entry *entry, uint8_t *bytes)
{
	uint64_t word = entry->seed;

	for (uint64_t at = 0; at < entry->bytes; at += sizeof(word)) {
		uint64_t left = entry->bytes - at;

		word = word * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		if (entry->sparse && at / 65536 % 2 == 1)
			memset(bytes + at, 0, left < sizeof(word) ? left : sizeof(word));
		else
			memcpy(bytes + at, &word, left < sizeof(word) ? left : sizeof(word));
	}
	for (uint64_t at = 0; entry->odd_every > 0 && at < entry->bytes; at += entry->odd_every)
		if (!entry->sparse || at / 65536 % 2 == 0)
			bytes[at] ^= 1;
}

static void link_text(const struct tree_entry *entry, char text[64])
{
	snprintf(text, 64, "to/%016llx", (unsigned long long)entry->seed);
}

static uint8_t *buffer(uint32_t which)
{
	static uint8_t *buffers[2];

	if (buffers[which] == NULL)
		buffers[which] = malloc(DATA_MAX);
	WH_ASSERT(buffers[which] != NULL);
	return buffers[which];
}

static void make_file(int folder_fd, const struct tree_entry *entry)
{
	uint8_t *bytes = buffer(0);
	int fd = openat(folder_fd, entry->path, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	fill(entry, bytes);
	WH_ASSERT(fd >= 0 && entry->bytes <= DATA_MAX);
	WH_ASSERT(ftruncate(fd, (off_t)entry->bytes) == 0);
	for (uint64_t at = 0; at < entry->bytes; at += 65536) {
		size_t piece = entry->bytes - at < 65536 ? entry->bytes - at : 65536;

		if (entry->sparse && at / 65536 % 2 == 1)
			continue;
		WH_ASSERT(pwrite(fd, bytes + at, piece, (off_t)at) == (ssize_t)piece);
	}
	/* Another version has another time, as an editor leaves it. */
	time_t at_s = 1000000000 + (time_t)((entry->seed + (entry->odd_every > 0)) % 100000);
	const struct timespec times[2] = {{.tv_sec = at_s}, {.tv_sec = at_s}};

	WH_ASSERT(futimens(fd, times) == 0);
	close(fd);
}

void tree_make(const struct tree *tree, const char *folder)
{
	int fd = open(folder, O_RDONLY | O_DIRECTORY);
	char text[64];

	WH_ASSERT(fd >= 0);
	for (uint32_t i = 0; i < tree->count; i++) {
		const struct tree_entry *entry = &tree->entry[i];

		switch (entry->kind) {
		case TREE_FOLDER:
			WH_ASSERT(mkdirat(fd, entry->path, 0755) == 0 || errno == EEXIST);
			break;
		case TREE_LINK:
			link_text(entry, text);
			unlinkat(fd, entry->path, 0);
			WH_ASSERT(symlinkat(text, fd, entry->path) == 0);
			break;
		case TREE_FILE:
			make_file(fd, entry);
			break;
		}
	}
	close(fd);
}

static bool is_version(int folder_fd, const struct tree_entry *entry, const struct stat *status)
{
	char text[64];
	char found[64] = "";

	if (entry->kind == TREE_FOLDER)
		return S_ISDIR(status->st_mode);
	if (entry->kind == TREE_LINK) {
		link_text(entry, text);
		return S_ISLNK(status->st_mode) &&
		       readlinkat(folder_fd, entry->path, found, sizeof(found) - 1) >= 0 &&
		       strcmp(text, found) == 0;
	}
	if (!S_ISREG(status->st_mode) || (uint64_t)status->st_size != entry->bytes)
		return false;

	int fd = openat(folder_fd, entry->path, O_RDONLY | O_NOFOLLOW);

	WH_ASSERT(fd >= 0);
	fill(entry, buffer(0));

	bool same = pread(fd, buffer(1), entry->bytes + 1, 0) == (ssize_t)entry->bytes &&
		    memcmp(buffer(0), buffer(1), entry->bytes) == 0;

	close(fd);
	return same;
}

static bool check_entries(const struct tree *tree, const struct tree *before, int fd, bool complete,
	char why[TREE_WHY_BYTES])
{
	for (uint32_t i = 0; i < tree->count; i++) {
		const struct tree_entry *entry = &tree->entry[i];
		struct stat status;

		if (fstatat(fd, entry->path, &status, AT_SYMLINK_NOFOLLOW) != 0) {
			if (!complete && before == NULL)
				continue;
			snprintf(why, TREE_WHY_BYTES, "%s is missing", entry->path);
			return false;
		}
		if (is_version(fd, entry, &status) ||
			(!complete && before != NULL && is_version(fd, &before->entry[i], &status)))
			continue;
		snprintf(why, TREE_WHY_BYTES, "%s is not what was sent, %lld bytes instead of %llu",
			entry->path, (long long)status.st_size, (unsigned long long)entry->bytes);
		return false;
	}
	return true;
}

static const struct tree_entry *find(const struct tree *tree, const char *path)
{
	for (uint32_t i = 0; i < tree->count; i++)
		if (strcmp(tree->entry[i].path, path) == 0)
			return &tree->entry[i];
	return NULL;
}

/* Nothing but the tree's lies there, and staging folders unless it is to be clean. */
static bool check_others(const struct tree *tree, const char *folder, const char *below, bool clean,
	char why[TREE_WHY_BYTES])
{
	char path[PATH_MAX];
	bool good = true;

	snprintf(path, sizeof(path), "%s/%s", folder, below);

	DIR *stream = opendir(path);

	WH_ASSERT(stream != NULL);
	for (const struct dirent *d; good && (d = readdir(stream)) != NULL;) {
		char name[512];

		if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0)
			continue;
		if (!clean && wh_is_staging_name(d->d_name, strlen(d->d_name)))
			continue;
		snprintf(name, sizeof(name), "%.200s%s%.255s", below, below[0] != '\0' ? "/" : "",
			d->d_name);

		const struct tree_entry *entry = find(tree, name);

		if (entry == NULL) {
			snprintf(why, TREE_WHY_BYTES, "%.400s was left there", name);
			good = false;
		} else if (entry->kind == TREE_FOLDER) {
			good = check_others(tree, folder, name, clean, why);
		}
	}
	closedir(stream);
	return good;
}

bool tree_check(const struct tree *tree, const struct tree *before, const char *folder,
	bool complete, bool clean, char why[TREE_WHY_BYTES])
{
	int fd = open(folder, O_RDONLY | O_DIRECTORY);

	WH_ASSERT(fd >= 0);

	bool good = check_entries(tree, before, fd, complete, why) &&
		    check_others(tree, folder, "", clean, why);

	close(fd);
	return good;
}
