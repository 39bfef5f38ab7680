/* SPDX-License-Identifier: BSD-3-Clause */
#include "job/convoy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

void wh_convoys_init(struct wh_convoys *convoys)
{
	wh_spin_init(&convoys->lock);
	LIST_INIT(&convoys->list);
}

static struct wh_convoy *find(const struct wh_convoys *convoys, const struct wh_convoy *sought)
{
	struct wh_convoy *convoy;

	LIST_FOREACH(convoy, &convoys->list, next)
	if (convoy->number == sought->number && convoy->lanes == sought->lanes &&
		wh_address_equal(&convoy->peer, &sought->peer) &&
		memcmp(convoy->identity, sought->identity, sizeof(convoy->identity)) == 0)
		return convoy;
	return NULL;
}

/* Under the lock: lanes that have left had joined, and at least one is still there. */
static void check(const struct wh_convoy *convoy)
{
	WH_ASSERT(convoy->lanes > 1 && convoy->lanes <= 64);
	WH_ASSERT(convoy->lanes == 64 || convoy->joined >> convoy->lanes == 0);
	WH_ASSERT((convoy->left & ~convoy->joined) == 0 && convoy->left != convoy->joined);
}

/* Under the lock. NULL: out of memory. */
static struct wh_convoy *add(struct wh_convoys *convoys, const struct wh_convoy *sought)
{
	struct wh_convoy *convoy = malloc(sizeof(*convoy));

	if (convoy == NULL)
		return NULL;
	*convoy = *sought;
	wh_splits_init(&convoy->splits, convoy->lanes);
	wh_assemblies_init(&convoy->assemblies, convoy->lanes);
	LIST_INSERT_HEAD(&convoys->list, convoy, next);
	return convoy;
}

int wh_convoy_join(struct wh_convoys *convoys, uint64_t number, const struct wh_who *who,
	uint32_t lane, uint32_t lanes, struct wh_convoy **result)
{
	struct wh_convoy sought = {.number = number, .peer = *who->address, .lanes = lanes};
	int rc = 0;

	WH_ASSERT(lane < lanes && lanes <= 64);
	sought.peer.port = 0;
	if (who->identity != NULL)
		memcpy(sought.identity, who->identity, sizeof(sought.identity));
	wh_spin_lock(&convoys->lock);

	struct wh_convoy *convoy = find(convoys, &sought);

	if (convoy == NULL)
		convoy = add(convoys, &sought);
	if (convoy == NULL) {
		rc = -ENOMEM;
	} else if (convoy->joined & UINT64_C(1) << lane) {
		rc = -EEXIST;
	} else {
		convoy->joined |= UINT64_C(1) << lane;
		check(convoy);
		*result = convoy;
	}
	wh_spin_unlock(&convoys->lock);
	return rc;
}

void wh_convoy_leave(struct wh_convoys *convoys, struct wh_convoy *convoy, uint32_t lane)
{
	wh_spin_lock(&convoys->lock);
	check(convoy);
	WH_ASSERT(convoy->joined & ~convoy->left & UINT64_C(1) << lane);
	convoy->left |= UINT64_C(1) << lane;

	bool was_last = convoy->left == convoy->joined;

	if (was_last)
		LIST_REMOVE(convoy, next);
	wh_spin_unlock(&convoys->lock);
	if (!was_last)
		return;
	wh_splits_free(&convoy->splits);
	wh_assemblies_free(&convoy->assemblies);
	free(convoy);
}
