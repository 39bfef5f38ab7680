/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab/tcp/tcp_internal.h"

/*
 * A TCP with BBR: the model gets a sample per acknowledgement, and each loss; rack.c applies its
 * pace and window.
 */

static void follow(struct wh_sim_tcp *tcp)
{
	tcp->cwnd = tcp->bbr.cwnd_pkts;
	tcp->rack.pace_pps = tcp->bbr.pace_pps;
	tcp->rack.burst_pkts = wh_sim_bbr_burst_pkts(&tcp->bbr);
}

static void sample(struct wh_sim_tcp *tcp, const struct wh_sim_rate_sample *sample)
{
	wh_sim_bbr_sample(&tcp->bbr, sample);
	if (tcp->bbr.limited)
		tcp->rack.limited_pkts = sample->all_delivered_pkts + sample->in_flight_pkts + 1;
	follow(tcp);
}

static void lose(struct wh_sim_tcp *tcp, const struct wh_sim_rate_loss *loss)
{
	if (tcp->rack.stands)
		tcp->bbr.version->lose(&tcp->bbr, loss);
}

static void hear(struct wh_sim_tcp *tcp, enum wh_sim_rack_event event,
	const struct wh_sim_rate_sample *sample)
{
	struct wh_sim_bbr *bbr = &tcp->bbr;

	switch (event) {
	case WH_SIM_RACK_STANDS:
		wh_sim_bbr_init(bbr, tcp->ops->lose == NULL ? &wh_sim_bbr1 : &wh_sim_bbr3,
			wh_sim_prng(tcp->sim), tcp->config.segment_bytes, tcp->initial_cwnd,
			sample);
		break;
	case WH_SIM_RACK_RECOVERS:
		bbr->version->recover(bbr);
		return;
	case WH_SIM_RACK_TIMES_OUT:
		wh_sim_bbr_timeout(bbr, sample, tcp->cwnd);
		break;
	case WH_SIM_RACK_UNDONE:
		wh_sim_bbr_undo(bbr, sample);
		break;
	case WH_SIM_RACK_RESTARTS:
		wh_sim_bbr_restart(bbr, sample);
		break;
	}
	follow(tcp);
}

#define WITH_MODEL                                                                                 \
	.ack = wh_sim_rack_ack, .send = wh_sim_rack_send, .note_sent = wh_sim_rack_note_sent,      \
	.expire = wh_sim_rack_expire, .sample = sample, .hear = hear

const struct wh_sim_tcp_ops wh_sim_tcp_bbr = {.name = "bbr", WITH_MODEL};
const struct wh_sim_tcp_ops wh_sim_tcp_bbr3 = {.name = "bbr3", WITH_MODEL, .lose = lose};
