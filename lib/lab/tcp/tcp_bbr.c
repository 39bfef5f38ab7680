/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab/tcp/tcp_bbr.h"

#include <math.h>

#include "base/assert.h"
#include "lab/sim/event.h"

/* Gains are in 256ths, as in Linux: 2885 / 1000 truncated, plus one. */
#define GAIN_UNIT  256.0
#define GAIN_HIGH  (739 / GAIN_UNIT) /* 2 / ln 2: lets the rate double each round trip */
#define GAIN_DRAIN (88 / GAIN_UNIT)
#define GAIN_CWND  2.0

#define PHASES 8
static const double phase_gain[PHASES] = {1.25, 0.75, 1, 1, 1, 1, 1, 1};
#define PHASES_DRAWN 7 /* the cycle begins at any phase but that of 0.75 */

#define RATE_ROUNDS         10
#define MIN_RTT_PS          (10 * WH_PS_PER_S)
#define PROBE_RTT_PS        (WH_PS_PER_S / 5)
#define CWND_LEAST_PKTS     4
#define CWND_FIRST_PKTS     10
#define PACING_SHARE        0.99 /* the rest lets the queue drain */
#define FULL_GROWTH         1.25
#define FULL_ROUNDS         3
#define FIRST_RTT_S         0.001 /* when no round-trip time is known */
#define EXTRA_ROUNDS        5
#define EXTRA_ACKED_MAX     (UINT64_C(1) << 20)
#define EXTRA_S             0.1 /* at the estimated rate, at most */
#define POLICER_ROUNDS_MIN  4
#define POLICER_ROUNDS_MAX  (4 * POLICER_ROUNDS_MIN)
#define POLICER_USED_ROUNDS 48
#define POLICER_LOSS        (50 / 256.0) /* as a share of what is delivered */
#define POLICER_LIKE        (1 / 8.0)
#define POLICER_LIKE_BYTES  500.0 /* per second */
#define BURST_S             0x1.0p-10
#define BURST_BYTES_MAX     65215.0 /* 64 KiB less room for the heads */
#define BURST_PKTS_MAX      127
#define SMALL_PACE_BPS      1.2e6 /* below it segments are sent singly */

static double seconds(uint64_t span_ps)
{
	return (double)span_ps / (double)WH_PS_PER_S;
}

static double best_pps(const struct wh_sim_bbr *bbr)
{
	return wh_window_max_value(&bbr->pps);
}

double wh_sim_bbr_pps(const struct wh_sim_bbr *bbr)
{
	return bbr->policer.used ? bbr->policer.pps : best_pps(bbr);
}

uint32_t wh_sim_bbr_burst_pkts(const struct wh_sim_bbr *bbr)
{
	double pace = bbr->pace_pps * bbr->segment_bytes;
	double least = pace * 8 < SMALL_PACE_BPS ? 1 : 2;
	double pkts = floor(fmin(pace * BURST_S, BURST_BYTES_MAX) / bbr->segment_bytes);

	return (uint32_t)fmin(fmax(pkts, least), BURST_PKTS_MAX);
}

/* Until the pipe is full the pace never decreases. */
static void set_pace(struct wh_sim_bbr *bbr, double pps, double gain)
{
	double pace = pps * gain * PACING_SHARE;

	if (bbr->full || pace > bbr->pace_pps)
		bbr->pace_pps = pace;
}

static void first_pace(struct wh_sim_bbr *bbr, uint64_t srtt_ps)
{
	double rtt_s = srtt_ps != 0 ? seconds(srtt_ps) : FIRST_RTT_S;

	bbr->rtt_seen = srtt_ps != 0;
	bbr->pace_pps = bbr->cwnd_pkts / rtt_s * GAIN_HIGH * PACING_SHARE;
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

static void next_phase(struct wh_sim_bbr *bbr, const struct wh_sim_rate_sample *sample)
{
	bbr->phase = (bbr->phase + 1) % PHASES;
	bbr->phase_ps = sample->delivered_ps;
}

static void enter_probe_bw(struct wh_sim_bbr *bbr, const struct wh_sim_rate_sample *sample)
{
	bbr->mode = WH_SIM_BBR_PROBE_BW;
	bbr->phase = PHASES - 1 - (uint32_t)wh_prng_below(bbr->prng, PHASES_DRAWN);
	next_phase(bbr, sample);
	WH_ASSERT(phase_gain[bbr->phase] >= 1);
}

void wh_sim_bbr_init(struct wh_sim_bbr *bbr, struct wh_prng *prng, uint32_t segment_bytes,
	double cwnd_pkts, const struct wh_sim_rate_sample *sample)
{
	WH_ASSERT(segment_bytes > 0 && cwnd_pkts >= 1);
	*bbr = (struct wh_sim_bbr){
		.prng = prng,
		.segment_bytes = segment_bytes,
		.cwnd_pkts = cwnd_pkts,
		.mode = WH_SIM_BBR_STARTUP,
		.pacing_gain = GAIN_HIGH,
		.cwnd_gain = GAIN_HIGH,
		.min_rtt_ps = sample->rtt_ps,
		.min_rtt_at_ps = sample->now_ps,
		.round_end_pkts = sample->all_delivered_pkts,
		.extra.epoch_ps = sample->now_ps,
	};
	forget_policer(bbr, sample);
	first_pace(bbr, sample->srtt_ps);
}

/* The bandwidth-delay product at this rate and the least round-trip time. */
static double product(const struct wh_sim_bbr *bbr, double pps, double gain)
{
	if (bbr->min_rtt_ps == WH_SIM_NO_RTT_PS)
		return CWND_FIRST_PKTS;
	return ceil(pps * seconds(bbr->min_rtt_ps) * gain);
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

static double inflight(const struct wh_sim_bbr *bbr, double pps, double gain)
{
	return with_bursts(bbr, product(bbr, pps, gain));
}

/* Segments in the network at the time of the next paced transmission. */
static double in_network(
	const struct wh_sim_bbr *bbr, const struct wh_sim_rate_sample *sample, uint64_t now_pkts)
{
	uint64_t wait_ps =
		sample->next_send_ps > sample->now_ps ? sample->next_send_ps - sample->now_ps : 0;
	double left = wh_sim_bbr_pps(bbr) * seconds(wait_ps);
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

	if (policer->pps > 0 &&
		(apart <= POLICER_LIKE * policer->pps ||
			apart * PACING_SHARE * bbr->segment_bytes <= POLICER_LIKE_BYTES)) {
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
	double span_s = seconds(sample->delivered_ps - policer->from_ps);

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
			enter_probe_bw(bbr, sample);
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

static void take_rate(struct wh_sim_bbr *bbr, const struct wh_sim_rate_sample *sample)
{
	bbr->round_start = false;
	if (!sample->valid)
		return;
	if (sample->prior_delivered_pkts >= bbr->round_end_pkts) {
		bbr->round_end_pkts = sample->all_delivered_pkts;
		bbr->rounds++;
		bbr->round_start = true;
		bbr->conserving = false;
	}
	watch_policer(bbr, sample);

	double pps = (double)sample->delivered_pkts / seconds(sample->interval_ps);

	if (!sample->limited || pps >= best_pps(bbr))
		wh_window_max_add(&bbr->pps, RATE_ROUNDS, bbr->rounds, pps);
}

static void turn_extra_window(struct wh_sim_bbr_extra *extra)
{
	if (++extra->rounds < EXTRA_ROUNDS)
		return;
	extra->rounds = 0;
	extra->window ^= 1;
	extra->pkts[extra->window] = 0;
}

static void take_extra(struct wh_sim_bbr *bbr, const struct wh_sim_rate_sample *sample)
{
	struct wh_sim_bbr_extra *extra = &bbr->extra;

	if (!sample->valid || sample->acked_pkts == 0)
		return;
	if (bbr->round_start)
		turn_extra_window(extra);

	double expected =
		floor(wh_sim_bbr_pps(bbr) * seconds(sample->delivered_ps - extra->epoch_ps));

	if ((double)extra->epoch_acked_pkts <= expected ||
		extra->epoch_acked_pkts + sample->acked_pkts >= EXTRA_ACKED_MAX) {
		extra->epoch_acked_pkts = 0;
		extra->epoch_ps = sample->delivered_ps;
		expected = 0;
	}
	extra->epoch_acked_pkts += sample->acked_pkts;

	double more = fmin((double)extra->epoch_acked_pkts - expected, bbr->cwnd_pkts);

	extra->pkts[extra->window] = fmax(extra->pkts[extra->window], more);
}

/*
 * A phase lasts a round trip; that of 1.25 until it filled the pipe or caused a loss, that of 0.75
 * at most until the queue is drained.
 */
static bool phase_is_over(const struct wh_sim_bbr *bbr, const struct wh_sim_rate_sample *sample)
{
	bool whole = sample->delivered_ps - bbr->phase_ps > bbr->min_rtt_ps;
	double there = in_network(bbr, sample, sample->prior_in_flight_pkts);

	if (bbr->pacing_gain > 1)
		return whole && (sample->lost_pkts > 0 ||
					there >= inflight(bbr, best_pps(bbr), bbr->pacing_gain));
	if (bbr->pacing_gain < 1)
		return whole || there <= inflight(bbr, best_pps(bbr), 1);
	return whole;
}

static void look_whether_full(struct wh_sim_bbr *bbr, const struct wh_sim_rate_sample *sample)
{
	if (bbr->full || !bbr->round_start || sample->limited)
		return;
	if (best_pps(bbr) >= bbr->full_pps * FULL_GROWTH) {
		bbr->full_pps = best_pps(bbr);
		bbr->full_rounds = 0;
		return;
	}
	bbr->full = ++bbr->full_rounds >= FULL_ROUNDS;
}

static void drain(struct wh_sim_bbr *bbr, const struct wh_sim_rate_sample *sample)
{
	if (bbr->mode == WH_SIM_BBR_STARTUP && bbr->full)
		bbr->mode = WH_SIM_BBR_DRAIN;
	if (bbr->mode == WH_SIM_BBR_DRAIN &&
		in_network(bbr, sample, sample->in_flight_pkts) <= inflight(bbr, best_pps(bbr), 1))
		enter_probe_bw(bbr, sample);
}

void wh_sim_bbr_keep_window(struct wh_sim_bbr *bbr)
{
	if (bbr->before < WH_SIM_RACK_RECOVERY && bbr->mode != WH_SIM_BBR_PROBE_RTT)
		bbr->kept_cwnd_pkts = bbr->cwnd_pkts;
	else
		bbr->kept_cwnd_pkts = fmax(bbr->kept_cwnd_pkts, bbr->cwnd_pkts);
}

static void leave_probe_rtt_if_over(struct wh_sim_bbr *bbr, const struct wh_sim_rate_sample *sample)
{
	if (bbr->probe_rtt_done_ps == 0 || sample->now_ps <= bbr->probe_rtt_done_ps)
		return;
	bbr->min_rtt_at_ps = sample->now_ps;
	bbr->cwnd_pkts = fmax(bbr->cwnd_pkts, bbr->kept_cwnd_pkts);
	if (bbr->full)
		enter_probe_bw(bbr, sample);
	else
		bbr->mode = WH_SIM_BBR_STARTUP;
}

/* Keeps the smallest window for 200 ms and a round trip. */
static void probe_rtt(struct wh_sim_bbr *bbr, const struct wh_sim_rate_sample *sample)
{
	bbr->limited = true;
	if (bbr->probe_rtt_done_ps != 0) {
		bbr->probe_rtt_round_done |= bbr->round_start;
		if (bbr->probe_rtt_round_done)
			leave_probe_rtt_if_over(bbr, sample);
	} else if (sample->in_flight_pkts <= CWND_LEAST_PKTS) {
		bbr->probe_rtt_done_ps = sample->now_ps + PROBE_RTT_PS;
		bbr->probe_rtt_round_done = false;
		bbr->round_end_pkts = sample->all_delivered_pkts;
	}
}

static void take_rtt(struct wh_sim_bbr *bbr, const struct wh_sim_rate_sample *sample)
{
	bool expired = sample->now_ps > bbr->min_rtt_at_ps + MIN_RTT_PS;

	bbr->limited = false;
	if (sample->rtt_ps != WH_SIM_NO_RTT_PS && (sample->rtt_ps < bbr->min_rtt_ps || expired)) {
		bbr->min_rtt_ps = sample->rtt_ps;
		bbr->min_rtt_at_ps = sample->now_ps;
	}
	if (expired && !bbr->restarting && bbr->mode != WH_SIM_BBR_PROBE_RTT) {
		bbr->mode = WH_SIM_BBR_PROBE_RTT;
		wh_sim_bbr_keep_window(bbr);
		bbr->probe_rtt_done_ps = 0;
	}
	if (bbr->mode == WH_SIM_BBR_PROBE_RTT)
		probe_rtt(bbr, sample);
	if (sample->valid && sample->delivered_pkts > 0)
		bbr->restarting = false;
}

static void choose_gains(struct wh_sim_bbr *bbr)
{
	switch (bbr->mode) {
	case WH_SIM_BBR_STARTUP:
		bbr->pacing_gain = bbr->cwnd_gain = GAIN_HIGH;
		break;
	case WH_SIM_BBR_DRAIN:
		bbr->pacing_gain = GAIN_DRAIN;
		bbr->cwnd_gain = GAIN_HIGH;
		break;
	case WH_SIM_BBR_PROBE_BW:
		bbr->pacing_gain = bbr->policer.used ? 1 : phase_gain[bbr->phase];
		bbr->cwnd_gain = GAIN_CWND;
		break;
	case WH_SIM_BBR_PROBE_RTT:
		bbr->pacing_gain = bbr->cwnd_gain = 1;
		break;
	}
}

static void model(struct wh_sim_bbr *bbr, const struct wh_sim_rate_sample *sample)
{
	take_rate(bbr, sample);
	take_extra(bbr, sample);
	if (bbr->mode == WH_SIM_BBR_PROBE_BW && phase_is_over(bbr, sample))
		next_phase(bbr, sample);
	look_whether_full(bbr, sample);
	drain(bbr, sample);
	take_rtt(bbr, sample);
	choose_gains(bbr);
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
		bbr->round_end_pkts = sample->all_delivered_pkts;
		bbr->cwnd_pkts = through;
	} else if (before >= WH_SIM_RACK_RECOVERY && sample->state < WH_SIM_RACK_RECOVERY) {
		bbr->cwnd_pkts = fmax(bbr->cwnd_pkts, bbr->kept_cwnd_pkts);
		bbr->conserving = false;
	}
	bbr->before = sample->state;
	if (bbr->conserving)
		bbr->cwnd_pkts = fmax(bbr->cwnd_pkts, through);
	return bbr->conserving;
}

static void grow(struct wh_sim_bbr *bbr, const struct wh_sim_rate_sample *sample)
{
	double pps = wh_sim_bbr_pps(bbr);
	double target = product(bbr, pps, bbr->cwnd_gain);

	if (bbr->full)
		target += fmin(fmax(bbr->extra.pkts[0], bbr->extra.pkts[1]), floor(pps * EXTRA_S));
	target = with_bursts(bbr, target);
	if (bbr->full)
		bbr->cwnd_pkts = fmin(bbr->cwnd_pkts + (double)sample->acked_pkts, target);
	else if (bbr->cwnd_pkts < target || sample->all_delivered_pkts < CWND_FIRST_PKTS)
		bbr->cwnd_pkts += (double)sample->acked_pkts;
	bbr->cwnd_pkts = fmax(bbr->cwnd_pkts, CWND_LEAST_PKTS);
}

void wh_sim_bbr_sample(struct wh_sim_bbr *bbr, const struct wh_sim_rate_sample *sample)
{
	model(bbr, sample);
	if (!bbr->rtt_seen && sample->srtt_ps != 0)
		first_pace(bbr, sample->srtt_ps);
	set_pace(bbr, wh_sim_bbr_pps(bbr), bbr->pacing_gain);
	if (sample->acked_pkts > 0 && !follow_recovery(bbr, sample))
		grow(bbr, sample);
	if (bbr->mode == WH_SIM_BBR_PROBE_RTT)
		bbr->cwnd_pkts = fmin(bbr->cwnd_pkts, CWND_LEAST_PKTS);
	WH_ASSERT(bbr->cwnd_pkts >= 1 && bbr->pace_pps > 0);
}

void wh_sim_bbr_timeout(
	struct wh_sim_bbr *bbr, const struct wh_sim_rate_sample *sample, double cwnd_pkts)
{
	struct wh_sim_rate_sample loss = *sample;

	loss.lost_pkts = 1;
	loss.limited = false;
	bbr->before = WH_SIM_RACK_LOSS;
	bbr->full_pps = 0;
	bbr->round_start = true;
	bbr->cwnd_pkts = cwnd_pkts;
	watch_policer(bbr, &loss);
}

void wh_sim_bbr_undo(struct wh_sim_bbr *bbr, const struct wh_sim_rate_sample *sample)
{
	bbr->full_pps = 0;
	bbr->full_rounds = 0;
	forget_policer(bbr, sample);
}

void wh_sim_bbr_restart(struct wh_sim_bbr *bbr, const struct wh_sim_rate_sample *sample)
{
	bbr->restarting = true;
	bbr->extra.epoch_ps = sample->now_ps;
	bbr->extra.epoch_acked_pkts = 0;
	if (bbr->mode == WH_SIM_BBR_PROBE_BW)
		set_pace(bbr, wh_sim_bbr_pps(bbr), 1);
	else if (bbr->mode == WH_SIM_BBR_PROBE_RTT)
		leave_probe_rtt_if_over(bbr, sample);
}
