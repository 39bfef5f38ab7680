/* SPDX-License-Identifier: BSD-3-Clause */

/* Profile udt: two ends with clocks of their own, and so long a way each way. */

#include "unit.h"

#include <stdlib.h>

#include "../../rig/end.h"
#include "base/clock.h"
#include "session/handshake.h"
#include "session/internal.h"

const char wh_suite_name[] = "session_udt";

#define HZ     UINT64_C(1000000000)
#define MS     (HZ / 1000)
#define NOW    (10 * HZ)
#define CHUNK  65536 /* 47 packets */
#define STEP   (MS / 5)
#define WAY    (5 * MS)
#define SENDER 5
#define LCI    0x41
#define SLOTS  1024 /* packets under way, each way */

static const struct wh_address peer = {.family = WH_IPV4, .ip = {192, 0, 2, 1}, .port = 1000};

struct way {
	struct wh_packet packet[SLOTS];
	uint64_t arrives_tsc[SLOTS];
	uint32_t first;
	uint32_t end;
};

struct pair {
	uint64_t now_tsc; /* the receiver's clock */
	double sender_ppm;
	struct wh_session_config config;
	struct wh_session *sender;
	struct wh_session *receiver;
	struct way to_receiver;
	struct way to_sender;
	uint64_t forward_tsc;
	uint64_t filled;
	bool lose_data; /* all of it */
	uint32_t trans_states;
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
	wh_rig_session_config(&pair->config, HZ, CHUNK, 64, window_pkts);
	wh_session_config_profile(&pair->config, wh_profile_find("udt"));
	CU_ASSERT_EQUAL(wh_profile_options_put(
				&pair->config.options, pair->config.profile, "one_way", one_way),
		0);
	pair->config.payload_virtual = true;
	pair->config.rate_bps = rate_bps;
	pair->now_tsc = NOW;
	pair->forward_tsc = WAY;
	pair->sender = wh_session_open(&pair->config, &peer, "stream", WH_OBJECT_BYTES_UNKNOWN);
	CU_ASSERT_PTR_NOT_NULL_FATAL(pair->sender);
	wh_handshake_begin(pair->sender, NOW, SENDER, 7);

	struct wh_open_params params = *wh_session_params(pair->sender);
	const struct wh_packet accept = {
		.type = WH_PACKET_ACCEPT,
		.lci = SENDER,
		.accept = {.acceptor_lci = LCI, .stamp_us = NOW / 1000, .buffer_chunks = 64},
	};

	params.initiator_lci = SENDER;
	pair->receiver = wh_session_accept(&pair->config, NOW, LCI, &peer, &params, MS);
	CU_ASSERT_PTR_NOT_NULL_FATAL(pair->receiver);
	wh_session_input(pair->sender, NOW, NOW, &accept);
	return pair;
}

static void pair_close(struct pair *pair)
{
	wh_session_check(pair->sender, true);
	wh_session_check(pair->receiver, true);
	CU_ASSERT_EQUAL(wh_session_stats(pair->receiver).bad_pkts, 0);
	wh_session_destroy(pair->sender);
	wh_session_destroy(pair->receiver);
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
	struct wh_packet packet;

	while (wh_session_output(from, now_tsc, &out, 1) > 0) {
		enum wh_wire_reason reason =
			out.payload_bytes > 0
				? wh_packet_decode_virtual(out.head, out.payload_bytes, &packet)
				: wh_packet_decode(out.head, out.head_bytes, &packet);

		CU_ASSERT_EQUAL_FATAL(reason, WH_WIRE_OK);
		if (from == pair->receiver) {
			put(&pair->to_sender, pair->now_tsc + WAY, &packet);
			continue;
		}
		pair->trans_states += packet.type == WH_PACKET_TRANS_STATE;
		pair->data += packet.type == WH_PACKET_DATA;
		if (packet.type == WH_PACKET_OPEN || packet.type == WH_PACKET_CONFIRM ||
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

static void serve_chunks(struct pair *pair)
{
	struct wh_chunk *chunk;

	while ((chunk = wh_fifo_pop(wh_session_free_chunks(pair->sender))) != NULL) {
		chunk->number = pair->filled++;
		chunk->bytes = CHUNK;
		chunk->end = false;
		wh_fifo_push(wh_session_ready_chunks(pair->sender), chunk);
	}
	while ((chunk = wh_fifo_pop(wh_session_deliver_chunks(pair->receiver))) != NULL)
		wh_fifo_push(wh_session_recycled_chunks(pair->receiver), chunk);
}

static void run_for(struct pair *pair, uint64_t span_tsc)
{
	uint64_t end_tsc = pair->now_tsc + span_tsc;

	while (pair->now_tsc < end_tsc) {
		pair->now_tsc += STEP;
		serve_chunks(pair);
		give_arrived(pair, &pair->to_sender, pair->sender, sender_now(pair));
		wh_session_poll(pair->sender, sender_now(pair));
		take_output(pair, pair->sender, sender_now(pair));
		give_arrived(pair, &pair->to_receiver, pair->receiver, pair->now_tsc);
		wh_session_poll(pair->receiver, pair->now_tsc);
		take_output(pair, pair->receiver, pair->now_tsc);
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
		CU_ASSERT_TRUE(pair->trans_states <= 2);
		pair_close(pair);
	}
}

/* The whole window is lost: within a few round trips of 10 ms the receiver knows all of it. */
static void test_states_when_stuck(void)
{
	struct pair *pair = pair_open(100000000, 64, false);

	run_for(pair, HZ);
	pair->lose_data = true;
	run_for(pair, 20 * MS);
	pair->lose_data = false;

	uint32_t lost_at = pair->data;
	uint32_t states = pair->trans_states;

	run_for(pair, 100 * MS);
	CU_ASSERT_TRUE(pair->trans_states >= states + 2);
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
		CU_ASSERT_EQUAL(wh_session_stats(pair->receiver).delay_warnings, 0);
		for (uint32_t ms = 0; ms < 1000; ms++) {
			pair->forward_tsc += 40 * MS / 1000;
			run_for(pair, MS);
		}
		CU_ASSERT_TRUE(wh_session_stats(pair->receiver).delay_warnings >= 10);
		pair_close(pair);
	}
}

CU_TestInfo wh_tests[] = {
	{"data tell", test_data_tell},
	{"states when stuck", test_states_when_stuck},
	{"clocks apart", test_clocks_apart},
	CU_TEST_INFO_NULL,
};
