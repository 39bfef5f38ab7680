/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/assert.h"
#include "tcp/internal.h"

/*
 * The receiver: acknowledges every segment, or with delayed acknowledgements every second one
 * that came in order (RFC 5681, 4.2), and tells up to three ranges beyond the first hole, that
 * of the latest segment first (RFC 2018, section 4).
 */

#define SACK_BYTES 8

static bool lies_in(const struct wh_sim_sack *inner, const struct wh_sim_sack *outer)
{
	return inner->first >= outer->first && inner->end <= outer->end;
}

/* Puts the range of the latest segment before those told earlier, as far as they still say more. */
static void remember(struct wh_sim_tcp_sink *sink, const struct wh_sim_sack *latest)
{
	struct wh_sim_sack kept[WH_SIM_SACKS_MAX] = {*latest};
	uint32_t n = 1;

	for (uint32_t i = 0; i < sink->n_recent && n < WH_SIM_SACKS_MAX; i++) {
		if (!lies_in(&sink->recent[i], latest))
			kept[n++] = sink->recent[i];
	}
	for (uint32_t i = 0; i < n; i++)
		sink->recent[i] = kept[i];
	sink->n_recent = n;
}

static void forget_below(struct wh_sim_tcp_sink *sink)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < sink->n_recent; i++) {
		if (sink->recent[i].first > sink->next)
			sink->recent[n++] = sink->recent[i];
	}
	sink->n_recent = n;
}

static void acknowledge(struct wh_sim_tcp_sink *sink, uint64_t serial)
{
	struct wh_sim_tcp *tcp = sink->tcp;
	struct wh_sim_packet *packet = wh_sim_packet_get(wh_sim_pool(tcp->sim));
	const struct wh_sim_sack *latest = wh_sim_ranges_find(&sink->beyond, serial);

	forget_below(sink);
	if (latest != NULL)
		remember(sink, latest);
	WH_ASSERT(sink->n_recent <= WH_SIM_SACKS_MAX && sink->n_recent <= sink->beyond.count);
	packet->segment = (struct wh_sim_segment){
		.serial = sink->next,
		.n_sacks = (uint8_t)sink->n_recent,
	};
	for (uint32_t i = 0; i < sink->n_recent; i++)
		packet->segment.sack[i] = sink->recent[i];
	packet->bytes = tcp->config.head_bytes + SACK_BYTES * sink->n_recent;
	packet->flow = tcp->flow;
	packet->to = tcp->agent;
	wh_sim_send(tcp->sim, tcp->to_node, packet);
}

static void deliver(struct wh_sim_tcp_sink *sink, uint64_t end)
{
	struct wh_sim_tcp *tcp = sink->tcp;
	uint64_t segments = end - sink->next;

	WH_ASSERT(end > sink->next);
	if (tcp->config.handshake && sink->next == 0)
		segments--;
	tcp->stats->goodput_bytes += segments * tcp->config.segment_bytes;
	sink->next = end;
}

static void take(struct wh_sim_tcp_sink *sink, uint64_t serial)
{
	if (serial < sink->next)
		return;
	if (serial > sink->next) {
		wh_sim_ranges_add(&sink->beyond, serial, serial + 1);
		return;
	}

	const struct wh_sim_sack *joins = wh_sim_ranges_find(&sink->beyond, serial + 1);

	deliver(sink, joins != NULL ? joins->end : serial + 1);
	wh_sim_ranges_forget(&sink->beyond, sink->next);
	WH_ASSERT(sink->beyond.count == 0 || sink->beyond.range[0].first > sink->next);
}

/* In order, the latest of all, not the first; and no other one waits. */
static bool may_delay(const struct wh_sim_tcp_sink *sink, uint64_t serial)
{
	return sink->tcp->config.delayed_ack && !wh_sim_event_is_pending(&sink->delay) &&
	       serial != 0 && serial + 1 == sink->next && sink->beyond.count == 0;
}

static void receive(void *context, uint64_t now_ps, struct wh_sim_packet *packet)
{
	struct wh_sim_tcp_sink *sink = context;
	struct wh_sim_events *events = wh_sim_events(sink->tcp->sim);
	uint64_t serial = packet->segment.serial;

	wh_sim_packet_put(wh_sim_pool(sink->tcp->sim), packet);
	take(sink, serial);
	if (may_delay(sink, serial)) {
		sink->delayed = serial;
		wh_sim_event_at(events, &sink->delay, now_ps + sink->tcp->config.ack_delay_ps);
		return;
	}
	wh_sim_event_cancel(events, &sink->delay);
	acknowledge(sink, serial);
}

static void expire(void *context, uint64_t now_ps)
{
	struct wh_sim_tcp_sink *sink = context;

	(void)now_ps;
	WH_ASSERT(sink->delayed < sink->next);
	acknowledge(sink, sink->delayed);
}

void wh_sim_tcp_sink_init(struct wh_sim_tcp_sink *sink, struct wh_sim_tcp *tcp)
{
	sink->tcp = tcp;
	wh_sim_event_init(&sink->delay, expire, sink);
	sink->agent = wh_sim_add_agent(tcp->sim, tcp->to_node, receive, sink);
}

void wh_sim_tcp_sink_free(struct wh_sim_tcp_sink *sink)
{
	wh_sim_event_cancel(wh_sim_events(sink->tcp->sim), &sink->delay);
	wh_sim_ranges_free(&sink->beyond);
}
