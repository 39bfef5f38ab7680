/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_PROFILE_LAMBDA_PARAMS_H
#define WH_PROFILE_LAMBDA_PARAMS_H

/*
 * Every constant of the controller that is no option. A name that ends in a unit has it; _rtt are
 * round trips, all others parts, factors or counts. Where no paper is named, drawn paths decided:
 * docs/controller.md tells what moves when they are halved or doubled.
 */

struct wh_lambda_params {
	double alpha_at_bps, rate_least_pps, arrival_pkts, short_least_s, peak;
	double target_pkts, target_jitters, target_short, most_targets, host_s, most_short,
		part_least, part_s, sample_rtt, empty;
	double least_period_s, least_period_rtt, jitter_learnt, host_most_s, floor_forgets,
		gap_forgets, short_pkts, train_still_reports, train_still_spacings, used_share,
		paused_most, paused_span, false_train;
	double trains, verify, verify_queue, verify_own, low, whole, full_s, full_rtt,
		window_least_pkts, slack_pkts, port_bytes, still_rtt, still_pkts, report_s,
		still_first_s, data_per_report, most_of_line, known_rtt_most;
	double others, step, step_most, step_paused, steps_most, step_grows, step_grows_most, seek,
		blind_step, overload, flat, gain, gain_most, busy_less, spared, spared_leaves,
		drain_s, drain_soon_s, drain_soon_rtt, drain_more, drained, short_doubles_s,
		sample_s, sample_pauses, sample_overtaken, sample_rtt_most, drain_most;
	double noise_pkts, noise_prior_pkts, sigmas, bearable_lost, bearable_more, doubts,
		doubts_pkts, doubts_runs, lower, lower_arrives, lower_least, lower_drastic, drastic,
		drastic_pkts, lost_same, noise_most, drains, surely, trial_pkts, trial_s,
		trial_samples, under_ceiling, ceiling_s, ceiling_rtt, ceiling_most_s, same, beyond;
	double cut_most, cut_least, cut_fades, rise, rise_double_s, check_rtt, checks, shorter,
		same_s, vain, free, free_most, fell, peak_fades, lengthens;
	double window_first, window_floor, cubic, cubic_most, growth_pkts, shrink, clear_s,
		clear_flat, pace, pace_most, pace_step, pace_back;
	double stands, waits, jitters, yield_noise_pkts, crumb, crumb_s, crumb_rtt, back_s,
		back_rtt, yield_full, look_s, look, look_most, felt_same, felt_least, spike_room,
		spike_fades, calm_learnt, rest, often_s, often_rtt, arrive_s, arrive_least_s,
		arrive_pkts, most_fades, false_rate;
};

/* clang-format off */
static const struct wh_lambda_params params = {
	/* What is measured. */
	.alpha_at_bps = 1e9, /* alpha is told for this line */
	.rate_least_pps = 1.0, /* below it nothing can be learnt */
	.arrival_pkts = 32, /* give a rate to a few percent; so many missing are a pause */
	.short_least_s = 100e-6, /* hosts make shorter waits, which are no queue that overflowed */
	.peak = 0.8, /* of the longest queue, or of one too long: a report later it may have been */

	/* The queue (part.c). */
	.target_pkts = 2.0, /* the least queue that is kept, ... */
	.target_jitters = 2.0, /* ... or this many times what hosts do to delays */
	.target_short = 0.5, /* of a queue that overflowed may stand, ... */
	.most_targets = 4.0, /* a longer queue is too long, ... */
	.host_s = 200e-6, /* ... if longer than this, which hosts do without one */
	.most_short = 0.75, /* ... and this is too long */
	.part_least = 0.3, /* of our rate: less did not arrive by chance */
	.part_s = 2e-3, /* arrivals of this time are a rate, and tell of others, ... */
	.sample_rtt = 0.25, /* ... or of this many round trips: reports leave at that interval */
	.empty = 0.5, /* of the target: a shorter queue is none */

	/* The path (path.c). */
	.least_period_s = 10.0, /* a least delay is of this or the period before (RFC 6817), ... */
	.least_period_rtt = 40.0, /* ... on long paths of so many round trips */
	.jitter_learnt = 0.0625, /* from each report */
	.host_most_s = 20e-3, /* for which a host delays single packets */
	.floor_forgets = 0.998, /* what hosts add to all delays, by each report */
	.gap_forgets = 0.98, /* of the longest gap, per report that comes sooner */
	.short_pkts = 4, /* fewer give no rate */
	.train_still_reports = 2, /* without news end a train, ... */
	.train_still_spacings = 2.0, /* ... if they lasted this many spacings of its packets */
	.used_share = 0.8, /* of the allowed rate: less means starved */
	.paused_most = 0.75, /* of a sample: beyond it the host is simply slow */
	.paused_span = 0.25, /* of the time since the last report: shorter spans follow a pause */
	.false_train = 0.4, /* of what other flows can leave us: the train was misread */

	/* The start, and what is the same for all (lambda.c). */
	.trains = 4, /* that arrive all at once, before rates are doubled instead */
	.verify = 0.5, /* of the line until that is verified (RFC 9959: at most half), ... */
	.verify_own = 0.9, /* ... or this where nobody else sends */
	.verify_queue = 2.0, /* times the target waits: others are there */
	.low = 0.5, /* of the longest queue: what is lost below it is noise, ... */
	.whole = 0.95, /* of a rate: all of it, as far as it can be measured */
	.full_s = 1.0, /* with a queue for so long, less the time without, ... */
	.full_rtt = 12.0, /* ... and so many round trips, others fill it on purpose */
	.window_least_pkts = 2.0, /* of any window */
	.slack_pkts = 2.0, /* beyond what is in flight */
	.port_bytes = 8e6, /* wait in a receiver's port, at most */
	.still_rtt = 1.5, /* without news before a packet is sent to fetch some, */
	.still_pkts = 3.0, /* and this many packet intervals, */
	.report_s = 10e-3, /* the most between two reports (feedback.period_us) */
	.still_first_s = 1.0, /* before the first news */
	.data_per_report = 70000, /* data bytes to a byte of our states, with `dedicated` */
	.most_of_line = 0.85, /* of the line: with less, something else than the path limits */
	.known_rtt_most = 10.0, /* times the kept round trip: another path (RFC 9959) */

	/* Alone (hold.c). */
	.others = 0.9, /* of what arrived alone: others take the rest */
	.step = 0.005, /* of the rate, at first, ... */
	.step_most = 0.1, /* ... at most this, ... */
	.step_paused = 0.5, /* ... where hosts pause this, ... */
	.steps_most = 0.9, /* ... in the end */
	.step_grows = 2.0, /* each step times this more, then ... */
	.step_grows_most = 4.0, /* ... this, at the start always */
	.seek = 0.01, /* at the start the first step, ... */
	.blind_step = 1.885, /* where the train told nothing, until a queue was seen */
	.overload = 0.5, /* of what arrived alone, or lost: too much, even at the start */
	.flat = 0.1, /* of the target: the step did not show in the queue */
	.gain = 0.7, /* of what the queue lacks or exceeds, in a round trip */
	.gain_most = 0.3, /* of the rate */
	.busy_less = 0.98, /* of what was sent arrives: the line has no more */
	.spared = 4.0, /* times what a queue holds was not sent, and ... */
	.spared_leaves = 0.9, /* ... so much is still there: it is none */
	.drain_s = 4.0, /* a queue that stood for so long is drained, to see the path, ... */
	.drain_soon_s = 0.1, /* ... or, where it is too long, after this ... */
	.drain_soon_rtt = 3.0, /* ... and so many round trips; ... */
	.drain_more = 1.1, /* ... times the queue is not sent, ... */
	.drain_most = 0.9, /* ... of the rate at most, ... */
	.drained = 0.2, /* ... until no more of the target waits */
	.short_doubles_s = 0.5, /* what is known of a short queue is forgotten */
	.sample_s = 1e-3, /* the least time of a sample, ... */
	.sample_rtt_most = 4.0, /* ... or so many round trips, ... */
	.sample_pauses = 3.0, /* ... and after the start so many pauses of a host, ... */
	.sample_overtaken = 4.0, /* ... and times what packets were overtaken by */

	/* Losses (loss.c). */
	.noise_pkts = 100000.0, /* over which noise is averaged */
	.noise_prior_pkts = 1000.0, /* without a loss, before any were seen */
	.sigmas = 3.0, /* beyond the mean of a count: not by chance */
	.bearable_lost = 2.0, /* and this many more, or bursts, */
	.bearable_more = 0.002, /* or this share of the packets */
	.doubts = 4, /* suspicious samples in a row; a burst of losses is in one only */
	.doubts_pkts = 1000.0, /* or one sample of this many packets, ... */
	.doubts_runs = 5.0, /* ... if this many runs of losses are in these: fewer are chance */
	.lower = 0.95, /* rate of the trial: PCC tries 5 % less */
	.lower_arrives = 0.98, /* or a little below the arrival rate, ... */
	.lower_least = 0.8, /* ... but not far down because of a few losses in a row */
	.lower_drastic = 0.05, /* ... unless much is lost: ... */
	.drastic = 0.25, /* ... more than this ... */
	.drastic_pkts = 100, /* ... of so many packets */
	.lost_same = 0.5, /* of the share lost at the higher rate: then it is noise */
	.noise_most = 0.15, /* more is due to other flows, whatever our rate: ... */
	.drains = 0.9, /* times what arrives empties a queue */
	.surely = 10.8, /* differ() exceeds it by chance in one of a thousand trials */
	.trial_pkts = 2000.0, /* in a sample of a trial, ... */
	.trial_s = 0.2, /* ... but no more than are sent in this time, ... */
	.trial_samples = 4, /* ... so often at most, while they decide nothing */
	.under_ceiling = 0.99, /* of a ceiling is sent ... */
	.ceiling_s = 20e-3, /* ... for this time, at least, ... */
	.ceiling_rtt = 20.0, /* ... or these round trips, twice as long each time, ... */
	.ceiling_most_s = 16.0, /* ... and at most */
	.same = 0.1, /* differ by less: two rates, two ceilings, two queues are the same */
	.beyond = 1.1, /* of a rate: surely more than it */

	/* Beside others of our kind (share.c). */
	.cut_most = 0.25, /* of what arrives, at first, ... */
	.cut_least = 0.06, /* ... in the end, ... */
	.cut_fades = 0.85, /* ... times this each time that the same rate arrives */
	.rise = 0.5, /* of the part by which is reduced, of the line, in the first second */
	.rise_double_s = 0.35, /* ... which doubles in this time */
	.check_rtt = 2.0, /* after so long a queue must have changed, ... */
	.checks = 2, /* ... looked at so often */
	.shorter = 0.75, /* of it is left: it drains */
	.same_s = 20e-6, /* ... and by less than this */
	.vain = 3, /* reductions that changed nothing: it is no queue */
	.free = 1.25, /* times what arrived, without a queue: there is more, ... */
	.free_most = 0.5, /* ... and so much of our part may be added in a round trip */
	.fell = 0.3, /* of an almost too long queue is left: others have reduced */
	.peak_fades = 0.95, /* the longest queue seen, with each one that is too long */
	.lengthens = 1.1, /* a queue that overflowed before, and now did not */

	/* Beside flows that fill queues (compete.c). */
	.window_first = 0.31, /* of the line, to begin with: a TCP that is there has more */
	.window_floor = 0.1, /* of the line: no loss takes us below it */
	.cubic = 0.4, /* packets in the cube of a second (RFC 9438, 5) */
	.cubic_most = 0.5, /* of the window in a round trip */
	.growth_pkts = 0.75, /* per round trip: RFC 9438, 4.3 has 0.53, but CUBIC flows take more */
	.shrink = 0.7, /* of the window after an overflow (RFC 9438, 4.6) */
	.clear_s = 4.0, /* without a queue, more than a CUBIC flow takes: others are gone, ... */
	.clear_flat = 1.5, /* ... and so many times what it takes to regain a window like ours */
	.pace = 1.1, /* times the rate: the window limits, ... */
	.pace_most = 4.0, /* ... at most this, ... */
	.pace_step = 1.25, /* ... unless hosts are away, by this in a round trip, ... */
	.pace_back = 0.97, /* ... and back again */

	/* A scavenger (yield.c). */
	.stands = 1.5, /* times what one flow leaves in a queue, by all packets, ... */
	.waits = 0.25, /* ... or this, by the latest packet: others are there */
	.jitters = 4.0, /* times what hosts do to delays: no host does more */
	.yield_noise_pkts = 20000.0, /* which is averaged over this many packets */
	.crumb = 0.01, /* of the capacity is kept, ... */
	.crumb_s = 0.1, /* ... for this long */
	.crumb_rtt = 6.0, /* ... or these round trips */
	.back_s = 0.5, /* of the capacity per second, ... */
	.back_rtt = 0.05, /* ... but no more than this per round trip */
	.yield_full = 0.965, /* of the capacity; the rest stays free, ... */
	.look_s = 5.0, /* ... except for a test at this interval, ... */
	.look = 0.02, /* ... whether there is more, ... */
	.look_most = 1.0, /* ... which doubles each time; ... */
	.felt_same = 0.03, /* of a rate: a queue appeared at the same rate again, ... */
	.felt_least = 0.5, /* ... and it is this share of the capacity: no other flow is there */
	.spike_room = 1.25, /* times what a host was late is no queue, ... */
	.spike_fades = 0.9996, /* ... and less by this with each report */
	.calm_learnt = 0.015625, /* of the hosts' delays, from each report, ... */
	.rest = 0.3, /* of the capacity: the least wait is not our own */
	.often_s = 1.0, /* after less than this, ... */
	.often_rtt = 10.0, /* ... or this, it gives way for good, unless hosts are late */
	.arrive_s = 0.2, /* of arrivals: in a shorter one hosts matter */
	.arrive_least_s = 20e-3, /* ... at least */
	.arrive_pkts = 16.0, /* that give a rate */
	.most_fades = 0.9999, /* with each window */
	.false_rate = 1.02, /* times what arrives while a queue stands: no such capacity */
};
/* clang-format on */

#endif
