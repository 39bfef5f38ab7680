/* SPDX-License-Identifier: BSD-3-Clause */

/* Profile sttp: the probe before data, its answers true and false, and round trips of data. */

#include "../../rig/end.h"
#include "endpoint/connect.h"
#include "endpoint/lifecycle.h"
#include "profile/sttp.h"
#include "session/session.h"
#include "unit.h"

const char wh_suite_name[] = "prelude";

#define HZ     UINT64_C(1000000000)
#define MS     (HZ / 1000)
#define US     (HZ / 1000000)
#define NOW    (10 * HZ)
#define CHUNK  65536
#define SENDER 5
#define CID    0x41
#define SAID   64

static const struct wh_address peer = {.family = WH_IPV4, .ip = {192, 0, 2, 1}, .port = 1000};

struct half {
	struct wh_session_config config;
	struct wh_session *session;
	uint64_t now_tsc;
	struct wh_packet said[SAID]; /* probes and answers, and the first of data in a row */
	uint32_t bytes[SAID];
	uint32_t n_said;
};

static struct half half;

static void set(const char *option, double value)
{
	CU_ASSERT_EQUAL(
		wh_profile_options_put(&half.config.options, half.config.profile, option, value),
		0);
}

static void configure(const char *profile)
{
	memset(&half, 0, sizeof(half));
	half.now_tsc = NOW;
	wh_rig_session_config(&half.config, HZ, CHUNK, 16, 1024);
	wh_session_config_profile(&half.config, wh_profile_find(profile));
	half.config.payload_virtual = true;
}

static void listen(void)
{
	uint8_t room[WH_CONTROL_BYTES_MAX];
	struct wh_out out = {.head = room};
	struct wh_packet packet;

	wh_session_poll(half.session, half.now_tsc);
	while (wh_session_output(half.session, half.now_tsc, &out, 1) > 0) {
		enum wh_wire_reason reason =
			out.payload_bytes > 0
				? wh_packet_decode_virtual(out.head, out.payload_bytes, &packet)
				: wh_packet_decode(out.head, out.head_bytes, &packet);

		CU_ASSERT_EQUAL_FATAL(reason, WH_WIRE_OK);
		if (packet.type != WH_PACKET_PROBE && packet.type != WH_PACKET_PROBE_ANSWER &&
			packet.type != WH_PACKET_DATA)
			continue;
		if (half.n_said > 0 && packet.type == WH_PACKET_DATA &&
			half.said[half.n_said - 1].type == WH_PACKET_DATA)
			continue;
		CU_ASSERT_FATAL(half.n_said < SAID);
		half.bytes[half.n_said] = out.head_bytes;
		half.said[half.n_said++] = packet;
	}
	wh_session_check(half.session, true);
}

static void pass(uint64_t span_tsc)
{
	uint64_t end_tsc = half.now_tsc + span_tsc;

	while (half.now_tsc < end_tsc) {
		half.now_tsc += MS;
		listen();
	}
}

static void give(const struct wh_packet *packet)
{
	wh_session_input(half.session, half.now_tsc, half.now_tsc, packet);
	listen();
}

static void fill(void)
{
	struct wh_chunk *chunk;
	uint64_t number = 0;

	while ((chunk = wh_fifo_pop(wh_session_free_chunks(half.session))) != NULL) {
		chunk->number = number++;
		chunk->bytes = CHUNK;
		chunk->end = false;
		wh_fifo_push(wh_session_ready_chunks(half.session), chunk);
	}
}

/* A transmitter with data, whose OPEN has been accepted just now. */
static void open_sender(void)
{
	const struct wh_packet accept = {
		.type = WH_PACKET_ACCEPT,
		.cid = SENDER,
		.accept = {.acceptor_cid = CID, .stamp_us = NOW / 1000, .buffer_chunks = 16},
	};

	half.session = wh_session_open(&half.config, &peer, "stream", WH_OBJECT_BYTES_UNKNOWN);
	CU_ASSERT_PTR_NOT_NULL_FATAL(half.session);
	wh_connect_begin(half.session, NOW, SENDER, 7);
	fill();
	half.now_tsc += 5 * MS;
	give(&accept);
}

static void answer(uint32_t train, uint32_t index, uint64_t came_ns)
{
	const struct wh_packet packet = {
		.type = WH_PACKET_PROBE_ANSWER,
		.flags = WH_FLAG_ECHO,
		.cid = SENDER,
		.probe_answer = {.index = index,
			.train = (uint16_t)train,
			.n_words = came_ns > 0,
			.words = {came_ns}},
	};

	give(&packet);
}

static const struct wh_sttp *sttp(void)
{
	return (const struct wh_sttp *)wh_session_control(half.session)->state;
}

static void close_half(void)
{
	wh_session_destroy(half.session);
}

/* Two go with CONFIRM, and no data until both are back; the second's round trip is the first. */
static void test_pair_before_data(void)
{
	configure("sttp");
	open_sender();
	CU_ASSERT_EQUAL_FATAL(half.n_said, 2);
	for (uint32_t i = 0; i < 2; i++) {
		CU_ASSERT_EQUAL(half.said[i].type, WH_PACKET_PROBE);
		CU_ASSERT_EQUAL(half.said[i].flags, WH_FLAG_ECHO);
		CU_ASSERT_EQUAL(half.said[i].probe.index, i);
		CU_ASSERT_EQUAL(half.said[i].probe.count, 2);
		CU_ASSERT_EQUAL(half.said[i].probe.train, 1);
		/* As long as a full packet, or as control may be. */
		CU_ASSERT_EQUAL(half.bytes[i], WH_CONTROL_BYTES_MAX);
	}
	half.now_tsc += 4 * MS;
	answer(1, 0, 1000000);
	pass(10 * MS);
	CU_ASSERT_EQUAL(half.n_said, 2);
	CU_ASSERT_FALSE(sttp()->probed);
	answer(1, 1, 1000000 + 100000);
	CU_ASSERT_TRUE(sttp()->probed);
	CU_ASSERT_EQUAL(sttp()->bucket.last_rtt, 14.0 * MS);
	/* A packet's 1200 bytes and what is around them, in 0.1 ms. */
	uint32_t around = half.config.wire_bytes - half.config.payload_bytes - WH_HEAD_BYTES;

	WH_ASSERT_NEAR(sttp()->capacity_pps,
		(WH_CONTROL_BYTES_MAX + around) / 1e-4 / half.config.wire_bytes, 1e-9);
	CU_ASSERT_TRUE(half.n_said > 2 && half.said[2].type == WH_PACKET_DATA);
	close_half();
}

static void test_length_and_train(void)
{
	configure("sttp");
	set("probe_bytes", 40);
	set("probe_pkts", 7);
	open_sender();
	CU_ASSERT_EQUAL_FATAL(half.n_said, 7);
	CU_ASSERT_EQUAL(half.bytes[6], WH_HEAD_BYTES);
	CU_ASSERT_EQUAL(half.said[6].probe.padding_bytes, 0);
	/* Gaps of 10, 10, 500, 10, 10 us and one that is lost; answers need no stamp. */
	static const uint64_t came_us[] = {0, 10, 20, 520, 530, 0, 540};

	for (uint32_t i = 0; i < 7; i++) {
		if (i != 5)
			answer(1, i, 1000000 + came_us[i] * 1000);
	}
	CU_ASSERT_TRUE(sttp()->probed);
	uint32_t around = half.config.wire_bytes - half.config.payload_bytes - WH_HEAD_BYTES;

	WH_ASSERT_NEAR(sttp()->capacity_pps,
		(WH_HEAD_BYTES + around) / 1e-5 / half.config.wire_bytes, 1e-9);
	close_half();
}

/* As printed it never starts; repaired it is sent again, ever more rarely. */
static void test_lost_probe(void)
{
	configure("sttp");
	set("probe_repeats", 0);
	open_sender();
	pass(2 * HZ);
	CU_ASSERT_EQUAL(half.n_said, 2);
	close_half();

	configure("sttp");
	open_sender();
	answer(1, 0, 0);
	pass(2 * HZ);
	/* After 50, 100, 200, 400 and 800 ms. */
	CU_ASSERT_EQUAL_FATAL(half.n_said, 2 + 2 * 5);
	CU_ASSERT_EQUAL(half.said[11].probe.train, 6);
	/* The first train's second one is too late, and says nothing of the sixth. */
	answer(1, 1, 0);
	CU_ASSERT_FALSE(sttp()->probed);
	answer(6, 0, 5000);
	answer(6, 1, 6000);
	CU_ASSERT_TRUE(sttp()->probed);
	close_half();
}

/* A queue that holds less than the train: what came has to do, when the last is overdue. */
static void test_last_one_lost(void)
{
	configure("sttp");
	set("probe_pkts", 4);
	open_sender();
	for (uint32_t i = 0; i < 3; i++)
		answer(1, i, 1000000 + i * 20000);
	pass(40 * MS);
	CU_ASSERT_FALSE(sttp()->probed);
	pass(10 * MS);
	CU_ASSERT_TRUE(sttp()->probed);
	CU_ASSERT_EQUAL(sttp()->bucket.last_rtt, 1.0); /* all came at once */
	close_half();
}

/* Answers that no honest receiver gives: none of them is more than another measure. */
static void test_lying_answers(void)
{
	static const uint64_t second_ns[] = {1, 999999, 1000000, 1000001, UINT64_MAX};

	for (size_t i = 0; i < sizeof(second_ns) / sizeof(second_ns[0]); i++) {
		configure("sttp");
		half.config.rate_bps = 1000000000;
		open_sender();

		struct wh_session_stats before = wh_session_stats(half.session);

		answer(1, 2, 1);
		answer(1, UINT16_MAX, 1);
		CU_ASSERT_EQUAL(wh_session_stats(half.session).bad_unexpected_pkts,
			before.bad_unexpected_pkts + 2);
		answer(0, 0, 1);
		answer(2, 1, 1);
		answer(1, 0, 1000000);
		answer(1, 0, 5000000);
		CU_ASSERT_EQUAL(wh_session_stats(half.session).control_stale_pkts,
			before.control_stale_pkts + 3);
		answer(1, 1, second_ns[i]);
		CU_ASSERT_TRUE(sttp()->probed);
		/* Backwards, at once or in a nanosecond: the bound and no more. */
		CU_ASSERT_TRUE(
			sttp()->capacity_pps <= 1e9 / (8.0 * half.config.wire_bytes) * (1 + 1e-12));
		CU_ASSERT_TRUE(sttp()->bucket.capacity >= 1);
		answer(1, 1, 77);
		pass(50 * MS);
		close_half();
	}
}

static void question(uint8_t flags, uint16_t padding_bytes, uint32_t index)
{
	const struct wh_packet packet = {
		.type = WH_PACKET_PROBE,
		.flags = flags,
		.cid = CID,
		.probe = {.stamp_ns = 77,
			.index = index,
			.count = 9,
			.padding_bytes = padding_bytes,
			.train = 3},
	};

	give(&packet);
}

static void open_receiver(void)
{
	struct wh_open_params params = {
		.initiator_cid = SENDER,
		.payload_bytes = (uint16_t)half.config.payload_bytes,
		.chunk_bytes = CHUNK,
		.window_pkts = half.config.window_pkts,
		.period_us = 10000,
		.profile = half.config.profile->number,
	};

	half.session = wh_session_accept(&half.config, NOW, CID, &peer, &params, MS);
	CU_ASSERT_PTR_NOT_NULL_FATAL(half.session);
}

/* Each echo is answered with its time, if it is long enough; nothing else is, and no flood. */
static void test_receiver(void)
{
	configure("sttp");
	open_receiver();
	half.now_tsc += 3 * MS;
	question(WH_FLAG_ECHO, 8, 4);
	CU_ASSERT_EQUAL_FATAL(half.n_said, 1);
	CU_ASSERT_EQUAL(half.said[0].type, WH_PACKET_PROBE_ANSWER);
	CU_ASSERT_EQUAL(half.said[0].flags, WH_FLAG_ECHO);
	CU_ASSERT_EQUAL(half.said[0].probe_answer.index, 4);
	CU_ASSERT_EQUAL(half.said[0].probe_answer.train, 3);
	CU_ASSERT_EQUAL(half.said[0].probe_answer.stamp_ns, 77);
	CU_ASSERT_EQUAL(half.said[0].probe_answer.words[0], half.now_tsc);
	CU_ASSERT_EQUAL(half.bytes[0], WH_HEAD_BYTES + 8);
	question(WH_FLAG_ECHO, 7, 0);
	CU_ASSERT_EQUAL(half.bytes[1], WH_HEAD_BYTES);
	question(0, 8, 0);
	question(WH_FLAG_FETCH, 8, 0);
	CU_ASSERT_EQUAL(half.n_said, 2);
	CU_ASSERT_EQUAL(wh_session_stats(half.session).bad_unexpected_pkts, 2);
	close_half();

	configure("fixed");
	open_receiver();
	question(WH_FLAG_ECHO, 8, 0);
	CU_ASSERT_EQUAL(half.n_said, 0);
	CU_ASSERT_EQUAL(wh_session_stats(half.session).bad_unexpected_pkts, 1);
	close_half();
}

/* An answer to a session that has sent no probe. */
static void test_unasked(void)
{
	configure("fixed");
	half.config.rate_bps = 1000000;
	open_sender();

	uint64_t before = wh_session_stats(half.session).bad_unexpected_pkts;

	answer(1, 0, 1);
	CU_ASSERT_EQUAL(wh_session_stats(half.session).bad_unexpected_pkts, before + 1);
	close_half();
}

CU_TestInfo wh_tests[] = {
	{"pair before data", test_pair_before_data},
	{"length and train", test_length_and_train},
	{"lost probe", test_lost_probe},
	{"last one lost", test_last_one_lost},
	{"lying answers", test_lying_answers},
	{"receiver", test_receiver},
	{"unasked", test_unasked},
	CU_TEST_INFO_NULL,
};
