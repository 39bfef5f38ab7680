/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * A sender with Linux's recovery and no control but the test, which sets window and pace by hand
 * and sees each sample and what the control would hear of.
 */

#include "tcp_rig.h"

#define RACK_EVENTS_MAX 16

static struct rig rig;
static struct wh_sim_tcp_ops rack_ops;
static struct wh_sim_rate_sample latest;
static enum wh_sim_rack_event events[RACK_EVENTS_MAX];
static uint32_t n_events;

static inline void rack_note_sample(struct wh_sim_tcp *tcp, const struct wh_sim_rate_sample *sample)
{
	(void)tcp;
	latest = *sample;
}

static inline void rack_note_event(struct wh_sim_tcp *tcp, enum wh_sim_rack_event event,
	const struct wh_sim_rate_sample *sample)
{
	(void)tcp;
	(void)sample;
	CU_ASSERT_FATAL(n_events < RACK_EVENTS_MAX);
	events[n_events++] = event;
}

/* So many are offered to a window; pace and burst are the test's to set between. */
static inline void rack_connect(double cwnd)
{
	rig_open(&rig, WH_SIM_TCP_BBR);
	rack_ops = wh_sim_tcp_bbr;
	rack_ops.sample = rack_note_sample;
	rack_ops.hear = rack_note_event;
	n_events = 0;
	rig_connect(&rig);
	rig.tcp->ops = &rack_ops;
	rig.tcp->cwnd = cwnd;
	rig.spy = wh_sim_add_agent(rig.sim, 1, rig_see, &rig);
	rig.tcp->receiver.agent = rig.spy;
}

static inline void rack_start(double cwnd)
{
	rack_connect(cwnd);
	wh_sim_tcp_offer(rig.tcp, rig.now_ps, UINT64_MAX);
	rig_step(&rig);
	CU_ASSERT_EQUAL_FATAL(rig.n_seen, (uint32_t)cwnd);
	CU_ASSERT_EQUAL_FATAL(n_events, 1);
	CU_ASSERT_EQUAL(events[0], WH_SIM_RACK_STANDS);
}

/* Beside what is wanted next this range has arrived. */
static inline void rack_sack(uint64_t next, uint64_t first, uint64_t end)
{
	rig_ack_ranges(&rig, next, (struct wh_sim_sack[]){{first, end}, {0, 0}});
}

static inline uint64_t rack_last_seen(void)
{
	return rig.seen[rig.n_seen - 1].pn;
}
