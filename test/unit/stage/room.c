/* SPDX-License-Identifier: BSD-3-Clause */

/* What is promised and not written yet, by all who write to one file system in memory. */

#include "stage/room.h"

#include <fcntl.h>

#include "free_room.h"
#include "unit.h"

const char wh_suite_name[] = "room";

#define BLOCK FREE_ROOM_BLOCK_BYTES

static struct wh_room room;
static struct wh_room_device *device;
static int fd;

static void begin(uint64_t blocks, uint64_t free_blocks)
{
	room = (struct wh_room){0};
	device = wh_room_find(&room, 1);
	fd = open("/", O_PATH | O_DIRECTORY);
	CU_ASSERT_FATAL(device != NULL && fd >= 0);
	free_room.told = true;
	free_room.blocks = blocks;
	free_room.free_blocks = free_blocks;
}

void wh_take_down(void)
{
	close(fd);
	free_room.told = false;
}

static void test_devices(void)
{
	struct wh_room_device *found[WH_ROOM_DEVICES];

	begin(1, 1);
	for (uint64_t i = 0; i < WH_ROOM_DEVICES; i++) {
		found[i] = wh_room_find(&room, i + 1);
		CU_ASSERT_PTR_EQUAL(found[i], &room.device[i]);
	}
	CU_ASSERT_PTR_NULL(wh_room_find(&room, WH_ROOM_DEVICES + 1));
	for (uint64_t i = 0; i < WH_ROOM_DEVICES; i++)
		CU_ASSERT_PTR_EQUAL(wh_room_find(&room, i + 1), found[i]);
}

/* What is announced alone leaves half of it to others. */
static void test_beyond_half(void)
{
	begin(100, 10);
	CU_ASSERT_EQUAL(wh_room_beyond_half(device, fd), 0);
	CU_ASSERT_EQUAL(wh_room_promise(device, fd, 5 * BLOCK), 0);
	CU_ASSERT_EQUAL(wh_room_beyond_half(device, fd), 0);
	CU_ASSERT_EQUAL(wh_room_promise(device, fd, 5 * BLOCK), 0);
	CU_ASSERT_EQUAL(wh_room_beyond_half(device, fd), 5 * BLOCK);
	free_room.free_blocks = 4;
	CU_ASSERT_EQUAL(wh_room_beyond_half(device, fd), 8 * BLOCK);
	free_room.blocks = 0; /* without a limit */
	CU_ASSERT_EQUAL(wh_room_beyond_half(device, fd), 0);
}

static void test_promises(void)
{
	begin(100, 10);
	CU_ASSERT_EQUAL(wh_room_promise(device, fd, 10 * BLOCK + 1), -ENOSPC);
	CU_ASSERT_EQUAL(wh_room_promise(device, fd, 6 * BLOCK), 0);
	CU_ASSERT_EQUAL(wh_room_promise(device, fd, 4 * BLOCK + 1), -ENOSPC);
	CU_ASSERT_EQUAL(wh_room_promise(device, fd, 4 * BLOCK), 0);
	CU_ASSERT_EQUAL(wh_room_promise(device, fd, 1), -ENOSPC);
	CU_ASSERT_EQUAL(wh_room_promise(device, fd, 0), 0);

	/* Two blocks are written. */
	free_room.free_blocks = 8;
	wh_room_take_back(device, 2 * BLOCK);
	CU_ASSERT_EQUAL(wh_room_promise(device, fd, 1), -ENOSPC);

	/* Somebody else has written three, so that more is promised than there is. */
	free_room.free_blocks = 5;
	CU_ASSERT_EQUAL(wh_room_promise(device, fd, 0), -ENOSPC);
	wh_room_take_back(device, 4 * BLOCK);
	CU_ASSERT_EQUAL(device->promised_bytes, 4 * BLOCK);
	CU_ASSERT_EQUAL(wh_room_promise(device, fd, BLOCK), 0);
	CU_ASSERT_EQUAL(wh_room_promise(device, fd, 1), -ENOSPC);

	/* Another file system has its own. */
	CU_ASSERT_EQUAL(wh_room_promise(wh_room_find(&room, 2), fd, 5 * BLOCK), 0);
}

static void test_without_limit(void)
{
	begin(0, 0);
	CU_ASSERT_EQUAL(wh_room_promise(device, fd, UINT64_C(1) << 60), 0);
	CU_ASSERT_EQUAL(wh_room_promise(device, fd, UINT64_MAX - (UINT64_C(1) << 60)), 0);
	CU_ASSERT_EQUAL(wh_room_promise(device, fd, 1), -ENOSPC);
}

static void test_unknown(void)
{
	begin(100, 10);
	CU_ASSERT_EQUAL(wh_room_promise(device, -1, 1), -EBADF);
	CU_ASSERT_EQUAL(device->promised_bytes, 0);
}

static void promise_six(void)
{
	CU_ASSERT_EQUAL(wh_room_promise(device, fd, 6 * BLOCK), 0);
}

static void write_six(void)
{
	free_room.free_blocks -= 6;
	wh_room_take_back(device, 6 * BLOCK);
}

/* What another core does between the question and the promise. */
static void test_meanwhile(void)
{
	/* It promises: not both. */
	begin(100, 10);
	free_room.during = promise_six;
	CU_ASSERT_EQUAL(wh_room_promise(device, fd, 5 * BLOCK), -ENOSPC);
	CU_ASSERT_EQUAL(device->promised_bytes, 6 * BLOCK);

	/* It writes what it has promised: what the kernel said before that is no answer. */
	free_room.during = write_six;
	CU_ASSERT_EQUAL(wh_room_promise(device, fd, 4 * BLOCK), 0);
	CU_ASSERT_EQUAL(device->promised_bytes, 4 * BLOCK);
	CU_ASSERT_EQUAL(wh_room_promise(device, fd, 1), -ENOSPC);
}

static void fall_short(void)
{
	wh_room_take_back(device, 6 * BLOCK);
}

static void write_and_promise_six(void)
{
	write_six();
	promise_six();
}

/* The sum is what it was, and the room is not. */
static void test_same_sum_meanwhile(void)
{
	begin(100, 20);
	CU_ASSERT_EQUAL(wh_room_promise(device, fd, 10 * BLOCK), 0);
	free_room.during = write_and_promise_six;
	CU_ASSERT_EQUAL(wh_room_promise(device, fd, 10 * BLOCK), -ENOSPC);
	CU_ASSERT_EQUAL(device->promised_bytes, 10 * BLOCK);
	CU_ASSERT_EQUAL(wh_room_promise(device, fd, 4 * BLOCK), 0);
}

/* Refused by promises that are no more is not refused. */
static void test_freed_meanwhile(void)
{
	begin(100, 10);
	promise_six();
	free_room.during = fall_short;
	CU_ASSERT_EQUAL(wh_room_promise(device, fd, 10 * BLOCK), 0);
	CU_ASSERT_EQUAL(device->promised_bytes, 10 * BLOCK);
}

CU_TestInfo wh_tests[] = {
	{"devices", test_devices},
	{"promises", test_promises},
	{"beyond half", test_beyond_half},
	{"without a limit", test_without_limit},
	{"unknown", test_unknown},
	{"meanwhile", test_meanwhile},
	{"same sum meanwhile", test_same_sum_meanwhile},
	{"freed meanwhile", test_freed_meanwhile},
	CU_TEST_INFO_NULL,
};
