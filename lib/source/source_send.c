/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/assert.h"
#include "file/all_bytes.h"
#include "source/source_internal.h"

/* Most files of other lanes, and names of a folder, skipped per poll. */
#define ITEMS_PER_POLL 64

/* Bytes of patterns times bytes of the paths that they are tried on, per poll. */
#define MATCHING_PER_POLL ((size_t)1 << 20)

/* Attempts to read a small file that changes meanwhile. */
#define TRIES_MAX 2

#define BLOCK_BYTES UINT64_C(512) /* of st_blocks, on all file systems */

static void drop_item(struct wh_source *source)
{
	if (source->item_fd >= 0)
		close(source->item_fd);
	source->item_fd = -1;
	source->item_tries = 0;
	source->item_split = NULL;
	source->item.found = WH_WALK_NOTHING;
}

/* Turns the item into a fault. */
static void spoil(struct wh_source *source, int error, enum wh_doing doing)
{
	WH_ASSERT(error > 0 && source->item.found != WH_WALK_NOTHING);
	source->item.found = WH_WALK_FAULT;
	source->item.error = error;
	source->item.doing = (uint8_t)doing;
}

/*
 * The lane of a file derives from its path, not from its position in the walk, so that each file is
 * sent by exactly one lane even if others appear or disappear meanwhile. Given paths, which have
 * fixed positions, are distributed in rotation.
 */
static uint64_t turn_of(const struct wh_walk_item *item)
{
	struct wh_hasher hasher;
	struct wh_digest digest;
	uint64_t turn;

	if (item->is_given)
		return item->given;
	wh_hasher_init(&hasher);
	wh_hasher_add(&hasher, item->path, item->path_bytes);
	wh_hasher_digest(&hasher, &digest);
	memcpy(&turn, digest.bytes, sizeof(turn));
	return turn;
}

static bool is_ours(const struct wh_source *source)
{
	if (source->item.found != WH_WALK_FILE)
		return source->config.lane == 0;
	return source->config.lanes == 1 ||
	       turn_of(&source->item) % source->config.lanes == source->config.lane;
}

/* Puts the item; false: it has to wait. So do the other put_ functions. */
static bool put_fault(struct wh_source *source)
{
	const struct wh_walk_item *item = &source->item;
	struct wh_record *record = &source->record;

	record->type = WH_RECORD_FAULT;
	record->fault.error = item->error;
	record->fault.doing = item->doing;
	record->fault.path = item->path;
	record->fault.path_bytes = item->path_bytes;
	if (!wh_source_has_room(source, wh_record_bytes(record)))
		return false;
	wh_source_put(source);
	wh_source_tell(source,
		&(struct wh_file_result){
			.path = item->path,
			.kind = item->doing == WH_DOING_LISTING ? WH_ENTRY_FOLDER : WH_ENTRY_FILE,
			.error = item->error,
			.doing = item->doing,
		});
	return true;
}

static bool put_folder(struct wh_source *source)
{
	wh_source_begin_entry(source, &source->item.status)->kind =
		source->item.is_prefix ? WH_ENTRY_PREFIX : WH_ENTRY_FOLDER;
	if (!wh_source_entry_has_room(source))
		return false;
	wh_source_put_entry(source);
	return true;
}

static bool put_link(struct wh_source *source)
{
	const struct wh_walk_item *item = &source->item;
	char text[WH_PATH_BYTES_MAX + 1];
	struct stat status;
	int fd = wh_walk_open_link(source->walk, item);
	int error = fd < 0 ? -fd : fstat(fd, &status) != 0 ? errno : 0;
	ssize_t bytes = error != 0 ? 0 : readlinkat(fd, "", text, sizeof(text));

	if (error == 0 && (bytes <= 0 || (size_t)bytes == sizeof(text)))
		error = bytes < 0 ? errno : ENAMETOOLONG;
	if (fd >= 0)
		close(fd);
	if (error != 0) {
		spoil(source, error, WH_DOING_READING);
		return put_fault(source);
	}

	struct wh_entry *entry = wh_source_begin_entry(source, &status);

	entry->kind = WH_ENTRY_LINK;
	entry->link = text;
	entry->link_bytes = (uint16_t)bytes;
	if (!wh_source_entry_has_room(source))
		return false;
	wh_source_put_entry(source);
	return true;
}

/* Holes contain no data: they need no space at the sink. */
static uint64_t hole_bytes(const struct stat *status)
{
	uint64_t size = (uint64_t)status->st_size;
	uint64_t allocated = (uint64_t)status->st_blocks * BLOCK_BYTES;

	return allocated < size ? size - allocated : 0;
}

/*
 * Splits the file among all lanes, if it is large enough; NULL: no, or too many are split already.
 */
static struct wh_split *split_item(struct wh_source *source)
{
	const struct wh_source_config *config = &source->config;
	uint64_t bytes = (uint64_t)source->item_status.st_size;

	if (config->splits == NULL || wh_source_has_range(source) ||
		wh_choice_has(&config->choice, WH_CHOICE_BLOCKS) ||
		bytes / config->split_bytes_min < config->lanes ||
		!wh_segment_is_possible(bytes, config->lanes))
		return NULL;
	return wh_splits_announce(config->splits, config->lane, source->item_fd,
		&source->item_status, source->item.path);
}

/* How many bytes of the item are sent, and from which on. */
static uint64_t find_range(struct wh_source *source)
{
	return wh_choice_range(
		&source->config.choice, (uint64_t)source->item_status.st_size, &source->item_base);
}

static struct wh_entry *begin_ask(struct wh_source *source)
{
	struct wh_entry *entry = wh_source_begin_entry(source, &source->item_status);

	entry->kind = WH_ENTRY_FILE;
	entry->content = WH_CONTENT_ASK;
	entry->size_bytes = wh_source_joins(source) ? (uint64_t)source->item_status.st_size
						    : find_range(source);
	entry->hole_bytes = wh_source_has_range(source) ? 0 : hole_bytes(&source->item_status);
	entry->inode = source->item_status.st_ino;
	entry->ctime_s = source->item_status.st_ctim.tv_sec;
	entry->ctime_ns = (uint32_t)source->item_status.st_ctim.tv_nsec;
	return entry;
}

/*
 * 0: read and unchanged; else a positive errno, EAGAIN if changed, or shorter than its status says,
 * as files of /sys are; updates item_status.
 */
static int read_inline(struct wh_source *source, uint8_t *bytes, uint64_t count)
{
	struct stat before = source->item_status;
	ssize_t got = wh_read_all_at(source->item_fd, bytes, (size_t)count, source->item_base);

	if (got < 0)
		return (int)-got;
	if (fstat(source->item_fd, &source->item_status) != 0)
		return errno;
	return wh_is_unchanged(&before, &source->item_status) && (uint64_t)got == count ? 0
											: EAGAIN;
}

/* Reads directly into the record's place, around which the record is written; there is room. */
static int read_content(struct wh_source *source, struct wh_entry *entry)
{
	struct wh_chunk *chunk = source->pack.chunk;
	uint8_t *content = chunk->data + chunk->bytes + wh_entry_content_at(entry);
	uint32_t bytes = wh_entry_inline_bytes(entry);

	entry->inline_bytes = content;
	return bytes == 0 ? 0 : read_inline(source, content, bytes);
}

/*
 * The first large file of a job begins behind its ENTRY: the sink's first answer is a round trip
 * away, and most sinks want it. It costs as much as a small file that the sink has.
 */
static bool may_go_ahead(const struct wh_source *source, const struct wh_entry *entry)
{
	const uint32_t doubts = WH_CHOICE_UPDATE | WH_CHOICE_ABSENT | WH_CHOICE_QUICK |
				WH_CHOICE_DRY | WH_CHOICE_BLOCKS;

	return !source->config.asks_first && !source->progress.went_ahead && !source->has_answers &&
	       !wh_source_has_range(source) && (source->config.choice.wishes & doubts) == 0 &&
	       entry->hole_bytes == 0 && source->inline_bytes_max == WH_INLINE_BYTES_MAX;
}

static void go_ahead(struct wh_source *source, struct wh_entry *entry)
{
	if (read_content(source, entry) != 0) {
		entry->content = WH_CONTENT_ASK;
		return;
	}
	source->progress.went_ahead = true;
	wh_hasher_init(&source->ahead);
	wh_hasher_add(&source->ahead, entry->inline_bytes, WH_INLINE_BYTES_MAX);
}

static bool put_ask(struct wh_source *source)
{
	struct wh_entry *entry = begin_ask(source);

	if (may_go_ahead(source, entry))
		entry->content = WH_CONTENT_AHEAD;
	if (source->asked_count == WH_SOURCE_ASKED || !wh_source_entry_has_room(source))
		return false;

	struct wh_split *split = split_item(source);

	if (split != NULL) {
		entry->content = WH_CONTENT_LEAD;
		entry->split = split->number;
	} else if (entry->content == WH_CONTENT_AHEAD) {
		go_ahead(source, entry);
	}
	wh_source_put_asking(source, split, source->item_fd);
	source->item_fd = -1;
	return true;
}

/* Puts a segment of a file that another lane has announced. */
static bool put_segment(struct wh_source *source)
{
	struct wh_entry *entry = begin_ask(source);

	entry->content = WH_CONTENT_SEGMENT;
	entry->split = source->item_split->number;
	if (source->asked_count == WH_SOURCE_ASKED || !wh_source_entry_has_room(source))
		return false;
	wh_source_put_asking(source, source->item_split, wh_split_open(source->item_split));
	return true;
}

static bool put_file(struct wh_source *source);

static bool put_inline(struct wh_source *source)
{
	struct wh_entry *entry = wh_source_begin_entry(source, &source->item_status);

	entry->kind = WH_ENTRY_FILE;
	entry->size_bytes = find_range(source);
	entry->content = entry->size_bytes == 0 ? WH_CONTENT_NONE : WH_CONTENT_INLINE;
	if (!wh_source_entry_has_room(source))
		return false;

	int error = read_content(source, entry);

	if (error == EAGAIN && ++source->item_tries < TRIES_MAX)
		return put_file(source);
	if (error != 0) {
		if (error == EAGAIN)
			spoil(source, EBUSY, WH_DOING_CHANGED);
		else
			spoil(source, error, WH_DOING_READING);
		return put_fault(source);
	}
	source->progress.bytes_read += entry->size_bytes;
	wh_source_put_entry(source);
	return true;
}

/* Opens the item unless it is open. 0 or a positive errno. */
static int open_item(struct wh_source *source)
{
	if (source->item_fd >= 0)
		return 0;

	int fd = wh_walk_open_file(source->walk, &source->item);

	if (fd < 0)
		return -fd;
	source->item_fd = fd;
	return fstat(fd, &source->item_status) == 0 ? 0 : errno;
}

static bool put_file(struct wh_source *source)
{
	if (source->item_split != NULL)
		return put_segment(source);
	if (source->config.is_pipe)
		return wh_source_put_stream(source);

	int error = open_item(source);

	if (error != 0) {
		spoil(source, error, WH_DOING_OPENING);
		return put_fault(source);
	}
	if (!S_ISREG(source->item_status.st_mode)) {
		spoil(source, EOPNOTSUPP, WH_DOING_KIND);
		return put_fault(source);
	}
	if (!wh_choice_takes_file(&source->config.choice, &source->item_status) ||
		wh_source_defer_link(source, &source->item_status))
		return true;
	if (wh_source_joins(source) && find_range(source) == 0) {
		spoil(source, ERANGE, WH_DOING_READING);
		return put_fault(source);
	}
	if (wh_source_joins(source) || find_range(source) > source->inline_bytes_max ||
		(wh_choice_has(&source->config.choice, WH_CHOICE_DRY) &&
			source->item_status.st_size > 0))
		return put_ask(source);
	return put_inline(source);
}

static bool put_item(struct wh_source *source)
{
	switch (source->item.found) {
	case WH_WALK_FILE:
		return put_file(source);
	case WH_WALK_FOLDER:
		return put_folder(source);
	case WH_WALK_LINK:
		return put_link(source);
	default:
		WH_ASSERT(source->item.found == WH_WALK_FAULT);
		return put_fault(source);
	}
}

/* Takes a segment of a file that another lane has announced. */
static bool find_segment(struct wh_source *source)
{
	const struct wh_source_config *config = &source->config;
	struct wh_split *split =
		config->splits == NULL
			? NULL
			: wh_splits_next(config->splits, config->lane, &source->splits_seen);

	if (split == NULL)
		return false;
	source->item = (struct wh_walk_item){
		.found = WH_WALK_FILE, .path = split->path, .path_bytes = split->path_bytes};
	source->item_status = split->status;
	source->item_split = split;
	return true;
}

bool wh_source_is_walked(const struct wh_source *source)
{
	return source->progress.walked && source->item.found == WH_WALK_NOTHING &&
	       (source->config.splits == NULL ||
		       wh_splits_are_over(source->config.splits, source->splits_seen));
}

static void end_walk(struct wh_source *source)
{
	WH_ASSERT(!source->progress.walked);
	source->progress.walked = true;
	source->item.found = WH_WALK_NOTHING;
	if (source->config.splits != NULL)
		wh_splits_walked(source->config.splits, source->config.lane);
}

/* Faults are always reported: chosen files may be below them. */
static bool is_chosen(struct wh_source *source)
{
	const struct wh_walk_item *item = &source->item;
	bool is_folder = item->found == WH_WALK_FOLDER;

	if (item->found == WH_WALK_FAULT || wh_choice_takes_path(&source->config.choice, item->path,
						    item->path_bytes, is_folder))
		return true;
	if (is_folder && !item->is_prefix)
		wh_walk_leave(source->walk);
	return false;
}

static size_t terms_bytes(const struct wh_choice *choice)
{
	size_t bytes = 1;

	for (uint32_t i = 0; i < choice->terms; i++)
		bytes += strlen(choice->term[i]);
	return bytes;
}

/* Finds the next item of this lane. False: none in this poll. */
static bool find_item(struct wh_source *source, uint32_t *items)
{
	size_t cost_of_byte = terms_bytes(&source->config.choice);
	size_t cost = 0;

	WH_ASSERT(source->item_fd < 0 && source->item_split == NULL);
	if (find_segment(source))
		return true;
	while (!source->progress.walked && cost < MATCHING_PER_POLL &&
		(*items)++ < ITEMS_PER_POLL) {
		wh_walk_next(source->walk, &source->item);
		if (source->item.found == WH_WALK_END)
			end_walk(source);
		if (source->item.found == WH_WALK_NOTHING)
			return false;
		cost += cost_of_byte * source->item.path_bytes;
		if (is_chosen(source) && is_ours(source))
			return true;
		source->item.found = WH_WALK_NOTHING;
	}
	return false;
}

int32_t wh_source_send(struct wh_source *source)
{
	uint64_t bytes_before = source->progress.bytes_read;
	uint32_t items = 0;
	int32_t put = 0;

	source->is_blocked = false;
	if (wh_source_is_in_extents(source))
		return 0;
	if (source->scout != NULL)
		return wh_source_scout(source);
	while (put < WH_SOURCE_FILES_PER_POLL &&
		source->progress.bytes_read - bytes_before < WH_SOURCE_BYTES_PER_POLL) {
		if (source->item.found == WH_WALK_NOTHING && !find_item(source, &items))
			break;
		if (!put_item(source)) {
			source->is_blocked = true;
			break;
		}
		drop_item(source);
		put++;
	}
	/* Steps of the walk count as work. */
	return put + (int32_t)items;
}

int32_t wh_source_send_links(struct wh_source *source)
{
	const char *path, *of;
	int32_t sent = 0;

	while (sent < WH_SOURCE_FILES_PER_POLL && wh_source_next_link(source, &path, &of)) {
		source->record.type = WH_RECORD_ENTRY;
		source->record.entry = (struct wh_entry){
			.id = source->ledger.next,
			.kind = WH_ENTRY_HARD,
			.uid = WH_OWNER_UNTOLD,
			.gid = WH_OWNER_UNTOLD,
			.path = path,
			.path_bytes = (uint16_t)strlen(path),
			.link = of,
			.link_bytes = (uint16_t)strlen(of),
		};
		if (!wh_source_entry_has_room(source))
			break;
		source->leaves_out = (struct wh_left_out){0};
		wh_source_put_entry(source);
		wh_source_drop_link(source);
		sent++;
	}
	return sent;
}
