/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab/tcp/model/bbr.h"

#include <math.h>

#include "base/assert.h"
#include "lab/sim/event.h"

#define PROBE_RTT_PS    (WH_PS_PER_S / 5)
#define FULL_GROWTH     1.25
#define FULL_ROUNDS     3
#define FIRST_RTT_S     0.001 /* when no round-trip time is known */
#define EXTRA_ROUNDS    10
#define BURST_S         0x1.0p-10
#define BURST_BYTES_MAX 65215.0 /* 64 KiB less room for the heads */
#define BURST_PKTS_MAX  127
#define SMALL_PACE_BPS  1.2e6 /* below it segments are sent singly */

uint32_t wh_sim_bbr_burst_pkts(const struct wh_sim_bbr *bbr)
{
	double pace = bbr->pace_pps * bbr->segment_bytes;
	double least = pace * 8 < SMALL_PACE_BPS ? 1 : 2;
	double pkts = floor(fmin(pace * BURST_S, BURST_BYTES_MAX) / bbr->segment_bytes);

	return (uint32_t)fmin(fmax(pkts, least), BURST_PKTS_MAX);
}

void wh_sim_bbr_set_pace(struct wh_sim_bbr *bbr, double gain)
{
	double pace = bbr->bw_pps * gain * WH_SIM_BBR_PACING_SHARE;

	if (pace > 0 && (bbr->full || pace > bbr->pace_pps))
		bbr->pace_pps = pace;
}

static void first_pace(struct wh_sim_bbr *bbr, uint64_t srtt_ps)
{
	double rtt_s = srtt_ps != 0 ? wh_ps_to_seconds(srtt_ps) : FIRST_RTT_S;

	bbr->rtt_seen = srtt_ps != 0;
	bbr->pace_pps = bbr->cwnd_pkts / rtt_s * bbr->version->startup_gain;
}

double wh_sim_bbr_product(const struct wh_sim_bbr *bbr, double pps, double gain)
{
	if (bbr->min_rtt_ps == WH_SIM_NO_RTT_PS)
		return bbr->initial_pkts;
	return ceil(pps * wh_ps_to_seconds(bbr->min_rtt_ps) * gain);
}

void wh_sim_bbr_start_round(struct wh_sim_bbr *bbr)
{
	bbr->round_end_pkts = bbr->delivered_pkts;
}

void wh_sim_bbr_take_round(struct wh_sim_bbr *bbr, const struct wh_sim_rate_sample *sample)
{
	bbr->round_start =
		sample->acked_pkts > 0 && sample->prior_delivered_pkts >= bbr->round_end_pkts;
	if (!bbr->round_start)
		return;
	wh_sim_bbr_start_round(bbr);
	bbr->rounds++;
}

void wh_sim_bbr_take_extra(struct wh_sim_bbr *bbr, const struct wh_sim_rate_sample *sample)
{
	double expected = bbr->bw_pps * wh_ps_to_seconds(bbr->now_ps - bbr->extra_ps);

	if (sample->acked_pkts == 0)
		return;
	if (bbr->extra_acked_pkts <= expected) {
		bbr->extra_acked_pkts = expected = 0;
		bbr->extra_ps = bbr->now_ps;
	}
	bbr->extra_acked_pkts += (double)sample->acked_pkts;
	wh_window_max_add(&bbr->extra_pkts, bbr->full ? EXTRA_ROUNDS : 1, bbr->rounds,
		fmin(bbr->extra_acked_pkts - expected, bbr->cwnd_pkts));
}

void wh_sim_bbr_reset_full(struct wh_sim_bbr *bbr, double from_pps)
{
	bbr->full_pps = from_pps;
	bbr->full_rounds = 0;
	bbr->full_now = false;
}

void wh_sim_bbr_look_whether_full(
	struct wh_sim_bbr *bbr, const struct wh_sim_rate_sample *sample, double pps)
{
	if (bbr->full_now || !bbr->round_start || sample->limited)
		return;
	if (pps >= bbr->full_pps * FULL_GROWTH) {
		wh_sim_bbr_reset_full(bbr, pps);
		return;
	}
	bbr->full_now = ++bbr->full_rounds >= FULL_ROUNDS;
	bbr->full |= bbr->full_now;
}

void wh_sim_bbr_keep_window(struct wh_sim_bbr *bbr)
{
	if (bbr->before < WH_SIM_RACK_RECOVERY && bbr->mode != WH_SIM_BBR_PROBE_RTT)
		bbr->kept_cwnd_pkts = bbr->cwnd_pkts;
	else
		bbr->kept_cwnd_pkts = fmax(bbr->kept_cwnd_pkts, bbr->cwnd_pkts);
}

void wh_sim_bbr_restore_window(struct wh_sim_bbr *bbr)
{
	bbr->cwnd_pkts = fmax(bbr->cwnd_pkts, bbr->kept_cwnd_pkts);
}

static double probe_rtt_cwnd(const struct wh_sim_bbr *bbr)
{
	double part = wh_sim_bbr_product(bbr, bbr->bw_pps, bbr->version->probe_rtt_gain);

	return fmax(part, WH_SIM_BBR_CWND_LEAST_PKTS);
}

static void leave_probe_rtt_if_over(struct wh_sim_bbr *bbr)
{
	if (bbr->probe_rtt_done_ps == 0 || bbr->now_ps <= bbr->probe_rtt_done_ps)
		return;
	bbr->probe_rtt_min_at_ps = bbr->now_ps;
	wh_sim_bbr_restore_window(bbr);
	bbr->mode = WH_SIM_BBR_STARTUP;
	bbr->version->resume(bbr);
}

/* Keeps the window small for 200 ms and a round trip. */
static void probe_rtt(struct wh_sim_bbr *bbr, const struct wh_sim_rate_sample *sample)
{
	bbr->limited = true;
	if (bbr->probe_rtt_done_ps != 0) {
		bbr->probe_rtt_round_done |= bbr->round_start;
		if (bbr->probe_rtt_round_done)
			leave_probe_rtt_if_over(bbr);
	} else if ((double)sample->in_flight_pkts <= probe_rtt_cwnd(bbr)) {
		bbr->probe_rtt_done_ps = bbr->now_ps + PROBE_RTT_PS;
		bbr->probe_rtt_round_done = false;
		wh_sim_bbr_start_round(bbr);
	}
}

bool wh_sim_bbr_take_rtt(struct wh_sim_bbr *bbr, const struct wh_sim_rate_sample *sample)
{
	const struct wh_sim_bbr_version *version = bbr->version;
	bool expired = bbr->now_ps > bbr->probe_rtt_min_at_ps + version->probe_rtt_every_ps;
	bool begins = expired && !bbr->restarting && bbr->mode != WH_SIM_BBR_PROBE_RTT;

	if (sample->rtt_ps != WH_SIM_NO_RTT_PS &&
		(sample->rtt_ps < bbr->probe_rtt_min_ps || expired)) {
		bbr->probe_rtt_min_ps = sample->rtt_ps;
		bbr->probe_rtt_min_at_ps = bbr->now_ps;
	}
	if (bbr->probe_rtt_min_ps < bbr->min_rtt_ps ||
		bbr->now_ps > bbr->min_rtt_at_ps + version->min_rtt_ps) {
		bbr->min_rtt_ps = bbr->probe_rtt_min_ps;
		bbr->min_rtt_at_ps = bbr->probe_rtt_min_at_ps;
	}
	if (begins) {
		wh_sim_bbr_keep_window(bbr);
		bbr->mode = WH_SIM_BBR_PROBE_RTT;
		bbr->probe_rtt_done_ps = 0;
	}
	bbr->limited = false;
	if (bbr->mode == WH_SIM_BBR_PROBE_RTT)
		probe_rtt(bbr, sample);
	if (sample->delivered_pkts > 0)
		bbr->restarting = false;
	return begins;
}

void wh_sim_bbr_grow(
	struct wh_sim_bbr *bbr, const struct wh_sim_rate_sample *sample, double target_pkts)
{
	double more = bbr->cwnd_pkts + (double)sample->acked_pkts;

	if (bbr->full)
		bbr->cwnd_pkts = fmin(more, target_pkts);
	else if (bbr->cwnd_pkts < target_pkts || (double)bbr->delivered_pkts < bbr->initial_pkts)
		bbr->cwnd_pkts = more;
	bbr->cwnd_pkts = fmax(bbr->cwnd_pkts, WH_SIM_BBR_CWND_LEAST_PKTS);
}

static void take_moment(struct wh_sim_bbr *bbr, const struct wh_sim_rate_sample *sample)
{
	bbr->now_ps = sample->now_ps;
	bbr->delivered_pkts = sample->all_delivered_pkts;
}

void wh_sim_bbr_init(struct wh_sim_bbr *bbr, const struct wh_sim_bbr_version *version,
	struct wh_prng *prng, uint32_t segment_bytes, double cwnd_pkts,
	const struct wh_sim_rate_sample *sample)
{
	WH_ASSERT(segment_bytes > 0 && cwnd_pkts >= 1);
	*bbr = (struct wh_sim_bbr){
		.version = version,
		.prng = prng,
		.segment_bytes = segment_bytes,
		.initial_pkts = cwnd_pkts,
		.cwnd_pkts = cwnd_pkts,
		.mode = WH_SIM_BBR_STARTUP,
		.min_rtt_ps = sample->rtt_ps,
		.min_rtt_at_ps = sample->now_ps,
		.probe_rtt_min_ps = sample->rtt_ps,
		.probe_rtt_min_at_ps = sample->now_ps,
		.extra_ps = sample->now_ps,
	};
	take_moment(bbr, sample);
	wh_sim_bbr_start_round(bbr);
	first_pace(bbr, sample->srtt_ps);
	version->init(bbr, sample);
}

void wh_sim_bbr_sample(struct wh_sim_bbr *bbr, const struct wh_sim_rate_sample *sample)
{
	take_moment(bbr, sample);
	if (!bbr->rtt_seen && sample->srtt_ps != 0)
		first_pace(bbr, sample->srtt_ps);
	bbr->rate_pps = sample->valid ? (double)sample->delivered_pkts /
						wh_ps_to_seconds(sample->interval_ps)
				      : 0;
	bbr->version->sample(bbr, sample);
	if (bbr->mode == WH_SIM_BBR_PROBE_RTT)
		bbr->cwnd_pkts = fmin(bbr->cwnd_pkts, probe_rtt_cwnd(bbr));
	WH_ASSERT(bbr->cwnd_pkts >= 1 && bbr->pace_pps > 0);
}

void wh_sim_bbr_timeout(
	struct wh_sim_bbr *bbr, const struct wh_sim_rate_sample *sample, double cwnd_pkts)
{
	bbr->version->recover(bbr);
	bbr->before = WH_SIM_RACK_LOSS;
	bbr->cwnd_pkts = cwnd_pkts;
	if (bbr->version->time_out)
		bbr->version->time_out(bbr, sample);
}

void wh_sim_bbr_undo(struct wh_sim_bbr *bbr, const struct wh_sim_rate_sample *sample)
{
	take_moment(bbr, sample);
	bbr->version->undo(bbr, sample);
}

void wh_sim_bbr_restart(struct wh_sim_bbr *bbr, const struct wh_sim_rate_sample *sample)
{
	take_moment(bbr, sample);
	bbr->restarting = true;
	bbr->extra_ps = sample->now_ps;
	bbr->extra_acked_pkts = 0;
	if (bbr->mode >= WH_SIM_BBR_PROBE_BW)
		wh_sim_bbr_set_pace(bbr, 1);
	else if (bbr->mode == WH_SIM_BBR_PROBE_RTT)
		leave_probe_rtt_if_over(bbr);
}
