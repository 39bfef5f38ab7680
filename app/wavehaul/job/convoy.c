/* SPDX-License-Identifier: BSD-3-Clause */
#include "job/convoy.h"

#include <errno.h>
#include <stdlib.h>

#include "base/assert.h"

void wh_convoys_init(struct wh_convoys *convoys)
{
	rte_spinlock_init(&convoys->lock);
	LIST_INIT(&convoys->list);
}

static struct wh_convoy *find(const struct wh_convoys *convoys, uint64_t number,
	const struct wh_address *peer, uint32_t lanes)
{
	struct wh_convoy *convoy;

	LIST_FOREACH(convoy, &convoys->list, next)
	if (convoy->number == number && convoy->lanes == lanes &&
		wh_address_equal(&convoy->peer, peer))
		return convoy;
	return NULL;
}

/* Under the lock: who leaves has come, and somebody is still there. */
static void check(const struct wh_convoy *convoy)
{
	WH_ASSERT(convoy->lanes > 1 && convoy->lanes <= 64);
	WH_ASSERT(convoy->lanes == 64 || convoy->joined >> convoy->lanes == 0);
	WH_ASSERT((convoy->left & ~convoy->joined) == 0 && convoy->left != convoy->joined);
}

/* The one that is there, or `fresh`. NULL: there is none, and no memory. */
static struct wh_convoy *find_or_add(
	struct wh_convoys *convoys, const struct wh_convoy *key, struct wh_convoy **fresh)
{
	struct wh_convoy *convoy = find(convoys, key->number, &key->peer, key->lanes);

	if (convoy != NULL || *fresh == NULL)
		return convoy;
	convoy = *fresh;
	*fresh = NULL;
	convoy->number = key->number;
	convoy->peer = key->peer;
	convoy->lanes = key->lanes;
	wh_splits_init(&convoy->splits, key->lanes);
	wh_assemblies_init(&convoy->assemblies, key->lanes);
	LIST_INSERT_HEAD(&convoys->list, convoy, next);
	return convoy;
}

int wh_convoy_join(struct wh_convoys *convoys, uint64_t number, const struct wh_address *peer,
	uint32_t lane, uint32_t lanes, struct wh_convoy **convoy)
{
	struct wh_convoy *fresh = calloc(1, sizeof(*fresh));
	struct wh_convoy key = {.number = number, .peer = *peer, .lanes = lanes};
	int rc = 0;

	WH_ASSERT(lane < lanes && lanes <= 64);
	key.peer.port = 0;
	rte_spinlock_lock(&convoys->lock);

	struct wh_convoy *found = find_or_add(convoys, &key, &fresh);

	if (found == NULL)
		rc = -ENOMEM;
	else if (found->joined & UINT64_C(1) << lane)
		rc = -EEXIST;
	else
		found->joined |= UINT64_C(1) << lane;
	if (found != NULL)
		check(found);
	rte_spinlock_unlock(&convoys->lock);
	free(fresh);
	if (rc == 0)
		*convoy = found;
	return rc;
}

void wh_convoy_leave(struct wh_convoys *convoys, struct wh_convoy *convoy, uint32_t lane)
{
	rte_spinlock_lock(&convoys->lock);
	check(convoy);
	WH_ASSERT(convoy->joined & ~convoy->left & UINT64_C(1) << lane);
	convoy->left |= UINT64_C(1) << lane;

	bool was_last = convoy->left == convoy->joined;

	if (was_last)
		LIST_REMOVE(convoy, next);
	rte_spinlock_unlock(&convoys->lock);
	if (!was_last)
		return;
	wh_splits_free(&convoy->splits);
	wh_assemblies_free(&convoy->assemblies);
	free(convoy);
}
