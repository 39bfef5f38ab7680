/* SPDX-License-Identifier: BSD-3-Clause */
#include "port/neighbour_internal.h"

/* A probe asks itself, then all of the link. */
#define PROBE_ASKS (2 * WH_NEIGHBOUR_ASKS)

bool wh_neighbour_entry_asking(const struct wh_neighbour_entry *entry)
{
	return entry->state == WH_NEIGHBOUR_INCOMPLETE || entry->state == WH_NEIGHBOUR_PROBE;
}

bool wh_neighbour_entry_has_mac(const struct wh_neighbour_entry *entry)
{
	return entry->state == WH_NEIGHBOUR_REACHABLE || entry->state == WH_NEIGHBOUR_STALE ||
	       entry->state == WH_NEIGHBOUR_PROBE;
}

struct wh_neighbour_entry *wh_neighbour_find(
	struct wh_neighbour *neighbour, const struct wh_address *address)
{
	for (uint32_t i = 0; i < WH_NEIGHBOUR_ENTRIES; i++) {
		struct wh_neighbour_entry *entry = &neighbour->entry[i];

		if (entry->state != WH_NEIGHBOUR_FREE && entry->address.family == address->family &&
			memcmp(entry->address.ip, address->ip, sizeof(address->ip)) == 0)
			return entry;
	}
	return NULL;
}

/* Nobody ever looked it up, or not for longer; of the former, the one silent for longer. */
static bool is_less_use(const struct wh_neighbour_entry *a, const struct wh_neighbour_entry *b)
{
	if (a->wanted != b->wanted)
		return !a->wanted;
	return a->wanted ? a->wanted_tsc < b->wanted_tsc : a->heard_tsc < b->heard_tsc;
}

/* The entry for a new address, still free; NULL: all others are in use. */
static struct wh_neighbour_entry *create(
	struct wh_neighbour *neighbour, uint64_t now_tsc, const struct wh_address *address)
{
	uint64_t in_use_tsc = wh_neighbour_ms_to_tsc(neighbour, WH_NEIGHBOUR_IN_USE_MS);
	struct wh_neighbour_entry *least = NULL;

	for (uint32_t i = 0; i < WH_NEIGHBOUR_ENTRIES; i++) {
		struct wh_neighbour_entry *entry = &neighbour->entry[i];

		if (entry->state == WH_NEIGHBOUR_FREE) {
			least = entry;
			break;
		}
		if (entry->wanted && now_tsc < wh_add_u64(entry->wanted_tsc, in_use_tsc))
			continue;
		if (least == NULL || is_less_use(entry, least))
			least = entry;
	}
	if (least == NULL)
		return NULL;
	neighbour->stats.replaced += least->state != WH_NEIGHBOUR_FREE;
	*least = (struct wh_neighbour_entry){.address = *address};
	return least;
}

/* At most one question per entry and WH_NEIGHBOUR_REPEAT_MS, whatever others claim. */
static void start_asking(struct wh_neighbour *neighbour, uint64_t now_tsc,
	struct wh_neighbour_entry *entry, enum wh_neighbour_state state)
{
	entry->state = state;
	entry->asks = 0;
	entry->due_tsc = wh_max_u64(now_tsc, entry->asked_until_tsc);
	neighbour->ask_tsc = wh_min_u64(neighbour->ask_tsc, entry->due_tsc);
}

enum wh_neighbour_way wh_neighbour_use(struct wh_neighbour *neighbour, uint64_t now_tsc,
	const struct wh_address *address, uint8_t mac[6])
{
	struct wh_neighbour_entry *entry = wh_neighbour_find(neighbour, address);

	if (entry == NULL) {
		entry = create(neighbour, now_tsc, address);
		if (entry == NULL)
			return WH_NEIGHBOUR_FULL;
		start_asking(neighbour, now_tsc, entry, WH_NEIGHBOUR_INCOMPLETE);
	}
	entry->wanted = true;
	entry->wanted_tsc = now_tsc;

	bool over = now_tsc >= entry->until_tsc;

	if (entry->state == WH_NEIGHBOUR_STALE || (entry->state == WH_NEIGHBOUR_REACHABLE && over))
		start_asking(neighbour, now_tsc, entry, WH_NEIGHBOUR_PROBE);
	else if (entry->state == WH_NEIGHBOUR_FAILED && over)
		start_asking(neighbour, now_tsc, entry, WH_NEIGHBOUR_INCOMPLETE);

	if (!wh_neighbour_entry_has_mac(entry))
		return entry->state == WH_NEIGHBOUR_FAILED ? WH_NEIGHBOUR_SILENT
							   : WH_NEIGHBOUR_ASKED;
	memcpy(mac, entry->mac, sizeof(entry->mac));
	return WH_NEIGHBOUR_FOUND;
}

bool wh_neighbour_learn(struct wh_neighbour *neighbour, uint64_t now_tsc,
	const struct wh_address *address, const uint8_t mac[6], enum wh_claim claim)
{
	struct wh_neighbour_entry *entry = wh_neighbour_find(neighbour, address);

	WH_ASSERT(wh_mac_is_host(mac));
	WH_ASSERT(!wh_neighbour_is_own(neighbour, address->family, address->ip));
	if (entry == NULL) {
		if (claim != WH_CLAIM_QUESTION ||
			!wh_neighbour_on_link(&neighbour->config, address->family, address->ip))
			return false;
		entry = create(neighbour, now_tsc, address);
		if (entry == NULL) {
			neighbour->stats.not_stored++;
			return false;
		}
	}

	bool news = !wh_neighbour_entry_has_mac(entry) || !wh_mac_equal(entry->mac, mac);

	memcpy(entry->mac, mac, sizeof(entry->mac));
	entry->heard_tsc = now_tsc;
	if (claim == WH_CLAIM_ANSWER && wh_neighbour_entry_asking(entry)) {
		entry->state = WH_NEIGHBOUR_REACHABLE;
		entry->until_tsc = wh_add_u64(
			now_tsc, wh_neighbour_ms_to_tsc(neighbour, WH_NEIGHBOUR_FRESH_MS));
	} else if (entry->state == WH_NEIGHBOUR_INCOMPLETE) {
		entry->state = WH_NEIGHBOUR_PROBE;
	} else if (news && entry->state != WH_NEIGHBOUR_PROBE) {
		entry->state = WH_NEIGHBOUR_STALE;
	}
	wh_neighbour_wake_echo(neighbour);
	return true;
}

static void fail(struct wh_neighbour *neighbour, uint64_t now_tsc, struct wh_neighbour_entry *entry)
{
	entry->state = WH_NEIGHBOUR_FAILED;
	entry->until_tsc =
		wh_add_u64(now_tsc, wh_neighbour_ms_to_tsc(neighbour, WH_NEIGHBOUR_FAILED_MS));
	wh_neighbour_wake_echo(neighbour);
}

struct wh_neighbour_entry *wh_neighbour_next_ask(struct wh_neighbour *neighbour, uint64_t now_tsc)
{
	uint64_t next_tsc = WH_TSC_NEVER;

	if (now_tsc < neighbour->ask_tsc)
		return NULL;
	for (uint32_t i = 0; i < WH_NEIGHBOUR_ENTRIES; i++) {
		struct wh_neighbour_entry *entry = &neighbour->entry[i];
		uint8_t asks = entry->state == WH_NEIGHBOUR_PROBE ? PROBE_ASKS : WH_NEIGHBOUR_ASKS;

		if (!wh_neighbour_entry_asking(entry))
			continue;
		if (now_tsc < entry->due_tsc)
			next_tsc = wh_min_u64(next_tsc, entry->due_tsc);
		else if (entry->asks < asks)
			return entry;
		else
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
	WH_ASSERT(wh_neighbour_entry_asking(entry));
	WH_ASSERT(now_tsc >= entry->due_tsc);
	entry->asks++;
	entry->due_tsc =
		wh_add_u64(now_tsc, wh_neighbour_ms_to_tsc(neighbour, WH_NEIGHBOUR_REPEAT_MS));
	entry->asked_until_tsc = entry->due_tsc;
	neighbour->stats.asked_pkts++;
}
