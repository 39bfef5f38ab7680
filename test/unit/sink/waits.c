/* SPDX-License-Identifier: BSD-3-Clause */
/* A source and a sink that are polled by turns, each for as long as it has something to do. */
#include "bundle/waits.h"
#include "sink/sink.h"
#include "source/source.h"

#include <stdatomic.h>

#include "await_background.h"
#include "bundle_tree.h"
#include "stage/stage.h"

const char wh_suite_name[] = "waits";

#define CHUNK_BYTES 131072
#define CHUNKS      8
#define HZ          UINT64_C(1000000000)
#define FEW         UINT32_C(256) /* entries that the source remembers */

struct pair {
	struct tree from, to;
	struct wh_source *source;
	struct wh_sink *sink;
	struct wh_fifo free, sent, answer_free, answered;
	struct wh_chunk chunks[CHUNKS], answers[CHUNKS];
	struct wh_room room;
	_Atomic bool gate;
	uint64_t now_tsc;
	char path[96];
	const char *paths[1];
};

static void init_fifo(struct wh_fifo *fifo, struct wh_chunk *chunks)
{
	CU_ASSERT_FATAL(wh_fifo_init(fifo, 2 * CHUNKS) == 0);
	for (uint32_t i = 0; chunks != NULL && i < CHUNKS; i++) {
		chunks[i] = (struct wh_chunk){.data = aligned_alloc(WH_CHUNK_ALIGN, CHUNK_BYTES)};
		CU_ASSERT_FATAL(chunks[i].data != NULL && wh_fifo_push(fifo, &chunks[i]));
	}
}

static void plant(struct pair *pair)
{
	static uint8_t content[WH_INLINE_BYTES_MAX + 1];
	char name[64];

	tree_init(&pair->from, "/dev/shm");
	tree_init(&pair->to, "/dev/shm");
	tree_folder(&pair->from, "from");
	for (uint32_t i = 0; i < 2 * FEW; i++) {
		snprintf(name, sizeof(name), "from/%04u", i);
		tree_file(&pair->from, name, "", 0);
	}
	tree_file(&pair->from, "from/large", content, sizeof(content));
	snprintf(pair->path, sizeof(pair->path), "%s/from", pair->from.root);
	pair->paths[0] = pair->path;
}

static struct pair *begin(void)
{
	static struct pair made;
	struct pair *pair = &made;
	enum wh_doing doing;

	memset(pair, 0, sizeof(*pair));
	plant(pair);
	init_fifo(&pair->free, pair->chunks);
	init_fifo(&pair->answer_free, pair->answers);
	init_fifo(&pair->sent, NULL);
	init_fifo(&pair->answered, NULL);

	const struct wh_sink_config sink = {.root_fd = pair->to.fd,
		.target = "copy",
		.hz = HZ,
		.chunk_bytes = CHUNK_BYTES,
		.answer_bytes = CHUNK_BYTES,
		.deliver = &pair->sent,
		.recycled = &pair->free,
		.free = &pair->answer_free,
		.ready = &pair->answered,
		.gate = &pair->gate,
		.room = &pair->room};
	const struct wh_source_config source = {.root_fd = -1,
		.paths = pair->paths,
		.path_count = 1,
		.recursive = true,
		.lanes = 1,
		.chunk_bytes = CHUNK_BYTES,
		.entries_max = FEW,
		.free = &pair->free,
		.ready = &pair->sent,
		.deliver = &pair->answered,
		.recycled = &pair->answer_free};

	CU_ASSERT_FATAL(wh_sink_open(&pair->sink, &sink, &doing) == 0);
	CU_ASSERT_FATAL(wh_source_open(&pair->source, &source) == 0);
	return pair;
}

static void end(struct pair *pair)
{
	wh_source_close(pair->source);
	wh_sink_close(pair->sink);
	await_background();
	for (uint32_t i = 0; i < CHUNKS; i++) {
		free(pair->chunks[i].data);
		free(pair->answers[i].data);
	}
	wh_fifo_free(&pair->free);
	wh_fifo_free(&pair->sent);
	wh_fifo_free(&pair->answer_free);
	wh_fifo_free(&pair->answered);
	tree_free(&pair->from);
	tree_free(&pair->to);
}

/* Longer than a batch waits for company. */
static void tire(struct pair *pair, int32_t (*poll)(void *, uint64_t), void *one)
{
	for (int i = 0; i < 2 * WH_BATCH_QUIET_MS; i++)
		poll(one, pair->now_tsc += HZ / 1000);
}

static enum wh_waits source_waits(struct pair *pair)
{
	tire(pair, wh_source_poll, pair->source);
	return wh_source_waits(pair->source);
}

static enum wh_waits sink_waits(struct pair *pair)
{
	tire(pair, wh_sink_poll, pair->sink);
	return wh_sink_waits(pair->sink);
}

/* 1 + 512 + 1 entries go out in three parts. */
static void test_each_stage(void)
{
	struct pair *pair = begin();

	CU_ASSERT(sink_waits(pair) == WH_WAITS_ENTRIES);
	CU_ASSERT(source_waits(pair) == WH_WAITS_COMMIT);
	CU_ASSERT(sink_waits(pair) == WH_WAITS_ENTRIES);
	CU_ASSERT(source_waits(pair) == WH_WAITS_COMMIT);
	CU_ASSERT(sink_waits(pair) == WH_WAITS_ENTRIES);
	CU_ASSERT(source_waits(pair) == WH_WAITS_ANSWER);
	CU_ASSERT(sink_waits(pair) == WH_WAITS_ENTRIES);
	CU_ASSERT(source_waits(pair) == WH_WAITS_TOTALS);
	CU_ASSERT(sink_waits(pair) == WH_WAITS_LANES);
	atomic_store(&pair->gate, true);
	CU_ASSERT(sink_waits(pair) == WH_WAITS_NOTHING);
	CU_ASSERT(source_waits(pair) == WH_WAITS_NOTHING);
	CU_ASSERT(wh_sink_progress(pair->sink)->state == WH_SINK_DONE);
	CU_ASSERT(wh_source_progress(pair->source)->state == WH_SOURCE_DONE);
	end(pair);
}

/* A session that gives no chunks, and one that takes no answers. */
static void test_session(void)
{
	struct pair *pair = begin();
	struct wh_chunk *kept[CHUNKS];

	for (uint32_t i = 0; i < CHUNKS; i++)
		kept[i] = wh_fifo_pop(&pair->free);
	CU_ASSERT(source_waits(pair) == WH_WAITS_SESSION);
	for (uint32_t i = 0; i < CHUNKS; i++)
		wh_fifo_push(&pair->free, kept[i]);
	CU_ASSERT(source_waits(pair) == WH_WAITS_COMMIT);
	for (uint32_t i = 0; i < CHUNKS; i++)
		kept[i] = wh_fifo_pop(&pair->answer_free);
	CU_ASSERT(sink_waits(pair) == WH_WAITS_SESSION);
	for (uint32_t i = 0; i < CHUNKS; i++)
		wh_fifo_push(&pair->answer_free, kept[i]);
	CU_ASSERT(sink_waits(pair) == WH_WAITS_ENTRIES);
	end(pair);
}

static void test_texts(void)
{
	for (int i = 0; i < WH_WAITS_COUNT; i++)
		CU_ASSERT(strlen(wh_waits_text((enum wh_waits)i)) > 3);
}

CU_TestInfo wh_tests[] = {
	{"each end knows whom it waits for, at each stage", test_each_stage},
	{"it waits for the session", test_session},
	{"each has words", test_texts},
	CU_TEST_INFO_NULL,
};
