/* SPDX-License-Identifier: BSD-3-Clause */

/* The listener's half of the handshake, which keeps no state: what it answers and believes. */

#include "unit.h"

#include "endpoint/connect.h"

#define HZ  UINT64_C(2600000000)
#define NOW (100 * HZ)

static const struct wh_listener listener = {
	.hz = HZ,
	.key = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16},
};

static const struct wh_address peer = {
	.family = WH_IPV4,
	.ip = {192, 0, 2, 9},
	.port = 5760,
};

static const struct wh_offer welcome = {.cid = 0x40, .buffer_chunks = 77};

static struct wh_packet make_open(void)
{
	return (struct wh_packet){
		.type = WH_PACKET_OPEN,
		.open =
			{
				.params =
					{
						.initiator_cid = 0x1234,
						.profile = 1,
						.payload_bytes = 1408,
						.chunk_bytes = 1 << 20,
						.window_pkts = 4096,
						.period_us = 10000,
						.first_pn = 99,
						.object_bytes = 123456,
						.name_bytes = 4,
						.name = "file",
					},
				.stamp_us = 4242,
			},
	};
}

/* What an honest initiator makes of an ACCEPT. */
static struct wh_confirm confirm_of(const struct wh_packet *open, const struct wh_packet *accept)
{
	struct wh_confirm confirm = {
		.params = open->open.params,
		.acceptor_cid = accept->accept.acceptor_cid,
	};

	memcpy(confirm.cookie, accept->accept.cookie, WH_COOKIE_BYTES);
	return confirm;
}

static void test_accept_fields(void)
{
	struct wh_packet open = make_open();
	struct wh_packet accept;
	uint8_t bytes[WH_CONTROL_BYTES_MAX];

	wh_listener_accept(
		&listener, NOW, &open.open.params, open.open.stamp_us, &peer, &welcome, &accept);
	CU_ASSERT_EQUAL(accept.type, WH_PACKET_ACCEPT);
	CU_ASSERT_EQUAL(accept.cid, 0x1234);
	CU_ASSERT_EQUAL(accept.accept.acceptor_cid, 0x40);
	CU_ASSERT_EQUAL(accept.accept.stamp_us, 4242);
	CU_ASSERT_EQUAL(accept.accept.buffer_chunks, 77);
	CU_ASSERT_EQUAL(accept.accept.refused, WH_STATUS_PENDING);

	uint32_t length = wh_packet_encode(&accept, bytes, sizeof(bytes));
	struct wh_packet decoded;

	CU_ASSERT_EQUAL(wh_packet_decode(bytes, length, &decoded), WH_WIRE_OK);
	CU_ASSERT_EQUAL(memcmp(decoded.accept.cookie, accept.accept.cookie, WH_COOKIE_BYTES), 0);
}

static void test_refusal_needs_no_place(void)
{
	struct wh_packet open = make_open();
	struct wh_packet accept;
	uint8_t bytes[WH_CONTROL_BYTES_MAX];
	struct wh_packet decoded;

	const struct wh_offer busy = {.refused = WH_STATUS_BUSY};

	wh_listener_accept(
		&listener, NOW, &open.open.params, open.open.stamp_us, &peer, &busy, &accept);

	uint32_t length = wh_packet_encode(&accept, bytes, sizeof(bytes));

	CU_ASSERT_EQUAL(wh_packet_decode(bytes, length, &decoded), WH_WIRE_OK);
	CU_ASSERT_EQUAL(decoded.accept.refused, WH_STATUS_BUSY);
}

static void test_confirm_within_lifetime(void)
{
	struct wh_packet open = make_open();
	struct wh_packet accept;
	uint64_t rtt_tsc = 0;

	wh_listener_accept(
		&listener, NOW, &open.open.params, open.open.stamp_us, &peer, &welcome, &accept);

	struct wh_confirm confirm = confirm_of(&open, &accept);

	/* 100 ms later: 260,000,000 cycles, to the microsecond that the cookie keeps. */
	CU_ASSERT_TRUE(
		wh_listener_confirmed(&listener, NOW + HZ / 10, &confirm, false, &peer, &rtt_tsc));
	WH_ASSERT_NEAR(rtt_tsc, HZ / 10, 1e-5);

	uint64_t last_tsc = NOW + WH_COOKIE_LIFETIME_S * HZ;

	CU_ASSERT_TRUE(
		wh_listener_confirmed(&listener, last_tsc, &confirm, false, &peer, &rtt_tsc));
	CU_ASSERT_TRUE(wh_listener_confirmed(
		&listener, last_tsc - HZ / 1000000, &confirm, false, &peer, &rtt_tsc));
	CU_ASSERT_FALSE(wh_listener_confirmed(
		&listener, last_tsc + HZ / 1000000, &confirm, false, &peer, &rtt_tsc));
}

/* Each of these is somebody else, or something else than what was proposed. */
static void test_confirm_refused(void)
{
	struct wh_packet open = make_open();
	struct wh_packet accept;
	uint64_t rtt_tsc;

	wh_listener_accept(
		&listener, NOW, &open.open.params, open.open.stamp_us, &peer, &welcome, &accept);

	struct wh_confirm good = confirm_of(&open, &accept);
	struct wh_confirm confirm = good;
	struct wh_address other = peer;
	struct wh_listener stranger = listener;

	CU_ASSERT_TRUE(wh_listener_confirmed(&listener, NOW, &good, false, &peer, &rtt_tsc));

	other.port++;
	CU_ASSERT_FALSE(wh_listener_confirmed(&listener, NOW, &good, false, &other, &rtt_tsc));
	other = peer;
	other.ip[3]++;
	CU_ASSERT_FALSE(wh_listener_confirmed(&listener, NOW, &good, false, &other, &rtt_tsc));
	stranger.key[15] ^= 1;
	CU_ASSERT_FALSE(wh_listener_confirmed(&stranger, NOW, &good, false, &peer, &rtt_tsc));
	confirm.acceptor_cid = 0x41;
	CU_ASSERT_FALSE(wh_listener_confirmed(&listener, NOW, &confirm, false, &peer, &rtt_tsc));
	confirm = good;
	confirm.params.window_pkts = 8192;
	CU_ASSERT_FALSE(wh_listener_confirmed(&listener, NOW, &confirm, false, &peer, &rtt_tsc));
	confirm = good;
	confirm.params.name[0] = 'F';
	CU_ASSERT_FALSE(wh_listener_confirmed(&listener, NOW, &confirm, false, &peer, &rtt_tsc));
	for (uint32_t i = 0; i < WH_COOKIE_BYTES * 8; i++) {
		confirm = good;
		confirm.cookie[i / 8] ^= (uint8_t)(1 << i % 8);
		CU_ASSERT_FALSE(
			wh_listener_confirmed(&listener, NOW, &confirm, false, &peer, &rtt_tsc));
	}
}

const char wh_suite_name[] = "connect";

CU_TestInfo wh_tests[] = {
	{"ACCEPT's fields", test_accept_fields},
	{"a refusal needs no place", test_refusal_needs_no_place},
	{"CONFIRM within its lifetime", test_confirm_within_lifetime},
	{"CONFIRM refused", test_confirm_refused},
	CU_TEST_INFO_NULL,
};
