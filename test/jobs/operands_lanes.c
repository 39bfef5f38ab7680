/* SPDX-License-Identifier: BSD-3-Clause */
#include "operands_lanes.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/assert.h"
#include "sink/sink.h"
#include "source/source.h"
#include "source/walk.h"

#define LANES_MAX    3
#define CHUNKS       6
#define ANSWERS      3
#define CHUNK_BYTES  UINT32_C(32768)
#define ANSWER_BYTES UINT32_C(4096)
#define HZ           UINT64_C(1000000000)
#define TURN_TSC     UINT64_C(200000)
#define TURNS_MAX    2000000
#define NAMES_MAX    256

struct lane {
	struct wh_source *source;
	struct wh_sink *sink;
	struct wh_fifo free, sent, answer_free, answered;
	struct wh_chunk chunks[CHUNKS], answers[ANSWERS];
};

static struct {
	const struct lanes_config *config;
	struct lanes_result *result;
	struct lane lane[LANES_MAX];
	_Atomic bool gate;
	struct wh_splits splits;
	struct wh_assemblies assemblies;
	struct wh_rules_used used;
	struct wh_room room;
	struct wh_choice choice;
	char name[NAMES_MAX][64]; /* given, or there already */
	uint32_t names;
} all;

/* By the sinks: each name that is told as well is told once. */
static void note_there(void *context, const struct wh_file_result *told)
{
	(void)context;
	if (told->error != 0) {
		all.result->refused += told->doing == WH_DOING_SHARING ||
				       told->doing == WH_DOING_FOLDING ||
				       told->doing == WH_DOING_CROWDED;
		return;
	}
	/* It had that name before, and was not brought. */
	if (told->removed)
		return;
	/*
	 * A sink that does not remember names may find what it has brought itself, with the same
	 * bytes; and a dry run brings nothing that it could find.
	 */
	if (all.config->crowded && (told->skipped || told->would))
		return;
	for (uint32_t i = 0; i < all.names; i++)
		if (all.config->folds && !all.config->crowded
				? strcasecmp(all.name[i], told->path) == 0
				: strcmp(all.name[i], told->path) == 0)
			strcpy(all.result->twice, all.name[i]);
	WH_ASSERT(all.names < NAMES_MAX && strlen(told->path) < sizeof(all.name[0]));
	strcpy(all.name[all.names++], told->path);
}

static void note_here(void *context, const struct wh_file_result *told)
{
	(void)context;
	all.result->failed += told->error != 0;
}

static bool take(void *context, uint64_t bytes)
{
	(void)context, (void)bytes;
	return !all.config->crowded;
}

static void give(void *context, uint64_t bytes)
{
	(void)context, (void)bytes;
}

static void fill(
	struct wh_fifo *free_chunks, struct wh_chunk *chunks, uint32_t count, uint32_t bytes)
{
	for (uint32_t i = 0; i < count; i++) {
		chunks[i] =
			(struct wh_chunk){.data = aligned_alloc(WH_CHUNK_ALIGN, bytes), .slot = i};
		WH_ASSERT(chunks[i].data != NULL && wh_fifo_push(free_chunks, &chunks[i]));
	}
}

static bool open_sink(struct lane *lane, bool as_name)
{
	const struct lanes_config *config = all.config;
	const struct wh_sink_config wanted = {
		.root_fd = config->to_fd,
		.target = config->target,
		.as_name = as_name,
		.hz = HZ,
		.chunk_bytes = CHUNK_BYTES,
		.answer_bytes = ANSWER_BYTES,
		.deliver = &lane->sent,
		.recycled = &lane->free,
		.free = &lane->answer_free,
		.ready = &lane->answered,
		.gate = lane == all.lane && config->lanes > 1 ? &all.gate : NULL,
		.on_file = note_there,
		.assemblies = config->lanes > 1 ? &all.assemblies : NULL,
		.lane = (uint32_t)(lane - all.lane),
		.lanes = config->lanes,
		.room = &all.room,
		.choice = all.choice,
		.block_seed = 7,
		.account = {take, give, NULL},
		.rules = {.case_clash = config->folds ? WH_CASE_REFUSE : WH_CASE_BY_TARGET},
		.used = &all.used,
	};
	enum wh_doing doing;

	return wh_sink_open(&lane->sink, &wanted, &doing) == 0;
}

static void crowd(void)
{
	const struct wh_blocks_account account = {take, give, NULL};
	uint32_t number = 0;
	const struct wh_name name = {.path = (const char *)&number, .bytes = sizeof(number)};

	while (wh_names_claim(&all.used.names, &account, &name) != WH_NAME_UNKNOWN)
		number++;
}

static void open_source(struct lane *lane)
{
	const struct lanes_config *config = all.config;
	const struct wh_source_config wanted = {
		.root_fd = config->below_root ? config->from_fd : -1,
		.paths = config->paths,
		.path_count = config->count,
		.recursive = config->recursive,
		.choice = all.choice,
		.lane = (uint32_t)(lane - all.lane),
		.lanes = config->lanes,
		.splits = config->lanes > 1 ? &all.splits : NULL,
		.split_bytes_min = UINT64_C(1) << 20,
		.block_seed = 7,
		.chunk_bytes = CHUNK_BYTES,
		.free = &lane->free,
		.ready = &lane->sent,
		.deliver = &lane->answered,
		.recycled = &lane->answer_free,
		.gate = lane == all.lane && config->lanes > 1 ? &all.gate : NULL,
		.on_file = note_here,
		.context = NULL,
	};

	WH_ASSERT(wh_source_open(&lane->source, &wanted) == 0);
}

/* False: the target is none, as a file where a folder should be. */
static bool open_lanes(void)
{
	bool as_name = false;

	wh_splits_init(&all.splits, all.config->lanes);
	wh_assemblies_init(&all.assemblies, all.config->lanes);
	for (uint32_t i = 0; i < all.config->lanes; i++) {
		struct lane *lane = &all.lane[i];

		WH_ASSERT(wh_fifo_init(&lane->free, 2 * CHUNKS) == 0);
		WH_ASSERT(wh_fifo_init(&lane->sent, 2 * CHUNKS) == 0);
		WH_ASSERT(wh_fifo_init(&lane->answer_free, 2 * ANSWERS) == 0);
		WH_ASSERT(wh_fifo_init(&lane->answered, 2 * ANSWERS) == 0);
		fill(&lane->free, lane->chunks, CHUNKS, CHUNK_BYTES);
		fill(&lane->answer_free, lane->answers, ANSWERS, ANSWER_BYTES);
	}
	for (uint32_t i = 0; i < all.config->lanes; i++) {
		if (!open_sink(&all.lane[i], as_name))
			return false;
		as_name = wh_sink_progress(all.lane[i].sink)->as_name;
		if (all.config->crowded)
			crowd();
		open_source(&all.lane[i]);
	}
	return true;
}

static void close_lanes(void)
{
	for (uint32_t i = 0; i < all.config->lanes; i++) {
		struct lane *lane = &all.lane[i];

		wh_source_close(lane->source);
		wh_sink_close(lane->sink);
		for (uint32_t c = 0; c < CHUNKS; c++)
			free(lane->chunks[c].data);
		for (uint32_t c = 0; c < ANSWERS; c++)
			free(lane->answers[c].data);
		wh_fifo_free(&lane->free);
		wh_fifo_free(&lane->sent);
		wh_fifo_free(&lane->answer_free);
		wh_fifo_free(&lane->answered);
	}
	wh_splits_free(&all.splits);
	wh_assemblies_free(&all.assemblies);
	WH_ASSERT(all.used.names.users == 0 && all.used.names.charged_bytes == 0);
}

/* A turn of all lanes, or of some; whether all are through. */
static bool take_turn(uint64_t now_tsc)
{
	bool done = true, others_done = true;
	int32_t work = 0;

	for (uint32_t i = 0; i < all.config->lanes; i++) {
		struct lane *lane = &all.lane[i];

		if (wh_prng_below(all.config->prng, 3) == 0)
			work += wh_source_poll(lane->source, now_tsc);
		if (wh_prng_below(all.config->prng, 3) == 0)
			work += wh_sink_poll(lane->sink, now_tsc);

		enum wh_source_state source = wh_source_progress(lane->source)->state;
		enum wh_sink_state sink = wh_sink_progress(lane->sink)->state;
		bool over = source == WH_SOURCE_DONE && sink == WH_SINK_DONE;

		all.result->broken |= source == WH_SOURCE_BROKEN || sink == WH_SINK_BROKEN;
		done = done && over;
		others_done = others_done && (over || i == 0);
	}
	atomic_store(&all.gate, others_done);
	if (work == 0)
		sched_yield();
	return done;
}

/* As the job does: the contents of a folder go with what is in the target itself. */
static uint32_t wishes_of(const struct lanes_config *config)
{
	char name[WH_PATH_BYTES_MAX + 1];
	uint32_t wishes = config->wishes;
	size_t above_bytes;

	for (uint32_t i = 0; i < config->count && (wishes & WH_CHOICE_DELETE) != 0; i++)
		if (wh_path_in_bundle(config->paths[i], (wishes & WH_CHOICE_RELATIVE) != 0, name,
			    &above_bytes) == 0)
			wishes |= WH_CHOICE_DELETE_TOP;
	return wishes;
}

void lanes_run(const struct lanes_config *config, uint64_t turns, struct lanes_result *result)
{
	uint64_t turn = 0;

	memset(&all, 0, sizeof(all));
	all.config = config;
	all.result = result;
	all.choice = (struct wh_choice){.wishes = wishes_of(config),
		.newer_s = INT64_MIN,
		.bytes_max = UINT64_MAX,
		.delete_max = config->delete_max,
		.backup = config->backup};
	*result = (struct lanes_result){.done = false};
	if (open_lanes())
		for (; turn < turns && turn < TURNS_MAX && !result->done && !result->broken; turn++)
			result->done = take_turn(turn * TURN_TSC);
	else
		result->broken = true;
	close_lanes();
}
