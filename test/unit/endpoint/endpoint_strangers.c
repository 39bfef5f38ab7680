/* SPDX-License-Identifier: BSD-3-Clause */

/* What those who do not read the path can do to connections of others, and cost us: nothing. */

#include "unit.h"

#include "endpoint_rig.h"

const char wh_suite_name[] = "endpoint_strangers";

#define TENANTS 20

static struct house house;

void wh_set_up(void)
{
	house_open(&house);
}

void wh_take_down(void)
{
	house_close(&house);
}

/*
 * The same place again and again, with whatever identifiers: each new offer of it is good, and each
 * CONFIRM that has been used is not, for as long as its cookie lives.
 */
static void test_one_place_for_many(void)
{
	struct wh_address to;
	struct wh_packet accept[TENANTS];

	for (uint32_t place = 1; place < HALF; place++)
		wh_half_occupy(house.endpoint.rx, place);
	for (uint32_t i = 0; i < TENANTS; i++) {
		/* What strangers ask for, and what is refused, moves nothing. */
		house.welcome = WH_STATUS_REFUSED;
		give_open(&house, 5, &bob);
		CU_ASSERT_EQUAL(take(&house, &to).accept.refused, WH_STATUS_REFUSED);
		house.welcome = WH_STATUS_PENDING;

		give_open(&house, 5, &alice);
		accept[i] = take(&house, &to);
		give_confirm(&house, &accept[i], 5, &alice);
		CU_ASSERT_EQUAL_FATAL(house.accepted, i + 1);
		close_out(&house, house.session[i]);
		for (uint32_t old = 0; old <= i; old++) {
			give_confirm(&house, &accept[old], 5, &alice);
			CU_ASSERT_EQUAL(take(&house, &to).accept.refused, WH_STATUS_BUSY);
		}
	}
	CU_ASSERT_EQUAL(house.accepted, TENANTS);

	/* The last cookie at the end of its life, and after it. */
	uint64_t made_us = wh_cookie_made_us(accept[TENANTS - 1].accept.cookie);
	uint64_t bad = house.endpoint.stats.bad_cookie_pkts;

	house.later_tsc = (made_us + WH_COOKIE_LIFETIME_S * 1000000ull) * 1000 - NOW;
	give_confirm(&house, &accept[TENANTS - 1], 5, &alice);
	CU_ASSERT_EQUAL(take(&house, &to).accept.refused, WH_STATUS_BUSY);
	house.later_tsc += 1000;
	give_confirm(&house, &accept[TENANTS - 1], 5, &alice);
	CU_ASSERT_EQUAL(take(&house, &to).type, 0);
	CU_ASSERT_EQUAL(house.endpoint.stats.bad_cookie_pkts, bad + 1);
	CU_ASSERT_EQUAL(house.accepted, TENANTS);
}

/* An identifier does not tell the next, nor those of others. */
static void test_identifiers_are_random(void)
{
	struct wh_address to;
	uint32_t ones = 0;
	uint32_t last = 0;
	uint64_t last_token = 0;

	for (uint32_t i = 0; i < 1000; i++) {
		give_open(&house, 5, &alice);

		struct wh_packet accept = take(&house, &to);
		uint64_t token = wh_cookie_token(accept.accept.cookie);

		ones += (uint32_t)__builtin_popcount((accept.accept.acceptor_cid ^ last) / PLACES);
		ones += (uint32_t)__builtin_popcountll(token ^ last_token);
		last = accept.accept.acceptor_cid;
		last_token = token;
	}
	/* Of 26 and 64 bits half change each time: 45,000 of 90,000, give or take 150. */
	CU_ASSERT_TRUE(ones > 44000 && ones < 46000);
}

/* Who knows everything but the token: address, port, identifier. */
static void test_token(void)
{
	struct wh_session *session = open_to(&house, 5);
	struct wh_packet packet[] = {
		{.type = WH_PACKET_RELEASE,
			.release = {.stage = WH_RELEASE_ABORT, .status = WH_STATUS_INTERRUPTED}},
		{.type = WH_PACKET_RELEASE,
			.release = {.stage = WH_RELEASE_REQUEST, .pn_end = 1000}},
		{.type = WH_PACKET_TRANS_REPORT, .pn = WH_PN_MAX - 1},
		{.type = WH_PACKET_ACK2, .pn = WH_PN_MAX - 1},
	};

	for (uint32_t i = 0; i < sizeof(packet) / sizeof(packet[0]); i++) {
		packet[i].cid = wh_session_cid(session);
		for (uint32_t bit = 0; bit < 64; bit++)
			give_with(&house, &packet[i],
				token_of(&house, packet[i].cid) ^ UINT64_C(1) << bit, &alice);
	}
	turn(&house, NOW);
	CU_ASSERT_EQUAL(house.endpoint.stats.bad[WH_WIRE_TAG], 256);
	CU_ASSERT_EQUAL(wh_session_stats(session).control_received_pkts, 0);
	CU_ASSERT_EQUAL(wh_session_outcome(session), WH_STATUS_PENDING);

	give(&house, &packet[0], &alice);
	turn(&house, NOW);
	CU_ASSERT_EQUAL(wh_session_outcome(session), WH_STATUS_INTERRUPTED);
}

/* A stranger gets back no more than it sent: whatever it asks, and from where. */
static void test_answers_are_no_larger(void)
{
	uint8_t room[WH_CONTROL_BYTES_MAX];
	struct wh_out out = {.head = room};
	struct wh_packet open = {.type = WH_PACKET_OPEN, .open = {.params = params_of(5)}};
	static const enum wh_release_status welcomes[] = {
		WH_STATUS_PENDING, WH_STATUS_REFUSED, WH_STATUS_BUSY};

	open.open.params.name_bytes = 0;
	for (uint32_t i = 0; i < 3; i++) {
		house.welcome = welcomes[i];
		give(&house, &open, &alice);
		CU_ASSERT_EQUAL(wh_endpoint_output(&house.endpoint, NOW, &out, 1), 1);
		CU_ASSERT_EQUAL(out.head_bytes, 64);
		CU_ASSERT_EQUAL(wh_packet_encode(&open, room, sizeof(room)), 132);
		CU_ASSERT_EQUAL(wh_endpoint_output(&house.endpoint, NOW, &out, 1), 0);
	}
}

CU_TestInfo wh_tests[] = {
	{"one place for many", test_one_place_for_many},
	{"identifiers are random", test_identifiers_are_random},
	{"token", test_token},
	{"answers are no larger", test_answers_are_no_larger},
	CU_TEST_INFO_NULL,
};
