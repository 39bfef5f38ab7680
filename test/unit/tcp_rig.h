/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * A TCP on a fast link whose receiver is the test: it sees each segment that comes and answers by
 * hand. Or, with rig_open_path, on a path of its own kind with the real receiver.
 */

#include "lab/tcp/tcp_internal.h"
#include "unit.h"

#define RIG_SEEN_MAX 4096
#define RIG_STEP_PS  (WH_PS_PER_S / 1000) /* enough for a burst over the fast link */
#define MS_PS        (WH_PS_PER_S / 1000)

struct rig {
	struct wh_sim *sim;
	struct wh_sim_tcp_config config;
	struct wh_sim_tcp *tcp;
	uint32_t flow;
	uint32_t link;
	uint64_t now_ps;
	uint32_t spy;
	struct wh_sim_segment seen[RIG_SEEN_MAX];
	uint64_t seen_ps[RIG_SEEN_MAX];
	uint32_t n_seen;
};

static inline void rig_see(void *context, uint64_t now_ps, struct wh_sim_packet *packet)
{
	struct rig *rig = context;

	CU_ASSERT_FATAL(rig->n_seen < RIG_SEEN_MAX);
	rig->seen_ps[rig->n_seen] = now_ps;
	rig->seen[rig->n_seen++] = packet->segment;
	wh_sim_packet_put(wh_sim_pool(rig->sim), packet);
}

/* Two nodes with this link both ways, and defaults to be changed before rig_connect. */
static inline void rig_open_links(struct rig *rig, enum wh_sim_tcp_variety variety, uint64_t seed,
	struct wh_sim_link_config link)
{
	memset(rig, 0, sizeof(*rig));
	wh_sim_tcp_config_init(&rig->config, variety);
	rig->sim = wh_sim_create(seed);
	link.from = wh_sim_add_node(rig->sim);
	link.to = wh_sim_add_node(rig->sim);
	rig->link = wh_sim_add_link(rig->sim, &link);
	link.from = 1;
	link.to = 0;
	wh_sim_add_link(rig->sim, &link);
	rig->flow = wh_sim_add_flow(rig->sim);
}

static inline void rig_open_path(struct rig *rig, enum wh_sim_tcp_variety variety,
	uint64_t rate_bps, uint64_t delay_ps, uint32_t queue_pkts)
{
	rig_open_links(rig, variety, 1,
		(struct wh_sim_link_config){.rate_bps = rate_bps,
			.delay_ps = delay_ps,
			.queue = {.limit_pkts = queue_pkts}});
}

/* 10 Mb/s and 5 ms, with loss. */
static inline void rig_open_lossy(struct rig *rig, enum wh_sim_tcp_variety variety, uint64_t seed,
	double loss, uint32_t queue_pkts)
{
	rig_open_links(rig, variety, seed,
		(struct wh_sim_link_config){.rate_bps = 10000000,
			.delay_ps = 5 * MS_PS,
			.queue = {.limit_pkts = queue_pkts},
			.loss = {.loss = loss}});
}

static inline void rig_connect(struct rig *rig)
{
	rig->tcp = wh_sim_tcp_create(rig->sim, &rig->config, 0, 1, rig->flow);
}

static inline void rig_run_to(struct rig *rig, uint64_t until_ps)
{
	rig->now_ps = until_ps;
	wh_sim_run(rig->sim, until_ps);
}

static inline void rig_step(struct rig *rig)
{
	rig_run_to(rig, rig->now_ps + RIG_STEP_PS);
}

/* The window is 1000; no handshake and no limited transmit unless a test wants them. */
static inline void rig_open(struct rig *rig, enum wh_sim_tcp_variety variety)
{
	rig_open_path(rig, variety, UINT64_C(1000000000000), 1000, 0);
	rig->config.window_pkts = 1000;
	rig->config.handshake = false;
	rig->config.limited_transmit = false;
}

static inline void rig_start(struct rig *rig)
{
	rig_connect(rig);
	rig->spy = wh_sim_add_agent(rig->sim, 1, rig_see, rig);
	rig->tcp->receiver.agent = rig->spy;
	wh_sim_tcp_offer(rig->tcp, rig->now_ps, UINT64_MAX);
	rig_step(rig);
}

static inline void rig_close(struct rig *rig)
{
	wh_sim_tcp_destroy(rig->tcp);
	wh_sim_destroy(rig->sim);
}

/* `next` is the number of the next segment wanted; up to three ranges, ended by one of 0. */
static inline void rig_ack_ranges(struct rig *rig, uint64_t next, const struct wh_sim_sack *ranges)
{
	struct wh_sim_packet *packet = wh_sim_packet_get(wh_sim_pool(rig->sim));

	packet->bytes = 40;
	packet->flow = rig->flow;
	packet->to = rig->tcp->agent;
	packet->segment = (struct wh_sim_segment){.pn = next};
	for (unsigned int i = 0; i < WH_SIM_SACKS_MAX && ranges != NULL && ranges[i].end != 0; i++)
		packet->segment.sack[packet->segment.n_sacks++] = ranges[i];
	wh_sim_send(rig->sim, 1, packet);
	rig_step(rig);
}

static inline void rig_ack(struct rig *rig, uint64_t next)
{
	rig_ack_ranges(rig, next, NULL);
}

/* Two segments go and are acknowledged: with nothing more to send it is idle. */
static inline void rig_become_idle(struct rig *rig)
{
	rig->spy = wh_sim_add_agent(rig->sim, 1, rig_see, rig);
	rig->tcp->receiver.agent = rig->spy;
	wh_sim_tcp_offer(rig->tcp, 0, 2);
	rig_step(rig);
	rig_ack(rig, 2);
}

/* One for each, as a receiver that delays none. */
static inline void rig_ack_each(struct rig *rig, uint64_t first, uint64_t last)
{
	for (uint64_t next = first; next <= last; next++)
		rig_ack(rig, next);
}

static inline void rig_ack_times(struct rig *rig, uint64_t next, unsigned int times)
{
	while (times-- > 0)
		rig_ack(rig, next);
}

/* The range [first, end) grows by one segment per acknowledgement, from `from` on. */
static inline void rig_sack_each(
	struct rig *rig, uint64_t next, uint64_t first, uint64_t from, uint64_t end)
{
	for (uint64_t e = from + 1; e <= end; e++)
		rig_ack_ranges(rig, next, (struct wh_sim_sack[]){{first, e}, {0, 0}});
}
