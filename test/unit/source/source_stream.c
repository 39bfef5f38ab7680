/* SPDX-License-Identifier: BSD-3-Clause */
/* What comes by a pipe becomes a file, whatever its size, and whatever pauses there are. */
#include "base/clock.h"
#include "bundle_job.h"

const char wh_suite_name[] = "source_stream";

static uint8_t content[5 * CHUNK_BYTES + 77];

/* A writer that pauses: some bytes in every third turn. */
static bool feed(int fd, size_t bytes, size_t *fed, uint64_t turn)
{
	if (turn % 3 != 0 || *fed == bytes)
		return *fed == bytes;

	ssize_t put = write(fd, content + *fed, wh_min_u64(bytes - *fed, 30011));

	*fed += put > 0 ? (size_t)put : 0;
	return *fed == bytes;
}

static void carry(const char *base, size_t bytes)
{
	static struct job job;
	static uint8_t found[sizeof(content)];
	const char *paths[] = {""};
	struct tree to;
	size_t fed = 0;
	int ends[2];
	struct stat status;

	CU_ASSERT_FATAL(pipe2(ends, O_NONBLOCK | O_CLOEXEC) == 0);
	tree_init(&to, base);
	memset(&job, 0, sizeof(job));
	job.from_pipe = true;
	job.from_fd = ends[0];
	open_lanes(&job, 1, paths, &to);
	for (uint64_t i = 0; i < POLLS_MAX && ends[1] >= 0; i++) {
		if (feed(ends[1], bytes, &fed, i)) {
			close(ends[1]);
			ends[1] = -1;
		}
		poll_job(&job, i * ROUND_TSC);
		CU_ASSERT(faccessat(to.fd, "copy", F_OK, 0) != 0); /* nothing half has the name */
	}
	run(&job);
	CU_ASSERT_EQUAL(totals(&job).files, 1);
	CU_ASSERT_EQUAL(totals(&job).bytes, bytes);

	int fd = openat(to.fd, "copy", O_RDONLY);

	CU_ASSERT_FATAL(fd >= 0 && fstat(fd, &status) == 0);
	CU_ASSERT_EQUAL(status.st_size, bytes);
	CU_ASSERT_EQUAL(status.st_mode & 07777, 0644);
	CU_ASSERT_EQUAL(status.st_mtim.tv_sec, 1000);
	CU_ASSERT_EQUAL(read(fd, found, sizeof(found)), bytes);
	CU_ASSERT(memcmp(found, content, bytes) == 0);
	close(fd);
	close(ends[0]);
	close_job(&job);
	tree_free(&to);
}

static void sizes(void)
{
	static const size_t bytes[] = {0, 1, CHUNK_BYTES, 4 * CHUNK_BYTES, sizeof(content)};
	struct wh_prng prng;

	wh_prng_init(&prng, 7);
	for (size_t i = 0; i < sizeof(content); i++)
		content[i] = (uint8_t)wh_prng_u64(&prng);
	memset(content + CHUNK_BYTES, 0, CHUNK_BYTES / 2 * 3);
	for (size_t base = 0; base < 2; base++)
		for (size_t i = 0; i < sizeof(bytes) / sizeof(bytes[0]); i++)
			carry(bases[base], bytes[i]);
}

CU_TestInfo wh_tests[] = {
	{"sizes", sizes},
	CU_TEST_INFO_NULL,
};
