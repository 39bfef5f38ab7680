/* SPDX-License-Identifier: BSD-3-Clause */
#include "guard/refusals.h"

#include <stdio.h>
#include <string.h>

#include "base/assert.h"

void wh_refusals_init(struct wh_refusals *refusals)
{
	*refusals = (struct wh_refusals){0};
	wh_spin_init(&refusals->lock);
}

/* The place of a refusal; NULL: count it among the others. Under the lock. */
static struct wh_refusal *place_of(struct wh_refusals *refusals, const struct wh_refusal *sought)
{
	for (uint32_t i = 0; i < refusals->count; i++) {
		struct wh_refusal *kept = &refusals->kept[i];

		if (kept->outcome == sought->outcome &&
			wh_address_equal(&kept->peer, &sought->peer) &&
			memcmp(kept->identity, sought->identity, sizeof(kept->identity)) == 0)
			return kept;
	}
	if (refusals->count == WH_REFUSALS_KEPT)
		return NULL;
	refusals->kept[refusals->count] = *sought;
	return &refusals->kept[refusals->count++];
}

/* Under the lock. */
static void count(struct wh_refusals *refusals, const char *outcome)
{
	uint32_t i = 0;

	while (i < WH_REFUSAL_OUTCOMES - 1 && refusals->total[i].outcome != NULL &&
		strcmp(refusals->total[i].outcome, outcome) != 0)
		i++;
	if (refusals->total[i].outcome == NULL)
		refusals->total[i].outcome = i < WH_REFUSAL_OUTCOMES - 1 ? outcome : "other";
	refusals->total[i].times++;
}

void wh_refusals_note(struct wh_refusals *refusals, const struct wh_address *peer,
	const uint8_t *identity, const char *outcome, const char *why)
{
	struct wh_refusal sought = {.peer = *peer, .outcome = outcome};

	WH_ASSERT(outcome != NULL && peer->family != 0);
	sought.peer.port = 0;
	if (identity != NULL)
		memcpy(sought.identity, identity, sizeof(sought.identity));
	snprintf(sought.why, sizeof(sought.why), "%s", why);
	WH_HOLD(&refusals->lock);

	struct wh_refusal *place = place_of(refusals, &sought);

	if (place != NULL)
		place->times++;
	else
		refusals->others++;
	count(refusals, outcome);
}

bool wh_refusals_take(struct wh_refusals *refusals, struct wh_refusal *refusal)
{
	bool found = true;

	WH_HOLD(&refusals->lock);
	if (refusals->count > 0) {
		*refusal = refusals->kept[--refusals->count];
	} else {
		*refusal = (struct wh_refusal){.times = refusals->others};
		found = refusals->others > 0;
		refusals->others = 0;
	}
	return found;
}

void wh_refusals_totals(
	struct wh_refusals *refusals, struct wh_refusal_total total[WH_REFUSAL_OUTCOMES])
{
	WH_HOLD(&refusals->lock);
	memcpy(total, refusals->total, sizeof(refusals->total));
}
