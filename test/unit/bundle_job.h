/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* Sources and sinks of a job's lanes in one process, on one thread. */

#include <sched.h>
#include <stdatomic.h>

#include "await_background.h"
#include "base/fifo.h"
#include "base/prng.h"
#include "bundle/staging_name.h"
#include "bundle_tree.h"
#include "sink/sink.h"
#include "source/source.h"

#define CHUNK_BYTES  131072
#define ANSWER_BYTES 4096
#define CHUNKS       12
#define ANSWERS      3
#define LANES_MAX    4
#define POLLS_MAX    2000000
#define HZ           UINT64_C(1000000000)
#define SEED         UINT64_C(4711)
#define ROUND_TSC    UINT64_C(20000)

static const char *const bases[] = {"/dev/shm", "/tmp"};

/* Two circles: of chunks to the sink, and of answers back. */
struct lane {
	struct wh_source *source;
	struct wh_sink *sink;
	struct wh_fifo free, sent, answer_free, answered;
	struct wh_chunk chunks[CHUNKS], answers[ANSWERS];
	uint64_t told[2]; /* files, by source and sink */
	uint64_t failed[2];
	uint64_t skipped[2];
	uint64_t kept[2];
};

struct job {
	struct lane lanes[LANES_MAX];
	uint32_t count;
	uint32_t entries_max;     /* of each source; 0: as many as it wants */
	uint64_t split_bytes_min; /* 0: no file goes by several lanes */
	struct wh_prng *prng;     /* who has a turn; NULL: everybody */
	_Atomic bool gate;
	bool from_pipe, to_pipe; /* one file through them */
	int from_fd, to_fd;
	struct wh_splits splits;
	struct wh_assemblies assemblies;
	struct wh_room room;
	struct wh_keeping keeping; /* of each sink; and what the sources believe: */
	enum wh_resume resume;
	uint64_t extent_bytes_max;
	uint32_t wishes;                      /* enum wh_wish */
	const char *join;                     /* NULL: files are whole */
	struct wh_segment range;              /* with `join`: of each file */
	struct wh_blocks_account accounts[2]; /* of sources and sinks */
};

static inline void note(struct lane *lane, int side, const struct wh_file_result *result)
{
	lane->failed[side] += result->error != 0;
	lane->skipped[side] += result->skipped;
	lane->kept[side] += result->kept;
	lane->told[side] += result->error == 0 && !result->skipped;
}

static inline void source_on_file(void *context, const struct wh_file_result *result)
{
	note(context, 0, result);
}

static inline void sink_on_file(void *context, const struct wh_file_result *result)
{
	note(context, 1, result);
}

static inline void fill(
	struct wh_fifo *free, struct wh_chunk *chunks, uint32_t count, uint32_t bytes)
{
	for (uint32_t i = 0; i < count; i++) {
		chunks[i].data = aligned_alloc(WH_CHUNK_ALIGN, bytes);
		chunks[i].slot = i;
		CU_ASSERT_FATAL(chunks[i].data != NULL && wh_fifo_push(free, &chunks[i]));
	}
}

static inline struct wh_choice choice_of(const struct job *job)
{
	return (struct wh_choice){
		.wishes = job->wishes,
		.join = job->join,
		.has_range = job->join != NULL,
		.range_from = job->range.from,
		.range_end = job->range.end,
	};
}

static inline void open_sink(struct lane *lane, struct job *job, int root_fd, bool as_name)
{
	struct wh_sink_config config = {
		.root_fd = root_fd,
		.target = "copy",
		.as_name = as_name,
		.is_pipe = job->to_pipe,
		.pipe_fd = job->to_fd,
		.hz = HZ,
		.chunk_bytes = CHUNK_BYTES,
		.answer_bytes = ANSWER_BYTES,
		.deliver = &lane->sent,
		.recycled = &lane->free,
		.free = &lane->answer_free,
		.ready = &lane->answered,
		/* Folders are on the first lane. */
		.gate = lane == job->lanes ? &job->gate : NULL,
		.on_file = sink_on_file,
		.assemblies = job->split_bytes_min > 0 ? &job->assemblies : NULL,
		.lane = (uint32_t)(lane - job->lanes),
		.lanes = job->count,
		.room = &job->room,
		.keeping = job->keeping,
		.choice = choice_of(job),
		.block_seed = SEED,
		.account = job->accounts[1],
		.context = lane,
	};
	enum wh_doing doing;

	CU_ASSERT_FATAL(wh_sink_open(&lane->sink, &config, &doing) == 0);
}

static inline void open_source(struct lane *lane, struct job *job, const char *const *path)
{
	struct wh_source_config config = {
		.root_fd = -1,
		.paths = path,
		.path_count = job->from_pipe ? 0 : 1,
		.is_pipe = job->from_pipe,
		.pipe_fd = job->from_fd,
		.pipe_s = 1000,
		.recursive = true,
		.lane = (uint32_t)(lane - job->lanes),
		.lanes = job->count,
		.splits = job->split_bytes_min > 0 ? &job->splits : NULL,
		.split_bytes_min = job->split_bytes_min,
		.chunk_bytes = CHUNK_BYTES,
		.resume = job->resume,
		.extent_bytes_max = job->extent_bytes_max,
		.entries_max = job->entries_max,
		.choice = choice_of(job),
		.block_seed = SEED,
		.account = job->accounts[0],
		.free = &lane->free,
		.ready = &lane->sent,
		.deliver = &lane->answered,
		.recycled = &lane->answer_free,
		.on_file = source_on_file,
		.context = lane,
	};

	CU_ASSERT_FATAL(wh_source_open(&lane->source, &config) == 0);
}

static inline void open_lanes(
	struct job *job, uint32_t lanes, const char *const *path, const struct tree *to)
{
	bool as_name = false;

	job->count = lanes;
	wh_splits_init(&job->splits, lanes);
	wh_assemblies_init(&job->assemblies, lanes);
	for (struct lane *lane = job->lanes; lane < job->lanes + lanes; lane++) {
		CU_ASSERT_FATAL(wh_fifo_init(&lane->free, 2 * CHUNKS) == 0);
		CU_ASSERT_FATAL(wh_fifo_init(&lane->sent, 2 * CHUNKS) == 0);
		CU_ASSERT_FATAL(wh_fifo_init(&lane->answer_free, 2 * ANSWERS) == 0);
		CU_ASSERT_FATAL(wh_fifo_init(&lane->answered, 2 * ANSWERS) == 0);
		fill(&lane->free, lane->chunks, CHUNKS, CHUNK_BYTES);
		fill(&lane->answer_free, lane->answers, ANSWERS, ANSWER_BYTES);
		open_sink(lane, job, to->fd, as_name);
		as_name = wh_sink_progress(lane->sink)->as_name;
		open_source(lane, job, path);
	}
}

static inline void open_bounded(struct job *job, uint32_t lanes, const char *const *path,
	const struct tree *to, uint32_t entries_max)
{
	memset(job, 0, sizeof(*job));
	job->entries_max = entries_max;
	open_lanes(job, lanes, path, to);
}

static inline void open_job(
	struct job *job, uint32_t lanes, const char *const *path, const struct tree *to)
{
	open_bounded(job, lanes, path, to, 0);
}

/* Its ends go; what lies between them stays. */
static inline void end_lane(struct lane *lane)
{
	wh_source_close(lane->source);
	wh_sink_close(lane->sink);
	lane->source = NULL;
	lane->sink = NULL;
}

static inline void close_lanes(struct job *job)
{
	for (struct lane *lane = job->lanes; lane < job->lanes + job->count; lane++) {
		end_lane(lane);
		for (uint32_t i = 0; i < CHUNKS; i++)
			free(lane->chunks[i].data);
		for (uint32_t i = 0; i < ANSWERS; i++)
			free(lane->answers[i].data);
		wh_fifo_free(&lane->free);
		wh_fifo_free(&lane->sent);
		wh_fifo_free(&lane->answer_free);
		wh_fifo_free(&lane->answered);
	}
	wh_splits_free(&job->splits);
	wh_assemblies_free(&job->assemblies);
}

static inline void close_job(struct job *job)
{
	close_lanes(job);
	await_background();
}

static inline bool has_turn(const struct job *job)
{
	return job->prng == NULL || wh_prng_below(job->prng, 3) == 0;
}

/* One turn of all lanes; whether all are through. */
static inline bool poll_job(struct job *job, uint64_t now_tsc)
{
	bool done = true, others_done = true;

	for (struct lane *lane = job->lanes; lane < job->lanes + job->count; lane++) {
		int32_t work = 0;

		if (lane->source == NULL)
			continue;
		if (has_turn(job))
			work += wh_source_poll(lane->source, now_tsc);
		if (has_turn(job))
			work += wh_sink_poll(lane->sink, now_tsc);
		if (work == 0)
			sched_yield();

		bool over = wh_sink_progress(lane->sink)->state == WH_SINK_DONE &&
			    wh_source_progress(lane->source)->state == WH_SOURCE_DONE;

		done = done && over;
		others_done = others_done && (over || lane == job->lanes);
	}
	atomic_store(&job->gate, others_done);
	return done;
}

static inline void run(struct job *job)
{
	bool done = false;

	for (uint64_t i = 0; i < POLLS_MAX && !done; i++)
		done = poll_job(job, i * ROUND_TSC);
	CU_ASSERT(done);
	for (struct lane *lane = job->lanes; lane < job->lanes + job->count; lane++) {
		const struct wh_sink_progress *sink = wh_sink_progress(lane->sink);
		const struct wh_source_progress *source = wh_source_progress(lane->source);

		CU_ASSERT(sink->state == WH_SINK_DONE && source->state == WH_SOURCE_DONE);
		CU_ASSERT(wh_fifo_count(&lane->sent) == 0);
		CU_ASSERT(wh_fifo_count(&lane->answer_free) == ANSWERS);
		CU_ASSERT(lane->told[0] == lane->told[1]);
		CU_ASSERT(lane->skipped[0] == lane->skipped[1]);
		CU_ASSERT(lane->kept[0] == lane->kept[1]);
		CU_ASSERT(lane->failed[0] == lane->failed[1]);
		CU_ASSERT(memcmp(&sink->totals, &source->totals, sizeof(sink->totals)) == 0);
	}
}

static inline struct wh_totals totals(const struct job *job)
{
	struct wh_totals sum = {0};

	for (uint32_t i = 0; i < job->count; i++) {
		const struct wh_totals *one = &wh_sink_progress(job->lanes[i].sink)->totals;

		sum.files += one->files;
		sum.skipped += one->skipped;
		sum.failed += one->failed;
		sum.bytes += one->bytes;
		sum.passed_over += one->passed_over;
		sum.resumed_bytes += one->resumed_bytes;
		sum.sampled_bytes += one->sampled_bytes;
		sum.began_again += one->began_again;
		sum.left_out.owners += one->left_out.owners;
		sum.left_out.set_ids += one->left_out.set_ids;
		sum.left_out.xattrs += one->left_out.xattrs;
		sum.left_out.hard_links += one->left_out.hard_links;
	}
	return sum;
}

/* By a program that has nothing to do with us: contents, kinds and links. */
static inline bool agree(const char *one, const char *other)
{
	char command[256];

	snprintf(command, sizeof(command), "diff -r --no-dereference '%s' '%s' >&2", one, other);
	return system(command) == 0;
}

static inline int names_in(const struct tree *tree)
{
	char command[128];

	snprintf(command, sizeof(command), "exit $(ls -A '%s' | wc -l)", tree->root);
	return WEXITSTATUS(system(command));
}

/*
 * The kernel lets go a little later of what a dead process had under way: here time is virtual.
 * Parts may go meanwhile, and flock(1) by a name would make one.
 */
static inline void await_locks(const struct tree *to)
{
	char command[256];

	snprintf(command, sizeof(command),
		"for f in %s/copy/" WH_PARTS_FOLDER
		"/*; do { flock 3; } 3<$f; done 2>/dev/null; true",
		to->root);
	CU_ASSERT(system(command) == 0);
}
