/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/assert.h"
#include "bundle/beneath.h"
#include "bundle/choice.h"
#include "bundle/staging_name.h"
#include "rpc/rpc_internal.h"

/* A record to be filled in, which will be sent. */
struct wh_record *wh_rpc_begin(struct wh_rpc *rpc, enum wh_record_type type)
{
	WH_ASSERT(rpc->pending < WH_RPC_TOLD);

	struct wh_record *record = &rpc->told[rpc->pending++];

	record->type = type;
	return record;
}

static enum wh_item_kind kind_of(mode_t mode)
{
	if (S_ISREG(mode))
		return WH_ITEM_FILE;
	if (S_ISDIR(mode))
		return WH_ITEM_FOLDER;
	return S_ISLNK(mode) ? WH_ITEM_LINK : WH_ITEM_OTHER;
}

/* A link that has gone, or has no text, is reported as OTHER. */
static void read_link(struct wh_rpc *rpc, int folder_fd, const char *name, struct wh_item *item)
{
	ssize_t bytes = readlinkat(folder_fd, name, rpc->link, WH_PATH_BYTES_MAX);

	if (bytes <= 0) {
		item->kind = WH_ITEM_OTHER;
		return;
	}
	item->link = rpc->link;
	item->link_bytes = (uint16_t)bytes;
}

void wh_rpc_tell_item(struct wh_rpc *rpc, const char *path, int folder_fd, const char *name,
	const struct stat *status, const struct wh_rpc_sums *sums)
{
	struct wh_item *item = &wh_rpc_begin(rpc, WH_RECORD_ITEM)->item;

	WH_ASSERT(rpc->given > 0 && path[0] != '\0');
	*item = (struct wh_item){
		.bytes = sums != NULL ? sums->bytes : (uint64_t)status->st_size,
		.used_bytes = sums != NULL ? sums->used_bytes : (uint64_t)status->st_blocks * 512,
		.entries = sums != NULL ? sums->entries : 0,
		.mtime_s = status->st_mtim.tv_sec,
		.mtime_ns = (uint32_t)status->st_mtim.tv_nsec,
		.uid = status->st_uid,
		.gid = status->st_gid,
		.mode = status->st_mode & 07777,
		.given = (uint16_t)(rpc->given - 1),
		.path_bytes = (uint16_t)strlen(path),
		.kind = (uint8_t)kind_of(status->st_mode),
		.matched = rpc->is_pattern,
		.path = path,
	};
	if (item->kind == WH_ITEM_LINK)
		read_link(rpc, folder_fd, name, item);
	rpc->tally.items++;
}

const char *wh_rpc_given(const struct wh_rpc *rpc)
{
	WH_ASSERT(rpc->given > 0 && rpc->given <= rpc->config.path_count);
	return rpc->config.paths[rpc->given - 1];
}

void wh_rpc_tell_fault(struct wh_rpc *rpc, const char *path, int error, enum wh_doing doing)
{
	const char *given = wh_rpc_given(rpc);
	bool below_base = rpc->is_pattern && path[0] != '\0';
	size_t used =
		below_base ? wh_wildcard_base_bytes(given) : strnlen(given, WH_PATH_BYTES_MAX);

	WH_ASSERT(error > 0 && doing != WH_DOING_NOTHING);
	memcpy(rpc->fault, given, used);
	rpc->fault[used] = '\0';
	if (path[0] != '\0' && !below_base && used < WH_PATH_BYTES_MAX)
		strcpy(rpc->fault + used, "/");
	strncat(rpc->fault, path, WH_PATH_BYTES_MAX - strlen(rpc->fault));

	struct wh_record *record = wh_rpc_begin(rpc, WH_RECORD_FAULT);

	record->fault.error = error;
	record->fault.doing = (uint8_t)doing;
	record->fault.path = rpc->fault;
	record->fault.path_bytes = (uint16_t)strlen(rpc->fault);
	rpc->tally.faults++;
}

int wh_rpc_judge_name(
	const struct wh_rpc *rpc, const char *name, size_t bytes, enum wh_doing *doing)
{
	*doing = WH_DOING_PATH;
	if (bytes > NAME_MAX)
		return ENAMETOOLONG;
	if (wh_looks_like_staging(name, bytes))
		return EPERM;
	*doing = WH_DOING_NAMING;
	return rpc->config.plain_names && !wh_text_is_plain(name, bytes) ? EPERM : 0;
}

int wh_rpc_open_parent(
	const struct wh_rpc *rpc, const char *path, int flags, char name[NAME_MAX + 1])
{
	char above[WH_PATH_BYTES_MAX + 1];
	size_t bytes = strlen(path);

	WH_ASSERT(bytes <= WH_PATH_BYTES_MAX);
	while (bytes > 0 && path[bytes - 1] == '/')
		bytes--;

	size_t above_bytes = wh_beneath_parent_bytes(path, bytes);
	size_t begin = above_bytes > 0 || path[0] == '/' ? above_bytes + 1 : 0;

	if (!wh_path_is_safe(path + begin, bytes - begin))
		return -EBUSY;
	if (bytes - begin > NAME_MAX)
		return -ENAMETOOLONG;
	memcpy(name, path + begin, bytes - begin);
	name[bytes - begin] = '\0';
	memcpy(above, path, above_bytes);
	above[above_bytes] = '\0';
	return wh_beneath_resolve(rpc->config.root_fd, above_bytes > 0 ? above : ".",
		flags | O_DIRECTORY | O_CLOEXEC);
}
