/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Finds the rate of a path without being told anything, and keeps it. path.c derives the state of
 * the path from the receiver's reports, loss.c decides what losses mean. The scenarios named here
 * are those of config/scenarios/bars, or of the papers (bar 12); each fails without the rule,
 * unless stated otherwise.
 *
 * Train. 32 packets are sent at once; the spacing in which they arrive gives the capacity (packet
 *   pairs of udt.txt). If they arrive all at once, a pause of the receiver has swallowed the
 *   spacing, and another train is sent; after four such trains the rate is doubled each round
 *   instead (BBR's start). bar01-naps: 0.66 of the line in the first second with two packets, 0.72
 *   without doubling, not 0.89; bar07-hosts: 0.15 of an equal share with one train, not 0.47.
 *   Reports without news end it only after two of its spacings. udt-fig13: 9 ms of 10 Mb/s.
 *   With `dedicated`, where a train takes longer than the round trip, half of it is enough, and its
 *   rate is used at once, so that a slow line does not become idle. sttp-table1: 0.9 s of 64 kb/s.
 * Known. What an earlier session has found is used where trains tell nothing. bar03-hosts: 1.05 s
 *   instead of 0.82. Where the train tells something that is used, since the path may have become
 *   narrower or wider. bar04: 0.81 of the right rate instead of 0.95 after ten round trips.
 * Verify. Half of the capacity for one round trip, all of it when the first report shows no queue
 *   (Careful Resume). bar03-beside: 0.11 products are lost with all at once, not 0.07; bar03: a
 *   round trip more without the second step. If far less arrives than competing flows could
 *   explain, the train was false, as on a busy receiver. The simulator has no receiver that reads
 *   faster than the line; "false train" of test/unit has one. With `dedicated` three quarters are
 *   sent meanwhile. ttp-fig05.
 * Low start. If a quarter of the train is lost, no more than the packets that arrived is sent in
 *   the next round trip; if some of these are lost, too, other flows have filled the queue.
 *   bar06-share: a hundred flows have a Jain index of 0.81 at 20 ms and 0.22 at 100 ms instead of
 *   0.98 and 0.90.
 * Cruise. `alpha` packets of each flow stand in the queue, whatever the round trip (FAST). alpha
 *   grows with the cube root of the rate (Swift, FASP). bar06-share: where it does not, a hundred
 *   flows and a latecomer have a Jain index of 0.85 at 20 ms instead of 0.98. A window bounds the
 *   packets in flight, so that a queue grows by the error of the window; errors of a rate alone
 *   would add up over a round trip. bar05-outage: seven bandwidth-delay products are lost instead
 *   of 0.6.
 * Increase. Without a queue the rate rises, by half of alpha first, then faster and faster as long
 *   as the delay does not react (PCC, Copa's velocity). bar05-rate: 0.32 of the higher rate where
 *   all steps are as the first.
 * Busy. While a queue stands, the arrival rate is all that we can have, and the rate is set to it
 *   at once (BBR's delivery rate). bar05-cbr: 0.947 of what is left at 20 ms instead of 0.959.
 * Overload. Far too much queue while less arrives than is sent: acted on at the first report
 *   instead of at the end of a sample. bar05-rate: 1.5 products lost instead of less than 0.96. The
 *   rate goes below what arrives. bar07-hosts: 0.12 of an equal share without that, not 0.47.
 *   Where much less arrives at once others came who cannot have heard of the queue, and what
 *   arrives tells what they send, as a queue lets all through in proportion. Then the rate is what
 *   they leave, less a part by which the queue drains, until it is gone; and while it drains more
 *   arrives than is sent, which tells that once more. Our own kind begins with half a line, which
 *   is not that much. bar05-cbr at 100 ms: 0.91 of what is left instead of 0.95. As they are known
 *   to be there, the path is not taken for a longer one. bar05-parts: 6.7 products lost, not 0.9.
 * Doubt. Packets sent before the rate went down for an overload are still on their way: if they
 *   arrive as fast as they were sent, a host had paused, and the rate is taken again. bar05-cbr:
 *   0.74 of what is left at 100 ms instead of 0.91; bar07-hosts: 0.34 of an equal share beside
 *   CUBIC instead of 0.43.
 * Short queue. After losses with a queue, half of what stood then is what we may leave there.
 *   bar02-narrow: 0.4 and 2 % sent beyond the data at 10 Gb/s instead of less than 0.3.
 * Noise. Losses without a queue are tested: at a lower rate noise stays the same (PCC). Losses that
 *   vanish, as those of a policer do, set a ceiling that is tested again more and more rarely
 *   (BBR's lt_bw). bar09: a third of the policer's rate, and four of five packets lost; bar09-near:
 *   0.9 % policed when tested at the same interval, not 0.04. Losses in a row are one event, and
 *   a test goes on until the number of events is no chance. bar02-grid: 0.935 and 0.943 of the
 *   line at 1 and 10 Gb/s where packets are counted, not 0.996 and 0.984. If as much is lost at
 *   the lower rate, but too much for noise, a queue has been full ever since the start: the
 *   simulator's contention is told by other signs, too.
 * Drain. If no empty queue was seen for 2 s, the queue is drained for one round trip, since the
 *   minimal delay must not include a queue (LEDBAT++, ProbeRTT). bar06-share: a hundred flows at
 *   100 ms have a Jain index of 0.50 instead of 0.90. With `dedicated` the drain
 *   takes what stands in the queue and little more, for the line is idle otherwise, and ends at the
 *   first report without a queue. bar02-slow: 0.986 of the line instead of 0.990. And one in 9 s is
 *   enough. ttp-fig05, udt-fig10.
 * Overtaken. A packet that others overtake counts as lost until it arrives, so that samples last
 *   several times as long as packets have been late. pxp-errors: 0.95 of the best at 1e-3.
 * Held up. While the stream or the peer's buffers limit us, what arrives late or seldom is no
 *   overload. pxp-hops: 19.0 Mb/s instead of 20.3 with two hops and 64 packets. If most of the rate
 *   is used nevertheless, it rises as otherwise: 15.1 instead of 20.6 with five hops.
 * Short buffers. Where the receiver's buffers limit the flow, it sends up to 64 states in a round
 *   trip (session/delivery.c), and what would soon hold up everything goes again without waiting as
 *   long as packets have been overtaken (session/retransmit.c). pxp-fig05: 16.4 Mb/s instead of
 *   21.0 of 64 packets without the first, 80.5 instead of 98.6 of 512 without the second. With
 *   enough room that wait may last four round trips. pxp-hops: 91.0 instead of 101.1, five hops and
 *   1024.
 * States. With `dedicated` the receiver is told the round trip more rarely on slow lines, because
 *   each state takes the time of data. udt-fig02, udt-fig10; sttp-table1: one in each second is 1 %
 *   of 64 kb/s.
 * Floor. A delay slightly below the minimum so far may be a host's luck, and the usual delays above
 *   it are no queue. bar05-cbr: 1.07 products lost instead of 0.85; bar07-hosts: 0.07 of an equal
 *   share beside BBR instead of 0.47.
 * Jitter. alpha is at least twice the mean difference of consecutive minimal delays, which hosts
 *   cause. bar01-near: 0.91 of the line instead of 0.94; bar01-naps.
 * Pause. Packets that pile up while a host has no CPU are no queue: the receiver reports only what
 *   it is sure of (session/delivery.c; bar08-hosts: 0.19 of the line alone, not 0.83), and samples
 *   last longer than such a pause when it exceeds the round trip. bar01-near: 0.70 of the line
 *   instead of 0.78.
 * Make good. Packets that a sender could not send in time for want of a CPU are sent a third faster
 *   afterwards, within the window. bar01-hosts: 0.43 of the line instead of 0.54 when away for half
 *   of the time.
 * Longer way. A queue that stays although we reduce the rate, while less arrives, is a longer path.
 *   bar05-delay: a quarter of the line.
 * Compete. Beside flows that fill every queue, reducing the rate would give everything away. While
 *   they are present (others.h says how they are recognised), we keep as much in flight as one TCP
 *   (Copa, Nimbus), or as one BBR beside BBRs. bar07-tcp: of 36 rows at 100 Mb/s 20 are reached
 *   without the first, 31 without the second, and 35.
 *   A queue that empties because all have lost is no reason to reduce the window again and again.
 *   One CUBIC at 1 Gb/s and four products: 0.33 of an equal share with that, not 0.38.
 * Pulses. Two dips of the queue, ten seconds apart, tell BBRs. One that has most of the line is
 *   told sooner: its quarter more in one of eight round trips stands in the queue, and nothing else
 *   does. bar07-hosts: 0.10 of an equal share beside BBR without that, not 0.57; bar07-tcp: 0.05
 *   with a tenth of a product, instead of 1.00, if they are not looked for while we compete.
 * Gone. After a long queue a short one is that of our own kind, and nobody competes any more.
 *   bar07-gone: two flows have a Jain index of 0.82 after a CUBIC without that, and of 0.91 after a
 *   BBR where an empty queue does not tell that it has gone, instead of 1.00.
 * Away. While a host is away from its port the window is not used: what is sent in between goes
 *   faster, until as much is sent as the window allows. bar07-hosts: 0.34 of an equal share beside
 *   CUBIC without that instead of 0.47.
 * Least. A CUBIC's growth begins at the window that was lost, and who has never had more than a
 *   tenth would stay there: below it the window grows by a fiftieth in a round trip. bar07-hosts:
 *   0.39 of an equal share beside CUBIC without that, instead of 0.54.
 * Contention. Steps in proportion to the rate, and setting the rate to what arrives, leave shares
 * as
 *   they are. Who has less than the capacity for 0.3 s is drawn to the share that all have, by its
 *   logarithm (Kelly), and learns from the queue how many there are (share.h). bar06-share: ten
 *   flows at 100 ms have a Jain index of 0.42 without that instead of 0.99. Who takes the line for
 *   narrower than it is would be pushed aside, if what it could have counted and not what it has.
 *   bar07-gone: 0.78 after a BBR instead of 1.00. A dedicated path has no contention. pxp-hops:
 *   83 Mb/s instead of 101.
 * Level. The more flows there are, the longer a queue they leave, so that all come to the same
 *   price (FAST, Swift). bar06-share: two flows at 20 ms have 0.58 instead of 0.99. The unit of
 *   shares is a round number, not what each knows of the capacity: 0.91 of ten flows; bar11-two.
 *   Everybody sends three packets a turn: 0.86 of a hundred at 20 ms.
 * Room. A line that stays empty is taken by all alike, faster and faster, up to the capacity.
 *   bar05-rate: 0.38 of the higher rate at 100 ms; bar05-cbr.
 * Unsure. Who began while the queue was full takes a part of it for the path: it reduces its rate
 *   until the least delay falls no more. bar06-share: a hundred flows have 0.42 at 20 ms and 0.23
 *   at 100 ms instead of 0.98 and 0.90. Who overflows a queue that it does not see cuts more at
 *   first: the latecomer to a hundred at 20 ms has 0.60 instead of 1.07 (seed 3).
 * Never empty. Contention of our kind empties its queue from time to time. One that does not for
 * six
 *   seconds is that of TCPs, however slowly they grow. bar07-tcp: 0.04 of an equal share beside one
 *   NewReno at 1 Gb/s and one product.
 * Give way. A scavenger leaves a little of the capacity free. At the first packet that has waited,
 *   other than behind a late burst of our own, it falls back to a crumb of the rate, and returns by
 *   the clock (LEDBAT, UDT). bar08-short: a CUBIC takes 1.45 of its time with 0.7 of the rate
 *   in place of a crumb, not 1.06; bar08-hosts: 0.09 of the line alone where late bursts count.
 * Look. A scavenger that has met nobody for five seconds tests whether the path has more, by steps
 *   that double, and withdraws only the step when a packet waits. bar08-room: after a TCP 0.931 of
 *   the line instead of 0.964. What the step left in the queue then drains for a round trip, as
 *   otherwise it would give way to itself. bar08-path: 0.933 of the line alone instead of 0.949.
 * False alarm. Packets that arrive faster than the line carries them were late at a host, as no
 *   queue empties that fast: the rate is taken again at once, and waits as long as that say nothing
 *   unless they last. bar08-hosts: 0.78 of the line alone instead of 0.88 when away for 10 ms.
 *   So does a wait that did not grow and was gone within a round trip. bar08-path: 0.45 and 0.63 of
 *   the line alone without that.
 * Own queue. While a queue stands, what arrives is all there is: a capacity beyond that was false,
 *   and the queue is our own. The simulator has no train that says too much; "own_queue" of
 *   test/unit has one.
 * Tail. Where repair packets are asked for, only the last two round trips have them: earlier losses
 *   are retransmitted in time. bar03-tail: 1.9 % sent beyond the data instead of 0.1.
 * Fetch. After a long time without news one packet is sent in spite of the window, and what follows
 *   does not count for the rate. bar02-bursts: 0.3 of the line without either, instead of 0.75.
 */

#include "profile/lambda/lambda.h"

#include <math.h>

#include "profile/interval.h"
#include "profile/lambda/lambda_internal.h"

#define TRAIN_PKTS  32    /* enough to show the capacity, few enough to lose little */
#define TRAINS      4     /* that arrive all at once, before rates are doubled instead */
#define VERIFY      0.5   /* of the train's capacity goes while that is verified, ... */
#define VERIFY_OWN  0.75  /* ... or this where nobody else sends */
#define MUCH_LOST   0.25  /* of a train: even half of its rate may be too much */
#define LOW_PKTS    8.0   /* sent at the rate at which the train arrived, to test that */
#define ALPHA_BYTES 12000 /* that we keep in the queue at 1 Gb/s */

#define RELIEF_WINDOW 1.25 /* times what is in flight then: queues are seen late */

#define SLACK_PKTS      2.0
#define WINDOW_PKTS     160.0 /* at least, so that a burst loss of 20 does not empty it, ... */
#define WINDOW_S        5e-3  /* ... but no more than is sent in this time */
#define STILL_RTT       1.5   /* without news before a packet is sent to fetch some, */
#define STILL_S         5e-3
#define STILL_PKTS      3.0   /* and this many packet intervals, */
#define STILL_REPORT_S  10e-3 /* and the interval of reports, at most this: an outage is not one */
#define STILL_FIRST_S   1.0   /* while the round trip is unknown */
#define DATA_PER_REPORT 70000 /* data bytes to a byte of our states, with `dedicated` */
#define LESS            0.85  /* of the capacity: something other than the path takes the rest */
#define FOUND           0.85  /* of the capacity a scavenger has seen: a lower rate is not stored */

static const struct wh_option options[WH_LAMBDA_OPTIONS] = {
	[WH_LAMBDA_TRAIN] = {"train", WH_OPTION_COUNT, 2, 1024, TRAIN_PKTS, false, NULL,
		"packets that go first, at once, to find the capacity"},
	[WH_LAMBDA_ALPHA] = {"alpha", WH_OPTION_COUNT, 100, 1 << 24, ALPHA_BYTES, false, "FAST TCP",
		"bytes that it keeps in the queue at 1 Gb/s, and more at a higher rate", true},
	[WH_LAMBDA_SHARE] = {"share", WH_OPTION_SHARING, WH_SHARING_DEDICATED, WH_SHARING_SCAVENGER,
		WH_SHARING_FAIR, false, NULL,
		"dedicated: alone on the path; fair: an equal share; scavenger: gives way", true},
};

static void bound_rate(struct wh_control *control)
{
	const struct wh_control_config *config = &control->config;
	struct wh_lambda *lambda = wh_lambda_state_of(control);
	bool bound = lambda->phase == WH_LAMBDA_CRUISE && lambda->rate_pps >= lambda->rate_max_pps;
	double most_pps = (double)config->hz; /* a packet a cycle */

	if (config->rate_bps > 0)
		most_pps = fmin(most_pps, wh_lambda_pps_of(control, (double)config->rate_bps));
	if (config->line_bps > 0)
		most_pps = fmin(most_pps, wh_lambda_pps_of(control, (double)config->line_bps));
	lambda->rate_max_pps = fmax(most_pps, 1e-6);
	/* If only the bound limited the rate, half of the train's capacity is safe. */
	wh_lambda_set_rate(lambda, fmax(lambda->rate_pps, bound ? lambda->train_pps / 2.0 : 0.0));
	lambda->estimate_pps = fmax(lambda->estimate_pps, lambda->train_pps);
	lambda->estimate_pps = fmin(lambda->estimate_pps, lambda->rate_max_pps);
}

/* Nobody has measured more than our own line carries. */
static double known_bps(const struct wh_control_config *config)
{
	double bps = (double)config->known.capacity_bps;

	return config->line_bps > 0 ? fmin(bps, (double)config->line_bps) : bps;
}

static void init(struct wh_control *control)
{
	struct wh_lambda *lambda = wh_lambda_state_of(control);

	wh_lambda_path_init(&lambda->path, control->config.hz);
	bound_rate(control);
	lambda->rate_pps = lambda->rate_max_pps;
	lambda->estimate_pps = wh_lambda_pps_of(control, known_bps(&control->config));
}

/*
 * Beside flows that do not react the queue is theirs, and the pacer limits, so that what arrives
 * tells what they send: a window without that queue would send in bursts. What was in flight before
 * the reduction does not count.
 */
static double relief_pkts(const struct wh_control *control)
{
	const struct wh_lambda *lambda = wh_lambda_view_of(control);
	const struct wh_lambda_path *path = &lambda->path;
	double cover_s = wh_lambda_path_covered_s(path) +
			 (lambda->heeded ? lambda->shed_queue_s : path->queue_s);
	double before_pkts = lambda->heeded && !path->filling
				     ? (double)(path->mark_pkts - path->seen_pkts)
				     : 0.0;

	return before_pkts + RELIEF_WINDOW * lambda->rate_pps * cover_s + SLACK_PKTS;
}

static double window_pkts(const struct wh_control *control)
{
	const struct wh_lambda *lambda = wh_lambda_view_of(control);
	double covered_s = wh_lambda_path_covered_s(&lambda->path);
	double pkts =
		lambda->rate_pps * covered_s + wh_lambda_alpha_pkts(control, lambda->rate_pps);

	if (lambda->compete.on)
		return fmin(lambda->compete.window_pkts + lambda->rate_pps * lambda->path.gap_s,
			(double)control->config.window_pkts_max);
	if (lambda->drains > 0.0)
		return fmax(lambda->rate_pps * covered_s *
				    (wh_lambda_is_dedicated(control) ? 1.0 : 1.0 - lambda->drains),
			2.0);
	pkts = fmax(pkts + SLACK_PKTS, fmin(WINDOW_PKTS, lambda->rate_pps * WINDOW_S));
	if (lambda->relieves)
		pkts = fmax(pkts, relief_pkts(control));
	return fmin(pkts, (double)control->config.window_pkts_max);
}

/* Much of the train was lost: the queue is short, or other flows have filled it. */
static void begin_low(struct wh_lambda *lambda)
{
	const struct wh_lambda_path *path = &lambda->path;
	double rtt_s = wh_lambda_path_rtt_s(path);
	double came_pkts = (double)path->delivered_pkts;

	if (came_pkts >= (1.0 - MUCH_LOST) * (double)path->seen_pkts || rtt_s == 0.0)
		return;
	lambda->phase = WH_LAMBDA_LOW;
	lambda->poor = true;
	wh_lambda_set_rate(lambda, fmin(lambda->rate_pps, came_pkts / rtt_s));
}

/* If packets at the low rate are lost as well, other flows have filled the queue. */
static void end_low(struct wh_lambda *lambda, const struct wh_delivery_event *event)
{
	const struct wh_lambda_path *path = &lambda->path;
	double seen_pkts = (double)(path->seen_pkts - path->from_seen_pkts);
	double came_pkts = (double)(path->delivered_pkts - path->from_delivered_pkts);

	if (!path->filling || seen_pkts < LOW_PKTS)
		return;
	if (came_pkts < seen_pkts) {
		lambda->phase = WH_LAMBDA_CRUISE;
		wh_lambda_share_join(&lambda->share, event->now_tsc);
	} else {
		lambda->phase = WH_LAMBDA_VERIFY;
		wh_lambda_set_rate(lambda, lambda->train_pps / 2.0);
	}
	lambda->good_pps = lambda->rate_pps;
	wh_lambda_mark(lambda, event);
}

/* On a dedicated path no other flow can have taken a part: only the train may be wrong. */
static double verified_share(const struct wh_control *control)
{
	if (!wh_lambda_is_dedicated(control))
		return VERIFY;
	return wh_lambda_view_of(control)->train_ends_early ? 1.0 : VERIFY_OWN;
}

/*
 * On a slow line a train takes longer than the round trip: half of it tells the capacity while the
 * rest still stands in the queue, so that the line does not become idle.
 */
static bool ends_early(const struct wh_control *control)
{
	const struct wh_lambda *lambda = wh_lambda_view_of(control);
	double enough_pkts = wh_lambda_option(control, WH_LAMBDA_TRAIN) / 2.0;

	return wh_lambda_is_dedicated(control) && (double)lambda->train.pkts >= enough_pkts &&
	       lambda->train.s > wh_lambda_path_rtt_s(&lambda->path);
}

/* A train that arrived all at once has passed within a round trip: less than that is disproved. */
static void doubt_known(struct wh_lambda *lambda)
{
	double rtt_s = wh_lambda_path_rtt_s(&lambda->path);

	if (lambda->train.s == 0.0 && rtt_s > 0.0 &&
		lambda->estimate_pps * rtt_s < (double)lambda->path.delivered_pkts)
		lambda->estimate_pps = 0.0;
}

static void end_train(struct wh_control *control, const struct wh_delivery_event *event)
{
	struct wh_lambda *lambda = wh_lambda_state_of(control);

	doubt_known(lambda);
	if (lambda->train.s == 0.0 && lambda->estimate_pps == 0.0 && ++lambda->trains < TRAINS) {
		lambda->train = (struct wh_lambda_train){.from_pkts = event->sent_pkts};
		return;
	}
	lambda->blind = lambda->train.s == 0.0 && lambda->estimate_pps == 0.0;
	lambda->train_pps =
		wh_lambda_train_pps(&lambda->train, &lambda->path, lambda->estimate_pps);
	lambda->estimate_pps = fmin(lambda->train_pps, lambda->rate_max_pps);
	lambda->told_pps = lambda->train_pps;
	lambda->began_tsc = event->now_tsc;
	lambda->phase = WH_LAMBDA_VERIFY;
	wh_lambda_set_rate(lambda, lambda->train_pps * verified_share(control));
	begin_low(lambda);
	lambda->good_pps = lambda->rate_pps;
	wh_lambda_mark(lambda, event);
}

static void verify(struct wh_control *control, const struct wh_delivery_event *event)
{
	struct wh_lambda *lambda = wh_lambda_state_of(control);
	const struct wh_lambda_path *path = &lambda->path;
	double alpha = wh_lambda_alpha_pkts(control, lambda->rate_pps);

	/* Only packets of the rate to be verified are in flight: their first report decides. */
	if (!path->filling)
		return;

	lambda->phase = WH_LAMBDA_CRUISE;
	if (path->queue_s * lambda->rate_pps < alpha)
		wh_lambda_set_rate(lambda, lambda->estimate_pps);
	else if (wh_lambda_share_found(&lambda->share, path, event->now_tsc))
		wh_lambda_set_rate(lambda, fmin(path->short_pps, lambda->estimate_pps));
	lambda->good_pps = fmin(lambda->good_pps, lambda->rate_pps);
	lambda->step = 0.0;
	wh_lambda_mark(lambda, event);
}

/* The window limits what is sent; the rate follows from it. */
static void compete(struct wh_control *control, const struct wh_delivery_event *event)
{
	struct wh_lambda *lambda = wh_lambda_state_of(control);
	const struct wh_lambda_path *path = &lambda->path;
	double alpha_s = wh_lambda_alpha_pkts(control, lambda->rate_pps) / lambda->rate_pps;

	wh_lambda_path_keep(&lambda->path, event->now_tsc);
	wh_lambda_compete_hear(&lambda->compete, path, event->now_tsc, event->sent_pkts,
		wh_lambda_loss_sure_noise(&lambda->loss), alpha_s);
	wh_lambda_set_rate(lambda, wh_lambda_compete_pps(&lambda->compete, path));
	lambda->busy_pps = lambda->good_pps = lambda->rate_pps;
	lambda->step = 0.0;
	wh_lambda_mark(lambda, event);
}

/* The train may not have found any capacity. */
static void scavenge(struct wh_control *control, const struct wh_delivery_event *event)
{
	struct wh_lambda *lambda = wh_lambda_state_of(control);
	double found_pps = fmax(
		fmax(lambda->estimate_pps, lambda->yield.capacity_pps), WH_LAMBDA_RATE_LEAST_PPS);
	double own_s = wh_lambda_own_alpha_pkts(control, found_pps) / found_pps;

	if (lambda->phase != WH_LAMBDA_CRUISE && lambda->blind)
		wh_lambda_yield_begin_blind(&lambda->yield);
	lambda->phase = WH_LAMBDA_CRUISE;
	wh_lambda_set_rate(lambda, wh_lambda_yield_hear(&lambda->yield, &lambda->path, event, own_s,
					   lambda->rate_pps, found_pps));
}

/* News of what arrived before an outage may come first: it lasts until the fetched packet came. */
static void fetch_in_train(struct wh_lambda *lambda)
{
	if (lambda->fetch_pkts == 0)
		return;
	wh_lambda_train_interrupted(&lambda->train);
	if (lambda->path.seen_pkts >= lambda->fetch_pkts)
		lambda->fetch_pkts = 0;
}

static void on_delivery(struct wh_control *control, const struct wh_delivery_event *event)
{
	struct wh_lambda *lambda = wh_lambda_state_of(control);
	uint64_t before_pkts = lambda->path.seen_pkts;

	wh_lambda_path_hear(&lambda->path, event, lambda->rate_pps);
	lambda->now_tsc = event->now_tsc;
	lambda->sent_pkts = event->sent_pkts;
	lambda->waits = event->sent_pkts > lambda->path.seen_pkts;
	if (lambda->phase == WH_LAMBDA_START) {
		if (lambda->path.seen_pkts == 0)
			return;

		if (lambda->path.seen_pkts > before_pkts)
			fetch_in_train(lambda);

		bool over = wh_lambda_train_hear(&lambda->train, &lambda->path, event, before_pkts,
			(uint64_t)wh_lambda_option(control, WH_LAMBDA_TRAIN));

		lambda->train_ends_early = !over && ends_early(control);
		if (over || lambda->train_ends_early)
			end_train(control, event);
		return;
	}
	if (lambda->path.seen_pkts == before_pkts)
		return;
	if (lambda->fetch_pkts > 0)
		wh_lambda_mark(lambda, event); /* losses of an outage say nothing about the rate */
	lambda->fetch_pkts = 0;
	if (wh_lambda_option(control, WH_LAMBDA_SHARE) == WH_SHARING_SCAVENGER) {
		scavenge(control, event);
		return;
	}
	if (lambda->compete.on) {
		compete(control, event);
		return;
	}
	if (wh_lambda_option(control, WH_LAMBDA_SHARE) == WH_SHARING_FAIR &&
		wh_lambda_others_disprove(&lambda->others, &lambda->path, event->now_tsc)) {
		wh_lambda_begin_competing(control);
		return;
	}
	wh_lambda_doubt_overload(control, event);
	wh_lambda_heed_overload(control, event);
	if (lambda->phase == WH_LAMBDA_LOW)
		end_low(lambda, event);
	else if (lambda->phase == WH_LAMBDA_VERIFY)
		verify(control, event);
	else
		wh_lambda_cruise(control, event);
	if (lambda->phase == WH_LAMBDA_CRUISE)
		wh_lambda_drain(control, event);
}

/* When the way of sharing changes, the present rate is kept as a guess, and verified. */
static void on_options(struct wh_control *control)
{
	struct wh_lambda *lambda = wh_lambda_state_of(control);
	double share = wh_lambda_option(control, WH_LAMBDA_SHARE);
	bool competed = lambda->compete.on && share != WH_SHARING_FAIR;
	bool gave_way = lambda->yield.heard_tsc != 0 && share != WH_SHARING_SCAVENGER;

	if (competed)
		lambda->compete.on = false;
	if (gave_way)
		lambda->yield = (struct wh_lambda_yield){0};
	if (!competed && !gave_way)
		return;
	lambda->phase = WH_LAMBDA_VERIFY;
	lambda->good_pps = lambda->rate_pps;
	lambda->busy_pps = 0.0;
	lambda->step = 0.0;
	wh_lambda_path_mark(&lambda->path, lambda->now_tsc, lambda->sent_pkts);
}

/* No news for a long time: all packets of the window may be lost. */
static void on_tick(struct wh_control *control, const struct wh_tick_event *event)
{
	struct wh_lambda *lambda = wh_lambda_state_of(control);
	bool heard = lambda->path.seen_pkts > 0;
	double patience_s = fmax(heard ? STILL_S : STILL_FIRST_S,
		STILL_RTT * wh_lambda_path_rtt_s(&lambda->path) + 2.0 * lambda->path.queue_s +
			STILL_PKTS / lambda->rate_pps + fmin(lambda->path.gap_s, STILL_REPORT_S));

	/* There was nothing to wait for until packets were sent. */
	if (heard && !lambda->waits)
		lambda->still_tsc = event->now_tsc;
	lambda->waits = event->sent_pkts_total > lambda->path.seen_pkts;
	if (lambda->still_tsc < lambda->path.moved_tsc || lambda->still_tsc == 0)
		lambda->still_tsc =
			lambda->path.moved_tsc > 0 ? lambda->path.moved_tsc : event->now_tsc;
	if (event->now_tsc <= lambda->still_tsc ||
		(double)(event->now_tsc - lambda->still_tsc) / lambda->path.hz < patience_s)
		return;
	lambda->still_tsc = event->now_tsc;
	lambda->fetch_pkts = event->sent_pkts_total + 1;
}

/* Beside TCPs a window limits, but never beyond what the operator and the line allow. */
static double pace_pps(const struct wh_lambda *lambda)
{
	if (lambda->compete.on)
		return fmin(lambda->rate_pps * lambda->compete.pace, lambda->rate_max_pps);
	return lambda->rate_pps * (1.0 - lambda->drains);
}

static uint64_t interval_fp(const struct wh_control *control)
{
	double fp = (double)control->config.hz / pace_pps(wh_lambda_view_of(control)) *
		    (double)WH_INTERVAL_MIN_FP;

	return (uint64_t)fmin(
		fmax(ceil(fp), (double)WH_INTERVAL_MIN_FP), (double)WH_INTERVAL_MAX_FP);
}

/* A scavenger does not catch up, and nobody does while a queue is drained. */
static uint64_t owed_most_tsc(const struct wh_control *control)
{
	const struct wh_lambda *lambda = wh_lambda_view_of(control);

	if (lambda->phase != WH_LAMBDA_CRUISE || lambda->drains > 0.0 ||
		wh_lambda_option(control, WH_LAMBDA_SHARE) == WH_SHARING_SCAVENGER)
		return 0;
	return (uint64_t)(wh_lambda_path_rtt_s(&lambda->path) * lambda->path.hz);
}

/* As far as the controller's own rules tell; see the rules that begin with these names. */
static enum wh_limit limit_of(const struct wh_control *control)
{
	const struct wh_lambda *lambda = wh_lambda_view_of(control);
	double capacity_pps = wh_lambda_capacity_pps(lambda);

	if (lambda->phase != WH_LAMBDA_CRUISE || lambda->blind)
		return WH_LIMIT_START;
	if (lambda->rate_pps < LESS * capacity_pps &&
		wh_lambda_path_pause_s(&lambda->path, lambda->rate_pps) > 0.0)
		return WH_LIMIT_CPU;
	if (lambda->compete.on || lambda->relieves || lambda->others.contended ||
		lambda->rate_pps < LESS * lambda->yield.capacity_pps)
		return WH_LIMIT_OTHERS;
	if (lambda->loss.ceiling_pps > 0.0 || lambda->loss.trial != WH_LAMBDA_NO_TRIAL)
		return WH_LIMIT_LOSS;
	return WH_LIMIT_LINE;
}

static struct wh_decision decide(const struct wh_control *control)
{
	const struct wh_lambda *lambda = wh_lambda_view_of(control);
	uint64_t pkts = lambda->phase == WH_LAMBDA_START
				? lambda->train.from_pkts +
					  (uint64_t)wh_lambda_option(control, WH_LAMBDA_TRAIN)
				: lambda->path.seen_pkts + (uint64_t)window_pkts(control);

	return (struct wh_decision){
		.interval_fp = interval_fp(control),
		.window_pkts = control->config.window_pkts_max,
		.owed_most_tsc = owed_most_tsc(control),
		.by_tokens = true,
		.tokens = pkts > lambda->fetch_pkts ? pkts : lambda->fetch_pkts,
		.limit = limit_of(control),
	};
}

struct wh_lambda_view wh_lambda_view(const struct wh_control *control)
{
	static const char *const names[] = {"start", "low", "verify", "cruise"};
	const struct wh_lambda *lambda = wh_lambda_view_of(control);

	if (control->profile != &wh_profile_lambda)
		return (struct wh_lambda_view){0};
	return (struct wh_lambda_view){
		.phase = names[lambda->phase],
		.rate_pps = lambda->rate_pps,
		.window_pkts = window_pkts(control),
		.queue_s = lambda->path.queue_s,
		.rtt_s = wh_lambda_path_rtt_s(&lambda->path),
		.noise = wh_lambda_loss_noise(&lambda->loss),
		.ceiling_pps = lambda->loss.ceiling_pps,
		.estimate_pps = lambda->estimate_pps,
	};
}

/*
 * The rate beside TCPs, or of a scavenger beside other flows, is not the capacity of the path: a
 * session that begins with it would begin too low. Other flows of our kind may be lanes of the same
 * job, whose rates are added up, so that a rate beside these counts.
 */
static bool is_of_the_way(const struct wh_lambda *lambda)
{
	return lambda->phase == WH_LAMBDA_CRUISE && !lambda->compete.on &&
	       lambda->rate_pps >= FOUND * lambda->yield.capacity_pps;
}

/* If the train told nothing, a rate that was never used is what was kept before, or a guess. */
static double found_pps(const struct wh_control *control)
{
	const struct wh_lambda *lambda = wh_lambda_view_of(control);

	if (lambda->train.s > 0.0 ||
		wh_lambda_option(control, WH_LAMBDA_SHARE) == WH_SHARING_SCAVENGER)
		return lambda->rate_pps;
	return fmin(lambda->rate_pps, lambda->sent_most_pps);
}

static void found(const struct wh_control *control, struct wh_known_path *known)
{
	const struct wh_lambda *lambda = wh_lambda_view_of(control);
	double bps = found_pps(control) * 8.0 * control->config.wire_bytes;
	double rtt_ns = wh_lambda_path_rtt_s(&lambda->path) * 1e9;

	if (!is_of_the_way(lambda) || bps < 1.0 || rtt_ns < 1.0)
		return;
	known->capacity_bps = (uint64_t)fmin(bps, (double)WH_KNOWN_BPS_MAX);
	known->rtt_ns = (uint64_t)fmin(rtt_ns, (double)WH_KNOWN_RTT_MAX_NS);
}

/* Where nobody else shares the path, its round trip changes little and is told less often. */
static void adapt(const struct wh_profile_options *chosen, struct wh_feedback *feedback)
{
	if (chosen->value[WH_LAMBDA_SHARE] == WH_SHARING_DEDICATED)
		feedback->data_per_report = DATA_PER_REPORT;
}

const struct wh_profile wh_profile_lambda = {
	.number = 8,
	.name = "lambda",
	.summary = "finds the rate by itself: trains, delivery and delay; harms nobody",
	.options = options,
	.n_options = WH_LAMBDA_OPTIONS,

	.control_bytes = sizeof(struct wh_lambda),
	.init = init,
	.on_delivery = on_delivery,
	.on_tick = on_tick,
	.on_rate = bound_rate,
	.on_options = on_options,
	.decide = decide,
	.found = found,

	.feedback =
		{
			.period_us = 10000,
			.resend = WH_RESEND_LATE,
			.no_ack2 = true,
			.delivery = true,
			.repair_tail = true,
		},

	.adapt = adapt,
	.code = WH_FEC_RS,
};
