/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * send_trans_stat: tells the receiver the transmitter's state every period. Its upper bound is
 * how the receiver learns of losses at the end of a burst, where no later packet shows the gap.
 */

#include "session/internal.h"

int32_t wh_send_trans_stat(struct wh_session *s, uint64_t now_tsc)
{
	struct wh_transmitter *tx = &s->tx;

	if (now_tsc < tx->next_trans_state_tsc)
		return 0;
	tx->next_trans_state_tsc = now_tsc + s->period_tsc;

	/*
	 * Low activity: control packets are skipped (periodic-exchange.txt, "Control Packet
	 * Transmission Time"), but not before the last upper bound was told three times, since
	 * the receiver acts on the second.
	 */
	bool same = tx->told_lower == tx->table.lower && tx->told_upper == tx->sent_end;
	uint32_t heartbeat_periods =
		(uint32_t)wh_max_u64(1, wh_session_ms_tsc(s, WH_HEARTBEAT_MS) / s->period_tsc);

	tx->same_states = same ? tx->same_states + 1 : 0;
	if (tx->same_states >= 3 && tx->same_states % heartbeat_periods != 0)
		return 0;

	struct wh_packet packet = {
		.trans_state =
			{
				.lower = tx->table.lower,
				.upper = tx->sent_end,
				.sent_pkts = s->stats.sent_pkts,
				.queued_pkts =
					wh_fifo_count(&tx->fresh) + wh_fifo_count(&tx->again),
				.stamp_us = wh_session_now_us(s, now_tsc),
			},
	};

	wh_session_push_control(s, now_tsc, WH_PACKET_TRANS_STATE, &packet);
	tx->told_lower = tx->table.lower;
	tx->told_upper = tx->sent_end;
	return 1;
}
