/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Files per second that a sink makes, and bytes per second that it writes, on one core: in memory,
 * and on the disk where TMPDIR is. A source on the same core feeds it; only the sink's polls are
 * timed. The best of several rounds, since other work on the machine can only add. With a number of
 * files it measures instead what each costs, and whether that grows with them.
 */

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/clock.h"
#include "sink/sink.h"
#include "source/source.h"
#include "tree.h"

#define ROUNDS       3
#define CHUNKS       16
#define ANSWERS      4
#define ANSWER_BYTES 4096

struct bench {
	struct wh_fifo free, sent, answer_free, answered;
	struct wh_chunk chunks[CHUNKS];
	struct wh_chunk answers[ANSWERS];
	struct wh_source *source;
	struct wh_sink *sink;
	struct wh_room room;
	uint64_t sink_ns;
	uint64_t longest_ns; /* of one poll */
	uint64_t polls;
};

static void fill(struct wh_fifo *free, struct wh_chunk *chunks, uint32_t count, uint32_t bytes)
{
	for (uint32_t i = 0; i < count; i++) {
		chunks[i].data = aligned_alloc(WH_CHUNK_ALIGN, bytes);
		WH_ASSERT(chunks[i].data != NULL);
		memset(chunks[i].data, 0, bytes);
		wh_fifo_push(free, &chunks[i]);
	}
}

static void set_up(struct bench *bench, const char *const *path, int root_fd)
{
	memset(bench, 0, sizeof(*bench));
	WH_ASSERT(wh_fifo_init(&bench->free, CHUNKS) == 0);
	WH_ASSERT(wh_fifo_init(&bench->sent, CHUNKS + 1) == 0);
	WH_ASSERT(wh_fifo_init(&bench->answer_free, ANSWERS) == 0);
	WH_ASSERT(wh_fifo_init(&bench->answered, ANSWERS + 1) == 0);
	fill(&bench->free, bench->chunks, CHUNKS, WH_CHUNK_BYTES_DEFAULT);
	fill(&bench->answer_free, bench->answers, ANSWERS, ANSWER_BYTES);

	struct wh_source_config source = {
		.root_fd = -1,
		.paths = path,
		.path_count = 1,
		.recursive = true,
		.lanes = 1,
		.chunk_bytes = WH_CHUNK_BYTES_DEFAULT,
		.free = &bench->free,
		.ready = &bench->sent,
		.deliver = &bench->answered,
		.recycled = &bench->answer_free,
	};
	struct wh_sink_config sink = {
		.room = &bench->room,
		.root_fd = root_fd,
		.target = "",
		.hz = WH_NS_PER_S,
		.chunk_bytes = WH_CHUNK_BYTES_DEFAULT,
		.answer_bytes = ANSWER_BYTES,
		.deliver = &bench->sent,
		.recycled = &bench->free,
		.free = &bench->answer_free,
		.ready = &bench->answered,
	};
	enum wh_doing doing;

	WH_ASSERT(wh_source_open(&bench->source, &source) == 0);
	WH_ASSERT(wh_sink_open(&bench->sink, &sink, &doing) == 0);
}

static void tear_down(struct bench *bench)
{
	wh_source_close(bench->source);
	wh_sink_close(bench->sink);
	for (uint32_t i = 0; i < CHUNKS; i++)
		free(bench->chunks[i].data);
	for (uint32_t i = 0; i < ANSWERS; i++)
		free(bench->answers[i].data);
	wh_fifo_free(&bench->free);
	wh_fifo_free(&bench->sent);
	wh_fifo_free(&bench->answer_free);
	wh_fifo_free(&bench->answered);
}

static void run(struct bench *bench)
{
	uint64_t before_ns = now_ns();

	while (wh_source_progress(bench->source)->state != WH_SOURCE_DONE) {
		WH_ASSERT(wh_source_progress(bench->source)->state != WH_SOURCE_BROKEN);
		wh_source_poll(bench->source, before_ns);

		uint64_t start_ns = now_ns();
		/* Polls without work do not count, unless all wait for the disk. */
		int32_t work = wh_sink_poll(bench->sink, start_ns);

		before_ns = now_ns();
		if (work == 0 && wh_fifo_count(&bench->sent) == 0 &&
			wh_source_progress(bench->source)->state == WH_SOURCE_RUNNING)
			continue;
		bench->sink_ns += before_ns - start_ns;
		bench->polls++;
		if (before_ns - start_ns > bench->longest_ns)
			bench->longest_ns = before_ns - start_ns;
	}
}

static void measure(const char *base, uint32_t files, uint64_t bytes)
{
	static struct bench bench;
	char from[] = "/dev/shm/wh_perf_XXXXXX";
	char to[256];
	const char *paths[] = {from};
	uint64_t best_ns = UINT64_MAX, longest_ns = UINT64_MAX, polls = 1;

	WH_ASSERT(mkdtemp(from) != NULL);
	tree_make(from, files, bytes);
	for (int round = 0; round < ROUNDS; round++) {
		snprintf(to, sizeof(to), "%s/wh_perf_XXXXXX", base);
		WH_ASSERT(mkdtemp(to) != NULL);

		int root_fd = open(to, O_PATH | O_DIRECTORY);

		set_up(&bench, paths, root_fd);
		run(&bench);
		WH_ASSERT(wh_sink_progress(bench.sink)->totals.files == files);
		tear_down(&bench);
		close(root_fd);
		tree_remove(to);
		if (bench.sink_ns < best_ns) {
			best_ns = bench.sink_ns;
			polls = bench.polls;
		}
		longest_ns = wh_min_u64(longest_ns, bench.longest_ns);
	}
	printf("sink, %-8s %9lu bytes %9.0f files per second %7.2f GB/s, "
	       "a poll %5.1f us, at most %6.0f us\n",
		base, (unsigned long)bytes, files * 1e9 / (double)best_ns,
		(double)files * (double)bytes / (double)best_ns,
		(double)best_ns / 1e3 / (double)polls, (double)longest_ns / 1e3);
	tree_remove(from);
}

/* The most memory that this process has had. */
static uint64_t most_kib(void)
{
	FILE *status = fopen("/proc/self/status", "re");
	unsigned long kib = 0;
	char line[128];

	while (status != NULL && fgets(line, sizeof(line), status) != NULL)
		if (sscanf(line, "VmHWM: %lu", &kib) == 1)
			break;
	if (status != NULL)
		fclose(status);
	return kib;
}

static double cpu_us(void)
{
	struct timespec used;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	return (double)used.tv_sec * 1e6 + (double)used.tv_nsec / 1e3;
}

/* Of a source and a sink together, in a process of its own; both are to be flat. */
static void measure_growth(const char *from, uint32_t files)
{
	static struct bench bench;
	char to[] = "/dev/shm/wh_perf_XXXXXX";
	const char *paths[] = {from};

	WH_ASSERT(mkdtemp(to) != NULL);

	int root_fd = open(to, O_PATH | O_DIRECTORY);

	set_up(&bench, paths, root_fd);

	uint64_t before_kib = most_kib();
	double before_us = cpu_us();

	run(&bench);
	printf("%8u files: %6.2f us of CPU each, %6lu KiB more memory than for none\n", files,
		(cpu_us() - before_us) / files, (unsigned long)(most_kib() - before_kib));
	WH_ASSERT(wh_sink_progress(bench.sink)->totals.files == files);
	tear_down(&bench);
	close(root_fd);
	tree_remove(to);
}

static void measure_many(uint32_t files)
{
	char from[] = "/dev/shm/wh_perf_XXXXXX";

	WH_ASSERT(mkdtemp(from) != NULL);
	tree_make(from, files, 0);
	fflush(stdout);

	pid_t child = fork();

	if (child == 0) {
		measure_growth(from, files);
		exit(EXIT_SUCCESS);
	}
	WH_ASSERT(child > 0 && waitpid(child, NULL, 0) == child);
	tree_remove(from);
}

/* With a number: trees of a tenth and of a hundredth of so many files, and of all of them. */
int main(int argc, char **argv)
{
	static const struct {
		uint32_t files;
		uint64_t bytes;
	} cases[] = {{30000, 0}, {30000, 4096}, {3000, 65536}, {1000, 262144}, {4, 256 << 20}};
	const char *disk = getenv("TMPDIR");
	uint32_t most = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 0;

	for (uint32_t part = 100; most > 0 && part > 0; part /= 10)
		measure_many(most / part);
	if (most > 0)
		return EXIT_SUCCESS;
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		measure("/dev/shm", cases[i].files, cases[i].bytes);
		measure(disk == NULL ? "/tmp" : disk, cases[i].files, cases[i].bytes);
	}
	return EXIT_SUCCESS;
}
