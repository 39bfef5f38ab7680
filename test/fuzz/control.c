/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Fuzz target: controllers whose options a peer has chosen, and who tells them what he likes, as he
 * did when what they know of the path was kept. What a session lets through comes in any order, and
 * each decision must be one that a pacer can follow. What they have found may be kept at any time.
 */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "number_input.h"
#include "options.h"
#include "session/pacer.h"

#define EVENTS_MAX   300
#define PEER_TIMEOUT 30 /* seconds; no round trip that a session believes is longer */
#define LOST_MOST    UINT32_MAX

struct flow {
	struct wh_script script;
	struct wh_control control;
	struct wh_pacer pacer;
	uint64_t now_tsc;
	uint64_t first_pn;
	uint64_t sent_pkts; /* with those that went again */
	uint64_t sent_end;
	uint64_t acked_pkts;
	uint64_t seen_pkts;
	uint64_t delivered_pkts;
	bool probed;
};

static uint64_t followed[UINT8_MAX + 1]; /* decisions, by the profile's number */
static uint64_t kept;                    /* times that something was found */

/* Of any size up to a bound: 0 and the bound itself, too. */
static uint64_t any_size(struct flow *flow, uint64_t most)
{
	struct wh_script *script = &flow->script;
	uint64_t some = wh_script_u64(script) >> wh_script_below(script, 64);

	if (wh_script_one_in(script, 8))
		return most;
	return wh_script_one_in(script, 8) ? 0 : wh_min_u64(some, most);
}

static uint64_t rtt_tsc(struct flow *flow)
{
	return any_size(flow, PEER_TIMEOUT * flow->control.config.hz);
}

static void tell_probe(struct flow *flow)
{
	const struct wh_probe_event event = {
		.now_tsc = flow->now_tsc,
		.gap_tsc = rtt_tsc(flow),
		.rtt_tsc = wh_max_u64(any_size(flow, flow->now_tsc), 1),
		.bytes = 1 + (uint32_t)wh_script_below(&flow->script, 9300),
	};

	if (!flow->probed)
		WH_CONTROL_TELL(&flow->control, on_probe, &event);
	flow->probed = true;
}

static void tell_feedback(struct flow *flow)
{
	uint64_t outstanding = flow->sent_end - flow->first_pn - flow->acked_pkts;
	uint64_t acked_pkts = any_size(flow, outstanding);
	const struct wh_ack_event ack = {
		.now_tsc = flow->now_tsc,
		.first_pn = flow->first_pn + flow->acked_pkts,
		.pkts = (uint32_t)acked_pkts,
	};

	flow->acked_pkts += acked_pkts;

	const struct wh_feedback_event event = {
		.now_tsc = flow->now_tsc,
		.acked_pkts = acked_pkts,
		.acked_pkts_total = flow->acked_pkts,
		.arrival_pps = (uint32_t)any_size(flow, UINT32_MAX),
		.capacity_pps = (uint32_t)any_size(flow, UINT32_MAX),
		.rtt_tsc = rtt_tsc(flow),
		.sent_pkts_total = flow->sent_pkts,
		.sample_rtt_tsc = any_size(flow, flow->now_tsc),
	};

	if (acked_pkts > 0)
		WH_CONTROL_TELL(&flow->control, on_ack, &ack);
	WH_CONTROL_TELL(&flow->control, on_feedback, &event);
}

static int64_t any_delay(struct flow *flow)
{
	int64_t delay_tsc = (int64_t)any_size(flow, UINT64_C(1) << 52);

	return wh_script_one_in(&flow->script, 2) ? -delay_tsc : delay_tsc;
}

/* Counts that grow and are possible; times and delays as the peer likes. */
static void tell_delivery(struct flow *flow)
{
	uint64_t late_pkts;

	flow->seen_pkts += any_size(flow, flow->sent_pkts - flow->seen_pkts);
	late_pkts = any_size(flow, flow->seen_pkts - flow->delivered_pkts);
	flow->delivered_pkts = flow->seen_pkts - late_pkts;

	const struct wh_delivery_event event = {
		.now_tsc = flow->now_tsc,
		.sent_pkts = flow->sent_pkts,
		.seen_pkts = flow->seen_pkts,
		.delivered_pkts = flow->delivered_pkts,
		.lost_runs = any_size(flow, flow->sent_pkts),
		.arrived_tsc = any_size(flow, UINT64_MAX),
		.span_tsc = any_size(flow, 70 * flow->control.config.hz),
		.span_pkts = (uint32_t)any_size(flow, UINT32_MAX),
		.rtt_tsc = rtt_tsc(flow),
		.delay_tsc = any_delay(flow),
		.least_delay_tsc = any_delay(flow),
		.held_up = wh_script_one_in(&flow->script, 2),
	};

	if (flow->seen_pkts > 0 && flow->control.profile->feedback.delivery)
		WH_CONTROL_TELL(&flow->control, on_delivery, &event);
}

static void tell_loss(struct flow *flow)
{
	const struct wh_loss_event event = {
		.now_tsc = flow->now_tsc,
		.lost_pkts = wh_max_u64(any_size(flow, LOST_MOST), 1),
		.last_lost_pn = any_size(flow, flow->sent_end - 1),
		.sent_end = flow->sent_end,
		.sent_pkts_total = flow->sent_pkts,
	};

	if (flow->sent_end > flow->first_pn)
		WH_CONTROL_TELL(&flow->control, on_loss, &event);
}

static void tell_rest(struct flow *flow, uint64_t which)
{
	struct wh_control *control = &flow->control;
	uint64_t now_tsc = flow->now_tsc;
	const struct wh_delay_event delay = {.now_tsc = now_tsc, .sent_end = flow->sent_end};
	const struct wh_bitmap_event bitmap = {
		.now_tsc = now_tsc,
		.finding = (enum wh_bitmap_finding)wh_script_below(&flow->script, 3),
		.first = any_size(flow, flow->sent_end),
		.sent_end = flow->sent_end,
	};
	const struct wh_silence_event silence = {
		.now_tsc = now_tsc, .since_tsc = any_size(flow, now_tsc)};
	const struct wh_tick_event tick = {.now_tsc = now_tsc,
		.sent_pkts_total = flow->sent_pkts,
		.rtt_tsc = any_size(flow, now_tsc)};

	if (which == 0)
		WH_CONTROL_TELL(control, on_delay, &delay);
	else if (which == 1 && control->profile->feedback.bitmaps.n_pkts > 0)
		WH_CONTROL_TELL(control, on_bitmap, &bitmap);
	else if (which == 2)
		WH_CONTROL_TELL(control, on_silence, &silence);
	else if (which == 3 && control->config.rate_bps > 0)
		wh_control_set_rate(control, wh_max_u64(any_size(flow, UINT64_C(1) << 40), 1));
	else
		WH_CONTROL_TELL(control, on_tick, &tick);
}

/* As the session does, and up to so many packets go. */
static void follow(struct flow *flow)
{
	struct wh_decision decision = flow->control.profile->decide(&flow->control);
	struct wh_pacer *pacer = &flow->pacer;

	wh_pacer_set_interval(pacer, decision.interval_fp);
	wh_pacer_set_burst(pacer, decision.burst_pkts > 0 ? decision.burst_pkts : 1);
	if (decision.by_tokens)
		wh_pacer_allow(pacer, decision.tokens);
	else
		wh_pacer_grant(pacer, decision.tokens);
	if (decision.freeze_until_tsc != 0)
		wh_pacer_hold_until(pacer, decision.freeze_until_tsc);
	followed[flow->control.profile->number]++;
	for (uint64_t pkts = any_size(flow, 64);
		pkts > 0 && wh_pacer_due(pacer, flow->now_tsc) &&
		flow->sent_end - flow->first_pn - flow->acked_pkts < decision.window_pkts;
		pkts--) {
		wh_pacer_charge(pacer, flow->now_tsc, pacer->full_bytes);
		flow->sent_pkts++;
		/* Something that goes again, or something new. */
		if (flow->sent_end == flow->first_pn || !wh_script_one_in(&flow->script, 4))
			flow->sent_end++;
	}
}

/* Its bounds are checked by whoever hands it over; here, that it is no more than may be sent. */
static void keep(const struct flow *flow)
{
	const struct wh_control_config *config = &flow->control.config;
	const struct wh_known_path found = wh_control_found(&flow->control);
	uint64_t most_bps = WH_KNOWN_BPS_MAX;

	if (config->rate_bps > 0)
		most_bps = wh_min_u64(most_bps, config->rate_bps);
	if (config->line_bps > 0)
		most_bps = wh_min_u64(most_bps, config->line_bps);
	WH_ASSERT(found.capacity_bps <= most_bps + 1); /* rates are no whole numbers */
	kept += found.capacity_bps > 0;
}

static struct wh_known_path any_known(struct flow *flow)
{
	struct wh_known_path known = {.capacity_bps = any_size(flow, WH_KNOWN_BPS_MAX)};

	if (known.capacity_bps == 0)
		return known;
	known.rtt_ns = 1 + any_size(flow, WH_KNOWN_RTT_MAX_NS - 1);
	known.burst_pkts = (uint32_t)any_size(flow, WH_KNOWN_PKTS_MAX);
	known.age_s = (uint32_t)any_size(flow, UINT32_MAX);
	return known;
}

static bool begin(struct flow *flow)
{
	static const uint64_t hzs[] = {1000000000, 2599999000, 5000000000};
	static const uint64_t rates_bps[] = {0, 1, 1000000, 10000000000, 1000000000000};
	struct wh_script *script = &flow->script;
	uint32_t profiles = 0;

	while (wh_profile_at(profiles) != NULL)
		profiles++;

	const struct wh_profile *profile =
		wh_profile_at((uint32_t)wh_script_below(script, profiles));
	uint32_t packet_bytes = 124 + (uint32_t)wh_script_below(script, 9200);
	struct wh_control_config config = {
		.hz = hzs[wh_script_below(script, 3)],
		.packet_bytes = packet_bytes,
		.wire_bytes = packet_bytes + 38,
		.rate_bps = rates_bps[wh_script_below(script, 5)],
		.line_bps = rates_bps[wh_script_below(script, 5)],
		.window_pkts_max = WH_WINDOW_PKTS_MIN +
				   (uint32_t)any_size(flow, (1 << 24) - WH_WINDOW_PKTS_MIN),
		.known = any_known(flow),
	};

	config.syn_tsc = config.hz / 1000000 * (1 + any_size(flow, WH_PERIOD_US_MAX - 1));
	if (!wh_script_options(script, profile, &config.options))
		return false;
	flow->now_tsc = any_size(flow, UINT64_C(1) << 60);
	flow->first_pn = flow->sent_end = any_size(flow, WH_FIRST_PN_MAX);
	wh_control_init(&flow->control, profile, &config);
	wh_pacer_init(&flow->pacer, flow->now_tsc, config.wire_bytes, 1);
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	struct flow flow = {0};

	wh_script_init(&flow.script, bytes, length);
	if (!begin(&flow))
		return 0;
	for (uint64_t left = wh_script_below(&flow.script, EVENTS_MAX); left > 0; left--) {
		uint64_t which = wh_script_below(&flow.script, 15);

		flow.now_tsc += any_size(&flow, PEER_TIMEOUT * flow.control.config.hz);
		if (which < 1)
			tell_probe(&flow);
		else if (which < 5)
			tell_feedback(&flow);
		else if (which < 7)
			tell_loss(&flow);
		else if (which < 12)
			tell_rest(&flow, which - 7);
		else
			tell_delivery(&flow);
		follow(&flow);
		keep(&flow);
	}
	return 0;
}

size_t wh_fuzz_seed(uint32_t number, uint8_t *bytes, size_t room)
{
	WH_ASSERT(room >= 8);
	memset(bytes, (int)number, 8);
	return number < 2 ? 8 : 0;
}

void wh_fuzz_report(void)
{
	for (uint32_t i = 0; wh_profile_at(i) != NULL; i++)
		printf("%s: %" PRIu64 " decisions\n", wh_profile_at(i)->name,
			followed[wh_profile_at(i)->number]);
	printf("a path was found %" PRIu64 " times\n", kept);
}
