/* SPDX-License-Identifier: BSD-3-Clause */
#include "job/lane_group.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

void wh_lane_groups_init(struct wh_lane_groups *lane_groups)
{
	wh_spin_init(&lane_groups->lock);
	LIST_INIT(&lane_groups->list);
}

static struct wh_lane_group *find(
	const struct wh_lane_groups *lane_groups, const struct wh_lane_group *sought)
{
	struct wh_lane_group *lane_group;

	LIST_FOREACH(lane_group, &lane_groups->list, next)
	if (lane_group->number == sought->number && lane_group->lanes == sought->lanes &&
		wh_address_equal(&lane_group->peer, &sought->peer) &&
		memcmp(lane_group->identity, sought->identity, sizeof(lane_group->identity)) == 0)
		return lane_group;
	return NULL;
}

/* The caller holds the lock. Lanes that have left had joined, and at least one is still there. */
static void check(const struct wh_lane_group *lane_group)
{
	WH_ASSERT(lane_group->lanes > 1 && lane_group->lanes <= 64);
	WH_ASSERT(lane_group->lanes == 64 || lane_group->joined >> lane_group->lanes == 0);
	WH_ASSERT((lane_group->left & ~lane_group->joined) == 0 &&
		  lane_group->left != lane_group->joined);
}

/* The caller holds the lock. NULL: out of memory. */
static struct wh_lane_group *add(
	struct wh_lane_groups *lane_groups, const struct wh_lane_group *sought)
{
	struct wh_lane_group *lane_group = malloc(sizeof(*lane_group));

	if (lane_group == NULL)
		return NULL;
	*lane_group = *sought;
	wh_splits_init(&lane_group->splits, lane_group->lanes);
	wh_assemblies_init(&lane_group->assemblies, lane_group->lanes);
	LIST_INSERT_HEAD(&lane_groups->list, lane_group, next);
	return lane_group;
}

int wh_lane_group_join(struct wh_lane_groups *lane_groups, uint64_t number,
	const struct wh_who *who, uint32_t lane, uint32_t lanes, struct wh_lane_group **result)
{
	struct wh_lane_group sought = {.number = number, .peer = *who->address, .lanes = lanes};
	int rc = 0;

	WH_ASSERT(lane < lanes && lanes <= 64);
	sought.peer.port = 0;
	if (who->identity != NULL)
		memcpy(sought.identity, who->identity, sizeof(sought.identity));
	WH_HOLD(&lane_groups->lock);

	struct wh_lane_group *lane_group = find(lane_groups, &sought);

	if (lane_group == NULL)
		lane_group = add(lane_groups, &sought);
	if (lane_group == NULL) {
		rc = -ENOMEM;
	} else if (lane_group->joined & UINT64_C(1) << lane) {
		rc = -EEXIST;
	} else {
		lane_group->joined |= UINT64_C(1) << lane;
		check(lane_group);
		*result = lane_group;
	}
	return rc;
}

void wh_lane_group_leave(
	struct wh_lane_groups *lane_groups, struct wh_lane_group *lane_group, uint32_t lane)
{
	wh_spin_lock(&lane_groups->lock);
	check(lane_group);
	WH_ASSERT(lane_group->joined & ~lane_group->left & UINT64_C(1) << lane);
	lane_group->left |= UINT64_C(1) << lane;

	bool was_last = lane_group->left == lane_group->joined;

	if (was_last)
		LIST_REMOVE(lane_group, next);
	wh_spin_unlock(&lane_groups->lock);
	if (!was_last)
		return;
	wh_splits_free(&lane_group->splits);
	wh_assemblies_free(&lane_group->assemblies);
	free(lane_group);
}
