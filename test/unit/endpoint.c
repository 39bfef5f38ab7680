/* SPDX-License-Identifier: BSD-3-Clause */

/* What sits behind a port: who gets which packet, and how connections find their place. */

#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "session/endpoint.h"

#define HZ     UINT64_C(1000000000)
#define NOW    (10 * HZ)
#define CHUNKS 2

static const struct wh_address alice = {.family = WH_IPV4, .ip = {192, 0, 2, 1}, .port = 1000};
static const struct wh_address bob = {.family = WH_IPV4, .ip = {192, 0, 2, 2}, .port = 2000};

/* A listening endpoint and what its callbacks do and saw. */
struct house {
	struct wh_endpoint endpoint;
	enum wh_release_status welcome;
	bool no_memory;
	uint32_t accepted;
	struct wh_session *session[4];
	uint8_t *memory;
};

static struct wh_session_config session_config(const struct house *house)
{
	struct wh_session_config config;

	wh_session_config_init(&config);
	config.hz = HZ;
	config.profile = wh_profile_find("fixed");
	config.payload_bytes = 1408;
	config.packet_bytes = 1500;
	config.wire_bytes = 1538;
	config.rate_bps = 1000000000;
	config.chunk_bytes = 4096;
	config.chunks = CHUNKS;
	config.chunk_memory = house->memory;
	config.window_pkts = 64;
	return config;
}

static enum wh_release_status welcome(
	void *context, const struct wh_open_params *params, const struct wh_address *peer)
{
	const struct house *house = context;

	(void)params;
	(void)peer;
	return house->welcome;
}

static struct wh_session *accept_session(void *context, uint64_t now_tsc, uint32_t lci,
	const struct wh_address *peer, const struct wh_open_params *params, uint64_t rtt_tsc)
{
	struct house *house = context;
	struct wh_session_config config = session_config(house);

	if (house->no_memory)
		return NULL;

	struct wh_session *session =
		wh_session_accept(&config, now_tsc, lci, peer, params, rtt_tsc);

	CU_ASSERT_PTR_NOT_NULL_FATAL(session);
	CU_ASSERT_TRUE_FATAL(house->accepted < 4);
	house->session[house->accepted++] = session;
	return session;
}

static void house_open(struct house *house)
{
	struct wh_endpoint_config config = {
		.hz = HZ,
		.key = {7},
		.buffer_chunks = CHUNKS,
		.welcome = welcome,
		.accept = accept_session,
		.context = house,
	};

	*house = (struct house){.memory = aligned_alloc(WH_CHUNK_ALIGN, CHUNKS * 4096)};
	CU_ASSERT_EQUAL_FATAL(wh_endpoint_init(&house->endpoint, &config), 0);
}

static void house_close(struct house *house)
{
	for (uint32_t i = 0; i < house->accepted; i++)
		wh_session_destroy(house->session[i]);
	wh_endpoint_free(&house->endpoint);
	free(house->memory);
}

static struct wh_open_params params_of(uint32_t initiator_lci)
{
	return (struct wh_open_params){
		.initiator_lci = initiator_lci,
		.profile = 1,
		.payload_bytes = 1408,
		.chunk_bytes = 4096,
		.window_pkts = 64,
		.period_us = 10000,
		.first_serial = 1000,
		.object_bytes = 5,
		.name_bytes = 1,
		.name = "f",
	};
}

static void give(struct house *house, const struct wh_packet *packet, const struct wh_address *from)
{
	uint8_t bytes[WH_CONTROL_BYTES_MAX];
	uint32_t length = wh_packet_encode(packet, bytes, sizeof(bytes));

	wh_endpoint_input(&house->endpoint, NOW, NOW, bytes, length, from);
}

static void give_open(struct house *house, uint32_t initiator_lci, const struct wh_address *from)
{
	struct wh_packet open = {
		.type = WH_PACKET_OPEN,
		.open = {.params = params_of(initiator_lci), .stamp_us = 1},
	};

	give(house, &open, from);
}

/* The next packet that the endpoint sends; its type is 0 when there is none. */
static struct wh_packet take(struct house *house, struct wh_address *to)
{
	uint8_t room[WH_CONTROL_BYTES_MAX];
	struct wh_out out = {.head = room};
	struct wh_packet packet = {0};

	if (wh_endpoint_output(&house->endpoint, NOW, &out, 1) == 0)
		return packet;
	CU_ASSERT_EQUAL_FATAL(wh_packet_decode(room, out.head_bytes, &packet), WH_WIRE_OK);
	*to = *out.to;
	return packet;
}

static void give_confirm(struct house *house, const struct wh_packet *accept,
	uint32_t initiator_lci, const struct wh_address *from)
{
	struct wh_packet confirm = {
		.type = WH_PACKET_CONFIRM,
		.confirm =
			{
				.params = params_of(initiator_lci),
				.acceptor_lci = accept->accept.acceptor_lci,
			},
	};

	memcpy(confirm.confirm.cookie, accept->accept.cookie, WH_COOKIE_BYTES);
	give(house, &confirm, from);
}

static void test_open_keeps_no_state(void)
{
	struct house house;
	struct wh_address to;

	house_open(&house);
	for (uint32_t i = 0; i < 1000; i++) {
		give_open(&house, 5, &alice);

		struct wh_packet accept = take(&house, &to);

		CU_ASSERT_EQUAL(accept.type, WH_PACKET_ACCEPT);
		CU_ASSERT_EQUAL(accept.lci, 5);
		CU_ASSERT_TRUE(wh_address_equal(&to, &alice));
	}
	CU_ASSERT_EQUAL(house.accepted, 0);
	CU_ASSERT_EQUAL(house.endpoint.used, 0);
	house_close(&house);
}

/* Two that open at the same time, even from one address, are two connections. */
static void test_two_at_once(void)
{
	struct house house;
	struct wh_address to;

	house_open(&house);
	give_open(&house, 5, &alice);
	give_open(&house, 6, &alice);

	struct wh_packet first = take(&house, &to);
	struct wh_packet second = take(&house, &to);

	CU_ASSERT_NOT_EQUAL(first.accept.acceptor_lci, second.accept.acceptor_lci);
	give_confirm(&house, &second, 6, &alice);
	give_confirm(&house, &first, 5, &alice);
	CU_ASSERT_EQUAL_FATAL(house.accepted, 2);
	CU_ASSERT_EQUAL(wh_session_params(house.session[0])->initiator_lci, 6);
	CU_ASSERT_EQUAL(wh_session_params(house.session[1])->initiator_lci, 5);

	/* Repeated, since nothing was heard yet: still two. */
	give_confirm(&house, &first, 5, &alice);
	CU_ASSERT_EQUAL(house.accepted, 2);

	/* An abort of one is none of the other. */
	struct wh_packet abort = {
		.type = WH_PACKET_RELEASE,
		.lci = second.accept.acceptor_lci,
		.release = {.stage = WH_RELEASE_ABORT, .status = WH_STATUS_INTERRUPTED},
	};

	give(&house, &abort, &alice);
	wh_endpoint_poll(&house.endpoint, NOW);
	CU_ASSERT_EQUAL(wh_session_outcome(house.session[0]), WH_STATUS_INTERRUPTED);
	CU_ASSERT_EQUAL(wh_session_outcome(house.session[1]), WH_STATUS_PENDING);
	house_close(&house);
}

/* An offer whose place went to somebody else is refused, and so is one without memory. */
static void test_too_late(void)
{
	struct house house;
	struct wh_address to;
	struct wh_packet offer[WH_ENDPOINT_SESSIONS + 1];

	house_open(&house);
	for (uint32_t i = 0; i <= WH_ENDPOINT_SESSIONS; i++) {
		give_open(&house, 100 + i, &alice);
		offer[i] = take(&house, &to);
	}
	/* The first and the last offer are the same place. */
	CU_ASSERT_EQUAL(offer[0].accept.acceptor_lci % WH_ENDPOINT_SESSIONS,
		offer[WH_ENDPOINT_SESSIONS].accept.acceptor_lci % WH_ENDPOINT_SESSIONS);
	give_confirm(&house, &offer[WH_ENDPOINT_SESSIONS], 100 + WH_ENDPOINT_SESSIONS, &alice);
	CU_ASSERT_EQUAL(house.accepted, 1);
	give_confirm(&house, &offer[0], 100, &alice);
	CU_ASSERT_EQUAL(house.accepted, 1);

	struct wh_packet refusal = take(&house, &to);

	CU_ASSERT_EQUAL(refusal.type, WH_PACKET_ACCEPT);
	CU_ASSERT_EQUAL(refusal.lci, 100);
	CU_ASSERT_EQUAL(refusal.accept.refused, WH_STATUS_BUSY);
	CU_ASSERT_EQUAL(refusal.accept.acceptor_lci, offer[0].accept.acceptor_lci);

	house.no_memory = true;
	give_confirm(&house, &offer[1], 101, &alice);
	refusal = take(&house, &to);
	CU_ASSERT_EQUAL(refusal.accept.refused, WH_STATUS_BUSY);
	CU_ASSERT_EQUAL(house.accepted, 1);
	house_close(&house);
}

/* A cookie is good for longer than a short connection takes, and opens one only. */
static void test_confirmed_once(void)
{
	struct house house;
	struct wh_address to;

	house_open(&house);
	give_open(&house, 5, &alice);

	struct wh_packet accept = take(&house, &to);

	give_confirm(&house, &accept, 5, &alice);
	CU_ASSERT_EQUAL_FATAL(house.accepted, 1);
	wh_endpoint_remove(&house.endpoint, house.session[0]);
	give_confirm(&house, &accept, 5, &alice);
	CU_ASSERT_EQUAL(house.accepted, 1);

	struct wh_packet refusal = take(&house, &to);

	CU_ASSERT_EQUAL(refusal.accept.refused, WH_STATUS_BUSY);

	/* Its place is free all the same, for the next offer of it. */
	for (uint32_t i = 0; i < WH_ENDPOINT_SESSIONS; i++) {
		give_open(&house, 6, &alice);
		accept = take(&house, &to);
	}
	give_confirm(&house, &accept, 6, &alice);
	CU_ASSERT_EQUAL(house.accepted, 2);
	house_close(&house);
}

static void test_unwelcome(void)
{
	struct house house;
	struct wh_address to;

	house_open(&house);
	house.welcome = WH_STATUS_REFUSED;
	give_open(&house, 5, &bob);

	struct wh_packet refusal = take(&house, &to);

	CU_ASSERT_EQUAL(refusal.accept.refused, WH_STATUS_REFUSED);
	CU_ASSERT_TRUE(wh_address_equal(&to, &bob));
	CU_ASSERT_EQUAL(house.endpoint.stats.refused_opens, 1);

	/* A refusal cannot be confirmed. */
	give_confirm(&house, &refusal, 5, &bob);
	CU_ASSERT_EQUAL(house.accepted, 0);
	CU_ASSERT_EQUAL(house.endpoint.stats.bad_cookie_pkts, 1);

	/* A cookie that was made for somebody else opens nothing. */
	house.welcome = WH_STATUS_PENDING;
	give_open(&house, 5, &alice);

	struct wh_packet accept = take(&house, &to);

	give_confirm(&house, &accept, 5, &bob);
	CU_ASSERT_EQUAL(house.accepted, 0);
	CU_ASSERT_EQUAL(house.endpoint.stats.bad_cookie_pkts, 2);
	house_close(&house);
}

/* Packets for nobody, for a place's earlier tenant, and from the wrong peer. */
static void test_strangers(void)
{
	struct house house;
	struct wh_address to;
	struct wh_packet state = {
		.type = WH_PACKET_TRANS_STATE,
		.lci = 0x77,
		.trans_state = {.lower = 1000, .upper = 1000},
	};

	house_open(&house);
	give(&house, &state, &alice);
	CU_ASSERT_EQUAL(house.endpoint.stats.no_session_pkts, 1);

	give_open(&house, 5, &alice);

	struct wh_packet accept = take(&house, &to);

	give_confirm(&house, &accept, 5, &alice);
	CU_ASSERT_EQUAL_FATAL(house.accepted, 1);
	state.lci = accept.accept.acceptor_lci;
	give(&house, &state, &bob);
	CU_ASSERT_EQUAL(house.endpoint.stats.wrong_peer_pkts, 1);
	CU_ASSERT_EQUAL(wh_session_stats(house.session[0])->control_received_pkts, 0);
	give(&house, &state, &alice);
	CU_ASSERT_EQUAL(wh_session_stats(house.session[0])->control_received_pkts, 1);

	wh_endpoint_remove(&house.endpoint, house.session[0]);
	give(&house, &state, &alice);
	CU_ASSERT_EQUAL(house.endpoint.stats.no_session_pkts, 2);
	wh_endpoint_input(&house.endpoint, NOW, NOW, (const uint8_t *)"?", 1, &alice);
	CU_ASSERT_EQUAL(house.endpoint.stats.bad[WH_WIRE_SHORT], 1);
	CU_ASSERT_EQUAL(wh_endpoint_bad_pkts(&house.endpoint), 4);
	house_close(&house);
}

static void test_offers_run_out(void)
{
	struct house house;
	struct wh_address to;
	uint32_t lci;

	house_open(&house);
	house.endpoint.offers = UINT32_MAX >> 6; /* the next one wraps, and is not 0 */
	lci = wh_endpoint_offer_lci(&house.endpoint);
	CU_ASSERT_EQUAL(lci >> 6, 1);

	/* A full table: the pointers are never followed by an offer. */
	for (uint32_t i = 0; i < WH_ENDPOINT_SESSIONS; i++)
		house.endpoint.session[i] = (struct wh_session *)&house;
	CU_ASSERT_EQUAL(wh_endpoint_offer_lci(&house.endpoint), 0);
	give_open(&house, 5, &alice);
	memset(house.endpoint.session, 0, sizeof(house.endpoint.session));

	struct wh_packet refusal = take(&house, &to);

	CU_ASSERT_EQUAL(refusal.accept.refused, WH_STATUS_BUSY);
	house_close(&house);
}

const char wh_suite_name[] = "endpoint";

CU_TestInfo wh_tests[] = {
	{"OPEN keeps no state", test_open_keeps_no_state},
	{"two at once", test_two_at_once},
	{"too late", test_too_late},
	{"confirmed once", test_confirmed_once},
	{"unwelcome", test_unwelcome},
	{"strangers", test_strangers},
	{"offers run out", test_offers_run_out},
	CU_TEST_INFO_NULL,
};
