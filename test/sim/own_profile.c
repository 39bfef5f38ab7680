/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A profile that is all in this file, as docs/controller.md promises ("A profile of your own"). It
 * sends by tokens alone: a few at the beginning, one for each packet that is acknowledged or
 * reported lost, and one after a silence. With a pace it goes by that instead. Where the path is
 * known, it begins with the burst that the path bears.
 */

#include <string.h>

#include "../rig/end.h"
#include "base/clock.h"
#include "profile/interval.h"
#include "profile/profile.h"
#include "unit.h"
#include "world.h"

const char wh_suite_name[] = "own_profile";

#define MS        UINT64_C(1000000)
#define CHUNK     (1 << 16)
#define RTT_NS    (20 * MS)
#define PERIOD_NS (10 * MS)
#define CREDIT    8
#define OBJECT    (1 << 20)

enum {
	FIRST,
	EACH,
	PACE,
	BURST,
	OPTIONS,
};

static const struct wh_option options[OPTIONS] = {
	[FIRST] = {"first", WH_OPTION_COUNT, 1, 1000, CREDIT, false, "II", "tokens to begin with",
		false},
	[EACH] = {"each", WH_OPTION_SWITCH, 0, 1, 0, true, NULL, "each packet is acknowledged",
		false},
	[PACE] = {"pace", WH_OPTION_RATE, 1e6, 1e12, 0, false, NULL, "auto: by tokens", false},
	[BURST] = {"burst", WH_OPTION_COUNT, 1, 1024, 1, false, NULL, "back to back at most",
		false},
};

struct own {
	uint64_t tokens;
	uint64_t acked_pkts;
	uint64_t acked_end;
	uint64_t silences;
	uint64_t silent_tsc;
};

static struct own *own_of(struct wh_control *control)
{
	return (struct own *)control->state;
}

static void init(struct wh_control *control)
{
	uint64_t first = (uint64_t)control->config.options.value[FIRST];

	own_of(control)->tokens = wh_max_u64(first, control->config.known.burst_pkts);
}

static void found(const struct wh_control *control, struct wh_known_path *path)
{
	const struct own *own = (const struct own *)control->state;

	if (control->config.known.capacity_bps == 0)
		return;
	*path = control->config.known;
	path->age_s = 0;
	path->burst_pkts = (uint32_t)own->acked_pkts;
}

static void on_ack(struct wh_control *control, const struct wh_ack_event *event)
{
	struct own *own = own_of(control);

	own->tokens += event->pkts;
	own->acked_pkts += event->pkts;
	own->acked_end = wh_max_u64(own->acked_end, event->first_pn + event->pkts);
}

static void on_loss(struct wh_control *control, const struct wh_loss_event *event)
{
	own_of(control)->tokens += event->lost_pkts;
}

static void on_silence(struct wh_control *control, const struct wh_silence_event *event)
{
	struct own *own = own_of(control);

	own->tokens++;
	own->silences++;
	own->silent_tsc = event->now_tsc - event->since_tsc;
}

static struct wh_decision decide(const struct wh_control *control)
{
	const struct wh_control_config *config = &control->config;
	const struct own *own = (const struct own *)control->state;
	uint64_t pace_bps = (uint64_t)config->options.value[PACE];

	if (pace_bps > 0)
		return (struct wh_decision){
			.interval_fp = wh_interval_fp(config->hz, config->wire_bytes, pace_bps),
			.window_pkts = config->window_pkts_max,
			.burst_pkts = (uint32_t)config->options.value[BURST],
		};
	return (struct wh_decision){
		.interval_fp = WH_INTERVAL_MAX_FP,
		.window_pkts = config->window_pkts_max,
		.tokens = own->tokens,
	};
}

static void adapt(const struct wh_profile_options *set, struct wh_feedback *feedback)
{
	feedback->report_per_packet = set->value[EACH] != 0.0;
}

static const struct wh_profile profile = {
	.number = 200,
	.name = "own",
	.summary = "tokens for acknowledgements",
	.options = options,
	.n_options = OPTIONS,
	.control_bytes = sizeof(struct own),
	.init = init,
	.on_ack = on_ack,
	.on_loss = on_loss,
	.on_silence = on_silence,
	.decide = decide,
	.found = found,
	.feedback = {.period_us = 10000, .nak_packets_max = 1},
	.adapt = adapt,
};

static struct wh_world_config config_of(const char *each)
{
	const struct wh_link_model link = {
		.rate_bps = UINT64_C(1000000000), .delay_ns = RTT_NS / 2, .seed = 1};
	struct wh_world_config config = {
		.hz = WH_NS_PER_S,
		.seed = 1,
		.profile = &profile,
		.mtu_bytes = 1500,
		.chunk_bytes = CHUNK,
		.chunks_sender = 32,
		.chunks_receiver = 32,
		.window_pkts = 1024,
		.burst_pkts = 1,
		.object_bytes = OBJECT,
		.forward = link,
		.reverse = link,
		.heal_ns = UINT64_MAX,
		.limit_ns = 600 * WH_NS_PER_S,
		.check_deep = true,
	};

	wh_profile_options_init(&config.options, &profile);
	CU_ASSERT_EQUAL(wh_profile_options_set(&config.options, &profile, "each", each), 0);
	return config;
}

static struct own state_of(struct wh_world *world)
{
	struct own own;

	memcpy(&own, wh_session_control(wh_world_sender(world))->state, sizeof(own));
	return own;
}

static void run(
	const struct wh_world_config *config, struct wh_world_result *result, struct own *own)
{
	struct wh_world *world = wh_world_create(config);

	while (!wh_world_run(world, wh_world_now_ns(world) + WH_NS_PER_S) &&
		wh_world_now_ns(world) < config->limit_ns)
		if (wh_session_outcome(wh_world_sender(world)) == WH_STATUS_PENDING)
			*own = state_of(world);
	wh_world_result(world, result);
	wh_world_destroy(world);
	CU_ASSERT_EQUAL(result->sender, WH_STATUS_VERIFIED);
	CU_ASSERT_TRUE(result->pattern_ok);
	CU_ASSERT_EQUAL(result->object_bytes, config->object_bytes);
}

/*
 * Packets of 1408 bytes: 745 of them, 9 at first and then as many in each round trip. A round trip
 * is longer by the time that the receiver waits before it reports.
 */
static void test_tokens_set_the_rate(void)
{
	struct wh_world_config config = config_of("on");
	struct wh_world_result result;
	struct own own;

	run(&config, &result, &own);

	double round_trips = (double)result.sender_stats.sent_pkts / (CREDIT + 1);
	double each_ns = (double)result.outcome_ns;

	CU_ASSERT_EQUAL(result.sender_stats.retransmitted_pkts, 0);
	WH_ASSERT_NEAR(each_ns, round_trips * RTT_NS, 0.06);

	/* With a report per period alone it takes longer, and the receiver says less. */
	uint64_t said = result.receiver_stats.control_sent_pkts;

	config = config_of("off");
	run(&config, &result, &own);
	CU_ASSERT((double)result.outcome_ns > 1.1 * each_ns);
	CU_ASSERT(result.receiver_stats.control_sent_pkts * 2 < said);

	/* Twice the tokens, half the time. */
	config = config_of("on");
	CU_ASSERT_EQUAL(wh_profile_options_set(&config.options, &profile, "first", "17"), 0);
	run(&config, &result, &own);
	WH_ASSERT_NEAR(result.outcome_ns, each_ns / 2, 0.08);
}

/*
 * Every second millisecond the core is another's: what was due meanwhile, 8 packets, goes at once
 * where the profile's burst is as many, and is lost for good where it is one.
 */
static void test_burst(void)
{
	struct wh_world_config config = config_of("off");
	struct wh_world_result result;
	struct own own;

	config.steal_ns = MS;
	CU_ASSERT_EQUAL(wh_profile_options_set(&config.options, &profile, "pace", "100M"), 0);
	run(&config, &result, &own);

	double one_ns = (double)result.outcome_ns;

	CU_ASSERT_EQUAL(wh_profile_options_set(&config.options, &profile, "burst", "32"), 0);
	run(&config, &result, &own);
	CU_ASSERT(one_ns > 1.4 * (double)result.outcome_ns);
}

/* What is known goes as far as the controller, and what it found comes back. */
static void test_known(void)
{
	struct wh_world_config config = config_of("on");
	struct wh_world *world = wh_world_create(&config);
	struct wh_known_path path;

	wh_world_run(world, WH_NS_PER_S);
	path = wh_control_found(wh_session_control(wh_world_sender(world)));
	CU_ASSERT_EQUAL(path.capacity_bps, 0);
	wh_world_destroy(world);

	config.known = (struct wh_known_path){
		.capacity_bps = 1000000000, .rtt_ns = RTT_NS, .burst_pkts = 100, .age_s = 5};
	world = wh_world_create(&config);
	wh_world_run(world, RTT_NS * 3 / 2); /* the opening, and before anything is answered */
	CU_ASSERT_EQUAL(wh_session_stats(wh_world_sender(world)).sent_pkts, 101);
	wh_world_run(world, WH_NS_PER_S);
	path = wh_control_found(wh_session_control(wh_world_sender(world)));
	CU_ASSERT_EQUAL(path.capacity_bps, 1000000000);
	CU_ASSERT_EQUAL(path.burst_pkts, state_of(world).acked_pkts);
	CU_ASSERT_EQUAL(path.age_s, 0);
	wh_world_destroy(world);
}

/* Half of a known path is not valid, and neither is what no path is like. */
static void test_known_bounds(void)
{
	static const struct {
		struct wh_known_path path;
		bool valid;
	} cases[] = {
		{{0}, true},
		{{.capacity_bps = 1, .rtt_ns = 1}, true},
		{{WH_KNOWN_BPS_MAX, WH_KNOWN_RTT_MAX_NS, WH_KNOWN_PKTS_MAX, UINT32_MAX}, true},
		{{.capacity_bps = 1}, false},
		{{.rtt_ns = 1}, false},
		{{.burst_pkts = 1}, false},
		{{.age_s = 1}, false},
		{{.capacity_bps = WH_KNOWN_BPS_MAX + 1, .rtt_ns = 1}, false},
		{{.capacity_bps = 1, .rtt_ns = WH_KNOWN_RTT_MAX_NS + 1}, false},
		{{1, 1, WH_KNOWN_PKTS_MAX + 1, 0}, false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		CU_ASSERT_EQUAL(wh_known_path_valid(&cases[i].path), cases[i].valid);
}

/* Each packet is acknowledged once, whatever gets lost on the way there or back. */
static void test_losses(void)
{
	struct wh_world_config config = config_of("on");
	struct wh_world_result result;
	struct own own = {0};

	config.forward.loss = 0.02;
	config.reverse.loss = 0.02;
	run(&config, &result, &own);
	CU_ASSERT(result.sender_stats.retransmitted_pkts > 5);
	CU_ASSERT(own.acked_pkts > 0);
	CU_ASSERT(own.acked_pkts <=
		  result.sender_stats.sent_pkts - result.sender_stats.retransmitted_pkts);
}

/* All goes silent: the profile is told, again and again, until the peer is given up. */
static void test_silence(void)
{
	struct wh_world_config config = config_of("on");
	struct wh_world_result result;
	struct own own = {0};

	config.event = WH_WORLD_CUT;
	config.event_ns = 500 * MS;

	struct wh_world *world = wh_world_create(&config);

	wh_world_run(world, 450 * MS);
	own = state_of(world);
	CU_ASSERT_EQUAL(own.silences, 0);
	wh_world_run(world, 10 * WH_NS_PER_S);
	own = state_of(world);
	wh_world_run(world, config.limit_ns);
	wh_world_result(world, &result);
	wh_world_destroy(world);
	CU_ASSERT_EQUAL(result.sender, WH_STATUS_PEER_GONE);
	CU_ASSERT(own.silences > 10);
	CU_ASSERT(own.silences <= result.sender_stats.exp_events);
	CU_ASSERT(own.silent_tsc > 9 * WH_NS_PER_S);
}

/* A value that OPEN may not have: the receiving end opens nothing. */
static void test_hostile_open(void)
{
	static const struct wh_address peer = {.family = WH_IPV4, .ip = {10, 0, 0, 1}, .port = 1};
	struct wh_open_params params = {
		.initiator_cid = 1,
		.payload_bytes = 1408,
		.chunk_bytes = CHUNK,
		.window_pkts = 1024,
		.period_us = 10000,
		.n_options = 1,
	};
	struct wh_session_config config;

	wh_rig_session_config(&config, WH_NS_PER_S, CHUNK, 4, 1024);
	wh_session_config_profile(&config, &profile);
	config.payload_virtual = true;
	for (uint8_t number = 0; number < 4; number++)
		for (uint64_t bits = 0; bits < 4; bits++) {
			params.options[0] = (struct wh_open_option){
				.number = number, .bits = bits << 61 | bits};

			struct wh_session *session =
				wh_session_accept(&config, MS, 1, &peer, &params, MS);

			/* 0.0 is a switch that is off; all others are no switch. */
			CU_ASSERT_EQUAL(session != NULL, number == EACH && bits == 0);
			wh_session_destroy(session);
		}
}

CU_TestInfo wh_tests[] = {
	{"tokens set the rate", test_tokens_set_the_rate},
	{"burst", test_burst},
	{"what is known of the path", test_known},
	{"bounds of what is known", test_known_bounds},
	{"losses", test_losses},
	{"silence", test_silence},
	{"hostile OPEN", test_hostile_open},
	CU_TEST_INFO_NULL,
};
