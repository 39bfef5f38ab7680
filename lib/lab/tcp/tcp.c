/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab/tcp/tcp.h"

#include <math.h>
#include <stdlib.h>

#include "base/assert.h"
#include "lab/sim/sim_memory.h"
#include "lab/tcp/tcp_internal.h"

#define WINDOW_UNLIMITED 0x1.0p52

static const struct wh_sim_tcp_ops *const varieties[] = {
	[WH_SIM_TCP_RENO] = &wh_sim_tcp_reno,
	[WH_SIM_TCP_NEWRENO] = &wh_sim_tcp_newreno,
	[WH_SIM_TCP_SACK] = &wh_sim_tcp_sack,
	[WH_SIM_TCP_VEGAS] = &wh_sim_tcp_vegas,
	[WH_SIM_TCP_HIGHSPEED] = &wh_sim_tcp_highspeed,
	[WH_SIM_TCP_CUBIC] = &wh_sim_tcp_cubic,
	[WH_SIM_TCP_BBR] = &wh_sim_tcp_bbr,
	[WH_SIM_TCP_BBR3] = &wh_sim_tcp_bbr3,
	[WH_SIM_TCP_STTP] = &wh_sim_tcp_sttp,
};

static_assert(sizeof(varieties) / sizeof(varieties[0]) == WH_SIM_TCP_VARIETIES,
	"each variety has its functions");

const char *wh_sim_tcp_variety_name(enum wh_sim_tcp_variety variety)
{
	WH_ASSERT(variety < WH_SIM_TCP_VARIETIES);
	return varieties[variety]->name;
}

void wh_sim_tcp_config_init(struct wh_sim_tcp_config *config, enum wh_sim_tcp_variety variety)
{
	*config = (struct wh_sim_tcp_config){
		.variety = variety,
		.segment_bytes = 1460,
		.head_bytes = 40,
		.window_pkts = 20,
		.initial_cwnd_pkts = 2,
		.handshake = true,
		.limited_transmit = true,
		.ack_delay_ps = 100 * 1000 * 1000 * WH_PS_PER_NS,
		.tick_ps = 10 * 1000 * 1000 * WH_PS_PER_NS,
		.initial_rto_ps = 3 * WH_PS_PER_S,
		.min_rto_ps = WH_PS_PER_S / 5,
		.max_rto_ps = 60 * WH_PS_PER_S,
	};
	wh_profile_options_init(&config->sttp, &wh_profile_sttp);
	if (variety == WH_SIM_TCP_STTP)
		config->handshake = config->limited_transmit = false;
	if (variety == WH_SIM_TCP_BBR || variety == WH_SIM_TCP_BBR3)
		wh_sim_tcp_config_as_linux(config);
}

void wh_sim_tcp_config_as_linux(struct wh_sim_tcp_config *config)
{
	WH_ASSERT(config->variety == WH_SIM_TCP_BBR || config->variety == WH_SIM_TCP_BBR3 ||
		  config->variety == WH_SIM_TCP_CUBIC);
	config->as_linux = true;
	config->hystart = config->variety == WH_SIM_TCP_CUBIC;
	config->initial_cwnd_pkts = 10;
	config->initial_rto_ps = WH_PS_PER_S;
	config->ack_delay_ps = WH_PS_PER_S / 25;
}

static const struct wh_sim_tcp_ops *ops_of(const struct wh_sim_tcp_config *config)
{
	if (config->variety == WH_SIM_TCP_CUBIC && config->as_linux)
		return &wh_sim_tcp_cubic_linux;
	return varieties[config->variety];
}

static void receive(void *context, uint64_t now_ps, struct wh_sim_packet *packet);
static void expire(void *context, uint64_t now_ps);

static void open_window(struct wh_sim_tcp *tcp)
{
	const struct wh_sim_tcp_config *config = &tcp->config;

	tcp->window = config->window_pkts != 0 ? config->window_pkts : WINDOW_UNLIMITED;
	tcp->initial_cwnd = config->initial_cwnd_pkts;
	tcp->cwnd = config->handshake ? 1 : tcp->initial_cwnd;
	tcp->ssthresh =
		config->initial_ssthresh_pkts > 0 ? config->initial_ssthresh_pkts : tcp->window;
	if (config->max_ssthresh_pkts > 0)
		tcp->ssthresh = fmin(tcp->ssthresh, config->max_ssthresh_pkts);
}

struct wh_sim_tcp *wh_sim_tcp_create(struct wh_sim *sim, const struct wh_sim_tcp_config *config,
	uint32_t from_node, uint32_t to_node, uint32_t flow)
{
	WH_ASSERT(config->variety < WH_SIM_TCP_VARIETIES && config->initial_cwnd_pkts >= 1);
	WH_ASSERT(config->segment_bytes > 0 && config->head_bytes > 0);

	struct wh_sim_tcp *tcp = wh_sim_allocate(sizeof(*tcp));

	tcp->ops = ops_of(config);
	tcp->sim = sim;
	tcp->config = *config;
	tcp->stats = wh_sim_flow_stats(sim, flow);
	tcp->flow = flow;
	tcp->from_node = from_node;
	tcp->to_node = to_node;
	tcp->agent = wh_sim_add_agent(sim, from_node, receive, tcp);
	wh_sim_event_init(&tcp->timer, expire, tcp);
	open_window(tcp);
	wh_sim_rto_init(&tcp->rto, config, wh_prng_below(wh_sim_prng(sim), config->tick_ps));
	wh_highspeed_init(&tcp->highspeed, &(struct wh_highspeed_config){38, 83000, 1e-7, 0.1});
	wh_sim_cubic_init(&tcp->cubic);
	wh_sim_sttp_init(tcp);
	wh_sim_rack_init(tcp);
	wh_sim_tcp_receiver_init(&tcp->receiver, tcp);
	return tcp;
}

void wh_sim_tcp_destroy(struct wh_sim_tcp *tcp)
{
	if (tcp == NULL)
		return;
	wh_sim_event_cancel(wh_sim_events(tcp->sim), &tcp->timer);
	wh_sim_tcp_receiver_free(&tcp->receiver);
	wh_sim_sttp_free(tcp);
	wh_sim_rack_free(tcp);
	wh_sim_ranges_free(&tcp->sacked.ranges);
	free(tcp);
}

void wh_sim_tcp_check(const struct wh_sim_tcp *tcp)
{
	WH_ASSERT(tcp->una <= tcp->next && tcp->next <= tcp->sent_end);
	WH_ASSERT(tcp->sent_end <= tcp->offered_end && tcp->recover <= tcp->sent_end);
	WH_ASSERT(tcp->cwnd >= 0 && tcp->ssthresh > 0 && tcp->window >= 1);
	WH_ASSERT(tcp->una == tcp->sent_end || wh_sim_event_is_pending(&tcp->timer));
}

double wh_sim_tcp_window(const struct wh_sim_tcp *tcp)
{
	return fmin(tcp->cwnd + tcp->reno.inflation_pkts, tcp->window);
}

bool wh_sim_tcp_has(struct wh_sim_tcp *tcp, uint64_t pn)
{
	if (pn < tcp->offered_end)
		return true;
	if (tcp->more == NULL || !tcp->started || !tcp->more(tcp->more_context))
		return false;
	WH_ASSERT(pn == tcp->offered_end);
	tcp->offered_end++;
	tcp->told = false;
	return true;
}

static uint32_t packet_bytes(const struct wh_sim_tcp *tcp, uint64_t pn)
{
	bool head_only = tcp->config.handshake && pn == 0 && !tcp->ops->long_handshake;

	return tcp->config.head_bytes + (head_only ? 0 : tcp->config.segment_bytes);
}

void wh_sim_tcp_put(struct wh_sim_tcp *tcp, uint64_t now_ps, uint64_t pn)
{
	WH_ASSERT(pn >= tcp->una && pn < tcp->offered_end);

	struct wh_sim_packet *packet = wh_sim_packet_get(wh_sim_pool(tcp->sim));
	bool again = pn < tcp->sent_end;
	bool nothing_out = tcp->una == tcp->sent_end;

	packet->bytes = packet_bytes(tcp, pn);
	packet->flow = tcp->flow;
	packet->to = tcp->receiver.agent;
	packet->segment = (struct wh_sim_segment){
		.pn = pn,
		.retransmission = again,
	};
	if (tcp->stats->sent_pkts++ == 0)
		tcp->stats->first_sent_ps = now_ps;
	tcp->stats->retransmitted_pkts += again;
	if (tcp->ops->note_sent != NULL)
		tcp->ops->note_sent(tcp, now_ps, pn);
	wh_sim_send(tcp->sim, tcp->from_node, packet);

	if (!again) {
		tcp->sent_end = pn + 1;
		wh_sim_rto_sent(&tcp->rto, now_ps, pn);
	}
	if (nothing_out || !wh_sim_event_is_pending(&tcp->timer))
		wh_sim_tcp_set_timer(tcp, now_ps);
}

/* With nothing outstanding there is no acknowledgement to wait for. */
bool wh_sim_tcp_device_is_full(struct wh_sim_tcp *tcp)
{
	uint32_t limit = tcp->config.device_queue_pkts;
	uint32_t link;

	if (limit == 0 || tcp->una == tcp->sent_end)
		return false;
	link = wh_sim_next_link(tcp->sim, tcp->from_node, tcp->to_node);
	return wh_sim_link_stats(tcp->sim, link)->queue_pkts >= limit;
}

static void cut_by_device(struct wh_sim_tcp *tcp)
{
	if (tcp->una < tcp->device_end)
		return;

	double kept = tcp->ops->keep(tcp, wh_sim_tcp_window(tcp), WH_SIM_CUT_BY_DUPLICATES);

	WH_ASSERT(kept > 0);
	tcp->device_end = tcp->sent_end;
	tcp->ssthresh = fmax(floor(kept), 2);
	tcp->cwnd = fmax(kept, 1);
	tcp->cut = WH_SIM_CUT_REPAIRED;
}

void wh_sim_tcp_send_window(struct wh_sim_tcp *tcp, uint64_t now_ps, uint32_t burst_pkts)
{
	uint64_t end = tcp->una + (uint64_t)wh_sim_tcp_window(tcp);

	if (burst_pkts != 0 && end > tcp->next + burst_pkts)
		end = tcp->next + burst_pkts;
	while (tcp->next < end && wh_sim_tcp_has(tcp, tcp->next)) {
		if (wh_sim_tcp_device_is_full(tcp)) {
			cut_by_device(tcp);
			return;
		}
		wh_sim_tcp_put(tcp, now_ps, tcp->next++);
	}
}

void wh_sim_tcp_send_limited(struct wh_sim_tcp *tcp, uint64_t now_ps)
{
	if (!tcp->config.limited_transmit)
		return;

	double end = (double)tcp->una + fmin(tcp->cwnd + tcp->duplicates, tcp->window);

	if ((double)(tcp->next + 1) <= end && wh_sim_tcp_has(tcp, tcp->next))
		wh_sim_tcp_put(tcp, now_ps, tcp->next++);
}

void wh_sim_tcp_set_timer(struct wh_sim_tcp *tcp, uint64_t now_ps)
{
	wh_sim_event_at(wh_sim_events(tcp->sim), &tcp->timer, now_ps + wh_sim_rto_ps(&tcp->rto));
}

void wh_sim_tcp_advance(struct wh_sim_tcp *tcp, uint64_t now_ps, uint64_t end)
{
	WH_DEBUG_ASSERT(end > tcp->una && end <= tcp->sent_end);
	tcp->duplicates = 0;
	tcp->acked_pkts = end - tcp->una;
	tcp->una = end;
	if (tcp->next < end)
		tcp->next = end;
	wh_sim_rto_acked(&tcp->rto, now_ps, end);
	wh_sim_tcp_set_timer(tcp, now_ps);
}

void wh_sim_tcp_new_ack(struct wh_sim_tcp *tcp, uint64_t now_ps, uint64_t end)
{
	bool first = tcp->una == 0;

	wh_sim_tcp_advance(tcp, now_ps, end);
	if (tcp->config.handshake && first && end == 1)
		tcp->cwnd = tcp->initial_cwnd;
	else
		tcp->ops->grow(tcp, now_ps);
}

bool wh_sim_tcp_may_cut(const struct wh_sim_tcp *tcp)
{
	/* Duplicates answer spurious retransmissions. */
	if (tcp->una == tcp->sent_end)
		return false;
	/* For the very first segment of payload there was no earlier loss. */
	return tcp->una > tcp->recover || tcp->una == 1;
}

void wh_sim_tcp_fast_retransmit(struct wh_sim_tcp *tcp, uint64_t now_ps)
{
	double kept = tcp->ops->keep(tcp, wh_sim_tcp_window(tcp), WH_SIM_CUT_BY_DUPLICATES);

	WH_ASSERT(kept > 0 && tcp->una < tcp->sent_end);
	tcp->recover = tcp->sent_end;
	tcp->ssthresh = fmax(floor(kept), 2);
	tcp->cwnd = fmax(kept, 1);
	tcp->cut = WH_SIM_CUT_BY_DUPLICATES;
	tcp->rto.timing = false;
	wh_sim_tcp_set_timer(tcp, now_ps);
	wh_sim_tcp_put(tcp, now_ps, tcp->una);
}

double wh_sim_tcp_keep_half(struct wh_sim_tcp *tcp, double window_pkts, enum wh_sim_tcp_cut why)
{
	(void)tcp;
	(void)why;
	return window_pkts / 2;
}

double wh_sim_tcp_limited_slow_start(const struct wh_sim_tcp *tcp)
{
	double limit = tcp->config.max_ssthresh_pkts;

	if (limit <= 0 || (tcp->cut != WH_SIM_CUT_NEVER && tcp->cut != WH_SIM_CUT_BY_TIMEOUT))
		return 0;

	double rounds = floor(tcp->cwnd / (limit / 2));

	return rounds > 0 ? 1 / rounds : 0;
}

void wh_sim_tcp_grow_reno(struct wh_sim_tcp *tcp, uint64_t now_ps)
{
	(void)now_ps;
	WH_ASSERT(tcp->cwnd >= 1);
	if (tcp->cwnd < tcp->ssthresh)
		tcp->cwnd += 1;
	else
		tcp->cwnd += fmax(1 / tcp->cwnd, wh_sim_tcp_limited_slow_start(tcp));
}

/* ns-2: after a timeout while idle the window starts again, but ssthresh stays. */
static void restart(struct wh_sim_tcp *tcp, uint64_t now_ps)
{
	tcp->recover = tcp->sent_end;
	tcp->cut = WH_SIM_CUT_BY_TIMEOUT;
	tcp->rto.timing = false;
	tcp->cwnd = 1;
	tcp->duplicates = 0;
	tcp->ops->send(tcp, now_ps, 0);
}

static void expire(void *context, uint64_t now_ps)
{
	struct wh_sim_tcp *tcp = context;

	if (tcp->ops->expire != NULL) {
		tcp->ops->expire(tcp, now_ps);
		wh_sim_tcp_check(tcp);
		return;
	}
	if (tcp->una == tcp->sent_end) {
		restart(tcp, now_ps);
		return;
	}
	tcp->timeouts++;
	if (tcp->una == 0)
		tcp->initial_cwnd = 1;
	tcp->reno.inflation_pkts = 0;

	double kept = tcp->ops->keep(tcp, wh_sim_tcp_window(tcp), WH_SIM_CUT_BY_TIMEOUT);

	tcp->ssthresh = fmax(floor(kept), 2);
	tcp->cwnd = 1;
	tcp->cut = WH_SIM_CUT_BY_TIMEOUT;
	tcp->recover = tcp->sent_end;
	tcp->duplicates = 0;
	tcp->next = tcp->una;
	tcp->rto.timing = false;
	wh_sim_rto_back_off(&tcp->rto);
	wh_sim_tcp_set_timer(tcp, now_ps);
	if (tcp->ops->timeout != NULL)
		tcp->ops->timeout(tcp, now_ps);
	tcp->ops->send(tcp, now_ps, 0);
	wh_sim_tcp_check(tcp);
}

static void tell_done(struct wh_sim_tcp *tcp, uint64_t now_ps)
{
	if (tcp->told || !tcp->started || tcp->una != tcp->offered_end)
		return;
	WH_ASSERT(tcp->una == tcp->sent_end && tcp->next == tcp->sent_end);
	tcp->told = true;
	if (tcp->more == NULL)
		tcp->stats->finished_ps = now_ps;
	if (tcp->done != NULL)
		tcp->done(tcp->done_context, now_ps);
}

static void receive(void *context, uint64_t now_ps, struct wh_sim_packet *packet)
{
	struct wh_sim_tcp *tcp = context;
	struct wh_sim_segment segment = packet->segment;

	wh_sim_packet_put(wh_sim_pool(tcp->sim), packet);
	tcp->ops->ack(tcp, now_ps, &segment);
	wh_sim_tcp_check(tcp);
	tell_done(tcp, now_ps);
}

void wh_sim_tcp_offer(struct wh_sim_tcp *tcp, uint64_t now_ps, uint64_t segments)
{
	if (!tcp->started && tcp->config.handshake)
		tcp->offered_end = 1;
	tcp->started = true;
	if (segments > UINT64_MAX - tcp->offered_end)
		tcp->offered_end = UINT64_MAX;
	else
		tcp->offered_end += segments;
	if (segments > 0) {
		tcp->told = false;
		tcp->stats->finished_ps = WH_SIM_NEVER_PS;
	}
	tcp->ops->send(tcp, now_ps, 0);
	wh_sim_tcp_check(tcp);
}

void wh_sim_tcp_stop(struct wh_sim_tcp *tcp)
{
	tcp->more = NULL;
	tcp->offered_end = tcp->sent_end;
}

void wh_sim_tcp_feed(struct wh_sim_tcp *tcp, bool (*more)(void *context), void *context)
{
	WH_ASSERT(more != NULL && !tcp->started);
	tcp->more = more;
	tcp->more_context = context;
}

void wh_sim_tcp_on_done(
	struct wh_sim_tcp *tcp, void (*done)(void *context, uint64_t now_ps), void *context)
{
	tcp->done = done;
	tcp->done_context = context;
}

static uint64_t without_handshake(const struct wh_sim_tcp *tcp, uint64_t pn)
{
	return pn - (tcp->config.handshake && pn > 0);
}

double wh_sim_tcp_cwnd_pkts(const struct wh_sim_tcp *tcp)
{
	if (tcp->config.variety == WH_SIM_TCP_STTP)
		return tcp->sttp.bucket.capacity;
	return tcp->cwnd;
}

uint64_t wh_sim_tcp_next_pn(const struct wh_sim_tcp *tcp)
{
	return without_handshake(tcp, tcp->next);
}

uint64_t wh_sim_tcp_acked_pkts(const struct wh_sim_tcp *tcp)
{
	return without_handshake(tcp, tcp->una);
}
