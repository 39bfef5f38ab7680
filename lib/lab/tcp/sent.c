/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab/tcp/sent.h"

#include <stdlib.h>

#include "base/assert.h"
#include "lab/sim/sim_memory.h"

#define SLOTS_FIRST 64

void wh_sim_sent_init(struct wh_sim_sent *sent)
{
	*sent = (struct wh_sim_sent){.oldest = WH_SIM_NO_PN, .newest = WH_SIM_NO_PN};
}

void wh_sim_sent_free(struct wh_sim_sent *sent)
{
	free(sent->slot);
	wh_sim_ranges_free(&sent->sacked);
	wh_sim_ranges_free(&sent->lost);
}

static void check(const struct wh_sim_sent *sent)
{
	WH_DEBUG_ASSERT(sent->una <= sent->end);
	WH_ASSERT(sent->retransmitted_pkts <= sent->lost_pkts);
	WH_ASSERT(sent->sacked_pkts + sent->lost_pkts <= sent->end - sent->una);
}

static void make_room(struct wh_sim_sent *sent)
{
	if (sent->slots != 0 && sent->end - sent->una < sent->slots)
		return;

	struct wh_sim_sent before = *sent;

	sent->slots = before.slots == 0 ? SLOTS_FIRST : 2 * before.slots;
	sent->slot = wh_sim_allocate(sent->slots * sizeof(sent->slot[0]));
	for (uint64_t s = sent->una; s < sent->end; s++)
		*wh_sim_sent_slot(sent, s) = *wh_sim_sent_slot(&before, s);
	free(before.slot);
}

static void unlist(struct wh_sim_sent *sent, uint64_t pn)
{
	struct wh_sim_sent_slot *slot = wh_sim_sent_slot(sent, pn);

	if (!slot->listed)
		return;
	slot->listed = false;
	if (slot->earlier == WH_SIM_NO_PN)
		sent->oldest = slot->later;
	else
		wh_sim_sent_slot(sent, slot->earlier)->later = slot->later;
	if (slot->later == WH_SIM_NO_PN)
		sent->newest = slot->earlier;
	else
		wh_sim_sent_slot(sent, slot->later)->earlier = slot->earlier;
}

static void list_last(struct wh_sim_sent *sent, uint64_t pn)
{
	struct wh_sim_sent_slot *slot = wh_sim_sent_slot(sent, pn);

	WH_ASSERT(!slot->listed);
	slot->listed = true;
	slot->earlier = sent->newest;
	slot->later = WH_SIM_NO_PN;
	if (sent->newest == WH_SIM_NO_PN)
		sent->oldest = pn;
	else
		wh_sim_sent_slot(sent, sent->newest)->later = pn;
	sent->newest = pn;
}

struct wh_sim_sent_slot *wh_sim_sent_note(struct wh_sim_sent *sent, uint64_t now_ps, uint64_t pn)
{
	bool first = pn == sent->end;

	WH_ASSERT(pn >= sent->una && pn <= sent->end);
	if (first) {
		make_room(sent);
		sent->end++;
		*wh_sim_sent_slot(sent, pn) = (struct wh_sim_sent_slot){0};
	}

	struct wh_sim_sent_slot *slot = wh_sim_sent_slot(sent, pn);

	WH_ASSERT(!slot->sacked);
	slot->twice = !first;
	if (slot->lost && !slot->again) {
		slot->again = true;
		sent->retransmitted_pkts++;
	}
	slot->sent_ps = now_ps;
	unlist(sent, pn);
	list_last(sent, pn);
	check(sent);
	return slot;
}

uint64_t wh_sim_sent_unsacked(const struct wh_sim_sent *sent, uint64_t pn, uint64_t end)
{
	const struct wh_sim_sack *range = wh_sim_ranges_find(&sent->sacked, pn);

	if (range != NULL)
		pn = range->end;
	return pn < end ? pn : end;
}

/* The segment is no longer in flight, whichever transmission has arrived. */
static void settle(struct wh_sim_sent *sent, uint64_t pn)
{
	struct wh_sim_sent_slot *slot = wh_sim_sent_slot(sent, pn);

	sent->lost_pkts -= slot->lost;
	sent->retransmitted_pkts -= slot->again;
	slot->lost = slot->again = false;
	unlist(sent, pn);
}

void wh_sim_sent_pass(struct wh_sim_sent *sent)
{
	WH_ASSERT(sent->una < sent->end);
	settle(sent, sent->una);
	sent->sacked_pkts -= wh_sim_sent_slot(sent, sent->una)->sacked;
	sent->una++;
	check(sent);
}

void wh_sim_sent_sack(struct wh_sim_sent *sent, uint64_t pn)
{
	struct wh_sim_sent_slot *slot = wh_sim_sent_slot(sent, pn);

	WH_ASSERT(pn > sent->una && pn < sent->end && !slot->sacked);
	settle(sent, pn);
	slot->sacked = true;
	sent->sacked_pkts++;
	check(sent);
}

void wh_sim_sent_lose(struct wh_sim_sent *sent, uint64_t pn)
{
	struct wh_sim_sent_slot *slot = wh_sim_sent_slot(sent, pn);

	WH_ASSERT(pn >= sent->una && pn < sent->end && !slot->sacked);
	WH_ASSERT(!slot->lost || slot->again);
	sent->lost_ever_pkts++;
	sent->lost_pkts += !slot->lost;
	sent->retransmitted_pkts -= slot->again;
	slot->lost = true;
	slot->again = false;
	unlist(sent, pn);
	wh_sim_ranges_add(&sent->lost, pn, pn + 1);
	check(sent);
}

static bool wants_again(const struct wh_sim_sent *sent, uint64_t pn)
{
	const struct wh_sim_sent_slot *slot = wh_sim_sent_slot(sent, pn);

	return pn >= sent->una && slot->lost && !slot->again;
}

uint64_t wh_sim_sent_lowest_lost(struct wh_sim_sent *sent)
{
	wh_sim_ranges_forget(&sent->lost, sent->una);
	while (sent->lost.count > 0) {
		uint64_t pn = sent->lost.range[0].first;

		if (wants_again(sent, pn))
			return pn;
		wh_sim_ranges_forget(&sent->lost, pn + 1);
	}
	return WH_SIM_NO_PN;
}

void wh_sim_sent_lose_none(struct wh_sim_sent *sent)
{
	wh_sim_ranges_clear(&sent->lost);
	for (uint64_t s = sent->una; s < sent->end; s++) {
		struct wh_sim_sent_slot *slot = wh_sim_sent_slot(sent, s);

		slot->lost = slot->again = false;
		if (!slot->sacked && !slot->listed)
			list_last(sent, s);
	}
	sent->lost_pkts = sent->retransmitted_pkts = 0;
	check(sent);
}
