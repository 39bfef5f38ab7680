/* SPDX-License-Identifier: BSD-3-Clause */

/* Losses at the receiver: counted, and requested from the transmitter. */

#include "session/session_internal.h"

void wh_rcv_ask(struct wh_session *s, uint64_t now_tsc, uint64_t first, uint64_t end)
{
	struct wh_receiver *rx = &s->rx;

	WH_ASSERT(first < end && end <= wh_recv_table_upper(&rx->table));
	wh_loss_list_insert(&rx->losses, first, end, now_tsc);

	/* Losses that do not fit into one immediate NAK are left to the NAK timer. */
	if (rx->fresh_losses < WH_RANGES_MAX)
		rx->fresh_loss[rx->fresh_losses++] = (struct wh_loss_range){first, end};
}

void wh_rcv_note_loss(struct wh_session *s, uint64_t now_tsc, uint64_t first, uint64_t end)
{
	wh_session_add(&s->stats.losses_detected_pkts, end - first);
	wh_session_count(&s->stats.loss_events);
	if (!wh_session_repairs(s))
		wh_rcv_ask(s, now_tsc, first, end);
}
