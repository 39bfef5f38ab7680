/* SPDX-License-Identifier: BSD-3-Clause */

/* Profile ttp: two ends side by side, between which packets are lost by their places. */

#include "../../rig/end.h"
#include "../../rig/joined.h"
#include "endpoint/lifecycle.h"
#include "profile/ttp.h"
#include "session/pacer.h"
#include "session/session.h"
#include "unit.h"

const char wh_suite_name[] = "session_ttp";

#define HZ      UINT64_C(1000000000)
#define MS      (HZ / 1000)
#define NOW     (10 * HZ)
#define PAYLOAD 1408
#define CHUNK   65536 /* 47 packets */
#define K       47
#define R_MAX   94
#define N       32 /* of bitmaps */
#define MBPS    UINT64_C(1000000)

struct pair {
	uint64_t now_tsc;
	struct wh_rig_joined ends;
	uint64_t fill_end; /* chunks */

	/* Places in the order that are lost, once: [from, end). */
	uint64_t lose_from;
	uint64_t lose_end;
	uint64_t lost;

	/* What the receiver said last. */
	uint32_t bitmaps;
	struct wh_bitmap bitmap;
	uint32_t naks;
	bool deaf; /* nothing that the sender should hear gets there */
	uint64_t sent_end;
	uint32_t first_r; /* of chunk 0, and of the latest */
	uint32_t latest_r;
};

static void set(struct wh_session_config *config, const char *option, double value)
{
	CU_ASSERT_EQUAL(
		wh_profile_options_put(&config->options, config->profile, option, value), 0);
}

static struct wh_session_config config_of(const char *profile)
{
	struct wh_session_config config;

	wh_rig_session_config(&config, HZ, CHUNK, 64, 8192);
	wh_session_config_profile(&config, wh_profile_find(profile));
	config.payload_virtual = true;
	config.rate_bps = 1000 * MBPS;
	config.burst_pkts = 1;
	wh_repair_config_init(&config.repair, config.profile);
	config.repair.repair_pkts = R_MAX;
	config.repair.planner.r_max = R_MAX;
	if (strcmp(profile, "ttp") == 0)
		set(&config, "n", N);
	return config;
}

static void pair_open(struct pair *pair, const struct wh_session_config *config)
{
	*pair = (struct pair){.now_tsc = NOW, .ends.config = *config};
	wh_rig_joined_open(&pair->ends, NOW, NOW, MS);
}

static void pair_close(struct pair *pair)
{
	wh_rig_joined_close(&pair->ends);
}

static void note_sent(struct pair *pair, const struct wh_packet *packet)
{
	if (packet->data.chunk == 0)
		pair->first_r = packet->data.r;
	pair->latest_r = packet->data.r;
	if (packet->pn >= pair->sent_end)
		pair->sent_end = packet->pn + 1;
}

static bool is_lost(struct pair *pair, const struct wh_packet *packet)
{
	uint64_t place = packet->pn - pair->ends.first_pn;
	bool lost = !(packet->flags & WH_FLAG_RETRANSMISSION) && place >= pair->lose_from &&
		    place < pair->lose_end;

	pair->lost += lost;
	return lost;
}

static void carry(struct pair *pair, const struct wh_out *out, bool to_receiver)
{
	struct wh_packet packet = wh_rig_packet_read(out);

	if (!to_receiver) {
		pair->naks += packet.type == WH_PACKET_NAK;
		if (packet.type == WH_PACKET_BITMAP) {
			pair->bitmaps++;
			pair->bitmap = packet.bitmap;
		}
		if (!pair->deaf)
			wh_session_input(pair->ends.sender, pair->now_tsc, pair->now_tsc, &packet);
	} else if (!wh_rig_packet_opens(&packet)) {
		if (out->payload_bytes > 0) {
			note_sent(pair, &packet);
			if (is_lost(pair, &packet))
				return;
		}
		wh_session_input(pair->ends.receiver, pair->now_tsc, pair->now_tsc, &packet);
	}
}

/* A microsecond passes: a packet at most goes, and what it makes the receiver say comes back. */
static void step(struct pair *pair)
{
	uint8_t room[WH_CONTROL_BYTES_MAX];
	struct wh_out out = {.head = room};

	pair->now_tsc += 1000;
	wh_rig_joined_serve(&pair->ends, pair->fill_end);
	wh_session_poll(pair->ends.sender, pair->now_tsc);
	while (wh_session_output(pair->ends.sender, pair->now_tsc, &out, 1) > 0)
		carry(pair, &out, true);
	wh_session_poll(pair->ends.receiver, pair->now_tsc);
	while (wh_session_output(pair->ends.receiver, pair->now_tsc, &out, 1) > 0)
		carry(pair, &out, false);
	wh_session_poll(pair->ends.sender, pair->now_tsc);
}

/* Until so many bitmaps have come, or for a second in vain. */
static void run_to_bitmap(struct pair *pair, uint32_t bitmaps)
{
	uint64_t end_tsc = pair->now_tsc + HZ;

	while (pair->bitmaps < bitmaps && pair->now_tsc < end_tsc)
		step(pair);
	CU_ASSERT_EQUAL(pair->bitmaps, bitmaps);
}

static void run_for(struct pair *pair, uint64_t span_tsc)
{
	uint64_t end_tsc = pair->now_tsc + span_tsc;

	while (pair->now_tsc < end_tsc)
		step(pair);
}

static const struct wh_ttp *ttp_of(const struct pair *pair)
{
	return (const struct wh_ttp *)wh_session_control(pair->ends.sender)->state;
}

static void test_repair_defaults(void)
{
	struct wh_repair_config repair;

	wh_repair_config_init(&repair, wh_profile_find("ttp"));
	CU_ASSERT_EQUAL(repair.recovery, WH_RECOVERY_HYBRID);
	CU_ASSERT_EQUAL(repair.code, WH_FEC_TORNADO);
	CU_ASSERT_EQUAL(repair.planner.code, WH_FEC_TORNADO);
	CU_ASSERT_EQUAL(repair.planner.target, 1e-4);
	CU_ASSERT_EQUAL(repair.planner.ceiling, 0.75);
	CU_ASSERT_EQUAL(repair.fixed_r, 0);
	wh_repair_config_init(&repair, wh_profile_find("udt"));
	CU_ASSERT_EQUAL(repair.recovery, WH_RECOVERY_NAK);
	CU_ASSERT_EQUAL(repair.planner.ceiling, 0.25);
}

/* Bitmaps of the last 32 after 32, 64, 128 and 128 packets more; 20 Mb/s up with each. */
static void test_clean_path(void)
{
	static const uint64_t ends[] = {32, 96, 224, 352, 480};
	struct wh_session_config config = config_of("ttp");
	struct pair pair;

	pair_open(&pair, &config);
	pair.fill_end = 1000;
	CU_ASSERT_EQUAL(ttp_of(&pair)->rate_bps, 800 * MBPS);
	for (uint32_t i = 0; i < 5; i++) {
		run_to_bitmap(&pair, i + 1);
		CU_ASSERT_EQUAL(pair.bitmap.first, pair.ends.first_pn + ends[i] - N);
		CU_ASSERT_EQUAL(pair.bitmap.pkts, N);
		CU_ASSERT_EQUAL(pair.bitmap.bits[0], UINT32_MAX);
		CU_ASSERT_EQUAL(ttp_of(&pair)->state, WH_TTP_NO_LOSS);
		CU_ASSERT_EQUAL(ttp_of(&pair)->rate_bps, (820 + 20 * i) * MBPS);
	}
	CU_ASSERT_EQUAL(pair.naks, 0);
	CU_ASSERT_EQUAL(wh_session_pacer(pair.ends.sender)->interval_fp,
		wh_interval_fp(HZ, 1538, 900 * MBPS));
	pair_close(&pair);
}

/*
 * 50 % projected: the first chunks get all the repair packets that there is room for. Once bitmaps
 * have told of 480 packets without a loss, it is 3 / 480 at most.
 */
static void test_initial_loss(void)
{
	struct wh_session_config config = config_of("ttp");
	struct pair pair;

	pair_open(&pair, &config);
	pair.fill_end = 2;
	run_to_bitmap(&pair, 3);
	CU_ASSERT_EQUAL(pair.first_r, R_MAX);
	CU_ASSERT_EQUAL(pair.latest_r, R_MAX);
	pair.fill_end = 1000;
	run_to_bitmap(&pair, 5);
	CU_ASSERT(pair.latest_r > 0);
	CU_ASSERT(pair.latest_r < K);
	pair_close(&pair);

	/* States do not count, only bitmaps do: of 1024 packets there is none yet. */
	set(&config, "n", 1024);
	pair_open(&pair, &config);
	pair.fill_end = 2;
	run_for(&pair, 50 * MS);
	CU_ASSERT_EQUAL(pair.ends.delivered, 2);
	CU_ASSERT_EQUAL(pair.bitmaps, 0);
	pair.fill_end = 4;
	run_for(&pair, 50 * MS);
	CU_ASSERT_EQUAL(pair.ends.delivered, 4);
	CU_ASSERT_EQUAL(pair.latest_r, R_MAX);
	pair_close(&pair);

	/* An option, which goes before the planner's. */
	set(&config, "n", N);
	set(&config, "initial_loss", 0.0);
	config.repair.planner.initial_loss = 0.5;
	pair_open(&pair, &config);
	pair.fill_end = 2;
	run_to_bitmap(&pair, 1);
	CU_ASSERT_EQUAL(pair.first_r, 0);
	pair_close(&pair);
}

/*
 * II B: a bitmap with loss and without congestion changes nothing, the next one that shows none
 * does, and then all that was told counts.
 */
static void test_padding_waits_for_a_transition(void)
{
	struct wh_session_config config = config_of("ttp");
	struct pair pair;

	set(&config, "n", 256);
	pair_open(&pair, &config);
	pair.lose_from = 10;
	pair.lose_end = 11;
	pair.fill_end = 2; /* 282 packets */
	run_to_bitmap(&pair, 1);
	CU_ASSERT_EQUAL(ttp_of(&pair)->state, WH_TTP_STEADY);
	run_for(&pair, 50 * MS);
	pair.fill_end = 4;
	run_to_bitmap(&pair, 2);
	run_for(&pair, 50 * MS);
	CU_ASSERT_EQUAL(pair.ends.delivered, 4);
	CU_ASSERT_EQUAL(pair.latest_r, R_MAX);
	CU_ASSERT_EQUAL(ttp_of(&pair)->state, WH_TTP_NO_LOSS);
	pair.fill_end = 5;
	run_for(&pair, 50 * MS);
	CU_ASSERT_TRUE(pair.latest_r > 0 && pair.latest_r < K);
	pair_close(&pair);
}

/* Losses of the path are in the bitmap, though repair packets make up for them. */
static void test_loss_and_congestion(void)
{
	static const struct {
		uint64_t from, end;
		uint32_t bits;
		enum wh_ttp_state state;
		uint64_t rate_bps;
		uint64_t next; /* bitmap, after so many packets */
	} cases[] = {
		{10, 11, ~(UINT32_C(1) << 10), WH_TTP_STEADY, 800 * MBPS, 32},
		{10, 12, ~(UINT32_C(3) << 10), WH_TTP_STEADY, 800 * MBPS, 32},
		{10, 13, ~(UINT32_C(7) << 10), WH_TTP_LOSS, 400 * MBPS, 16},
		{0, 1, ~UINT32_C(1), WH_TTP_STEADY, 800 * MBPS, 32},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct wh_session_config config = config_of("ttp");
		struct pair pair;

		pair_open(&pair, &config);
		pair.fill_end = 20;
		pair.lose_from = cases[i].from;
		pair.lose_end = cases[i].end;
		run_to_bitmap(&pair, 1);
		CU_ASSERT_EQUAL(pair.lost, cases[i].end - cases[i].from);
		CU_ASSERT_EQUAL(pair.bitmap.first, pair.ends.first_pn);
		CU_ASSERT_EQUAL(pair.bitmap.bits[0], cases[i].bits);
		CU_ASSERT_EQUAL(ttp_of(&pair)->state, cases[i].state);
		CU_ASSERT_EQUAL(ttp_of(&pair)->rate_bps, cases[i].rate_bps);
		run_to_bitmap(&pair, 2);
		CU_ASSERT_EQUAL(pair.bitmap.first + N, pair.ends.first_pn + N + cases[i].next);
		run_for(&pair, 100 * MS);
		CU_ASSERT_EQUAL(pair.ends.delivered, 20);
		CU_ASSERT_EQUAL(pair.naks, 0);
		CU_ASSERT_EQUAL(wh_session_stats(pair.ends.sender).retransmitted_pkts, 0);
		CU_ASSERT_EQUAL(wh_session_stats(pair.ends.receiver).undecodable_blocks, 0);
		CU_ASSERT_EQUAL(wh_session_stats(pair.ends.receiver).repaired_pkts, pair.lost);
		pair_close(&pair);
	}
}

/* Lost are 139 of the first 141, of which some 47 must come: hybrid asks for what it lacks. */
static void test_fallback(void)
{
	struct wh_session_config config = config_of("ttp");
	struct pair pair;

	set(&config, "q", 200);
	pair_open(&pair, &config);
	pair.fill_end = 4;
	pair.lose_from = 1;
	pair.lose_end = 140;
	run_to_bitmap(&pair, 1);
	/* 139 lost, told of as the 31 that there are bits for; all after the gap has come. */
	CU_ASSERT_EQUAL(pair.bitmap.first, pair.ends.first_pn + 141 - N);
	CU_ASSERT_EQUAL(pair.bitmap.bits[0], UINT32_C(1) << 31);
	CU_ASSERT_EQUAL(ttp_of(&pair)->state, WH_TTP_LOSS);
	run_for(&pair, 200 * MS);
	CU_ASSERT_EQUAL(pair.ends.delivered, 4);
	CU_ASSERT(pair.naks > 0);
	CU_ASSERT(wh_session_stats(pair.ends.sender).retransmitted_pkts > 0);
	CU_ASSERT_EQUAL(wh_session_stats(pair.ends.receiver).undecodable_blocks, 1);
	pair_close(&pair);
}

/* What is sent again comes soon, but what the path lost stays lost in the bitmap. */
static void test_sent_again(void)
{
	struct wh_session_config config = config_of("ttp");
	struct pair pair;

	config.repair = (struct wh_repair_config){.recovery = WH_RECOVERY_NAK};
	pair_open(&pair, &config);
	pair.fill_end = 2;
	pair.lose_from = 5;
	pair.lose_end = 6;
	run_to_bitmap(&pair, 1);
	CU_ASSERT_EQUAL(wh_session_stats(pair.ends.sender).retransmitted_pkts, 1);
	CU_ASSERT_EQUAL(wh_session_stats(pair.ends.receiver).received_pkts, N);
	CU_ASSERT_EQUAL(pair.bitmap.bits[0], UINT32_MAX - (1U << 5));
	run_for(&pair, 10 * MS);
	CU_ASSERT_EQUAL(pair.ends.delivered, 2);
	pair_close(&pair);
}

/* The paper's way: nothing is asked for, and the connection says what became of it. */
static void test_strict(void)
{
	struct wh_session_config config = config_of("ttp");
	struct pair pair;

	config.repair.recovery = WH_RECOVERY_FEC;
	pair_open(&pair, &config);
	pair.fill_end = 4;
	pair.lose_from = 1;
	pair.lose_end = 140;
	run_for(&pair, 200 * MS);
	CU_ASSERT_EQUAL(wh_session_outcome(pair.ends.receiver), WH_STATUS_UNREPAIRED);
	CU_ASSERT_EQUAL(wh_session_outcome(pair.ends.sender), WH_STATUS_UNREPAIRED);
	CU_ASSERT_EQUAL(pair.naks, 0);
	CU_ASSERT_EQUAL(wh_session_stats(pair.ends.sender).retransmitted_pkts, 0);
	pair_close(&pair);
}

static void give_bitmap(struct pair *pair, uint64_t first, uint32_t pkts, uint64_t bits)
{
	const struct wh_packet packet = {
		.type = WH_PACKET_BITMAP,
		.cid = WH_RIG_SENDER_CID,
		.bitmap = {.first = first, .pkts = (uint16_t)pkts, .bits = {bits}},
	};

	wh_session_input(pair->ends.sender, pair->now_tsc, pair->now_tsc, &packet);
	wh_session_poll(pair->ends.sender, pair->now_tsc);
}

/* Overtaken, of what was never sent, or of a connection that has none. */
static void test_strange_bitmaps(void)
{
	struct wh_session_config config = config_of("ttp");
	struct pair pair;

	pair_open(&pair, &config);
	pair.fill_end = 10;
	run_to_bitmap(&pair, 1);
	pair.deaf = true;
	run_to_bitmap(&pair, 2);
	CU_ASSERT_EQUAL(ttp_of(&pair)->bitmaps, 1);

	uint64_t sent_end = pair.sent_end;
	struct wh_session_stats before = wh_session_stats(pair.ends.sender);

	give_bitmap(&pair, pair.ends.first_pn - 1, 40, 0);
	give_bitmap(&pair, sent_end - 31, 32, 0);
	give_bitmap(&pair, sent_end, 1, 0);
	CU_ASSERT_EQUAL(
		wh_session_stats(pair.ends.sender).bad_window_pkts, before.bad_window_pkts + 3);
	give_bitmap(&pair, pair.ends.first_pn, 32, 0);
	give_bitmap(&pair, pair.ends.first_pn + 31, 1, 0);
	CU_ASSERT_EQUAL(wh_session_stats(pair.ends.sender).control_stale_pkts,
		before.control_stale_pkts + 2);
	CU_ASSERT_EQUAL(ttp_of(&pair)->bitmaps, 1);
	CU_ASSERT_EQUAL(ttp_of(&pair)->rate_bps, 820 * MBPS);
	give_bitmap(&pair, pair.ends.first_pn + 32, 1, 1);
	give_bitmap(&pair, sent_end - 32, 32, 0);
	CU_ASSERT_EQUAL(ttp_of(&pair)->bitmaps, 3);
	CU_ASSERT_EQUAL(ttp_of(&pair)->rate_bps, 420 * MBPS);
	pair_close(&pair);

	config = config_of("fixed");
	config.repair = (struct wh_repair_config){.recovery = WH_RECOVERY_HYBRID,
		.repair_pkts = 1,
		.code = WH_FEC_RS,
		.fixed_k = K,
		.fixed_r = 1};
	pair_open(&pair, &config);
	pair.fill_end = 10;
	run_for(&pair, 10 * MS);
	CU_ASSERT_EQUAL(pair.ends.delivered, 10);
	CU_ASSERT_EQUAL(pair.bitmaps, 0);
	give_bitmap(&pair, pair.ends.first_pn, 32, 0);
	CU_ASSERT_EQUAL(wh_session_stats(pair.ends.sender).bad_unexpected_pkts, 1);
	pair_close(&pair);
}

CU_TestInfo wh_tests[] = {
	{"repair of a profile", test_repair_defaults},
	{"a clean path", test_clean_path},
	{"the initial loss rate", test_initial_loss},
	{"padding waits for a transition", test_padding_waits_for_a_transition},
	{"loss and congestion", test_loss_and_congestion},
	{"asking after all", test_fallback},
	{"sent again", test_sent_again},
	{"repair alone", test_strict},
	{"strange bitmaps", test_strange_bitmaps},
	CU_TEST_INFO_NULL,
};
