/* SPDX-License-Identifier: BSD-3-Clause */
#include "file/rings.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "file/ring.h"
#include "unit.h"

const char wh_suite_name[] = "rings";

static struct wh_rings rings;

static void begin(uint32_t count)
{
	memset(&rings, 0, sizeof(rings));
	wh_rings_open(&rings, count);
}

/* What the kernel says to the request that was prepared. */
static int result_of(struct io_uring *ring)
{
	struct io_uring_cqe *cqe;
	int result;

	CU_ASSERT_EQUAL_FATAL(io_uring_submit(ring), 1);
	CU_ASSERT_EQUAL_FATAL(io_uring_wait_cqe(ring, &cqe), 0);
	result = cqe->res;
	io_uring_cqe_seen(ring, cqe);
	return result;
}

/* They are lent and come back; there are no more than that. */
static void test_lent(void)
{
	struct io_uring *taken[3];

	begin(3);
	if (rings.made == 0) {
		printf("skipped: no io_uring here\n");
		return;
	}
	CU_ASSERT_EQUAL(rings.made, 3);
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < 3; i++) {
			taken[i] = wh_rings_take(&rings);
			CU_ASSERT_PTR_NOT_NULL_FATAL(taken[i]);
		}
		CU_ASSERT(taken[0] != taken[1] && taken[1] != taken[2] && taken[0] != taken[2]);
		CU_ASSERT_PTR_NULL(wh_rings_take(&rings));
		for (int i = 0; i < 3; i++)
			wh_rings_give(&rings, taken[i], 0);
	}
	wh_rings_close(&rings);
	CU_ASSERT_EQUAL(rings.idle, 0);

	memset(&rings, 0, sizeof(rings));
	wh_rings_open(&rings, WH_RINGS_MAX + 1);
	CU_ASSERT_EQUAL(rings.made, WH_RINGS_MAX);
	wh_rings_close(&rings);
}

/* What sources and sinks ask for, and what whoever has the process would. */
static void check_rights(struct io_uring *ring)
{
	static const char bytes[] = "by a ring";
	char path[] = "/tmp/wh-rings-XXXXXX";
	char back[sizeof(bytes)] = "";
	struct io_uring_probe *probe = io_uring_get_probe_ring(ring);
	int fd = mkstemp(path);

	CU_ASSERT_FATAL(fd >= 0);
	io_uring_prep_write(wh_ring_request(ring), fd, bytes, sizeof(bytes), 0);
	CU_ASSERT_EQUAL(result_of(ring), sizeof(bytes));
	io_uring_prep_read(wh_ring_request(ring), fd, back, sizeof(back), 0);
	CU_ASSERT_EQUAL(result_of(ring), sizeof(bytes));
	CU_ASSERT_EQUAL(memcmp(back, bytes, sizeof(bytes)), 0);
	io_uring_prep_fallocate(wh_ring_request(ring), fd, 0, 0, 4096);
	CU_ASSERT(result_of(ring) != -EACCES);

	io_uring_prep_openat(wh_ring_request(ring), AT_FDCWD, path, O_RDONLY, 0);
	CU_ASSERT_EQUAL(result_of(ring), -EACCES);
	io_uring_prep_unlinkat(wh_ring_request(ring), AT_FDCWD, path, 0);
	CU_ASSERT_EQUAL(result_of(ring), -EACCES);
	io_uring_prep_socket(wh_ring_request(ring), AF_UNIX, SOCK_STREAM, 0, 0);
	CU_ASSERT_EQUAL(result_of(ring), -EACCES);
	io_uring_prep_connect(wh_ring_request(ring), fd, NULL, 0);
	CU_ASSERT_EQUAL(result_of(ring), -EACCES);
	io_uring_prep_fsync(wh_ring_request(ring), fd, 0);
	CU_ASSERT_EQUAL(result_of(ring), -EACCES);

	struct io_uring_sqe *sqe = wh_ring_request(ring);

	io_uring_prep_read(sqe, 0, back, sizeof(back), 0);
	sqe->flags |= IOSQE_FIXED_FILE;
	CU_ASSERT_EQUAL(result_of(ring), -EACCES);
	CU_ASSERT_EQUAL(io_uring_register_files(ring, &fd, 1), -EACCES);
	CU_ASSERT_PTR_NULL(probe);
	io_uring_free_probe(probe);
	close(fd);
	CU_ASSERT_EQUAL(unlink(path), 0);
}

static void test_rights(void)
{
	struct io_uring *ring;

	begin(1);
	for (int own = 0; rings.made > 0 && own < 2; own++) {
		ring = wh_rings_take(own ? NULL : &rings);
		CU_ASSERT_PTR_NOT_NULL_FATAL(ring);
		check_rights(ring);
		wh_rings_give(own ? NULL : &rings, ring, 0);
	}
	wh_rings_close(&rings);
}

/* What one user prepared and did not hand over, or has in the air, is not the next one's. */
static void test_given_back(void)
{
	int ends[2];
	char byte;
	char path[] = "/tmp/wh-rings-XXXXXX";
	struct io_uring_cqe *cqe;
	int fd = mkstemp(path);

	begin(1);
	CU_ASSERT_FATAL(fd >= 0 && pipe(ends) == 0);

	struct io_uring *ring = rings.made > 0 ? wh_rings_take(&rings) : NULL;

	if (ring != NULL) {
		io_uring_prep_read(wh_ring_request(ring), ends[0], &byte, 1, 0);
		CU_ASSERT_EQUAL(io_uring_submit(ring), 1);
		io_uring_prep_write(wh_ring_request(ring), fd, "x", 1, 0);
		io_uring_prep_write(wh_ring_request(ring), fd, "x", 1, 0);
		wh_rings_give(&rings, ring, 3);
		CU_ASSERT_PTR_EQUAL_FATAL(wh_rings_take(&rings), ring);
		CU_ASSERT_EQUAL(io_uring_sq_ready(ring), 0);
		CU_ASSERT_EQUAL(io_uring_peek_cqe(ring, &cqe), -EAGAIN);
		io_uring_prep_write(wh_ring_request(ring), fd, "mine", 4, 0);
		CU_ASSERT_EQUAL(result_of(ring), 4);
		CU_ASSERT_EQUAL(lseek(fd, 0, SEEK_END), 4);
		wh_rings_give(&rings, ring, 0);
	}
	wh_rings_close(&rings);
	close(ends[0]);
	close(ends[1]);
	close(fd);
	unlink(path);
}

CU_TestInfo wh_tests[] = {
	{"lent", test_lent},
	{"no more than reading and writing", test_rights},
	{"given back", test_given_back},
	CU_TEST_INFO_NULL,
};
