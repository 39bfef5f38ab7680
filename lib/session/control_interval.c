/* SPDX-License-Identifier: BSD-3-Clause */

/* When reports are sent for profiles whose transmitter counts them; a part of send_rcv_stat. */

#include "session/session_internal.h"

/* Connections of this end that share its processing time for control packets. */
static uint32_t connections(const struct wh_session *s)
{
	const struct wh_half *half = atomic_load_explicit(&s->half, memory_order_relaxed);

	return half != NULL && half->tenants > 0 ? half->tenants : 1;
}

/*
 * periodic-exchange.txt names what lengthens the interval, "many packets waiting to be processed"
 * or "few free packets", but gives no formula. Ours has two terms. The first is the time that the
 * waiting packets need at the rate of the last interval, as far as it exceeds one interval. The
 * second is the base interval times the share of buffers that the writer holds.
 */
uint64_t wh_control_interval_tsc(const struct wh_session *s)
{
	const struct wh_receiver *rx = &s->rx;
	const struct wh_interval_rules *rules = &s->feedback.interval;
	uint64_t processing_tsc = wh_ns_to_tsc(s->config.hz, rules->processing_ns);
	double base_tsc = (double)(s->period_tsc + connections(s) * processing_tsc);
	uint64_t used = rx->next_deliver - rx->recycled_count;
	double waiting_tsc = (double)rx->waiting_pkts * (double)rx->mean_arrival_tsc;
	double held_tsc = base_tsc * (double)used / s->config.chunks;
	double over_tsc = waiting_tsc > base_tsc ? waiting_tsc - base_tsc : 0.0;
	double load_tsc = rules->load * (over_tsc + held_tsc);

	WH_ASSERT(used <= s->config.chunks);
	if (load_tsc > WH_LOAD_MOST * base_tsc)
		load_tsc = WH_LOAD_MOST * base_tsc;
	return (uint64_t)(base_tsc + load_tsc);
}

void wh_session_count_on(
	struct wh_session *s, uint64_t now_tsc, enum wh_packet_type type, uint64_t since_tsc)
{
	uint64_t intervals = (now_tsc - since_tsc) / s->period_tsc;

	if (s->feedback.resend == WH_RESEND_COUNTED && intervals > 1)
		s->control_pn[type] += intervals - 1;
}

/*
 * periodic-exchange.txt: "sending one control packet and skip one or two". One report is skipped
 * after the first without news, then two after each.
 */
bool wh_control_skip(struct wh_session *s, bool news)
{
	struct wh_receiver *rx = &s->rx;

	if (news) {
		rx->quiet_reports = 0;
		rx->skips_left = 0;
		return false;
	}
	if (rx->skips_left > 0) {
		rx->skips_left--;
		s->control_pn[WH_PACKET_RCV_REPORT]++;
		return true;
	}
	if (rx->quiet_reports < s->feedback.interval.skip)
		rx->quiet_reports++;
	rx->skips_left = rx->quiet_reports;
	return false;
}

void wh_session_note_waiting(struct wh_session *s, uint64_t pkts)
{
	WH_ASSERT(s->role == WH_RECEIVER);
	s->rx.waiting_pkts = pkts;
}
