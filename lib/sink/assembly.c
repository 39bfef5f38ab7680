/* SPDX-License-Identifier: BSD-3-Clause */
#include "sink/assembly.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/assert.h"
#include "stage/stage.h"

static uint64_t lane_bit(uint32_t lane)
{
	WH_ASSERT(lane < WH_SPLIT_LANES_MAX);
	return UINT64_C(1) << lane;
}

static uint64_t all_lanes(const struct wh_assemblies *all)
{
	return UINT64_MAX >> (WH_SPLIT_LANES_MAX - all->lanes);
}

void wh_assemblies_init(struct wh_assemblies *all, uint32_t lanes)
{
	WH_ASSERT(lanes > 0 && lanes <= WH_SPLIT_LANES_MAX);
	memset(all, 0, sizeof(*all));
	wh_spin_init(&all->lock);
	all->lanes = lanes;
}

static void close_both(struct wh_assembly *assembly)
{
	if (assembly->folder_fd >= 0)
		close(assembly->folder_fd);
	if (assembly->lock_fd >= 0)
		close(assembly->lock_fd);
	assembly->folder_fd = assembly->lock_fd = -1;
}

static void forget(struct wh_assembly *assembly)
{
	close_both(assembly);
	free(assembly->resumed);
	memset(assembly, 0, sizeof(*assembly));
}

void wh_assemblies_free(struct wh_assemblies *all)
{
	for (uint32_t i = 0; i < WH_SPLITS_MAX; i++)
		if (all->place[i].split != 0)
			forget(&all->place[i]);
}

/* The lock is held by the callers. */
static void decide(struct wh_assembly *assembly, enum wh_verdict verdict)
{
	WH_ASSERT(assembly->split != 0 && verdict != WH_VERDICT_NONE);
	atomic_store_explicit(&assembly->verdict, verdict, memory_order_release);
}

static void fail(struct wh_assembly *assembly, int error, enum wh_doing doing)
{
	enum wh_verdict verdict = wh_assembly_verdict(assembly);

	if (verdict == WH_VERDICT_SKIP || verdict == WH_VERDICT_FAILED)
		return;
	assembly->error = error;
	assembly->doing = doing;
	close_both(assembly); /* nobody opens it any more; lanes that have it open keep the lock */
	decide(assembly, WH_VERDICT_FAILED);
}

/* Fails the file if an ended lane lacks its segment, or leads the file and will not rename it. */
static void fail_if_lacking(const struct wh_assemblies *all, struct wh_assembly *assembly)
{
	uint64_t ended = assembly->left | (all->gone & ~assembly->joined);

	if ((ended & ~atomic_load(&assembly->down)) != 0)
		fail(assembly, -ECANCELED, WH_DOING_WRITING);
}

static void forget_if_over(const struct wh_assemblies *all, struct wh_assembly *assembly)
{
	WH_ASSERT((assembly->left & ~assembly->joined) == 0);
	if ((assembly->left | (all->gone & ~assembly->joined)) == all_lanes(all))
		forget(assembly);
}

static struct wh_assembly *find(struct wh_assemblies *all, uint32_t split)
{
	for (uint32_t i = 0; i < WH_SPLITS_MAX; i++)
		if (all->place[i].split == split)
			return &all->place[i];
	return NULL;
}

static struct wh_assembly *find_or_add(
	struct wh_assemblies *all, uint32_t split, uint64_t size_bytes)
{
	struct wh_assembly *assembly = find(all, split);

	if (assembly != NULL)
		return assembly;
	assembly = find(all, 0);
	if (assembly == NULL)
		return NULL;
	assembly->split = split;
	assembly->size_bytes = size_bytes;
	assembly->folder_fd = assembly->lock_fd = -1;
	return assembly;
}

struct wh_assembly *wh_assembly_join(
	struct wh_assemblies *all, uint32_t lane, uint32_t split, uint64_t size_bytes, bool is_lead)
{
	WH_ASSERT(split != 0 && lane < all->lanes);
	WH_HOLD(&all->lock);

	struct wh_assembly *assembly = find_or_add(all, split, size_bytes);
	bool fits = assembly != NULL && (assembly->joined & lane_bit(lane)) == 0 &&
		    assembly->size_bytes == size_bytes && !(is_lead && assembly->lead != 0);

	if (fits) {
		assembly->joined |= lane_bit(lane);
		if (is_lead)
			assembly->lead = lane_bit(lane);
		fail_if_lacking(all, assembly);
	}
	return fits ? assembly : NULL;
}

void wh_assembly_leave(struct wh_assemblies *all, struct wh_assembly *assembly, uint32_t lane)
{
	WH_HOLD(&all->lock);
	WH_ASSERT((assembly->joined & ~assembly->left & lane_bit(lane)) != 0);
	assembly->left |= lane_bit(lane);
	fail_if_lacking(all, assembly);
	forget_if_over(all, assembly);
}

void wh_assemblies_gone(struct wh_assemblies *all, uint32_t lane)
{
	uint64_t bit = lane_bit(lane);

	WH_HOLD(&all->lock);
	all->gone |= bit;
	for (uint32_t i = 0; i < WH_SPLITS_MAX; i++) {
		struct wh_assembly *assembly = &all->place[i];
		bool is_in = (assembly->joined & ~assembly->left & bit) != 0;

		if (assembly->split == 0)
			continue;
		if (is_in && (assembly->lead == bit || (atomic_load(&assembly->down) & bit) == 0))
			fail(assembly, -ECANCELED, WH_DOING_WRITING);
		fail_if_lacking(all, assembly);
		forget_if_over(all, assembly);
	}
}

void wh_assembly_resume(
	struct wh_assembly *assembly, int64_t row, const struct wh_recalled_lane *lanes)
{
	WH_ASSERT(assembly->resumed == NULL && wh_assembly_verdict(assembly) != WH_VERDICT_SEND);
	assembly->resumed = malloc(WH_SPLIT_LANES_MAX * sizeof(*lanes));
	if (assembly->resumed != NULL)
		memcpy(assembly->resumed, lanes, WH_SPLIT_LANES_MAX * sizeof(*lanes));
	wh_assembly_set_row(assembly, row);
}

int wh_assembly_stage(struct wh_assemblies *all, struct wh_assembly *assembly,
	const struct wh_assembly_staged *staged)
{
	int folder_fd = fcntl(staged->folder_fd, F_DUPFD_CLOEXEC, 0);
	int lock_fd = staged->lock_fd < 0 ? -1 : fcntl(staged->lock_fd, F_DUPFD_CLOEXEC, 0);

	if (folder_fd < 0 || (staged->lock_fd >= 0 && lock_fd < 0)) {
		int error = -errno;

		if (folder_fd >= 0)
			close(folder_fd);
		return error;
	}
	WH_HOLD(&all->lock);
	WH_ASSERT(assembly->folder_fd < 0 && assembly->lead != 0);
	assembly->folder_fd = folder_fd;
	assembly->lock_fd = lock_fd;
	assembly->number = staged->number;
	assembly->inode = staged->inode;
	if (wh_assembly_verdict(assembly) == WH_VERDICT_NONE)
		decide(assembly, WH_VERDICT_SEND);
	else
		close_both(assembly);
	return 0;
}

void wh_assembly_skip(struct wh_assemblies *all, struct wh_assembly *assembly)
{
	WH_HOLD(&all->lock);
	if (wh_assembly_verdict(assembly) == WH_VERDICT_NONE)
		decide(assembly, WH_VERDICT_SKIP);
}

/* Only with SEND. */
static int open_staged(const struct wh_assembly *assembly, int *lock_fd)
{
	int fd = wh_stage_open_in(assembly->folder_fd, assembly->number, assembly->inode);

	if (fd < 0 || assembly->lock_fd < 0)
		return fd;
	*lock_fd = fcntl(assembly->lock_fd, F_DUPFD_CLOEXEC, 0);
	if (*lock_fd >= 0)
		return fd;

	int error = -errno;

	close(fd);
	return error;
}

int wh_assembly_open(struct wh_assemblies *all, const struct wh_assembly *assembly, int *lock_fd)
{
	int fd = -ECANCELED;

	*lock_fd = -1;
	WH_HOLD(&all->lock);
	if (wh_assembly_verdict(assembly) == WH_VERDICT_SEND)
		fd = open_staged(assembly, lock_fd);
	return fd;
}

void wh_assembly_put_down(struct wh_assembly *assembly, uint32_t lane)
{
	atomic_fetch_or_explicit(&assembly->down, lane_bit(lane), memory_order_acq_rel);
}

bool wh_assembly_is_whole(const struct wh_assemblies *all, const struct wh_assembly *assembly)
{
	return atomic_load_explicit(&assembly->down, memory_order_acquire) == all_lanes(all);
}

void wh_assembly_fail(
	struct wh_assemblies *all, struct wh_assembly *assembly, int error, enum wh_doing doing)
{
	WH_ASSERT(error < 0);
	WH_HOLD(&all->lock);
	fail(assembly, error, doing);
}
