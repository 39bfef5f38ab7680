/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Control packets with packet numbers that were never said: those that are true count all the same.
 */

#include "../../rig/end.h"
#include "unit.h"

#include "endpoint/connect.h"
#include "endpoint/lifecycle.h"
#include "session/session_internal.h"

const char wh_suite_name[] = "session_pns";

#define HZ      UINT64_C(1000000000)
#define MS      (HZ / 1000)
#define NOW     (10 * HZ)
#define CID     0x41
#define PAYLOAD 1408

static const struct wh_address peer = {.family = WH_IPV4, .ip = {192, 0, 2, 1}, .port = 1000};

static struct wh_session_config config_of(void)
{
	struct wh_session_config config;

	wh_rig_session_config(&config, HZ, 16384, 4, 64);
	config.rate_bps = 1000000000;
	config.payload_virtual = true;
	return config;
}

static void give(struct wh_session *session, struct wh_packet packet, uint64_t now_tsc)
{
	packet.cid = CID;
	wh_session_input(session, now_tsc, now_tsc, &packet);
	wh_session_poll(session, now_tsc);
}

static struct wh_session *receiver(void)
{
	const struct wh_session_config config = config_of();
	const struct wh_open_params params = wh_rig_open_params(&config, 0);
	struct wh_session *session = wh_session_accept(&config, NOW, CID, &peer, &params, MS);

	CU_ASSERT_PTR_NOT_NULL_FATAL(session);
	return session;
}

/* One whose first chunk of 12 packets has been sent. */
static struct wh_session *transmitter(void)
{
	const struct wh_session_config config = config_of();
	struct wh_session *session =
		wh_session_open(&config, &peer, "name", WH_OBJECT_BYTES_UNKNOWN);
	uint8_t room[WH_CONTROL_BYTES_MAX];
	struct wh_out out = {.head = room};

	CU_ASSERT_PTR_NOT_NULL_FATAL(session);

	struct wh_chunk *chunk = wh_fifo_pop(wh_session_free_chunks(session));

	chunk->bytes = 16384;
	wh_fifo_push(wh_session_ready_chunks(session), chunk);
	wh_connect_begin(session, NOW, CID, 7);
	give(session,
		(struct wh_packet){
			.type = WH_PACKET_ACCEPT,
			.accept = {.acceptor_cid = 9, .stamp_us = NOW / 1000, .buffer_chunks = 4},
		},
		NOW);
	for (uint32_t i = 0; i < 100; i++) {
		wh_session_poll(session, NOW + i * MS);
		while (wh_session_output(session, NOW + i * MS, &out, 1) > 0)
			;
	}
	CU_ASSERT_EQUAL(session->tx.sent_end, session->params.first_pn + 12);
	return session;
}

/* Younger by far, the next of the true ones soon after it and a second later: stale, and taken. */
static void expect_heard(struct wh_session *session, struct wh_packet packet)
{
	static const uint64_t pns[] = {2, 64, 1000, WH_PN_MAX - 1};

	for (uint32_t i = 0; i < 4; i++) {
		uint64_t now_tsc = NOW + (i + 1) * 3 * HZ;
		uint64_t stale = session->stats.control_stale_pkts;
		uint64_t bad = session->stats.bad_pkts;

		packet.pn = pns[i] + 100 * i;
		if (packet.pn >= WH_PN_MAX)
			packet.pn = WH_PN_MAX - 1;
		give(session, packet, now_tsc);
		packet.pn = 100 * i;
		give(session, packet, now_tsc + HZ + 1);
		give(session, packet, now_tsc + HZ + 2);
		CU_ASSERT_EQUAL(session->stats.control_stale_pkts, stale + 1);
		packet.pn++;
		give(session, packet, now_tsc + HZ + 3);
		CU_ASSERT_EQUAL(session->stats.control_stale_pkts, stale + 1);
		CU_ASSERT_EQUAL(session->stats.bad_pkts, bad);
	}
}

static void test_receiver(void)
{
	struct wh_session *session = receiver();

	expect_heard(session, (struct wh_packet){.type = WH_PACKET_TRANS_REPORT});

	/* One that claims to have sent all of the window: the next says what is true. */
	uint64_t now_tsc = NOW + 20 * HZ;
	struct wh_packet state = {.type = WH_PACKET_TRANS_REPORT, .pn = WH_PN_MAX - 1};

	state.trans_report.upper = 64;
	give(session, state, now_tsc);
	for (uint32_t i = 0; i < 3; i++) {
		state.pn = 1000 + i;
		state.trans_report.upper = 2;
		give(session, state, now_tsc + 2 * HZ + i);
	}
	CU_ASSERT_EQUAL(session->rx.previous_trans_upper, 2);
	CU_ASSERT_EQUAL(session->rx.table.highest_end, 2);
	wh_session_destroy(session);
}

static struct wh_packet state_of(const struct wh_session *session)
{
	uint64_t first = session->params.first_pn;

	return (struct wh_packet){
		.type = WH_PACKET_RCV_REPORT,
		.rcv_report = {.lower = first,
			.upper = first + 64,
			.highest_end = first,
			.cover_first = first,
			.cover_end = first,
			.chunk_upper = 4,
			.buffer_chunks = 4},
	};
}

static void test_transmitter(void)
{
	struct wh_session *session = transmitter();
	struct wh_packet nak = {.type = WH_PACKET_NAK};

	expect_heard(session, state_of(session));
	wh_session_destroy(session);
	session = transmitter();
	expect_heard(session, (struct wh_packet){.type = WH_PACKET_DELAY_WARNING});
	wh_session_destroy(session);
	session = transmitter();
	nak.nak.base = session->params.first_pn;
	nak.nak.n_losses = 1;
	nak.nak.losses[0].count = 1;
	expect_heard(session, nak);
	CU_ASSERT_EQUAL(wh_session_outcome(session), WH_STATUS_PENDING);
	wh_session_destroy(session);
}

/* Credits and round trips beyond all measure count until the next state. */
static void test_credits(void)
{
	struct wh_session *session = transmitter();
	struct wh_packet truth = state_of(session);
	struct wh_packet lie = truth;

	lie.rcv_report.upper = lie.rcv_report.lower + WH_WINDOW_PACKETS_MAX;
	lie.rcv_report.chunk_upper = UINT32_MAX;
	lie.rcv_report.rtt_us = lie.rcv_report.rtt_var_us = UINT32_MAX;
	give(session, lie, NOW + HZ);
	CU_ASSERT_EQUAL(session->rtt.smoothed_tsc, session->peer_timeout_tsc);
	CU_ASSERT_EQUAL(session->rtt.var_tsc, session->peer_timeout_tsc);
	truth.pn = 1;
	truth.rcv_report.rtt_us = 1000;
	give(session, truth, NOW + HZ + 1);
	CU_ASSERT_EQUAL(session->tx.peer_upper, truth.rcv_report.upper);
	CU_ASSERT_EQUAL(session->tx.peer_chunk_upper, 4);
	CU_ASSERT_EQUAL(session->rtt.smoothed_tsc, MS);
	wh_session_destroy(session);
}

CU_TestInfo wh_tests[] = {
	{"a receiver", test_receiver},
	{"a transmitter", test_transmitter},
	{"credits", test_credits},
	CU_TEST_INFO_NULL,
};
