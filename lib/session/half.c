/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/half.h"

#include "base/assert.h"
#include "base/clock.h"
#include "track/alloc.h"

#define WORD_BITS    64
#define BITSET_LEAST 64

/* One bit more than places, for wh_half_unplaced. */
static uint32_t kick_words(const struct wh_half *half)
{
	return half->all_places / WORD_BITS + 1;
}

struct wh_half *wh_half_create(uint64_t hz, uint32_t first, uint32_t places, uint32_t all_places)
{
	struct wh_half *half = wh_track_alloc(1, sizeof(*half));

	WH_ASSERT(places > 0 && (places & (places - 1)) == 0 && first + places <= all_places);
	WH_ASSERT(all_places % WORD_BITS == 0);
	if (half == NULL)
		return NULL;
	half->ahead_tsc = wh_us_to_tsc(hz, WH_HALF_AHEAD_US);
	half->all_places = all_places;
	half->first = first;
	half->places = places;
	half->soonest_tsc = WH_TSC_NEVER;
	half->active = wh_track_alloc(all_places, sizeof(*half->active));
	half->is_active = wh_track_alloc(all_places, sizeof(*half->is_active));
	half->deadline_tsc = wh_track_alloc(places, sizeof(*half->deadline_tsc));
	half->kick = wh_track_alloc(kick_words(half), sizeof(*half->kick));
	if (half->active == NULL || half->is_active == NULL || half->deadline_tsc == NULL ||
		half->kick == NULL ||
		wh_bitset_init(&half->vacant, places > BITSET_LEAST ? places : BITSET_LEAST) != 0) {
		wh_half_destroy(half);
		return NULL;
	}
	for (uint32_t i = 0; i < places; i++) {
		wh_bitset_set(&half->vacant, i);
		half->deadline_tsc[i] = WH_TSC_NEVER;
	}
	return half;
}

void wh_half_destroy(struct wh_half *half)
{
	if (half == NULL)
		return;
	wh_bitset_free(&half->vacant);
	wh_track_free(half->active);
	wh_track_free(half->is_active);
	wh_track_free(half->deadline_tsc);
	wh_track_free((void *)half->kick);
	wh_track_free(half);
}

uint32_t wh_half_offer(struct wh_half *half)
{
	uint32_t i = wh_bitset_next(&half->vacant, half->cursor);

	if (i == WH_BITSET_NONE)
		i = wh_bitset_next(&half->vacant, 0);
	if (i == WH_BITSET_NONE)
		return WH_HALF_FULL;
	half->cursor = (i + 1) & (half->places - 1);
	return half->first + i;
}

static bool is_own(const struct wh_half *half, uint32_t place)
{
	return place - half->first < half->places;
}

bool wh_half_is_vacant(const struct wh_half *half, uint32_t place)
{
	WH_ASSERT(is_own(half, place));
	return wh_bitset_test(&half->vacant, place - half->first);
}

void wh_half_occupy(struct wh_half *half, uint32_t place)
{
	WH_ASSERT(wh_half_is_vacant(half, place));
	wh_bitset_clear(&half->vacant, place - half->first);
	half->tenants++;
}

void wh_half_vacate(struct wh_half *half, uint32_t place)
{
	WH_ASSERT(!wh_half_is_vacant(half, place) && half->tenants > 0);
	wh_bitset_set(&half->vacant, place - half->first);
	half->deadline_tsc[place - half->first] = WH_TSC_NEVER;
	half->tenants--;
}

void wh_half_activate(struct wh_half *half, uint32_t place)
{
	WH_DEBUG_ASSERT(place < half->all_places);
	if (half->is_active[place])
		return;
	half->is_active[place] = true;
	half->active[half->actives++] = place;
	if (is_own(half, place))
		half->deadline_tsc[place - half->first] = WH_TSC_NEVER;
}

static bool take_kicks(struct wh_half *half)
{
	uint32_t words = kick_words(half);

	/* Cleared before the bits are read: whoever sets a bit meanwhile sets `kicked` again. */
	if (!atomic_load_explicit(&half->kicked, memory_order_relaxed) ||
		!atomic_exchange(&half->kicked, false))
		return false;
	for (uint32_t i = 0; i < words; i++) {
		/* Most words are 0, and reading them needs no locked instruction. */
		if (atomic_load_explicit(&half->kick[i], memory_order_relaxed) == 0)
			continue;

		uint64_t kicked = atomic_exchange(&half->kick[i], 0);

		if (i == words - 1)
			return true;
		for (; kicked != 0; kicked &= kicked - 1)
			wh_half_activate(half, i * WORD_BITS + (uint32_t)__builtin_ctzll(kicked));
	}
	return false;
}

static void wake_due(struct wh_half *half, uint64_t now_tsc)
{
	uint64_t horizon_tsc = now_tsc + half->ahead_tsc;
	uint64_t soonest_tsc = WH_TSC_NEVER;

	if (now_tsc < half->soonest_tsc)
		return;
	for (uint32_t i = 0; i < half->places; i++) {
		if (half->deadline_tsc[i] <= horizon_tsc)
			wh_half_activate(half, half->first + i);
		else
			soonest_tsc = wh_min_u64(soonest_tsc, half->deadline_tsc[i]);
	}
	half->soonest_tsc = soonest_tsc;
}

bool wh_half_begin_turn(struct wh_half *half, uint64_t now_tsc)
{
	/* From here on the other half's sessions of the last turn are not used any more. */
	atomic_fetch_add(&half->turn, 1);
	wake_due(half, now_tsc);
	return take_kicks(half);
}

bool wh_half_stays(struct wh_half *half, uint32_t i, uint64_t now_tsc, uint64_t deadline_tsc)
{
	uint32_t place = half->active[i];

	WH_DEBUG_ASSERT(i < half->actives && half->is_active[place]);
	if (deadline_tsc <= now_tsc + half->ahead_tsc)
		return true;
	half->is_active[place] = false;
	half->active[i] = half->active[--half->actives];
	if (is_own(half, place)) {
		half->deadline_tsc[place - half->first] = deadline_tsc;
		half->soonest_tsc = wh_min_u64(half->soonest_tsc, deadline_tsc);
	}
	return false;
}

uint64_t wh_half_deadline(const struct wh_half *half)
{
	bool kicked = atomic_load_explicit(&half->kicked, memory_order_relaxed);

	return kicked ? 0 : half->soonest_tsc;
}
