/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Control packets between the cores of a session: decoded ones in the inbox, which the other core
 * fills, and encoded ones in the outbox, which it empties.
 */

#include <string.h>

#include "session/session_internal.h"

/* Elements of a ring that has a slot for each pkts_per_slot packets of the window, in bounds. */
static uint32_t ring_count(uint32_t window_pkts, uint32_t pkts_per_slot, uint32_t slots_max)
{
	uint64_t slots = wh_max_u64(window_pkts / pkts_per_slot, WH_CONTROL_MIN);

	return (uint32_t)wh_min_u64(slots, slots_max) - 1;
}

uint32_t wh_boxes_inbox_count(uint32_t window_pkts)
{
	return ring_count(window_pkts, WH_PKTS_PER_CONTROL, WH_INBOX_MAX);
}

static uint32_t outbox_count(uint32_t window_pkts)
{
	return ring_count(window_pkts, WH_PKTS_PER_CONTROL, WH_OUTBOX_MAX);
}

/* The probe's length is bounded so that the boxes of both ends hold it and a few packets more. */
uint32_t wh_session_train_pkts(const struct wh_session *s)
{
	uint32_t slots = (uint32_t)wh_min_u64(
		wh_boxes_inbox_count(s->config.window_pkts), outbox_count(s->config.window_pkts));

	return (uint32_t)wh_min_u64(s->feedback.probe.pkts, slots - WH_BESIDE_TRAIN);
}

int wh_boxes_init(struct wh_session *s)
{
	uint32_t window_pkts = s->config.window_pkts;
	int rc = wh_slot_fifo_init(
		&s->inbox, wh_boxes_inbox_count(window_pkts), sizeof(struct wh_packet));

	return rc != 0 ? rc
		       : wh_slot_fifo_init(
				 &s->outbox, outbox_count(window_pkts), WH_CONTROL_BYTES_MAX);
}

uint64_t wh_boxes_bytes(uint32_t window_pkts)
{
	return wh_slot_fifo_bytes(wh_boxes_inbox_count(window_pkts), sizeof(struct wh_packet)) +
	       wh_slot_fifo_bytes(outbox_count(window_pkts), WH_CONTROL_BYTES_MAX);
}

static uint8_t control_flags(const struct wh_session *s, enum wh_packet_type type)
{
	if (type == WH_PACKET_PROBE || type == WH_PACKET_PROBE_ANSWER)
		return WH_FLAG_ECHO;
	if (type == WH_PACKET_CONFIRM)
		return s->offered ? WH_FLAG_OFFERED : 0;
	if (type != WH_PACKET_RCV_REPORT)
		return 0;
	return (wh_session_repairs(s) ? WH_FLAG_LOSSES : 0) |
	       (s->feedback.delivery ? WH_FLAG_DELIVERY : 0) |
	       (s->ration.behind ? WH_FLAG_BEHIND : 0);
}

/* False: no memory; the packet is lost. */
static bool close_control(
	const struct wh_session *s, bool to_listener, uint8_t *packet, size_t packet_bytes)
{
	if (to_listener && s->sa != NULL)
		return wh_sa_close(s->sa, 0, packet, packet_bytes);
	wh_seal_close_packet(
		to_listener ? &wh_seal_to_listener : &s->send_seal, packet, packet_bytes);
	return true;
}

void wh_session_push_control(
	struct wh_session *s, uint64_t now_tsc, enum wh_packet_type type, struct wh_packet *packet)
{
	bool to_listener = type == WH_PACKET_OPEN || type == WH_PACKET_CONFIRM;

	packet->type = type;
	packet->flags = control_flags(s, type);
	packet->cid = to_listener ? 0 : s->peer_cid;
	packet->pn = s->control_pn[type]++;
	packet->payload = NULL;
	if (to_listener && s->sa != NULL)
		wh_sealing_address(s, packet);

	struct wh_slot *slot = wh_slot_fifo_reserve(&s->outbox);

	if (slot == NULL) {
		wh_session_count(&s->stats.control_full_pkts);
		return;
	}
	slot->bytes = wh_packet_encode(packet, slot->data, WH_CONTROL_BYTES_MAX);
	if (!close_control(s, to_listener, slot->data, slot->bytes))
		return;
	slot->when_tsc = now_tsc;
	s->may_say_bytes -= slot->bytes;
	wh_slot_fifo_commit(&s->outbox);
	s->outbox_news = true;
}

/* A transmitter's owner core is another one: this function uses only the inbox and `stats`. */
void wh_boxes_put(struct wh_session *s, struct wh_session_stats *stats, uint64_t arrived_tsc,
	const struct wh_packet *packet)
{
	struct wh_slot *slot = wh_slot_fifo_reserve(&s->inbox);

	if (slot == NULL) {
		wh_session_count(&stats->control_full_pkts);
		return;
	}
	memcpy(slot->data, packet, sizeof(*packet));
	slot->bytes = sizeof(*packet);
	slot->when_tsc = arrived_tsc;
	wh_slot_fifo_commit(&s->inbox);
	wh_session_count(&stats->control_received_pkts);
}

bool wh_session_is_younger(
	struct wh_session *s, uint64_t now_tsc, uint64_t pn, uint64_t *next, uint64_t *at_tsc)
{
	if (pn < *next &&
		(s->sa != NULL || now_tsc - *at_tsc <= wh_session_ms_tsc(s, WH_YOUNGEST_MS))) {
		wh_session_count(&s->stats.control_stale_pkts);
		return false;
	}
	*next = pn + 1;
	*at_tsc = now_tsc;
	return true;
}
