/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>

#include "base/assert.h"
#include "lab/tcp/tcp_internal.h"
#include "measure/median.h"

/*
 * STTP as an agent of ns-2, as in sttp.txt: no handshake, a probe of 40-byte packets that its sink
 * returns, a token bucket instead of the window, TCP's sink and acknowledgements, and Reno's timer
 * and retransmissions. The bucket and its filling by a probe are the profile's.
 *
 * An acknowledgement of something new returns a token, and a duplicate returns none: by this alone
 * Table III loses nearly as little as printed (sttp-readings). A fast retransmission takes a token,
 * unless the path is clear. Reno's timer needs none. A flow without a whole token, and with nothing
 * under way, is over: V B says that tokens must "kick start" it.
 */

#define PROBE_BYTES 40 /* appendix: all byte counts of Table III are 80 n modulo 1000 */

static void set_feeder(struct wh_sim_tcp *tcp, uint64_t now_ps)
{
	double wait_s = 1.0 / fmax(tcp->sttp.bucket.feed, 1e-6);

	wh_sim_event_at(wh_sim_events(tcp->sim), &tcp->sttp.feeder,
		now_ps + (uint64_t)(wait_s * (double)WH_PS_PER_S));
}

static void fire_feeder(void *context, uint64_t now_ps)
{
	struct wh_sim_tcp *tcp = context;

	wh_bucket_add(&tcp->sttp.bucket, 1.0);
	set_feeder(tcp, now_ps);
	tcp->ops->send(tcp, now_ps, 0);
	wh_sim_tcp_check(tcp);
}

void wh_sim_sttp_init(struct wh_sim_tcp *tcp)
{
	tcp->sttp.rules = wh_sttp_rules(&tcp->config.sttp);
	wh_sim_event_init(&tcp->sttp.feeder, fire_feeder, tcp);
}

void wh_sim_sttp_free(struct wh_sim_tcp *tcp)
{
	wh_sim_event_cancel(wh_sim_events(tcp->sim), &tcp->sttp.feeder);
}

static uint32_t probe_bytes(const struct wh_sim_sttp *sttp)
{
	return sttp->rules.probe_bytes > 0 ? sttp->rules.probe_bytes : PROBE_BYTES;
}

static void send_probe(struct wh_sim_tcp *tcp, uint64_t now_ps)
{
	struct wh_sim_sttp *sttp = &tcp->sttp;

	sttp->train++;
	sttp->train_ps = now_ps;
	sttp->returned = 0;
	for (uint32_t i = 0; i < sttp->rules.probe_pkts; i++) {
		struct wh_sim_packet *packet = wh_sim_packet_get(wh_sim_pool(tcp->sim));

		packet->bytes = probe_bytes(sttp);
		packet->flow = tcp->flow;
		packet->to = tcp->receiver.agent;
		packet->segment = (struct wh_sim_segment){
			.pn = sttp->train,
			.probe = (uint8_t)(i + 1),
		};
		wh_sim_send(tcp->sim, tcp->from_node, packet);
	}
	if (!sttp->rules.probe_repeats)
		return;
	wh_sim_tcp_set_timer(tcp, now_ps);
	wh_sim_rto_back_off(&tcp->rto);
}

/* Gaps between adjacent packets that have both returned. */
static uint64_t median_gap_ps(const struct wh_sim_sttp *sttp)
{
	uint64_t gap_ps[WH_STTP_PROBE_PKTS_MAX];
	uint32_t gaps = 0;

	for (uint32_t i = 1; i < sttp->rules.probe_pkts; i++)
		if ((sttp->returned >> (i - 1) & 3) == 3)
			gap_ps[gaps++] = sttp->returned_ps[i] - sttp->returned_ps[i - 1];
	return gaps == 0 ? 0 : wh_median_u64(gap_ps, gaps);
}

/* Data may be sent when the last packet has returned, if there is a gap to measure. */
static void take_probe(
	struct wh_sim_tcp *tcp, uint64_t now_ps, const struct wh_sim_segment *segment)
{
	struct wh_sim_sttp *sttp = &tcp->sttp;
	uint32_t index = segment->probe - 1u;

	WH_ASSERT(index < sttp->rules.probe_pkts);
	if (sttp->probed || segment->pn != sttp->train)
		return;
	sttp->returned |= UINT32_C(1) << index;
	sttp->returned_ps[index] = now_ps;
	if (index == 0)
		sttp->seen.first_back_s = wh_ps_to_seconds(now_ps - sttp->train_ps);

	uint64_t gap_ps = index + 1 == sttp->rules.probe_pkts ? median_gap_ps(sttp) : 0;

	if (gap_ps == 0)
		return;
	sttp->probed = true;
	sttp->capacity_pps = probe_bytes(sttp) / wh_ps_to_seconds(gap_ps) /
			     (tcp->config.segment_bytes + tcp->config.head_bytes);
	wh_sttp_fill(
		&sttp->bucket, &sttp->rules, sttp->capacity_pps, (double)(now_ps - sttp->train_ps));
	sttp->seen.back_s = wh_ps_to_seconds(now_ps - sttp->train_ps);
	sttp->seen.capacity_bps = 8.0 * probe_bytes(sttp) / wh_ps_to_seconds(gap_ps);
	sttp->seen.first_sigma = sttp->bucket.capacity;
	if (sttp->rules.timer)
		set_feeder(tcp, now_ps);
}

static void sttp_send(struct wh_sim_tcp *tcp, uint64_t now_ps, uint32_t burst_pkts)
{
	struct wh_sim_sttp *sttp = &tcp->sttp;

	(void)burst_pkts;
	if (!sttp->probed) {
		if (tcp->started && (sttp->train == 0 || sttp->rules.probe_repeats))
			send_probe(tcp, now_ps);
		return;
	}
	while (wh_bucket_whole(&sttp->bucket) > 0 && (double)(tcp->next - tcp->una) < tcp->window &&
		wh_sim_tcp_has(tcp, tcp->next)) {
		wh_bucket_take(&sttp->bucket, 1.0);
		wh_sim_tcp_put(tcp, now_ps, tcp->next++);
	}
}

static void see(struct wh_sim_sttp *sttp, uint64_t now_ps, double last_ps, uint64_t rtt_ps)
{
	struct wh_sim_sttp_seen *seen = &sttp->seen;
	double last_s = last_ps / (double)WH_PS_PER_S;
	double rtt_s = wh_ps_to_seconds(rtt_ps);

	if (seen->rtt_s == 0.0) {
		seen->rtt_s = rtt_s;
		seen->sigma = sttp->bucket.capacity;
	}
	if (last_s * seen->fell_to_s <= seen->fell_from_s * rtt_s && seen->fell_to_s > 0.0)
		return;
	seen->fell_at_s = wh_ps_to_seconds(now_ps);
	seen->fell_from_s = last_s;
	seen->fell_to_s = rtt_s;
}

static void new_ack(struct wh_sim_tcp *tcp, uint64_t now_ps, uint64_t end)
{
	struct wh_sim_sttp *sttp = &tcp->sttp;
	double last_ps = sttp->bucket.last_rtt;

	wh_sim_tcp_advance(tcp, now_ps, end);

	uint64_t rtt_ps = wh_sim_vegas_round_trip(tcp, now_ps);

	wh_bucket_hear(&sttp->bucket, sttp->rules.timer ? 0.0 : 1.0, (double)rtt_ps);
	if (rtt_ps > 0)
		see(sttp, now_ps, last_ps, rtt_ps);
}

const struct wh_sim_sttp_seen *wh_sim_tcp_sttp_seen(const struct wh_sim_tcp *tcp)
{
	return tcp->ops == &wh_sim_tcp_sttp ? &tcp->sttp.seen : NULL;
}

static void duplicate(struct wh_sim_tcp *tcp, uint64_t now_ps)
{
	struct wh_sim_sttp *sttp = &tcp->sttp;

	tcp->duplicates++;
	if (tcp->duplicates != WH_SIM_DUPLICATES || !wh_sim_tcp_may_cut(tcp))
		return;
	if (!wh_sttp_token_returns(&sttp->rules, &sttp->bucket))
		wh_bucket_take(&sttp->bucket, 1.0);
	wh_sim_tcp_fast_retransmit(tcp, now_ps);
}

static void sttp_ack(struct wh_sim_tcp *tcp, uint64_t now_ps, const struct wh_sim_segment *segment)
{
	if (segment->probe != 0)
		take_probe(tcp, now_ps, segment);
	else if (segment->pn > tcp->una)
		new_ack(tcp, now_ps, segment->pn);
	else if (segment->pn == tcp->una)
		duplicate(tcp, now_ps);
	if (tcp->sttp.probed)
		sttp_send(tcp, now_ps, 0);
}

/* Reno's timer needs no token. */
static void timeout(struct wh_sim_tcp *tcp, uint64_t now_ps)
{
	(void)now_ps;
	if (wh_bucket_whole(&tcp->sttp.bucket) == 0)
		wh_bucket_add(&tcp->sttp.bucket, 1.0);
}

const struct wh_sim_tcp_ops wh_sim_tcp_sttp = {
	.name = "sttp_agent",
	.ack = sttp_ack,
	.send = sttp_send,
	.timeout = timeout,
	.keep = wh_sim_tcp_keep_half,
	.note_sent = wh_sim_vegas_note_sent,
};
