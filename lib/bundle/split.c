/* SPDX-License-Identifier: BSD-3-Clause */
#include "bundle/split.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/clock.h"

static_assert(WH_SPLIT_LANES_MAX == 64, "a lane is a bit of 64");

static uint64_t lane_bit(uint32_t lane)
{
	WH_ASSERT(lane < WH_SPLIT_LANES_MAX);
	return UINT64_C(1) << lane;
}

static uint64_t all_lanes(const struct wh_splits *splits)
{
	return UINT64_MAX >> (WH_SPLIT_LANES_MAX - splits->lanes);
}

static uint64_t units_of(uint64_t size_bytes)
{
	return size_bytes / WH_SPLIT_ALIGN_BYTES + (size_bytes % WH_SPLIT_ALIGN_BYTES != 0);
}

bool wh_segment_is_possible(uint64_t size_bytes, uint32_t lanes)
{
	return lanes > 1 && size_bytes <= INT64_MAX && units_of(size_bytes) >= lanes;
}

struct wh_segment wh_segment_of(uint64_t size_bytes, uint32_t lanes, uint32_t lane)
{
	uint64_t units = units_of(size_bytes);

	WH_ASSERT(wh_segment_is_possible(size_bytes, lanes) && lane < lanes);

	const struct wh_segment segment = {
		.from = units * lane / lanes * WH_SPLIT_ALIGN_BYTES,
		.end = wh_min_u64(size_bytes, units * (lane + 1) / lanes * WH_SPLIT_ALIGN_BYTES),
	};

	WH_ASSERT(segment.from < segment.end && segment.end <= size_bytes);
	return segment;
}

void wh_splits_init(struct wh_splits *splits, uint32_t lanes)
{
	WH_ASSERT(lanes > 0 && lanes <= WH_SPLIT_LANES_MAX);
	memset(splits, 0, sizeof(*splits));
	wh_spin_init(&splits->lock);
	splits->lanes = lanes;
}

static void forget(struct wh_split *split)
{
	WH_ASSERT(split->number != 0 && split->fd >= 0 && split->path != NULL);
	close(split->fd);
	free(split->path);
	*split = (struct wh_split){0};
}

void wh_splits_free(struct wh_splits *splits)
{
	for (uint32_t i = 0; i < WH_SPLITS_MAX; i++)
		if (splits->place[i].number != 0)
			forget(&splits->place[i]);
}

/* A free place, with its number; NULL: none, or no lane would take a segment. */
static struct wh_split *take_place(struct wh_splits *splits, uint32_t lane)
{
	uint32_t number = atomic_load(&splits->last) + 1;

	if (number == 0 || splits->gone != 0)
		return NULL;
	for (uint32_t i = 0; i < WH_SPLITS_MAX; i++)
		if (splits->place[i].number == 0) {
			splits->place[i].number = number;
			splits->place[i].lead = lane;
			return &splits->place[i];
		}
	return NULL;
}

struct wh_split *wh_splits_announce(struct wh_splits *splits, uint32_t lane, int fd,
	const struct stat *status, const char *path)
{
	char *own_path = strdup(path);
	int own_fd = own_path == NULL ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 0);
	struct wh_split *split = NULL;

	if (own_fd >= 0) {
		wh_spin_lock(&splits->lock);
		split = take_place(splits, lane);
		if (split != NULL) {
			split->fd = own_fd;
			split->status = *status;
			split->path = own_path;
			split->path_bytes = (uint16_t)strlen(path);
			atomic_store_explicit(&splits->last, split->number, memory_order_release);
		}
		wh_spin_unlock(&splits->lock);
	}
	if (split == NULL) {
		free(own_path);
		if (own_fd >= 0)
			close(own_fd);
	}
	return split;
}

struct wh_split *wh_splits_next(struct wh_splits *splits, uint32_t lane, uint32_t *seen)
{
	struct wh_split *first = NULL;
	uint32_t last = atomic_load_explicit(&splits->last, memory_order_acquire);

	if (last == *seen)
		return NULL;
	wh_spin_lock(&splits->lock);
	for (uint32_t i = 0; i < WH_SPLITS_MAX; i++) {
		struct wh_split *split = &splits->place[i];

		if (split->number > *seen && split->number <= last && split->lead != lane &&
			(first == NULL || split->number < first->number))
			first = split;
	}
	wh_spin_unlock(&splits->lock);
	WH_ASSERT(first == NULL || (first->number > *seen && first->number <= last));
	*seen = first != NULL ? first->number : last;
	return first;
}

int wh_split_open(const struct wh_split *split)
{
	char path[32];

	/* A duplicate would share file status flags such as O_DIRECT with the other lanes. */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", split->fd);

	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

void wh_split_leave(struct wh_splits *splits, struct wh_split *split, uint32_t lane)
{
	WH_HOLD(&splits->lock);
	WH_ASSERT(split->number != 0 && (split->left & lane_bit(lane)) == 0);
	WH_ASSERT(lane < splits->lanes);
	split->left |= lane_bit(lane);
	if ((split->left | splits->gone) == all_lanes(splits))
		forget(split);
}

void wh_splits_walked(struct wh_splits *splits, uint32_t lane)
{
	atomic_fetch_or_explicit(&splits->walked, lane_bit(lane), memory_order_release);
}

void wh_splits_gone(struct wh_splits *splits, uint32_t lane)
{
	wh_spin_lock(&splits->lock);
	splits->gone |= lane_bit(lane);
	for (uint32_t i = 0; i < WH_SPLITS_MAX; i++) {
		struct wh_split *split = &splits->place[i];

		if (split->number != 0 && (split->left | splits->gone) == all_lanes(splits))
			forget(split);
	}
	wh_spin_unlock(&splits->lock);
	wh_splits_walked(splits, lane);
}

bool wh_splits_are_over(const struct wh_splits *splits, uint32_t seen)
{
	uint64_t walked = atomic_load_explicit(&splits->walked, memory_order_acquire);

	return walked == all_lanes(splits) && atomic_load(&splits->last) == seen;
}
