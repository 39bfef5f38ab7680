/* SPDX-License-Identifier: BSD-3-Clause */
/* A file goes into a pipe as it comes; more than one does not, and a pipe that breaks ends it. */
#include <signal.h>

#include "bundle_job.h"

const char wh_suite_name[] = "sink_pipe";

static uint8_t content[3 * CHUNK_BYTES + 5];

static void begin(struct job *job, const struct tree *from, const char *path, int ends[2])
{
	static const char *paths[1];
	static struct tree nowhere;

	paths[0] = path;

	CU_ASSERT_FATAL(pipe2(ends, O_NONBLOCK | O_CLOEXEC) == 0);
	nowhere = *from;
	memset(job, 0, sizeof(*job));
	job->to_pipe = true;
	job->to_fd = ends[1];
	open_lanes(job, 1, paths, &nowhere);
}

/* A reader that has other things to do, too. */
static void carry(const char *base, size_t bytes)
{
	static struct job job;
	static uint8_t found[sizeof(content)];
	struct tree from;
	char path[96];
	size_t got = 0;
	int ends[2];
	bool done = false;

	tree_init(&from, base);
	tree_file(&from, "file", content, bytes);
	snprintf(path, sizeof(path), "%s/file", from.root);
	begin(&job, &from, path, ends);
	for (uint64_t i = 0; i < POLLS_MAX && !(done && got == bytes); i++) {
		done = poll_job(&job, i * ROUND_TSC);
		if (i % 5 != 0)
			continue;

		ssize_t more = read(ends[0], found + got, sizeof(found) - got);

		got += more > 0 ? (size_t)more : 0;
	}
	run(&job);
	CU_ASSERT_EQUAL(totals(&job).files, 1);
	CU_ASSERT_EQUAL(got, bytes);
	CU_ASSERT(memcmp(found, content, bytes) == 0);
	CU_ASSERT(faccessat(from.fd, "copy", F_OK, 0) != 0);
	close(ends[0]);
	close(ends[1]);
	close_job(&job);
	tree_free(&from);
}

static void sizes(void)
{
	static const size_t bytes[] = {0, 1, 200000, CHUNK_BYTES * 3, sizeof(content)};

	for (size_t i = 0; i < sizeof(content); i++)
		content[i] = (uint8_t)(i * 7 + i / 251);
	for (size_t base = 0; base < 2; base++)
		for (size_t i = 0; i < sizeof(bytes) / sizeof(bytes[0]); i++)
			carry(bases[base], bytes[i]);
}

static void folder(void)
{
	static struct job job;
	struct tree from;
	char path[96];
	int ends[2];

	tree_init(&from, bases[0]);
	tree_folder(&from, "folder");
	tree_file(&from, "folder/a", content, 10);
	tree_file(&from, "folder/b", content, 10);
	snprintf(path, sizeof(path), "%s/folder", from.root);
	begin(&job, &from, path, ends);
	run(&job);
	CU_ASSERT_EQUAL(totals(&job).files, 1);
	CU_ASSERT_EQUAL(totals(&job).failed, 2); /* the folder, and the second file */
	close(ends[0]);
	close(ends[1]);
	close_job(&job);
	tree_free(&from);
}

static void broken(void)
{
	static struct job job;
	struct tree from;
	char path[96];
	int ends[2];

	signal(SIGPIPE, SIG_IGN);
	tree_init(&from, bases[0]);
	tree_file(&from, "file", content, sizeof(content));
	snprintf(path, sizeof(path), "%s/file", from.root);
	begin(&job, &from, path, ends);
	close(ends[0]);
	for (uint64_t i = 0; i < 10000; i++)
		poll_job(&job, i * ROUND_TSC);
	CU_ASSERT_EQUAL(wh_sink_progress(job.lanes[0].sink)->state, WH_SINK_BROKEN);
	CU_ASSERT_EQUAL(wh_sink_progress(job.lanes[0].sink)->error, -EPIPE);
	CU_ASSERT_EQUAL(wh_source_progress(job.lanes[0].source)->error, -EPIPE);
	close(ends[1]);
	close_job(&job);
	tree_free(&from);
}

CU_TestInfo wh_tests[] = {
	{"sizes", sizes},
	{"folder", folder},
	{"broken", broken},
	CU_TEST_INFO_NULL,
};
