/* SPDX-License-Identifier: BSD-3-Clause */

/* Profile udt: two ends with clocks of their own, and so long a way each way. */

#include "unit.h"

#include "../../rig/end.h"
#include "../../rig/joined.h"
#include "endpoint/lifecycle.h"
#include "session/session_internal.h"

const char wh_suite_name[] = "session_udt";

#define HZ    UINT64_C(1000000000)
#define MS    (HZ / 1000)
#define NOW   (10 * HZ)
#define CHUNK 65536 /* 47 packets */
#define STEP  (MS / 5)
#define WAY   (5 * MS)
#define SLOTS 1024 /* packets under way, each way */

struct way {
	struct wh_packet packet[SLOTS];
	uint64_t arrives_tsc[SLOTS];
	uint32_t first;
	uint32_t end;
};

struct pair {
	uint64_t now_tsc; /* the receiver's clock */
	double sender_ppm;
	struct wh_rig_joined ends;
	struct way to_receiver;
	struct way to_sender;
	uint64_t forward_tsc;
	bool lose_data; /* all of it */
	uint32_t trans_reports;
	uint32_t data;
};

static uint64_t sender_now(const struct pair *pair)
{
	return pair->now_tsc +
	       (uint64_t)(int64_t)((double)(pair->now_tsc - NOW) * pair->sender_ppm * 1e-6);
}

static struct pair *pair_open(uint64_t rate_bps, uint32_t window_pkts, bool one_way)
{
	struct pair *pair = calloc(1, sizeof(*pair));

	CU_ASSERT_PTR_NOT_NULL_FATAL(pair);
	wh_rig_session_config(&pair->ends.config, HZ, CHUNK, 64, window_pkts);
	wh_session_config_profile(&pair->ends.config, wh_profile_find("udt"));
	CU_ASSERT_EQUAL(wh_profile_options_put(&pair->ends.config.options,
				pair->ends.config.profile, "one_way", one_way),
		0);
	pair->ends.config.rate_bps = rate_bps;
	pair->now_tsc = NOW;
	pair->forward_tsc = WAY;
	wh_rig_joined_open(&pair->ends, NOW, NOW, MS);
	return pair;
}

static void pair_close(struct pair *pair)
{
	wh_rig_joined_close(&pair->ends);
	free(pair);
}

static void put(struct way *way, uint64_t arrives_tsc, const struct wh_packet *packet)
{
	CU_ASSERT_FATAL(way->end - way->first < SLOTS);
	way->packet[way->end % SLOTS] = *packet;
	way->arrives_tsc[way->end++ % SLOTS] = arrives_tsc;
}

static void take_output(struct pair *pair, struct wh_session *from, uint64_t now_tsc)
{
	uint8_t room[WH_CONTROL_BYTES_MAX];
	struct wh_out out = {.head = room};

	while (wh_session_output(from, now_tsc, &out, 1) > 0) {
		struct wh_packet packet = wh_rig_packet_read(&out);

		if (from == pair->ends.receiver) {
			put(&pair->to_sender, pair->now_tsc + WAY, &packet);
			continue;
		}
		pair->trans_reports += packet.type == WH_PACKET_TRANS_REPORT;
		pair->data += packet.type == WH_PACKET_DATA;
		if (wh_rig_packet_opens(&packet) ||
			(packet.type == WH_PACKET_DATA && pair->lose_data))
			continue;
		put(&pair->to_receiver, pair->now_tsc + pair->forward_tsc, &packet);
	}
}

static void give_arrived(
	struct pair *pair, struct way *way, struct wh_session *to, uint64_t to_now_tsc)
{
	while (way->first != way->end && way->arrives_tsc[way->first % SLOTS] <= pair->now_tsc)
		wh_session_input(to, to_now_tsc, to_now_tsc, &way->packet[way->first++ % SLOTS]);
}

static void run_for(struct pair *pair, uint64_t span_tsc)
{
	uint64_t end_tsc = pair->now_tsc + span_tsc;

	while (pair->now_tsc < end_tsc) {
		pair->now_tsc += STEP;
		wh_rig_joined_serve(&pair->ends, UINT64_MAX);
		give_arrived(pair, &pair->to_sender, pair->ends.sender, sender_now(pair));
		wh_session_poll(pair->ends.sender, sender_now(pair));
		take_output(pair, pair->ends.sender, sender_now(pair));
		give_arrived(pair, &pair->to_receiver, pair->ends.receiver, pair->now_tsc);
		wh_session_poll(pair->ends.receiver, pair->now_tsc);
		take_output(pair, pair->ends.receiver, pair->now_tsc);
	}
}

/*
 * A packet of 1538 bytes every 100 ms, or 64 of them in a round trip. The first state says that
 * data are queued; after it they tell for themselves.
 */
static void test_data_tell(void)
{
	static const struct {
		uint64_t rate_bps;
		uint32_t window_pkts;
		uint32_t data;
	} cases[] = {{123040, 1024, 100}, {1000000000, 64, 30000}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct pair *pair = pair_open(cases[i].rate_bps, cases[i].window_pkts, false);

		run_for(pair, 10 * HZ);
		CU_ASSERT_TRUE(pair->data >= cases[i].data);
		CU_ASSERT_TRUE(pair->trans_reports <= 2);
		pair_close(pair);
	}
}

/* The whole window is lost: within a few round trips of 10 ms the receiver knows all of it. */
static void test_reports_when_stuck(void)
{
	struct pair *pair = pair_open(100000000, 64, false);

	run_for(pair, HZ);
	pair->lose_data = true;
	run_for(pair, 20 * MS);
	pair->lose_data = false;

	uint32_t lost_at = pair->data;
	uint32_t states = pair->trans_reports;

	run_for(pair, 100 * MS);
	CU_ASSERT_TRUE(pair->trans_reports >= states + 2);
	CU_ASSERT_TRUE(pair->data >= lost_at + 8);
	pair_close(pair);
}

/*
 * Clocks up to 100 ppm apart over a way that never changes: no warning, of the round trip or of one
 * way. When the way there then grows by 40 ms in a second, both warn, once in two round trips.
 */
static void test_clocks_apart(void)
{
	static const double ppms[] = {-100, -54, 0, 54, 100};

	for (size_t i = 0; i < 2 * sizeof(ppms) / sizeof(ppms[0]); i++) {
		struct pair *pair = pair_open(10000000, 1024, i % 2 == 0);

		pair->sender_ppm = ppms[i / 2];
		run_for(pair, 20 * HZ);
		CU_ASSERT_EQUAL(wh_session_stats(pair->ends.receiver).delay_warnings, 0);
		for (uint32_t ms = 0; ms < 1000; ms++) {
			pair->forward_tsc += 40 * MS / 1000;
			run_for(pair, MS);
		}
		CU_ASSERT_TRUE(wh_session_stats(pair->ends.receiver).delay_warnings >= 10);
		pair_close(pair);
	}
}

CU_TestInfo wh_tests[] = {
	{"data tell", test_data_tell},
	{"states when stuck", test_reports_when_stuck},
	{"clocks apart", test_clocks_apart},
	CU_TEST_INFO_NULL,
};
