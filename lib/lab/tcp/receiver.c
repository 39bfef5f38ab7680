/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/assert.h"
#include "lab/tcp/tcp_internal.h"

/*
 * The receiver: acknowledges every segment, or with delayed acknowledgements every second one in
 * order (RFC 5681, 4.2), and reports up to three ranges beyond the first hole, that of the latest
 * segment first (RFC 2018, section 4).
 */

#define SACK_BYTES 8

static bool lies_in(const struct wh_sim_sack *inner, const struct wh_sim_sack *outer)
{
	return inner->first >= outer->first && inner->end <= outer->end;
}

/* Puts the latest range first, before earlier ones that are not contained in it. */
static void remember(struct wh_sim_tcp_receiver *receiver, const struct wh_sim_sack *latest)
{
	struct wh_sim_sack kept[WH_SIM_SACKS_MAX] = {*latest};
	uint32_t n = 1;

	for (uint32_t i = 0; i < receiver->n_recent && n < WH_SIM_SACKS_MAX; i++) {
		if (!lies_in(&receiver->recent[i], latest))
			kept[n++] = receiver->recent[i];
	}
	for (uint32_t i = 0; i < n; i++)
		receiver->recent[i] = kept[i];
	receiver->n_recent = n;
}

static void forget_below(struct wh_sim_tcp_receiver *receiver)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < receiver->n_recent; i++) {
		if (receiver->recent[i].first > receiver->next)
			receiver->recent[n++] = receiver->recent[i];
	}
	receiver->n_recent = n;
}

static void acknowledge(struct wh_sim_tcp_receiver *receiver, uint64_t pn)
{
	struct wh_sim_tcp *tcp = receiver->tcp;
	struct wh_sim_packet *packet = wh_sim_packet_get(wh_sim_pool(tcp->sim));
	const struct wh_sim_sack *latest = wh_sim_ranges_find(&receiver->beyond, pn);

	forget_below(receiver);
	if (latest != NULL)
		remember(receiver, latest);
	WH_ASSERT(receiver->n_recent <= WH_SIM_SACKS_MAX &&
		  receiver->n_recent <= receiver->beyond.count);
	packet->segment = (struct wh_sim_segment){
		.pn = receiver->next,
		.n_sacks = (uint8_t)receiver->n_recent,
	};
	for (uint32_t i = 0; i < receiver->n_recent; i++)
		packet->segment.sack[i] = receiver->recent[i];
	packet->bytes = tcp->config.head_bytes + SACK_BYTES * receiver->n_recent;
	packet->flow = tcp->flow;
	packet->to = tcp->agent;
	wh_sim_send(tcp->sim, tcp->to_node, packet);
}

static void deliver(struct wh_sim_tcp_receiver *receiver, uint64_t end)
{
	struct wh_sim_tcp *tcp = receiver->tcp;
	uint64_t segments = end - receiver->next;

	WH_ASSERT(end > receiver->next);
	if (tcp->config.handshake && receiver->next == 0)
		segments--;
	tcp->stats->goodput_bytes += segments * tcp->config.segment_bytes;
	receiver->next = end;
}

static void take(struct wh_sim_tcp_receiver *receiver, uint64_t pn)
{
	if (pn < receiver->next) {
		receiver->tcp->stats->needless_pkts++;
		return;
	}
	if (pn > receiver->next) {
		if (!wh_sim_ranges_add(&receiver->beyond, pn, pn + 1))
			receiver->tcp->stats->needless_pkts++;
		return;
	}

	const struct wh_sim_sack *joins = wh_sim_ranges_find(&receiver->beyond, pn + 1);

	deliver(receiver, joins != NULL ? joins->end : pn + 1);
	wh_sim_ranges_forget(&receiver->beyond, receiver->next);
	WH_ASSERT(receiver->beyond.count == 0 || receiver->beyond.range[0].first > receiver->next);
}

/* Only for an in-order segment with no hole, other than the first, while no other is delayed. */
static bool may_delay(const struct wh_sim_tcp_receiver *receiver, uint64_t pn)
{
	return receiver->tcp->config.delayed_ack && !wh_sim_event_is_pending(&receiver->delay) &&
	       pn != 0 && pn + 1 == receiver->next && receiver->beyond.count == 0;
}

/* sttp.txt III A: "transmitted without delay back to the transmitting node". */
static void return_probe(struct wh_sim_tcp_receiver *receiver, struct wh_sim_packet *packet)
{
	packet->to = receiver->tcp->agent;
	wh_sim_send(receiver->tcp->sim, receiver->tcp->to_node, packet);
}

static void receive(void *context, uint64_t now_ps, struct wh_sim_packet *packet)
{
	struct wh_sim_tcp_receiver *receiver = context;
	struct wh_sim_events *events = wh_sim_events(receiver->tcp->sim);
	uint64_t pn = packet->segment.pn;

	if (packet->segment.probe != 0) {
		return_probe(receiver, packet);
		return;
	}
	wh_sim_packet_put(wh_sim_pool(receiver->tcp->sim), packet);
	take(receiver, pn);
	if (may_delay(receiver, pn)) {
		receiver->delayed = pn;
		wh_sim_event_at(
			events, &receiver->delay, now_ps + receiver->tcp->config.ack_delay_ps);
		return;
	}
	wh_sim_event_cancel(events, &receiver->delay);
	acknowledge(receiver, pn);
}

static void expire(void *context, uint64_t now_ps)
{
	struct wh_sim_tcp_receiver *receiver = context;

	(void)now_ps;
	WH_ASSERT(receiver->delayed < receiver->next);
	acknowledge(receiver, receiver->delayed);
}

void wh_sim_tcp_receiver_init(struct wh_sim_tcp_receiver *receiver, struct wh_sim_tcp *tcp)
{
	receiver->tcp = tcp;
	wh_sim_event_init(&receiver->delay, expire, receiver);
	receiver->agent = wh_sim_add_agent(tcp->sim, tcp->to_node, receive, receiver);
}

void wh_sim_tcp_receiver_free(struct wh_sim_tcp_receiver *receiver)
{
	wh_sim_event_cancel(wh_sim_events(receiver->tcp->sim), &receiver->delay);
	wh_sim_ranges_free(&receiver->beyond);
}
