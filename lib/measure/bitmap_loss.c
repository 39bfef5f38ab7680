/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure/bitmap_loss.h"

#include "base/assert.h"

void wh_bitmap_loss_init(
	struct wh_bitmap_loss *loss, uint64_t first_pn, uint32_t q_pkts, double projected)
{
	WH_ASSERT(q_pkts > 0 && projected >= 0.0 && projected <= 1.0);
	*loss = (struct wh_bitmap_loss){
		.q_pkts = q_pkts,
		.projected = projected,
		.first_pn = first_pn,
		.end = first_pn,
	};
}

double wh_bitmap_loss_link(const struct wh_bitmap_loss *loss)
{
	uint64_t pkts = wh_bitmap_loss_pkts(loss);

	WH_ASSERT(loss->end >= loss->first_pn && loss->lost_pkts <= pkts);
	return pkts == 0 ? loss->projected : (double)loss->lost_pkts / (double)pkts;
}

/* missing / received > link, without dividing by zero. */
static bool above_link(const struct wh_bitmap_loss *loss, uint32_t missing, uint32_t received)
{
	return (double)missing > wh_bitmap_loss_link(loss) * (double)received;
}

enum wh_bitmap_finding wh_bitmap_loss_add(
	struct wh_bitmap_loss *loss, uint64_t first, uint32_t pkts, const uint64_t *bits)
{
	uint64_t told_end = loss->end;
	uint32_t missing = 0;
	uint32_t new_missing = 0;
	uint32_t new_events = 0;
	uint32_t run = 0;
	uint32_t longest = 0;

	WH_ASSERT(first >= loss->first_pn && first + pkts > told_end);
	/* A run of losses at the end of the last bitmap may continue in this one. */
	bool before_lost = loss->end_lost && first == told_end;

	for (uint32_t i = 0; i < pkts; i++) {
		bool lost = (bits[i / 64] >> i % 64 & 1) == 0;
		bool is_new = first + i >= told_end;

		run = lost ? run + 1 : 0;
		missing += lost;
		new_missing += lost && is_new;
		new_events += lost && is_new && !before_lost;
		if (is_new && run > longest)
			longest = run;
		before_lost = lost;
	}

	bool congested = longest >= loss->q_pkts || above_link(loss, missing, pkts - missing);

	loss->lost_pkts += new_missing;
	loss->loss_events += new_events;
	loss->end = first + pkts;
	loss->end_lost = before_lost;
	WH_ASSERT(new_missing <= missing && new_events <= new_missing);
	WH_ASSERT(loss->loss_events <= loss->lost_pkts);
	WH_ASSERT(loss->lost_pkts <= wh_bitmap_loss_pkts(loss));
	if (missing == 0)
		return WH_BITMAP_CLEAN;
	return congested ? WH_BITMAP_CONGESTED : WH_BITMAP_BEARABLE;
}
