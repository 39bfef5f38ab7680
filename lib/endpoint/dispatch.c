/* SPDX-License-Identifier: BSD-3-Clause */

/* Control packets out of a session's inbox, each to the part of the session that it is for. */

#include "endpoint/turn.h"
#include "session/apart/acks.h"

/* The peer has been heard. ACCEPT does not count: a listener sends it without any session. */
static void hear(struct wh_session *s, uint64_t now_tsc, uint64_t arrived_tsc,
	const struct wh_packet *packet)
{
	if (packet->type == WH_PACKET_ACCEPT)
		return;
	/* The time is from another core, whose turn may have begun after this one. */
	__atomic_store_n(&s->last_heard_tsc,
		wh_max_u64(s->last_heard_tsc, wh_min_u64(arrived_tsc, now_tsc)), __ATOMIC_RELAXED);
	s->tx.unanswered_tsc = 0;
}

static void to_transmitter(struct wh_session *s, uint64_t now_tsc, uint64_t arrived_tsc,
	const struct wh_packet *packet)
{
	/* Before ACCEPT no receiver exists that could send anything else. */
	if (s->phase == WH_PHASE_OPENING && packet->type != WH_PACKET_ACCEPT) {
		wh_session_bad(s, &s->stats.bad_unexpected_pkts);
		return;
	}
	switch (packet->type) {
	case WH_PACKET_ACCEPT:
		wh_connect_accepted(s, now_tsc, &packet->accept);
		break;
	case WH_PACKET_PROBE_ANSWER:
		wh_prelude_answered(s, now_tsc, arrived_tsc, packet);
		break;
	case WH_PACKET_RELEASE:
		wh_release_input(s, now_tsc, &packet->release);
		break;
	default:
		wh_get_rcv_stat_take(s, now_tsc, packet);
	}
}

void wh_dispatch_heard(struct wh_session *s, uint64_t now_tsc, const struct wh_packet *packet)
{
	__atomic_store_n(&s->last_heard_tsc, now_tsc, __ATOMIC_RELAXED);
	wh_session_heard(
		s, WH_HEAD_BYTES +
			   (packet->type == WH_PACKET_PROBE ? packet->probe.padding_bytes : 0u));
}

static void to_receiver(struct wh_session *s, uint64_t now_tsc, uint64_t arrived_tsc,
	const struct wh_packet *packet)
{
	switch (packet->type) {
	case WH_PACKET_PROBE:
		wh_prelude_answer(s, now_tsc, arrived_tsc, packet);
		break;
	case WH_PACKET_RELEASE:
		if (wh_get_trans_stat_end(s, now_tsc, &packet->release))
			wh_release_input(s, now_tsc, &packet->release);
		break;
	default:
		wh_get_trans_stat_take(s, now_tsc, arrived_tsc, packet);
	}
}

int32_t wh_dispatch(struct wh_session *s, uint64_t now_tsc)
{
	struct wh_slot_fifo *fifo = s->acks != NULL ? &s->acks->notes : &s->inbox;
	struct wh_slot *slot;
	int32_t taken = 0;

	while (s->phase != WH_PHASE_CLOSED && (slot = wh_slot_fifo_peek(fifo)) != NULL) {
		const struct wh_packet *packet = s->acks != NULL
							 ? wh_acks_take(s, slot)
							 : (const struct wh_packet *)slot->data;

		if (s->role == WH_TRANSMITTER) {
			hear(s, now_tsc, slot->when_tsc, packet);
			to_transmitter(s, now_tsc, slot->when_tsc, packet);
		} else {
			if (s->landing != NULL) {
				/* What was sent before it has been noted. */
				wh_rcv_book(s, now_tsc);
				wh_dispatch_heard(s, now_tsc, packet);
			}
			to_receiver(s, now_tsc, slot->when_tsc, packet);
		}
		wh_slot_fifo_release(fifo);
		taken++;
	}
	return taken;
}
