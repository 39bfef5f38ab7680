/* SPDX-License-Identifier: BSD-3-Clause */

/* Rights and charges of peers that may be offline while their orders run. */

#include <string.h>

#include "trust/trust_store.h"

bool wh_store_owner(struct wh_store *store, uint64_t number, uint8_t owner[WH_IDENTITY_BYTES])
{
	bool found = number == WH_RIGHTS_OWN;

	if (found)
		memcpy(owner, store->own_id, WH_IDENTITY_BYTES);
	WH_HOLD(&store->lock);
	for (uint32_t i = 0; i < WH_ANSWERS_MAX && !found; i++) {
		const struct wh_answer *answer = &store->answer[i];

		if (answer->number != number || number == 0 || answer->withdrawn)
			continue;
		memcpy(owner, answer->owner, WH_IDENTITY_BYTES);
		found = true;
	}
	return found;
}

/*
 * Whether the certificates that the owner has shown to this process have all expired or been
 * revoked. Under the lock.
 */
static bool has_lost_certificates(
	const struct wh_store *store, const uint8_t owner[WH_IDENTITY_BYTES])
{
	bool lost = false;

	for (uint32_t i = 0; i < WH_ANSWERS_MAX; i++) {
		const struct wh_answer *answer = &store->answer[i];

		if (answer->number == 0 || answer->certificate == NULL ||
			memcmp(answer->owner, owner, WH_IDENTITY_BYTES) != 0)
			continue;
		if (!answer->withdrawn)
			return false;
		lost |= answer->disowned;
	}
	return lost;
}

/* If the name now belongs to another key, it is another peer. */
bool wh_store_rights_of(struct wh_store *store, const char *name,
	const uint8_t owner[WH_IDENTITY_BYTES], struct wh_rights *rights)
{
	const struct wh_peer_file *peer;
	bool found;

	wh_rights_init(rights);
	rights->orders = true;
	rights->orders_delete = true;
	if (name[0] == '\0')
		return memcmp(owner, store->own_id, WH_IDENTITY_BYTES) == 0;
	WH_HOLD(&store->lock);
	peer = wh_peer_list_named(&store->list, name);
	found = peer != NULL && (peer->has_key ? memcmp(peer->id, owner, WH_IDENTITY_BYTES) == 0
					       : !has_lost_certificates(store, owner));
	if (found)
		*rights = peer->rights;
	return found;
}

bool wh_store_charge(struct wh_store *store, const uint8_t owner[WH_IDENTITY_BYTES],
	const struct wh_rights *rights, uint64_t bytes)
{
	if (memcmp(owner, store->own_id, WH_IDENTITY_BYTES) == 0)
		return true;
	WH_HOLD(&store->lock);
	return wh_days_add(store->days, owner, bytes, wh_days_clock_s()) < rights->day_bytes;
}
