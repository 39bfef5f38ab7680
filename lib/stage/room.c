/* SPDX-License-Identifier: BSD-3-Clause */
#include "stage/room.h"

#include <errno.h>
#include <stddef.h>
#include <sys/vfs.h>

#include "base/assert.h"

struct wh_room_device *wh_room_find(struct wh_room *room, uint64_t device)
{
	WH_ASSERT(device != 0);
	for (uint32_t i = 0; i < WH_ROOM_DEVICES; i++) {
		uint64_t found = 0;

		if (atomic_compare_exchange_strong(&room->device[i].device, &found, device) ||
			found == device)
			return &room->device[i];
	}
	return NULL;
}

/* Free space, regardless of promises; or a negative errno. */
static int free_bytes(int fd, uint64_t *bytes)
{
	struct statfs status;

	if (fstatfs(fd, &status) != 0)
		return -errno;
	*bytes = status.f_blocks == 0 /* no size limit */
			 ? UINT64_MAX
			 : (uint64_t)status.f_bavail * (uint64_t)status.f_bsize;
	return 0;
}

/*
 * Whether all promises fit: 0, -EAGAIN or another negative errno. The sum of promises may be the
 * same as before the kernel was asked, although others have written and promised meanwhile. Bytes
 * being written just now are counted as promised and as used: the error is on the safe side.
 */
static int is_kept(struct wh_room_device *device, int fd)
{
	uint64_t promised = atomic_load(&device->promised_bytes);
	uint64_t free_now = 0;
	int rc = free_bytes(fd, &free_now);

	if (rc < 0)
		return rc;
	return promised <= free_now ? 0 : -EAGAIN;
}

int wh_room_promise(struct wh_room_device *device, int fd, uint64_t bytes)
{
	uint64_t promised = atomic_load(&device->promised_bytes);

	/* Writing bytes reduces promises and free space: both must be read at the same time. */
	for (;;) {
		uint64_t free_now = 0;
		int rc = free_bytes(fd, &free_now);

		if (rc < 0)
			return rc;
		if (promised <= free_now && bytes <= free_now - promised) {
			if (!atomic_compare_exchange_strong(
				    &device->promised_bytes, &promised, promised + bytes))
				continue;
			rc = is_kept(device, fd);
			if (rc == 0)
				return 0;
			promised = atomic_fetch_sub(&device->promised_bytes, bytes) - bytes;
			if (rc != -EAGAIN)
				return rc;
			continue;
		}

		uint64_t before = promised;

		promised = atomic_load(&device->promised_bytes);
		if (promised == before)
			return -ENOSPC;
	}
}

uint64_t wh_room_beyond_half(const struct wh_room_device *device, int fd)
{
	uint64_t promised = atomic_load(&device->promised_bytes);
	uint64_t free_now = 0;

	if (free_bytes(fd, &free_now) < 0 || promised <= free_now / 2)
		return 0;
	return promised - free_now / 2;
}

void wh_room_take_back(struct wh_room_device *device, uint64_t bytes)
{
	uint64_t promised = atomic_fetch_sub(&device->promised_bytes, bytes);

	WH_ASSERT(promised >= bytes);
}
