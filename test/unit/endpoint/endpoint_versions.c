/* SPDX-License-Identifier: BSD-3-Clause */
/* Ends of different versions: who is told, who hears it, and what counts for more. */

#include "unit.h"

#include "endpoint_rig.h"
#include "wire/versions.h"

const char wh_suite_name[] = "endpoint: versions";

#define OTHER (WH_WIRE_VERSION + 1)
#define MS    (HZ / 1000)

static struct house house;

void wh_set_up(void)
{
	house_open(&house);
}

void wh_take_down(void)
{
	house_close(&house);
}

/* What the endpoint sends next, as bytes; 0: nothing. */
static uint32_t take_bytes(
	uint64_t now_tsc, uint8_t bytes[WH_CONTROL_BYTES_MAX], struct wh_address *to)
{
	struct wh_out out = {.head = bytes};

	if (wh_endpoint_output(&house.endpoint, now_tsc, &out, 1) == 0)
		return 0;
	*to = *out.to;
	return out.head_bytes;
}

static size_t make_open(uint8_t version, uint8_t bytes[WH_CONTROL_BYTES_MAX])
{
	const struct wh_packet open = {
		.type = WH_PACKET_OPEN,
		.open = {.params = params_of(5), .stamp_us = 1},
	};
	size_t length = closed_encode(&open, 0, bytes, WH_CONTROL_BYTES_MAX);

	bytes[0] = version;
	return length;
}

/* One answer to each, no longer than what it answers, and nothing is kept. */
static void test_told(void)
{
	uint8_t bytes[WH_CONTROL_BYTES_MAX], answer[WH_CONTROL_BYTES_MAX];
	struct wh_address to;

	size_t length = make_open(OTHER, bytes);

	for (uint32_t i = 1; i <= 1000; i++) {
		give_bytes(&house, bytes, length, &alice);

		uint32_t answered = take_bytes(NOW, answer, &to);

		CU_ASSERT_EQUAL_FATAL(answered, WH_VERSIONS_BYTES);
		CU_ASSERT(answered <= length);
		CU_ASSERT_TRUE(wh_address_equal(&to, &alice));
		CU_ASSERT_EQUAL(take_bytes(NOW, answer, &to), 0);
		CU_ASSERT_EQUAL(house.endpoint.stats.bad[WH_WIRE_VERSION_UNKNOWN], i);
	}
	CU_ASSERT_EQUAL(house.accepted, 0);
	/* More at once than there is room for: dropped and counted. */
	for (uint32_t i = 0; i < 1000; i++)
		give_bytes(&house, bytes, length, &alice);
	CU_ASSERT_EQUAL(house.endpoint.stats.replies_dropped_pkts, 1000 - WH_ENDPOINT_REPLIES);
}

/* Answers are not answered, nor is anything but OPEN and ASK; who does not listen is silent. */
static void test_no_loop(void)
{
	uint8_t bytes[WH_CONTROL_BYTES_MAX], answer[WH_CONTROL_BYTES_MAX];
	struct wh_address to;

	size_t length = make_open(OTHER, bytes);

	give_bytes(&house, bytes, length, &alice);
	CU_ASSERT_EQUAL_FATAL(take_bytes(NOW, answer, &to), WH_VERSIONS_BYTES);
	give_bytes(&house, answer, WH_VERSIONS_BYTES, &alice);
	CU_ASSERT_EQUAL(take_bytes(NOW, answer, &to), 0);
	for (uint32_t type = 0; type < 256; type++) {
		bytes[1] = (uint8_t)type;
		give_bytes(&house, bytes, length, &alice);
		CU_ASSERT_EQUAL(take_bytes(NOW, answer, &to) > 0,
			type == WH_PACKET_OPEN || type == WH_PACKET_ASK);
	}
	house.endpoint.config.welcome = NULL;
	make_open(OTHER, bytes);
	give_bytes(&house, bytes, length, &alice);
	CU_ASSERT_EQUAL(take_bytes(NOW, answer, &to), 0);
}

/* A connection to bob whose OPEN is out, and what an end of another version answers to that. */
static struct wh_session *begin(uint8_t answer[WH_VERSIONS_BYTES])
{
	uint8_t open[WH_CONTROL_BYTES_MAX];
	struct wh_address to;
	struct wh_session_config config = session_config(&house);
	struct wh_session *session = wh_session_open(&config, &bob, "out", WH_OBJECT_BYTES_UNKNOWN);

	CU_ASSERT_PTR_NOT_NULL_FATAL(session);
	CU_ASSERT_EQUAL_FATAL(wh_endpoint_open(&house.endpoint, session), 0);
	turn(&house, NOW);

	uint32_t length = take_bytes(NOW, open, &to);
	struct wh_packet packet;

	CU_ASSERT_TRUE_FATAL(length >= WH_VERSIONS_BYTES);
	CU_ASSERT_EQUAL_FATAL(wh_packet_decode(open, length, &packet), WH_WIRE_OK);
	note_token(&house, packet.open.params.initiator_cid, packet.open.params.initiator_token);
	memset(answer, 0, 8);
	answer[1] = 1;
	answer[2] = OTHER;
	answer[3] = OTHER + 1;
	memcpy(answer + 8, open, 88);
	return session;
}

static void test_heard(void)
{
	uint8_t answer[WH_VERSIONS_BYTES];
	uint8_t least, most;

	struct wh_session *session = begin(answer);

	CU_ASSERT_FALSE(wh_session_peer_versions(session, &least, &most));
	give_bytes(&house, answer, sizeof(answer), &bob);
	turn(&house, NOW + MS);
	CU_ASSERT_EQUAL(wh_session_news(session).outcome, WH_STATUS_PENDING);
	turn(&house, NOW + 50 * MS);
	CU_ASSERT_EQUAL(wh_session_news(session).outcome, WH_STATUS_REFUSED);
	CU_ASSERT_TRUE(wh_session_peer_versions(session, &least, &most));
	CU_ASSERT_EQUAL(least, OTHER);
	CU_ASSERT_EQUAL(most, OTHER + 1);
	wh_session_destroy(session);
}

/* From another address, to another OPEN: nothing. */
static void test_made_up(void)
{
	uint8_t answer[WH_VERSIONS_BYTES];
	uint8_t least, most;

	struct wh_session *session = begin(answer);

	give_bytes(&house, answer, sizeof(answer), &alice);
	for (uint32_t at = 8 + 64; at < 8 + 68; at++) { /* the initiator's connection ID */
		answer[at] ^= 1;
		give_bytes(&house, answer, sizeof(answer), &bob);
		answer[at] ^= 1;
	}
	for (uint32_t at = 8 + 80; at < 8 + 88; at++) { /* the first packet number */
		answer[at] ^= 1;
		give_bytes(&house, answer, sizeof(answer), &bob);
		answer[at] ^= 1;
	}
	turn(&house, NOW + 50 * MS);
	CU_ASSERT_EQUAL(wh_session_news(session).outcome, WH_STATUS_PENDING);
	CU_ASSERT_FALSE(wh_session_peer_versions(session, &least, &most));
	wh_session_destroy(session);
}

/* Whoever welcomes us speaks our version, whatever else was heard, before that or later. */
static void test_accept_counts_more(void)
{
	for (uint32_t before = 0; before < 2; before++) {
		uint8_t answer[WH_VERSIONS_BYTES];

		wh_take_down();
		wh_set_up();

		struct wh_session *session = begin(answer);
		struct wh_packet accept = {
			.type = WH_PACKET_ACCEPT,
			.cid = wh_session_cid(session),
			.accept = {.acceptor_cid = 9, .buffer_chunks = CHUNKS},
		};

		if (before)
			give_bytes(&house, answer, sizeof(answer), &bob);
		give(&house, &accept, &bob);
		turn(&house, NOW + MS);
		CU_ASSERT_EQUAL(wh_session_news(session).phase, WH_PHASE_RUNNING);
		give_bytes(&house, answer, sizeof(answer), &bob);
		turn(&house, NOW + 500 * MS);
		CU_ASSERT_EQUAL(wh_session_news(session).phase, WH_PHASE_RUNNING);
		CU_ASSERT_EQUAL(wh_session_news(session).outcome, WH_STATUS_PENDING);
		wh_session_destroy(session);
	}
}

CU_TestInfo wh_tests[] = {
	{"told", test_told},
	{"no loop", test_no_loop},
	{"heard", test_heard},
	{"made up", test_made_up},
	{"ACCEPT counts more", test_accept_counts_more},
	CU_TEST_INFO_NULL,
};
