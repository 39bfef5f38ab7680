/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * A source between four FIFOs, and a sink that only keeps what comes: it holds the stream against
 * the rules of bundle/record.h, puts files together in memory and answers as it is told.
 */

#include <stdarg.h>
#include <sys/syscall.h>

#include "../rig/content.h"
#include "base/fifo.h"
#include "bundle_tree.h"
#include "source/source.h"
#include "source/source_internal.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define MEMORY       "/dev/shm"
#define KIB          UINT64_C(1024)
#define MIB          (UINT64_C(1024) * KIB)

#define RIG_CHUNKS_MAX  32
#define RIG_ENTRIES_MAX 20000
#define RIG_POLLS_MAX   2000000
#define RIG_IDLE_MAX    100000 /* some ten seconds on a disk */
#define RIG_LOG_BYTES   65536
#define RIG_ANSWERS     16
#define RIG_FIRST       3 /* numbers of the streams' first chunks */
#define RIG_FIRST_REPLY 1

struct rig_entry {
	uint64_t id;
	struct wh_entry entry; /* without its texts */
	char *path;
	char *link;
	uint8_t *bytes;
	uint64_t have_bytes;
	uint32_t extents;
	bool is_same;
	bool has_end;
	int error;
	uint8_t doing;
	struct wh_digest digest;
};

struct rig {
	struct tree tree;
	struct wh_fifo free, ready, deliver, recycled;
	struct wh_chunk chunks[RIG_CHUNKS_MAX];
	struct wh_chunk answers[RIG_ANSWERS];
	struct wh_chunk answers_end;
	uint32_t chunk_bytes;
	struct wh_source *source;
	_Atomic bool gate;

	/* How it answers by itself. */
	bool wants;       /* ASK by WANT, at once */
	bool commits;     /* the end by COMMITTED, TOTALS and its own */
	bool holds_ready; /* leaves what comes in the FIFO */
	uint32_t wishes;  /* of the source's choice */
	bool asks_first;
	struct wh_blocks_account account;

	/* What came. */
	uint64_t next_chunk;
	uint64_t packed_chunks;
	XXH3_state_t *packed;
	XXH3_state_t *answered;
	uint64_t next_answer;
	struct rig_entry *entries;
	uint32_t entry_count;
	struct rig_entry *raw; /* whose extent is open */
	uint64_t raw_left;
	bool has_found;
	bool has_finish;
	bool has_end;
	uint64_t finish_entries;
	char faults[RIG_LOG_BYTES]; /* "path(errno,doing) " */

	char told[RIG_LOG_BYTES]; /* "+path ", "=path " (skipped), "-path(errno,doing,who) " */
	uint32_t told_count;
};

static inline void rig_log(char *log, const char *format, ...)
{
	size_t at = strlen(log);
	va_list args;

	va_start(args, format);
	vsnprintf(log + at, RIG_LOG_BYTES - at, format, args);
	va_end(args);
}

static inline void rig_on_file(void *context, const struct wh_file_result *result)
{
	struct rig *rig = context;

	rig->told_count++;
	if (result->error != 0)
		rig_log(rig->told, "-%s(%d,%s,%s) ", result->path, result->error,
			wh_doing_name(result->doing), result->at_peer ? "there" : "here");
	else
		rig_log(rig->told, "%s%s ", result->skipped ? "=" : "+", result->path);
}

/* The tree is in `parent`, see tree_init. */
static inline void rig_init(
	struct rig *rig, const char *parent, uint32_t chunk_bytes, uint32_t chunks, uint32_t ready)
{
	memset(rig, 0, sizeof(*rig));
	tree_init(&rig->tree, parent);
	rig->chunk_bytes = chunk_bytes;
	rig->wants = rig->commits = true;
	rig->next_chunk = RIG_FIRST;
	rig->next_answer = RIG_FIRST_REPLY;
	rig->entries = calloc(RIG_ENTRIES_MAX, sizeof(rig->entries[0]));
	rig->packed = XXH3_createState();
	rig->answered = XXH3_createState();
	XXH3_128bits_reset(rig->packed);
	XXH3_128bits_reset(rig->answered);
	CU_ASSERT_FATAL(wh_fifo_init(&rig->free, RIG_CHUNKS_MAX) == 0);
	CU_ASSERT_FATAL(wh_fifo_init(&rig->ready, ready) == 0);
	CU_ASSERT_FATAL(wh_fifo_init(&rig->deliver, RIG_ANSWERS) == 0);
	CU_ASSERT_FATAL(wh_fifo_init(&rig->recycled, RIG_ANSWERS) == 0);
	for (uint32_t i = 0; i < chunks; i++) {
		rig->chunks[i].data = aligned_alloc(WH_CHUNK_ALIGN, chunk_bytes);
		memset(rig->chunks[i].data, 0xa5, chunk_bytes);
		wh_fifo_push(&rig->free, &rig->chunks[i]);
	}
	for (uint32_t i = 0; i < RIG_ANSWERS; i++) {
		rig->answers[i].data = malloc(4096);
		wh_fifo_push(&rig->recycled, &rig->answers[i]);
	}
}

/* The paths are names below the tree, at most four, closed by NULL. */
static inline void rig_open_lane(
	struct rig *rig, const char *const *names, uint32_t lane, uint32_t lanes, bool gated)
{
	static char whole[4][PATH_MAX];
	static const char *paths[4];
	struct wh_source_config config = {
		.root_fd = -1,
		.paths = paths,
		.recursive = true,
		.choice = {.wishes = rig->wishes},
		.lane = lane,
		.lanes = lanes,
		.chunk_bytes = rig->chunk_bytes,
		.asks_first = rig->asks_first,
		.account = rig->account,
		.first_chunk = RIG_FIRST,
		.free = &rig->free,
		.ready = &rig->ready,
		.deliver = &rig->deliver,
		.recycled = &rig->recycled,
		.gate = gated ? &rig->gate : NULL,
		.on_file = rig_on_file,
		.context = rig,
	};

	for (; names[config.path_count] != NULL; config.path_count++) {
		uint32_t i = config.path_count;

		snprintf(whole[i], PATH_MAX, "%s/%s", rig->tree.root, names[i]);
		paths[i] = whole[i];
	}
	rig->has_found = false;
	CU_ASSERT_EQUAL_FATAL(wh_source_open(&rig->source, &config), 0);
}

static inline void rig_open(struct rig *rig, const char *name)
{
	const char *names[] = {name, NULL};

	rig_open_lane(rig, names, 0, 1, false);
}

static inline void rig_forget_entries(struct rig *rig)
{
	for (uint32_t i = 0; i < rig->entry_count; i++) {
		free(rig->entries[i].path);
		free(rig->entries[i].link);
		free(rig->entries[i].bytes);
	}
	memset(rig->entries, 0, rig->entry_count * sizeof(rig->entries[0]));
	rig->entry_count = 0;
}

static inline void rig_free(struct rig *rig)
{
	wh_source_close(rig->source);
	rig_forget_entries(rig);
	for (uint32_t i = 0; i < RIG_CHUNKS_MAX; i++)
		free(rig->chunks[i].data);
	for (uint32_t i = 0; i < RIG_ANSWERS; i++)
		free(rig->answers[i].data);
	free(rig->entries);
	XXH3_freeState(rig->packed);
	XXH3_freeState(rig->answered);
	wh_fifo_free(&rig->free);
	wh_fifo_free(&rig->ready);
	wh_fifo_free(&rig->deliver);
	wh_fifo_free(&rig->recycled);
	tree_free(&rig->tree);
}

/* A chunk with these bytes as answers. */
static inline void rig_answer_bytes(struct rig *rig, const void *bytes, uint32_t count)
{
	struct wh_chunk *chunk = wh_fifo_pop(&rig->recycled);

	struct wh_digest seal;

	CU_ASSERT_FATAL(chunk != NULL && count + sizeof(seal) <= 4096);
	memcpy(chunk->data, bytes, count);
	chunk->bytes = count + (uint32_t)sizeof(seal);
	chunk->number = rig->next_answer++;
	chunk->end = false;
	XXH3_128bits_update(rig->answered, bytes, count);
	seal = digest_so_far(rig->answered);
	memcpy(chunk->data + count, &seal, sizeof(seal));
	CU_ASSERT_FATAL(wh_fifo_push(&rig->deliver, chunk));
}

static inline void rig_answer(struct rig *rig, const struct wh_record *record)
{
	uint8_t bytes[4096];
	uint32_t count = wh_record_encode(record, bytes, sizeof(bytes));

	CU_ASSERT_FATAL(count > 0);
	rig_answer_bytes(rig, bytes, count);
}

static inline void rig_want(struct rig *rig, uint64_t id)
{
	rig_answer(rig, &(struct wh_record){.type = WH_RECORD_WANT, .want = {.id = id}});
}

static inline void rig_have(struct rig *rig, uint64_t id, struct wh_digest digest)
{
	rig_answer(rig,
		&(struct wh_record){.type = WH_RECORD_HAVE, .have = {.id = id, .digest = digest}});
}

static inline void rig_outcome(struct rig *rig, uint64_t id, int error)
{
	rig_answer(
		rig, &(struct wh_record){.type = WH_RECORD_OUTCOME,
			     .outcome = {.id = id,
				     .status = error == 0 ? WH_OUTCOME_SKIPPED : WH_OUTCOME_FAILED,
				     .error = error,
				     .doing = error == 0 ? WH_DOING_NOTHING : WH_DOING_WRITING}});
}

static inline void rig_commit(struct rig *rig, uint64_t below)
{
	rig_answer(rig,
		&(struct wh_record){.type = WH_RECORD_COMMITTED, .committed = {.below = below}});
}

static inline void rig_totals(struct rig *rig)
{
	rig_answer(rig, &(struct wh_record){.type = WH_RECORD_TOTALS});
}

static inline void rig_end(struct rig *rig)
{
	rig->answers_end = (struct wh_chunk){
		.number = rig->next_answer,
		.end = true,
		.digest = digest_so_far(rig->answered),
	};
	CU_ASSERT_FATAL(wh_fifo_push(&rig->deliver, &rig->answers_end));
}

static inline struct rig_entry *rig_by_id(struct rig *rig, uint64_t id)
{
	for (uint32_t i = rig->entry_count; i-- > 0;)
		if (rig->entries[i].id == id)
			return &rig->entries[i];
	CU_FAIL_FATAL("no such entry");
	return NULL;
}

static inline struct rig_entry *rig_find(struct rig *rig, const char *path)
{
	for (uint32_t i = 0; i < rig->entry_count; i++)
		if (strcmp(rig->entries[i].path, path) == 0)
			return &rig->entries[i];
	return NULL;
}

/* No NUL need follow in a chunk. */
static inline char *rig_text(const char *text, size_t bytes)
{
	char *copy = calloc(1, bytes + 1);

	CU_ASSERT_PTR_NOT_NULL_FATAL(copy);
	if (bytes > 0)
		memcpy(copy, text, bytes);
	return copy;
}

/* Whatever came with it is asked for. */
static inline bool rig_is_asking(const struct wh_entry *entry)
{
	return entry->content == WH_CONTENT_ASK || entry->content == WH_CONTENT_AHEAD;
}

static inline void rig_take_entry(struct rig *rig, const struct wh_entry *entry)
{
	struct rig_entry *kept = &rig->entries[rig->entry_count++];

	CU_ASSERT_FATAL(rig->entry_count <= RIG_ENTRIES_MAX);
	CU_ASSERT(rig->entry_count == 1 || entry->id > kept[-1].id);
	kept->id = entry->id;
	kept->entry = *entry;
	kept->path = rig_text(entry->path, entry->path_bytes);
	kept->link = rig_text(entry->link, entry->link_bytes);
	kept->bytes = malloc(entry->size_bytes + 1);
	if (entry->content == WH_CONTENT_INLINE) {
		memcpy(kept->bytes, entry->inline_bytes, entry->size_bytes);
		kept->have_bytes = entry->size_bytes;
	}
	if (entry->content == WH_CONTENT_AHEAD)
		memcpy(kept->bytes, entry->inline_bytes, WH_INLINE_BYTES_MAX);
	if (rig_is_asking(entry) && rig->wants)
		rig_want(rig, entry->id);
}

/* `raw` stays the file of the last extent until its FILE_END: nothing else may come between. */
static inline void rig_take_extent(struct rig *rig, const struct wh_record *record)
{
	struct rig_entry *entry = rig_by_id(rig, record->extent.id);

	CU_ASSERT_FATAL(rig_is_asking(&entry->entry) && !entry->has_end);
	CU_ASSERT_FATAL(rig->raw == NULL || rig->raw == entry);
	CU_ASSERT_FATAL(record->extent.offset == entry->have_bytes);
	CU_ASSERT_FATAL(record->extent.offset + record->extent.bytes <= entry->entry.size_bytes);
	rig->raw = entry;
	rig->raw_left = record->extent.bytes;
	entry->extents++;
}

static inline void rig_take_file_end(struct rig *rig, const struct wh_record *record)
{
	struct rig_entry *entry = rig_by_id(rig, record->file_end.id);

	CU_ASSERT_FATAL(!entry->has_end && (rig->raw == NULL || rig->raw == entry));
	entry->has_end = true;
	entry->error = record->file_end.error;
	entry->doing = record->file_end.doing;
	entry->digest = record->file_end.digest;
	rig->raw = NULL;
}

static inline void rig_take_record(struct rig *rig, const struct wh_record *record)
{
	CU_ASSERT_FATAL(!rig->has_finish);
	if (rig->raw != NULL)
		CU_ASSERT_FATAL(
			record->type == WH_RECORD_EXTENT || record->type == WH_RECORD_FILE_END);
	switch (record->type) {
	case WH_RECORD_ENTRY:
		rig_take_entry(rig, &record->entry);
		break;
	case WH_RECORD_EXTENT:
		rig_take_extent(rig, record);
		break;
	case WH_RECORD_FILE_END:
		rig_take_file_end(rig, record);
		break;
	case WH_RECORD_SAME:
		rig_by_id(rig, record->id.id)->is_same = true;
		break;
	case WH_RECORD_FAULT:
		rig_log(rig->faults, "%.*s(%d,%s) ", record->fault.path_bytes, record->fault.path,
			record->fault.error, wh_doing_name(record->fault.doing));
		break;
	case WH_RECORD_FOUND:
		CU_ASSERT_FATAL(!rig->has_found);
		rig->has_found = true;
		break;
	case WH_RECORD_FINISH:
		CU_ASSERT(rig->has_found);
		rig->has_finish = true;
		rig->finish_entries = record->finish.entries;
		break;
	default:
		CU_FAIL_FATAL("not of a source");
	}
}

static inline void rig_take_packed(struct rig *rig, struct wh_chunk *chunk)
{
	static struct wh_record record;
	struct wh_digest seal;

	CU_ASSERT_FATAL(chunk->bytes > sizeof(seal));
	chunk->bytes -= (uint32_t)sizeof(seal);

	rig->packed_chunks++;
	XXH3_128bits_update(rig->packed, chunk->data, chunk->bytes);
	seal = digest_so_far(rig->packed);
	CU_ASSERT(memcmp(&seal, chunk->data + chunk->bytes, sizeof(seal)) == 0);
	for (uint32_t at = 0; at < chunk->bytes;) {
		uint32_t bytes = wh_record_decode(chunk->data + at, chunk->bytes - at, &record);

		CU_ASSERT_FATAL(bytes > 0);
		rig_take_record(rig, &record);
		at += bytes;
		if (rig->raw_left > 0)
			CU_ASSERT_EQUAL_FATAL(at, chunk->bytes);
	}
}

static inline void rig_take_raw(struct rig *rig, const struct wh_chunk *chunk)
{
	struct rig_entry *entry = rig->raw;

	CU_ASSERT_FATAL(chunk->bytes ==
			(rig->raw_left < rig->chunk_bytes ? rig->raw_left : rig->chunk_bytes));
	memcpy(entry->bytes + entry->have_bytes, chunk->data, chunk->bytes);
	entry->have_bytes += chunk->bytes;
	rig->raw_left -= chunk->bytes;
}

static inline void rig_take_end(struct rig *rig, const struct wh_chunk *end)
{
	struct wh_digest digest = digest_so_far(rig->packed);

	CU_ASSERT(rig->has_finish && end->bytes == 0);
	CU_ASSERT_EQUAL(memcmp(&end->digest, &digest, sizeof(digest)), 0);
	rig->has_end = true;
	if (!rig->commits)
		return;
	rig_commit(rig, rig->entry_count == 0 ? 0 : rig->entries[rig->entry_count - 1].id + 1);
	rig_totals(rig);
	rig_end(rig);
}

/* Takes one chunk that came. */
static inline bool rig_take(struct rig *rig)
{
	struct wh_chunk *chunk = wh_fifo_pop(&rig->ready);

	if (chunk == NULL)
		return false;
	CU_ASSERT_FATAL(!rig->has_end);
	CU_ASSERT_EQUAL_FATAL(chunk->number, rig->next_chunk);
	if (chunk->end) {
		rig_take_end(rig, chunk);
		return true;
	}
	rig->next_chunk++;
	CU_ASSERT_FATAL(chunk->bytes > 0 && chunk->bytes <= rig->chunk_bytes);
	if (rig->raw_left > 0)
		rig_take_raw(rig, chunk);
	else
		rig_take_packed(rig, chunk);
	memset(chunk->data, 0xa5, rig->chunk_bytes);
	CU_ASSERT_FATAL(wh_fifo_push(&rig->free, chunk));
	return true;
}

static inline int32_t rig_poll(struct rig *rig)
{
	int32_t work = wh_source_poll(rig->source, 0);

	while (!rig->holds_ready && rig_take(rig))
		work++;
	return work;
}

static inline enum wh_source_state rig_state(const struct rig *rig)
{
	return wh_source_progress(rig->source)->state;
}

/* Polls once; where requests may be in the air, a poll without work leaves the disk some time. */
static inline bool rig_poll_or_wait(struct rig *rig)
{
	bool worked = rig_poll(rig) > 0;

	if (!worked && strncmp(rig->tree.root, "/dev/shm", 8) != 0)
		usleep(50);
	return worked;
}

/* Until it ends, or `entries` came (0: till the end). */
static inline void rig_run(struct rig *rig, uint32_t entries)
{
	for (int i = 0; i < RIG_POLLS_MAX && rig_state(rig) < WH_SOURCE_DONE &&
			(entries == 0 || rig->entry_count < entries);
		i++)
		rig_poll_or_wait(rig);
}

/* Until it has nothing to do: a disk has longer for requests in the air, for others may use it. */
static inline void rig_settle(struct rig *rig)
{
	const struct wh_read_ahead *ahead = &rig->source->reading.ahead;

	for (int idle = 0, i = 0;
		i < RIG_POLLS_MAX && (idle < 200 || (ahead->in_air > 0 && idle < RIG_IDLE_MAX));
		i++)
		idle = rig_poll_or_wait(rig) ? 0 : idle + 1;
}

static inline void add_file(struct rig *rig, const char *name, uint64_t bytes, uint64_t seed)
{
	uint8_t *content = content_of(bytes, seed);

	tree_file(&rig->tree, name, content, bytes);
	free(content);
}

static inline bool arrived(struct rig *rig, const char *path, uint64_t bytes, uint64_t seed)
{
	struct rig_entry *entry = rig_find(rig, path);
	uint8_t *content = content_of(bytes, seed);
	bool equal = entry != NULL && entry->entry.size_bytes == bytes &&
		     entry->have_bytes == bytes && memcmp(entry->bytes, content, bytes) == 0;

	if (equal && rig_is_asking(&entry->entry)) {
		struct wh_digest digest = digest_of(content, bytes);

		equal = entry->has_end && entry->error == 0 &&
			memcmp(&entry->digest, &digest, sizeof(digest)) == 0;
	}
	free(content);
	return equal;
}

/* Ended well: everything told once and added up. */
static inline void expect_done(struct rig *rig, uint64_t files, uint64_t skipped, uint64_t failed)
{
	const struct wh_source_progress *progress = wh_source_progress(rig->source);

	CU_ASSERT_EQUAL(progress->state, WH_SOURCE_DONE);
	CU_ASSERT_EQUAL(progress->error, 0);
	CU_ASSERT(progress->walked && rig->has_end);
	CU_ASSERT_EQUAL(rig->finish_entries, rig->entry_count);
	CU_ASSERT_EQUAL(progress->totals.files, files);
	CU_ASSERT_EQUAL(progress->totals.skipped, skipped);
	CU_ASSERT_EQUAL(progress->totals.failed, failed);
	CU_ASSERT_EQUAL(wh_fifo_count(&rig->recycled), RIG_ANSWERS);
	CU_ASSERT_EQUAL(wh_source_poll(rig->source, 0), 0);
}

static inline void expect_broken(struct rig *rig, int error)
{
	CU_ASSERT_EQUAL(rig_state(rig), WH_SOURCE_BROKEN);
	CU_ASSERT_EQUAL(wh_source_progress(rig->source)->error, error);
	wh_source_poll(rig->source, 0);
	CU_ASSERT_EQUAL(wh_fifo_count(&rig->recycled), RIG_ANSWERS);
}

static inline int open_files(void)
{
	int count = 0;

	for (int fd = 0; fd < 1024; fd++)
		count += syscall(SYS_fcntl, fd, F_GETFD) >= 0;
	return count;
}
