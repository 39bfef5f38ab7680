/* SPDX-License-Identifier: BSD-3-Clause */

/* Answers to questions of other hosts: the queue in which they wait, and its rate limits. */

#include "neighbour/neighbour_internal.h"

/* Room for answers to strangers. The rest is reserved for known peers. */
#define STRANGERS_ANSWERS (WH_NEIGHBOUR_ANSWERS * 3 / 4)

/* Most answers to one MAC in a burst. */
#define SOURCE_AT_ONCE 10

/* Rate limit bucket of a MAC. */
static uint32_t place_of(const uint8_t mac[6])
{
	uint32_t hash = 0;

	for (uint32_t i = 0; i < 6; i++)
		hash = hash * 31 + mac[i];
	return (hash ^ hash >> 13) % WH_NEIGHBOUR_SOURCES;
}

/* Token bucket of at_once answers, filled at per_s, as a time up to which it is used. */
static bool is_over(const struct wh_neighbour *neighbour, uint64_t now_tsc, uint64_t paid_tsc,
	uint32_t per_s, uint32_t at_once)
{
	return paid_tsc > wh_add_u64(now_tsc, (at_once - 1) * (neighbour->config.hz / per_s));
}

bool wh_neighbour_is_limited(const struct wh_neighbour *neighbour, uint64_t now_tsc,
	uint64_t paid_tsc, const uint8_t mac[6])
{
	if (mac != NULL && is_over(neighbour, now_tsc, neighbour->source_paid_tsc[place_of(mac)],
				   WH_NEIGHBOUR_SOURCE_PER_S, SOURCE_AT_ONCE))
		return true;
	return is_over(
		neighbour, now_tsc, paid_tsc, WH_NEIGHBOUR_ANSWERS_PER_S, WH_NEIGHBOUR_ANSWERS);
}

static void charge(
	const struct wh_neighbour *neighbour, uint64_t now_tsc, uint64_t *paid_tsc, uint32_t per_s)
{
	*paid_tsc = wh_add_u64(wh_max_u64(*paid_tsc, now_tsc), neighbour->config.hz / per_s);
}

void wh_neighbour_charge(
	struct wh_neighbour *neighbour, uint64_t now_tsc, uint64_t *paid_tsc, const uint8_t mac[6])
{
	charge(neighbour, now_tsc, paid_tsc, WH_NEIGHBOUR_ANSWERS_PER_S);
	if (mac != NULL)
		charge(neighbour, now_tsc, &neighbour->source_paid_tsc[place_of(mac)],
			WH_NEIGHBOUR_SOURCE_PER_S);
}

struct wh_slot *wh_neighbour_answer_begin(struct wh_neighbour *neighbour, uint32_t most)
{
	if (wh_slot_fifo_count(&neighbour->answers) >= most)
		return NULL;
	return wh_slot_fifo_reserve(&neighbour->answers);
}

struct wh_slot *wh_neighbour_admit(struct wh_neighbour *neighbour, uint64_t now_tsc,
	const struct wh_address *asker, const uint8_t mac[6], enum wh_neighbour_reason *reason)
{
	bool known = wh_neighbour_knows(neighbour, asker, mac);
	uint64_t *paid_tsc = known ? &neighbour->known_paid_tsc : &neighbour->stranger_paid_tsc;

	*reason = WH_NEIGHBOUR_LIMITED;
	if (wh_neighbour_is_limited(neighbour, now_tsc, *paid_tsc, known ? NULL : mac))
		return NULL;
	wh_neighbour_charge(neighbour, now_tsc, paid_tsc, known ? NULL : mac);
	*reason = WH_NEIGHBOUR_NO_ROOM;
	return wh_neighbour_answer_begin(
		neighbour, known ? WH_NEIGHBOUR_ANSWERS : STRANGERS_ANSWERS);
}

void wh_neighbour_answer_end(
	struct wh_neighbour *neighbour, uint64_t now_tsc, struct wh_slot *slot, size_t bytes)
{
	WH_ASSERT(bytes <= neighbour->frame_bytes_max);
	slot->when_tsc = now_tsc;
	slot->bytes = (uint32_t)bytes;
	wh_slot_fifo_commit(&neighbour->answers);
	neighbour->stats.answered_pkts++;
}
