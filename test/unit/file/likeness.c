/* SPDX-License-Identifier: BSD-3-Clause */
#include "file/likeness.h"

#include <sched.h>

#include "folder_rig.h"

const char wh_suite_name[] = "likeness";

#define SIZE (UINT64_C(16) << 20)

static _Atomic bool stop;
static _Atomic uint64_t done;

static int make(const struct folder *folder, const char *name)
{
	static uint8_t bytes[SIZE];
	int fd = openat(folder->fd, name, O_RDWR | O_CREAT, 0600);

	for (uint64_t i = 0; i < SIZE; i++)
		bytes[i] = (uint8_t)(i * 2654435761 >> 13);
	CU_ASSERT_FATAL(fd >= 0 && pwrite(fd, bytes, SIZE, 0) == (ssize_t)SIZE);
	return fd;
}

static struct wh_digest by(int fd, uint64_t to, bool all, uint64_t seed)
{
	const struct wh_likeness_run run = {.to = to, .all = all, .seed = seed};
	struct wh_digest digest;

	atomic_store(&done, 0);
	CU_ASSERT(wh_likeness(fd, &run, &stop, &done, &digest) == 0);
	return digest;
}

static struct wh_digest of(int fd, uint64_t to, bool all)
{
	return by(fd, to, all, 7);
}

static bool same(struct wh_digest a, struct wh_digest b)
{
	return memcmp(&a, &b, sizeof(a)) == 0;
}

/* Samples are 64 of 64 KiB, both ends among them; what is no longer than these is read whole. */
static void test_samples(void)
{
	struct folder folder = folder_new("/dev/shm");
	int one = make(&folder, "one"), other = make(&folder, "other");
	const uint64_t changed[] = {0, SIZE - 1, SIZE / 2};
	unsigned int noticed = 0;

	CU_ASSERT(same(of(one, SIZE, false), of(other, SIZE, false)));
	CU_ASSERT(atomic_load(&done) == (uint64_t)WH_SAMPLES * WH_SAMPLE_BYTES);
	CU_ASSERT(same(of(one, SIZE, true), of(other, SIZE, true)));
	CU_ASSERT(atomic_load(&done) == SIZE);
	CU_ASSERT(!same(of(one, SIZE, true), of(other, SIZE, false)));
	CU_ASSERT(same(of(one, 1 << 20, true), of(other, 1 << 20, false)));
	for (size_t i = 0; i < 3; i++) {
		uint8_t before, after;

		CU_ASSERT_FATAL(pread(other, &before, 1, (off_t)changed[i]) == 1);
		after = (uint8_t)~before;
		CU_ASSERT_FATAL(pwrite(other, &after, 1, (off_t)changed[i]) == 1);
		CU_ASSERT(!same(of(one, SIZE, true), of(other, SIZE, true)));
		/* Of what is between, a quarter at most is sampled: each time another one. */
		for (uint64_t seed = 1; seed <= 100; seed++)
			noticed += !same(by(one, SIZE, false, seed), by(other, SIZE, false, seed));
		CU_ASSERT_FATAL(pwrite(other, &before, 1, (off_t)changed[i]) == 1);
	}
	CU_ASSERT(noticed > 205 && noticed < 250);
	CU_ASSERT(!same(by(one, SIZE, false, 1), by(one, SIZE, false, 2)));
	CU_ASSERT(!same(by(one, SIZE, true, 1), by(one, SIZE, true, 2)));
	close(one);
	close(other);
	folder_free(&folder);
}

static void test_cannot(void)
{
	struct folder folder = folder_new("/dev/shm");
	int fd = make(&folder, "short");
	struct wh_digest digest;

	struct wh_likeness_run run = {.to = SIZE + WH_SAMPLES * WH_SAMPLE_BYTES, .all = true};

	CU_ASSERT(wh_likeness(fd, &run, &stop, &done, &digest) == -ENODATA);
	run.all = false;
	CU_ASSERT(wh_likeness(fd, &run, &stop, &done, &digest) == -ENODATA);
	run.to = 1;
	CU_ASSERT(wh_likeness(-1, &run, &stop, &done, &digest) == -EBADF);
	run.to = SIZE;
	run.all = true;
	atomic_store(&stop, true);
	CU_ASSERT(wh_likeness(fd, &run, &stop, &done, &digest) == -ECANCELED);
	atomic_store(&stop, false);
	close(fd);
	folder_free(&folder);
}

/* In the background: nobody has to wait for it, and its descriptor is its own. */
static void test_background(void)
{
	struct folder folder = folder_new("/dev/shm");
	int fd = make(&folder, "one"), before = folder_descriptors();
	const struct wh_likeness_run run = {.to = SIZE, .all = true, .seed = 7};
	struct wh_likeness *likeness = wh_likeness_begin(fd, &run);
	struct wh_digest digest, direct = of(fd, SIZE, true);
	uint64_t bytes = 0;
	int rc;

	CU_ASSERT_FATAL(likeness != NULL);
	while ((rc = wh_likeness_end(likeness, &digest, &bytes)) == -EINPROGRESS)
		sched_yield();
	CU_ASSERT(rc == 0 && bytes == SIZE && same(digest, direct));
	wh_likeness_free(likeness);
	wh_likeness_free(wh_likeness_begin(fd, &run));
	wh_likeness_free(NULL);
	await_background();
	CU_ASSERT(folder_descriptors() == before);
	close(fd);
	folder_free(&folder);
}

CU_TestInfo wh_tests[] = {
	{"samples", test_samples},
	{"cannot", test_cannot},
	{"background", test_background},
	CU_TEST_INFO_NULL,
};
