/* SPDX-License-Identifier: BSD-3-Clause */
#include "journal/holds.h"

#include "base/assert.h"

void wh_holds_init(struct wh_holds *holds)
{
	wh_spin_init(&holds->lock);
	holds->first = NULL;
}

void wh_holds_add(struct wh_holds *holds, struct wh_hold *hold, int64_t row)
{
	WH_ASSERT(row != 0 && hold->row == 0);
	hold->row = row;
	atomic_store_explicit(&hold->is_wanted, false, memory_order_relaxed);
	WH_HOLD(&holds->lock);
	hold->next = holds->first;
	holds->first = hold;
}

void wh_holds_remove(struct wh_holds *holds, struct wh_hold *hold)
{
	struct wh_hold **at = &holds->first;

	if (hold->row == 0)
		return;
	wh_spin_lock(&holds->lock);
	while (*at != hold)
		at = &(*at)->next;
	*at = hold->next;
	wh_spin_unlock(&holds->lock);
	hold->row = 0;
	atomic_store_explicit(&hold->is_wanted, false, memory_order_relaxed);
}

bool wh_holds_want(struct wh_holds *holds, int64_t row)
{
	bool found = false;

	WH_HOLD(&holds->lock);
	for (struct wh_hold *hold = holds->first; hold != NULL; hold = hold->next) {
		if (hold->row != row)
			continue;
		atomic_store_explicit(&hold->is_wanted, true, memory_order_release);
		found = true;
	}
	return found;
}
