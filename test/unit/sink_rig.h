/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * A fake source for the tests of the sink: it writes bundles record by record, reads the answers,
 * and has a folder to be the root and one outside that nothing may touch.
 */

#include <fcntl.h>
#include <ftw.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../rig/content.h"
#include "../rig/remove_tree.h"
#include "await_background.h"
#include "base/fifo.h"
#include "names_at_once.h"
#include "sink/sink.h"
#include "unit.h"

#ifndef RIG_CHUNK_BYTES
#define RIG_CHUNK_BYTES 65536
#endif
#define RIG_ANSWER_BYTES 4096
#define RIG_CHUNKS       32
#define RIG_ANSWERS      4
#define RIG_LOG_MAX      32768
#define RIG_PATH_MAX     8192
#define RIG_HZ           UINT64_C(1000000000)
#define RIG_ROUND_TSC    UINT64_C(10000)
#define RIG_FIRST_CHUNK  1
#define RIG_FIRST_ANSWER 3

/* A hang fails the test instead of stopping the suite. */
#define RIG_POLLS_MAX 3000000

#define RIG_COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char *const rig_bases[] = {"/dev/shm", "/tmp"};

/* A test of each of these folders: both_NAME of test_NAME. */
#define BOTH(test)                                                                                 \
	static void both_##test(void)                                                              \
	{                                                                                          \
		for (size_t i = 0; i < RIG_COUNT(rig_bases); i++)                                  \
			test_##test(rig_bases[i]);                                                 \
	}

/* Of all rigs, as it is of all sinks of a process. */
static struct wh_room rig_room;

struct rig_answer {
	enum wh_record_type type;
	uint64_t id; /* or below */
	uint8_t status;
	uint8_t doing;
	int32_t error;
	uint64_t offset; /* of WANT */
	struct wh_digest digest;
};

struct rig_result {
	char path[256];
	struct wh_file_result is;
};

struct rig {
	char top[64];
	char root[96];
	char outside[96];
	int root_fd;
	struct wh_fifo deliver, recycled, free, ready;
	struct wh_chunk chunks[RIG_CHUNKS];
	struct wh_chunk answer_chunks[RIG_ANSWERS];
	uint32_t held; /* chunks that are not with the sink */
	struct wh_chunk *chunk;
	uint8_t *forges; /* a byte of the chunk that is another on its way, or NULL */
	struct wh_chunk end;
	uint64_t number;
	XXH3_state_t *sent;
	XXH3_state_t *heard;
	XXH3_state_t *extents; /* of the file whose extents came last */
	uint64_t extent_id;
	uint64_t answer_number;
	struct wh_sink *sink;
	uint64_t now_tsc;
	uint64_t entries;
	bool ended; /* the answers are */
	struct wh_totals totals;
	uint32_t answer_count;
	uint32_t result_count;
	struct rig_answer answers[RIG_LOG_MAX];
	struct rig_result results[RIG_LOG_MAX];
};

static inline void rig_on_file(void *context, const struct wh_file_result *result)
{
	struct rig *rig = context;
	struct rig_result *entry = &rig->results[rig->result_count++];

	CU_ASSERT_FATAL(rig->result_count < RIG_LOG_MAX);
	snprintf(entry->path, sizeof(entry->path), "%s", result->path);
	entry->is = *result;
	entry->is.path = entry->path;
}

static inline struct rig *rig_new(const char *base)
{
	struct rig *rig = calloc(1, sizeof(*rig));

	CU_ASSERT_FATAL(rig != NULL);
	snprintf(rig->top, sizeof(rig->top), "%s/wh_sink_XXXXXX", base);
	CU_ASSERT_FATAL(mkdtemp(rig->top) != NULL);
	snprintf(rig->root, sizeof(rig->root), "%s/root", rig->top);
	snprintf(rig->outside, sizeof(rig->outside), "%s/outside", rig->top);
	CU_ASSERT_FATAL(mkdir(rig->root, 0755) == 0 && mkdir(rig->outside, 0755) == 0);
	rig->root_fd = open(rig->root, O_PATH | O_DIRECTORY);
	CU_ASSERT_FATAL(wh_fifo_init(&rig->deliver, 2 * RIG_CHUNKS) == 0);
	CU_ASSERT_FATAL(wh_fifo_init(&rig->recycled, RIG_CHUNKS) == 0);
	CU_ASSERT_FATAL(wh_fifo_init(&rig->free, 2 * RIG_ANSWERS) == 0);
	CU_ASSERT_FATAL(wh_fifo_init(&rig->ready, 2 * RIG_ANSWERS) == 0);
	for (uint32_t i = 0; i < RIG_CHUNKS; i++) {
		rig->chunks[i].data = aligned_alloc(WH_CHUNK_ALIGN, RIG_CHUNK_BYTES);
		rig->chunks[i].slot = i;
	}
	for (uint32_t i = 0; i < RIG_ANSWERS; i++) {
		rig->answer_chunks[i].data = aligned_alloc(WH_CHUNK_ALIGN, RIG_ANSWER_BYTES);
		CU_ASSERT_FATAL(wh_fifo_push(&rig->free, &rig->answer_chunks[i]));
	}
	rig->held = UINT32_MAX;
	rig->number = RIG_FIRST_CHUNK;
	rig->answer_number = RIG_FIRST_ANSWER;
	rig->sent = XXH3_createState();
	rig->heard = XXH3_createState();
	rig->extents = XXH3_createState();
	rig->extent_id = UINT64_MAX;
	XXH3_128bits_reset(rig->sent);
	XXH3_128bits_reset(rig->heard);
	return rig;
}

static inline struct wh_sink_config rig_config(struct rig *rig, const char *target)
{
	return (struct wh_sink_config){
		.root_fd = rig->root_fd,
		.target = target,
		.hz = RIG_HZ,
		.chunk_bytes = RIG_CHUNK_BYTES,
		.first_chunk = RIG_FIRST_CHUNK,
		.answer_bytes = RIG_ANSWER_BYTES,
		.first_answer = RIG_FIRST_ANSWER,
		.deliver = &rig->deliver,
		.recycled = &rig->recycled,
		.free = &rig->free,
		.ready = &rig->ready,
		.on_file = rig_on_file,
		.room = &rig_room,
		.context = rig,
	};
}

static inline void rig_open(struct rig *rig, const char *target)
{
	struct wh_sink_config config = rig_config(rig, target);
	enum wh_doing doing;

	CU_ASSERT_FATAL(wh_sink_open(&rig->sink, &config, &doing) == 0);
}

/* A rig with an open sink, whose target is the root. */
static inline struct rig *rig_begin(const char *base)
{
	struct rig *rig = rig_new(base);

	rig_open(rig, "");
	return rig;
}

static inline void rig_free(struct rig *rig)
{
	wh_sink_close(rig->sink);
	for (uint32_t i = 0; i < RIG_CHUNKS; i++)
		free(rig->chunks[i].data);
	for (uint32_t i = 0; i < RIG_ANSWERS; i++)
		free(rig->answer_chunks[i].data);
	wh_fifo_free(&rig->deliver);
	wh_fifo_free(&rig->recycled);
	wh_fifo_free(&rig->free);
	wh_fifo_free(&rig->ready);
	XXH3_freeState(rig->sent);
	XXH3_freeState(rig->heard);
	XXH3_freeState(rig->extents);
	await_background();
	close(rig->root_fd);
	remove_tree(rig->top);
	free(rig);
}

static inline void rig_note_answer(struct rig *rig, const struct wh_record *record)
{
	struct rig_answer *answer = &rig->answers[rig->answer_count++];

	CU_ASSERT_FATAL(rig->answer_count < RIG_LOG_MAX);
	*answer = (struct rig_answer){.type = record->type, .id = record->id.id};
	switch (record->type) {
	case WH_RECORD_OUTCOME:
		answer->id = record->outcome.id;
		answer->status = record->outcome.status;
		answer->doing = record->outcome.doing;
		answer->error = record->outcome.error;
		break;
	case WH_RECORD_WANT:
		answer->offset = record->want.offset;
		answer->digest = record->want.digest;
		break;
	case WH_RECORD_HAVE:
		answer->digest = record->have.digest;
		break;
	case WH_RECORD_TOTALS:
		rig->totals = record->totals;
		break;
	case WH_RECORD_REFUSED:
		answer->error = record->refused.error;
		break;
	default:
		break;
	}
}

static inline void rig_hear(struct rig *rig)
{
	for (struct wh_chunk *chunk; (chunk = wh_fifo_pop(&rig->ready)) != NULL;) {
		static struct wh_record record;
		struct wh_digest digest = digest_so_far(rig->heard);

		CU_ASSERT_FATAL(!rig->ended && chunk->number == rig->answer_number);
		if (chunk->end) {
			rig->ended = true;
			CU_ASSERT(memcmp(&digest, &chunk->digest, sizeof(digest)) == 0);
			continue;
		}
		rig->answer_number++;
		CU_ASSERT_FATAL(chunk->bytes > 0 && chunk->bytes <= RIG_ANSWER_BYTES);
		chunk->bytes -= (uint32_t)sizeof(digest);
		XXH3_128bits_update(rig->heard, chunk->data, chunk->bytes);
		digest = digest_so_far(rig->heard);
		CU_ASSERT(memcmp(&digest, chunk->data + chunk->bytes, sizeof(digest)) == 0);
		for (uint32_t at = 0; at < chunk->bytes;) {
			uint32_t bytes =
				wh_record_decode(chunk->data + at, chunk->bytes - at, &record);

			CU_ASSERT_FATAL(bytes > 0);
			at += bytes;
			rig_note_answer(rig, &record);
		}
		CU_ASSERT_FATAL(wh_fifo_push(&rig->free, chunk));
	}
}

/* One turn: the sink's, then ours. Chunks that come back are spoiled. */
static inline int32_t rig_poll(struct rig *rig)
{
	int32_t work = wh_sink_poll(rig->sink, rig->now_tsc);

	rig->now_tsc += RIG_ROUND_TSC;
	rig_hear(rig);
	for (struct wh_chunk *chunk; (chunk = wh_fifo_pop(&rig->recycled)) != NULL;) {
		CU_ASSERT_FATAL((rig->held & (UINT32_C(1) << chunk->slot)) == 0);
		rig->held |= UINT32_C(1) << chunk->slot;
		memset(chunk->data, 0xa5, RIG_CHUNK_BYTES);
	}
	if (work == 0)
		sched_yield();
	return work;
}

static inline enum wh_sink_state rig_state(const struct rig *rig)
{
	return wh_sink_progress(rig->sink)->state;
}

/* Until the sink is over, has said so and given everything back. */
static inline enum wh_sink_state rig_run(struct rig *rig)
{
	for (int i = 0; i < RIG_POLLS_MAX; i++) {
		rig_poll(rig);
		if (rig_state(rig) != WH_SINK_RUNNING && rig->ended && rig->held == UINT32_MAX)
			break;
	}
	CU_ASSERT(rig->ended);
	CU_ASSERT(rig->held == UINT32_MAX);
	CU_ASSERT(wh_fifo_count(&rig->deliver) == 0);
	return rig_state(rig);
}

static inline const struct rig_answer *rig_find(
	const struct rig *rig, enum wh_record_type type, uint64_t id)
{
	for (uint32_t i = 0; i < rig->answer_count; i++)
		if (rig->answers[i].type == type && rig->answers[i].id == id)
			return &rig->answers[i];
	return NULL;
}

static inline const struct rig_answer *rig_await(
	struct rig *rig, enum wh_record_type type, uint64_t id)
{
	const struct rig_answer *answer = NULL;

	for (int i = 0; i < RIG_POLLS_MAX && answer == NULL; i++) {
		rig_poll(rig);
		answer = rig_find(rig, type, id);
	}
	CU_ASSERT_PTR_NOT_NULL_FATAL(answer);
	return answer;
}

/* The one OUTCOME of the entry says this. */
static inline bool rig_failed(const struct rig *rig, uint64_t id, int error, enum wh_doing doing)
{
	const struct rig_answer *answer = rig_find(rig, WH_RECORD_OUTCOME, id);

	return answer != NULL && answer->status == WH_OUTCOME_FAILED && answer->error == error &&
	       answer->doing == doing;
}

static inline bool rig_skipped(const struct rig *rig, uint64_t id)
{
	const struct rig_answer *answer = rig_find(rig, WH_RECORD_OUTCOME, id);

	return answer != NULL && answer->status == WH_OUTCOME_SKIPPED;
}

static inline const struct wh_file_result *rig_result(const struct rig *rig, const char *path)
{
	const struct wh_file_result *found = NULL;

	for (uint32_t i = 0; i < rig->result_count; i++)
		if (strcmp(rig->results[i].path, path) == 0) {
			CU_ASSERT(found == NULL); /* told once */
			found = &rig->results[i].is;
		}
	return found;
}

/* An empty chunk, once the sink has given one back. */
static inline struct wh_chunk *rig_chunk(struct rig *rig)
{
	for (int i = 0; i < RIG_POLLS_MAX && rig->held == 0; i++)
		rig_poll(rig);
	CU_ASSERT_FATAL(rig->held != 0);

	struct wh_chunk *chunk = &rig->chunks[__builtin_ctz(rig->held)];

	rig->held &= rig->held - 1;
	chunk->bytes = 0;
	chunk->end = false;
	return chunk;
}

static inline void rig_push(struct rig *rig, struct wh_chunk *chunk)
{
	chunk->number = rig->number++;
	CU_ASSERT_FATAL(wh_fifo_push(&rig->deliver, chunk));
}

static inline void rig_flush(struct rig *rig)
{
	if (rig->chunk == NULL)
		return;
	XXH3_128bits_update(rig->sent, rig->chunk->data, rig->chunk->bytes);

	struct wh_digest seal = digest_so_far(rig->sent);

	memcpy(rig->chunk->data + rig->chunk->bytes, &seal, sizeof(seal));
	rig->chunk->bytes += (uint32_t)sizeof(seal);
	if (rig->forges != NULL)
		*rig->forges ^= 1;
	rig->forges = NULL;
	rig_push(rig, rig->chunk);
	rig->chunk = NULL;
}

static inline void rig_put(struct rig *rig, const struct wh_record *record)
{
	uint32_t bytes = 0;

	if (rig->chunk != NULL)
		bytes = wh_record_encode(record, rig->chunk->data + rig->chunk->bytes,
			RIG_CHUNK_BYTES - rig->chunk->bytes - sizeof(struct wh_digest));
	if (bytes == 0) {
		rig_flush(rig);
		rig->chunk = rig_chunk(rig);
		bytes = wh_record_encode(
			record, rig->chunk->data, RIG_CHUNK_BYTES - sizeof(struct wh_digest));
	}
	CU_ASSERT_FATAL(bytes > 0);
	rig->chunk->bytes += bytes;
}

#define RIG_MTIME_S  INT64_C(1234567890)
#define RIG_MTIME_NS 987654321

static inline struct wh_record rig_entry(uint64_t id, uint8_t kind, const char *path, uint16_t mode)
{
	struct wh_record record = {.type = WH_RECORD_ENTRY};

	record.entry.id = id;
	record.entry.kind = kind;
	record.entry.mode = mode;
	record.entry.mtime_s = RIG_MTIME_S;
	record.entry.mtime_ns = RIG_MTIME_NS;
	record.entry.path = path;
	record.entry.path_bytes = (uint16_t)strlen(path);
	return record;
}

static inline void rig_file(struct rig *rig, uint64_t id, const char *path, uint16_t mode,
	const void *content, size_t bytes)
{
	struct wh_record record = rig_entry(id, WH_ENTRY_FILE, path, mode);

	record.entry.size_bytes = bytes;
	record.entry.content = bytes > 0 ? WH_CONTENT_INLINE : WH_CONTENT_NONE;
	record.entry.inline_bytes = content;
	rig_put(rig, &record);
	rig->entries++;
}

static inline void rig_text(struct rig *rig, uint64_t id, const char *path, const char *text)
{
	rig_file(rig, id, path, 0644, text, strlen(text));
}

static inline void rig_folder(struct rig *rig, uint64_t id, const char *path, uint16_t mode)
{
	struct wh_record record = rig_entry(id, WH_ENTRY_FOLDER, path, mode);

	rig_put(rig, &record);
	rig->entries++;
}

static inline void rig_link(struct rig *rig, uint64_t id, const char *path, const char *text)
{
	struct wh_record record = rig_entry(id, WH_ENTRY_LINK, path, 0777);

	record.entry.link = text;
	record.entry.link_bytes = (uint16_t)strlen(text);
	rig_put(rig, &record);
	rig->entries++;
}

static inline void rig_ask_sparse(struct rig *rig, uint64_t id, const char *path, uint16_t mode,
	uint64_t bytes, uint64_t hole_bytes)
{
	struct wh_record record = rig_entry(id, WH_ENTRY_FILE, path, mode);

	record.entry.size_bytes = bytes;
	record.entry.hole_bytes = hole_bytes;
	record.entry.content = WH_CONTENT_ASK;
	rig_put(rig, &record);
	rig_flush(rig);
	rig->entries++;
}

static inline void rig_ask(
	struct rig *rig, uint64_t id, const char *path, uint16_t mode, uint64_t bytes)
{
	rig_ask_sparse(rig, id, path, mode, bytes, 0);
}

static inline void rig_extent(
	struct rig *rig, uint64_t id, uint64_t offset, const uint8_t *bytes, uint64_t count)
{
	struct wh_record record = {.type = WH_RECORD_EXTENT};

	if (id != rig->extent_id)
		XXH3_128bits_reset(rig->extents);
	rig->extent_id = id;
	record.extent.digest = digest_so_far(rig->extents);
	XXH3_128bits_update(rig->extents, bytes, count);

	record.extent.id = id;
	record.extent.offset = offset;
	record.extent.bytes = count;
	rig_put(rig, &record);
	rig_flush(rig);
	for (uint64_t at = 0; at < count;) {
		struct wh_chunk *chunk = rig_chunk(rig);

		chunk->bytes =
			(uint32_t)(count - at < RIG_CHUNK_BYTES ? count - at : RIG_CHUNK_BYTES);
		memcpy(chunk->data, bytes + at, chunk->bytes);
		at += chunk->bytes;
		rig_push(rig, chunk);
	}
}

static inline void rig_file_end(
	struct rig *rig, uint64_t id, const struct wh_digest *digest, int error, uint8_t doing)
{
	struct wh_record record = {.type = WH_RECORD_FILE_END};

	record.file_end.id = id;
	record.file_end.error = error;
	record.file_end.doing = doing;
	if (digest != NULL)
		record.file_end.digest = *digest;
	rig_put(rig, &record);
	rig_flush(rig);
}

static inline void rig_same(struct rig *rig, uint64_t id)
{
	struct wh_record record = {.type = WH_RECORD_SAME};

	record.id.id = id;
	rig_put(rig, &record);
	rig_flush(rig);
}

static inline void rig_fault(struct rig *rig, const char *path, int error, uint8_t doing)
{
	struct wh_record record = {.type = WH_RECORD_FAULT};

	record.fault.error = error;
	record.fault.doing = doing;
	record.fault.path = path;
	record.fault.path_bytes = (uint16_t)strlen(path);
	rig_put(rig, &record);
}

/* The end marker of what went out; some lie about it. */
static inline void rig_end(struct rig *rig)
{
	rig_flush(rig);
	rig->end = (struct wh_chunk){.end = true, .number = rig->number};
	rig->end.digest = digest_so_far(rig->sent);
	CU_ASSERT_FATAL(wh_fifo_push(&rig->deliver, &rig->end));
}

static inline void rig_finish(struct rig *rig)
{
	struct wh_record record = {.type = WH_RECORD_FINISH};

	record.finish.entries = rig->entries;
	rig_put(rig, &record);
	rig_end(rig);
}

/* Asks for a file and sends it, in extents of this length. */
static inline void rig_send(struct rig *rig, uint64_t id, const char *path, uint16_t mode,
	const uint8_t *content, uint64_t bytes, uint64_t extent_bytes)
{
	struct wh_digest digest = digest_of(content, bytes);

	rig_ask(rig, id, path, mode, bytes);
	rig_await(rig, WH_RECORD_WANT, id);
	for (uint64_t at = 0; at < bytes; at += extent_bytes)
		rig_extent(rig, id, at, content + at,
			bytes - at < extent_bytes ? bytes - at : extent_bytes);
	rig_file_end(rig, id, &digest, 0, 0);
}

static inline const char *rig_path(const struct rig *rig, const char *name)
{
	static char path[RIG_PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", rig->root, name);
	return path;
}

static inline void rig_make_file(
	const struct rig *rig, const char *name, const void *content, size_t bytes)
{
	FILE *file = fopen(rig_path(rig, name), "wb");

	CU_ASSERT_FATAL(file != NULL);
	CU_ASSERT_FATAL(fwrite(content, 1, bytes, file) == bytes);
	CU_ASSERT_FATAL(fclose(file) == 0);
}

/* Whether a regular file of the root holds these bytes and no others. */
static inline bool rig_holds(
	const struct rig *rig, const char *name, const void *content, size_t bytes)
{
	struct stat status;
	bool equal = false;
	const char *path = rig_path(rig, name);

	if (lstat(path, &status) != 0 || !S_ISREG(status.st_mode) ||
		(size_t)status.st_size != bytes)
		return false;

	FILE *file = fopen(path, "rb");
	uint8_t *have = malloc(bytes + 1);

	if (file != NULL) {
		equal = fread(have, 1, bytes + 1, file) == bytes &&
			memcmp(have, content, bytes) == 0;
		fclose(file);
	}
	free(have);
	return equal;
}

static inline bool rig_holds_text(const struct rig *rig, const char *name, const char *text)
{
	return rig_holds(rig, name, text, strlen(text));
}

/* Whether it has this mode and the time that rig_entry says. */
static inline bool rig_looks(const struct rig *rig, const char *name, mode_t mode)
{
	struct stat status;

	return lstat(rig_path(rig, name), &status) == 0 && (status.st_mode & 07777) == mode &&
	       status.st_mtim.tv_sec == RIG_MTIME_S && status.st_mtim.tv_nsec == RIG_MTIME_NS;
}

static int rig_counted;
static uint64_t rig_counted_blocks;

static inline int rig_count_one(
	const char *path, const struct stat *status, int type, struct FTW *ftw)
{
	(void)path, (void)type;
	rig_counted += ftw->level > 0;
	rig_counted_blocks += (uint64_t)status->st_blocks;
	return 0;
}

/* Names below a folder, however deep. */
static inline int rig_count(const char *path)
{
	await_background();
	rig_counted = 0;
	CU_ASSERT(nftw(path, rig_count_one, 32, FTW_PHYS) == 0);
	return rig_counted;
}

/* Bytes of disk that all below it takes. */
static inline uint64_t rig_blocks(const char *path)
{
	rig_counted_blocks = 0;
	rig_count(path);
	return rig_counted_blocks * 512;
}
