/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab/tcp/model/bbr.h"

#include <math.h>

#include "lab/sim/event.h"

#define STARTUP_GAIN   2.77
#define LOSS_THRESH    0.02
#define BETA           0.7
#define HEADROOM       0.15
#define STARTUP_LOSSES 6 /* discontiguous ranges in a round */
#define DRAIN_ROUNDS   3
#define PROBE_RTT_GAIN 0.5
#define PROBE_WAIT_S   2.0
#define RENO_ROUNDS    63
#define UP_ROUNDS_MAX  30

static const struct {
	double pacing;
	double cwnd;
} gain[] = {
	[WH_SIM_BBR_STARTUP] = {STARTUP_GAIN, 2},
	[WH_SIM_BBR_DRAIN] = {0.5, 2},
	[WH_SIM_BBR_DOWN] = {0.9, 2},
	[WH_SIM_BBR_CRUISE] = {1, 2},
	[WH_SIM_BBR_REFILL] = {1, 2},
	[WH_SIM_BBR_UP] = {1.25, 2.25},
	[WH_SIM_BBR_PROBE_RTT] = {1, PROBE_RTT_GAIN},
};

static bool probes_bw(const struct wh_sim_bbr *bbr)
{
	return bbr->mode >= WH_SIM_BBR_DOWN;
}

static double max_pps(const struct wh_sim_bbr *bbr)
{
	return fmax(bbr->cycle_pps[0], bbr->cycle_pps[1]);
}

/* Room for bursts on both hosts, and for probing. */
static double with_bursts(const struct wh_sim_bbr *bbr, double pkts)
{
	pkts = fmax(pkts, 3.0 * wh_sim_bbr_burst_pkts(bbr));
	pkts = fmax(pkts, WH_SIM_BBR_CWND_LEAST_PKTS);
	return bbr->mode == WH_SIM_BBR_UP ? pkts + 2 : pkts;
}

/* The draft's Inflight(1.0) of a rate. */
static double inflight(const struct wh_sim_bbr *bbr, double pps)
{
	return with_bursts(bbr, wh_sim_bbr_product(bbr, pps, 1));
}

static double target_inflight(const struct wh_sim_bbr *bbr)
{
	return fmin(wh_sim_bbr_product(bbr, bbr->bw_pps, 1), bbr->cwnd_pkts);
}

static double with_headroom(const struct wh_sim_bbr *bbr)
{
	double limit = bbr->inflight_longterm_pkts;

	return isinf(limit) ? limit
			    : fmax(limit - fmax(1, HEADROOM * limit), WH_SIM_BBR_CWND_LEAST_PKTS);
}

static void reset_shortterm(struct wh_sim_bbr *bbr)
{
	bbr->bw_shortterm_pps = bbr->inflight_shortterm_pkts = INFINITY;
}

static void save_before_loss(struct wh_sim_bbr *bbr)
{
	wh_sim_bbr_keep_window(bbr);
	bbr->undo = false;
	bbr->undo_bw_pps = bbr->bw_shortterm_pps;
	bbr->undo_shortterm_pkts = bbr->inflight_shortterm_pkts;
	bbr->undo_longterm_pkts = bbr->inflight_longterm_pkts;
}

static void start_down(struct wh_sim_bbr *bbr)
{
	bbr->loss_in_round = false;
	bbr->bw_latest_pps = bbr->inflight_latest_pkts = 0;
	bbr->up_acked_per_pkt = INFINITY;
	bbr->rounds_since_up = wh_prng_below(bbr->prng, 2);
	bbr->probe_wait_ps = (uint64_t)((PROBE_WAIT_S + wh_prng_unit(bbr->prng)) * WH_PS_PER_S);
	bbr->cycle_ps = bbr->now_ps;
	bbr->probe_stops = true;
	wh_sim_bbr_start_round(bbr);
	bbr->mode = WH_SIM_BBR_DOWN;
}

static void start_refill(struct wh_sim_bbr *bbr)
{
	reset_shortterm(bbr);
	bbr->up_rounds = 0;
	bbr->up_acked_pkts = 0;
	bbr->probe_precautionary = false;
	bbr->probe_stops = false;
	wh_sim_bbr_start_round(bbr);
	bbr->mode = WH_SIM_BBR_REFILL;
}

/* The limit grows by one, two, four segments a round. */
static void raise_slope(struct wh_sim_bbr *bbr)
{
	double growth = (double)(UINT32_C(1) << bbr->up_rounds);

	bbr->up_rounds = bbr->up_rounds < UP_ROUNDS_MAX ? bbr->up_rounds + 1 : UP_ROUNDS_MAX;
	bbr->up_acked_per_pkt = fmax(bbr->cwnd_pkts / growth, 1);
}

static void start_up(struct wh_sim_bbr *bbr)
{
	bbr->probe_samples = true;
	bbr->probe_stops = false;
	wh_sim_bbr_start_round(bbr);
	wh_sim_bbr_reset_full(bbr, bbr->rate_pps);
	bbr->mode = WH_SIM_BBR_UP;
	raise_slope(bbr);
}

static bool is_too_high(uint64_t lost_pkts, uint64_t in_flight_pkts)
{
	return (double)lost_pkts > (double)in_flight_pkts * LOSS_THRESH;
}

static void go_below(struct wh_sim_bbr *bbr, double in_flight_pkts, bool limited)
{
	bbr->probe_too_high = true;
	bbr->probe_samples = false;
	if (!limited)
		bbr->inflight_longterm_pkts = fmax(in_flight_pkts, target_inflight(bbr) * BETA);
	if (bbr->mode == WH_SIM_BBR_UP) {
		bbr->undo = true;
		bbr->undo_mode = WH_SIM_BBR_UP;
		start_down(bbr);
	}
}

static void lose(struct wh_sim_bbr *bbr, const struct wh_sim_rate_loss *loss)
{
	double before = (double)loss->sent_in_flight_pkts - 1;
	double lost_before = (double)loss->lost_since_pkts - 1;

	bbr->now_ps = loss->now_ps;
	bbr->delivered_pkts = loss->all_delivered_pkts;
	if (!bbr->loss_in_round) {
		bbr->loss_round_end_pkts = loss->all_delivered_pkts;
		bbr->lost_ranges = 0;
		save_before_loss(bbr);
	}
	if (!bbr->loss_in_round || loss->pn != bbr->lost_next)
		bbr->lost_ranges++;
	bbr->lost_next = loss->pn + 1;
	bbr->loss_in_round = true;
	/* The volume at which losses began to exceed the threshold. */
	if (bbr->probe_samples && is_too_high(loss->lost_since_pkts, loss->sent_in_flight_pkts))
		go_below(bbr, before + (LOSS_THRESH * before - lost_before) / (1 - LOSS_THRESH),
			loss->limited);
}

/* Once a round in which something was lost, while not probing. */
static void lower_shortterm(struct wh_sim_bbr *bbr)
{
	if (bbr->mode == WH_SIM_BBR_STARTUP || bbr->mode == WH_SIM_BBR_REFILL ||
		bbr->mode == WH_SIM_BBR_UP || !bbr->loss_in_round)
		return;
	if (isinf(bbr->bw_shortterm_pps))
		bbr->bw_shortterm_pps = max_pps(bbr);
	if (isinf(bbr->inflight_shortterm_pkts))
		bbr->inflight_shortterm_pkts = bbr->cwnd_pkts;
	bbr->bw_shortterm_pps = fmax(bbr->bw_latest_pps, BETA * bbr->bw_shortterm_pps);
	bbr->inflight_shortterm_pkts =
		fmax(bbr->inflight_latest_pkts, BETA * bbr->inflight_shortterm_pkts);
}

static void take_signals(struct wh_sim_bbr *bbr, const struct wh_sim_rate_sample *sample)
{
	bbr->loss_round_start = false;
	bbr->bw_latest_pps = fmax(bbr->bw_latest_pps, bbr->rate_pps);
	bbr->inflight_latest_pkts = fmax(bbr->inflight_latest_pkts, (double)sample->delivered_pkts);
	if (sample->acked_pkts > 0 && sample->prior_delivered_pkts >= bbr->loss_round_end_pkts) {
		bbr->loss_round_end_pkts = bbr->delivered_pkts;
		bbr->loss_round_start = true;
	}
	wh_sim_bbr_take_round(bbr, sample);
	if (bbr->round_start) {
		bbr->rounds_since_up++;
		bbr->recovering_rounds =
			sample->state == WH_SIM_RACK_RECOVERY ? bbr->recovering_rounds + 1 : 0;
	}
	if (sample->valid && (!sample->limited || bbr->rate_pps >= max_pps(bbr)))
		bbr->cycle_pps[0] = fmax(bbr->cycle_pps[0], bbr->rate_pps);
}

static void leave_startup(struct wh_sim_bbr *bbr, const struct wh_sim_rate_sample *sample)
{
	if (bbr->mode != WH_SIM_BBR_STARTUP)
		return;
	if (bbr->loss_round_start && bbr->loss_in_round && bbr->recovering_rounds >= 1 &&
		bbr->lost_ranges >= STARTUP_LOSSES &&
		is_too_high(sample->lost_since_pkts, sample->sent_in_flight_pkts)) {
		bbr->undo = true;
		bbr->undo_mode = WH_SIM_BBR_STARTUP;
		bbr->full = true;
		bbr->inflight_longterm_pkts =
			fmax(wh_sim_bbr_product(bbr, max_pps(bbr), 1), bbr->inflight_latest_pkts);
	}
	if (!bbr->full)
		return;
	bbr->mode = WH_SIM_BBR_DRAIN;
	bbr->drain_start_round = bbr->rounds;
}

static void leave_drain(struct wh_sim_bbr *bbr, const struct wh_sim_rate_sample *sample)
{
	if (bbr->mode != WH_SIM_BBR_DRAIN)
		return;
	if ((double)sample->in_flight_pkts <= inflight(bbr, bbr->bw_pps) ||
		bbr->rounds > bbr->drain_start_round + DRAIN_ROUNDS)
		start_down(bbr);
}

static void probe_upward(struct wh_sim_bbr *bbr, const struct wh_sim_rate_sample *sample)
{
	double more;

	if (!sample->window_was_limit || bbr->cwnd_pkts < bbr->inflight_longterm_pkts)
		return;
	bbr->up_acked_pkts += (double)sample->acked_pkts;
	more = floor(bbr->up_acked_pkts / bbr->up_acked_per_pkt);
	if (more >= 1) {
		bbr->up_acked_pkts -= more * bbr->up_acked_per_pkt;
		bbr->inflight_longterm_pkts += more;
	}
	if (bbr->round_start)
		raise_slope(bbr);
}

/* A round after a probe its samples end. True: another begins at once. */
static bool end_of_samples(struct wh_sim_bbr *bbr, const struct wh_sim_rate_sample *sample)
{
	bbr->probe_samples = false;
	bbr->probe_stops = false;
	if (!probes_bw(bbr))
		return false;
	if (!sample->limited) {
		bbr->cycle_pps[1] = bbr->cycle_pps[0];
		bbr->cycle_pps[0] = 0;
	}
	if (!bbr->probe_precautionary || bbr->probe_too_high)
		return false;
	start_refill(bbr);
	return true;
}

/* True: the state was changed. */
static bool adapt_longterm(struct wh_sim_bbr *bbr, const struct wh_sim_rate_sample *sample)
{
	if (bbr->round_start && bbr->probe_stops && end_of_samples(bbr, sample))
		return true;
	if (is_too_high(sample->lost_since_pkts, sample->sent_in_flight_pkts) ||
		isinf(bbr->inflight_longterm_pkts))
		return false;
	bbr->inflight_longterm_pkts =
		fmax(bbr->inflight_longterm_pkts, (double)sample->sent_in_flight_pkts);
	if (bbr->mode == WH_SIM_BBR_UP)
		probe_upward(bbr, sample);
	return false;
}

/* After two to three seconds, or when a Reno flow of this window would probe. */
static bool is_time_to_probe(const struct wh_sim_bbr *bbr)
{
	return bbr->now_ps > bbr->cycle_ps + bbr->probe_wait_ps ||
	       (double)bbr->rounds_since_up >= fmin(target_inflight(bbr), RENO_ROUNDS);
}

static bool is_time_to_go_down(struct wh_sim_bbr *bbr, const struct wh_sim_rate_sample *sample)
{
	if (bbr->probe_too_high && (double)sample->in_flight_pkts >= bbr->inflight_longterm_pkts) {
		bbr->probe_precautionary = true;
		return true;
	}
	if (sample->window_was_limit && bbr->cwnd_pkts >= bbr->inflight_longterm_pkts) {
		wh_sim_bbr_reset_full(bbr, bbr->rate_pps);
		return false;
	}
	return bbr->full_now;
}

static void cycle(struct wh_sim_bbr *bbr, const struct wh_sim_rate_sample *sample)
{
	double there = (double)sample->in_flight_pkts;

	if (!bbr->full || sample->acked_pkts == 0 || adapt_longterm(bbr, sample))
		return;
	if (bbr->mode == WH_SIM_BBR_DOWN || bbr->mode == WH_SIM_BBR_CRUISE) {
		if (is_time_to_probe(bbr))
			start_refill(bbr);
		else if (bbr->mode == WH_SIM_BBR_DOWN && there <= with_headroom(bbr) &&
			 there <= inflight(bbr, max_pps(bbr)))
			bbr->mode = WH_SIM_BBR_CRUISE;
	} else if (bbr->mode == WH_SIM_BBR_REFILL && bbr->round_start) {
		start_up(bbr);
	} else if (bbr->mode == WH_SIM_BBR_UP && is_time_to_go_down(bbr, sample)) {
		bbr->probe_too_high = false;
		start_down(bbr);
	}
}

static double cap_pkts(const struct wh_sim_bbr *bbr)
{
	double cap = INFINITY;

	if (bbr->mode == WH_SIM_BBR_CRUISE || bbr->mode == WH_SIM_BBR_PROBE_RTT)
		cap = with_headroom(bbr);
	else if (probes_bw(bbr))
		cap = bbr->inflight_longterm_pkts;
	return fmax(fmin(cap, bbr->inflight_shortterm_pkts), WH_SIM_BBR_CWND_LEAST_PKTS);
}

static void set_cwnd(struct wh_sim_bbr *bbr, const struct wh_sim_rate_sample *sample)
{
	double most = wh_sim_bbr_product(bbr, bbr->bw_pps, gain[bbr->mode].cwnd) +
		      wh_window_max_value(&bbr->extra_pkts);

	wh_sim_bbr_grow(bbr, sample, with_bursts(bbr, most));
	bbr->cwnd_pkts = fmin(bbr->cwnd_pkts, cap_pkts(bbr));
}

static void init(struct wh_sim_bbr *bbr, const struct wh_sim_rate_sample *sample)
{
	(void)sample;
	bbr->inflight_longterm_pkts = bbr->up_acked_per_pkt = INFINITY;
	reset_shortterm(bbr);
}

static void take_sample(struct wh_sim_bbr *bbr, const struct wh_sim_rate_sample *sample)
{
	if (bbr->before >= WH_SIM_RACK_RECOVERY && sample->state < WH_SIM_RACK_RECOVERY)
		wh_sim_bbr_restore_window(bbr);
	bbr->before = sample->state;
	take_signals(bbr, sample);
	if (bbr->loss_round_start)
		lower_shortterm(bbr);
	wh_sim_bbr_take_extra(bbr, sample);
	wh_sim_bbr_look_whether_full(bbr, sample, bbr->rate_pps);
	leave_startup(bbr, sample);
	if (bbr->loss_round_start)
		bbr->loss_in_round = false;
	leave_drain(bbr, sample);
	cycle(bbr, sample);
	if (wh_sim_bbr_take_rtt(bbr, sample)) {
		bbr->probe_stops = true;
		wh_sim_bbr_start_round(bbr);
	}
	if (bbr->loss_round_start) {
		bbr->bw_latest_pps = bbr->rate_pps;
		bbr->inflight_latest_pkts = (double)sample->delivered_pkts;
	}
	bbr->bw_pps = fmin(max_pps(bbr), bbr->bw_shortterm_pps);
	wh_sim_bbr_set_pace(bbr, gain[bbr->mode].pacing);
	set_cwnd(bbr, sample);
}

static void undo(struct wh_sim_bbr *bbr, const struct wh_sim_rate_sample *sample)
{
	bool again = bbr->undo && bbr->mode != bbr->undo_mode;

	(void)sample;
	wh_sim_bbr_restore_window(bbr);
	bbr->loss_in_round = false;
	wh_sim_bbr_reset_full(bbr, 0);
	bbr->bw_shortterm_pps = fmax(bbr->bw_shortterm_pps, bbr->undo_bw_pps);
	bbr->inflight_shortterm_pkts = fmax(bbr->inflight_shortterm_pkts, bbr->undo_shortterm_pkts);
	bbr->inflight_longterm_pkts = fmax(bbr->inflight_longterm_pkts, bbr->undo_longterm_pkts);
	bbr->undo = false;
	if (!again)
		return;
	if (bbr->undo_mode == WH_SIM_BBR_STARTUP)
		bbr->full = false;
	if (bbr->mode == WH_SIM_BBR_PROBE_RTT)
		return;
	if (bbr->undo_mode == WH_SIM_BBR_STARTUP)
		bbr->mode = WH_SIM_BBR_STARTUP;
	else
		start_refill(bbr);
}

static void resume(struct wh_sim_bbr *bbr)
{
	reset_shortterm(bbr);
	if (!bbr->full)
		return;
	start_down(bbr);
	bbr->mode = WH_SIM_BBR_CRUISE;
}

const struct wh_sim_bbr_version wh_sim_bbr3 = {
	.startup_gain = STARTUP_GAIN,
	.probe_rtt_gain = PROBE_RTT_GAIN,
	.probe_rtt_every_ps = 5 * WH_PS_PER_S,
	.min_rtt_ps = 10 * WH_PS_PER_S,
	.init = init,
	.sample = take_sample,
	.lose = lose,
	.recover = save_before_loss,
	.undo = undo,
	.resume = resume,
};
