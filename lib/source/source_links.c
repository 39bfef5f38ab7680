/* SPDX-License-Identifier: BSD-3-Clause */
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "source/source_internal.h"

/*
 * Files that have several names, by device and inode, each with the path under which it was sent.
 * Also the other names, which are sent when all files are complete at the sink. Only one lane does
 * this, since lanes do not know which name another has sent. Beyond a limit files are sent once per
 * name, which is counted.
 */
#define FILES_MAX (UINT32_C(1) << 20)
#define TEXTS_MAX (UINT32_C(256) << 20)

/* Not charged: some hundreds of files. */
#define FREE_BYTES (UINT64_C(64) << 10)

/* Of malloc(3) and tsearch(3) for each path. */
#define BESIDE_BYTES 48

struct file {
	dev_t device;
	ino_t inode;
	char path[]; /* the first one */
};

struct name {
	const struct file *file;
	struct name *next;
	char path[];
};

struct wh_source_links {
	void *files; /* tsearch(3) */
	struct name *first;
	struct name **end;
	uint32_t count;
	struct wh_blocks_memory memory;
};

static int compare(const void *left, const void *right)
{
	const struct file *a = left;
	const struct file *b = right;

	if (a->device != b->device)
		return a->device < b->device ? -1 : 1;
	return (a->inode > b->inode) - (a->inode < b->inode);
}

static const struct file *find(const struct wh_source *source, const struct stat *status)
{
	const struct file wanted = {.device = status->st_dev, .inode = status->st_ino};
	struct file *const *found =
		source->links == NULL ? NULL : tfind(&wanted, &source->links->files, compare);

	return found == NULL ? NULL : *found;
}

bool wh_source_knows_link(const struct wh_source *source, const struct stat *status)
{
	return find(source, status) != NULL;
}

static size_t whole_bytes(size_t head_bytes, size_t path_bytes)
{
	return head_bytes + path_bytes + 1 + BESIDE_BYTES;
}

/* Memory for one more path. NULL: none. */
static void *take_room(struct wh_source_links *links, size_t head_bytes, size_t path_bytes)
{
	size_t bytes = whole_bytes(head_bytes, path_bytes);

	if (links->count == FILES_MAX || links->memory.bytes + bytes > TEXTS_MAX ||
		!wh_blocks_memory_take(&links->memory, bytes))
		return NULL;

	void *made = calloc(1, head_bytes + path_bytes + 1);

	if (made != NULL)
		links->count++;
	else
		wh_blocks_memory_give(&links->memory, bytes);
	return made;
}

static void remember(struct wh_source *source, const struct stat *status)
{
	const struct wh_walk_item *item = &source->item;
	struct file *file = take_room(source->links, sizeof(*file), item->path_bytes);

	if (file == NULL)
		return;
	file->device = status->st_dev;
	file->inode = status->st_ino;
	memcpy(file->path, item->path, item->path_bytes);
	if (tsearch(file, &source->links->files, compare) == NULL) {
		wh_blocks_memory_give(
			&source->links->memory, whole_bytes(sizeof(*file), item->path_bytes));
		free(file);
	}
}

bool wh_source_defer_link(struct wh_source *source, const struct stat *status)
{
	const struct wh_walk_item *item = &source->item;

	if (!wh_choice_has(&source->config.choice, WH_CHOICE_HARD_LINKS) || status->st_nlink < 2 ||
		source->config.lanes > 1)
		return false;
	if (source->links == NULL) {
		source->links = calloc(1, sizeof(*source->links));
		if (source->links == NULL)
			return false;
		source->links->end = &source->links->first;
		source->links->memory = (struct wh_blocks_memory){
			.account = &source->config.account, .free_bytes = FREE_BYTES};
	}

	const struct file *file = find(source, status);

	if (file == NULL) {
		remember(source, status);
		return false;
	}
	/* The current file again, which had to wait. */
	if (strcmp(file->path, item->path) == 0)
		return false;

	struct name *name = take_room(source->links, sizeof(*name), item->path_bytes);

	if (name == NULL)
		return false;
	name->file = file;
	memcpy(name->path, item->path, item->path_bytes);
	*source->links->end = name;
	source->links->end = &name->next;
	return true;
}

bool wh_source_has_links(const struct wh_source *source)
{
	return source->links != NULL && source->links->first != NULL;
}

bool wh_source_next_link(const struct wh_source *source, const char **path, const char **of)
{
	if (!wh_source_has_links(source))
		return false;
	*path = source->links->first->path;
	*of = source->links->first->file->path;
	return true;
}

void wh_source_drop_link(struct wh_source *source)
{
	struct wh_source_links *links = source->links;
	struct name *name = links->first;

	links->first = name->next;
	if (links->first == NULL)
		links->end = &links->first;
	wh_blocks_memory_give(&links->memory, whole_bytes(sizeof(*name), strlen(name->path)));
	free(name);
}

void wh_source_free_links(struct wh_source *source)
{
	if (source->links == NULL)
		return;
	while (source->links->first != NULL)
		wh_source_drop_link(source);
	tdestroy(source->links->files, free);
	wh_blocks_memory_give(&source->links->memory, source->links->memory.bytes);
	free(source->links);
}
