/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab/tcp/model/bbr.h"

#include <math.h>

#include "base/assert.h"
#include "lab/sim/event.h"

/* Gains are in 256ths, as in Linux: 2885 / 1000 truncated, plus one. */
#define GAIN_UNIT 256.0
#define GAIN_HIGH (739 / GAIN_UNIT) /* 2 / ln 2: lets the rate double each round trip */

static const struct {
	double pacing;
	double cwnd;
} gain[] = {
	[WH_SIM_BBR_STARTUP] = {GAIN_HIGH, GAIN_HIGH},
	[WH_SIM_BBR_DRAIN] = {88 / GAIN_UNIT, GAIN_HIGH},
	[WH_SIM_BBR_PROBE_RTT] = {1, 1},
	[WH_SIM_BBR_PROBE_BW] = {1, 2}, /* and the gain of the phase */
};

#define PHASES 8
static const double phase_gain[PHASES] = {1.25, 0.75, 1, 1, 1, 1, 1, 1};
#define PHASES_DRAWN 7 /* the cycle begins at any phase but that of 0.75 */

#define RATE_ROUNDS         10
#define EXTRA_S             0.1 /* at the estimated rate, at most */
#define POLICER_ROUNDS_MIN  4
#define POLICER_ROUNDS_MAX  (4 * POLICER_ROUNDS_MIN)
#define POLICER_USED_ROUNDS 48
#define POLICER_LOSS        (50 / 256.0) /* as a share of what is delivered */
#define POLICER_LIKE        (1 / 8.0)
#define POLICER_LIKE_BYTES  500.0 /* per second */

static double best_pps(const struct wh_sim_bbr *bbr)
{
	return wh_window_max_value(&bbr->pps);
}

static void take_bw(struct wh_sim_bbr *bbr)
{
	bbr->bw_pps = bbr->policer.used ? bbr->policer.pps : best_pps(bbr);
}

static void next_phase(struct wh_sim_bbr *bbr)
{
	bbr->phase = (bbr->phase + 1) % PHASES;
	bbr->phase_ps = bbr->now_ps;
}

static void enter_probe_bw(struct wh_sim_bbr *bbr)
{
	bbr->mode = WH_SIM_BBR_PROBE_BW;
	bbr->phase = PHASES - 1 - (uint32_t)wh_prng_below(bbr->prng, PHASES_DRAWN);
	next_phase(bbr);
	WH_ASSERT(phase_gain[bbr->phase] >= 1);
}

static void begin_policer_interval(struct wh_sim_bbr *bbr, const struct wh_sim_rate_sample *sample)
{
	bbr->policer.from_ps = sample->delivered_ps;
	bbr->policer.from_delivered_pkts = sample->all_delivered_pkts;
	bbr->policer.from_lost_pkts = sample->all_lost_pkts;
	bbr->policer.rounds = 0;
}

static void forget_policer(struct wh_sim_bbr *bbr, const struct wh_sim_rate_sample *sample)
{
	bbr->policer = (struct wh_sim_bbr_policer){0};
	begin_policer_interval(bbr, sample);
}

/*
 * Adds room for three bursts, rounds up to even for delayed acknowledgements, and adds room for
 * probing.
 */
static double with_bursts(const struct wh_sim_bbr *bbr, double pkts)
{
	pkts += 3.0 * wh_sim_bbr_burst_pkts(bbr);
	pkts = 2 * ceil(pkts / 2);
	if (bbr->mode == WH_SIM_BBR_PROBE_BW && bbr->phase == 0)
		pkts += 2;
	return pkts;
}

static double inflight(const struct wh_sim_bbr *bbr, double pps, double times)
{
	return with_bursts(bbr, wh_sim_bbr_product(bbr, pps, times));
}

/* Segments in the network at the time of the next paced transmission. */
static double in_network(
	const struct wh_sim_bbr *bbr, const struct wh_sim_rate_sample *sample, uint64_t now_pkts)
{
	uint64_t wait_ps =
		sample->next_send_ps > sample->now_ps ? sample->next_send_ps - sample->now_ps : 0;
	double left = bbr->bw_pps * wh_ps_to_seconds(wait_ps);
	double then = (double)now_pkts;

	if (bbr->pacing_gain > 1)
		then += wh_sim_bbr_burst_pkts(bbr);
	return fmax(then - left, 0);
}

/* Two similar intervals, both with high loss, indicate a policer and its rate. */
static void end_policer_interval(
	struct wh_sim_bbr *bbr, const struct wh_sim_rate_sample *sample, double pps)
{
	struct wh_sim_bbr_policer *policer = &bbr->policer;
	double apart = fabs(pps - policer->pps);

	if (policer->pps > 0 && (apart <= POLICER_LIKE * policer->pps ||
					apart * WH_SIM_BBR_PACING_SHARE * bbr->segment_bytes <=
						POLICER_LIKE_BYTES)) {
		policer->pps = (pps + policer->pps) / 2;
		policer->used = true;
		policer->rounds = 0;
		bbr->pacing_gain = 1;
		return;
	}
	policer->pps = pps;
	begin_policer_interval(bbr, sample);
}

/* An interval must be long enough, begin and end with a loss, and have a high loss rate. */
static void measure_policer(struct wh_sim_bbr *bbr, const struct wh_sim_rate_sample *sample)
{
	struct wh_sim_bbr_policer *policer = &bbr->policer;

	policer->rounds += bbr->round_start;
	if (policer->rounds < POLICER_ROUNDS_MIN)
		return;
	if (policer->rounds > POLICER_ROUNDS_MAX) {
		forget_policer(bbr, sample);
		return;
	}
	if (sample->lost_pkts == 0)
		return;

	double lost = (double)(sample->all_lost_pkts - policer->from_lost_pkts);
	double delivered = (double)(sample->all_delivered_pkts - policer->from_delivered_pkts);
	double span_s = wh_ps_to_seconds(sample->delivered_ps - policer->from_ps);

	if (delivered <= 0 || lost < POLICER_LOSS * delivered || span_s < 0.001)
		return;
	end_policer_interval(bbr, sample, delivered / span_s);
}

static void watch_policer(struct wh_sim_bbr *bbr, const struct wh_sim_rate_sample *sample)
{
	struct wh_sim_bbr_policer *policer = &bbr->policer;

	if (policer->used) {
		if (bbr->mode == WH_SIM_BBR_PROBE_BW && bbr->round_start &&
			++policer->rounds >= POLICER_USED_ROUNDS) {
			forget_policer(bbr, sample);
			enter_probe_bw(bbr);
		}
		return;
	}
	if (!policer->sampling) {
		if (sample->lost_pkts == 0)
			return;
		begin_policer_interval(bbr, sample);
		policer->sampling = true;
	}
	if (sample->limited)
		forget_policer(bbr, sample);
	else
		measure_policer(bbr, sample);
}

/*
 * A phase lasts a round trip; that of 1.25 until it filled the pipe or caused a loss, that of 0.75
 * at most until the queue is drained.
 */
static bool phase_is_over(const struct wh_sim_bbr *bbr, const struct wh_sim_rate_sample *sample)
{
	bool whole = bbr->now_ps - bbr->phase_ps > bbr->min_rtt_ps;
	double there = in_network(bbr, sample, sample->prior_in_flight_pkts);

	if (bbr->pacing_gain > 1)
		return whole && (sample->lost_pkts > 0 ||
					there >= inflight(bbr, best_pps(bbr), bbr->pacing_gain));
	if (bbr->pacing_gain < 1)
		return whole || there <= inflight(bbr, best_pps(bbr), 1);
	return whole;
}

static void drain(struct wh_sim_bbr *bbr, const struct wh_sim_rate_sample *sample)
{
	if (bbr->mode == WH_SIM_BBR_STARTUP && bbr->full)
		bbr->mode = WH_SIM_BBR_DRAIN;
	if (bbr->mode == WH_SIM_BBR_DRAIN &&
		in_network(bbr, sample, sample->in_flight_pkts) <= inflight(bbr, best_pps(bbr), 1))
		enter_probe_bw(bbr);
}

static void choose_gain(struct wh_sim_bbr *bbr)
{
	bool cycles = bbr->mode == WH_SIM_BBR_PROBE_BW && !bbr->policer.used;

	bbr->pacing_gain = cycles ? phase_gain[bbr->phase] : gain[bbr->mode].pacing;
}

/* During and after recovery. True: packet conservation determines the window. */
static bool follow_recovery(struct wh_sim_bbr *bbr, const struct wh_sim_rate_sample *sample)
{
	double through = (double)(sample->in_flight_pkts + sample->acked_pkts);
	enum wh_sim_rack_state before = bbr->before;

	if (sample->lost_pkts > 0)
		bbr->cwnd_pkts = fmax(bbr->cwnd_pkts - (double)sample->lost_pkts, 1);
	if (sample->state == WH_SIM_RACK_RECOVERY && before != WH_SIM_RACK_RECOVERY) {
		bbr->conserving = true;
		wh_sim_bbr_start_round(bbr);
		bbr->cwnd_pkts = through;
	} else if (before >= WH_SIM_RACK_RECOVERY && sample->state < WH_SIM_RACK_RECOVERY) {
		wh_sim_bbr_restore_window(bbr);
		bbr->conserving = false;
	}
	bbr->before = sample->state;
	if (bbr->conserving)
		bbr->cwnd_pkts = fmax(bbr->cwnd_pkts, through);
	return bbr->conserving;
}

static void init(struct wh_sim_bbr *bbr, const struct wh_sim_rate_sample *sample)
{
	forget_policer(bbr, sample);
	choose_gain(bbr);
}

static void take_rate(struct wh_sim_bbr *bbr, const struct wh_sim_rate_sample *sample)
{
	bbr->round_start = false;
	if (!sample->valid)
		return;
	wh_sim_bbr_take_round(bbr, sample);
	if (bbr->round_start)
		bbr->conserving = false;
	watch_policer(bbr, sample);
	if (!sample->limited || bbr->rate_pps >= best_pps(bbr))
		wh_window_max_add(&bbr->pps, RATE_ROUNDS, bbr->rounds, bbr->rate_pps);
	take_bw(bbr);
}

static void take_sample(struct wh_sim_bbr *bbr, const struct wh_sim_rate_sample *sample)
{
	double target;

	take_rate(bbr, sample);
	wh_sim_bbr_take_extra(bbr, sample);
	if (bbr->mode == WH_SIM_BBR_PROBE_BW && phase_is_over(bbr, sample))
		next_phase(bbr);
	if (!bbr->full)
		wh_sim_bbr_look_whether_full(bbr, sample, best_pps(bbr));
	drain(bbr, sample);
	wh_sim_bbr_take_rtt(bbr, sample);
	choose_gain(bbr);
	wh_sim_bbr_set_pace(bbr, bbr->pacing_gain);
	if (sample->acked_pkts == 0 || follow_recovery(bbr, sample))
		return;
	target = wh_sim_bbr_product(bbr, bbr->bw_pps, gain[bbr->mode].cwnd);
	if (bbr->full)
		target += fmin(wh_window_max_value(&bbr->extra_pkts), floor(bbr->bw_pps * EXTRA_S));
	wh_sim_bbr_grow(bbr, sample, with_bursts(bbr, target));
}

static void time_out(struct wh_sim_bbr *bbr, const struct wh_sim_rate_sample *sample)
{
	struct wh_sim_rate_sample loss = *sample;

	loss.lost_pkts = 1;
	loss.limited = false;
	bbr->full_pps = 0;
	bbr->round_start = true;
	watch_policer(bbr, &loss);
	take_bw(bbr);
}

static void undo(struct wh_sim_bbr *bbr, const struct wh_sim_rate_sample *sample)
{
	wh_sim_bbr_reset_full(bbr, 0);
	forget_policer(bbr, sample);
	take_bw(bbr);
}

static void resume(struct wh_sim_bbr *bbr)
{
	if (bbr->full)
		enter_probe_bw(bbr);
}

const struct wh_sim_bbr_version wh_sim_bbr1 = {
	.startup_gain = GAIN_HIGH * WH_SIM_BBR_PACING_SHARE,
	.probe_rtt_every_ps = 10 * WH_PS_PER_S,
	.init = init,
	.sample = take_sample,
	.recover = wh_sim_bbr_keep_window,
	.time_out = time_out,
	.undo = undo,
	.resume = resume,
};
