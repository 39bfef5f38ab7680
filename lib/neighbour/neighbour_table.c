/* SPDX-License-Identifier: BSD-3-Clause */

/* The table of neighbours: its states (see neighbour.h), and when which of them is asked. */

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "neighbour/neighbour_internal.h"

/* A probe asks by unicast first, then all of the link. */
#define PROBE_ASKS (2 * WH_NEIGHBOUR_ASKS)

static_assert(PROBE_ASKS <= UINT8_MAX, "wh_neighbour_entry.asks counts as far");
static_assert(WH_NEIGHBOUR_ENTRIES_MAX < UINT16_MAX, "entries are named from 1 on, in 16 bits");

/* Whether it is being asked for. */
static bool is_asked(const struct wh_neighbour_entry *entry)
{
	return entry->state == WH_NEIGHBOUR_INCOMPLETE || entry->state == WH_NEIGHBOUR_PROBE;
}

bool wh_neighbour_entry_has_mac(const struct wh_neighbour_entry *entry)
{
	return entry->state == WH_NEIGHBOUR_REACHABLE || entry->state == WH_NEIGHBOUR_PROBE;
}

int wh_neighbour_table_init(struct wh_neighbour *neighbour)
{
	uint32_t entries = neighbour->config.entries;

	WH_ASSERT(entries > 0 && entries <= WH_NEIGHBOUR_ENTRIES_MAX);
	neighbour->buckets = 1;
	while (neighbour->buckets < entries)
		neighbour->buckets *= 2;
	WH_ASSERT((neighbour->buckets & (neighbour->buckets - 1)) == 0);
	neighbour->entry = calloc(entries, sizeof(*neighbour->entry));
	neighbour->bucket = calloc(neighbour->buckets, sizeof(*neighbour->bucket));
	if (neighbour->entry != NULL && neighbour->bucket != NULL)
		return 0;
	wh_neighbour_table_free(neighbour);
	return -ENOMEM;
}

void wh_neighbour_table_free(struct wh_neighbour *neighbour)
{
	free(neighbour->entry);
	free(neighbour->bucket);
	neighbour->entry = NULL;
	neighbour->bucket = NULL;
}

/* Only our own lookups create entries, so hash collisions cannot be provoked. */
static uint16_t *bucket_of(const struct wh_neighbour *neighbour, const struct wh_address *address)
{
	uint32_t hash = address->family;

	for (size_t i = 0; i < wh_ip_address_bytes(address->family); i++)
		hash = hash * 31 + address->ip[i];
	return &neighbour->bucket[(hash ^ hash >> 13) & (neighbour->buckets - 1)];
}

struct wh_neighbour_entry *wh_neighbour_find(
	const struct wh_neighbour *neighbour, const struct wh_address *address)
{
	uint16_t at = *bucket_of(neighbour, address);

	while (at != 0) {
		WH_ASSERT(at <= neighbour->config.entries);
		struct wh_neighbour_entry *entry = &neighbour->entry[at - 1];

		if (entry->address.family == address->family &&
			memcmp(entry->address.ip, address->ip, sizeof(address->ip)) == 0)
			return entry;
		at = entry->next;
	}
	return NULL;
}

static void unlink_entry(struct wh_neighbour *neighbour, const struct wh_neighbour_entry *entry)
{
	uint16_t *link = bucket_of(neighbour, &entry->address);

	WH_ASSERT(*link != 0);
	while (&neighbour->entry[*link - 1] != entry) {
		link = &neighbour->entry[*link - 1].next;
		WH_ASSERT(*link != 0); /* it is in its bucket */
	}
	*link = entry->next;
}

/* An entry for a new address: a free one, or the one not used for the longest time. */
static struct wh_neighbour_entry *create(
	struct wh_neighbour *neighbour, const struct wh_address *address)
{
	struct wh_neighbour_entry *least = &neighbour->entry[0];
	uint16_t *bucket = bucket_of(neighbour, address);

	for (uint32_t i = 0; i < neighbour->config.entries; i++) {
		struct wh_neighbour_entry *entry = &neighbour->entry[i];

		if (entry->state == WH_NEIGHBOUR_FREE) {
			least = entry;
			break;
		}
		if (entry->wanted_tsc < least->wanted_tsc)
			least = entry;
	}
	if (least->state != WH_NEIGHBOUR_FREE) {
		unlink_entry(neighbour, least);
		neighbour->stats.replaced++;
	}
	*least = (struct wh_neighbour_entry){.address = *address, .next = *bucket};
	*bucket = (uint16_t)(least - neighbour->entry + 1);
	return least;
}

/* Whatever others claim, we begin to ask only WH_NEIGHBOUR_REPEAT_MS after the last question. */
static void start_asking(struct wh_neighbour *neighbour, uint64_t now_tsc,
	struct wh_neighbour_entry *entry, enum wh_neighbour_state state)
{
	entry->state = state;
	WH_ASSERT(is_asked(entry));
	entry->asks = 0;
	entry->replaced = 0;
	entry->due_tsc = wh_max_u64(now_tsc, entry->asked_until_tsc);
	neighbour->ask_tsc = wh_min_u64(neighbour->ask_tsc, entry->due_tsc);
}

enum wh_neighbour_result wh_neighbour_use(struct wh_neighbour *neighbour, uint64_t now_tsc,
	const struct wh_address *address, uint8_t mac[6])
{
	struct wh_neighbour_entry *entry = wh_neighbour_find(neighbour, address);

	if (entry == NULL) {
		entry = create(neighbour, address);
		start_asking(neighbour, now_tsc, entry, WH_NEIGHBOUR_INCOMPLETE);
	}
	entry->wanted_tsc = now_tsc;

	bool over = now_tsc >= entry->until_tsc;

	if (entry->state == WH_NEIGHBOUR_REACHABLE && over)
		start_asking(neighbour, now_tsc, entry, WH_NEIGHBOUR_PROBE);
	else if (entry->state == WH_NEIGHBOUR_FAILED && over)
		start_asking(neighbour, now_tsc, entry, WH_NEIGHBOUR_INCOMPLETE);

	if (!wh_neighbour_entry_has_mac(entry))
		return entry->state == WH_NEIGHBOUR_FAILED ? WH_NEIGHBOUR_SILENT
							   : WH_NEIGHBOUR_ASKED;
	WH_ASSERT(wh_mac_is_host(entry->mac));
	memcpy(mac, entry->mac, sizeof(entry->mac));
	return WH_NEIGHBOUR_FOUND;
}

bool wh_neighbour_knows(const struct wh_neighbour *neighbour, const struct wh_address *address,
	const uint8_t mac[6])
{
	const struct wh_neighbour_entry *entry = wh_neighbour_find(neighbour, address);

	return entry != NULL && wh_neighbour_entry_has_mac(entry) && wh_mac_equal(entry->mac, mac);
}

static void take_answer(struct wh_neighbour *neighbour, uint64_t now_tsc,
	struct wh_neighbour_entry *entry, const uint8_t mac[6])
{
	memcpy(entry->mac, mac, sizeof(entry->mac));
	entry->state = WH_NEIGHBOUR_REACHABLE;
	entry->until_tsc =
		wh_add_u64(now_tsc, wh_neighbour_ms_to_tsc(neighbour, WH_NEIGHBOUR_FRESH_MS));
	wh_neighbour_wake_echo(neighbour);
}

static bool is_claimed(const struct wh_neighbour_entry *entry)
{
	static const uint8_t none[6];

	return !wh_mac_equal(entry->claimant, none);
}

static void note_quarrel(struct wh_neighbour *neighbour, uint64_t now_tsc,
	const struct wh_neighbour_entry *entry, const uint8_t mac[6],
	enum wh_neighbour_quarrel quarrel)
{
	struct wh_neighbour_conflict conflict = {.quarrel = quarrel, .address = entry->address};

	memcpy(conflict.mac, mac, sizeof(conflict.mac));
	memcpy(conflict.known_mac, entry->mac, sizeof(conflict.known_mac));
	(void)wh_neighbour_note_conflict(neighbour, now_tsc, &conflict);
}

/* The known MAC did not answer unicast questions; now all of the link is asked. */
static bool may_move(const struct wh_neighbour_entry *entry)
{
	return entry->state == WH_NEIGHBOUR_PROBE && entry->asks > WH_NEIGHBOUR_ASKS;
}

enum wh_neighbour_reason wh_neighbour_hear(struct wh_neighbour *neighbour, uint64_t now_tsc,
	const struct wh_address *address, const uint8_t mac[6], bool answers)
{
	struct wh_neighbour_entry *entry = wh_neighbour_find(neighbour, address);

	WH_ASSERT(wh_mac_is_host(mac));
	WH_ASSERT(!wh_neighbour_is_own(neighbour, address->family, address->ip));
	if (entry == NULL)
		return WH_NEIGHBOUR_NOT_ASKED;

	bool asked = answers && is_asked(entry) && entry->asks > 0;

	/* The host may be back, so the next lookup asks. */
	if (entry->state == WH_NEIGHBOUR_FAILED)
		entry->until_tsc = wh_min_u64(entry->until_tsc, now_tsc);
	if (!wh_neighbour_entry_has_mac(entry)) {
		if (!asked)
			return WH_NEIGHBOUR_NOT_ASKED;
		take_answer(neighbour, now_tsc, entry, mac);
		return WH_NEIGHBOUR_OK;
	}
	if (wh_mac_equal(entry->mac, mac)) {
		if (!asked)
			return WH_NEIGHBOUR_OK;
		/* Claimed, yet the known MAC answers: two hosts have the address. */
		if (is_claimed(entry))
			note_quarrel(neighbour, now_tsc, entry, entry->claimant,
				WH_NEIGHBOUR_QUARREL_PEERS);
		memset(entry->claimant, 0, sizeof(entry->claimant));
		take_answer(neighbour, now_tsc, entry, mac);
		return WH_NEIGHBOUR_OK;
	}
	if (asked && may_move(entry)) {
		memset(entry->claimant, 0, sizeof(entry->claimant));
		if (!neighbour->config.macs_made_up)
			note_quarrel(neighbour, now_tsc, entry, mac, WH_NEIGHBOUR_QUARREL_MOVED);
		neighbour->stats.moved++;
		take_answer(neighbour, now_tsc, entry, mac);
		return WH_NEIGHBOUR_OK;
	}
	memcpy(entry->claimant, mac, sizeof(entry->claimant));
	/* The next lookup asks the known MAC. */
	entry->until_tsc = wh_min_u64(entry->until_tsc, now_tsc);
	return WH_NEIGHBOUR_CONTESTED;
}

static void fail(struct wh_neighbour *neighbour, uint64_t now_tsc, struct wh_neighbour_entry *entry)
{
	WH_ASSERT(is_asked(entry) && entry->asks >= WH_NEIGHBOUR_ASKS);
	entry->state = WH_NEIGHBOUR_FAILED;
	entry->until_tsc =
		wh_add_u64(now_tsc, wh_neighbour_ms_to_tsc(neighbour, WH_NEIGHBOUR_FAILED_MS));
	wh_neighbour_wake_echo(neighbour);
}

/* If frames were missed the answer may have been among them, so the question does not count. */
static void replace_unheard(
	const struct wh_neighbour *neighbour, struct wh_neighbour_entry *entry, uint64_t now_tsc)
{
	uint64_t wait_tsc = wh_neighbour_ms_to_tsc(neighbour, WH_NEIGHBOUR_REPEAT_MS);
	uint64_t asked_tsc = entry->asked_until_tsc - wait_tsc;

	WH_ASSERT(now_tsc >= entry->due_tsc);
	if (neighbour->missed_tsc == 0 || neighbour->missed_tsc < asked_tsc || entry->asks == 0 ||
		entry->replaced == WH_NEIGHBOUR_REPLACED)
		return;
	entry->asks--;
	entry->replaced++;
}

struct wh_neighbour_entry *wh_neighbour_next_ask(struct wh_neighbour *neighbour, uint64_t now_tsc)
{
	uint64_t next_tsc = WH_TSC_NEVER;

	if (now_tsc < neighbour->ask_tsc)
		return NULL;
	for (uint32_t i = 0; i < neighbour->config.entries; i++) {
		struct wh_neighbour_entry *entry = &neighbour->entry[i];
		uint8_t asks = entry->state == WH_NEIGHBOUR_PROBE ? PROBE_ASKS : WH_NEIGHBOUR_ASKS;

		if (!is_asked(entry))
			continue;
		if (now_tsc < entry->due_tsc) {
			next_tsc = wh_min_u64(next_tsc, entry->due_tsc);
			continue;
		}
		replace_unheard(neighbour, entry, now_tsc);
		if (entry->asks < asks)
			return entry;
		fail(neighbour, now_tsc, entry);
	}
	neighbour->ask_tsc = next_tsc;
	return NULL;
}

bool wh_neighbour_asks_itself(const struct wh_neighbour_entry *entry)
{
	return entry->state == WH_NEIGHBOUR_PROBE && entry->asks < WH_NEIGHBOUR_ASKS;
}

void wh_neighbour_asked(
	struct wh_neighbour *neighbour, uint64_t now_tsc, struct wh_neighbour_entry *entry)
{
	WH_ASSERT(is_asked(entry));
	WH_ASSERT(now_tsc >= entry->due_tsc);

	uint32_t wait_ms =
		wh_neighbour_asks_itself(entry) ? WH_NEIGHBOUR_PROBE_MS : WH_NEIGHBOUR_REPEAT_MS;

	entry->asks++;
	WH_ASSERT(entry->asks <= PROBE_ASKS);
	entry->due_tsc = wh_add_u64(now_tsc, wh_neighbour_ms_to_tsc(neighbour, wait_ms));
	entry->asked_until_tsc =
		wh_add_u64(now_tsc, wh_neighbour_ms_to_tsc(neighbour, WH_NEIGHBOUR_REPEAT_MS));
	neighbour->stats.asked_pkts++;
}
