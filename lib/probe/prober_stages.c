/* SPDX-License-Identifier: BSD-3-Clause */

/* The stages of a probe: what each sends, when it ends, and what follows from it. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "probe/probe_internal.h"

#define ECHO_GAP_NS UINT64_C(1000000)

/* Lost packets of a size before it counts as too large. */
#define SIZE_TRIES 3

/* Precision of the size search. */
#define SIZE_GRAIN_BYTES 4

/* Trains from this length on determine the capacity alone. */
#define CAPACITY_PKTS 64

/* Longest duration of a train: 32 bits of nanoseconds hold arrival times up to four seconds. */
#define TRAIN_S 1.0

/* How often a train that overflowed is sent in total. */
#define OVERFLOWS 3

/* Places within an eighth of the farthest are the same. Three losses by chance hardly are. */
#define SAME_PLACE 8

/* So many losses are expected where the share behind a burst is counted; it may be so far off. */
#define SHARE_LOSSES 32
#define SHARE_OFF    0.1

#define BITS_PER_BYTE 8.0

static uint64_t rest_tsc(const struct wh_prober *prober)
{
	return wh_ns_to_tsc(prober->config.hz, WH_PROBER_REST_NS);
}

/* When an outstanding answer has arrived or is lost. */
static uint64_t answers_by_tsc(const struct wh_prober *prober, uint64_t now_tsc)
{
	return now_tsc + 2 * prober->rtt_tsc + 10 * rest_tsc(prober);
}

static double capacity_bps(const struct wh_prober *prober)
{
	const struct wh_findings *found = &prober->findings;

	return found->trains_bps > 0 ? found->trains_bps : found->pairs_bps;
}

/* Time of a full packet at the known capacity. */
static double packet_s(const struct wh_prober *prober)
{
	double bps = capacity_bps(prober);
	double bits = BITS_PER_BYTE * wh_prober_wire_bytes(prober, prober->full_bytes);

	return bps > 0 ? bits / bps : 0;
}

static uint32_t longest_train(const struct wh_prober *prober)
{
	uint32_t pkts = prober->config.train_pkts < prober->room_pkts ? prober->config.train_pkts
								      : prober->room_pkts;
	double in_time = packet_s(prober) > 0 ? TRAIN_S / packet_s(prober) : pkts;

	if (in_time < WH_PROBER_TRAIN_MIN)
		return WH_PROBER_TRAIN_MIN;
	return in_time < pkts ? (uint32_t)in_time : pkts;
}

static void run_train(struct wh_prober *prober, uint64_t now_tsc, uint32_t count)
{
	wh_prober_run(prober, now_tsc + rest_tsc(prober), 0, count, prober->full_bytes, count, 0);
}

static void run_size(struct wh_prober *prober, uint64_t now_tsc, uint32_t packet_bytes)
{
	prober->size_answered = false;
	wh_prober_run(prober, now_tsc, WH_FLAG_ECHO, SIZE_TRIES, packet_bytes, 1,
		wh_ns_to_tsc(prober->config.hz, ECHO_GAP_NS));
}

/* Spaced for a slow path: a pair has left before the next one arrives. */
static void run_pairs(struct wh_prober *prober, uint64_t now_tsc)
{
	uint64_t gap_tsc = wh_max_u64(rest_tsc(prober) / 4, prober->rtt_tsc / 16);

	wh_prober_run(prober, now_tsc, 0, 2 * WH_PROBER_PAIRS, prober->full_bytes, 2, gap_tsc);
}

static void run_steady(struct wh_prober *prober, uint64_t now_tsc)
{
	double gap_s = 2 * packet_s(prober);
	double in_time = TRAIN_S / gap_s;
	uint32_t count =
		in_time < WH_PROBER_STEADY_PKTS ? (uint32_t)in_time : WH_PROBER_STEADY_PKTS;

	count = count < prober->room_pkts ? count : prober->room_pkts;
	wh_prober_run(prober, now_tsc + rest_tsc(prober), 0, count > 0 ? count : 1,
		prober->full_bytes, 1, (uint64_t)(gap_s * (double)prober->config.hz));
}

void wh_prober_begin_stage(struct wh_prober *prober, uint64_t now_tsc, enum wh_prober_stage stage)
{
	WH_ASSERT(stage > prober->stage && stage < WH_PROBER_OVER);
	prober->stage = stage;
	prober->wait_tsc = WH_TSC_NEVER;
	switch (stage) {
	case WH_PROBER_ECHO:
		for (uint32_t i = 0; i < WH_PROBER_ECHOES; i++)
			prober->echo_rtt_tsc[i] = WH_TSC_NEVER;
		wh_prober_run(prober, now_tsc, WH_FLAG_ECHO, WH_PROBER_ECHOES, WH_HEAD_BYTES, 1,
			wh_ns_to_tsc(prober->config.hz, ECHO_GAP_NS));
		break;
	case WH_PROBER_SIZE:
		prober->size_low = WH_HEAD_BYTES;
		prober->size_high = prober->full_bytes + 1;
		run_size(prober, now_tsc, prober->full_bytes);
		break;
	case WH_PROBER_PAIRS_STAGE:
		run_pairs(prober, now_tsc);
		break;
	case WH_PROBER_GROW:
		prober->grow_count = WH_PROBER_TRAIN_MIN;
		run_train(prober, now_tsc, prober->grow_count);
		break;
	case WH_PROBER_REPEAT:
		run_train(prober, now_tsc, prober->grow_count);
		break;
	case WH_PROBER_WHOLE:
		run_train(prober, now_tsc, prober->findings.burst_pkts);
		break;
	default:
		WH_ASSERT(stage == WH_PROBER_STEADY);
		run_steady(prober, now_tsc);
	}
}

void wh_prober_echo_answer(struct wh_prober *prober, uint64_t now_tsc, uint64_t arrived_tsc,
	const struct wh_probe_answer *answer)
{
	const struct wh_prober_run *run = &prober->run;

	if (run->flags != WH_FLAG_ECHO || answer->train != run->number ||
		answer->index >= run->sent ||
		answer->stamp_ns !=
			wh_tsc_to_ns(prober->config.hz, prober->echo_sent_tsc[answer->index]))
		return;
	if (answer->heard > prober->echoes_heard)
		prober->echoes_heard = answer->heard;
	if (prober->stage == WH_PROBER_SIZE) {
		prober->size_answered = true;
		prober->wait_tsc = now_tsc;
		return;
	}
	if (prober->stage != WH_PROBER_ECHO || prober->echo_rtt_tsc[answer->index] != WH_TSC_NEVER)
		return;

	uint64_t sent_tsc = prober->echo_sent_tsc[answer->index];
	uint64_t rtt_tsc = arrived_tsc > sent_tsc ? arrived_tsc - sent_tsc : 0;

	prober->echo_rtt_tsc[answer->index] = rtt_tsc;
	prober->rtt_tsc = wh_max_u64(prober->rtt_tsc, rtt_tsc);
	prober->echoes_got++;
	if (prober->echoes_got == WH_PROBER_ECHOES)
		prober->wait_tsc = now_tsc;
}

static int by_time(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a;
	uint64_t right = *(const uint64_t *)b;

	return (left > right) - (left < right);
}

/* Of round-trip times. */
static uint64_t percentile_ns(const struct wh_prober *prober, uint32_t percent)
{
	uint32_t place = (prober->echoes_got * percent + 99) / 100;

	return wh_tsc_to_ns(prober->config.hz, prober->echo_rtt_tsc[place > 0 ? place - 1 : 0]);
}

static void conclude_echoes(struct wh_prober *prober, uint64_t now_tsc)
{
	struct wh_findings *found = &prober->findings;

	if (prober->echoes_got == 0) {
		wh_prober_finish(prober, now_tsc, WH_PROBER_SILENT);
		return;
	}
	if (prober->echoes_heard < prober->echoes_got) {
		wh_prober_finish(prober, now_tsc, WH_PROBER_CONTRADICTS);
		return;
	}
	/* Missing answers have the largest value and sort last. */
	qsort(prober->echo_rtt_tsc, WH_PROBER_ECHOES, sizeof(prober->echo_rtt_tsc[0]), by_time);
	found->echoes_sent = WH_PROBER_ECHOES;
	/* The network may duplicate packets. */
	found->echoes_heard =
		prober->echoes_heard < WH_PROBER_ECHOES ? prober->echoes_heard : WH_PROBER_ECHOES;
	found->echoes_got = prober->echoes_got;
	found->rtt_min_ns = percentile_ns(prober, 0);
	found->rtt_p50_ns = percentile_ns(prober, 50);
	found->rtt_p99_ns = percentile_ns(prober, 99);
	prober->rtt_tsc = prober->echo_rtt_tsc[prober->echoes_got - 1];
	wh_prober_begin_stage(prober, now_tsc, WH_PROBER_SIZE);
}

/* Bisection, down to the precision. */
static void conclude_size(struct wh_prober *prober, uint64_t now_tsc)
{
	uint32_t tried = prober->run.packet_bytes;

	if (prober->size_answered)
		prober->size_low = tried;
	else
		prober->size_high = tried;
	prober->wait_tsc = WH_TSC_NEVER;
	if (prober->size_high - prober->size_low > SIZE_GRAIN_BYTES &&
		prober->size_low < prober->config.packet_bytes) {
		run_size(prober, now_tsc, (prober->size_low + prober->size_high) / 2);
		return;
	}
	if (prober->size_low < WH_PROBER_PACKET_MIN) {
		wh_prober_finish(prober, now_tsc, WH_PROBER_SILENT);
		return;
	}
	prober->full_bytes = prober->size_low;
	prober->findings.mtu_bytes = prober->size_low + prober->config.ip_udp_bytes;
	prober->findings.wire_bytes = wh_prober_wire_bytes(prober, prober->size_low);
	wh_prober_begin_stage(prober, now_tsc, WH_PROBER_PAIRS_STAGE);
}

/* Once all is sent: waits for the answers to echoes, or fetches the arrivals of a train. */
void wh_prober_stage_poll(struct wh_prober *prober, uint64_t now_tsc)
{
	struct wh_prober_run *run = &prober->run;

	if (run->sent < run->count)
		return;
	if (run->flags == 0) {
		wh_prober_fetch_begin(prober, run->last_sent_tsc + rest_tsc(prober));
		return;
	}
	if (prober->wait_tsc == WH_TSC_NEVER)
		prober->wait_tsc = answers_by_tsc(prober, run->last_sent_tsc);
	if (now_tsc < prober->wait_tsc)
		return;
	if (prober->stage == WH_PROBER_ECHO)
		conclude_echoes(prober, now_tsc);
	else
		conclude_size(prober, now_tsc);
}

/* The actual rate of the run: at most the line's. */
static double sent_bps(const struct wh_prober *prober)
{
	const struct wh_prober_run *run = &prober->run;
	uint64_t span_tsc = run->last_sent_tsc - run->first_sent_tsc;
	double line_bps = (double)prober->config.line_bps;

	if (span_tsc == 0 || run->count < 2)
		return line_bps;

	double bps = (double)(run->count - 1) * BITS_PER_BYTE *
		     wh_prober_wire_bytes(prober, run->packet_bytes) * (double)prober->config.hz /
		     (double)span_tsc;

	return line_bps > 0 && bps > line_bps ? line_bps : bps;
}

/* The longest trains are the most precise. Of equally long ones the latest counts. */
static void learn_capacity(struct wh_prober *prober)
{
	const struct wh_train *train = &prober->train;
	struct wh_findings *found = &prober->findings;
	double fast_bps = sent_bps(prober);

	if (train->arrival_bps <= 0 || train->arrived < CAPACITY_PKTS / 2 ||
		train->count < found->shown_count)
		return;
	/* Packets received in one burst share a timestamp, so that the rate may seem too high. */
	found->trains_bps =
		fast_bps > 0 && train->arrival_bps > fast_bps ? fast_bps : train->arrival_bps;
	found->line_bps = fast_bps;
}

/* Expected share of losses when a queue overflows: all that exceeds the line's rate. */
static double expected_share(const struct wh_prober *prober)
{
	double fast_bps = sent_bps(prober);
	double slow_bps = capacity_bps(prober);

	if (fast_bps == 0)
		return 1.0;
	return fast_bps > slow_bps ? (fast_bps - slow_bps) / fast_bps : 0.0;
}

static void keep_for_show(struct wh_prober *prober)
{
	struct wh_findings *found = &prober->findings;

	found->shown_count = prober->train.count;
	found->shown_arrivals = prober->fetch.total;
	memcpy(found->shown, prober->arrival, prober->fetch.total * sizeof(found->shown[0]));
}

static void sort(uint32_t *at)
{
	for (uint32_t i = 1; i < OVERFLOWS; i++)
		for (uint32_t k = i; k > 0 && at[k] < at[k - 1]; k--) {
			uint32_t swap = at[k];

			at[k] = at[k - 1];
			at[k - 1] = swap;
		}
}

/*
 * Behind two switches the one with little memory may lose few packets, long before the one with the
 * slow line loses what the two rates say. Its losses begin at the same place in each train.
 */
static bool loses_earlier(const struct wh_prober *prober)
{
	const uint32_t *at = prober->lost_at;

	return at[OVERFLOWS / 2] < prober->overflow_at[0] &&
	       at[OVERFLOWS - 1] - at[0] <= at[OVERFLOWS - 1] / SAME_PLACE;
}

/*
 * The share is that of the switch which ran over first, if it is not what the two rates say. Where
 * that one is narrow, too, the other one may join it: only what is right behind the burst counts.
 */
static void learn_share(struct wh_prober *prober, uint32_t from, bool earlier)
{
	const struct wh_train *train = &prober->train;
	double expected = prober->findings.lost_share_expected;
	double enough = SHARE_LOSSES / fmax(expected, 1e-9);
	uint32_t end = earlier ? prober->overflow_at[0] : train->count;

	if (!earlier && enough > train->count - from)
		return;
	if (!earlier)
		end = from + (uint32_t)enough;

	double share = wh_train_lost_share(train, from, end);

	if (fabs(share - expected) > SHARE_OFF * expected)
		prober->overflow_share = share;
}

static void conclude_overflows(struct wh_prober *prober)
{
	struct wh_findings *found = &prober->findings;

	WH_ASSERT(prober->repeats == OVERFLOWS);
	sort(prober->overflow_at);
	sort(prober->lost_at);

	bool earlier = loses_earlier(prober);
	const uint32_t *at = earlier ? prober->lost_at : prober->overflow_at;

	found->burst_end = WH_BURST_OVERFLOW;
	found->burst_pkts = at[OVERFLOWS / 2];
	found->burst_spread_pkts = at[OVERFLOWS - 1] - at[0];
	learn_share(prober, found->burst_pkts, earlier);
}

static void note_overflow(struct wh_prober *prober, uint32_t at, double share)
{
	struct wh_findings *found = &prober->findings;

	WH_ASSERT(prober->repeats < OVERFLOWS);
	prober->lost_at[prober->repeats] = prober->train.first_lost;
	prober->overflow_at[prober->repeats++] = at;
	found->lost_share = wh_train_lost_share(&prober->train, at, prober->train.count);
	found->lost_share_expected = share;
	found->lost_runs = prober->train.lost_runs;
	found->longest_run = prober->train.longest_run;
}

/* What follows the growing trains: without a burst length WHOLE is skipped. */
static void after_bursts(struct wh_prober *prober, uint64_t now_tsc)
{
	bool trains =
		prober->findings.burst_end == WH_BURST_OVERFLOW && prober->findings.burst_pkts > 1;

	if (trains)
		wh_prober_begin_stage(prober, now_tsc, WH_PROBER_WHOLE);
	else if (packet_s(prober) > 0)
		wh_prober_begin_stage(prober, now_tsc, WH_PROBER_STEADY);
	else
		wh_prober_finish(prober, now_tsc, WH_PROBER_DONE);
}

static void conclude_grow(struct wh_prober *prober, uint64_t now_tsc)
{
	double share = expected_share(prober);
	uint32_t at = wh_train_overflow(&prober->train, share);
	uint32_t longest = longest_train(prober);

	learn_capacity(prober);
	keep_for_show(prober);
	if (at < prober->train.count) {
		note_overflow(prober, at, share);
		wh_prober_begin_stage(prober, now_tsc, WH_PROBER_REPEAT);
		return;
	}
	if (prober->grow_count < longest) {
		prober->grow_count =
			2 * prober->grow_count < longest ? 2 * prober->grow_count : longest;
		run_train(prober, now_tsc, prober->grow_count);
		return;
	}
	prober->findings.burst_end = WH_BURST_LONGEST;
	prober->findings.burst_pkts = prober->train.count;
	prober->findings.burst_verified = prober->train.arrived == prober->train.count;
	after_bursts(prober, now_tsc);
}

static void conclude_repeat(struct wh_prober *prober, uint64_t now_tsc)
{
	double share = expected_share(prober);

	learn_capacity(prober);
	note_overflow(prober, wh_train_overflow(&prober->train, share), share);
	if (prober->repeats < OVERFLOWS) {
		run_train(prober, now_tsc, prober->grow_count);
		return;
	}
	conclude_overflows(prober);
	after_bursts(prober, now_tsc);
}

static void conclude_whole(struct wh_prober *prober, uint64_t now_tsc)
{
	prober->findings.burst_verified = prober->train.arrived == prober->train.count;
	wh_prober_begin_stage(prober, now_tsc, WH_PROBER_STEADY);
}

static void count_train(struct wh_prober *prober)
{
	const struct wh_train *train = &prober->train;
	struct wh_findings *found = &prober->findings;

	found->trains++;
	found->trains_arrived_pkts += train->arrived;
	found->overtaken_pkts += train->overtaken;
	found->duplicate_pkts += train->duplicates;
	/* If there was room for all, packets that were not recorded are duplicates. */
	if (prober->fetch.total < prober->room_pkts)
		found->duplicate_pkts += prober->fetch.heard - prober->fetch.total;
	if (train->overtaken_by > found->overtaken_by)
		found->overtaken_by = train->overtaken_by;
}

void wh_prober_conclude_train(struct wh_prober *prober, uint64_t now_tsc)
{
	const struct wh_prober_run *run = &prober->run;
	struct wh_findings *found = &prober->findings;

	if (!wh_train_read(&prober->train, prober->arrival, prober->fetch.total, run->count,
		    wh_prober_wire_bytes(prober, run->packet_bytes))) {
		wh_prober_finish(prober, now_tsc, WH_PROBER_CONTRADICTS);
		return;
	}
	count_train(prober);
	switch (prober->stage) {
	case WH_PROBER_PAIRS_STAGE:
		found->pairs_bps = wh_train_pairs_bps(
			&prober->train, prober->arrival, prober->fetch.total, &found->pairs);
		wh_prober_begin_stage(prober, now_tsc, WH_PROBER_GROW);
		break;
	case WH_PROBER_GROW:
		conclude_grow(prober, now_tsc);
		break;
	case WH_PROBER_REPEAT:
		conclude_repeat(prober, now_tsc);
		break;
	case WH_PROBER_WHOLE:
		conclude_whole(prober, now_tsc);
		break;
	default:
		WH_ASSERT(prober->stage == WH_PROBER_STEADY);
		found->steady_sent = run->count;
		found->steady_lost = run->count - prober->train.arrived;
		found->steady_bps = capacity_bps(prober) / 2;
		wh_prober_finish(prober, now_tsc, WH_PROBER_DONE);
	}
}
