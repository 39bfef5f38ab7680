/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Files per second that a source turns into a bundle: small ones in memory, one core, nobody on
 * the other side but a sink that wants everything and keeps nothing. The best of several rounds,
 * since other work on the machine can only add.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/clock.h"
#include "source/source.h"
#include "tree.h"

#define ROUNDS            5
#define CHUNKS            16
#define ANSWERS           4
#define ANSWER_BYTES      4096
#define COMMITTED_ENTRIES 8192

struct bench {
	struct wh_fifo free, ready, deliver, recycled;
	struct wh_chunk chunks[CHUNKS];
	struct wh_chunk answers[ANSWERS];
	struct wh_source *source;
	uint64_t entries; /* that came */
	uint64_t committed;
	uint64_t answered; /* chunks */
};

static void commit(struct bench *bench)
{
	struct wh_record record = {
		.type = WH_RECORD_COMMITTED, .committed = {.below = bench->entries}};
	struct wh_chunk *chunk = wh_fifo_pop(&bench->recycled);

	WH_ASSERT(chunk != NULL);
	chunk->bytes = wh_record_encode(&record, chunk->data, ANSWER_BYTES);
	chunk->number = bench->answered++;
	wh_fifo_push(&bench->deliver, chunk);
	bench->committed = bench->entries;
}

/* Counts the entries of a chunk by their heads alone: decoding is the sink's work. */
static void count_entries(struct bench *bench, const struct wh_chunk *chunk)
{
	for (uint32_t at = 0, bytes; at < chunk->bytes; at += bytes) {
		uint16_t type;

		memcpy(&bytes, chunk->data + at, sizeof(bytes));
		memcpy(&type, chunk->data + at + sizeof(bytes), sizeof(type));
		bench->entries += type == WH_RECORD_ENTRY;
	}
}

static void run(struct bench *bench)
{
	for (;;) {
		wh_source_poll(bench->source, 0);
		for (struct wh_chunk *chunk; (chunk = wh_fifo_pop(&bench->ready)) != NULL;) {
			if (chunk->end)
				return;
			count_entries(bench, chunk);
			wh_fifo_push(&bench->free, chunk);
		}
		if (bench->entries >= bench->committed + COMMITTED_ENTRIES)
			commit(bench);
	}
}

static void set_up(struct bench *bench)
{
	memset(bench, 0, sizeof(*bench));
	WH_ASSERT(wh_fifo_init(&bench->free, CHUNKS) == 0);
	WH_ASSERT(wh_fifo_init(&bench->ready, CHUNKS) == 0);
	WH_ASSERT(wh_fifo_init(&bench->deliver, ANSWERS) == 0);
	WH_ASSERT(wh_fifo_init(&bench->recycled, ANSWERS) == 0);
	for (uint32_t i = 0; i < CHUNKS; i++) {
		bench->chunks[i].data = aligned_alloc(WH_CHUNK_ALIGN, WH_CHUNK_BYTES_DEFAULT);
		WH_ASSERT(bench->chunks[i].data != NULL);
		memset(bench->chunks[i].data, 0, WH_CHUNK_BYTES_DEFAULT);
		wh_fifo_push(&bench->free, &bench->chunks[i]);
	}
	for (uint32_t i = 0; i < ANSWERS; i++) {
		bench->answers[i].data = malloc(ANSWER_BYTES);
		WH_ASSERT(bench->answers[i].data != NULL);
		wh_fifo_push(&bench->recycled, &bench->answers[i]);
	}
}

static void tear_down(struct bench *bench)
{
	wh_source_close(bench->source);
	for (uint32_t i = 0; i < CHUNKS; i++)
		free(bench->chunks[i].data);
	for (uint32_t i = 0; i < ANSWERS; i++)
		free(bench->answers[i].data);
	wh_fifo_free(&bench->free);
	wh_fifo_free(&bench->ready);
	wh_fifo_free(&bench->deliver);
	wh_fifo_free(&bench->recycled);
}

static uint64_t measure_ns(const char *root, uint32_t files)
{
	static struct bench bench;
	const char *paths[] = {root};

	set_up(&bench);

	struct wh_source_config config = {
		.root_fd = -1,
		.paths = paths,
		.path_count = 1,
		.recursive = true,
		.lanes = 1,
		.chunk_bytes = WH_CHUNK_BYTES_DEFAULT,
		.free = &bench.free,
		.ready = &bench.ready,
		.deliver = &bench.deliver,
		.recycled = &bench.recycled,
	};

	WH_ASSERT(wh_source_open(&bench.source, &config) == 0);

	uint64_t start_ns = now_ns();

	run(&bench);

	uint64_t span_ns = now_ns() - start_ns;

	WH_ASSERT(wh_source_progress(bench.source)->files_found == files);
	tear_down(&bench);
	return span_ns;
}

int main(void)
{
	static const struct {
		uint32_t files;
		uint32_t bytes;
	} cases[] = {{50000, 0}, {50000, 4096}, {5000, 65536}};

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char root[] = "/dev/shm/wh_perf_XXXXXX";
		uint64_t best_ns = UINT64_MAX;

		WH_ASSERT(mkdtemp(root) != NULL);
		tree_make(root, cases[i].files, cases[i].bytes);
		for (int round = 0; round < ROUNDS; round++)
			best_ns = wh_min_u64(best_ns, measure_ns(root, cases[i].files));
		printf("source, %5u bytes %10.0f files per second\n", cases[i].bytes,
			cases[i].files * 1e9 / (double)best_ns);
		tree_remove(root);
	}
	return EXIT_SUCCESS;
}
